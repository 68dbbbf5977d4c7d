"""Compose the arguments of a Playground's model runner: recommended, parallelism and user's (llmaz spec 2.5, 2.9).

Flags are spelled for the version in the image's tag.
"""

from collections.abc import Mapping

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...engines.command_line import CommandLine
from ...engines.composing import PLACEHOLDER, compose_line
from ...engines.lint import record_findings
from ...engines.registry import default_flags
from ...engines.settings import Setting
from ...engines.shell import is_shell_word
from .backend import CONFIG_PATH, ChosenBackend
from .parallel import Parallelism, check_parallelism, parallelism_settings

_MAX_PORT = 65535


def runner_args(
    backend: ChosenBackend, values: Mapping[str, str], parallelism: Parallelism, path: str, findings: Findings
) -> CommandLine:
    """Return the command line of the model runner, and record problems in the findings.

    Args:
        backend: The engine, its configuration and the user's overrides.
        values: Values of the placeholders in recommended arguments.
        parallelism: How one replica is spread over accelerators and pods.
        path: Field to report problems of the parallelism at.
        findings: Receives the problems.
    """
    _check_placeholders(backend, values, findings)
    _check_script(backend, values, findings)
    composed = compose_line(
        backend.recommended, values, backend.user, parallelism_settings(parallelism, backend), fit=backend.fit
    )
    for finding in composed.of_recommended:
        arg = composed.recommended.args[finding.position]
        findings.record(
            f"{CONFIG_PATH}.configName",
            f"{_argument_title(backend, arg)}: {finding.reason}",
            finding.severity,
            finding.rule,
        )
    check_parallelism(parallelism, backend, path, findings)
    record_findings(findings, f"{CONFIG_PATH}.args", composed.of_user)
    _check_user_args(backend, composed.line, findings)
    return composed.line


def _check_placeholders(backend: ChosenBackend, values: Mapping[str, str], findings: Findings) -> None:
    for arg in backend.recommended.args:
        for name in PLACEHOLDER.findall(arg) if "{{" in arg else ():
            if not values.get(name):
                available = ", ".join(f"{{{{ .{key} }}}}" for key in values)
                findings.error(
                    f"{CONFIG_PATH}.configName",
                    f"{_argument_title(backend, arg)}, uses {{{{ .{name} }}}}, which has no value here; available "
                    f"placeholders: {available}",
                    RuleId.REFERENCE_MISSING,
                )


def _check_script(backend: ChosenBackend, values: Mapping[str, str], findings: Findings) -> None:
    """Report placeholders in shell scripts whose values the shell would execute."""
    position = backend.recommended.script
    text = "".join(backend.recommended.words[position : position + 1]) if position else ""
    for name in dict.fromkeys(PLACEHOLDER.findall(text)):
        value = values.get(name, "")
        if not is_shell_word(value):
            findings.error(
                f"{CONFIG_PATH}.configName",
                f"configuration {backend.config.name!r} of BackendRuntime {backend.runtime.metadata.name!r} writes "
                f"{{{{ .{name} }}}} into a shell script, which would execute parts of its value {value!r}; add "
                f'{{{{ .{name} }}}} as an argument behind the script and a name for it, and write "$1" in the script',
                RuleId.SECURITY_SCRIPT_INJECTION,
            )


def _argument_title(backend: ChosenBackend, arg: str) -> str:
    name, config = backend.runtime.metadata.name, backend.config.name
    return f"argument {arg!r} of BackendRuntime {name!r}, configuration {config!r}"


def _check_user_args(backend: ChosenBackend, line: CommandLine, findings: Findings) -> None:
    """Report an impossible port, and user arguments that never reach the engine."""
    port = line.number_of(Setting.PORT)
    is_too_high = port is not None and port > _MAX_PORT and not line.is_read  # else the lint has reported it
    if port == 0 or is_too_high:
        flag = (backend.engine and backend.engine.flag(Setting.PORT)) or default_flags(Setting.PORT)[0]
        findings.error(
            f"{CONFIG_PATH}.args",
            f"{flag} must be between 1 and {_MAX_PORT}, found {port}; correct it",
        )
    if backend.user_config.args and line.command[-1:] == ("-c",):
        findings.warn(
            f"{CONFIG_PATH}.args",
            f"have no effect: BackendRuntime {backend.runtime.metadata.name!r} runs a shell script, which receives "
            "them as its own parameters; use envs, or a BackendRuntime with a script that reads them",
            RuleId.FIELD_NO_EFFECT,
        )

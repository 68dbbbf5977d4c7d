"""The arguments of a Playground's model runner: recommended ones, those that spread a replica, and the user's.

llmaz spec 2.5 and 2.9. The flags are those of the version in the image's tag.
"""

import json
import re
from collections.abc import Mapping, Sequence

from ...api.findings import Findings
from ...engines.lint import lint, report
from ...engines.registry import reaches
from ...engines.spelling import fitted, traced, without_repeated
from .backend import CONFIG_PATH, ChosenBackend, engine_port
from .parallel import Parallelism, parallel_args

_MAX_PORT = 65535
_PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")


def runner_args(
    backend: ChosenBackend,
    values: Mapping[str, str],
    parallelism: Parallelism,
    path: str,
    findings: Findings,
    *,
    fit: bool,
) -> list[str]:
    """Return what the model runner is started with; what is wrong is recorded in the findings.

    Args:
        backend: The engine, its configuration and what the user changed.
        values: What stands for the placeholders of recommended arguments.
        parallelism: How one replica is spread over accelerators and pods.
        path: Field to blame for it.
        findings: Where to report.
        fit: Whether flags may be spelled as the version knows them; llmaz's operator does not do that.
    """
    name, tag, command = backend.engine_name, backend.tag, backend.command
    recommended = [_filled(arg, values, backend, findings) for arg in backend.config.args or ()]
    recommended = _right(backend, recommended) if fit else recommended
    user = backend.wanted.args or []
    origins = list(range(len(user)))
    flags = backend.flags([*recommended, *user])
    if fit and flags:
        traces = traced(name, user, tag, flags.programs[:1])
        user, origins = [word for word, _ in traces], [place for _, place in traces]
        recommended = without_repeated(name, recommended, user, tag)
    _check_recommended(backend, recommended, findings)
    args = parallel_args(parallelism, recommended, user, backend, path, findings) + user
    skip = len(args) - len(user)
    report(findings, f"{CONFIG_PATH}.args", name, args, tag, command=command, skip=skip, origins=origins)
    _check_reach(backend, args, findings)
    return args


def _right(backend: ChosenBackend, recommended: Sequence[str]) -> list[str]:
    """Return recommended arguments as the engine's version knows them."""
    args = fitted(backend.engine_name, recommended, backend.tag, backend.command)
    if backend.engine and reaches(backend.version, backend.engine.speculative_config_from):
        return _with_speculative_config(args)
    return args


def _filled(arg: str, values: Mapping[str, str], backend: ChosenBackend, findings: Findings) -> str:
    def value(match: re.Match[str]) -> str:
        if values.get(match[1]):
            return values[match[1]]
        known = ", ".join(f"{{{{ .{key} }}}}" for key in values)
        findings.error(
            f"{CONFIG_PATH}.configName",
            f"{_named(backend, arg)}, uses {{{{ .{match[1]} }}}}, which has no value here; available placeholders: "
            f"{known}",
        )
        return match[0]

    return _PLACEHOLDER.sub(value, arg)


def _with_speculative_config(args: list[str]) -> list[str]:
    """Put vLLM's single flags for speculative decoding into the JSON option that replaced them."""
    flags = {"--speculative_model": "model", "--num_speculative_tokens": "num_speculative_tokens"}
    kept: list[str] = []
    found: dict[str, str | int] = {}
    rest = iter(args)
    for arg in rest:
        if arg in flags:
            value = next(rest, "")
            found[flags[arg]] = int(value) if value.isdecimal() else value
        else:
            kept.append(arg)
    return [*kept, "--speculative-config", json.dumps(found)] if found else kept


def _check_recommended(backend: ChosenBackend, args: Sequence[str], findings: Findings) -> None:
    """Report recommended arguments that the version does not take: ``version`` may be another than they are for."""
    for finding in lint(backend.engine_name, args, backend.tag, backend.command):
        reason = f"{_named(backend, args[finding.position])}: {finding.reason}"
        findings.record(f"{CONFIG_PATH}.configName", reason, finding.severity)


def _named(backend: ChosenBackend, arg: str) -> str:
    name, config = backend.runtime.metadata.name, backend.config.name
    return f"argument {arg!r} of BackendRuntime {name!r}, configuration {config!r}"


def _check_reach(backend: ChosenBackend, args: list[str], findings: Findings) -> None:
    """Report a port that nobody can ask, and arguments of the user that never reach the engine."""
    port = engine_port(backend, args)
    above = port is not None and port > _MAX_PORT and backend.flags(args) is None  # else the lint has told it
    if port == 0 or above:
        findings.error(f"{CONFIG_PATH}.args", f"--port must be between 1 and {_MAX_PORT}, found {port}; correct it")
    if backend.wanted.args and backend.command[-1:] == ["-c"]:
        findings.warn(
            f"{CONFIG_PATH}.args",
            f"have no effect: BackendRuntime {backend.runtime.metadata.name!r} runs a shell script, which receives "
            "them as its own parameters; use envs, or a BackendRuntime with a script that reads them",
        )

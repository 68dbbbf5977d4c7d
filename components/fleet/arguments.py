"""Checks the arguments of a serving container against the version of its engine."""

from ..contract.findings.collector import Findings
from ..contract.findings.ids import RuleId
from ..engines.command_line import CommandLine
from ..engines.images import parse_image
from ..engines.lint import lint
from ..engines.scripts.checks import script_faults
from ..engines.served.adapters import adapter_problems
from ..engines.serving import demonstration_of
from .objects import Object
from .workloads import Server


def check_arguments(server: Server, container: Object, findings: Findings) -> None:
    """Report flags, scripts and adapters that the engine does not accept.

    Args:
        server: The serving container, with the field of its arguments.
        container: The same container in wire form.
        findings: Collects the problems.
    """
    check_line(server.line, str(container.get("image") or ""), server.args.path, findings)


def check_line(line: CommandLine, name: str, args_path: str, findings: Findings) -> None:
    """Report flags, scripts and adapters of a command line that the engine does not accept.

    Args:
        line: The command line.
        name: The image.
        args_path: The field of its arguments, whose name is ``args``; the command is in ``command`` beside it.
        findings: Collects the problems.
    """
    program = demonstration_of(line)
    if program:
        reason = (
            f"runs {program}, a demonstration server without the OpenAI API and without metrics, whose flags are not "
            "checked; run the OpenAI server of the engine instead"
        )
        findings.warn(args_path.removesuffix(".args"), reason, RuleId.ENGINE_NOT_OPENAI)
        return
    image = parse_image(name)
    if image.digest and not image.tag:
        return  # the version of an image with only a digest is unknown
    command_path = f"{args_path.removesuffix('.args')}.command"
    path = args_path if line.args else command_path
    in_command = len(line.command)
    for finding in lint(line, -in_command):
        is_argument = finding.position >= 0
        place = (
            f"{args_path}[{finding.position}]" if is_argument else f"{command_path}[{finding.position + in_command}]"
        )
        findings.record(place, finding.reason, finding.severity, finding.rule)
    for fault in script_faults(line):
        findings.record(path, fault.reason, fault.severity, fault.rule)
    for severity, reason in adapter_problems(line):
        findings.record(path, reason, severity, RuleId.ADAPTERS_WRONG)

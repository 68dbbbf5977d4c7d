"""Checks the arguments of a serving container against the version of its engine."""

from ..contract.findings.collector import Findings
from ..contract.findings.ids import RuleId
from ..engines.images import parse_image
from ..engines.lint import report_findings
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
    program = demonstration_of(server.line)
    if program:
        reason = (
            f"runs {program}, a demonstration server without the OpenAI API and without metrics, whose flags are not "
            "checked; run the OpenAI server of the engine instead"
        )
        findings.warn(server.args.path.removesuffix(".args"), reason, RuleId.ENGINE_NOT_OPENAI)
        return
    image = parse_image(str(container.get("image") or ""))
    if image.digest and not image.tag:
        return  # the version of an image with only a digest is unknown
    path = server.args.path if server.line.args else f"{server.args.path.removesuffix('.args')}.command"
    report_findings(findings, server.args.path, server.line)
    for fault in script_faults(server.line):
        findings.record(path, fault.reason, fault.severity, fault.rule)
    for severity, reason in adapter_problems(server.line):
        findings.record(path, reason, severity, RuleId.ADAPTERS_WRONG)

"""What the engines of a ModelServing are started with, checked as their versions read it."""

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....engines.images import parse_image
from ....engines.lint import report_findings
from ....engines.scripts.checks import script_faults
from ....engines.served.adapters import adapter_problems
from .roles import RolePods


def check_arguments(roles: list[RolePods], findings: Findings) -> None:
    """Report what is wrong with the arguments of the containers that serve.

    Args:
        roles: The roles. Where only a digest names an image, its version is not known, and nothing is checked.
        findings: Where to report.
    """
    for role in roles:
        image = parse_image(str(role.container.get("image") or ""))
        if image.tag or not image.digest:
            report_findings(findings, role.server.args.path, role.server.line)
            for fault in script_faults(role.server.line):
                findings.record(role.line_path, fault.reason, fault.severity, fault.rule)
            for severity, reason in adapter_problems(role.server.line):
                findings.record(role.line_path, reason, severity, RuleId.ADAPTERS_WRONG)

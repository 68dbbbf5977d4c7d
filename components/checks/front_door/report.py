"""What is wrong with the settings of a front door."""

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity


class Report:
    """Collects what is wrong with the settings, by field."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def error(self, field: str, reason: str) -> None:
        """Record what forbids the settings."""
        self._add(field, reason, Severity.ERROR, RuleId.SETTINGS)

    def warn(self, field: str, reason: str, rule: RuleId) -> None:
        """Record what works, but hardly as meant."""
        self._add(field, reason, Severity.WARNING, rule)

    def _add(self, field: str, reason: str, severity: Severity, rule: RuleId) -> None:
        self.problems.append(Problem(self.file, 0, "", "", f"frontDoor.{field}", reason, severity, rule))

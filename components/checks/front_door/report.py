"""Collects problems of the settings of a front door."""

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity


class Report:
    """Problems of the settings, by field below ``frontDoor``."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def error(self, field: str, reason: str) -> None:
        self._add(field, reason, Severity.ERROR, RuleId.SETTINGS)

    def warn(self, field: str, reason: str, rule: RuleId) -> None:
        self._add(field, reason, Severity.WARNING, rule)

    def _add(self, field: str, reason: str, severity: Severity, rule: RuleId) -> None:
        self.problems.append(
            Problem(file=self.file, path=f"frontDoor.{field}", reason=reason, severity=severity, rule=rule)
        )

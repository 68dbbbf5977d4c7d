"""Where settings about nodes are written, for messages that name their keys."""

import re
from dataclasses import dataclass

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity, field_path

_UPPER = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class SettingsLocation:
    """A section of a file, or the arguments of a program, whose keys are spelled otherwise.

    Attributes:
        section: The section of the file; empty in a program.
    """

    file: str = "<program>"
    section: str = ""

    def key(self, name: str) -> str:
        """Return a key, given in camelCase, as it is written there."""
        return name if self.section else _UPPER.sub(lambda found: f"_{found[0].lower()}", name)

    def path(self, *names: str) -> str:
        """Return the path of a key. Names that are not of letters alone are no keys but values, such as types."""
        below = [self.key(name) if name.isalpha() else name for name in names]
        return ".".join([self.section, *below]) if self.section else field_path(below)

    def whole(self, name: str, reason: str) -> Problem:
        """Return what is wrong with a key that stands beside the section, or among the arguments."""
        return Problem(self.file, 0, "", "", name, reason, rule=RuleId.SETTINGS)

    def problem(
        self, names: tuple[str, ...], reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.SETTINGS
    ) -> Problem:
        """Return what is wrong with a key."""
        return Problem(self.file, 0, "", "", self.path(*names), reason, severity, rule)

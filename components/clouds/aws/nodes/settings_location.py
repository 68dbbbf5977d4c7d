"""Location of node settings, for messages that name their keys."""

import re
from dataclasses import dataclass

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity, field_path

_UPPER = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class SettingsLocation:
    """Settings in a section of a file (camelCase keys) or in arguments of a program (snake_case).

    Attributes:
        section: Section of the file; empty for arguments.
    """

    file: str = "<program>"
    section: str = ""

    def key(self, name: str) -> str:
        """Return a camelCase key in the spelling of this location."""
        return name if self.section else _UPPER.sub(lambda match: f"_{match[0].lower()}", name)

    def path(self, *names: str | int) -> str:
        """Return the path of a key; parts that are not only letters, such as instance types, stay unchanged."""
        keys = [self.key(name) if isinstance(name, str) and name.isalpha() else name for name in names]
        if not self.section:
            return field_path(keys)
        path = self.section
        for key in keys:
            path += f"[{key}]" if isinstance(key, int) else f".{key}"
        return path

    def whole(self, name: str, reason: str) -> Problem:
        """Return a problem of a key outside the section."""
        return Problem(file=self.file, path=name, reason=reason, rule=RuleId.SETTINGS)

    def problem(
        self,
        names: tuple[str | int, ...],
        reason: str,
        severity: Severity = Severity.ERROR,
        rule: RuleId = RuleId.SETTINGS,
    ) -> Problem:
        """Return a problem of a key in the section."""
        return Problem(file=self.file, path=self.path(*names), reason=reason, severity=severity, rule=rule)

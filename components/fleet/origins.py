"""Where something in a fleet comes from: a field of a manifest."""

from dataclasses import dataclass

from ..api.load import Loaded
from ..api.problems import Problem, Severity


@dataclass(frozen=True, slots=True)
class Origin:
    """The field of a manifest that asked for something.

    Attributes:
        path: The field; empty for the resource as a whole.
        lead: Words that every reason begins with, where the field is not the one that says so itself.
    """

    source: Loaded
    path: str = ""
    lead: str = ""

    def problem(self, reason: str, severity: Severity = Severity.ERROR) -> Problem:
        """Return a problem of this field, at its line."""
        return self.source.problem(self.path, f"{self.lead}{reason}", severity)

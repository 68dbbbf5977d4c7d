"""What a ModelBooster is expanded into: resources that nobody wrote, whose problems are its own."""

from collections.abc import Callable
from dataclasses import dataclass

from ...api.kinds import Kind
from ...api.load import Loaded
from ...api.meta import Resource
from ...api.problems import Problem, Severity

Blame = Callable[[str], tuple[str, str]]
"""Returns the field of the writer's resource behind a field of what is made of it, and the lead of a reason about it:
empty where that field says the same thing, else such as ``becomes spec.template.roles[0] of ModelServing 'a': ``.
"""


@dataclass(frozen=True, slots=True)
class Made(Loaded):
    """A resource made of another one; what is wrong with it is reported there.

    Attributes:
        writer: The resource that somebody wrote.
        blame: Which of its fields is behind a field of this one.
    """

    writer: Loaded | None = None
    blame: Blame = lambda path: (path, "")

    @classmethod
    def by(cls, writer: Loaded, resource: Resource, kind: Kind, blame: Blame) -> "Made":
        """Return what a resource is expanded into."""
        return cls(resource, kind, writer.file, writer.line, writer=writer, blame=blame)

    @property
    def where(self) -> str:
        """The resource that somebody wrote, and its place."""
        assert self.writer is not None  # noqa: S101  there is no other way to make one than ``by``
        return self.writer.where

    @property
    def secrets(self) -> frozenset[str]:
        """Secrets that are written in clear; no message shows them."""
        assert self.writer is not None  # noqa: S101  there is no other way to make one than ``by``
        return self.writer.secrets

    def problem(self, path: str, reason: str, severity: Severity = Severity.ERROR) -> Problem:
        """Return a problem of the writer's resource, at the line of the field behind."""
        assert self.writer is not None  # noqa: S101  there is no other way to make one than ``by``
        field, lead = self.blame(path)
        return self.writer.problem(field, f"{lead}{reason}", severity)

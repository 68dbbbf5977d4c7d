"""Findings about the manifests of a program, which are printed with its changes instead of one log line each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.printing import pluralize
from toolkit.screen import Message, Screen, hidden_findings, write

if TYPE_CHECKING:
    from components.contract.problems import Problem
    from components.plan.plan import Plan
    from stacks.settings import Settings


_TEXTS = ("place", "subject", "cause", "help")


@dataclass(slots=True)
class ProgramFindings:
    """The problems of the last plan of a program; none for a program that plans no stack."""

    problems: "list[Problem]" = field(default_factory=list)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Secret settings, to keep them out of messages."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect the problems of the programs that run, and keep them out of the log."""
        from stacks.environment import listening
        from stacks.secrecy import secret_settings

        from ..engine.program.adapter import unlogged

        known: set[str] = set()

        def listen(_: "Settings", planned: "Plan") -> None:
            self.problems, self.secrets = list(planned.problems), secret_settings()
            known.update(map(str, self.problems))

        with listening(listen), unlogged(known):
            yield

    @property
    def has_errors(self) -> bool:
        return any(problem.is_error for problem in self.problems)

    @property
    def messages(self) -> list[Message]:
        from components.plan.review.planned import findings_of
        from toolkit.findings import messages_of

        return [self._masked(message) for message in messages_of(findings_of(self.problems))]

    def _masked(self, message: Message) -> Message:
        from components.contract.texts.secrets import masked_text

        texts = {name: masked_text(getattr(message, name), self.secrets) for name in _TEXTS}
        return replace(message, **texts)

    def show_errors(self, stack: str, *, details: bool) -> None:
        """Print why nothing was deployed or planned."""
        screen, messages = Screen.of(), self.messages
        errors = [message for message in messages if message.severity == "error"]
        write(screen.text(f"{stack}: {pluralize(len(errors), 'error')}, nothing was changed", "error"))
        write(screen.findings(messages, details=details))
        write(screen.closing(messages, hidden_findings(messages) if not details else ()))

"""Finds what is asked, sends the load, and shows how it goes."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from components.contract.texts.printable import printable
from toolkit.errors import UserError

from ..control_api import NoteKind
from . import inputs
from .client import LoadTarget
from .fleet.record import FleetRecord
from .fleet.report import live_fleet
from .fleet.stack_model import StackModel, stack_model
from .fleet.summary import fleet_summary
from .outcomes import Tally
from .report import live_line
from .results import LoadResult
from .runner import Load, Watch, Watched, run
from .summary import summary

_EVERY = 10.0
"""Seconds between two lines in a log."""
_AT_ONCE = 3
"""Lines of one kind about what happened in a second."""


@dataclass(frozen=True, slots=True)
class AskedServer:
    """What a user says of the server: an address, or a model of the stack."""

    model: str
    url: str
    stack: str
    cwd: Path
    door: bool
    follow: str
    chat: bool
    whole: bool
    timeout: str
    key_env: str

    def of_stack(self) -> StackModel | None:
        """Return the model of the stack; None where an address says what is asked.

        Raises:
            UserError: there is none, or the options do not belong together.
        """
        if not self.url:
            return stack_model(self.cwd, self.stack, self.model, door=self.door)
        for option, given in (("--door", self.door), ("--follow", bool(self.follow))):
            if given:
                raise UserError(f"{option}: is for a model of the live fleet; leave out --url", 2)
        return None


def loaded(asked: AskedServer, load: Load) -> LoadResult:
    """Send a load, and return what became of it."""
    timeout, key = inputs.duration("--timeout", asked.timeout), inputs.key_in(asked.key_env)
    after = inputs.duration("--follow", asked.follow) if asked.follow else 0.0
    found = asked.of_stack()
    if found:
        target = LoadTarget(found.url, found.model, asked.chat, asked.whole, timeout, found.authority, simulated=True)
        watched = Watched(FleetRecord(found.control, found.titles), after)
    else:
        target = LoadTarget(inputs.base_url(asked.url), asked.model, asked.chat, asked.whole, timeout)
        watched = None
    with _shown(watched.record if watched else None) as watch:
        tally, ended = run(target, load, key or (found.key if found else ""), watch, watched)
    fleet = fleet_summary(watched.record, tally.outcomes) if watched else None
    return LoadResult(target, ended, summary(tally), fleet)


@contextmanager
def _shown(record: FleetRecord | None) -> Iterator[Watch]:
    """Show how it goes: on a terminal all the time, elsewhere a line now and then. What happens has its own line."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    events = _events(record, lambda line: console.print(line, soft_wrap=True))

    def line(seconds: float, tally: Tally) -> str:
        return live_line(seconds, tally) + (live_fleet(record) if record else "")

    if console.is_terminal:
        with console.status("") as status:

            def show(seconds: float, tally: Tally) -> None:
                events()
                status.update(line(seconds, tally))

            yield show
        return
    moments = itertools.count(_EVERY, _EVERY)
    due = next(moments)

    def say(seconds: float, tally: Tally) -> None:
        nonlocal due
        events()
        if seconds >= due:
            due = next(moment for moment in moments if moment > seconds)
            console.print(line(seconds, tally), soft_wrap=True)

    yield say


def _events(record: FleetRecord | None, write: Callable[[str], None]) -> Callable[[], None]:
    """Return what writes everything that happened in the fleet since it was called last; of many things the first."""
    written = 0

    def tell() -> None:
        nonlocal written
        notes = record.notes[written:] if record else []
        written += len(notes)
        for kind in NoteKind:
            alike = [(seconds, note) for seconds, note in notes if note.kind is kind]
            for seconds, note in alike[:_AT_ONCE]:
                write(f"{seconds:5.0f} s: {kind.value}: {printable(note.text)} (simulated)")
            if len(alike) > _AT_ONCE:
                write(f"{alike[-1][0]:5.0f} s: {kind.value}: and {len(alike) - _AT_ONCE} more (simulated)")

    return tell

"""One run of ``workbench live load``: resolve the target, send the requests, show progress, write the results."""

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from components.contract.texts.printable import printable
from toolkit.errors import UserError
from toolkit.plotting.pictures import check_drawing
from toolkit.printing import Format

from ..control_api import NoteKind
from . import inputs
from .client import LoadTarget
from .fleet.record import FleetRecord
from .fleet.report import live_fleet
from .fleet.stack_model import StackModel, stack_model
from .fleet.summary import FleetSummary, fleet_summary
from .outcomes import Tally
from .report import live_line
from .runner import Load, Watch, Watched, run
from .summary import LoadSummary, summary

_SUFFIXES = (".html", ".json")
_LOG_INTERVAL = 10.0
"""Seconds between two lines of progress, if the output is not a terminal."""
_MAX_EVENT_LINES = 3
"""Maximum lines per kind of event and second."""


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Result of a load.

    Attributes:
        whole: Whether it ran to its end.
        clients: Results of the clients.
        fleet: Results of the live fleet; None for other servers.
    """

    target: LoadTarget
    whole: bool
    clients: LoadSummary
    fleet: FleetSummary | None

    @property
    def title(self) -> str:
        simulated = ", simulated" if self.fleet else ""
        interrupted = "" if self.whole else ", interrupted"
        return f"{self.target.model} at {self.target.url}{simulated}{interrupted}"

    def as_json(self) -> str:
        """Return all results as JSON."""
        head = {"model": self.target.model, "url": self.target.url, "whole": self.whole}
        fleet = {"fleet": self.fleet.as_dict()} if self.fleet else {}
        return json.dumps({**head, **self.clients.as_dict(), **fleet}, indent=2) + "\n"


def check_files(paths: Sequence[Path]) -> None:
    """Check the output files before the load starts.

    Raises:
        UserError: a suffix is unsupported, a folder is missing, or plots cannot be drawn.
    """
    for path in paths:
        if path.suffix not in _SUFFIXES:
            raise UserError(f"--save: must end in {' or '.join(_SUFFIXES)}, found {str(path)!r}", 2)
        if not path.parent.is_dir():
            raise UserError(f"--save: there is no folder {str(path.parent)!r}", 2)
        if path.suffix != ".json":
            check_drawing()


def write(result: LoadResult, paths: Sequence[Path], output: Format) -> None:
    """Write the files and the terminal output.

    Raises:
        UserError: a file cannot be written.
    """
    from .page import page
    from .report import show

    text = result.as_json()
    for path in paths:
        content = text if path.suffix == ".json" else page(result.clients, result.fleet, result.title)
        try:
            path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--save: {path}: {error.strerror}") from None
    if output is Format.JSON:
        sys.stdout.write(text)
    else:
        show(result.clients, result.fleet, result.title)


@dataclass(frozen=True, slots=True)
class LoadTargetOptions:
    """Options that select the server: a URL, or a model of the stack."""

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
        """Return the model of the stack; None with ``--url``.

        Raises:
            UserError: the stack has no such model, or the options are incompatible.
        """
        if not self.url:
            return stack_model(self.cwd, self.stack, self.model, door=self.door)
        for option, is_set in (("--door", self.door), ("--follow", bool(self.follow))):
            if is_set:
                raise UserError(f"{option}: is for a model of the live fleet; leave out --url", 2)
        return None


def run_load(options: LoadTargetOptions, load: Load) -> LoadResult:
    """Send a load, and return its result."""
    timeout, key = inputs.duration("--timeout", options.timeout), inputs.key_in(options.key_env)
    after = inputs.duration("--follow", options.follow) if options.follow else 0.0
    model = options.of_stack()
    if model:
        target = LoadTarget(
            url=model.url,
            model=model.model,
            chat=options.chat,
            whole=options.whole,
            timeout=timeout,
            authority=model.authority,
            simulated=True,
        )
        watched = Watched(FleetRecord(model.control, model.titles), after)
    else:
        target = LoadTarget(inputs.base_url(options.url), options.model, options.chat, options.whole, timeout)
        watched = None
    with _progress(watched.record if watched else None) as watch:
        tally, ended = run(target, load, key or (model.key if model else ""), watch, watched)
    fleet = fleet_summary(watched.record, tally.outcomes) if watched else None
    return LoadResult(target, ended, summary(tally), fleet)


@contextmanager
def _progress(record: FleetRecord | None) -> Iterator[Watch]:
    """Print progress: a live line on a terminal, else a line every ten seconds. Each event gets its own line."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    written = 0

    def print_events() -> None:
        nonlocal written
        notes = record.notes[written:] if record else []
        written += len(notes)
        for kind in NoteKind:
            lines = [
                f"{seconds:5.0f} s: {kind.value}: {printable(note.text)} (simulated)"
                for seconds, note in notes
                if note.kind is kind
            ]
            for line in lines[:_MAX_EVENT_LINES]:
                console.print(line, soft_wrap=True)
            if len(lines) > _MAX_EVENT_LINES:
                seconds = [seconds for seconds, note in notes if note.kind is kind][-1]
                rest = len(lines) - _MAX_EVENT_LINES
                console.print(f"{seconds:5.0f} s: {kind.value}: and {rest} more (simulated)", soft_wrap=True)

    def line(seconds: float, tally: Tally) -> str:
        return live_line(seconds, tally) + (live_fleet(record) if record else "")

    if console.is_terminal:
        with console.status("") as status:

            def update_status(seconds: float, tally: Tally) -> None:
                print_events()
                status.update(line(seconds, tally))

            yield update_status
        return
    due_times = itertools.count(_LOG_INTERVAL, _LOG_INTERVAL)
    due = next(due_times)

    def print_line(seconds: float, tally: Tally) -> None:
        nonlocal due
        print_events()
        if seconds >= due:
            due = next(time for time in due_times if time > seconds)
            console.print(line(seconds, tally), soft_wrap=True)

    yield print_line

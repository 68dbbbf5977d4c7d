"""The fleet as lines of text or JSON."""

import json
import sys
import time
from dataclasses import asdict, replace

from components.contract.texts.printable import printable

from ..control_api import FleetNote, LiveState, new_notes
from ..control_client import ControlClient
from .rows import headline, is_moving, speeds, usd, wish
from .view import note_line
from .viewport import Viewport

_TEXT_EVERY = 5.0
_JSON_EVERY = 1.0
_MODELS = 5


def as_json(control: ControlClient, looking: Viewport, *, once: bool) -> None:
    """Write the state as a line of JSON every second."""
    while True:
        state = control.state()
        models = looking.models(state.models) if looking != Viewport() else state.models
        sys.stdout.write(json.dumps(asdict(replace(state, models=tuple(models)))) + "\n")
        sys.stdout.flush()
        if once:
            return
        time.sleep(_JSON_EVERY)


def as_text(control: ControlClient, looking: Viewport) -> None:
    """Write the fleet, the active models and new events every five seconds."""
    before: tuple[FleetNote, ...] | None = None
    while True:
        state = control.state()
        notes = state.notes[-_MODELS:] if before is None else new_notes(before, state.notes)
        for line in _lines(state, looking, notes):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
        before = state.notes
        time.sleep(_TEXT_EVERY)


def _lines(state: LiveState, looking: Viewport, notes: "tuple[FleetNote, ...]") -> list[str]:
    busy = [each for each in looking.models(state.models) if is_moving(each)]
    shown = [
        f"  {printable(each.title)}: ready {each.ready}/{each.replicas}, starting {each.starting}, pending "
        f"{each.pending}, waiting {each.waiting}, running {each.running}, cache {each.cache:.0%}, wanted "
        f"{wish(each)}, {usd(each.usd_per_hour)} USD/h"
        for each in busy[:_MODELS]
    ]
    more = [f"  and {len(busy) - _MODELS} more that move"] if len(busy) > _MODELS else []
    return [f"{headline(state)}; {speeds(state)}", *shown, *more, *(f"  {note_line(note)}" for note in notes)]

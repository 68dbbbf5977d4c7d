"""The fleet as lines of text or JSON."""

import json
import sys
import time
from dataclasses import asdict, replace

from components.contract.texts.printable import printable

from ..control_api import FleetNote, new_notes
from ..control_client import ControlClient
from .rows import headline, is_active, scaling, speeds, usd
from .view import note_line
from .viewport import Viewport

_TEXT_INTERVAL = 5.0
_JSON_INTERVAL = 1.0
_MAX_ROWS = 5


def as_json(control: ControlClient, viewport: Viewport, *, once: bool) -> None:
    """Write the state as a line of JSON every second."""
    while True:
        state = control.state()
        models = viewport.models(state.models) if viewport != Viewport() else state.models
        sys.stdout.write(json.dumps(asdict(replace(state, models=tuple(models)))) + "\n")
        sys.stdout.flush()
        if once:
            return
        time.sleep(_JSON_INTERVAL)


def as_text(control: ControlClient, viewport: Viewport) -> None:
    """Write the fleet, the active models and new events every five seconds."""
    before: tuple[FleetNote, ...] | None = None
    while True:
        state = control.state()
        notes = state.notes[-_MAX_ROWS:] if before is None else new_notes(before, state.notes)
        active = [model for model in viewport.models(state.models) if is_active(model)]
        sys.stdout.write(f"{headline(state)}; {speeds(state)}\n")
        for model in active[:_MAX_ROWS]:
            queue = f"waiting {model.waiting}, running {model.running}, cache {model.cache:.0%}"
            sys.stdout.write(
                f"  {printable(model.title)}: ready {model.ready}/{model.replicas}, starting {model.starting}, "
                f"pending {model.pending}, {queue}, "
                f"desired {scaling(model)}, {usd(model.usd_per_hour)} USD/h\n"
            )
        if len(active) > _MAX_ROWS:
            sys.stdout.write(f"  and {len(active) - _MAX_ROWS} more active models\n")
        for note in notes:
            sys.stdout.write(f"  {note_line(note)}\n")
        sys.stdout.flush()
        before = state.notes
        time.sleep(_TEXT_INTERVAL)

"""A load and a fleet with everything in them: a burst, a fault, errors of several kinds."""

import math
from dataclasses import replace

from livefleet.control_api import FleetNote, NoteKind
from livefleet.control_client import ControlClient
from livefleet.load.fleet.record import FleetRecord
from livefleet.load.fleet.summary import FleetSummary, fleet_summary
from livefleet.load.outcomes import RequestOutcome, Tally
from livefleet.load.summary import LoadSummary, summary
from tests.livefleet.commands.standin import group, model, note, scaler, state

STARTED = 1000.0
NOWHERE = ControlClient("http://127.0.0.1:9", "x")


def record(*titles: str) -> FleetRecord:
    return FleetRecord(NOWHERE, titles or ("chat",))


def burst(seconds: int = 120) -> tuple[LoadSummary, FleetSummary]:
    """A burst on one model: its queue grows, replicas and nodes come and go, and a node is lost at half of it."""
    found, tally = record(), Tally()
    notes: tuple[FleetNote, ...] = (note("old", NoteKind.FAULT, STARTED - 60),)
    for second in range(seconds):
        share = math.sin(math.pi * second / seconds)
        want = 1 + round(4 * share)
        ready = 1 + round(4 * max(math.sin(math.pi * (second - 10) / seconds), 0))
        if second == seconds // 4:
            notes = (*notes, note("models/chat is scaled from 3 to 4", NoteKind.SCALE, STARTED + second))
        if second == seconds // 2:
            notes = (*notes, note("node g6-2 is gone with 1 pod", NoteKind.FAULT, STARTED + second + 0.4))
            ready -= 1
        chat = model(
            replicas=want,
            ready=ready,
            starting=max(want - ready, 0),
            waiting=round(30 * share**4),
            running=round(20 * share),
            cache=share,
            scalers=(scaler(current=ready, desired=want),),
            usd_per_hour=0.8 * ready,
        )
        nodes = group(nodes=ready + 2, starting=max(want - ready, 0))
        fleet = state(models=(chat, model("other")), groups=(nodes,), notes=notes)
        found.take(float(second), replace(fleet, usd_per_hour=ready + 2.0), STARTED)
        for number in range(1 + round(9 * share)):
            at, number = second + number / 10, len(tally.outcomes)
            outcome = RequestOutcome(at, at, at + 0.2 + share, at + 1 + share, 100, 50, number=number)
            if second == seconds // 2:
                outcome.error = "connection lost"
            elif number % 97 == 0:
                outcome.error = "HTTP 503"
            tally.outcomes.append(outcome)
            tally.add_gap(at + 0.5, 0.02 + share / 100)
    return summary(tally), fleet_summary(found, tally.outcomes)

"""What a load came to on the side of the fleet, worked out by hand."""

import json
from dataclasses import replace

import pytest

from livefleet.control_api import LiveState, NoteKind
from livefleet.load.fleet.report import fleet_rows, fleet_sentences, live_fleet
from livefleet.load.fleet.summary import fleet_summary
from livefleet.load.outcomes import EngineTimes, RequestOutcome, Tally
from livefleet.load.report import latency_rows, machine_sentences
from livefleet.load.summary import summary
from tests.livefleet.commands.standin import group, model, note, scaler, state
from tests.livefleet.load.fleet.figures import STARTED, burst, record


def outcome(number: int, sent: float, ended: float, error: str = "") -> RequestOutcome:
    return RequestOutcome(sent, sent, sent, ended, 1, 1, error, number)


def test_only_the_models_under_load_count() -> None:
    found = record("chat", "code")
    found.take(
        3.0,
        state(
            models=(
                model("chat", waiting=3, running=4, replicas=5, ready=2, starting=2, pending=1, cache=0.2,
                      usd_per_hour=1.5, scalers=(scaler(desired=6),)),
                model("code", waiting=1, running=1, cache=0.7, usd_per_hour=None),
                model("other", waiting=100, running=100, cache=0.9, replicas=50, ready=50),
            ),
            groups=(group(nodes=2), group("g5", nodes=3, starting=4)),
            usd_per_hour=9.5,
        ),
        STARTED,
    )  # fmt: skip
    (point,) = found.points
    assert (point.seconds, point.waiting, point.running, point.cache) == (3.0, 4, 5, 0.7)
    assert (point.replicas, point.ready, point.starting, point.pending, point.wanted) == (7, 4, 2, 1, 6)
    assert (point.nodes, point.nodes_starting, point.model_usd_per_hour, point.usd_per_hour) == (5, 4, 1.5, 9.5)
    assert live_fleet(found) == (
        "; simulated: ready 4/7 (2 starting, 1 pending, 6 desired by autoscalers), 4 waiting, 5 running, 5 nodes "
        "(+4), 9.50 USD/h"
    )


def with_speeds(*speeds: float) -> list[LiveState]:
    return [state(speed=speed, usd_per_hour=36.0) for speed in speeds]


COSTS = {
    "36 USD an hour for 10 s": ([1.0, 1.0, 1.0], [0.0, 5.0, 10.0], 1.0, 10 / 3600, 0.1),
    "sixty times as fast, they stand for 600 s": ([60.0, 60.0], [0.0, 10.0], 60.0, 600 / 3600, 6.0),
    "a speed holds until the next": ([1.0, 60.0, 60.0], [0.0, 10.0, 20.0], None, 610 / 3600, 6.1),
    "one look is no time": ([1.0], [5.0], 1.0, 0.0, 0.0),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs(name: str) -> None:
    speeds, times, speed, hours, usd = COSTS[name]
    found = record()
    for seconds, fleet in zip(times, with_speeds(*speeds), strict=True):
        found.take(seconds, fleet, STARTED)
    result = fleet_summary(found, [])
    assert result.speed == speed
    assert result.hours == pytest.approx(hours)
    assert result.usd == pytest.approx(usd)


def test_who_was_hit_by_a_fault() -> None:
    found = record()
    first = note("node n1 is gone", NoteKind.FAULT, STARTED + 10)
    second = note("pod p is killed", NoteKind.FAULT, STARTED + 20)
    before = note("long ago", NoteKind.FAULT, STARTED - 30)
    came = note("node n2 came", NoteKind.NODE, STARTED + 12)
    found.take(0.0, state(notes=(before,)), STARTED)
    found.take(11.0, state(notes=(before, first)), STARTED)
    found.take(21.0, state(notes=(first, came, second)), STARTED)
    result = fleet_summary(
        found,
        [
            outcome(0, 1, 9.9),  # over before
            outcome(1, 1, 5, "HTTP 500"),  # failed long before
            outcome(2, 1, 15),  # in flight, and answered
            outcome(3, 2, 10.01, "connection lost"),  # hit
            outcome(4, 3, 9.95, "connection lost"),  # hit, just before the fleet told of it
            outcome(5, 11, 12, "HTTP 503"),  # sent later, refused
            outcome(6, 11, 12),
            outcome(7, 19, 20.5, "stream cut off"),  # sent after the first, hit by the second
            outcome(8, 21, 22, "HTTP 503"),
            outcome(9, 19.9, 19.95, "HTTP 503"),  # after the second, but before the fleet told of it
        ],
    )
    one, node, two = result.events
    assert (one.seconds, one.in_flight, [each.number for each in one.hit], one.later) == (10, 3, [3, 4], 1)
    assert (node.kind, node.hit, node.in_flight) == (NoteKind.NODE, (), 0)
    assert (two.seconds, two.in_flight, [each.number for each in two.hit], two.later) == (20, 1, [7], 2)
    sentence = "fault at 10.0 s: node n1 is gone; 2 of 3 requests in flight failed (#3, #4), and 1 sent afterwards"
    assert sentence in list(fleet_sentences(result))
    assert not any("long ago" in line for line in fleet_sentences(result))


def test_of_two_faults_the_one_counts_that_broke_a_request() -> None:
    found = record()
    first, second = (note(name, NoteKind.FAULT, STARTED + at) for name, at in (("spot", 5), ("zone", 11.5)))
    found.take(12.0, state(notes=(first, second)), STARTED)
    outcomes = [
        outcome(0, 1, 11.5, "connection lost"),  # in flight at both, broken by the second
        outcome(1, 1, 11.45, "connection lost"),  # the same, by a clock that is a little behind
        outcome(2, 1, 5.01, "connection lost"),  # broken by the first
        outcome(3, 6, 6.1, "HTTP 503"),  # sent after the first
        outcome(4, 1, 20),  # answered after both
        outcome(5, 1, 9, "HTTP 500"),  # in flight at the first alone
    ]
    spot, zone = fleet_summary(found, outcomes).events
    assert ([each.number for each in spot.hit], spot.in_flight, spot.later) == ([2, 5], 5, 1)
    assert ([each.number for each in zone.hit], zone.in_flight, zone.later) == ([0, 1], 3, 0)


def test_what_the_scheduler_preempted_is_in_the_report() -> None:
    found = record()
    victim, preemptor = "models/p-1", "models/k-2"
    text = "pod models/p-1 of p (priority 0) made room on node g6-1 for pod models/k-2 of k (priority 10000)"
    ended = replace(note(text, NoteKind.PREEMPTED, STARTED + 7.25), victim=victim, preemptor=preemptor)
    found.take(8.0, state(notes=(ended,)), STARTED)
    result = fleet_summary(found, [outcome(0, 1, 9)])
    (event,) = result.events
    assert (event.seconds, event.kind, event.victim, event.preemptor) == (7.25, NoteKind.PREEMPTED, victim, preemptor)
    assert f"preempted at 7.2 s: {text}" in list(fleet_sentences(result))
    (plain,) = json.loads(json.dumps(result.as_dict()))["events"]
    assert plain["kind"] == "preempted"
    assert (plain["victim"], plain["preemptor"]) == (victim, preemptor)


def test_of_many_that_were_preempted_the_first_are_named() -> None:
    found = record()
    notes = tuple(note(f"pod {number}", NoteKind.PREEMPTED, STARTED + number) for number in range(1, 16))
    found.take(20.0, state(notes=notes), STARTED)
    lines = [line for line in fleet_sentences(fleet_summary(found, [])) if "preempted" in line]
    assert len(lines) == 13
    assert lines[-1] == "and 3 further pods preempted"


SAID = {
    1.0: "simulated engines, which answer in real time",
    60.0: "simulated engines, which answer 60 x as fast as in real time: times and rates are as clients measured "
    "them; in real time, times are 60 x as long, and rates are divided by 60. Times include this machine's overhead "
    "per request, whose share grows with the speed",
}


@pytest.mark.parametrize("speed", SAID)
def test_what_times_mean_is_told(speed: float) -> None:
    found = record()
    found.take(0.0, state(speed=speed), STARTED)
    result = fleet_summary(found, [])
    assert next(iter(fleet_sentences(result))) == SAID[speed]
    assert any("simulated nodes" in line and "not billed" in line for line in fleet_sentences(result))


def test_times_in_life_stand_beside_those_that_were_measured() -> None:
    # One request: its first token after 100 ms, its end after 400 ms.
    found = summary(Tally([RequestOutcome(0, 0, 0.1, 0.4, 1, 1)]))
    assert [row[0] for row in latency_rows(found, 1)] == ["first token", "between tokens", "whole answer"]
    assert [row[0] for row in latency_rows(found, None)] == ["first token", "between tokens", "whole answer"]
    rows = {name: cells for name, *cells in latency_rows(found, 60)}
    assert rows["first token"][1] == "100.0"
    assert rows["first token, in real time (x 60)"][1] == "6000.0"
    assert rows["whole answer, in real time (x 60)"][1] == "24000.0"
    assert rows["between tokens, in real time (x 60)"][1] == "-"


def fast(measured: float, own: float) -> Tally:
    """A request whose first token came after so long, and after 162 ms by the engine's clock; its end likewise."""
    engine = EngineTimes(first=own, between=0.02, took=4 * own)
    return Tally([RequestOutcome(0, 0, measured, 4 * measured, 1, 11, engine=engine)])


def test_the_engines_own_times_stand_beside_those_of_clients() -> None:
    """At 20 x, 55.9 ms look like 1,118 ms in life, where the engine takes 162: 86 % are this machine's."""
    found = summary(fast(0.0559, 0.162))
    rows = {name: cells for name, *cells in latency_rows(found, 20)}
    assert rows["first token"][0] == "55.9"
    assert rows["first token, in real time (x 20) *"][0] == "1118.0"
    assert rows["first token, by the engine's clock"] == ["162.0"] * 6
    assert rows["first token, share of this machine, %"] == ["86"] * 6
    assert rows["whole answer, by the engine's clock"][0] == "648.0"
    assert rows["between tokens, by the engine's clock"][0] == "20.0"
    (said,) = machine_sentences(found, 20)
    assert said.startswith("* more than a tenth")
    assert "first token, whole answer" in said


@pytest.mark.parametrize(
    ("measured", "speed", "marked"),
    [
        (0.162, 1, False),
        (0.170, 1, False),  # 5 %
        (0.300, 1, True),
        (0.0081, 20, False),
        (0.0089, 20, False),  # 9 %
        (0.0095, 20, True),  # 15 %
        (0.0559, None, False),  # the speed was changed: nothing can be compared
    ],
)
def test_what_is_this_machines_is_marked(measured: float, speed: float | None, *, marked: bool) -> None:
    found = summary(fast(measured, 0.162))
    assert bool(list(machine_sentences(found, speed))) is marked
    names = [name for name, *_ in latency_rows(found, speed)]
    assert any(name.endswith("*") for name in names) is (marked and speed != 1)
    assert "first token, by the engine's clock" in names
    assert ("first token, share of this machine, %" in names) is (speed is not None)


def test_no_share_is_negative() -> None:
    """Tokens that come together arrive before the last of them was due: a client may be a moment early."""
    rows = {name: cells for name, *cells in latency_rows(summary(fast(0.008, 0.162)), 20)}
    assert rows["first token, share of this machine, %"] == ["0"] * 6


def test_other_servers_have_no_times_of_their_own() -> None:
    found = summary(Tally([RequestOutcome(0, 0, 0.1, 0.4, 1, 1)]))
    assert found.engine is None
    assert not list(machine_sentences(found, 20))
    assert not any("engine" in name or "machine" in name for name, *_ in latency_rows(found, 20))


def test_requests_that_failed_do_not_count() -> None:
    tally = fast(0.1, 0.162)
    tally.outcomes.append(RequestOutcome(0, 0, 0.1, 0.4, 1, 1, "HTTP 500", engine=EngineTimes(9, 9, 9)))
    own = summary(tally).engine
    assert own is not None
    assert (own.answered, own.ttft.most) == (1, 0.162)


def test_another_number_of_replicas_is_an_event() -> None:
    found = record()
    for seconds, replicas in enumerate((1, 1, 3, 3, 2)):
        found.take(float(seconds), state(models=(model(replicas=replicas),)), STARTED)
    events = fleet_summary(found, []).events
    assert [(each.seconds, each.kind, each.text) for each in events] == [
        (2.0, NoteKind.SCALE, "scaled from 1 to 3 replicas"),
        (4.0, NoteKind.SCALE, "scaled from 3 to 2 replicas"),
    ]


def test_a_fleet_that_never_answered() -> None:
    found = record()
    found.gaps = 3
    result = fleet_summary(found, [])
    assert list(fleet_sentences(result)) == [
        "a simulated fleet that reported no state",
        "the live fleet did not answer 3 times; its series have gaps",
    ]
    assert list(fleet_rows(result)) == []
    assert live_fleet(found) == "; the live fleet does not answer"
    assert result.as_dict()["series"] == {}


def test_least_and_most() -> None:
    rows = {name: ends for name, *ends in fleet_rows(burst(120)[1])}
    # By the sine of the burst: one replica at its ends, five in its middle.
    assert rows["replicas"] == ["1", "5"]
    assert rows["replicas desired by autoscalers"] == ["1", "5"]
    assert rows["requests waiting"] == ["0", "30"]
    assert rows["USD/h of all nodes"] == ["3.00", "7.00"]


def test_json_has_a_list_for_each_series() -> None:
    found = json.loads(json.dumps(burst(60)[1].as_dict()))
    assert found["simulated"] is True
    assert {len(values) for values in found["series"].values()} == {60}
    # From one replica to five and back, and what the fleet itself said of one of these steps.
    kinds = [event["kind"] for event in found["events"]]
    assert (kinds.count("scale"), kinds.count("fault"), len(kinds)) == (9, 1, 10)
    times = [event["seconds"] for event in found["events"]]
    assert times == sorted(times)
    (fault,) = (event for event in found["events"] if event["kind"] == "fault")
    assert fault["hit"]
    assert all(hit["error"] for hit in fault["hit"])

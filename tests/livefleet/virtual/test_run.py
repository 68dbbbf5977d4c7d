"""Runs in virtual time, against figures computed by hand and the laws of queues."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livefleet.fleet import PaceSource, TokenPace
from livefleet.virtual.demand import RequestColumns
from livefleet.virtual.figures import result_of
from livefleet.virtual.fleet import VirtualFleet
from livefleet.virtual.serving import LOST
from tests.livefleet.virtual.small import A_SECOND, KEY, QUEUE, arrivals, fleet, group, run, scaler, workload
from tests.tries import tries

_HOUR = 3600.0


def pace(alpha: float, batch: int, **fields: Any) -> TokenPace:
    return TokenPace(alpha, 0.0, fields.pop("prefill", 0.0), batch, source=PaceSource.ESTIMATE, **fields)


# RequestColumns as (time, prompt, wanted), with the time to the first token and to the end of each answer.
TIMES = {
    "alone": (A_SECOND, [(5.0, 10, 3)], [1.0], [3.0]),
    "one after the other": (A_SECOND, [(0.0, 1, 2), (1.0, 1, 2), (2.0, 1, 2)], [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]),
    # Two fit into a batch: the second joins after the step that runs when it arrives.
    "together": (pace(1.0, 2), [(0.0, 1, 3), (0.5, 1, 2)], [1.0, 1.5], [3.0, 2.5]),
    # A prompt of 4 tokens takes 2 s in the step that gives the first token.
    "with a prompt": (pace(1.0, 1, prefill=0.5), [(0.0, 4, 2)], [3.0], [4.0]),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_of_requests(name: str) -> None:
    speed, rows, first, took = TIMES[name]
    figures = run(fleet(workload(pace=speed)), {"chat": arrivals(*rows)}).endpoints["chat"].figures
    assert list(figures.first) == pytest.approx(first)
    assert list(figures.took) == pytest.approx(took)
    assert list(figures.between) == pytest.approx(
        [(end - begin) / (row[2] - 1) for row, begin, end in zip(rows, first, took, strict=True)]
    )


@pytest.mark.parametrize(("replicas", "load"), [(1, 0.3), (1, 0.5), (1, 0.8), (3, 0.5)])
def test_the_mean_wait_is_that_of_the_queue_m_d_1(replicas: int, load: float) -> None:
    """Pollaczek and Khinchine: a mean wait of load/(2*(1-load)) services of equal length, here of one second.

    Requests that a random one of n replicas answers are n such queues.
    """
    rng, at, rows = Random(1), 0.0, []
    for _ in range(40_000):
        at += rng.expovariate(load * replicas)
        rows.append((at, 1, 1))
    small = fleet(workload(replicas), groups=[group(most=replicas)])
    figures = run(small, {"chat": arrivals(*rows)}, timeout=1e6, keep_alive=0.0).endpoints["chat"].figures
    assert len(figures.sent) == len(rows)
    assert sum(figures.first) / len(rows) - 1.0 == pytest.approx(load / (2 * (1 - load)), rel=0.08)


LOSSES = {
    "context": (fleet(workload(context=10)), [(0.0, 8, 2), (9.0, 8, 3)], {}, 1),
    "no replica": (fleet(workload(0)), [(0.0, 1, 1), (1.0, 1, 1)], {}, 2),
    # One runs and one waits.
    "queue full": (fleet(workload(queue=1)), [(0.0, 1, 5), (1.0, 1, 5), (2.0, 1, 5), (3.0, 1, 5)], {}, 2),
    # The first takes 5 s; the second would end after 9 s.
    "timeout": (fleet(), [(0.0, 1, 5), (1.0, 1, 5)], {"timeout": 6.0}, 1),
}


@pytest.mark.parametrize("cause", LOSSES)
def test_each_cause_of_a_loss(cause: str) -> None:
    small, rows, options, number = LOSSES[cause]
    figures = run(small, {"chat": arrivals(*rows)}, **options).endpoints["chat"].figures
    assert dict(figures.lost) == {cause: number}
    assert len(figures.sent) == len(rows) - number


def test_the_limit_of_running_and_queued_requests_together() -> None:
    figures = run(fleet(workload(in_flight=2)), {"chat": arrivals(*[(0.0, 1, 2)] * 3)}).endpoints["chat"].figures
    assert dict(figures.lost) == {"queue full": 1}


def test_a_client_that_gives_up_makes_room() -> None:
    """The first request gives up at 3.5 s, during the step that ends at 4 s; the second gets its token at 5 s."""
    figures = run(fleet(), {"chat": arrivals((0.0, 1, 50), (2.0, 1, 1))}, timeout=3.5).endpoints["chat"].figures
    assert dict(figures.lost) == {"timeout": 1}
    assert list(figures.sent) == [2.0]
    assert list(figures.first) == pytest.approx([3.0])


def _burst(seconds: float, rate: float, tokens: int = 1) -> RequestColumns:
    return arrivals(*[(number / rate, 1, tokens) for number in range(int(seconds * rate))])


def test_replicas_follow_the_queue_and_start_after_their_node() -> None:
    """With a target of 2 and a long queue, the first pass that sees it sets the maximum of 3.

    The node takes 200 s and the pod 100 s. The first replica is scraped within 15 s, and passes are every 15 s.
    """
    small = fleet(workload(scaler=scaler(2, 3)), groups=[group(most=3)])
    done = run(small, {"chat": _burst(600.0, 4.0)})
    changes = done.workloads[KEY].changes
    assert changes[0] == (0.0, 1, 1)
    at, replicas, ready = changes[1]
    assert 0 < at <= 30.0
    assert (replicas, ready) == (3, 1)
    assert changes[2][0] == pytest.approx(at + 300.0)
    assert changes[2][1:] == (3, 3)
    result = result_of(done)
    # The first node from the start, and two from their request.
    assert result.groups[0].node_hours == pytest.approx((done.end + 2 * (done.end - at)) / _HOUR)
    assert result.gpu_hours == pytest.approx(result.groups[0].node_hours)
    assert result.usd == pytest.approx(2 * result.groups[0].node_hours)


def test_a_replica_without_room_stays_pending_and_starts_when_there_is_some() -> None:
    """Two models share two nodes; one takes both, and gives one back when its queue is empty."""
    greedy = workload(scaler=scaler(2, 2, scaleDown={"stabilizationWindowSeconds": 0}))
    late = workload(0, name="late", scaler=None)
    small = fleet(greedy, late, groups=[group(least=1, most=1)])
    done = run(small, {"chat": _burst(300.0, 4.0)})
    assert max(ready for _, _, ready in done.workloads[KEY].changes) == 1
    assert max(replicas for _, replicas, _ in done.workloads[KEY].changes) == 2
    assert result_of(done).groups[0].most == 1


def test_replicas_and_nodes_go_again() -> None:
    """After the window of 60 s the replica goes; its node is removed 600 s after its last pod."""
    narrow = scaler(2, 2, scaleDown={"stabilizationWindowSeconds": 60})
    small = fleet(workload(scaler=narrow), groups=[group(most=2)])
    done = run(small, {"chat": _burst(500.0, 1.5)}, seconds=3000.0)
    ends = [at for at, replicas, _ in done.workloads[KEY].changes if replicas == 1][1:]
    assert ends
    removed = [at for at, _, number in done.pool.counts if number == 1][-1]
    assert removed >= ends[0] + 600.0
    assert done.pool.nodes["gpu"][0].pods == 1
    assert done.endpoints["chat"].figures.lost.total() == 0


def test_requests_that_outlast_the_grace_period_are_aborted() -> None:
    """Two replicas are one too many for a queue of 0: one goes in a pass, 5 s before its kill."""
    at_once = scaler(2, 2, scaleDown={"stabilizationWindowSeconds": 0})
    small = fleet(workload(2, scaler=at_once, grace=5.0), groups=[group(most=2)])
    done = run(small, {"chat": arrivals(*[(0.0, 1, 500)] * 2)}, timeout=1e6, seconds=1000.0)
    figures = done.endpoints["chat"].figures
    assert dict(figures.lost) in ({"aborted": 1}, {})
    assert len(figures.sent) + figures.lost.total() == 2


def test_nodes_of_another_tool_exist_already() -> None:
    """A replica waits for its pod only, and its node counts while it has pods."""
    small = fleet(workload(scaler=scaler(2, 2)), groups=[group(least=0, most=2, start=1, elastic=False)])
    changes = run(small, {"chat": _burst(300.0, 4.0)}).workloads[KEY].changes
    assert changes[2][0] == pytest.approx(changes[1][0] + 100.0)


def test_pods_of_a_replica_on_several_nodes_are_bound_together() -> None:
    """A replica of two nodes does not fit a group of three beside another one."""
    pair = workload(2)
    pair = type(pair)(pair.served, 2, (pair.pods[0], pair.pods[0]), 30.0)
    done = run(fleet(pair, groups=[group(least=0, most=3)]), {"chat": arrivals((0.0, 1, 1))})
    assert done.workloads[KEY].changes[-1][1:] == (2, 1)
    assert [node.pods for node in done.pool.nodes["gpu"]] == [1, 1]
    assert done.workloads[KEY].facts.accelerators == 2


def test_start_speed_shortens_starts() -> None:
    small = fleet(workload(scaler=scaler(2, 3)), groups=[group(most=3)])
    changes = run(small, {"chat": _burst(300.0, 4.0)}, start_speed=60.0).workloads[KEY].changes
    assert changes[2][0] == pytest.approx(changes[1][0] + 5.0)


@st.composite
def fleets(draw: st.DrawFn) -> VirtualFleet:
    def one(name: str) -> Any:
        limits: dict[str, Any] = {
            "queue": draw(st.none() | st.integers(0, 4)),
            "context": draw(st.none() | st.integers(10, 60)),
        }
        speed = pace(
            draw(st.sampled_from([0.05, 0.5])), draw(st.integers(1, 3)), prefill=draw(st.sampled_from([0, 0.01]))
        )
        scaled = draw(
            st.none()
            | st.builds(lambda n: scaler(2, n, scaleDown={"stabilizationWindowSeconds": 15}), st.integers(1, 3))
        )
        return workload(
            draw(st.integers(0, 2)),
            name=name,
            pace=speed,
            scaler=scaled,
            grace=float(draw(st.integers(0, 20))),
            **limits,
        )

    return fleet(
        one("chat"), one("code"), groups=[group(least=draw(st.integers(0, 2)), most=draw(st.integers(2, 4)))]
    )


REQUESTS = st.lists(st.tuples(st.floats(0, 900), st.integers(0, 30), st.integers(1, 40)), max_size=60)


@settings(max_examples=tries(150), deadline=None)
@given(small=fleets(), chat=REQUESTS, code=REQUESTS, timeout=st.sampled_from([5.0, 60.0]))
def test_every_request_is_answered_or_lost_once(
    small: VirtualFleet,
    chat: Sequence[tuple[float, int, int]],
    code: Sequence[tuple[float, int, int]],
    timeout: float,
) -> None:
    def once() -> Any:
        demand = {"chat": arrivals(*sorted(chat)), "code": arrivals(*sorted(code))}
        return run(small, demand, timeout=timeout, start_speed=10.0)

    done = once()
    for title, sent in (("chat", chat), ("code", code)):
        figures = done.endpoints[title].figures
        assert len(figures.sent) + figures.lost.total() == len(sent)
        assert sorted([*figures.sent, *figures.lost_at]) == pytest.approx(sorted(at for at, _, _ in sent))
        assert set(figures.lost) <= set(LOST)
        assert all(0 < first <= took <= timeout for first, took in zip(figures.first, figures.took, strict=True))
    most = small.groups[0].most
    assert all(number <= most for _, _, number in done.pool.counts)
    for found in done.workloads.values():
        bound = max(found.facts.replicas, int(found.facts.scaler.spec["maxReplicas"]) if found.facts.scaler else 0)
        assert all(0 <= ready <= replicas <= bound for _, replicas, ready in found.changes)
    for node in done.pool.nodes["gpu"]:
        assert 0 <= node.pods <= 1
        assert node.free["nvidia.com/gpu"] == 1.0 - node.pods
    assert result_of(done).as_dict() == result_of(once()).as_dict()


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_more_replicas_cost_more_and_answer_no_later(replicas: int) -> None:
    def done(number: int) -> Any:
        return result_of(run(fleet(workload(number), groups=[group(least=0, start=0)]), {"chat": _burst(300.0, 2.0)}))

    fewer, more = done(replicas), done(replicas + 1)
    assert more.gpu_hours > fewer.gpu_hours
    assert more.lost <= fewer.lost
    assert more.ttft.p99 <= fewer.ttft.p99


def test_a_model_does_not_change_the_times_of_another_one() -> None:
    """Except through nodes: here both have their own."""
    both = fleet(workload(2), workload(name="code"), groups=[group(least=3)])
    chat = _burst(100.0, 1.7)
    alone = run(both, {"chat": chat}).endpoints["chat"].figures
    beside = run(both, {"chat": chat, "code": _burst(100.0, 3.0)}).endpoints["chat"].figures
    assert alone.first == beside.first


@pytest.mark.parametrize(("keep_alive", "patterns"), [(15.0, 1), (0.0, 2)])
def test_connections_stay_with_their_replica(keep_alive: float, patterns: int) -> None:
    """Two clients at the same time share a replica always or never, unless each request has its own connection."""
    rows = [(5.0 * (number // 2), 1, 1) for number in range(80)]
    small = fleet(workload(2), groups=[group(most=2)])
    figures = run(small, {"chat": arrivals(*rows)}, keep_alive=keep_alive).endpoints["chat"].figures
    pairs = {(figures.first[place], figures.first[place + 1]) for place in range(0, 80, 2)}
    assert pairs <= {(1.0, 1.0), (1.0, 2.0)}
    assert len(pairs) == patterns


def test_the_metric_of_the_autoscaler_is_that_of_the_last_scrape() -> None:
    small = fleet(workload(scaler=scaler(2, 3)))
    done = run(small, {"chat": arrivals(*[(0.0, 1, 100)] * 6)}, seconds=20.0)
    assert [replica.sample for replica in done.workloads[KEY].replicas if replica.sample] == [{QUEUE: 5}]

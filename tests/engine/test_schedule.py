"""Order and parallelism of steps, and the order of deletions."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.engine.apply.remove import levels
from workbench.engine.apply.schedule import Schedule
from workbench.engine.plan import Op, Step
from workbench.engine.state import StateRow

GRAPHS = st.integers(1, 12).flatmap(
    lambda count: st.tuples(*[st.sets(st.integers(0, max(0, n - 1)), max_size=3) for n in range(count)])
)


def run(needs: dict[str, set[str]], fail: set[str], trivial: set[str]) -> tuple[list[str], list[str]]:
    done: list[str] = []
    skipped: list[str] = []
    lock = threading.Lock()

    def work(item: str) -> bool:
        with lock:
            done.append(item)
        return item not in fail

    Schedule(needs, work, trivial.__contains__, lambda item, _: skipped.append(item), workers=4).run()
    return done, skipped


@settings(deadline=None)
@given(GRAPHS, st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_needs_come_first_and_failures_stop_only_what_needs_them(
    graph: tuple[set[int], ...], failing: set[int], easy: set[int]
) -> None:
    needs = {str(n): {str(need) for need in wanted if need < n} for n, wanted in enumerate(graph)}
    trivial, fail = {str(n) for n in easy}, {str(n) for n in failing - easy}
    done, skipped = run(needs, fail, trivial)
    dead: set[str] = set()
    for item in needs:
        if needs[item] & (dead | fail):
            dead.add(item)
    assert set(skipped) == dead
    assert sorted(done) == sorted(set(needs) - dead - trivial)
    for item in done:
        for need in needs[item] - trivial:
            assert done.index(need) < done.index(item)


def test_independent_steps_run_at_the_same_time() -> None:
    together = threading.Barrier(4, timeout=30)
    Schedule(
        {str(n): () for n in range(4)}, lambda _: together.wait() >= 0, lambda _: False, lambda *_: None, workers=4
    ).run()


def test_the_lowest_rank_goes_first_among_those_that_are_ready() -> None:
    done: list[str] = []

    def work(item: str) -> bool:
        done.append(item)
        return True

    needs: dict[str, set[str]] = {"b1": set(), "a1": {"b1"}, "b2": set(), "a2": set(), "b3": set()}
    rank = {"a": 0, "b": 1}
    Schedule(needs, work, lambda _: False, lambda *_: None, workers=1, rank=lambda item: rank[item[0]]).run()
    assert done == ["a2", "b1", "a1", "b2", "b3"]


def test_an_error_in_a_step_comes_out() -> None:
    def work(_: str) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Schedule({"a": (), "b": ("a",)}, work, lambda _: False, lambda *_: None).run()


def test_a_long_chain_takes_no_recursion() -> None:
    chain = {str(n): ({str(n - 1)} if n else set()) for n in range(20_000)}
    started = time.process_time()
    run(chain, set(), set(chain))
    # Seconds of a processor: a tenth of one, but minutes if each step looks at all others.
    assert time.process_time() - started < 10


def step(name: str, kind: str, *needs: str, parent: str = "") -> Step:
    urn = f"urn:pulumi:s::p::kubernetes:x/v1:{kind}::{name}"
    row = StateRow(urn, "t", parent, inputs={"kind": kind}, dependencies=needs)
    return Step(Op.DELETE, urn, row=row)


def test_deletions_go_from_dependents_down_and_nodes_and_namespaces_last() -> None:
    namespace = step("ns", "Namespace")
    node = step("node", "Node")
    base = step("base", "ConfigMap", namespace.urn)
    web = step("web", "Deployment", base.urn)
    alone = step("alone", "ConfigMap")
    order = levels({s.urn: s for s in (web, alone, node, base, namespace)})
    assert [{s.urn.rsplit("::", 1)[1] for s in level} for level in order] == [
        {"web", "alone"},
        {"base"},
        {"ns", "node"},
    ]

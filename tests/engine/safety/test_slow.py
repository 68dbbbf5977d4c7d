"""A busy machine: what the API server makes up for by itself is waited for while anything goes on, and retried."""

import itertools
import re
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from tests.engine.safety.standin import StandIn
from tests.engine.support import Stack, config_map, kube_object, register
from workbench.engine.apply import objects
from workbench.engine.apply.objects import LateError, Patience, await_established

CRD = "CustomResourceDefinition"
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
SPEC = {
    "group": "example.com",
    "scope": "Namespaced",
    "names": {"plural": "things", "kind": "Thing"},
    "versions": [VERSION],
}


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.5)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(objects, "time", clock)
    return clock


class Definition:
    """A client that finds a definition which is established at some moment."""

    def __init__(self, clock: Clock, at: float, meanwhile: Callable[[float], None] = lambda _: None) -> None:
        self._clock, self._at, self._meanwhile = clock, clock.now + at, meanwhile

    def get(self, *_: object) -> dict[str, Any]:
        self._meanwhile(self._clock.now)
        conditions = [{"type": "Established", "status": "True"}] if self._clock.now >= self._at else []
        return {"spec": SPEC, "status": {"conditions": conditions}}

    def forget(self, _: str) -> None:
        """Nothing is known."""


@pytest.mark.parametrize(
    ("at", "progress_until", "comes"),
    [
        (10, 0, True),
        (40, 0, False),
        (200, 180, True),  # other objects are created meanwhile
        (200, 150, False),
        (2000, 2000, False),  # not for hours
    ],
)
def test_a_definition_is_waited_for_while_anything_goes_on(
    clock: Clock, at: float, progress_until: float, comes: bool
) -> None:
    patience, begun = Patience(), clock.now

    def meanwhile(now: float) -> None:
        if now < begun + progress_until:
            patience.progress()

    client: Any = Definition(clock, at, meanwhile)
    if comes:
        await_established(client, "things.example.com", patience)
        return
    with pytest.raises(
        LateError, match=r"things\.example\.com was not established within .* no other step made progress"
    ):
        await_established(client, "things.example.com", patience)


def program(stack: Stack) -> Callable[[], None]:
    def run() -> None:
        provider = stack.provider()
        options = pulumi.ResourceOptions(provider=provider)
        value = kube_object("apiextensions.k8s.io/v1", CRD, "things.example.com", spec=SPEC)
        kind = register(value, options, "kind")
        for number in range(9):
            config_map(f"cm-{number}", pulumi.ResourceOptions(provider=provider, depends_on=[kind]), n=str(number))

    return run


@pytest.fixture
def late(server: StandIn, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the API server establish a definition only after it has been asked for often."""
    answer, left = server._answer, itertools.count()
    monkeypatch.setattr(objects, "_PATIENCE", 4.0)

    def after(looks: int) -> None:
        def answered(method: str, parts: list[str], body: Any) -> tuple[int, dict[str, Any]]:
            status, found = answer(method, parts, body)
            if method == "GET" and found.get("kind") == CRD and next(left) < looks:
                return status, found | {"status": {}}
            return status, found

        monkeypatch.setattr(server, "_answer", answered)

    return after


def test_what_was_late_is_tried_again(stack: Stack, late: Callable[[int], None]) -> None:
    """Patience ends after some eight looks; the second try finds the kind."""
    late(10)
    outcome = stack.up(program(stack))
    assert outcome.ok, stack.screen
    assert outcome.changed == 11
    assert stack.up(program(stack)).changed == 0


def test_what_stays_late_is_told_shortly_and_a_second_run_goes_on(stack: Stack, late: Callable[[int], None]) -> None:
    late(40)
    stack.details, stack.options.brief = False, True
    outcome = stack.up(program(stack))
    assert not outcome.ok
    assert [failure.late for failure in outcome.failures if not failure.skipped] == [True]
    assert sum(failure.skipped for failure in outcome.failures) == 9
    shown = stack.words
    assert "CRD things.example.com was not established within" in shown
    assert re.match(r"dev: 1 failed, 9 skipped, 1 created in \d\.\d s error: CustomResourceDefinition kind ", shown)
    skipped = shown.partition("skipped, because they depend on what failed: ")[2].partition(" help: ")[0]
    assert skipped.count(",") == 5
    assert skipped.endswith(", 4 more (--details)")
    assert "help: completed changes are recorded; if the machine was only busy, run the same command again" in shown
    late(0)
    assert stack.up(program(stack)).ok


def test_what_is_refused_is_not_tried_again(stack: Stack, server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        config_map("refused", pulumi.ResourceOptions(provider=stack.provider()), n="1")

    tries: list[str] = []
    answer = server._answer

    def counted(method: str, parts: list[str], body: Any) -> tuple[int, dict[str, Any]]:
        tries.append(method)
        return answer(method, parts, body)

    monkeypatch.setattr(server, "_answer", counted)
    assert not stack.up(refused).ok
    assert tries.count("PATCH") == 1
    assert "once the cause is fixed, run the same command again" in stack.words

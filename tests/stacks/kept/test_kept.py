"""Stacks that an earlier release deployed preview without a change, but for the list in changes.yaml."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stacks.kept import states
from tests.stacks.kept.states import STACKS, Accepted, Difference, accepted, differences, differences_of_local_engine

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="session")
def found() -> Callable[[str], list[Difference]]:
    """The differences of a stack, found once."""
    known: dict[str, list[Difference]] = {}

    def of(stack: str) -> list[Difference]:
        if stack not in known:
            known[stack] = list(differences(stack))
        return known[stack]

    return of


@pytest.mark.parametrize("stack", STACKS)
def test_a_state_of_an_earlier_release_previews_without_a_change(
    stack: str, found: Callable[[str], list[Difference]]
) -> None:
    entries = accepted()
    assert [str(each) for each in found(stack) if not any(entry.covers(each) for entry in entries)] == []


def test_a_stack_of_the_local_engine_previews_without_a_change(tmp_path: Path) -> None:
    entries = accepted()
    found = differences_of_local_engine(tmp_path)
    assert [str(each) for each in found if not any(entry.covers(each) for entry in entries)] == []


def test_each_accepted_change_takes_place_and_has_a_reason(found: Callable[[str], list[Difference]]) -> None:
    every = [each for stack in STACKS for each in found(stack)]
    alone = [Accepted([stack], entry.resource, "", entry.field) for entry in accepted() for stack in entry.stacks]
    unused = [entry for entry in alone if not any(map(entry.covers, every))]
    assert unused == []
    assert all(entry.because for entry in accepted())


def test_a_changed_field_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    written = dict(states._written("dev"))
    urn = next(urn for urn in written if "kubernetes:core/v1:Namespace" in urn)
    written[urn]["metadata"]["name"] = "another"
    monkeypatch.setattr(states, "_written", lambda _: iter(written.items()))
    entries = accepted()
    (only,) = [each for each in differences("dev") if not any(entry.covers(each) for entry in entries)]
    assert (only.resource, only.field) == (urn.split("::", 2)[2], "metadata.name")


def test_what_is_created_and_deleted_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    written = [each for each in states._written("dev") if "Namespace" not in each[0]]
    other: tuple[str, dict[str, Any]] = (
        "urn:pulumi:dev::inference-platform::kubernetes:core/v1:ConfigMap::other",
        {},
    )
    monkeypatch.setattr(states, "_written", lambda _: iter([*written, other]))
    whats = {(each.resource.rpartition("::")[2], each.what) for each in differences("dev") if not each.field}
    assert ("other", "is deleted") in whats
    assert "is created" in {what for _, what in whats}


def test_an_entry_accepts_nothing_else() -> None:
    entry = Accepted(["dev"], "*:ConfigMap::cm", "reason", "spec.versions[0].x*")
    assert entry.covers(Difference("dev", "kubernetes:core/v1:ConfigMap::cm", "spec.versions[0].xy", ""))
    for other in (
        Difference("prod", "kubernetes:core/v1:ConfigMap::cm", "spec.versions[0].x", ""),
        Difference("dev", "kubernetes:core/v1:ConfigMap::cm2", "spec.versions[0].x", ""),
        Difference("dev", "kubernetes:core/v1:ConfigMap::cm", "spec.versions[1].x", ""),
        Difference("dev", "kubernetes:core/v1:ConfigMap::cm", "", "is deleted"),
    ):
        assert not entry.covers(other)

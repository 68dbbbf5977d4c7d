"""Conversions between releases: the steps of a route, losses, and documents that keep their order."""

from typing import Any

import pytest

from components.contract.kinds import Kinds
from components.families.migration import (
    Batch,
    MigratedDocument,
    ReleaseStep,
    drop_losses,
    inserted,
    migrate,
    origin_of,
    renamed,
)
from tests.contract.test_releases import NEW, OLD, RELEASES, TOY, toy

KINDS = Kinds([TOY])


def _to_one(batch: Batch) -> None:
    for document in batch.of_kind("Toy"):
        spec = document.value["spec"]
        if "backends" in spec:
            first, *others = spec["backends"]
            if others:
                batch.loss(document, "spec.backends[1]", "v2 has one backend")
            spec["backend"] = first
            del spec["backends"]


def _to_several(batch: Batch) -> None:
    for document in batch.of_kind("Toy"):
        spec = document.value["spec"]
        if "backend" in spec:
            spec["backends"] = [spec.pop("backend")]


STEPS = (ReleaseStep("v1", "v2", _to_one, _to_several),)


def migrated(spec: dict[str, Any], origin: str, target: str) -> tuple[dict[str, Any], list[str]]:
    batch = Batch([MigratedDocument(toy(spec))])
    migrate(batch, KINDS, RELEASES, STEPS, origin, target)
    return dict(batch.documents[0].value["spec"]), [str(loss) for loss in batch.losses]


@pytest.mark.parametrize(
    ("spec", "origin", "target", "expected", "losses"),
    [
        (OLD, "v1", "v1", OLD, []),
        ({"backends": [{"name": "x"}]}, "v1", "v3", {"backend": {"name": "x"}}, []),
        (OLD, "v1", "v3", {"backend": OLD["backends"][0]}, ["Toy/a: spec.backend.old: unknown field of Toys v3"]),
        (NEW, "v1", "v3", NEW, []),  # in the newer form already
        (
            NEW,
            "v3",
            "v1",
            {"backends": [NEW["backend"]]},
            [
                "Toy/a: spec.backends[0].old: is required by Toys v1",
                "Toy/a: spec.backends[0].new: unknown field of Toys v1",
            ],
        ),
    ],
)
def test_a_document_takes_the_steps_of_its_route(
    spec: dict[str, Any], origin: str, target: str, expected: dict[str, Any], losses: list[str]
) -> None:
    assert migrated(spec, origin, target) == (expected, losses)


def test_losses_are_dropped_but_not_what_is_missing() -> None:
    lossy = MigratedDocument(toy({"backend": {"name": "x", "old": 1}}))
    assert drop_losses(lossy, KINDS, "v3") == []
    assert lossy.value["spec"] == {"backend": {"name": "x"}}
    (left,) = drop_losses(MigratedDocument(toy({"backends": [{"name": "x"}]})), KINDS, "v1")
    assert left.startswith("spec.backends[0].old: is required by Toys v1")


@pytest.mark.parametrize(
    ("specs", "target", "origin"),
    [([OLD], "v3", "v1"), ([OLD, NEW], "v3", "v1"), ([NEW], "v1", "v2"), ([{**NEW, "mode": "b"}], "v1", "v2")],
)
def test_the_origin_of_documents_without_a_release(specs: list[dict[str, Any]], target: str, origin: str) -> None:
    assert origin_of([MigratedDocument(toy(spec)) for spec in specs], KINDS, RELEASES, target) == origin


def test_added_documents_follow_theirs() -> None:
    first, second = MigratedDocument(toy(OLD), "a.yaml"), MigratedDocument(toy(NEW), "b.yaml")
    batch = Batch([first, second])
    added = batch.add(toy(NEW), after=first)
    assert batch.documents == [first, added, second]
    assert added.file == "a.yaml"
    batch.remove(first)
    assert batch.documents[0] is added


def test_a_renamed_key_keeps_its_position() -> None:
    owner = {"a": 1, "b": 2, "c": 3}
    renamed(owner, "b", "z")
    renamed(owner, "missing", "y")
    inserted(owner, 0, "first", 0)
    assert list(owner.items()) == [("first", 0), ("a", 1), ("z", 2), ("c", 3)]

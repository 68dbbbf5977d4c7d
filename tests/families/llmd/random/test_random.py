"""Random VariantAutoscalings: valid ones pass and lose nothing, wrong ones are refused at the field."""

from random import Random

from components.contract.checking import check
from tests.families.llmd.api.samples import VARIANT as ANY_RELEASE
from tests.families.llmd.api.table import FIELDS, KIND, label, paths
from tests.families.llmd.random.documents import document
from tests.families.llmd.random.faults import bad_values, places, wrong

SEEDS = range(1000)
VARIANT = ANY_RELEASE.at("c0f645c")
"""The table is that of the contract's release."""


def test_valid_documents_pass() -> None:
    for seed in SEEDS:
        whole = document(Random(seed))
        resource, found = check(whole, VARIANT)
        assert found == [], seed
        assert resource is not None
        assert resource.wire() == whole, seed


def test_wrong_documents_are_refused_at_the_field() -> None:
    for seed in SEEDS:
        example = wrong(Random(seed))
        resource, found = check(example.document, VARIANT)
        assert resource is None, seed
        assert [path for path, _ in found if path[: len(example.path)] == example.path], seed


def test_they_reach_every_field() -> None:
    """Each field of spec and status is written in some of the documents, and each of the spec can be wrong."""
    written = set()
    for whole in map(document, map(Random, SEEDS)):
        for part in ("spec", "status"):
            found = places(whole.get(part, {}), f"{KIND}{part.capitalize()}", ())
            written |= {label(row) for path, row in found if _is_at(whole.get(part, {}), path)}
    below = {label(row) for path, row in paths() if path[0] in ("spec", "status") and len(path) > 1}
    assert written == below
    faults = {wrong(Random(seed)).path for seed in SEEDS}
    reached = {tuple(0 if isinstance(part, int) else part for part in path) for path in faults}
    assert {path for path, _ in paths() if path[0] == "spec"} <= reached
    assert all(bad_values(row) for rows in FIELDS.values() for row in rows)


def _is_at(value: object, path: tuple[str | int, ...]) -> bool:
    for part in path:
        if isinstance(value, dict) and part not in value:
            return False
        value = value[part]  # type: ignore[index]  # a list has its items
    return True

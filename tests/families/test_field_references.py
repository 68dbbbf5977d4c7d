"""The reference of fields against the table of every upstream release."""

import csv
from pathlib import Path

import pytest

from components.contract.field_reference import FieldReference, field_references
from components.contract.kinds import Kind
from components.contract.releases import Span, described
from components.families import kinds

DATA = Path(__file__).parent
FAMILIES = ("llmaz", "llmkube", "kthena", "llmd")
OF_KINDS = {kind.title: kind for kind in kinds() if kind.releases.names}


def rows(family: str) -> list[dict[str, str]]:
    text = (DATA / family / "data/releases.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def upstream(kind: Kind) -> dict[str, list[dict[str, str]]]:
    """The fields of a kind's spec by path, without items of lists and values of maps; several rows if it changed."""
    found: dict[str, list[dict[str, str]]] = {}
    for family in FAMILIES:
        for row in rows(family):
            path = row["path"].replace("{}", ".*")
            if row["kind"] == kind.kind and path.startswith("spec.") and not path.endswith(("[]", ".*")):
                found.setdefault(path, []).append(row)
    return found


@pytest.mark.parametrize("title", OF_KINDS)
def test_every_field_is_described_with_its_releases(title: str) -> None:
    kind = OF_KINDS[title]
    references = {each.path: each for each in field_references(kind)}
    assert all(each.description for each in references.values() if each.path.count(".") == 1)
    table = upstream(kind)
    assert table
    for path, rows_of_path in table.items():
        reference = references.get(path)
        if reference is None:
            assert below_an_embedded_type(path, references), f"{path} is not described"
            continue
        names = kind.releases.of_spans(Span(row["since"], row["until"]) for row in rows_of_path)
        assert reference.releases == ("" if names == kind.releases.names else described(names, kind.releases)), path


def above(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:depth]).removesuffix("[]") for depth in range(2, len(parts))]


def below_an_embedded_type(path: str, references: dict[str, FieldReference]) -> bool:
    """Whether a field is one of Kubernetes' own types, which the reference names instead."""
    return any(
        "v1 " in references[parent].type or references[parent].type == "any"
        for parent in above(path)
        if parent in references
    )


@pytest.mark.parametrize("title", OF_KINDS)
def test_types_and_limits_are_upstreams(title: str) -> None:
    kind = OF_KINDS[title]
    words = {"array": ("list of",), "object": ("object", "map of", "v1 "), "boolean": ("boolean",)}
    table = upstream(kind)
    for reference in field_references(kind):
        for row in table.get(reference.path, ()):
            expected = words.get(row["type"])
            if expected and reference.type != "any" and "Quantity" not in reference.type:
                assert reference.type.startswith(expected) or " or " in reference.type, (reference, row)

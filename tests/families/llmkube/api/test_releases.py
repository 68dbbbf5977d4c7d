"""Every field of LLMKube's kinds in every release: its type, whether it is required, and its constraints.

The table ``data/releases.csv`` was made by a program from the CustomResourceDefinitions (config/crd/bases) of
defilantech/LLMKube at the tags v0.8.7 to v0.9.19. A row holds from ``since`` until ``until``; the newest release has
those without ``until``.
"""

import csv
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.contract.kinds import Kind
from components.contract.schema.crds import crd
from components.families.llmkube.family import FAMILY, RELEASES

TABLE = Path(__file__).parents[1] / "data" / "releases.csv"
KINDS = {member.kind.kind: member.kind for member in FAMILY.members}
CORE = {"Affinity", "EnvVar", "LabelSelector", "PodSecurityContext", "Probe", "ResourceRequirements",
        "SecurityContext", "Toleration", "TopologySpreadConstraint", "Volume", "VolumeMount"}  # fmt: skip
"""Embedded types of Kubernetes, below which the table lists nothing."""
OURS = {
    "gpuMemoryUtilization must be at least 0.1 and at most 0.99",
    "memFractionStatic must be at least 0.1 and at most 0.99",
}
"""Rules that upstream does not have: the API server truncates such a bound when it compares an integer."""
KEYWORDS = ("default", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern",
            "format")  # fmt: skip

Row = dict[str, str]


@functools.cache
def rows() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected(kind: str, release: str) -> dict[str, Row]:
    """Return the rows of a kind that hold in a release, by path."""
    order = RELEASES.names
    place = order.index(release)
    found = {}
    for row in rows():
        until = order.index(row["until"]) if row["until"] else len(order)
        if row["kind"] == kind and order.index(row["since"]) <= place <= until:
            assert row["path"] not in found
            found[row["path"]] = row
    return found


def found_fields(kind: Kind, release: str, table: dict[str, Row]) -> dict[str, tuple[dict[str, Any], bool]]:
    """Return the schema of every field of the spec and whether it is required, by path."""
    schema = crd(kind.at(release))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    fields: dict[str, tuple[dict[str, Any], bool]] = {}

    def walk(path: str, node: dict[str, Any], *, required: bool) -> None:
        fields[path] = (node, required)
        if table.get(path, {}).get("type") in CORE:
            return
        for name, inner in node.get("properties", {}).items():
            walk(f"{path}.{name}", inner, required=name in node.get("required", ()))
        if "items" in node:
            walk(f"{path}[]", node["items"], required=False)
        if isinstance(node.get("additionalProperties"), dict):
            walk(f"{path}{{}}", node["additionalProperties"], required=False)

    walk("spec", schema["properties"]["spec"], required="spec" in schema.get("required", ()))
    return fields


CASES = [(name, release) for name, kind in KINDS.items() for release in RELEASES.names if kind.at(release).exists]


def test_the_table_is_complete() -> None:
    assert len(rows()) == 393
    assert {row["kind"] for row in rows()} == set(KINDS)
    assert {row["api_version"] for row in rows()} == {kind.api_version for kind in KINDS.values()}


@pytest.mark.parametrize(("name", "release"), [(name, release) for name in KINDS for release in RELEASES.names])
def test_a_kind_exists_in_the_releases_of_the_table(name: str, release: str) -> None:
    assert KINDS[name].at(release).exists == bool(expected(name, release))


@pytest.mark.parametrize(("name", "release"), CASES)
def test_a_release_has_exactly_the_fields_of_the_table(name: str, release: str) -> None:
    table = expected(name, release)
    fields = found_fields(KINDS[name], release, table)
    assert set(fields) == set(table)
    wrong = [fault for path, row in table.items() for fault in faults(row, *fields[path])]
    assert wrong == []


def faults(row: Row, node: dict[str, Any], required: bool) -> Iterator[str]:
    path = row["path"]
    if required != (row["required"] == "yes"):
        yield f"{path}: required is {required}"
    if row["type"] not in CORE and node.get("type") != row["type"]:
        yield f"{path}: type is {node.get('type')}, not {row['type']}"
    wanted = json.loads(row["constraints"]) if row["constraints"] else {}
    for keyword in KEYWORDS:
        found = node.get(keyword)
        if keyword in ("minimum", "maximum") and keyword not in wanted:
            # Without a bound, the schema here has that of the number's size.
            size = {"int32": 2**31, "int64": 2**63}.get(str(node.get("format")), 0)
            found = None if found in (-size, size - 1) else found
        if found != wanted.get(keyword):
            yield f"{path}: {keyword} is {found!r}, not {wanted.get(keyword)!r}"
    rules = [rule["rule"] for rule in node.get("x-kubernetes-validations", ()) if rule["message"] not in OURS]
    if rules != wanted.get("cel", []):
        yield f"{path}: rules are {rules}"
    if node.get("x-kubernetes-list-type", wanted.get("listType")) != wanted.get("listType"):
        yield f"{path}: list type is {node.get('x-kubernetes-list-type')!r}"


# Releases whose InferenceService differs from the one before, apart from descriptions: the definitions at all tags.
FORMS = ["v0.8.7", "v0.8.8", "v0.8.9", "v0.8.12", "v0.8.14", "v0.8.17", "v0.8.20", "v0.8.23", "v0.8.28", "v0.9.4",
         "v0.9.5", "v0.9.6", "v0.9.7", "v0.9.8", "v0.9.9", "v0.9.11", "v0.9.14", "v0.9.15", "v0.9.18"]  # fmt: skip


def test_the_releases_that_change_an_inference_service() -> None:
    definitions = [
        json.dumps(crd(KINDS["InferenceService"].at(release)), sort_keys=True) for release in RELEASES.names
    ]
    before = ["", *definitions]
    changed = [new != old for new, old in zip(definitions, before[:-1], strict=True)]
    assert [release for release, change in zip(RELEASES.names, changed, strict=True) if change] == FORMS


def test_each_release_has_a_chart_of_its_own_number() -> None:
    """charts/llmkube/Chart.yaml at each tag."""
    for release in RELEASES.releases:
        assert release.operator == release.name.removeprefix("v")
    assert [release.date for release in RELEASES.releases] == sorted(release.date for release in RELEASES.releases)
    assert len(RELEASES.releases) == 42
    assert (RELEASES.contract, RELEASES.newest) == ("v0.8.7", "v0.9.19")

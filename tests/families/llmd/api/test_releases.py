"""Every release of VariantAutoscaling: its schema is that of upstream's CustomResourceDefinition at its tag."""

import csv
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from components.contract.checking import check
from components.contract.misfits import fitting_releases
from components.contract.releases import Span
from components.contract.schema.crds import crd
from components.contract.schema.narrowing import release_graph
from components.families.llmd.kinds import RELEASES, kind_at
from components.families.llmd.types import VariantAutoscaling
from tests.families.llmd.api.samples import VARIANT, variant

Row = dict[str, str]
_LINES = (Path(__file__).parents[1] / "data" / "releases.csv").read_text(encoding="utf-8").splitlines()
ROWS: list[Row] = list(csv.DictReader(_LINES[1:]))
NAMES = [name for name in RELEASES.names if RELEASES.covers(VARIANT.span, name)]
_OURS = {"int32": {"maximum": 2**31 - 1}, "int64": {"maximum": 2**63 - 1, "format": "int64"}}
"""Bounds of integers that the API server has without writing them."""
_CONSTRAINTS = ("default", "enum", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern")


def rows_of(release: str) -> dict[str, Row]:
    """Return the rows of a release by path."""
    return {row["path"]: row for row in ROWS if RELEASES.covers(Span(row["since"], row["until"]), release)}


def found_in(release: str) -> dict[str, tuple[str, bool, dict[str, Any]]]:
    """Return type, whether it is required, and the constraints of each field of a release, by path."""
    graph = release_graph(VARIANT, release)

    def walk(schema: Any, path: str, required: bool) -> Iterator[tuple[str, tuple[str, bool, dict[str, Any]]]]:
        schema = graph.resolve(schema)
        found = {key: schema[key] for key in (*_CONSTRAINTS, "format", "minProperties") if key in schema}
        if "x-kubernetes-validations" in schema:
            found["cel"] = [rule["rule"] for rule in schema["x-kubernetes-validations"]]
        yield path, (schema["type"], required, found)
        if path == "status.conditions":
            return  # of Kubernetes
        for name, inner in schema.get("properties", {}).items():
            yield from walk(inner, f"{path}.{name}", name in schema.get("required", ()))
        if "items" in schema:
            yield from walk(schema["items"], f"{path}[]", False)
        if isinstance(schema.get("additionalProperties"), dict):
            yield from walk(schema["additionalProperties"], f"{path}{{}}", False)

    root = graph.resolve(graph.root)["properties"]
    return {path: row for part in ("spec", "status") for path, row in walk(root[part], part, False)}


def test_the_rows_are_of_releases_that_exist() -> None:
    assert len(ROWS) == 52
    assert {row["kind"] for row in ROWS} == {"VariantAutoscaling"}
    assert {row[end] for row in ROWS for end in ("since", "until")} <= set(NAMES)


def test_the_releases_are_in_the_order_of_their_dates() -> None:
    dates = [date.fromisoformat(release.date) for release in RELEASES.releases]
    assert dates == sorted(set(dates))
    assert (RELEASES.contract, RELEASES.newest) == ("c0f645c", "v0.9.0")
    assert not VARIANT.at("v0.9.0").exists


@pytest.mark.parametrize("release", NAMES)
def test_each_field_is_in_its_releases_and_in_no_other(release: str) -> None:
    assert set(found_in(release)) == set(rows_of(release))


@pytest.mark.parametrize("release", NAMES)
def test_each_field_has_the_type_and_constraints_of_the_release(release: str) -> None:
    found, wrong = found_in(release), []
    for path, row in rows_of(release).items():
        kind, required, constraints = found[path]
        wanted = json.loads(row["constraints"] or "{}")
        if kind == "integer":
            wanted = _OURS[wanted.get("format", "int64")] | wanted
        if (kind, "yes" if required else "", constraints) != (row["type"], row["required"], wanted):
            wrong.append((path, kind, required, constraints, row))
    assert wrong == []


COLUMNS = {
    "c0f645c": ["Model", "Accelerator", "CurrentReplicas", "Optimized", "Age"],
    "v0.0.1": ["Model", "Accelerator", "CurrentReplicas", "Optimized", "Age"],
    "v0.0.2": ["Model", "Accelerator", "CurrentReplicas", "Optimized", "MetricsReady", "Age"],
    "v0.4.2": ["Model", "Accelerator", "CurrentReplicas", "Optimized", "MetricsReady", "Age"],
    "v0.5.0": ["Target", "Model", "Optimized", "MetricsReady", "Age"],
    "v0.5.1": ["Target", "Model", "Optimized", "MetricsReady", "Age"],
    "v0.6.0": ["Target", "Model", "Min", "Max", "Optimized", "MetricsReady", "Age"],
    "4bbb15fa": ["Target", "Model", "Min", "Max", "Optimized", "MetricsReady", "Age"],
}
"""Printed columns of upstream's definitions."""


@pytest.mark.parametrize("release", COLUMNS)
def test_the_columns_are_those_of_the_release(release: str) -> None:
    (version,) = crd(kind_at(release))["spec"]["versions"]
    assert [column["name"] for column in version["additionalPrinterColumns"]] == COLUMNS[release]


# -- documents

PERF = {"decodeParms": {"alpha": "20.28", "beta": "0.72"}, "prefillParms": {"gamma": "5.2", "delta": "0.1"}}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}


def spec(*drop: str, **fields: Any) -> dict[str, Any]:
    """Return a spec of the contract's release without some fields and with others."""
    document = variant()
    entry = document["spec"]["modelProfile"]["accelerators"][0]
    for name in ("alpha", "beta") if "speed" in drop else ():
        del entry[name]
    perf = fields.pop("perf", None)
    if perf:
        entry["perfParms"] = perf
    document["spec"] = {key: value for key, value in document["spec"].items() if key not in drop} | fields
    return document


FORMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "alpha and beta": (spec(), ["c0f645c"]),
    "perfParms": (spec("speed", perf=PERF), ["v0.0.1", "v0.0.2", "v0.0.3", "v0.0.4", "v0.0.5"]),
    "perfParms without class": (spec("speed", "sloClassRef", perf=PERF), ["v0.0.5", "v0.4.1", "v0.4.2"]),
    "no speed": (spec("speed", "sloClassRef"), ["v0.0.5", "v0.4.1", "v0.4.2"]),
    "cost": (spec("sloClassRef", "modelProfile", variantCost="40.0"), ["v0.0.5", "v0.4.1", "v0.4.2"]),
    "target": (
        spec("sloClassRef", "modelProfile", scaleTargetRef=TARGET),
        ["v0.5.0", "v0.5.1", "v0.6.0", "4bbb15fa"],
    ),
    "bounds": (
        spec("sloClassRef", "modelProfile", scaleTargetRef=TARGET, minReplicas=0, maxReplicas=3, variantCost="5"),
        ["v0.6.0", "4bbb15fa"],
    ),
    "two forms": (spec("sloClassRef", scaleTargetRef=TARGET), []),
}
"""Documents, with the releases that accept them."""


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_accepted_in_its_releases(form: str) -> None:
    document, releases = FORMS[form]
    resource, problems = check(document, VARIANT)
    assert problems == [], "the union of all releases accepts each"
    assert resource
    assert fitting_releases(resource, VARIANT) == releases
    assert [name for name in NAMES if not check(document, VARIANT.at(name))[1]] == releases


@pytest.mark.parametrize(
    ("document", "path", "words"),
    [
        (spec(perf=PERF), ("spec", "modelProfile", "accelerators", 0, "alpha"), "no release has both"),
        (
            spec(modelProfile={"accelerators": [{"acc": "L4", "accCount": 1, "alpha": "1", "maxBatchSize": 4}]}),
            ("spec", "modelProfile", "accelerators", 0, "beta"),
            "is required beside the other number",
        ),
        (spec(minReplicas=3), ("spec", "minReplicas"), "must be at most maxReplicas, 2, the default, found 3"),
        (spec(minReplicas=3, maxReplicas=2), ("spec", "minReplicas"), "must be at most maxReplicas, 2, found 3"),
        (spec(maxReplicas=0), ("spec", "maxReplicas"), "at least 1"),
        (spec(minReplicas=-1), ("spec", "minReplicas"), "at least 0"),
        (spec(variantCost="-1"), ("spec", "variantCost"), "must be an unsigned number in quotes"),
        (spec(scaleTargetRef={"kind": "Deployment"}), ("spec", "scaleTargetRef", "name"), "is required"),
        (
            spec("speed", perf={**PERF, "decodeParms": {}}),
            ("spec", "modelProfile", "accelerators", 0, "perfParms", "decodeParms"),
            "at least 1",
        ),
    ],
)
def test_what_no_release_accepts_is_refused(
    document: dict[str, Any], path: tuple[str | int, ...], words: str
) -> None:
    found = dict(check(document, VARIANT)[1])
    assert words in found[path]


def test_reversed_bounds_are_refused_once_in_their_release() -> None:
    document = spec("sloClassRef", "modelProfile", scaleTargetRef=TARGET, minReplicas=3, maxReplicas=2)
    ((path, reason),) = check(document, VARIANT.at("4bbb15fa"))[1]
    assert path == ("spec", "minReplicas")
    assert "must be at most maxReplicas" in reason


def test_a_field_of_another_release_is_told_its_releases() -> None:
    (problem,) = [reason for path, reason in check(spec(variantCost="1"), VARIANT.at("c0f645c"))[1]]
    assert "unknown field" in problem
    assert "v0.0.5 to 4bbb15fa have it" in problem
    assert "remove it" not in problem


def test_what_is_misspelt_is_none_of_another_release() -> None:
    found = dict(check(spec(scaleTargetRefs={}), VARIANT)[1])
    assert found["spec", "scaleTargetRefs"].startswith("unknown field; did you mean 'scaleTargetRef'")


STATUS_OF_V0_0_1 = {
    "currentAlloc": {
        "accelerator": "A100",
        "numReplicas": 1,
        "maxBatch": 256,
        "variantCost": "40.00",
        "itlAverage": "20.00",
        "ttftAverage": "0.00",
        "load": {"arrivalRate": "40.00", "avgInputTokens": "128.00", "avgOutputTokens": "178.00"},
    }
}


@pytest.mark.parametrize("release", ["", "v0.0.5", "v0.4.2"])
def test_the_status_of_a_release_is_read(release: str) -> None:
    document = {**spec("speed", "sloClassRef", perf=PERF), "status": STATUS_OF_V0_0_1}
    resource, problems = check(document, VARIANT.at(release))
    assert problems == []
    assert isinstance(resource, VariantAutoscaling)
    assert resource.status is not None


def test_the_status_of_another_release_has_unknown_fields() -> None:
    paths = [path for path, _ in check({**spec(), "status": STATUS_OF_V0_0_1}, VARIANT.at("c0f645c"))[1]]
    load = ("status", "currentAlloc", "load")
    assert set(paths) == {(*load, "avgInputTokens"), (*load, "avgOutputTokens"), (*load[:2], "ttftAverage")}

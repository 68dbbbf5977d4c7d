"""Every field of every release (data/releases.csv) in the schema of that release, and none beside them."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.contract.releases import Span
from components.contract.schema.narrowing import release_graph
from components.contract.schema.structural import SchemaGraph
from components.families import kinds
from components.families.kthena.kinds import RELEASES

Row = dict[str, str]
Schema = dict[str, Any]
TABLE = Path(__file__).parents[1] / "data" / "releases.csv"
ROWS: list[Row] = list(csv.DictReader(TABLE.read_text().splitlines()[1:]))
KINDS = tuple(dict.fromkeys(row["kind"] for row in ROWS))
EMBEDDED = {
    "PodSpec",
    "Affinity",
    "EnvVar",
    "EnvFromSource",
    "ResourceRequirements",
    "Toleration",
    "LabelSelector",
    "HPA behavior",
    "TopologySpreadConstraint",
}
INT = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "": (-(2**63), 2**63 - 1)}
SERVER_URL = (
    r"^https?://(([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?"
    r"([/?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$"
)
BOUNDS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "pattern", "enum")
OURS: dict[str, Schema] = {
    # V13, V14: nothing is negative. The webhook says so upstream, and a negative number ends its controller.
    "ModelServing.spec.replicas": {"minimum": 0},
    "ModelServing.spec.template.roles[].replicas": {"minimum": 0},
    "ModelServing.spec.template.roles[].workerReplicas": {"minimum": 0},
    "ModelServing.spec.rolloutStrategy.rollingUpdateConfiguration.partition": {"minimum": 0},
    # So that the API server can bound the cost of rules.
    "ModelBooster.spec.backends": {"maxItems": 64},
    "ModelBooster.spec.backends[].loraAdapters": {"maxItems": 64},
    "ModelServing.spec.template.gangPolicy.minRoleReplicas": {"maxProperties": 4},
    "ModelBooster.spec.backends[].loraAdapters[].name": {"maxLength": 253},
    # What upstream's controllers take a missing one for.
    "ModelBooster.spec.backends[].scalingCost": {"default": 0},
    "AutoscalingPolicyBinding.spec.optimizerConfiguration.params[].cost": {"default": 0},
    "AutoscalingPolicyBinding.spec.heterogeneousTarget.params[].cost": {"default": 0},
    "AutoscalingPolicy.spec.heterogeneousTarget.params[].cost": {"default": 0},
    # V3.
    "ModelBooster.spec.backends[].workers[].image": {"pattern": r"^([^ ]*[^\s\x0b\x85\p{Z}][^ ]*)?$"},
    "ModelBooster.spec.backend.workers[].image": {"pattern": r"^([^ ]*[^\s\x0b\x85\p{Z}][^ ]*)?$"},
    # Upstream accepts any text, on which its controllers fail.
    **{
        f"AutoscalingPolicy.spec.{path}.metricSources{{}}.prometheus.serverURL": {"pattern": SERVER_URL}
        for path in (
            "homogeneousTarget.target",
            "heterogeneousTarget.params[].target",
            "disaggregatedTarget.roles{}",
        )
    },
    **{
        path: {
            "pattern": r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$",
            "maxLength": 64,
        }
        for path in (
            "ModelBooster.spec.backends[].scaleToZeroGracePeriod",
            "ModelServer.spec.trafficPolicy.timeout",
            "ModelServer.spec.trafficPolicy.retry.retryInterval",
        )
    },
}
"""Where the schema is stricter than upstream's."""
REQUIRED = {
    # Without them, an object has no meaning, and upstream's controllers fail.
    "ModelBooster.spec",
    "ModelServing.spec",
    "AutoscalingPolicy.spec",
    "AutoscalingPolicyBinding.spec",
    "ModelServer.spec",
    "AutoscalingPolicyBinding.spec.scalingConfiguration.target",
    "AutoscalingPolicyBinding.spec.optimizerConfiguration.params",
    "AutoscalingPolicyBinding.spec.optimizerConfiguration.params[].target",
    "AutoscalingPolicyBinding.spec.homogeneousTarget.target",
    "AutoscalingPolicyBinding.spec.heterogeneousTarget.params",
    "AutoscalingPolicyBinding.spec.heterogeneousTarget.params[].target",
    "AutoscalingPolicy.spec.homogeneousTarget.target",
    "AutoscalingPolicy.spec.heterogeneousTarget.params",
    "AutoscalingPolicy.spec.heterogeneousTarget.params[].target",
}
"""What upstream requires in its webhooks or controllers only."""


def rows_of(release: str, kind: str) -> dict[str, Row]:
    """Return the rows of a kind in a release, by path."""
    return {
        row["path"]: row
        for row in ROWS
        if row["kind"] == kind and RELEASES.covers(Span(row["since"], row["until"]), release)
    }


def fields_of(
    graph: SchemaGraph, schema: Schema, path: str, known: dict[str, Row]
) -> Iterator[tuple[str, Schema, bool]]:
    """Yield every field below a schema with its path, and whether it is required; nothing below an embedded type."""
    schema = graph.resolve(schema)
    if path in known and known[path]["type"] in EMBEDDED:
        return
    for name, inner in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        yield below, graph.resolve(inner), name in schema.get("required", ())
        yield from fields_of(graph, inner, below, known)
    for keyword, step in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(keyword), dict):
            yield f"{path}{step}", graph.resolve(schema[keyword]), False
            yield from fields_of(graph, schema[keyword], f"{path}{step}", known)


CASES = [
    (release, kind)
    for kind in KINDS
    for release in RELEASES.names
    if RELEASES.covers(kinds().by_name(kind).span, release)
]


def test_the_table_is_read_whole() -> None:
    assert len(ROWS) == 387
    assert {row["since"] for row in ROWS} | {row["until"] for row in ROWS} - {""} <= set(RELEASES.names)


def test_a_kind_without_rows_is_not_in_the_release() -> None:
    for kind in KINDS:
        for release in RELEASES.names:
            exists = RELEASES.covers(kinds().by_name(kind).span, release)
            assert bool(rows_of(release, kind)) == exists, (kind, release)


@pytest.mark.parametrize(("release", "kind"), CASES)
def test_the_fields_of_a_release(release: str, kind: str) -> None:
    graph = release_graph(kinds().by_name(kind), release)
    rows = rows_of(release, kind)
    spec = graph.field(graph.root, "spec")
    assert spec is not None
    found = {path: (schema, required) for path, schema, required in fields_of(graph, spec, "spec", rows)}
    found["spec"] = (graph.resolve(spec), "spec" in graph.resolve(graph.root).get("required", ()))
    assert set(found) == set(rows)
    for path, row in rows.items():
        schema, required = found[path]
        check_field(f"{kind}.{path}", row, schema, required=required)


def check_field(path: str, row: Row, schema: Schema, *, required: bool) -> None:
    constraints = json.loads(row["constraints"]) if row["constraints"] else {}
    is_required = row["required"] == "yes" and "default" not in constraints  # a default is set before it is required
    assert required == (is_required or path in REQUIRED), path
    if row["type"] in EMBEDDED:
        return
    stricter = OURS.get(path, {})
    assert schema.get("default") == stricter.get("default", constraints.get("default")), path
    if row["type"] == "int-or-string":
        assert schema["x-kubernetes-int-or-string"], path
        return
    if row["type"] == "any":
        assert schema["x-kubernetes-preserve-unknown-fields"], path
        return
    assert schema["type"] == row["type"], path
    assert schema.get("x-kubernetes-list-map-keys", constraints.get("listMapKeys")) == constraints.get(
        "listMapKeys"
    ) or path.endswith((".metrics", ".loraAdapters")), path
    for key in BOUNDS:
        assert schema.get(key) == stricter.get(key, constraints.get(key)), (path, key)
    if row["type"] == "integer":
        low, high = INT[constraints.get("format", "")]
        assert schema.get("minimum") == stricter.get("minimum", constraints.get("minimum", low)), path
        assert schema.get("maximum") == constraints.get("maximum", high), path
    elif "format" in constraints:
        assert schema["format"] == constraints["format"], path

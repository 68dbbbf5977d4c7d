# ruff: noqa: E501 - tables of values
"""Every field of the contract (llmaz rows of fields.csv) in the types, the JSON schema and the CRD."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.contract.schema.embedded import definitions
from components.contract.schema.jsonschema import json_schema
from components.contract.schema.narrowing import schema_graph
from components.contract.schema.structural import SchemaGraph
from components.families import kinds
from components.families.llmaz import types as llmaz

ROWS = list(csv.DictReader((Path(__file__).parent / "data/contract.csv").read_text().splitlines()[1:]))
KIND_NAMES = ("OpenModel", "Playground", "Service", "BackendRuntime")
EXPORTED = (*KIND_NAMES, "InferenceService", "Model")
EXTERNAL = {
    "core/v1.EnvVar": "io.k8s.api.core.v1.EnvVar",
    "core/v1.Probe": "io.k8s.api.core.v1.Probe",
    "autoscaling/v2.MetricSpec": "io.k8s.api.autoscaling.v2.MetricSpec",
    "autoscaling/v2.HorizontalPodAutoscalerBehavior": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior",
    "meta/v1.Condition": "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
    "meta/v1.ObjectMeta": "ObjectMeta",
    "leaderworkerset/v1.LeaderWorkerTemplate": "WorkloadTemplate",
    "Flavor": "ModelFlavor",
    "leaderworkerset/v1.RolloutStrategy": "RolloutStrategy",
}


def graphs() -> dict[str, SchemaGraph]:
    found = (kind for kind in kinds() if kind.kind in KIND_NAMES)
    return {kind.kind: schema_graph(kind.at(kind.releases.contract)) for kind in found}


def types() -> dict[str, Any]:
    """Contract type name -> its schema, over all kinds."""
    found: dict[str, Any] = {}
    for name, shape in graphs().items():
        found |= shape.defs
        found[name] = shape.root
    return found


def label(row: dict[str, str]) -> str:
    return f"{row['type']}.{row['field']}"


def test_the_table_is_complete() -> None:
    assert len(ROWS) == 88


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_every_field_has_its_type_and_rules(row: dict[str, str]) -> None:
    owner = types()[EXTERNAL.get(row["type"], row["type"])]
    field = owner["properties"][row["field"]]
    assert (row["field"] in owner.get("required", [])) == (row["required"] == "yes")
    assert_type(field, row["yaml_type"])
    if row["default"] and row["field"] not in ("apiVersion", "kind"):
        text = row["default"]
        assert field["default"] == (json.loads(text) if text[0] in "{0123456789" else text)
    if row["enum"]:
        assert field["enum"] == row["enum"].split("|")
    for column, keyword in (("minimum", "minimum"), ("min_items", "minItems"), ("max_items", "maxItems")):
        if row[column]:
            assert field[keyword] == int(row[column])


def assert_type(field: dict[str, Any], wanted: str) -> None:
    inner = wanted.partition("[")[2].removesuffix("]")
    if wanted.startswith("list["):
        assert field["type"] == "array"
        assert_type(field["items"], inner)
    elif wanted.startswith("map[string]"):
        assert field["type"] == "object"
        assert field["additionalProperties"]["type"] == "string"
    elif wanted == "core/v1.ResourceList":
        assert field["additionalProperties"]["x-kubernetes-int-or-string"]
    elif wanted == "quantity":
        assert field["x-kubernetes-int-or-string"]
    elif wanted in ("string", "enum"):
        assert field["type"] == "string"
    elif wanted == "int32":
        assert field["type"] == "integer"
        assert field["format"] == "int32"
    elif wanted == "core/v1.Lifecycle":
        # Kubernetes' own type has a signal too, which the contract's release lacks.
        assert set(field["properties"]) == {"postStart", "preStop"}
    else:
        assert field["$ref"] == f"#/$defs/{EXTERNAL.get(wanted, wanted)}"


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_every_field_is_an_attribute(row: dict[str, str]) -> None:
    model = getattr(llmaz, EXTERNAL.get(row["type"], row["type"]), None)
    assert model is not None
    assert row["field"] in {info.alias for info in model.model_fields.values()}


@pytest.mark.parametrize("name", EXPORTED)
def test_schema_and_crd_reach_every_field(name: str) -> None:
    """Walks the inlined CRD beside the referencing JSON schema: the same fields, required and defaults at each step."""
    kind = kinds().by_name(name)
    kind = kind.at(kind.releases.contract)
    published, shape = json_schema(kind), schema_graph(kind)
    version = crd(kind)["spec"]["versions"][0]
    inlined = version["schema"]["openAPIV3Schema"]["properties"]

    def walk(left: dict[str, Any], right: dict[str, Any]) -> int:
        left = shape.resolve(left)
        assert left.get("default") == right.get("default")
        assert left.get("required", []) == right.get("required", [])
        assert set(left.get("properties", ())) == set(right.get("properties", ()))
        steps = [walk(left["properties"][name], right["properties"][name]) for name in left.get("properties", ())]
        if "items" in left:
            steps.append(walk(left["items"], right["items"]))
        return 1 + sum(steps)

    assert sum(walk(published["properties"][part], inlined[part]) for part in ("spec", "status")) > 10
    assert set(published["$defs"]) >= {row["type"] for row in ROWS} & set(shape.defs)


def test_core_definitions_refuse_unknown_fields_everywhere() -> None:
    for name, found in definitions().items():
        if "properties" in found:
            assert found["additionalProperties"] is False, name

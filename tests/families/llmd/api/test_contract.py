"""Every field of VariantAutoscaling (its rows of fields.csv, WVA spec 1 to 3) in the types and in the schema."""

from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.contract.schema.jsonschema import json_schema
from components.contract.schema.narrowing import schema_graph
from components.contract.schema.structural import SchemaGraph
from components.families.llmd.family import FAMILY
from tests.families.llmd.api.samples import VARIANT
from tests.families.llmd.api.table import (
    CONTRACT,
    FIELDS,
    KIND,
    LIST,
    FieldPath,
    Row,
    inner_type,
    label,
    least_length,
    paths,
)

ALL = list(paths())
CONTRACTED = VARIANT.at("c0f645c")


def walk(path: FieldPath) -> tuple[SchemaGraph, dict[str, Any], dict[str, Any]]:
    """Return the schema of a field and of its owner."""
    shape = schema_graph(CONTRACTED)
    owner = found = shape.resolve(shape.root)
    for part in path:
        inner = shape.field(found, part)
        assert inner is not None, path
        owner, found = found, shape.resolve(inner)
    return shape, owner, found


def test_the_table_is_complete() -> None:
    """Each row of the contract is reached from the kind, or is one of its list."""
    assert len(CONTRACT) == 36
    of_list = {"apiVersion", "kind", "metadata", "items"}
    assert {label(row) for _, row in ALL} | {f"{LIST}.{field}" for field in of_list} == set(map(label, CONTRACT))


@pytest.mark.parametrize(("path", "row"), ALL, ids=lambda v: ".".join(map(str, v)) if isinstance(v, tuple) else "")
def test_every_field_has_its_type_and_limits(path: FieldPath, row: Row) -> None:
    shape, owner, field = walk(path)
    assert (row["field"] in owner.get("required", [])) == (row["required"] == "yes")
    assert_type(field, row["yaml_type"], shape)
    if path in (("apiVersion",), ("kind",)):
        assert field["enum"] == [row["enum"]]
        return
    is_number = row["yaml_type"] == "int64"
    limits = {
        "minimum": int(row["minimum"]) if row["minimum"] else None,
        "maximum": 2**63 - 1 if is_number else None,
        "minItems": int(row["min_items"]) if row["min_items"] else None,
        "minLength": least_length(row),
        "pattern": row["pattern"] or None,
        "default": None,
        "enum": None,
        "maxItems": None,
        "maxLength": None,
    }
    assert {key: field.get(key) for key in limits} == limits


def assert_type(field: dict[str, Any], wanted: str, shape: SchemaGraph) -> None:
    inner = inner_type(wanted)
    if inner != wanted:
        assert field["type"] == "array"
        assert "x-kubernetes-list-type" not in field, "atomic, as upstream has it: replaced as a whole"
        assert_type(shape.resolve(field["items"]), inner, shape)
    elif wanted in FIELDS:
        assert set(field["properties"]) == {row["field"] for row in FIELDS[wanted]}
    elif wanted == "meta/v1.ObjectMeta":
        assert {"name", "namespace", "labels", "annotations"} <= set(field["properties"])
    else:
        expected = {
            "string": ("string", None),
            "int64": ("integer", "int64"),
            "bool": ("boolean", None),
            "meta/v1.Time": ("string", "date-time"),
        }
        assert (field["type"], field.get("format")) == expected[wanted]


def test_how_the_kind_is_served() -> None:
    """WVA spec 1; config/crd/bases/llmd.ai_variantautoscalings.yaml at c0f645c."""
    published = crd(VARIANT)
    assert published["metadata"]["name"] == "variantautoscalings.llmd.ai"
    assert published["spec"]["scope"] == "Namespaced"
    assert published["spec"]["names"] == {
        "kind": KIND,
        "listKind": LIST,
        "plural": "variantautoscalings",
        "singular": "variantautoscaling",
        "shortNames": ["va"],
    }
    (version,) = published["spec"]["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1alpha1", True, True)
    assert version["subresources"] == {"status": {}}
    assert version["additionalPrinterColumns"] == [
        {"name": "Model", "type": "string", "jsonPath": ".spec.modelID"},
        {"name": "Accelerator", "type": "string", "jsonPath": ".status.currentAlloc.accelerator"},
        {"name": "CurrentReplicas", "type": "integer", "jsonPath": ".status.currentAlloc.numReplicas"},
        {"name": "Optimized", "type": "string", "jsonPath": ".status.desiredOptimizedAlloc.numReplicas"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


def test_there_are_no_rules_and_no_defaults() -> None:
    """WVA spec 1: no CEL, no webhook; what the controller could not use is refused by the plan."""

    def within(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(within, value.values()))
        return set().union(*map(within, value)) if isinstance(value, list) else set()

    found = within(crd(VARIANT)["spec"]["versions"][0]["schema"])
    assert not found & {"x-kubernetes-validations", "default", "x-kubernetes-preserve-unknown-fields"}
    assert "x-kubernetes-validations" not in json_schema(CONTRACTED)


def test_spec_is_required_here() -> None:
    """Stricter than upstream's schema, which admits an object without it, as the contract notes."""
    assert crd(VARIANT)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] == ["spec"]


def test_the_family_has_the_kind() -> None:
    assert [member.kind for member in FAMILY.members] == [VARIANT]

"""Every field of Kthena's kinds (its rows of fields.csv, Kthena spec 1 and 5) in the types and in the schema."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from components.contract.kinds import Kind
from components.contract.schema.crds import crd
from components.contract.schema.jsonschema import json_schema
from components.contract.schema.narrowing import schema_graph
from components.contract.schema.structural import SchemaGraph
from components.families import kinds
from components.families.kthena.family import FAMILY
from tests.families.kthena.api.samples import CONTRACT as CONTRACT_RELEASE
from tests.families.kthena.api.table import (
    CONTRACT,
    FIELDS,
    INT32,
    KINDS,
    ROWS,
    FieldPath,
    Row,
    inner_type,
    label,
    paths,
)

ALL = [(kind, path, row) for kind in KINDS for path, row in paths(kind, ())]
STRICTER: dict[str, dict[str, object]] = {
    # V13, V14: nothing is negative. The hook says so upstream, and a negative number of replicas ends its controller.
    "ModelServingSpec.replicas": {"minimum": 0},
    "Role.replicas": {"minimum": 0},
    "Role.workerReplicas": {"minimum": 0},
    "RollingUpdateConfiguration.partition": {"minimum": 0, "default": None},  # its 0 is in the prose alone
    # So that the API server can bound the cost of the rules.
    "ModelBoosterSpec.backends": {"maxItems": 64},
    "ModelBackend.loraAdapters": {"maxItems": 64},
    "GangPolicy.minRoleReplicas": {"maxProperties": 4},
    "ModelWorker.image": {"pattern": r"^([^ ]*[^\s\x0b\x85\p{Z}][^ ]*)?$"},
}
DURATION = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"


def walk(kind: str, path: FieldPath) -> tuple[SchemaGraph, dict[str, Any], dict[str, Any]]:
    """Return the schema of a field and of its owner."""
    shape = schema_graph(kinds().by_name(kind).at(CONTRACT_RELEASE))
    owner = schema_ = shape.resolve(shape.root)
    for part in path:
        found = shape.field(schema_, part)
        assert found is not None, path
        owner, schema_ = schema_, shape.resolve(found)
    return shape, owner, schema_


def test_the_table_is_complete() -> None:
    """Each row of the contract is reached from a kind or is one of a list of them."""
    assert len(CONTRACT) == 149
    assert {row["field"] for row in ROWS if row["type"].endswith("List")} == {
        "apiVersion",
        "kind",
        "metadata",
        "items",
    }
    reached = {label(row) for _, _, row in ALL}
    assert {label(row) for row in ROWS if not row["type"].endswith("List")} == reached


@pytest.mark.parametrize(
    ("kind", "path", "row"), ALL, ids=lambda v: ".".join(map(str, v)) if isinstance(v, tuple) else ""
)
def test_every_field_has_its_type_and_rules(kind: str, path: FieldPath, row: Row) -> None:
    shape, owner, field = walk(kind, path)
    assert (row["field"] in owner.get("required", [])) == (row["required"] == "yes")
    assert_type(field, row["yaml_type"], shape)
    if row["field"] in ("apiVersion", "kind") and len(path) == 1:
        return
    for key, expected in limits(row).items():
        assert field.get(key) == expected, key


def limits(row: Row) -> dict[str, object]:
    """Return what the schema of a field must say."""
    typed = row["yaml_type"]
    wide = {"int32": INT32, "int64": 2**63}.get(typed)
    number = {"minimum": -wide, "maximum": wide - 1} if wide else {"minimum": None, "maximum": None}
    found: dict[str, object] = {
        "default": default_of(row) if row["default"] else None,
        "enum": row["enum"].split("|") if row["enum"] else None,
        "pattern": DURATION if typed == "duration" else row["pattern"] or None,
        **{key: int(row[key]) if row[key] else value for key, value in number.items()},
        "minItems": int(row["min_items"]) if row["min_items"] else None,
        "maxItems": int(row["max_items"]) if row["max_items"] else None,
    }
    if typed == "quantity":
        del found["pattern"]
    longest = row["also_validation"].partition("maxLength=")[2].partition(";")[0]
    return {**found, **({"maxLength": int(longest)} if longest else {}), **STRICTER.get(label(row), {})}


def default_of(row: Row) -> object:
    literal = row["yaml_type"] in ("bool", "int32", "int64", "int_or_string")
    return json.loads(row["default"]) if literal else row["default"]


def assert_type(field: dict[str, Any], wanted: str, shape: SchemaGraph) -> None:
    inner = inner_type(wanted)
    if wanted.startswith("list["):
        assert field["type"] == "array"
        assert_type(shape.resolve(field["items"]), inner, shape)
    elif wanted.startswith("map[string]"):
        assert field["type"] == "object"
        assert_type(shape.resolve(field["additionalProperties"]), inner, shape)
    elif wanted in ("string", "enum", "duration", "bool", "int32", "int64"):
        numbers = {"int32": "integer", "int64": "integer", "bool": "boolean"}
        assert field["type"] == numbers.get(wanted, "string")
        assert field.get("format") == (wanted if wanted.startswith("int") else None)
    elif wanted in ("quantity", "int_or_string"):
        assert field["x-kubernetes-int-or-string"]
    elif wanted == "any":
        assert (field["type"], field["x-kubernetes-preserve-unknown-fields"]) == ("object", True)
    elif inner in FIELDS:
        assert set(field["properties"]) == {row["field"] for row in FIELDS[inner]}
    elif inner in EMPTY:
        assert not field.get("properties")
    else:
        assert set(field["properties"]) >= OF_CORE[wanted], wanted


OF_CORE = {
    "core/v1.ObjectReference": {"apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"},
    "core/v1.LocalObjectReference": {"name"},
    "core/v1.Affinity": {"nodeAffinity", "podAffinity", "podAntiAffinity"},
    "core/v1.ResourceRequirements": {"limits", "requests", "claims"},
    "core/v1.EnvVar": {"name", "value", "valueFrom"},
    "core/v1.EnvFromSource": {"prefix", "configMapRef", "secretRef"},
    "core/v1.PodSpec": {"containers", "initContainers", "volumes", "nodeSelector", "schedulerName"},
    "meta/v1.LabelSelector": {"matchLabels", "matchExpressions"},
    "meta/v1.Condition": {"type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"},
    "meta/v1.ObjectMeta": {"name", "namespace", "labels", "annotations"},
}
EMPTY = {"AutoscalingPolicyStatus", "AutoscalingPolicyBindingStatus", "ModelServerStatus", "ModelRouteStatus"}


@pytest.mark.parametrize(
    ("wanted", "wrong"),
    [
        ("bool", {"type": "string"}),
        ("bool", {"type": "object", "properties": {}}),
        ("string", {"type": "boolean"}),
        ("int32", {"type": "integer", "format": "int64"}),
        ("list[bool]", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_wrong_type_is_detected(wanted: str, wrong: dict[str, Any]) -> None:
    shape = schema_graph(kinds().by_name("ModelServing"))
    with pytest.raises(AssertionError):
        assert_type(wrong, wanted, shape)


def test_an_unknown_type_is_detected() -> None:
    """A type that this file does not know must not pass unchecked."""
    shape = schema_graph(kinds().by_name("ModelServing"))
    with pytest.raises(KeyError):
        assert_type({"type": "object", "properties": {}}, "core/v1.Volume", shape)


def test_what_is_not_in_the_table_is_known() -> None:
    plain = {"string", "enum", "duration", "bool", "int32", "int64", "int_or_string", "quantity", "any"}
    beyond = {inner_type(row["yaml_type"]) for _, _, row in ALL} - set(FIELDS) - plain
    assert beyond == set(OF_CORE) | EMPTY


def test_a_reference_to_an_object_is_cores() -> None:
    """core/v1 ObjectReference, in full: text, nothing required. A local one is a name, empty by default."""
    _, _, target = walk("AutoscalingPolicyBinding", ("spec", "scalingConfiguration", "target", "targetRef"))
    assert set(target["properties"]) == OF_CORE["core/v1.ObjectReference"]
    assert {field["type"] for field in target["properties"].values()} == {"string"}
    assert (target.get("required"), target["x-kubernetes-map-type"]) == (None, "atomic")
    _, _, policy = walk("AutoscalingPolicyBinding", ("spec", "policyRef"))
    assert (policy["properties"]["name"]["default"], policy.get("required")) == ("", None)
    assert (set(policy["properties"]), policy["x-kubernetes-map-type"]) == ({"name"}, "atomic")


@pytest.mark.parametrize(
    ("kind", "path", "key"),
    [
        ("ModelBooster", ("spec", "backends"), "name"),
        ("ModelBooster", ("spec", "backends", 0, "env"), "name"),
        ("ModelBooster", ("spec", "backends", 0, "loraAdapters"), "name"),  # V8
        ("ModelBooster", ("spec", "autoscalingPolicy", "metrics"), "metricName"),  # V9
        ("ModelBooster", ("status", "conditions"), "type"),
        ("AutoscalingPolicy", ("spec", "metrics"), "metricName"),
    ],
)
def test_lists_that_are_maps(kind: str, path: FieldPath, key: str) -> None:
    _, _, field = walk(kind, path)
    assert field["x-kubernetes-list-type"] == "map"
    assert field["x-kubernetes-list-map-keys"] == [key]


@pytest.mark.parametrize("path", [("spec", "template", "roles"), ("status", "conditions")])
def test_lists_that_are_none(path: FieldPath) -> None:
    """As upstream has them; that roles have names of their own is a rule."""
    assert "x-kubernetes-list-type" not in walk("ModelServing", path)[2]


@pytest.mark.parametrize(
    ("kind", "path", "row"), ALL, ids=lambda v: ".".join(map(str, v)) if isinstance(v, tuple) else ""
)
def test_every_field_is_an_attribute_under_its_very_name(kind: str, path: FieldPath, row: Row) -> None:
    """Capitals too: modelURI, cacheURI and artifactURL are no camelCase."""
    model: Any = kinds().by_name(kind).model
    for part in path[:-1]:
        if isinstance(part, str) and isinstance(model, type) and part in aliases(model):
            model = behind(aliases(model)[part])
    assert row["field"] in aliases(model)


def aliases(model: type[BaseModel]) -> dict[str, Any]:
    return {str(info.alias): info.annotation for info in model.model_fields.values()}


def behind(hint: Any) -> Any:
    """Return the model behind ``X | None``, ``list[X]`` or ``dict[str, X] | None``."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    inner = [behind(arg) for arg in getattr(hint, "__args__", ())]
    return next((one for one in inner if one is not None), None)


PLURALS = {
    "ModelBooster": "modelboosters",
    "ModelServing": "modelservings",
    "AutoscalingPolicy": "autoscalingpolicies",
    "AutoscalingPolicyBinding": "autoscalingpolicybindings",
    "ModelServer": "modelservers",
    "ModelRoute": "modelroutes",
}


@pytest.mark.parametrize("kind", KINDS)
def test_how_the_kinds_are_served(kind: str) -> None:
    """Kthena spec 0: namespaced, a status, no scale subresource, no short names; nothing printed but the age."""
    found: Kind = kinds().by_name(kind)
    group = "networking" if kind in ("ModelServer", "ModelRoute") else "workload"
    assert found.api_version == f"{group}.serving.volcano.sh/v1alpha1"
    assert (found.plural, found.scope, found.short_names) == (PLURALS[kind], "Namespaced", ())
    published = crd(found)
    (version,) = published["spec"]["versions"]
    assert published["spec"]["names"]["listKind"] == f"{kind}List"
    assert version["subresources"] == {"status": {}}
    assert [column["name"] for column in version["additionalPrinterColumns"]] == ["Age"]


def test_the_family_has_each_of_them() -> None:
    assert {member.kind.kind for member in FAMILY.members} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_schema_and_crd_say_the_same(kind: str) -> None:
    """Walks the inlined CRD beside the referencing JSON schema: fields, required, defaults and rules at each step."""
    found = kinds().by_name(kind).at(CONTRACT_RELEASE)
    published, shape = json_schema(found), schema_graph(found)
    (version,) = crd(found)["spec"]["versions"]
    inlined = version["schema"]["openAPIV3Schema"]

    def compared(left: dict[str, Any], right: dict[str, Any]) -> int:
        left = shape.resolve(left)
        for key in ("default", "required", "pattern", "enum", "maxItems", "x-kubernetes-validations"):
            assert left.get(key) == right.get(key), key
        assert set(left.get("properties", ())) == set(right.get("properties", ()))
        steps = [compared(left["properties"][name], right["properties"][name]) for name in left.get("properties", ())]
        inner = [one for one in ("items", "additionalProperties") if isinstance(left.get(one), dict)]
        return 1 + sum(steps) + sum(compared(left[one], right[one]) for one in inner)

    assert compared(published["properties"]["spec"], inlined["properties"]["spec"]) > 8
    assert published.get("x-kubernetes-validations") == inlined.get("x-kubernetes-validations")

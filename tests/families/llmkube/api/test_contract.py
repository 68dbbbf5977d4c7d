"""Every field of LLMKube's kinds (its rows of fields.csv, LLMKube spec 1.2-1.4) in the types and in the schema."""

import json
import types
import typing
from typing import Any

import pytest
from pydantic import BaseModel

from components.contract.kinds import Kind
from components.contract.schema.narrowing import schema_graph
from components.contract.schema.structural import SchemaGraph
from components.families.llmkube.family import INFERENCE_SERVICE, MODEL, RELEASES
from tests.families.llmkube.api.documents import FIELDS, ROWS

KINDS = {kind.kind: kind.at(RELEASES.contract) for kind in (INFERENCE_SERVICE, MODEL)}
CORE = "io.k8s.api.core.v1."


def label(row: dict[str, str]) -> str:
    return f"{row['type']}.{row['field']}"


def owner_of(row: dict[str, str]) -> tuple[SchemaGraph, dict[str, Any]]:
    """Return the schema of the type that a row belongs to, found by its dotted path."""
    kind, *way = row["type"].split(".")
    shape = schema_graph(KINDS[kind])
    schema = shape.resolve(shape.root)
    for part in way:
        schema = shape.resolve(schema["properties"][part])
        schema = shape.resolve(schema.get("items", schema))
    return shape, schema


def test_the_table_is_complete() -> None:
    """112 rows of the page, 25 of the Model, which the page only names."""
    assert len(ROWS) == 137
    assert sum("supplementary" in row["note"] for row in ROWS) == 25


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_every_field_has_its_type_and_rules(row: dict[str, str]) -> None:
    shape, owner = owner_of(row)
    field = shape.resolve(owner["properties"][row["field"]])
    assert (row["field"] in owner.get("required", [])) == (row["required"] == "yes")
    assert_type(field, row["yaml_type"], shape)
    if row["field"] in ("apiVersion", "kind"):
        return
    # The page states this default in prose only; the API server stores none.
    in_prose = label(row) == "InferenceService.spec.evictionProtection"
    assert field.get("default") == (default_of(row) if row["default"] and not in_prose else None)
    assert field.get("enum") == (row["enum"].split("|") if row["enum"] else None)
    assert field.get("pattern") == (row["pattern"] or None)
    for column, wide in (("minimum", -(2**31)), ("maximum", 2**31 - 1)):
        unset = wide if row["yaml_type"] == "int32" else None
        assert field.get(column) == (float(row[column]) if row[column] else unset)


def default_of(row: dict[str, str]) -> object:
    return json.loads(row["default"]) if row["yaml_type"] in ("int32", "bool", "number") else row["default"]


def assert_type(field: dict[str, Any], wanted: str, shape: SchemaGraph) -> None:
    field = shape.resolve(field)
    if wanted.startswith("list["):
        assert field["type"] == "array"
        assert_type(field["items"], wanted[5:-1], shape)
    elif wanted == "map[string]string":
        assert field["type"] == "object"
        assert field["additionalProperties"]["type"] == "string"
    elif wanted in ("string", "enum", "bool", "number", "int32"):
        name = {"enum": "string", "bool": "boolean", "int32": "integer"}.get(wanted, wanted)
        assert field["type"] == name
        assert field.get("format") == {"int32": "int32"}.get(wanted, field.get("format"))
    elif wanted in FIELDS:
        assert set(field["properties"]) == {row["field"] for row in FIELDS[wanted]}
    else:
        assert_external(field, wanted)


def assert_external(field: dict[str, Any], wanted: str) -> None:
    """A type that the page prints with all its fields, LLMKube spec 1.4."""
    name = wanted.partition(".")[2]
    if name == "ObjectMeta":
        assert set(field["properties"]) >= {"name", "namespace", "labels", "annotations"}
        return
    expected = EMBEDDED[name]
    assert set(field["properties"]) == {one.rstrip("*") for one in expected.split()}
    assert set(field.get("required", ())) == {one.rstrip("*") for one in expected.split() if one.endswith("*")}


EMBEDDED = {
    "EnvVar": "name* value valueFrom",
    "EnvVarSource": "configMapKeyRef secretKeyRef fieldRef resourceFieldRef fileKeyRef",
    "ConfigMapKeySelector": "key* name optional",
    "SecretKeySelector": "key* name optional",
    "ObjectFieldSelector": "apiVersion fieldPath*",
    "ResourceFieldSelector": "containerName divisor resource*",
    "FileKeySelector": "key* path* volumeName* optional",
    "Toleration": "key operator value effect tolerationSeconds",
    "PodSecurityContext": "appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser "
    "seLinuxChangePolicy seLinuxOptions seccompProfile supplementalGroups supplementalGroupsPolicy sysctls "
    "windowsOptions",
    "SecurityContext": "allowPrivilegeEscalation appArmorProfile capabilities privileged procMount "
    "readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile windowsOptions",
    "Capabilities": "add drop",
    "Sysctl": "name* value*",
    "AppArmorProfile": "type* localhostProfile",
    "SeccompProfile": "type* localhostProfile",
    "SELinuxOptions": "level role type user",
    "WindowsSecurityContextOptions": "gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName",
    "Probe": "exec grpc httpGet tcpSocket initialDelaySeconds periodSeconds timeoutSeconds successThreshold "
    "failureThreshold terminationGracePeriodSeconds",
    "ExecAction": "command",
    "GRPCAction": "port* service",
    "HTTPGetAction": "host httpHeaders path port* scheme",
    "HTTPHeader": "name* value*",
    "TCPSocketAction": "host port*",
    "LocalObjectReference": "name",
    "Condition": "type* status* reason* message* lastTransitionTime* observedGeneration",
}
"""LLMKube spec 1.4: every field of every embedded type; ``*`` is required."""


@pytest.mark.parametrize("name", [name for name in EMBEDDED if name != "Condition"])
def test_embedded_types_are_as_the_page_prints_them(name: str) -> None:
    found = schema_graph(KINDS["InferenceService"]).defs[CORE + name]
    assert_external(found, f"core/v1.{name}")


def test_env_is_a_plain_list() -> None:
    """Upstream says nothing of its keys: a name may come twice."""
    _, spec = owner_of({"type": "InferenceService.spec", "field": "env"})
    assert "x-kubernetes-list-type" not in spec["properties"]["env"]


CONDITION: dict[str, dict[str, Any]] = {
    "type": {
        "type": "string",
        "maxLength": 316,
        "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    },
    "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
    "reason": {
        "type": "string",
        "minLength": 1,
        "maxLength": 1024,
        "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
    "message": {"type": "string", "maxLength": 32768},
    "lastTransitionTime": {"type": "string", "format": "date-time"},
    "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**63 - 1},
}


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_have_the_limits_of_the_page(kind: str) -> None:
    shape, status = owner_of({"type": f"{kind}.status", "field": "conditions"})
    conditions = status["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    item = shape.resolve(conditions["items"])["properties"]
    assert set(item) == set(CONDITION)
    for field, expected in CONDITION.items():
        assert {key: item[field].get(key) for key in expected} == expected, field


MODEL_STATUS = {
    "phase": "string",
    "size": "string",
    "path": "string",
    "cacheKey": "string",
    "sha256": "string",
    "sourceETag": "string",
    "sourceContentLength": "integer",
    "lastRevalidated": "string",
    "acceleratorReady": "boolean",
    "gguf": "object",
    "lastUpdated": "string",
    "conditions": "array",
}
GGUF = {
    "architecture": "string",
    "modelName": "string",
    "quantization": "string",
    "contextLength": "integer",
    "embeddingSize": "integer",
    "layerCount": "integer",
    "headCount": "integer",
    "tensorCount": "integer",
    "fileVersion": "integer",
    "license": "string",
}


@pytest.mark.parametrize(("type_", "expected"), [("Model.status", MODEL_STATUS), ("Model.status.gguf", GGUF)])
def test_what_the_table_leaves_out_of_a_models_status(type_: str, expected: dict[str, str]) -> None:
    """LLMKube spec 1.3."""
    shape, owner = owner_of({"type": type_, "field": ""})
    assert {name: shape.resolve(inner)["type"] for name, inner in owner["properties"].items()} == expected
    assert "required" not in owner


def test_phases() -> None:
    """LLMKube spec 1.3; the phases of an InferenceService are in the table."""
    _, status = owner_of({"type": "Model.status", "field": "phase"})
    assert status["properties"]["phase"]["enum"] == ["Pending", "Downloading", "Copying", "Ready", "Failed"]


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_every_field_is_an_attribute(row: dict[str, str]) -> None:
    kind, *way = row["type"].split(".")
    model: type[BaseModel] = KINDS[kind].model
    for part in way:
        model = model_in(annotation(model, part))
    assert annotation(model, row["field"]) is not None


def annotation(model: type[BaseModel], alias: str) -> Any:
    (found,) = [info.annotation for info in model.model_fields.values() if info.alias == alias]
    return found


def model_in(hint: Any) -> type[BaseModel]:
    """Return the model behind ``X | None`` or ``list[X] | None``."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    inner = [arg for arg in typing.get_args(hint) if arg is not types.NoneType]
    assert len(inner) == 1, hint
    return model_in(inner[0])


@pytest.mark.parametrize(
    ("kind", "plural", "short", "scales"),
    [("InferenceService", "inferenceservices", ("isvc",), True), ("Model", "models", ("mdl",), False)],
)
def test_how_the_kinds_are_served(kind: str, plural: str, short: tuple[str, ...], *, scales: bool) -> None:
    """LLMKube spec 1, 1.2: both namespaced; the scale subresource has no selector."""
    found: Kind = KINDS[kind]
    assert (found.api_version, found.plural, found.scope) == ("inference.llmkube.dev/v1alpha1", plural, "Namespaced")
    assert (found.short_names, found.scales, found.scale_selector) == (short, scales, "")

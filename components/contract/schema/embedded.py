"""Core Kubernetes types inside our kinds, validated as plain JSON against the Kubernetes OpenAPI schemas.

The schemas are ``data/core-1.36.json`` (extracted from the ``kubernetes-validate`` package, see its ``source``). A
validator is compiled on the first value of its type, because most manifests contain none, or only environment
variables.
"""

import datetime
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainValidator, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from ..base import INT64_MAX, Json, combined_error, whole_float_to_int
from ..quantity import MAX_LENGTH, PATTERN, is_quantity, quantity_hint
from ..releases import SINCE, Releases

JsonObject = dict[str, Any]
Schema = dict[str, Any]
Path_ = tuple[str | int, ...]

DATA = Path(__file__).parent / "data" / "core-1.36.json"
CORE = "io.k8s.api.core.v1."
INT_OR_STRING = [{"type": "integer", "minimum": -INT64_MAX - 1, "maximum": INT64_MAX}, {"type": "string"}]
INEXACT = "(inexact float)"
"""Key of the map that replaces a float too large for an exact integer; no schema accepts this map."""
UNKNOWN = "unknown field"
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
OBJECT_META = META + "ObjectMeta"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def list_map(name: str, *keys: str) -> Schema:
    """Return the schema of a list whose items are identified by keys."""
    kind = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    return {"type": "array", "items": ref(name), **kind}


@functools.cache
def definitions() -> dict[str, Schema]:
    """Return the core definitions by full name."""
    schemas: dict[str, Schema] = json.loads(DATA.read_text(encoding="utf-8"))["$defs"]
    return schemas


@functools.cache
def newest_field() -> str:
    """Return the minor version of Kubernetes that added the newest of the fields."""
    fields = (field for schema in definitions().values() for field in schema.get("properties", {}).values())
    return max(str(field.get(SINCE, "")) for field in fields)  # the minor versions have the same number of digits


def reachable(schema: object) -> set[str]:
    """Return the names of the core definitions that a schema refers to, directly or indirectly."""
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in seen and name in definitions():
                seen.add(name)
                waiting.append(definitions()[name])
    return seen


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str):
            yield target.rpartition("/")[2]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


class _ListMapKeys:
    """Rejects items with the same keys, as the API server does for ``x-kubernetes-list-map-keys``."""

    def __init__(self, _parent: Schema, keys: list[str], _path: list[str | int]) -> None:
        self.keys = keys

    def validate(self, items: Json) -> None:
        if not isinstance(items, list) or len(items) < 2:
            return
        # Fast path: usually the first key, such as a name, already distinguishes all items.
        first = self.keys[0]
        names = {name for item in items if isinstance(item, dict) and isinstance(name := item.get(first), str | int)}
        if len(names) < len(items):
            for error in self.iter_errors(items):
                raise error

    def iter_errors(self, items: Json) -> Iterator[ValueError]:
        seen = set()
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue
            # The protocol of a port is the only key with a default.
            values = [item.get(k, "TCP" if k == "protocol" else None) for k in self.keys]
            key = tuple(value if isinstance(value, str) else (json.dumps(value),) for value in values)
            if key in seen:
                named = ", ".join(f"{k} {json.dumps(v)}" for k, v in zip(self.keys, values, strict=True))
                yield ValueError(f"items must differ in {' and '.join(self.keys)}, found {named} twice; remove one")
            seen.add(key)


_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})\Z", re.ASCII)


def _is_date_time(text: str) -> bool:
    """Return whether the API server accepts a text as a time (kube-openapi ``strfmt.IsDateTime``)."""
    day, separator, time = text.lower().partition("t")
    match = _TIME.match(time.partition("t")[0])
    if not separator or match is None or re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day, re.ASCII) is None:
        return False
    try:
        datetime.date.fromisoformat(day)
    except ValueError:
        return False
    return match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


_LIST_TYPE = "x-kubernetes-list-type"


def _of_items(schema: Json) -> Json:
    """Remove the list types that do not constrain the items, which are all but ``set``."""
    if isinstance(schema, dict):
        return {key: _of_items(inner) for key, inner in schema.items() if key != _LIST_TYPE or inner == "set"}
    return [_of_items(inner) for inner in schema] if isinstance(schema, list) else schema


class _Set:
    """Rejects duplicate items in a list of type ``set``."""

    def __init__(self, _parent: Schema, _kind: str, _path: list[str | int]) -> None:
        """Accept the arguments of jsonschema_rs, which are not needed."""

    def validate(self, items: Json) -> None:
        if not isinstance(items, list):
            return
        duplicates = [item for index, item in enumerate(items) if item in items[:index]]
        if duplicates:
            raise ValueError(f"must not contain duplicates, found {format_value(duplicates[0])} twice; remove one")


class Embedded:
    """Marks a field as a core type, which pydantic validates with the compiled schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @functools.cached_property
    def _validator(self) -> Json:
        import jsonschema_rs

        needed = {name: _of_items(definitions()[name]) for name in sorted(reachable(self.schema))}
        return jsonschema_rs.validator_for(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **_of_items(self.schema), "$defs": needed},
            keywords={"x-kubernetes-list-map-keys": _ListMapKeys, _LIST_TYPE: _Set},
            formats={"date-time": _is_date_time},
            validate_formats=True,
        )

    def validate(self, value: Json) -> Json:
        """Return the value unchanged.

        Raises:
            PydanticCustomError: The value is invalid; contains all problems.
        """
        if self._validator.is_valid(value):
            return value
        errors = self._validator.iter_errors(value)
        raise combined_error([problem for error in errors for problem in explain_error(error)])

    def lacking(self, value: Json, releases: Releases, release: str) -> Iterator[tuple[Path_, str]]:
        """Yield the fields of a valid value that the definitions of a release do not have, with the reason."""
        kubernetes = releases.find(release)
        if not releases.embeds_metadata or not kubernetes.embeds(newest_field()):
            yield from _lacking(value, self.schema, (), releases, release)

    def __get_pydantic_core_schema__(self, _source: Json, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Replace pydantic's own schema for the annotation."""
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema with its references to core definitions."""
        return _hidden(self.schema)


def _lacking(
    value: Json, schema: Schema, path: Path_, releases: Releases, release: str
) -> Iterator[tuple[Path_, str]]:
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = definitions()[name] if name else schema
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _lacking(item, schema["items"], (*path, index), releases, release)
    if not isinstance(value, dict):
        return
    embedding = releases.find(release)
    fields = schema.get("properties", {})
    for key, inner in value.items():
        field = fields.get(key)
        if field is None:
            continue
        since = field.get(SINCE)
        if name == OBJECT_META and not releases.embeds_metadata:
            yield (*path, key), f"{releases.project} has no fields for the metadata of objects within pods"
        elif since and not embedding.embeds(since):
            yield (
                (*path, key),
                f"the field exists since Kubernetes {since}, and {releases.title(release)} has those of "
                f"{embedding.kubernetes}",
            )
        else:
            yield from _lacking(inner, field, (*path, key), releases, release)


def _hidden(schema: Schema) -> Schema:
    """Rename references, which pydantic would otherwise try to resolve; :mod:`.structural` renames them back."""
    return {
        "x-core-ref" if key == "$ref" else key: _hidden(value) if isinstance(value, dict) else value
        for key, value in schema.items()
    }


def explain_error(error: Json) -> Iterator[tuple[Path_, str]]:
    """Convert one schema error to paths and messages."""
    path = tuple(error.instance_path)
    match error.kind.name:
        case "required":
            yield (*path, error.kind.property), "is required; set it"
        case "additionalProperties":
            for name in error.kind.unexpected:
                yield (*path, name), UNKNOWN
        case "type" if error.kind.types == ["integer"] and isinstance(error.instance, float):
            yield path, f"must be an integer, found {format_value(error.instance)}"
        case "type":
            yield path, f"must be {_types(error.kind.types)}, found {format_value(error.instance)}"
        case "anyOf":
            yield path, f"must be an integer or a string, found {format_value(error.instance)}"
        case "pattern" if error.kind.pattern != PATTERN:
            yield path, f"must match {error.kind.pattern}, found {format_value(error.instance)}"
        case "pattern":
            hint = quantity_hint(error.instance) if isinstance(error.instance, str) else ""
            yield path, f"must be a quantity such as 500m, 2 or 8Gi, found {format_value(error.instance)}{hint}"
        case "minimum" | "maximum":
            bound = "at least" if error.kind.name == "minimum" else "at most"
            yield path, f"must be {bound} {error.kind.limit}, found {format_value(error.instance)}"
        case "minItems" | "maxItems" | "minLength" | "maxLength":
            bound = "at least" if error.kind.name.startswith("min") else "at most"
            unit = ("item" if "Items" in error.kind.name else "character") + "s" * (error.kind.limit != 1)
            yield path, f"must have {bound} {error.kind.limit} {unit}, found {format_value(error.instance)}"
        case "enum":
            options = ", ".join(format_value(option) for option in error.kind.options)
            yield path, f"must be one of {options}, found {format_value(error.instance)}"
        case _:
            yield (
                path,
                str(error.message).rpartition(": ")[2] if "x-kubernetes" in error.message else error.message,
            )


def _types(types: Json) -> str:
    names = {"object": "a map", "array": "a list", "string": "a string", "integer": "an integer"}
    names |= {"number": "a number", "boolean": "true or false", "null": "null"}
    return " or ".join(names.get(str(t), str(t)) for t in (types if isinstance(types, list) else [types]))


def format_value(value: object) -> str:
    """Format a value for a message: JSON, truncated to 80 characters."""
    if isinstance(value, dict) and INEXACT in value:
        value = value[INEXACT]
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _quantity(value: object) -> object:
    value = whole_float_to_int(value)
    if is_quantity(value):
        return value
    hint = f"; put it in quotes: {str(value)!r} (devices need a whole number)" if isinstance(value, float) else ""
    hint = quantity_hint(value) if isinstance(value, str) else hint
    raise combined_error([((), f"must be a quantity such as 500m, 2 or 8Gi, found {format_value(value)}{hint}")])


Quantity = Annotated[
    str | int,
    PlainValidator(_quantity),
    WithJsonSchema(
        {
            "anyOf": INT_OR_STRING,
            "pattern": PATTERN,
            "maxLength": MAX_LENGTH,
            "x-kubernetes-int-or-string": True,
        }
    ),
]
EnvVars = Annotated[list[JsonObject], Embedded(list_map(CORE + "EnvVar", "name"))]
Lifecycle = Annotated[JsonObject, Embedded(ref(CORE + "Lifecycle"))]
Probe = Annotated[JsonObject, Embedded(ref(CORE + "Probe"))]
PodTemplate = Annotated[JsonObject, Embedded(ref(CORE + "PodTemplateSpec"))]
VolumeClaims = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "PersistentVolumeClaim")})]
ClaimRetention = Annotated[
    JsonObject, Embedded(ref("io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy"))
]
Metrics = Annotated[
    list[JsonObject], Embedded({"type": "array", "items": ref("io.k8s.api.autoscaling.v2.MetricSpec")})
]
ScaleBehavior = Annotated[JsonObject, Embedded(ref("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior"))]
Conditions = Annotated[list[JsonObject], Embedded(list_map(META + "Condition", "type"))]
# A list without map keys: the API server accepts duplicate names, and the last value wins in a pod.
EnvList = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "EnvVar")})]
PullSecrets = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "LocalObjectReference")})]
Tolerations = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "Toleration")})]
PodSecurityContext = Annotated[JsonObject, Embedded(ref(CORE + "PodSecurityContext"))]
SecurityContext = Annotated[JsonObject, Embedded(ref(CORE + "SecurityContext"))]
SecretKeySelector = Annotated[JsonObject, Embedded(ref(CORE + "SecretKeySelector"))]
Time = Annotated[str, Embedded({"type": "string", "format": "date-time"})]

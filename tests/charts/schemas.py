"""The schemas of the kinds that charts bring, as strict as the API server with strict field validation."""

from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema_rs

from tests.charts.rendering import Rendered

Object = dict[str, Any]
Kind = tuple[str, str]
"""An object's apiVersion and kind."""


def schemas(rendered: Iterable[Rendered]) -> dict[Kind, Object]:
    """The schema of every kind and version that is served."""
    return {
        (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]): version["schema"][
            "openAPIV3Schema"
        ]
        for charts in rendered
        for crd in charts.of("CustomResourceDefinition")
        for version in crd["spec"]["versions"]
        if version["served"]
    }


def kind_of(body: Object) -> Kind:
    return body["apiVersion"], body["kind"]


def problems(schema: Object, body: Object) -> Iterator[str]:
    """What the API server would refuse; rules in CEL are not looked at."""
    validator = jsonschema_rs.validator_for(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **closed(schema)}
    )
    for error in validator.iter_errors(body):
        yield f"{'.'.join(str(part) for part in error.instance_path)}: {error.message}"


def closed(schema: Object) -> Object:
    """The schema, refusing fields that it does not have; what stands in all objects is none of its own."""
    return {
        **_closed(schema),
        "properties": {**_closed(schema).get("properties", {}), "metadata": {"type": "object"}},
    }


def _closed(schema: Object) -> Object:
    made = {key: value for key, value in schema.items() if key not in ("default", "description", "format")}
    if "items" in schema:
        made["items"] = _closed(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        made["additionalProperties"] = _closed(schema["additionalProperties"])
    if "properties" in schema:
        made["properties"] = {key: _closed(value) for key, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get(
            "x-kubernetes-embedded-resource"
        ):
            made["additionalProperties"] = False
    return made

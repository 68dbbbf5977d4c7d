"""Generates the JSON schema of stack files, for editors, from the typed settings.

``make settings-schema`` writes it to ``stacks/settings.schema.json``, and that of price files beside it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from components.contract.field_docs import field_docs
from components.plan.costs.price_schema import price_schema
from components.plan.section import Section
from components.resources.aws.storage.settings import StorageSettings

from . import PROJECT
from .settings import Settings, declared

Schema = dict[str, Any]
Schemas = Mapping[str, Schema]
FILE = Path(__file__).with_name("settings.schema.json")
PRICES = Path(__file__).with_name("prices.schema.json")
SCHEMA_ID = "urn:inference-platform:schema:settings:0.1"
"""Ends in the version of the schema: see docs/stability.md."""
_NOTES = ("default", "description")
"""Annotations, which do not restrict values."""
_SECRET: Schema = {"$ref": "#/$defs/Secret"}
_SECRET_VALUE: Schema = {
    "description": "A value encrypted by pulumi config set --secret.",
    "type": "object",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}
_JSON = {
    kind: {"description": "JSON, as written by pulumi config set.", "type": "string", "pattern": pattern}
    for kind, pattern in (("array", r"^\s*\["), ("object", r"^\s*\{"))
}
_BESIDE_CONFIG: Schema = {
    "secretsprovider": {"description": "Secrets provider of the stack.", "type": "string"},
    "encryptedkey": {"description": "Key of the stack, encrypted by the secrets provider.", "type": "string"},
    "encryptionsalt": {"description": "Salt for the passphrase of the stack.", "type": "string"},
    "environment": {"description": "Pulumi ESC environments that the stack imports."},
}
_UNSET: Schema = {
    "account": {"type": "null"},
    "registries": {"maxItems": 0},
    "prefix": {"enum": [""]},
    "credentials": {"maxProperties": 0},
    "existing": {"enum": [False, "false"]},
    "kmsKeyArn": {"type": "null"},
    "keepImages": {"type": "null"},
}
"""The values of imageCache that are allowed without a cloud."""
_ON_AWS: Schema = {
    key: {"type": "null"} if field.default is None else {"maxProperties": 0}
    for key, field in StorageSettings.model_fields.items()
}
"""The values of modelCache keys for AWS that are allowed without a cloud."""
_ZONES: Schema = {
    "anyOf": [
        {"required": ["privateSubnets"], "properties": {"privateSubnets": {"minProperties": 2}}},
        {
            "required": ["zones"],
            "properties": {"zones": {"minItems": 2}, "privateSubnets": {"maxProperties": 0}},
        },
        {"required": ["secure"]},
    ]
}


def stack_schema(project_file: Path = Path("Pulumi.yaml")) -> Schema:
    """Return the schema of ``Pulumi.<stack>.yaml``."""
    generated = Settings.model_json_schema(by_alias=True)
    defs = _with_descriptions(generated["$defs"])
    properties = generated["properties"]
    keys = {_full_key(key): _top_level(properties[key], facts, defs) for key, facts in declared(project_file).items()}
    config = {
        "description": f"Settings of the stack. Keys start with {PROJECT}: or the name of another project.",
        "type": "object",
        "properties": keys,
        "patternProperties": {f"^(?!{PROJECT}:)[^:]+:": True},
        "additionalProperties": False,
        "allOf": _constraints(),
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": f"A stack of {PROJECT}",
        "type": "object",
        "properties": {"config": config, **_BESIDE_CONFIG},
        "required": ["config"],
        "additionalProperties": False,
        "$defs": {**{name: _open(part, defs) for name, part in defs.items()}, "Secret": _SECRET_VALUE},
    }


def _full_key(key: str) -> str:
    return f"{PROJECT}:{key}"


def _constraints() -> list[Schema]:
    """Return the constraints between keys, as in the validators of the settings."""
    cloud, kubeconfig, network = _full_key("cloud"), _full_key("kubeconfig"), _full_key("network")
    return [
        {
            "if": {"properties": {cloud: {"const": "none"}}},
            "then": {"required": [kubeconfig], "properties": {kubeconfig: {"not": {"const": ""}}}},
        },
        {
            "if": {"required": [cloud], "properties": {cloud: {"const": "aws"}}},
            "then": {
                "required": [network],
                "properties": {network: {"if": {"type": "object"}, "then": _ZONES}},
            },
        },
        {
            "if": {"properties": {cloud: {"const": "none"}}},
            "then": {
                "properties": {
                    _full_key("modelCache"): {"properties": _ON_AWS},
                    _full_key("imageCache"): {"properties": _UNSET},
                }
            },
        },
    ]


def _top_level(schema: Schema, facts: Mapping[str, Any], defs: Schemas) -> Schema:
    """Return the schema of a top-level key. Any value may be JSON text or a secret."""
    opened = _open(schema, defs)
    json_text = [_JSON[facts["type"]]] if facts["type"] in _JSON else []
    notes = {key: value for key, value in facts.items() if key in _NOTES}
    return {**notes, "anyOf": [*_alternatives(opened), *json_text, _SECRET]}


def _with_secret(schema: Schema, defs: Schemas) -> Schema:
    """Allow a secret wherever a schema allows a string."""
    opened = _open(schema, defs)
    if not _allows_string(schema, defs):
        return opened
    notes = {key: value for key, value in opened.items() if key in _NOTES}
    return {**notes, "anyOf": [*_alternatives(opened), _SECRET]}


def _open(schema: Schema, defs: Schemas) -> Schema:
    """Allow secrets in the parts of a schema, and drop titles, which repeat names."""
    parts = {key: value for key, value in schema.items() if key != "title"}
    if "properties" in parts:
        parts["properties"] = {name: _with_secret(part, defs) for name, part in parts["properties"].items()}
    if "anyOf" in parts:
        parts["anyOf"] = [_open(part, defs) for part in parts["anyOf"]]
    for key in ("items", "additionalProperties"):
        if isinstance(parts.get(key), dict):
            parts[key] = _with_secret(parts[key], defs)
    if "patternProperties" in parts:
        # Pydantic refuses a key that does not match, which its schema leaves out.
        parts.setdefault("additionalProperties", False)
    return parts


def _alternatives(schema: Schema) -> list[Schema]:
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", *_NOTES)}
    return [*schema.get("anyOf", ()), *([rest] if rest else [])]


def _allows_string(schema: Schema, defs: Schemas) -> bool:
    if "$ref" in schema:
        return _allows_string(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return any(_allows_string(part, defs) for part in schema["anyOf"])
    return schema.get("type") == "string" or any(isinstance(word, str) for word in schema.get("enum", ()))


def _with_descriptions(defs: Schemas) -> dict[str, Schema]:
    """Add the docstrings of the sections' fields to definitions."""
    described = dict(sorted(defs.items()))
    for section in _sections(Settings):
        schema = described[section.__name__]
        docs = {section.model_fields[name].alias or name: text for name, text in field_docs(section).items()}
        properties = {key: {"description": docs[key], **part} for key, part in schema["properties"].items()}
        described[section.__name__] = {**schema, "properties": properties}
    return described


def _sections(annotation: object) -> Iterator[type[Section]]:
    """Yield the sections within a type."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        for field in annotation.model_fields.values():
            yield from _sections(field.annotation)
        if annotation is not Settings:
            yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


if __name__ == "__main__":
    for file, schema in ((FILE, stack_schema()), (PRICES, price_schema())):
        file.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")

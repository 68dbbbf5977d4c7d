"""SARIF by the standard, and within what GitHub reads: the part of it that we write.

Sources: OASIS, SARIF 2.1.0 Plus Errata 01 (numbers in comments are its sections); GitHub's pages "SARIF support for
code scanning" and "SARIF results exceed limit". ``INFERENCE_PLATFORM_SARIF`` names a copy of the standard's own JSON
schema; then logs are held against that too.
"""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema_rs

STANDARD = os.environ.get("INFERENCE_PLATFORM_SARIF")
Json = dict[str, Any]

_TEXT = {"type": "object", "required": ["text"], "additionalProperties": False,
         "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string"}}}  # fmt: skip
_LEVEL = {"enum": ["error", "warning", "note"]}
_RULE = {
    "type": "object",
    "required": ["id", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "maxLength": 255},
        "shortDescription": {**_TEXT, "properties": {"text": {"type": "string", "maxLength": 1024}}},
        "fullDescription": {**_TEXT, "properties": {"text": {"type": "string", "maxLength": 1024}}},
        "help": _TEXT,
        "helpUri": {"type": "string", "pattern": "^https://"},
        "defaultConfiguration": {"type": "object", "properties": {"level": _LEVEL}, "additionalProperties": False},
        "properties": {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "maxItems": 10, "uniqueItems": True, "items": {"type": "string"}},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
            },
        },
    },
}
_PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation"],
    "additionalProperties": False,
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "additionalProperties": False,
            "properties": {"uri": {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})*$"}},
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "additionalProperties": False,
            "properties": {"startLine": {"type": "integer", "minimum": 1}},
        },
    },
}
_LOGICAL = {
    "type": "object",
    "additionalProperties": False,
    "properties": {key: {"type": "string", "minLength": 1} for key in ("name", "fullyQualifiedName", "kind")},
}
_RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "physicalLocation": _PHYSICAL,
                    "logicalLocations": {"type": "array", "uniqueItems": True, "items": _LOGICAL},
                },
            },
        },
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},  # 3.27.24
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "additionalProperties": False,
                "properties": {
                    "kind": {"enum": ["inSource", "external"]},  # 3.35.2
                    "status": {"enum": ["accepted", "underReview", "rejected"]},  # 3.35.3
                    "justification": {"type": "string", "minLength": 1},
                },
            },
        },
    },
}
_LOG = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "pattern": "^https://.*sarif-schema-2.1.0.json$"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "semanticVersion", "rules"],
                                "additionalProperties": False,
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
                                    "rules": {"type": "array", "maxItems": 25_000, "items": _RULE},
                                },
                            }
                        },
                    },
                    "results": {"type": "array", "maxItems": 25_000, "items": _RESULT},
                    "invocations": {
                        "type": "array",
                        "items": {"type": "object", "required": ["executionSuccessful"]},
                    },
                },
            },
        },
    },
}
_SUBSET = jsonschema_rs.validator_for(_LOG)


def checked(log: Json) -> Json:
    """Return a log that the standard and GitHub take."""
    assert [error.message for error in _SUBSET.iter_errors(log)] == []
    if STANDARD:
        schema = json.loads(Path(STANDARD).read_text(encoding="utf-8"))
        assert [error.message for error in jsonschema_rs.Draft4Validator(schema).iter_errors(log)] == []
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    ids = [each["id"] for each in rules]
    assert len(set(ids)) == len(ids), "3.49.3"
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in run["results"]), "3.27.6"
    return log

"""JSON schema of YAML price files, for editors."""

from typing import Any

from ...fleet.cloud_providers import flat_items, region_pattern
from ...fleet.prices import EVERYWHERE, Per
from .price_file import MOST, RANGE, WAYS

SCHEMA_ID = "urn:inference-platform:schema:prices:0.1"
"""Ends in the version of the schema: see docs/stability.md."""
_WAYS = {
    "onDemand": "On demand.",
    "spot": "Spot: one price, or a range over zones; usd defaults to the upper end.",
    "reserved": "With your own commitment; applies to nodes of On-Demand Capacity Reservations.",
    "reserved3Y": "With a three-year commitment, for comparison.",
    "capacityBlock": "In a Capacity Block: the price paid, per instance and hour.",
}
_PER = {Per.HOUR: "per hour", Per.MONTH: "per month", Per.GIGABYTE: "per gigabyte"}


def price_schema() -> dict[str, Any]:
    usd = {"type": "number", "minimum": 0, "maximum": MOST}
    price = {"anyOf": [{"$ref": "#/$defs/Usd"}, {"$ref": "#/$defs/Range"}]}
    ways = {key: {"description": _WAYS[key], **price} for key in WAYS}
    flat = {
        item: {"description": f"US dollars {_PER[per]}.", "$ref": "#/$defs/Usd"} for item, per in flat_items().items()
    }
    region = _map({"instances": {"type": "object", "additionalProperties": _map(ways)}, "flat": _map(flat)})
    regions = {
        "type": "object",
        "patternProperties": {rf"^({region_pattern()}|\{EVERYWHERE})$": region},
        "additionalProperties": False,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "Prices of an environment",
        **_map(
            {
                "date": {
                    "description": "Date of the prices.",
                    "type": "string",
                    "pattern": r"^\d{4}-\d{2}-\d{2}$",
                },
                "source": {
                    "description": "Source of the prices. Default: the name of the file.",
                    "type": "string",
                },
                "regions": {"description": f"Prices by region; {EVERYWHERE} applies to all regions.", **regions},
            }
        ),
        "required": ["date"],
        "$defs": {
            "Usd": {"description": "US dollars.", **usd},
            "Range": {**_map({key: {"$ref": "#/$defs/Usd"} for key in RANGE}), "minProperties": 1},
        },
    }


def _map(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}

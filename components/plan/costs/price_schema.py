"""The JSON schema of a price file in YAML, for editors."""

from typing import Any

from ...fleet.cloud_providers import flat_items, region_pattern
from ...fleet.prices import EVERYWHERE, Per
from .price_file import MOST, RANGE, WAYS

_WAYS = {
    "onDemand": "On demand.",
    "spot": "Spot: one price, or a range over zones; of a range without usd the high end counts.",
    "reserved": "Under your own commitment: what nodes of an On-Demand Capacity Reservation cost.",
    "reserved3Y": "Under a commitment of three years, for comparison.",
    "capacityBlock": "In a Capacity Block: what was paid for it, by instance and hour.",
}
_A = {Per.HOUR: "an hour", Per.MONTH: "a month", Per.GIGABYTE: "a gigabyte"}


def price_schema() -> dict[str, Any]:
    """Return the schema."""
    usd = {"type": "number", "minimum": 0, "maximum": MOST}
    price = {"anyOf": [{"$ref": "#/$defs/Usd"}, {"$ref": "#/$defs/Range"}]}
    ways = {key: {"description": _WAYS[key], **price} for key in WAYS}
    flat = {
        item: {"description": f"US dollars {_A[per]}.", "$ref": "#/$defs/Usd"} for item, per in flat_items().items()
    }
    region = _map({"instances": {"type": "object", "additionalProperties": _map(ways)}, "flat": _map(flat)})
    regions = {"type": "object", "patternProperties": {_region(): region}, "additionalProperties": False}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Prices of an environment",
        **_map(
            {
                "date": {
                    "description": "Day on which the prices held.",
                    "type": "string",
                    "pattern": r"^\d{4}-\d{2}-\d{2}$",
                },
                "source": {
                    "description": "Where they are from. Default: the name of the file.",
                    "type": "string",
                },
                "regions": {"description": f"Prices by region, or under {EVERYWHERE} for all regions.", **regions},
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


def _region() -> str:
    return rf"^({region_pattern()}|\{EVERYWHERE})$"

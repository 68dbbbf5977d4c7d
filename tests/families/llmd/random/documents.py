"""Random valid VariantAutoscalings, made from the table of the contract and not from our types."""

from random import Random
from typing import Any

from tests.families.llmd.api.samples import API, LABEL, Document
from tests.families.llmd.api.table import FIELDS, KIND, Row, inner_type, least_length

LARGEST = 2**63 - 1
_TEXTS = ("x", "A100", "default/default", " ", "\n", "é", "${X}", "a\"b'c", "x" * 300, "٢", "-", "null")
_DECIMALS = ("0", "0.0", "7", "20.58", "0.41", "007", "1.000", "9" * 40, "0." + "0" * 40 + "1")
_TIMES = ("2025-09-17T10:00:00Z", "2025-09-17T10:00:00.5+02:00")


def _text(row: Row, random: Random) -> str:
    if row["pattern"]:
        return random.choice(_DECIMALS)
    least = least_length(row) or 0
    return random.choice([text for text in (*_TEXTS, "") if len(text) >= least])


def _value(row: Row, random: Random) -> Any:
    inner = inner_type(row["yaml_type"])
    if inner in FIELDS and inner != row["yaml_type"]:
        return [fields(inner, random) for _ in range(int(row["min_items"]) + random.randrange(3))]
    if inner in FIELDS:
        return fields(inner, random)
    match inner:
        case "int64":
            low = int(row["minimum"])
            return random.choice((low, low + 1, low + random.randrange(9), 2**31, LARGEST))
        case "bool":
            return random.random() < 0.5
        case "meta/v1.Time":
            return random.choice(_TIMES)
    return _text(row, random)


def fields(type_: str, random: Random) -> Document:
    """Return a value of a type of the table: what it must have, and some of the rest."""
    chosen = [row for row in FIELDS[type_] if row["required"] == "yes" or random.random() < 0.5]
    return {row["field"]: _value(row, random) for row in chosen}


def document(random: Random) -> Document:
    """Return a valid VariantAutoscaling."""
    metadata: Document = {"name": random.choice(("a", "b-1", "chat.x", "1")), "namespace": "default"}
    if random.random() < 0.7:
        metadata["labels"] = {LABEL: random.choice(("A100", "x", "", "a" * 63))}
    written = {row["field"] for row in FIELDS[KIND]}
    whole = {"apiVersion": API, "kind": KIND, "metadata": metadata, "spec": fields(f"{KIND}Spec", random)}
    if random.random() < 0.3:
        whole["status"] = fields(f"{KIND}Status", random)
    assert set(whole) <= written
    return whole

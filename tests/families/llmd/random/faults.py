"""Random VariantAutoscalings with one thing wrong, and where: a field of the table."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.families.llmd.api.samples import Document
from tests.families.llmd.api.table import FIELDS, KIND, FieldPath, Row, inner_type, least_length
from tests.families.llmd.random.documents import LARGEST, document


@dataclass(frozen=True, slots=True)
class Wrong:
    """A document that is valid but for one thing."""

    document: Document
    path: FieldPath


_NO_DECIMALS = (
    "",
    ".5",
    "1.",
    "-1",
    "+1",
    "1e-2",
    "1 ",
    " 1",
    "1\n",
    "\n1",
    "٢",
    "1.٢",
    "0x1",
    "NaN",
    "inf",
    "1,5",
    "1.2.3",
)


def bad_values(row: Row) -> list[tuple[FieldPath, Any]]:
    """Return values that a field must not take, each with where below the field the fault is."""
    inner = inner_type(row["yaml_type"])
    values: list[Any] = [1, 20.58, True, [], {}, *(_NO_DECIMALS if row["pattern"] else ())]
    values += [""] if least_length(row) else []
    if inner != row["yaml_type"]:
        of_items: list[tuple[FieldPath, Any]] = [((0,), [1]), ((0,), ["a"]), ((0,), [[]])]
        return [((), []), ((), {}), ((), "a"), ((), 1), *of_items]
    if inner in FIELDS:
        return [((), []), ((), "a"), ((), 1), (("unknown",), {"unknown": 1})]
    if inner == "int64":
        low = int(row["minimum"])
        values = [True, "1", 1.5, [], {}, low - 1, -LARGEST - 1, LARGEST + 1, 1e300]
    return [((), value) for value in values]


def places(value: Any, type_: str, above: FieldPath) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field that could be written in a value of a type."""
    for row in FIELDS[type_]:
        path = (*above, row["field"])
        yield path, row
        inner, written = inner_type(row["yaml_type"]), value.get(row["field"])
        if inner not in FIELDS or written is None:
            continue
        parts: Any = (
            [((), written)] if inner == row["yaml_type"] else [((i,), item) for i, item in enumerate(written)]
        )
        for step, part in parts:
            yield from places(part, inner, (*path, *step))


def wrong(random: Random) -> Wrong:
    """Return a random document that is to be refused: a field is missing, wrong or not known."""
    whole = document(random)
    path, row = random.choice([*places(whole["spec"], f"{KIND}Spec", ("spec",)), (("spec",), _SPEC)])
    owner: Any = whole
    for part in path[:-1]:
        owner = owner[part]
    if row["required"] == "yes" and random.random() < 0.3:
        owner.pop(path[-1])
        return Wrong(whole, path)
    below, value = random.choice(bad_values(row))
    owner[path[-1]] = copy.deepcopy(value)
    return Wrong(whole, (*path, *below))


_SPEC = next(row for row in FIELDS[KIND] if row["field"] == "spec")

"""The table of llm-d's fields: the rows of the contract."""

import csv
from collections.abc import Iterator
from pathlib import Path

Row = dict[str, str]
FieldPath = tuple[str | int, ...]

_LINES = (Path(__file__).parents[1] / "data" / "contract.csv").read_text().splitlines()
CONTRACT: list[Row] = list(csv.DictReader(_LINES[1:]))
FIELDS: dict[str, list[Row]] = {
    type_: [row for row in CONTRACT if row["type"] == type_] for type_ in {row["type"] for row in CONTRACT}
}
KIND = "VariantAutoscaling"
LIST = "VariantAutoscalingList"


def label(row: Row) -> str:
    return f"{row['type']}.{row['field']}"


def inner_type(written: str) -> str:
    """Return the type of a field, or of the items of its list."""
    return written.removeprefix("list[").removesuffix("]")


def paths(type_: str = KIND, above: FieldPath = ()) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field below a type, lists through their first item."""
    for row in FIELDS[type_]:
        path = (*above, row["field"])
        yield path, row
        inner = inner_type(row["yaml_type"])
        if inner in FIELDS:
            step: FieldPath = (0,) if inner != row["yaml_type"] else ()
            yield from paths(inner, (*path, *step))


def least_length(row: Row) -> int | None:
    """Return how long a text is at least, as the notes of the table have it."""
    told = row["also_validation"].partition("minLength=")[2].partition(";")[0]
    return int(told) if told else None

"""The tables of Kthena's fields: the contract's rows, and those of ModelServer and ModelRoute beside it."""

import csv
from collections.abc import Iterator
from pathlib import Path

Row = dict[str, str]
FieldPath = tuple[str | int, ...]

_DATA = Path(__file__).parents[1] / "data"


def _rows(name: str) -> list[Row]:
    return list(csv.DictReader((_DATA / name).read_text().splitlines()[1:]))


CONTRACT = _rows("contract.csv")
ROWS = [*CONTRACT, *_rows("networking.csv")]
FIELDS: dict[str, list[Row]] = {
    type_: [row for row in ROWS if row["type"] == type_] for type_ in {r["type"] for r in ROWS}
}
KINDS = ("ModelBooster", "ModelServing", "AutoscalingPolicy", "AutoscalingPolicyBinding", "ModelServer", "ModelRoute")
INT32 = 2**31


def label(row: Row) -> str:
    return f"{row['type']}.{row['field']}"


def inner_type(written: str) -> str:
    """Return the type of a field, of the items of its list or of the values of its map, without its API group."""
    inner = written.partition("[")[2].removesuffix("]") if written.startswith("list[") else written
    inner = inner.removeprefix("map[string]")
    return inner.removeprefix("networking.serving.volcano.sh/v1alpha1.").removeprefix(
        "scheduling.volcano.sh/v1beta1."
    )


def paths(type_: str, above: FieldPath) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field below a type, lists through their first item, maps through the key ``a``."""
    for row in FIELDS.get(type_, ()):
        path = (*above, row["field"])
        yield path, row
        written, inner = row["yaml_type"], inner_type(row["yaml_type"])
        if inner in FIELDS:
            step: FieldPath = (0,) if written.startswith("list[") else ("a",) if written.startswith("map[") else ()
            yield from paths(inner, (*path, *step))


def fields_of(kind: str) -> list[tuple[FieldPath, Row]]:
    """Return every field of a kind's spec."""
    return [(path, row) for path, row in paths(kind, ()) if path[0] == "spec"]

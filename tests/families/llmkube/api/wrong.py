"""Random InferenceServices and Models of LLMKube with one thing wrong, and where: from the contract's table."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.families.llmkube.api.documents import FIELDS, INT32, FieldPath, Row, document, fields
from tests.families.llmkube.api.samples import Document

ABSENT = object()
_BAD_PATTERNED = {
    "factor": ("", "-1", "2.", ".5", "1e3", "2\n", "٢", "2,0"),
    "sha256": ("", "0" * 63, "0" * 65, "g" * 64, "0" * 64 + "\n"),
    "source": ("", "a", "/", "/a b", "s3:/ /x", "-a", "org/repo\n", "/m\n", "ftp://x", "é/a", "org/é", "a b", "a:b"),
}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A document that is valid but for one field."""

    document: Document
    path: FieldPath


def paths(type_: str, above: FieldPath) -> Iterator[tuple[FieldPath, Row]]:
    """Yield every field below a type, lists through their first item."""
    for row in FIELDS[type_]:
        path = (*above, row["field"])
        yield path, row
        wanted = row["yaml_type"]
        if wanted in FIELDS:
            yield from paths(wanted, path)
        elif wanted.startswith("list[") and wanted[5:-1] in FIELDS:
            yield from paths(wanted[5:-1], (*path, 0))


def bad_values(row: Row) -> list[tuple[FieldPath, Any]]:
    """Return values that a field must not take, each with where below the field the fault is."""
    wanted = row["yaml_type"]
    bad: list[Any] = []
    match wanted:
        case "string":
            bad = [1, True, 0.5, [], {}, *_BAD_PATTERNED.get(row["field"] if row["pattern"] else "", ())]
        case "enum":
            bad = [1, True, [], "", "other", row["enum"].split("|")[0].swapcase() + "x"]
        case "bool":
            bad = [1, 0, "true", "", [], {}]
        case "int32":
            bad = [
                True,
                "1",
                1.5,
                [],
                {},
                int(row["minimum"] or -INT32) - 1,
                int(row["maximum"] or INT32 - 1) + 1,
                2**63,
            ]
        case "number":
            bad = [True, "0.5", [], {}]
            bad += [float(row["minimum"]) - 0.01, 0, -1, float(row["maximum"]) + 0.01, 1] if row["minimum"] else []
        case "list[string]":
            return [((), "a"), ((), {}), ((0,), [1]), ((0,), [None]), ((1,), ["a", {}])]
        case "map[string]string":
            return [((), []), ((), "a"), (("a",), {"a": 1}), (("a",), {"a": {}})]
        case _ if wanted.startswith("list["):
            return [
                ((), {}),
                ((), "a"),
                ((0,), ["a"]),
                ((0,), [1]),
                ((0, "unknown"), [_least(wanted[5:-1]) | {"unknown": 1}]),
            ]
        case _:
            return [((), []), ((), "a"), ((), 1), (("unknown",), _least(wanted) | {"unknown": 1})]
    return [((), value) for value in bad]


def _least(type_: str) -> Document:
    """Return what a type must hold."""
    core = {"core/v1.EnvVar": {"name": "A"}, "core/v1.SecretKeySelector": {"key": "k"}}
    return dict(core.get(type_, {})) if type_ not in FIELDS else fields(type_, _Never())


class _Never(Random):
    """Chooses nothing that may be left out, and always the first."""

    def random(self) -> float:
        return 1 - 2**-53

    def getrandbits(self, _count: int, /) -> int:
        return 0


def wrong(kind: str) -> st.SearchStrategy[Wrong]:
    """Return random documents of a kind with one field missing or wrong."""
    known = list(paths(f"{kind}.spec", ("spec",)))
    return st.tuples(st.sampled_from(known), st.randoms(use_true_random=False)).map(
        lambda drawn: _wrong(kind, *drawn)
    )


def _wrong(kind: str, field: tuple[FieldPath, Row], random: Random) -> Wrong:
    path, row = field
    if row["required"] == "yes" and random.random() < 0.3:
        return Wrong(with_value(kind, path, ABSENT, random), path)
    below, value = random.choice(bad_values(row))
    return Wrong(with_value(kind, path, value, random), (*path, *below))


def with_value(kind: str, path: FieldPath, value: Any, random: Random | None = None) -> Document:
    """Return a valid document of a kind, but for one field that is set or taken away."""
    whole = document(kind, random or Random(1), path)
    owner: Any = whole
    for part in path[:-1]:
        owner = owner[part]
    if value is ABSENT:
        del owner[path[-1]]
    else:
        owner[path[-1]] = copy.deepcopy(value)
    return whole

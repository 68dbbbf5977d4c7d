"""The text of a ``flags.yaml``, of which only changed rows are written again."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

WIDTH = 118
COLUMNS = (
    *("type", "alias", "negated", "values", "open", "fold", "words", "nargs", "repeat"),
    *("min", "max", "above", "below", "from", "absent", "until", "gone", "never", "deprecated"),
    *("instead", "excludes", "earlier"),
)
"""The order of a row's columns in the tables."""
FORM = ("type", "values", "open", "fold", "words", "nargs", "repeat", "min", "max", "above", "below")

Version = tuple[int, ...]
Row = dict[str, Any]


def tuple_of(version: Sequence[int]) -> Version:
    """Return a version without zeros at its end, as the tables write it."""
    numbers = list(version)
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


class Table:
    """A ``flags.yaml``: its text, its rows, and the releases whose flags are all in it.

    Its key ``extractor`` lists its differences from the sources of a release:

        unregistered: flags that no call of ``add_argument`` shows.
        left_out: values that the table leaves out on purpose, by flag.
        parsed_later: flags that the parser accepts any string for, and the server converts to their type.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        facts = yaml.safe_load(text)
        self.rows: dict[str, Row] = facts["flags"]
        self.releases: list[Version] = sorted(tuple_of(version) for version in facts["complete"]["versions"])
        exceptions = facts.get("extractor", {})
        self.unregistered: Sequence[str] = exceptions.get("unregistered", ())
        self.left_out: Mapping[str, Sequence[str]] = exceptions.get("left_out", {})
        self.parsed_later: Sequence[str] = exceptions.get("parsed_later", ())

    def owner(self, name: str) -> str | None:
        """Return the flag of a spelling."""
        if name in self.rows:
            return name
        return next((flag for flag, row in self.rows.items() if name in row.get("alias", ())), None)


def rewritten(table: Table, rows: Mapping[str, Row], versions: Sequence[Version]) -> str:
    """Return the text with some rows replaced or added; every other character stays."""
    tree: Any = yaml.compose(table.text)
    flags = next(value for key, value in tree.value if key.value == "flags")
    starts = [(str(key.value), key.start_mark.line) for key, _ in flags.value]
    lines = table.text.splitlines(keepends=True)
    ends = [line for _, line in starts[1:]] + [len(lines)]
    pieces = [(name, "".join(lines[start:end])) for (name, start), end in zip(starts, ends, strict=True)]
    for name, row in rows.items():
        text = format_row(name, row)
        at = next((i for i, (other, _) in enumerate(pieces) if other == name), None)
        same = at is not None
        if at is None:
            at = next((i for i, (other, _) in enumerate(pieces) if _order(other) > _order(name)), len(pieces))
        if same:
            comments = [line for line in pieces[at][1].splitlines(keepends=True) if line.lstrip().startswith("#")]
            text += "".join(comments)
        pieces[at : at + same] = [(name, text)]
    head = "".join(lines[: starts[0][1]])
    numbers = ", ".join(f"[{', '.join(map(str, version))}]" for version in sorted(versions))
    head = re.sub(r"(?<=versions:)(\s*)\[\[.*?\]\]", lambda match: f"{match[1]}[[{numbers[1:-1]}]]", head, flags=re.S)
    return head + "".join(text for _, text in pieces)


def _order(name: str) -> str:
    return name.lstrip("-")


def format_row(name: str, row: Row) -> str:
    """Write a row: on one line where it fits, or one column per line."""
    columns = {key: row[key] for key in sorted(row, key=COLUMNS.index)}
    line = f"  {name}: {_flow(columns)}"
    if len(line) <= WIDTH:
        return f"{line}\n"
    text = f"  {name}:\n"
    for key, value in columns.items():
        line = f"    {key}: {_flow(value)}"
        if len(line) <= WIDTH or not isinstance(value, list):
            text += f"{line}\n"
            continue
        text += f"    {key}:\n"
        current = "      ["
        for at, item in enumerate(value):
            word = _flow(item) + ("]" if at == len(value) - 1 else ",")
            if len(current) + len(word) > WIDTH and current.strip() != "[":
                text += f"{current.rstrip()}\n"
                current = "       "
            current += f"{word} "
        text += f"{current.rstrip()}\n"
    return text


def _flow(value: object) -> str:
    """Write a value in YAML's flow style, quoted only where a plain word would be another type."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        plain = re.fullmatch(r"[\w-][\w.+/-]*", value) and value != "none" and yaml.safe_load(value) == value
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)

"""What the parsers of all releases of an engine accept, as one row per flag with spans of releases.

A parser is a map of its flags, each with the columns of :mod:`components.engines.flags.rows` that hold in this
release: no spans, and no earlier forms. The rows of all releases and the parser of each are the same facts, so that a
release is added by reading the parsers back from the rows and writing the rows again.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .options import EngineRelease, Option

Row = dict[str, Any]
Parser = dict[str, Row]
"""What a release accepts, by the first spelling of each flag."""
_SPELLINGS = ("alias", "negated")
_FORM = ("type", "unread", "fold", "words", "nargs", "repeat", "min", "max", "above", "below")
"""Columns that describe the values of a flag, apart from the values of an enum, which have spans of their own."""


def order(release: str) -> tuple[int, ...]:
    """Return what releases are sorted by; ``0.5.5.post3`` comes between ``0.5.5`` and ``0.5.6``."""
    return tuple(map(int, re.findall(r"\d+", release)))


def parser_of(release: EngineRelease) -> Parser:
    """Return the options that a release registers; where it registers one again, the later one counts."""
    parser: Parser = {}
    for option in release.options:
        parser[option.names[0]] = _row(option)
    return parser


def digest(parser: Parser) -> str:
    """Return a fingerprint of what a release accepts, whatever the order of its flags and values."""
    facts = [
        [sorted([name, *row.get("alias", ())]), *([key, row[key]] for key in _FORM if key in row)]
        + [[column, sorted(row[column])] for column in ("negated", "values") if column in row]
        for name, row in parser.items()
    ]
    return hashlib.sha256(json.dumps(sorted(facts, key=json.dumps)).encode()).hexdigest()[:12]


def rows_of(parsers: Mapping[str, Parser]) -> dict[str, Row]:
    """Return one row per flag, sorted by name, for the parsers of all releases."""
    releases = sorted(parsers, key=order)
    states = _identified([parsers[release] for release in releases])
    names = {name for state in states for name in state}
    rows = {name: _flag_row(releases, [state.get(name) for state in states]) for name in names}
    return dict(sorted(rows.items(), key=lambda item: item[0].lstrip("-")))


def parser_in(rows: Mapping[str, Row], release: str) -> Parser:
    """Return what a release accepts according to the rows."""
    return {name: _row_in(row, release) for name, row in rows.items() if holds(row, release)}


def changes(before: Parser, after: Parser) -> list[str]:
    """Return how what two releases accept differs, one sentence per flag."""
    messages = []
    for name in sorted({*before, *after}, key=lambda name: name.lstrip("-")):
        old, new = before.get(name), after.get(name)
        if old is None and new is not None:
            messages.append(f"{name}: new, {new['type']}")
        elif new is None:
            messages.append(f"{name}: gone")
        elif old is not None and old != new:
            columns = [column for column in {**old, **new} if old.get(column) != new.get(column)]
            messages.append(f"{name}: {'; '.join(_change(column, old, new) for column in columns)}")
    return messages


def _change(column: str, old: Row, new: Row) -> str:
    before, after = old.get(column), new.get(column)
    if isinstance(before, list | None) and isinstance(after, list | None):
        gone = [value for value in before or () if value not in (after or ())]
        came = [value for value in after or () if value not in (before or ())]
        parts = [
            f"{word} {', '.join(map(str, values))}" for word, values in (("gone", gone), ("new", came)) if values
        ]
        return f"{column} {' and '.join(parts) or 'in another order'}"
    return f"{column} was {json.dumps(before)}, is {json.dumps(after)}"


def _row(option: Option) -> Row:
    """Return the columns of an option; one whose type cannot be read accepts every string."""
    row = option.form()
    if option.type is None:
        row["unread"] = True
    if option.names[1:]:
        row["alias"] = list(option.names[1:])
    if option.negated:
        row["negated"] = list(option.negated)
    if option.deprecated:
        row["deprecated"] = True
    return row


def _identified(states: Sequence[Parser]) -> list[Parser]:
    """Return the same parsers with each flag under one name in all of them.

    This is its first spelling in the newest release, as long as it has this spelling: a new spelling may come before
    an old one that stays.
    """
    known: dict[str, None] = {}
    identified: list[Parser] = []
    for state in reversed(states):
        named: Parser = {}
        for first, row in state.items():
            names = [first, *row.get("alias", ())]
            name = next((each for each in names if each in known and (each == first or each not in state)), first)
            known.setdefault(name)
            alias = [each for each in names if each != name]
            named[name] = {**row, "alias": alias} if alias else {k: v for k, v in row.items() if k != "alias"}
        identified.append(named)
    return identified[::-1]


def _flag_row(releases: Sequence[str], states: Sequence[Row | None]) -> Row:
    own = [(release, state) for release, state in zip(releases, states, strict=True) if state is not None]
    having = [release for release, _ in own]

    # Consecutive releases that take the same values share a form.
    runs: list[tuple[Row, list[tuple[str, Row]]]] = []
    for release, state in own:
        form = {column: state[column] for column in _FORM if column in state}
        if not runs or runs[-1][0] != form:
            runs.append((form, []))
        runs[-1][1].append((release, state))
    forms = []
    for form, run in runs:
        values = _spelled([(release, state.get("values", ())) for release, state in run])
        forms.append(form | ({"values": values} if values else {}))

    row = forms[-1]
    for column in _SPELLINGS:
        spellings = _spelled([(release, state.get(column, ())) for release, state in own])
        if spellings:
            row[column] = spellings
    row |= span_of(releases, having)
    calm = [release for release, state in own if not state.get("deprecated")]
    if own[-1][1].get("deprecated"):
        row["deprecated"] = next(release for release in having if not calm or order(release) > order(calm[-1]))
    if len(forms) > 1:
        lasts = [run[-1][0] for _, run in runs]
        row["earlier"] = [{"last": last, **form} for last, form in zip(lasts[:-1], forms[:-1], strict=True)]
    return row


def _spelled(states: Sequence[tuple[str, Iterable[str]]]) -> list[Any]:
    """Return the values that some releases have, the newest release's first, each with the releases that have it."""
    releases = [release for release, _ in states]
    values = dict.fromkeys(value for _, values in reversed(states) for value in values)
    entries: list[Any] = []
    for value in values:
        span = span_of(releases, [release for release, values in states if value in values])
        entries.append({"value": value, **span} if span else value)
    return entries


def span_of(releases: Sequence[str], having: Sequence[str]) -> Row:
    """Return the columns of a span; a gap lacks it from its first release to before its second one."""
    first, last = releases.index(having[0]), releases.index(having[-1])
    row: Row = {}
    if first > 0:
        row["from"] = releases[first]
    if last < len(releases) - 1:
        row["until"] = releases[last + 1]
    gaps = []
    for at in range(first + 1, last + 1):
        lacks, lacked = releases[at] not in having, releases[at - 1] not in having
        if lacks and not lacked:
            gaps.append([releases[at]])
        elif lacked and not lacks:
            gaps[-1].append(releases[at])
    if gaps:
        row["gaps"] = gaps
    return row


def holds(span: Row, release: str) -> bool:
    at = order(release)
    return (
        not ("from" in span and at < order(span["from"]))
        and not ("until" in span and at >= order(span["until"]))
        and not any(order(start) <= at < order(end) for start, end in span.get("gaps", ()))
    )


def _row_in(row: Row, release: str) -> Row:
    at = order(release)
    form = next((form for form in row.get("earlier", ()) if at <= order(form["last"])), row)
    state = {column: form[column] for column in _FORM if column in form}
    values = _held(form.get("values", ()), release)
    if values:
        state["values"] = values
    for column in _SPELLINGS:
        spellings = _held(row.get(column, ()), release)
        if spellings:
            state[column] = spellings
    if "deprecated" in row and at >= order(row["deprecated"]):
        state["deprecated"] = True
    return state


def _held(entries: Iterable[Any], release: str) -> list[str]:
    return [
        entry["value"] if isinstance(entry, dict) else entry
        for entry in entries
        if not isinstance(entry, dict) or holds(entry, release)
    ]

"""Compares the rows of a table with what a release accepts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .options import EngineRelease, Option
from .table import FORM, Row, Table, Version, tuple_of


class ByHandError(Exception):
    """A difference that the columns of a table cannot express, or that one release does not decide."""


class Update:
    """Compares a table with a release, and changes the rows where the release is new to the table."""

    def __init__(self, table: Table, version: Version) -> None:
        self.table, self.version = table, version
        self.previous = max((known for known in table.releases if known < version), default=None)
        self.next = min((known for known in table.releases if known > version), default=None)
        self.is_listed = version in table.releases
        self.changed: dict[str, Row] = {}
        self.messages: list[str] = []
        self.by_hand: list[str] = []
        self.notes: list[str] = []

    def compare(self, release: EngineRelease) -> None:
        accepted: set[str] = set()
        for option in release.options:
            owners = [owner for owner in map(self.table.owner, option.names) if owner is not None]
            # An option with the name of a row of its own belongs there, also if another row had its alias.
            owner = option.names[0] if option.names[0] in owners else owners[0] if owners else None
            if owner is None:
                self.add_row(option)
            else:
                accepted.add(owner)
                self.apply(owner, option)
        if not release.complete:
            return  # what was not read is not known to be absent
        for name in self.table.rows:
            if name not in accepted and name not in self.table.unregistered:
                self.apply_span(name, accepted=False)

    def add_row(self, option: Option) -> None:
        name = option.names[0]
        if self.is_listed:
            self.by_hand.append(f"{name}: accepted, but not in the table")
            return
        row = option.form()
        if option.names[1:]:
            row["alias"] = list(option.names[1:])
        self.changed[name] = row | self.birth()
        unread = "; its type could not be read, so that the row accepts any string" if option.type is None else ""
        self.messages.append(f"{name}: new, {row['type']}{unread}")

    def birth(self) -> Row:
        """Return the span of what the release has and the table does not know."""
        span: Row = {}
        if self.previous is not None:
            span = {"from": list(self.version), "absent": list(self.previous)}
        if self.next is not None:
            span["until"] = list(self.next)
        return span

    def apply(self, name: str, option: Option) -> None:
        """Compare a row with the option that has one of its spellings."""
        if not self.apply_span(name, accepted=True):
            return
        row = self.changed.get(name, self.table.rows[name])
        if name in self.table.parsed_later:
            option = replace(option, type=row["type"])
        new = json.loads(json.dumps(row))
        try:
            messages = self.change_accepted(name, new, option)
            rows = self.respelled(name, new, option, messages)
        except ByHandError as error:
            self.by_hand.append(f"{name}: {error}")
            return
        if row["type"] == "enum" and not row.get("open") and not option.closed and not option.members:
            self.notes.append(f"{name}: the parser accepts other strings too; state `open` if they work")
        if option.deprecated and not row.get("deprecated"):
            self.notes.append(f"{name}: the release calls it deprecated; state `deprecated`, and `instead` if known")
        if self.is_listed:
            self.by_hand += [f"{name}: {message}" for message in messages]
        elif messages:
            self.changed |= rows
            self.messages += [f"{name}: {message}" for message in messages]

    def change_accepted(self, name: str, row: Row, option: Option) -> list[str]:
        """State in a row which values the release accepts; return what changed."""
        messages: list[str] = []
        form, following = self.form_in(row)
        differences = _differences(form, option)
        if differences and following is not None and not _differences(following, option):
            form["until"] = list(self.version)
            messages.append("has its later form in this release")
            form = following
        elif differences:
            self.change_form(row, form, option, differences)
            messages += differences
            form = row
        elif following is not None and _differences(following, option):
            form["last"] = list(self.version)
            messages.append("has its earlier form in this release")
        if option.values and option.type is not None and form["type"] == "enum":
            messages += self.change_values(name, row, form, option)
        return messages

    def respelled(self, name: str, row: Row, option: Option, messages: list[str]) -> dict[str, Row]:
        """Return the rows of a flag, and of spellings that only some releases have.

        An alias has no versions. One that newer releases lack therefore gets a row of its own, as a new alias does
        that the next release lacks.
        """
        known = (name, *row.get("alias", ()))
        added = [spelling for spelling in option.names if spelling not in known]
        removed = [spelling for spelling in known if spelling not in option.names]
        messages += [f"also spelled {spelling}" for spelling in added]
        if self.next is not None:
            if name in removed:
                raise ByHandError(f"is spelled {', '.join(option.names)}")
            if removed:
                self.notes.append(f"{name}: not yet spelled {', '.join(removed)}; aliases have no versions")
            own = {spelling: {**_form_of(row), **self.birth(), "instead": name} for spelling in added}
            return {name: row, **own}
        messages += [f"no longer spelled {spelling}" for spelling in removed]
        primary = option.names[0] if name in removed else name
        gone: Row = {key: row[key] for key in (*FORM, "from", "absent") if key in row}
        gone |= {"until": list(self.version), "instead": primary}
        new: Row = {key: value for key, value in row.items() if key != "alias"}
        if primary in added:
            new |= self.birth()
        aliases = [alias for alias in (*known, *added) if alias not in (*removed, primary)]
        if aliases:
            new["alias"] = aliases
        return dict.fromkeys(removed, gone) | {primary: new}

    def apply_span(self, name: str, *, accepted: bool) -> bool:
        """Compare the span of a flag; return whether its form is to be compared as well."""
        row = dict(self.changed.get(name, self.table.rows[name]))
        try:
            message = self.change_span(row, accepted=accepted)
        except ByHandError as error:
            self.by_hand.append(f"{name}: {error}")
            return False
        if message and self.is_listed:
            self.by_hand.append(f"{name}: {message}")
            return False
        if message:
            self.changed[name] = row
            self.messages.append(f"{name}: {message}")
        return accepted

    def change_span(self, row: Row, *, accepted: bool) -> str:
        """State in a row whether the release has it; return what changed.

        Between two listed releases a row states nothing, so either answer only narrows its span.
        """
        version = self.version
        since, absent, until = (tuple_of(row[key]) if key in row else None for key in ("from", "absent", "until"))
        before = bool(since and version < since)
        if row.get("never") or (row.get("gone") and self.next is None):
            if accepted:
                raise ByHandError("accepted, but removed according to the table")
            return ""
        if until and version >= until:
            if accepted:
                raise ByHandError(f"accepted, but gone since {dotted(until)} according to the table")
            return ""
        if before and (absent is None or version <= absent):
            if accepted:
                raise ByHandError("accepted, but according to the table it came later")
            return ""
        if before:
            row["from" if accepted else "absent"] = list(version)
            return "known since this release" if accepted else "still absent in this release"
        if accepted:
            return ""
        if self.next is None or (until and self.next >= until):
            row["until"] = list(version)
            return "gone"
        raise ByHandError("absent, but releases before and after have it according to the table")

    def form_in(self, row: Row) -> tuple[Row, Row | None]:
        """Return what a flag takes in the release, and the next form where the row leaves open which one it is."""
        forms = [*row.get("earlier", ()), row]
        for form, following in pairwise(forms):
            if self.version <= tuple_of(form["last"]):
                return form, None
            if "until" in form and self.version < tuple_of(form["until"]):
                return form, following
        return row, None

    def change_form(self, row: Row, form: Row, option: Option, differences: Sequence[str]) -> None:
        """State a form that is not the one of the row.

        In the newest release it replaces the row's, which becomes the last of the earlier ones. In a release between
        others it can only be the first form of a flag that came with this release.
        """
        if (
            self.next is not None
            and row.get("from") == list(self.version)
            and form in (row, *row.get("earlier", ())[:1])
        ):
            first = {"last": list(self.version), "until": list(self.next)} | option.form()
            row["earlier"] = [first, *row.get("earlier", ())]
            return
        if self.is_listed or form is not row or self.next is not None or self.previous is None:
            raise ByHandError("; ".join(differences))
        old = {"last": list(self.previous), "until": list(self.version)} | _form_of(row)
        for column in FORM:
            row.pop(column, None)
        row |= option.form()
        row["earlier"] = [*row.get("earlier", ()), old]

    def change_values(self, name: str, row: Row, form: Row, option: Option) -> list[str]:
        """Compare the values of an enum, each of which may have a span of its own."""
        fold = str.lower if form.get("fold") else str
        left_out = self.table.left_out.get(name, ())
        accepted = {fold(value): value for value in option.values if value not in left_out}
        messages: list[str] = []
        present: list[Any] = []
        newly_gone: list[Any] = []
        gone: list[Any] = []
        # A value without a span of its own has that of the flag, which this release may just have narrowed.
        born = {key: self.table.rows[name][key] for key in ("from", "absent") if key in self.table.rows[name]}
        for entry in form["values"]:
            span = dict(entry) if isinstance(entry, dict) else {"value": entry}
            value, is_accepted, was_gone = str(span["value"]), fold(str(span["value"])) in accepted, "until" in span
            narrowed = born.get("from") != row.get("from") and not is_accepted and not {"from", "absent"} & set(span)
            try:
                message = self.change_span(span := span | born if narrowed else span, accepted=is_accepted)
            except ByHandError as error:
                raise ByHandError(f"{value} {error}") from error
            if message:
                messages.append(f"{value} {message}")
            target = gone if was_gone else newly_gone if "until" in span else present
            target.append(span if len(span) > 1 else entry)
            accepted.pop(fold(value), None)
        # What is new together with the flag has its span.
        inherits = row.get("from") == list(self.version) or form is not row
        for value in accepted.values():
            span = {k: v for k, v in self.birth().items() if k == "until" or not inherits} if form is row else {}
            present.append({"value": value, **span} if span else value)
            messages.append(f"{value} new")
        if messages:
            form["values"] = [*present, *newly_gone, *gone]
        return messages


def _form_of(row: Row) -> Row:
    return {key: value for key, value in row.items() if key in FORM}


def _differences(form: Row, option: Option) -> list[str]:
    """Return how a form differs from what an option accepts, apart from the values of an enum.

    What cannot be read never differs, and a range that only the table states is kept.
    """
    if option.type is None:
        return []
    kind = option.form()["type"]
    # Where the parser accepts any string, the table may know which values work.
    is_string = kind == "string" or option.members
    kinds = {kind, "string", "enum"} if is_string and (option.values or form.get("open")) else {kind}
    if form["type"] not in kinds:
        return [f"takes {kind}, was {form['type']}"]
    differences = []
    if option.nargs != form.get("nargs"):
        differences.append(f"nargs is {option.nargs}, was {form.get('nargs')}")
    if option.repeat != form.get("repeat", False):
        differences.append(f"repeat is {option.repeat}, was {form.get('repeat', False)}")
    if list(option.words) != form.get("words", []) and kind == "human":
        differences.append(f"words are {list(option.words)}, were {form.get('words', [])}")
    for column, bound in option.bounds.items():
        if form.get(column) != bound:
            differences.append(f"{column} is {bound}, was {form.get(column)}")
    return differences


def dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))

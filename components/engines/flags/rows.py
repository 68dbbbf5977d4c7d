"""A flag of an engine: its values, and the versions that support it.

A row of ``flags`` in an engine's ``parsers.json`` or ``flags.yaml``, found by the flag:

    type: switch (no value), bool (also as ``--no-...``), int, human (an int that may end in k, M, g ...), float,
      string, json, json_or_string, enum.
    alias: other spellings. negated: negative spellings beside ``--no-...``. Each with from, until and gaps, as a
      value, if only some versions of those with the flag have it.
    values: values of an enum, or those of a string that the sources name; with from, absent, until, gaps and
      deprecated for values that some versions lack. refused: those that the parser accepts and the engine refuses.
    unread: the sources do not show which values the parser accepts.
    open: plugins may add values. fold: values are case-insensitive. words: non-numeric values of a number.
    min, max, above, below: range of a number; above and below are exclusive.
    nargs: number of values: a number, ``?``, ``*`` or ``+``. repeat: every use adds to the earlier ones.
    from: first version with the flag. absent: last version known to lack it, if not the one before ``from``.
    until: first version known to lack it again. gaps: pairs of versions in between, from the first of which to before
      the second the flag is missing. gone: the newest version lacks it, and the first one is unknown.
    deprecated: first version that warns about it; true for the newest. instead: its replacement.
    excludes: flags that must not be combined with it.
    earlier: its earlier forms, each with the ``last`` version; until: first version known with the next form.
"""

import functools
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..versions import ALWAYS, ANY, Version, VersionSpan, read_version

SWITCH, BOOL, ENUM = "switch", "bool", "enum"
NUMBERS = ("int", "human", "float")
TYPES = (SWITCH, BOOL, *NUMBERS, "string", "json", "json_or_string", ENUM)


class Choice(NamedTuple):
    """A value of an enum."""

    value: str
    span: VersionSpan = ALWAYS


class Form(NamedTuple):
    """The values that a flag takes; the attributes are those of a row.

    Attributes:
        last: Last version known with this form; None for the newest form.
        until: First version known with the next one, if not the one after ``last``.
    """

    type: str
    values: tuple[Choice, ...] = ()
    words: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None
    nargs: int | str | None = None
    repeat: bool = False
    open: bool = False
    fold: bool = False
    last: Version | None = None
    until: Version | None = None

    @property
    def takes_value(self) -> bool:
        return self.type not in (SWITCH, BOOL)

    def choice(self, value: str) -> Choice | None:
        """Return the choice that a value names."""
        matches = (c for c in self.values if value == c.value or (self.fold and value.lower() == c.value.lower()))
        return next(matches, None)

    def normalized(self, value: str) -> str:
        """Return a value as the engine reads it: in the letter case of the choice that it names."""
        choice = self.choice(value) if self.fold else None
        return choice.value if choice else value

    def allowed(self, version: Version | None) -> tuple[str, ...]:
        """Return the values of an enum in a version."""
        return tuple(choice.value for choice in self.values if choice.span.includes(version))


class Flag(NamedTuple):
    """A flag of an engine.

    Attributes:
        aliases: Other spellings.
        negatives: Spellings that turn it off.
        dated: Those of its spellings that only some of the versions with the flag have.
        form: Its form in the newest version that has it.
        earlier: Its earlier forms, oldest first.
        instead: Its replacement: a flag, possibly with a value.
        excludes: Flags that must not be combined with it.
    """

    name: str
    form: Form
    aliases: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    dated: tuple[Choice, ...] = ()
    earlier: tuple[Form, ...] = ()
    span: VersionSpan = ALWAYS
    instead: str | None = None
    excludes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every spelling."""
        return (self.name, *self.aliases, *self.negatives)

    def names_in(self, version: Version | None) -> tuple[str, ...]:
        """Return every spelling that a version with the flag may have."""
        lacking = [dated.value for dated in self.dated if not dated.span.includes(version)]
        return tuple(name for name in self.names if name not in lacking)

    def span_of(self, name: str) -> VersionSpan:
        """Return the versions that have one of its spellings."""
        return next((dated.span for dated in self.dated if dated.value == name), self.span)

    @property
    def off(self) -> str | None:
        """The long spelling that turns it off; None without one."""
        return next((name for name in self.negatives if name.startswith("--")), None)

    @property
    def replacement(self) -> str | None:
        """The flag of its replacement, without a value."""
        return self.instead.split()[0] if self.instead else None

    def normalized(self, value: str, version: Version | None) -> str:
        """Return a value as a version reads it; an unknown version counts as the newest."""
        return self.form_in(None if version == ANY else version).normalized(value)

    def form_in(self, version: Version | None) -> Form:
        """Return the form in a version; None is the newest."""
        if version == ANY:
            return functools.reduce(_either, self.earlier, self.form) if self.earlier else self.form
        for form, following in pairwise((*self.earlier, self.form)):
            if version is None or form.last is None:
                break
            if version <= form.last:
                return form
            if form.until is not None and version < form.until:
                return _either(form, following)
        return self.form


def _either(form: Form, following: Form) -> Form:
    """Return a form that accepts the values of both, for versions between two known ones."""
    if not form.takes_value and not following.takes_value:
        return Form(BOOL)
    if form.takes_value != following.takes_value:
        return Form("string", nargs="?", repeat=True)
    return Form("string", nargs=form.nargs if form.nargs == following.nargs else "*", repeat=True)


def form_of(row: Mapping[str, Any]) -> Form:
    """Parse the columns of a row, or of an earlier form in it, that describe the value."""
    facts = {key: value for key, value in row.items() if key in Form._fields}
    facts["values"] = choices_of(row, "values")
    facts["words"] = tuple(row.get("words", ()))
    if "last" not in row:
        facts.pop("until", None)  # belongs to the flag, not to its newest form
    facts |= {key: read_version(facts[key]) for key in ("last", "until") if key in facts}
    return Form(**facts)


def choices_of(row: Mapping[str, Any], column: str) -> tuple[Choice, ...]:
    """Parse a column of values, or of spellings, each with the versions that have it."""
    return tuple(
        Choice(value) if isinstance(value, str) else Choice(value["value"], VersionSpan.from_row(value))
        for value in row.get(column, ())
    )

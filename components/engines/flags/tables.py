"""Flags of the inference engines by version; the columns of a table are explained in :mod:`.rows`.

Besides ``flags`` a table says how the engine reads a command line:

    style: how it splits one, a word of :data:`STYLES`.
    underscores: whether ``--a_b`` is ``--a-b``.
    dotted: whether ``--a.b 1`` is ``--a '{"b": 1}'``.
    positionals: how many arguments it takes without a flag.
    complete: the releases whose flags are all in the table; the engine does not start with an unknown flag.
        versions: the releases. tags: a pattern of the tags that are exactly a release, on some hardware. subcommands:
        by program, the subcommand that starts this server; empty if none is certain to.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..versions import Span, Version, without_trailing_zeros
from .rows import BOOL, NUMBERS, Flag, form_of

ARGPARSE, CLAP, LLAMA = "argparse", "clap", "llama"
STYLES = (ARGPARSE, CLAP, LLAMA)
"""How a command line is split: as Python's argparse, as Rust's clap, or as llama.cpp, which knows no ``=``."""

_TABLE = "flags.yaml"
JSON_VALUE = re.compile(r"""'\{"(\w+)": …\}'""")
_OFF = ("false", "off", "0")
_Row = dict[str, Any]


class EngineFlags:
    """The flags of an engine, each of them read when it is asked for first.

    Attributes:
        engine: The engine.
        style: How it splits a command line, one of :data:`STYLES`.
        underscores: Whether ``--a_b`` is ``--a-b``.
        dotted: Whether ``--a.b 1`` is ``--a '{"b": 1}'``.
        positionals: How many arguments it takes without a flag.
    """

    def __init__(self, engine: Engine, facts: Mapping[str, Any]) -> None:
        self.engine = engine
        self.style: str = facts["style"]
        self.underscores: bool = facts.get("underscores", False)
        self.dotted: bool = facts.get("dotted", False)
        self.positionals: int = facts.get("positionals", 0)
        self._complete: Mapping[str, Any] = facts.get("complete", {})
        self._rows: Mapping[str, _Row] = facts["flags"]
        self._owners = {spelling: name for name, row in self._rows.items() for spelling in self._spellings(name, row)}
        self._read: dict[str, Flag] = {}

    @functools.cached_property
    def flags(self) -> tuple[Flag, ...]:
        """Every flag."""
        return tuple(map(self._flag, self._rows))

    def find(self, name: str) -> Flag | None:
        """Return the flag of any spelling."""
        owner = self._owners.get(self.dashed(name))
        return None if owner is None else self._flag(owner)

    def dashed(self, name: str) -> str:
        """Return a name with dashes, where the engine takes underscores for them."""
        return name.replace("_", "-") if self.underscores and name.startswith("--") else name

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag; None, the newest, without; ``ANY`` where the tag says nothing of it."""
        return self.engine.version(tag)

    def is_complete(self, tag: str, words: Sequence[str]) -> bool:
        """Tell whether every flag of a server is in the table.

        Args:
            tag: Tag of the image. Variants of a release, such as candidates or patched builds, do not count.
            words: The program and its arguments; empty if the image's entrypoint runs.
        """
        if not re.fullmatch(self._complete.get("tags", r"\b\B"), tag, re.ASCII):
            return False
        subcommands = self._complete.get("subcommands", {})
        program = words[0].rpartition("/")[2] if words else ""
        if program in subcommands and list(words[1:2]) != [subcommands[program]]:
            return False
        return self.version(tag) in self.releases

    @functools.cached_property
    def releases(self) -> frozenset[Version]:
        """The releases whose flags are all in the table."""
        return frozenset(without_trailing_zeros(tuple(version)) for version in self._complete.get("versions", ()))

    def known_to(self, tag: str) -> tuple[Flag, ...]:
        """Return the flags that the version in a tag may know."""
        return _known(self, self.version(tag))

    def names_in(self, version: Version | None) -> tuple[str, ...]:
        """Return every spelling that a version may know."""
        return _names(self, version)

    def _flag(self, name: str) -> Flag:
        flag = self._read.get(name)
        if flag is None:
            flag = self._read[name] = self._new_flag(name, self._rows[name])
        return flag

    def _new_flag(self, name: str, row: _Row) -> Flag:
        return Flag(
            name=name,
            form=form_of(row),
            aliases=tuple(row.get("alias", ())),
            negatives=tuple(self._negatives(name, row)),
            earlier=tuple(form_of(each) for each in row.get("earlier", ())),
            span=Span.from_row(row),
            instead=row.get("instead"),
            excludes=tuple(row.get("excludes", ())),
        )

    def _spellings(self, name: str, row: _Row) -> Iterator[str]:
        yield name
        yield from row.get("alias", ())
        yield from self._negatives(name, row)

    def _negatives(self, name: str, row: _Row) -> Iterator[str]:
        """Return what turns a flag off; Python's BooleanOptionalAction negates long spellings only."""
        forms = (row, *row.get("earlier", ()))
        if self.style == ARGPARSE and any(form["type"] == BOOL for form in forms):
            spellings = (name, *row.get("alias", ()))
            return (f"--no-{spelling[2:]}" for spelling in spellings if spelling.startswith("--"))
        return iter(row.get("negated", ()))


def flags_of(engine: str) -> EngineFlags | None:
    """Return the flags of an engine; None for one without a table."""
    known = engines().get(engine)
    return _read_flags(known) if known else None


@functools.cache
def _read_flags(engine: Engine) -> EngineFlags | None:
    file = engine.folder.joinpath(_TABLE)
    return EngineFlags(engine, read_table(file)) if file.is_file() else None


@functools.lru_cache(maxsize=256)
def _known(table: EngineFlags, version: Version | None) -> tuple[Flag, ...]:
    return tuple(flag for flag in table.flags if flag.span.includes(version))


@functools.lru_cache(maxsize=256)
def _names(table: EngineFlags, version: Version | None) -> tuple[str, ...]:
    return tuple(name for flag in _known(table, version) for name in flag.names)


def successor(engine: str, name: str, tag: str) -> str:
    """Return the spelling of a flag that is right for the version in a tag.

    It is the flag itself where the version knows it, else what took its place or what it took the place of; the flag
    itself again where neither is known to the version. A version that is not known counts as the newest.
    """
    table = flags_of(engine)
    return _successor(table, name, table.version(tag) or None) if table else name


@functools.lru_cache(maxsize=4096)
def _successor(table: EngineFlags, name: str, version: Version | None) -> str:
    flag = table.find(name)
    if flag is None or (flag.span.includes(version) and not flag.span.is_deprecated(version)):
        return name
    heirs = [flag.replacement] if flag.replacement else []
    ancestors = [other.name for other in table.flags if other.instead in flag.names]
    for candidate in (*heirs, *ancestors):
        other = table.find(candidate)
        if other and other.span.includes(version):
            return candidate
    return name


def arguments(engine: str, name: str, value: str, tag: str) -> tuple[str, ...]:
    """Return how a flag and its value are written for the version in a tag.

    A switch is written alone, or not at all where the value turns it off; a value that moved into a JSON option is
    put there. ``arguments("llamacpp", "--flash-attn", "on", "server-b6000")`` is ``("--flash-attn",)``.
    """
    table = flags_of(engine)
    right = successor(engine, name, tag)
    flag, old = (table.find(right), table.find(name)) if table else (None, None)
    if table is None or flag is None or old is None:
        return (right, value)
    if flag is not old and old.replacement == right and old.instead != right:
        template = JSON_VALUE.search(old.instead or "")
        if template:
            return (right, json.dumps({template[1]: json_value(old, value)}))
        return tuple((old.instead or "").split())
    if flag.form_in(table.version(tag) or None).takes_value:
        return (right, value)
    return () if value.lower() in _OFF else (right,)


def json_value(flag: Flag, text: str) -> int | float | str:
    """Return the value of a flag as it stands in JSON."""
    if flag.form.type not in NUMBERS:
        return text
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return text

"""Flags of the inference engines by version; the columns of a table are explained in :mod:`.rows`.

Besides ``flags`` a table says how the engine reads a command line:

    style: how it splits one, a word of :data:`STYLES`.
    underscores: whether ``--a_b`` is ``--a-b``.
    dotted: whether ``--a.b 1`` is ``--a '{"b": 1}'``.
    positionals: how many arguments it takes without a flag.
    complete: the releases whose flags are all in the table; the engine does not start with an unknown flag.
        versions: the releases. tags: a pattern of the tags that are exactly a release, on some hardware. subcommands:
        by program, the subcommand that starts this server; empty if none is certain to.
    extractor: for ``tools/extract_flags.py``, where the table differs from what the sources of a release show.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...contract.tables import parse_table
from ..registry import Engine, engines
from ..versions import Version, VersionSpan, without_trailing_zeros
from .rows import BOOL, NUMBERS, Flag, form_of

ARGPARSE, CLAP, LLAMA = "argparse", "clap", "llama"
STYLES = (ARGPARSE, CLAP, LLAMA)
"""How a command line is split: as Python's argparse, as Rust's clap, or as llama.cpp, which knows no ``=``."""

_TABLE = "flags.yaml"
_ROW_START = re.compile(r"^  (?=-)", re.MULTILINE)
JSON_VALUE = re.compile(r"""'\{"(\w+)": …\}'""")
_OFF = ("false", "off", "0")
_Row = dict[str, Any]


class _Rows(Mapping[str, _Row]):
    """The rows of a table by flag, each parsed on first use.

    Tables have hundreds of rows, a command line uses a few, and YAML is slow to parse: all rows of vLLM take 5 % of
    the time of validating one manifest.

    Args:
        texts: Each row as a YAML map of its own.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {text.partition(":")[0]: text for text in texts}
        self._parsed: dict[str, _Row] = {}

    def __getitem__(self, name: str) -> _Row:
        row = self._parsed.get(name)
        if row is None:
            row = self._parsed[name] = parse_table(self._texts[name])[name]
        return row

    def __contains__(self, name: object) -> bool:
        return name in self._texts  # Mapping would parse the row

    def __iter__(self) -> Iterator[str]:
        # An iteration uses every row, and parsing all of them at once is faster than one by one.
        if len(self._parsed) < len(self._texts):
            self._parsed = parse_table("".join(self._texts.values()))
        return iter(self._parsed)

    def __len__(self) -> int:
        return len(self._texts)


class EngineFlags:
    """The flags of an engine.

    Attributes:
        engine: The engine.
        style: How it splits a command line, one of :data:`STYLES`.
        underscores: Whether ``--a_b`` is ``--a-b``.
        dotted: Whether ``--a.b 1`` is ``--a '{"b": 1}'``.
        positionals: Number of positional arguments.
    """

    def __init__(self, engine: Engine, facts: Mapping[str, Any]) -> None:
        self.engine = engine
        self.style: str = facts["style"]
        self.underscores: bool = facts.get("underscores", False)
        self.dotted: bool = facts.get("dotted", False)
        self.positionals: int = facts.get("positionals", 0)
        self._complete: Mapping[str, Any] = facts.get("complete", {})
        self._rows: Mapping[str, _Row] = facts["flags"]
        self._read: dict[str, Flag] = {}

    @functools.cached_property
    def flags(self) -> tuple[Flag, ...]:
        return tuple(map(self._flag, self._rows))

    def find(self, name: str) -> Flag | None:
        """Return the flag with this name, alias, or negative form."""
        name = self.dashed(name)
        owner = name if name in self._rows else self._owners.get(name)
        return None if owner is None else self._flag(owner)

    @functools.cached_property
    def _owners(self) -> dict[str, str]:
        """The flags by their aliases and negative forms."""
        return {
            spelling: name
            for name, row in self._rows.items()
            for spelling in (*row.get("alias", ()), *self._negatives(name, row))
        }

    def dashed(self, name: str) -> str:
        """Replace underscores in a name by dashes if the engine treats them alike."""
        return name.replace("_", "-") if self.underscores and name.startswith("--") else name

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag; None for the newest, ``ANY`` if the version is unknown."""
        return self.engine.version(tag)

    def is_complete(self, tag: str, words: Sequence[str]) -> bool:
        """Return whether the table contains every flag of a server.

        Args:
            tag: Tag of the image. Variants of a release, such as release candidates, are not complete.
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
        """Return the flags that the version in a tag may support."""
        return _known(self, self.version(tag))

    def names_in(self, version: Version | None) -> tuple[str, ...]:
        """Return every spelling that a version may support."""
        return _names(self, version)

    def _flag(self, name: str) -> Flag:
        flag = self._read.get(name)
        if flag is None:
            row = self._rows[name]
            flag = self._read[name] = Flag(
                name=name,
                form=form_of(row),
                aliases=tuple(row.get("alias", ())),
                negatives=tuple(self._negatives(name, row)),
                earlier=tuple(form_of(form) for form in row.get("earlier", ())),
                span=VersionSpan.from_row(row),
                instead=row.get("instead"),
                excludes=tuple(row.get("excludes", ())),
            )
        return flag

    def _negatives(self, name: str, row: _Row) -> Iterator[str]:
        """Return the negative forms; Python's BooleanOptionalAction adds them only for long spellings."""
        forms = (row, *row.get("earlier", ()))
        if self.style == ARGPARSE and any(form["type"] == BOOL for form in forms):
            spellings = (name, *row.get("alias", ()))
            return (f"--no-{spelling[2:]}" for spelling in spellings if spelling.startswith("--"))
        return iter(row.get("negated", ()))


def flags_of(engine: str) -> EngineFlags | None:
    """Return the flags of an engine; None if it has no table."""
    known = engines().get(engine)
    return _read_flags(known) if known else None


@functools.cache
def _read_flags(engine: Engine) -> EngineFlags | None:
    file = engine.folder.joinpath(_TABLE)
    return read_flags(engine, file.read_text(encoding="utf-8")) if file.is_file() else None


def read_flags(engine: Engine, text: str) -> EngineFlags:
    """Read the table of an engine; its last key is ``flags``, and a line of a row is a flag or indented deeper."""
    head, *rows = _ROW_START.split(text)
    return EngineFlags(engine, {**parse_table(head), "flags": _Rows(rows)})


@functools.lru_cache(maxsize=256)
def _known(table: EngineFlags, version: Version | None) -> tuple[Flag, ...]:
    return tuple(flag for flag in table.flags if flag.span.includes(version))


@functools.lru_cache(maxsize=256)
def _names(table: EngineFlags, version: Version | None) -> tuple[str, ...]:
    return tuple(name for flag in _known(table, version) for name in flag.names)


def successor(engine: str, name: str, tag: str) -> str:
    """Return the name of a flag in the version in a tag.

    This is the flag itself if the version supports it, else its replacement or predecessor, if the version supports
    that, else the flag itself. An unknown version counts as the newest.
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
    """Return the arguments for a flag and its value in the version in a tag.

    A switch is written without a value, or omitted if the value turns it off. A flag that moved into a JSON option is
    written as that option. ``arguments("llamacpp", "--flash-attn", "on", "server-b6000")`` is ``("--flash-attn",)``.
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
    """Convert the value of a flag to JSON."""
    if flag.form.type not in NUMBERS:
        return text
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return text

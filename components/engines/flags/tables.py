"""Flags of the inference engines by version; the columns of a row are explained in :mod:`.rows`.

An engine's ``parsers.json``, where it has one, is written by ``tools/extract_flags.py`` and contains what the parser
of every release accepts: ``releases``, each with the digest of its parser as it was read from the package, and
``flags``. Its ``flags.yaml`` contains what is known beyond that, or all flags of an engine without ``parsers.json``:
its columns of a row replace those in ``parsers.json``, and its values are added to them. A type ``enum`` there makes
values that the sources only name the ones that are accepted; ``open`` and ``fold`` say how. All three hold for
earlier forms of type ``string`` too.

Where an engine is versioned by builds, ``parsers.json`` contains ``builds``, the first and the last one of each range
whose flags were read, and ``spellings``, each with the builds that accept it. What a flag takes is in ``flags.yaml``.

Besides ``flags``, ``flags.yaml`` says how the engine reads a command line:

    style: how it splits one, a word of :data:`STYLES`.
    underscores: whether ``--a_b`` is ``--a-b``.
    dotted: whether ``--a.b 1`` is ``--a '{"b": 1}'``.
    positionals: how many arguments it takes without a flag.
    complete: the releases whose flags are all in the table; the engine does not start with an unknown flag.
        versions: the releases, unless they are those of ``parsers.json``. tags: a pattern of the tags that are
        exactly a release, on some hardware. subcommands: by program, the subcommand that starts this server; empty
        if none is certain to.
"""

import bisect
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...contract.collection import paused_collection
from ...contract.tables import parse_table
from ..registry import Engine, engines
from ..versions import ALWAYS, ANY, Version, VersionSpan, covering, read_version
from .rows import BOOL, ENUM, NUMBERS, Choice, Flag, choices_of, form_of

ARGPARSE, CLAP, LLAMA = "argparse", "clap", "llama"
STYLES = (ARGPARSE, CLAP, LLAMA)
"""How a command line is split: as Python's argparse, as Rust's clap, or as llama.cpp, which knows no ``=``."""

_TABLE = "flags.yaml"
_PARSERS = "parsers.json"
_ROW_START = re.compile(r"^  (?=-)", re.MULTILINE)
JSON_VALUE = re.compile(r"""'\{"(\w+)": …\}'""")
_OFF = ("false", "off", "0")
_Row = dict[str, Any]


class _Rows(Mapping[str, _Row]):
    """The rows of an engine by flag: those of its parsers, below those of its ``flags.yaml``.

    The latter are parsed on first use. There are hundreds, a command line uses a few, and YAML is slow to parse: all
    rows of llama.cpp take 5 % of the time of validating one manifest. JSON is parsed a hundred times faster.

    Args:
        texts: Each row of ``flags.yaml`` as a YAML map of its own.
        parsers: The rows of ``parsers.json``.
    """

    def __init__(self, texts: Iterable[str], parsers: Mapping[str, _Row]) -> None:
        self._texts = {text.partition(":")[0]: text for text in texts}
        self._parsers = parsers
        self._names = {**dict.fromkeys(parsers), **dict.fromkeys(self._texts)}
        self._merged: dict[str, _Row] = {}

    def __getitem__(self, name: str) -> _Row:
        row = self._merged.get(name)
        if row is None:
            known = parse_table(self._texts[name])[name] if name in self._texts else {}
            row = self._merged[name] = _merged(self._parsers.get(name, {}), known)
        return row

    def __contains__(self, name: object) -> bool:
        return name in self._names  # Mapping would parse the row

    def __iter__(self) -> Iterator[str]:
        # An iteration uses every row, and parsing all of them at once is faster than one by one.
        if len(self._merged) < len(self._names):
            known = parse_table("".join(self._texts.values())) if self._texts else {}
            self._merged = {name: _merged(self._parsers.get(name, {}), known.get(name, {})) for name in self._names}
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def spelled(self) -> Iterator[tuple[str, _Row]]:
        """Yield rows with every spelling, which ``flags.yaml`` states only of flags that no parser has."""
        yield from self._parsers.items()
        others = [text for name, text in self._texts.items() if name not in self._parsers]
        yield from (parse_table("".join(others)) if others else {}).items()


def _merged(parsed: _Row, known: _Row) -> _Row:
    """Return a row with what is known beyond the parser."""
    row = {**parsed, **known}
    if "values" in known:
        row["values"] = [*parsed.get("values", ()), *known["values"]]
    refused = row.pop("refused", ())
    # What is known of the newest form holds for the earlier ones that the parser leaves to the engine as well.
    checked: _Row = {key: known[key] for key in ("open", "fold") if key in known}
    if known.get("type") == ENUM:
        checked["type"] = ENUM
    if checked and "earlier" in row:
        row["earlier"] = [
            {**form, **checked} if form["type"] == "string" and "values" in form else form for form in row["earlier"]
        ]
    if refused:
        row["values"] = [value for value in row["values"] if value not in refused]
    return row


class EngineFlags:
    """The flags of an engine.

    Attributes:
        engine: The engine.
        style: How it splits a command line, one of :data:`STYLES`.
        underscores: Whether ``--a_b`` is ``--a-b``.
        dotted: Whether ``--a.b 1`` is ``--a '{"b": 1}'``.
        positionals: Number of positional arguments.
    """

    def __init__(self, engine: Engine, facts: Mapping[str, Any], rows: _Rows, parsers: Mapping[str, Any]) -> None:
        self.engine = engine
        self.style: str = facts["style"]
        self.underscores: bool = facts.get("underscores", False)
        self.dotted: bool = facts.get("dotted", False)
        self.positionals: int = facts.get("positionals", 0)
        self._complete: Mapping[str, Any] = facts.get("complete", {})
        self._parsers = parsers
        self._spellings: Mapping[str, _Row] | None = parsers.get("spellings")
        self._rows = rows
        self._read: dict[str, Flag] = {}

    @functools.cached_property
    def flags(self) -> tuple[Flag, ...]:
        return tuple(map(self._flag, self._rows))

    def find(self, name: str, version: Version | None = ANY) -> Flag | None:
        """Return the flag with this name, alias, or negative form: of several, the one that a version may have."""
        name = self.dashed(name)
        flag = self._flag(name) if name in self._rows else None
        if flag is not None and flag.span.includes(version):
            return flag
        # A spelling may belong to different flags in different versions, such as the negative form of an opposite.
        owner = self._owners.get(name)
        other = self._flag(owner) if owner is not None else None
        if flag is None or (other is not None and other.span_of(name).includes(version)):
            return other
        return flag

    @functools.cached_property
    def _owners(self) -> dict[str, str]:
        """The flags by their aliases and negative forms."""
        return {
            choice.value: name
            for name, row in self._rows.spelled()
            for choice in (*choices_of(row, "alias"), *self._negatives(name, row))
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
        return self.knows(self.version(tag))

    def is_subcommand(self, word: str, words: Sequence[str]) -> bool:
        """Return whether the first argument is the subcommand ``serve``, also where the image may start the program.

        Args:
            word: The argument.
            words: The program and its arguments; empty if the image's entrypoint runs.
        """
        program = words[0].rpartition("/")[2] if words else ""
        return word == "serve" and (bool(self.positionals) or program in self._complete.get("subcommands", ()))

    @functools.cached_property
    def releases(self) -> frozenset[Version]:
        """The releases whose flags are all in the table; of builds, the first and the last one of each range."""
        return frozenset(release for bounds in self._ranges for release in bounds)

    @functools.cached_property
    def _ranges(self) -> tuple[tuple[Version, Version], ...]:
        """The first and the last one of each range of releases whose flags are all in the table."""
        single = map(read_version, (*self._parsers.get("releases", ()), *self._complete.get("versions", ())))
        ranges = [((first,), (last,)) for first, last in self._parsers.get("builds", ())]
        return tuple(sorted([*((release, release) for release in single), *ranges]))

    def knows(self, version: Version | None) -> bool:
        """Return whether all flags of a version are in the table; None is the newest one, which may have others."""
        if not version:
            return False
        before, _ = self.nearest(version)
        return before is not None and version <= before

    def nearest(self, version: Version) -> tuple[Version | None, Version | None]:
        """Return the releases in the table on both sides of a version that is not there."""
        ranges = self._ranges
        place = bisect.bisect_right(ranges, version, key=lambda bounds: bounds[0])
        return ranges[place - 1][1] if place else None, ranges[place][0] if place < len(ranges) else None

    def known_to(self, tag: str) -> tuple[Flag, ...]:
        """Return the flags that the version in a tag may support."""
        return self.known_in(self.version(tag))

    def known_in(self, version: Version | None) -> tuple[Flag, ...]:
        """Return the flags that a version may support."""
        return _known(self, version)

    def names_in(self, version: Version | None) -> tuple[str, ...]:
        """Return every spelling that a version may support."""
        return _names(self, version)

    def _flag(self, name: str) -> Flag:
        flag = self._read.get(name)
        if flag is None:
            row = self._rows[name]
            aliases, negatives = choices_of(row, "alias"), tuple(self._negatives(name, row))
            span, spellings = VersionSpan.from_row(row), (*aliases, *negatives)
            if self._spellings is not None:
                spellings = tuple(
                    Choice(value, VersionSpan.from_row(self._spellings.get(value, {})))
                    for value in (name, *(spelling.value for spelling in spellings))
                )
                covered = covering(spelling.span for spelling in spellings)
                span = covered._replace(deprecated=span.deprecated) if span.deprecated else covered
            flag = self._read[name] = Flag(
                name=name,
                form=form_of(row),
                aliases=tuple(alias.value for alias in aliases),
                negatives=tuple(negative.value for negative in negatives),
                dated=tuple(spelling for spelling in spellings if spelling.span not in (ALWAYS, span)),
                earlier=tuple(form_of(form) for form in row.get("earlier", ())),
                span=span,
                instead=row.get("instead"),
                excludes=tuple(row.get("excludes", ())),
            )
        return flag

    def _negatives(self, name: str, row: _Row) -> Iterator[Choice]:
        """Yield the negative forms; Python's BooleanOptionalAction adds them only for long spellings."""
        forms = (row, *row.get("earlier", ()))
        if self.style == ARGPARSE and any(form["type"] == BOOL for form in forms):
            for spelling in (Choice(name), *choices_of(row, "alias")):
                if spelling.value.startswith("--"):
                    yield Choice(f"--no-{spelling.value[2:]}", spelling.span)
        yield from choices_of(row, "negated")


def flags_of(engine: str) -> EngineFlags | None:
    """Return the flags of an engine; None if it has no table."""
    known = engines().get(engine)
    return _read_flags(known) if known else None


@functools.cache
def _read_flags(engine: Engine) -> EngineFlags | None:
    file, parsers = engine.folder.joinpath(_TABLE), engine.folder.joinpath(_PARSERS)
    if not file.is_file():
        return None
    parsed = parsers.read_text(encoding="utf-8") if parsers.is_file() else "{}"
    return read_flags(engine, file.read_text(encoding="utf-8"), parsed)


def read_flags(engine: Engine, text: str, parsers: str = "{}") -> EngineFlags:
    """Read the tables of an engine.

    Args:
        engine: The engine.
        text: Its ``flags.yaml``; the last key is ``flags``, and a line of a row is a flag or indented deeper.
        parsers: Its ``parsers.json``.
    """
    head, *rows = _ROW_START.split(text)
    with paused_collection():
        parsed = json.loads(parsers)
    return EngineFlags(engine, parse_table(head), _Rows(rows, parsed.get("flags", {})), parsed)


@functools.lru_cache(maxsize=256)
def _known(table: EngineFlags, version: Version | None) -> tuple[Flag, ...]:
    return tuple(flag for flag in table.flags if flag.span.includes(version))


@functools.lru_cache(maxsize=256)
def _names(table: EngineFlags, version: Version | None) -> tuple[str, ...]:
    return tuple(name for flag in _known(table, version) for name in flag.names_in(version))


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

"""Flags of the inference engines by version; a table's columns are told in :mod:`flag_rows`."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..api.tables import table
from .registry import version_of
from .rows import BOOL, NUMBERS, Flag, Version, form_of, span_of, trimmed

ARGPARSE, CLAP, LLAMA = "argparse", "clap", "llama"
STYLES = (ARGPARSE, CLAP, LLAMA)
"""How a command line is split: as Python's argparse, as Rust's clap, or as llama.cpp, which knows no ``=``."""
ENGINES = ("llamacpp", "sglang", "tgi", "vllm")

_BUILD = re.compile(r"(?:^|-)b(\d+)(?=-|$)")
_TEMPLATE = re.compile(r"""'\{"(\w+)": …\}'""")
_OFF = ("false", "off", "0")


@dataclass(frozen=True, slots=True)
class EngineFlags:
    """The flags of an engine.

    Attributes:
        style: How it splits a command line, one of :data:`STYLES`.
        underscores: Whether ``--a_b`` is ``--a-b``.
        dotted: Whether ``--a.b 1`` is ``--a '{"b": 1}'``.
        positionals: How many arguments it takes without a flag.
        programs: Names of the programs and Python modules that take the flags.
        other_tags: How tags begin whose image starts something else.
        frozen: The last version at an address of the image where nothing is published any more.
    """

    engine: str
    style: str
    flags: tuple[Flag, ...]
    underscores: bool = False
    dotted: bool = False
    positionals: int = 0
    programs: tuple[str, ...] = ()
    other_tags: tuple[str, ...] = ()
    frozen: Mapping[str, str] = field(default_factory=dict)
    _by_name: Mapping[str, Flag] = field(default_factory=dict, repr=False, compare=False)

    def find(self, name: str) -> Flag | None:
        """Return the flag of any spelling."""
        return self._by_name.get(self.dashed(name))

    def dashed(self, name: str) -> str:
        """Return a name with dashes, where the engine takes underscores for them."""
        return name.replace("_", "-") if self.underscores and name.startswith("--") else name

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag, for llama.cpp the build; None, the newest, without."""
        if self.style != LLAMA:
            return trimmed(version_of(tag))
        build = _BUILD.search(tag)
        return (int(build[1]),) if build else None

    def known_to(self, tag: str) -> tuple[Flag, ...]:
        """Return the flags that the version in a tag may know."""
        version = self.version(tag)
        return tuple(flag for flag in self.flags if flag.span.is_in(version))


@functools.cache
def flags_of(engine: str) -> EngineFlags | None:
    """Return the flags of an engine; None for one without a table."""
    if engine not in ENGINES:
        return None
    facts = table(__package__, "tables", f"{engine}.yaml")
    rows = tuple(_flag(name, row, facts["style"]) for name, row in facts.pop("flags").items())
    by_name = MappingProxyType({name: flag for flag in rows for name in flag.names})
    facts |= {key: tuple(facts.get(key, ())) for key in ("programs", "other_tags")}
    return EngineFlags(engine=engine, flags=rows, _by_name=by_name, **facts)


def dated(engine: str, image: str, tag: str) -> str:
    """Return a tag that names the version, for one that names none at an address where it no longer moves.

    ``dated("llamacpp", "ghcr.io/ggerganov/llama.cpp", "server")`` is ``"server-b4719"``: a tag of an address that is
    still published to stays as it is, and counts as the newest.
    """
    table = flags_of(engine)
    if table is None or table.version(tag) is not None:
        return tag
    last = next((last for known, last in table.frozen.items() if f"/{image}".endswith(f"/{known}")), None)
    return tag if last is None else "-".join(filter(None, (tag, last)))


def successor(engine: str, name: str, tag: str) -> str:
    """Return the spelling of a flag that is right for the version in a tag.

    It is the flag itself where the version knows it, else what took its place or what it took the place of; the flag
    itself again where neither is known to the version.
    """
    table = flags_of(engine)
    flag = table.find(name) if table else None
    if table is None or flag is None:
        return name
    version = table.version(tag)
    if flag.span.is_in(version) and not flag.span.is_deprecated(version):
        return name
    heirs = [flag.heir] if flag.heir else []
    ancestors = [other.name for other in table.flags if other.instead in flag.names]
    for candidate in (*heirs, *ancestors):
        other = table.find(candidate)
        if other and other.span.is_in(version):
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
    if flag is not old and old.heir == right and old.instead != right:
        template = _TEMPLATE.search(old.instead or "")
        if template:
            return (right, json.dumps({template[1]: _number(value) if old.form.type in NUMBERS else value}))
        return tuple((old.instead or "").split())
    if flag.at(table.version(tag)).takes_value:
        return (right, value)
    return () if value.lower() in _OFF else (right,)


def _number(value: str) -> int | float | str:
    try:
        return int(value) if value.lstrip("+-").isdecimal() else float(value)
    except ValueError:
        return value


def _flag(name: str, row: dict[str, Any], style: str) -> Flag:
    form = form_of(row)
    aliases = tuple(row.get("alias", ()))
    negatives = tuple(row.get("negated", ()))
    if style == ARGPARSE and any(each.type == BOOL for each in (form, *map(form_of, row.get("earlier", ())))):
        negatives = tuple(_negated(name, aliases))
    return Flag(
        name=name,
        form=form,
        aliases=aliases,
        negatives=negatives,
        earlier=tuple(form_of(each) for each in row.get("earlier", ())),
        span=span_of(row),
        instead=row.get("instead"),
        excludes=tuple(row.get("excludes", ())),
    )


def _negated(name: str, aliases: tuple[str, ...]) -> Iterator[str]:
    """Python's BooleanOptionalAction negates long spellings only."""
    return (f"--no-{spelling[2:]}" for spelling in (name, *aliases) if spelling.startswith("--"))

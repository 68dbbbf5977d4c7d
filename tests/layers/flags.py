"""Flags of engines, which belong to the engines' room."""

import functools
import re
from collections.abc import Iterator

from components.engines.flags.tables import flags_of
from components.engines.registry import engines
from tests.layers.modules import Module

ROOM = "components/engines"
OTHER_PROGRAMS = {
    "livefleet": ("--model", "--timeout", "--version"),
    "tools": ("--timeout", "--version"),
    "workbench": ("--config", "--help", "--metrics", "--model", "--offline", "--timeout", "--version"),
}
"""Options of this project's own commands, and of programs that they run, which an engine has as well."""
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_LETTER = re.compile(r"-[A-Za-z]")
"""A single letter is an option of many programs: ``-c`` of a shell, ``-m`` of Python."""


@functools.cache
def known_flags() -> frozenset[str]:
    """Return every spelling of every flag in the engines' tables."""
    tables = [table for name in engines() if (table := flags_of(name))]
    flags = [flag for table in tables for flag in table.flags]
    return frozenset(name for flag in flags for name in (*flag.names, *flag.negatives) if not _LETTER.fullmatch(name))


def flags_named(module: Module) -> Iterator[str]:
    """Yield flags of engines that a module outside their room names."""
    if module.is_in(ROOM):
        return
    others = {flag for folder, flags in OTHER_PROGRAMS.items() if module.is_in(folder) for flag in flags}
    for word in module.words:
        for flag in _FLAG.findall(word.text) if word.quoted else ():
            if {flag, flag.replace("_", "-")} & known_flags() and flag not in others:
                yield f"{module.path}:{word.line}: {flag} is a flag of an engine"

"""Composes command lines of recommended arguments, settings that the platform manages, and the user's arguments.

Thousands of command lines differ only in model names. They are parsed, rewritten, and checked once with placeholders
such as ``{{ .ModelPath }}``, which are filled in afterwards if the values cannot change the result.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .command_line import CommandLine
from .lint import Finding, lint
from .registry import engines
from .settings import Setting
from .spelling import json_options_merged, respelled, respelled_with_origins, without_repeated

PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_OPEN = "{{"
_PLAIN = re.compile(r"[\w./:@][\w./:@+=,~%-]*", re.ASCII)
"""A value that needs no escaping in JSON and is not a flag."""
ManagedSettings = tuple[tuple[Setting, str], ...]
"""Settings and their values."""


class UserLine(NamedTuple):
    """The user's arguments.

    Attributes:
        line: The rewritten arguments.
        origins: Index of the user's argument from which each was generated.
    """

    line: CommandLine
    origins: tuple[int, ...]


class ComposedLine(NamedTuple):
    """A command line and its findings.

    Attributes:
        line: The whole command line.
        recommended: The rewritten recommended arguments, before managed settings replace some of them.
        of_recommended: Findings about the recommended arguments.
        of_user: Findings about the user's arguments, with the positions in the user's list.
    """

    line: CommandLine
    recommended: CommandLine
    of_recommended: tuple[Finding, ...]
    of_user: tuple[Finding, ...]


@functools.lru_cache(maxsize=4096)
def user_line(recommended: CommandLine, args: tuple[str, ...], *, fit: bool) -> UserLine:
    """Return the user's arguments, which follow recommended ones; ``fit`` rewrites them for the engine's version."""
    own = recommended.continued(args)
    words = respelled_with_origins(own) if fit else [(arg, place) for place, arg in enumerate(args)]
    written = tuple(word for word, _ in words)
    line = own if written == args else recommended.continued(written)
    return UserLine(line, tuple(place for _, place in words))


def compose_line(
    recommended: CommandLine, values: Mapping[str, str], user: UserLine, decided: ManagedSettings = (), *, fit: bool
) -> ComposedLine:
    """Return a whole command line.

    Args:
        recommended: The first arguments.
        values: Values of the placeholders in them; unknown placeholders are kept.
        user: The last arguments, which take precedence.
        decided: Managed settings, which replace recommended ones.
        fit: Whether recommended arguments may be rewritten for the engine's version.
    """

    def filled(arg: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1]) or match[0], arg) if _OPEN in arg else arg

    if all(map(_PLAIN.fullmatch, values.values())) and _has_only_text_placeholders(recommended):
        composed = _composed(recommended, user, decided, fit=fit)
        if not composed.of_recommended:
            own = len(user.line.args)
            return composed._replace(line=composed.line.filled(filled, len(composed.line.args) - own))
    first = CommandLine(
        recommended.engine, recommended.tag, tuple(map(filled, recommended.args)), recommended.command
    )
    return _composed(first, user, decided, fit=fit)


@functools.lru_cache(maxsize=4096)
def _has_only_text_placeholders(line: CommandLine) -> bool:
    """Return whether all placeholders are values of flags that accept any string, so that findings stay the same."""
    reading = line.reading
    if reading is None:
        return False
    open_places = {place for place, arg in enumerate(line.args) if _OPEN in arg}
    texts = {
        value.position
        for use in reading.uses
        if use.flag and not use.dotted and use.flag.form_in(reading.version).type == "string"
        for value in use.values
    }
    return open_places <= texts


@functools.lru_cache(maxsize=4096)
def _composed(recommended: CommandLine, user: UserLine, decided: ManagedSettings, *, fit: bool) -> ComposedLine:
    first = without_repeated(json_options_merged(respelled(recommended)), user.line) if fit else recommended
    line = _with_settings(first, decided).followed_by(user.line)
    skip = len(line.args) - len(user.line.args)
    of_user = tuple(finding.relocated(skip, user.origins) for finding in lint(line, skip))
    return ComposedLine(line, first, lint(first), of_user)


def _with_settings(line: CommandLine, decided: Sequence[tuple[Setting, str]]) -> CommandLine:
    engine = engines().get(line.engine)
    for setting, value in decided:
        flag = engine.flag(setting) if engine else None
        if flag:
            line = line.without(setting).followed_by(line.continued((flag, value)))
    return line

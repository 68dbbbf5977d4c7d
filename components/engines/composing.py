"""Puts a command line together: recommended arguments, settings that a platform decides, and the user's own.

Thousands of models are started alike but for their names. So what they share is read, respelled and checked once,
with placeholders such as ``{{ .ModelPath }}`` in it, and these are filled in afterwards where that cannot change the
outcome.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .command_line import CommandLine
from .lint import Finding, lint
from .registry import engines
from .settings import Setting
from .spelling import json_options_merged, respelled, respelled_with_origins, without_repeated

PLACEHOLDER = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")
_OPEN = "{{"
_PLAIN = re.compile(r"[\w./:@][\w./:@+=,~%-]*", re.ASCII)
"""A value that is the same in JSON, and no flag."""
ManagedSettings = tuple[tuple[Setting, str], ...]
"""Settings and their values."""


@dataclass(frozen=True, slots=True)
class UserLine:
    """The user's own arguments.

    Attributes:
        line: As they are written in the end.
        origins: Which argument of the user each of them was made of.
    """

    line: CommandLine
    origins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ComposedLine:
    """A command line and what is wrong with it.

    Attributes:
        line: All of it.
        recommended: The recommended arguments as they are written, before what was decided took the place of some.
        of_recommended: What is wrong with those.
        of_user: What is wrong with the user's own, at the places where the user wrote them.
    """

    line: CommandLine
    recommended: CommandLine
    of_recommended: tuple[Finding, ...]
    of_user: tuple[Finding, ...]


@functools.lru_cache(maxsize=4096)
def user_line(recommended: CommandLine, args: tuple[str, ...], *, fit: bool) -> UserLine:
    """Return the arguments that follow recommended ones, in the spelling of the engine's version if that may be."""
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
        recommended: What comes first.
        values: What stands for its placeholders; others are left as they are.
        user: What comes last, and wins.
        decided: Settings that take the place of recommended ones.
        fit: Whether recommended arguments may be respelled as the engine's version knows them.
    """

    def filled(arg: str) -> str:
        return PLACEHOLDER.sub(lambda match: values.get(match[1]) or match[0], arg) if _OPEN in arg else arg

    if all(map(_PLAIN.fullmatch, values.values())) and _asks_for_values(recommended):
        composed = _composed(recommended, user, decided, fit=fit)
        if not composed.of_recommended:
            own = len(user.line.args)
            return replace(composed, line=composed.line.filled(filled, len(composed.line.args) - own))
    first = CommandLine(
        recommended.engine, recommended.tag, tuple(map(filled, recommended.args)), recommended.command
    )
    return _composed(first, user, decided, fit=fit)


@functools.lru_cache(maxsize=4096)
def _asks_for_values(line: CommandLine) -> bool:
    """Tell whether placeholders stand in values of flags that take any text, so that nothing depends on the text."""
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

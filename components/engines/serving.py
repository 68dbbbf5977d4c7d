"""Recognizes containers that serve a model, whatever their image is called."""

import functools
import itertools
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..contract.tables import load_table
from .command_line import CommandLine, command_line_of
from .container_variables import with_values
from .images import parse_image
from .registry import Engine, engine_of_program, engine_started_by, engines
from .scripts.commands import commands_of
from .signs import server_in

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def serving_line(
    container: Mapping[str, Any],
    engine: str = "",
    labels: Mapping[str, str] = MappingProxyType({}),
    *,
    devices: bool = False,
) -> CommandLine | None:
    """Return the command line of a container that serves a model with a known engine; None for any other container.

    The engine is that of the image, else of the program that runs, also in the script of a shell, else that of other
    signs (:mod:`.signs`). Arguments of a script stay those of the shell. The container's own variables are replaced
    by their values.

    Args:
        container: The container.
        engine: Name of its engine, if something else tells it.
        labels: The labels of its pod.
        devices: Whether it requests accelerators.
    """
    container = with_values(container)
    line = command_line_of(container, engine)
    if not line.engine:
        image = parse_image(str(container.get("image") or ""))
        started = _engine_in_script(line) if line.command else engine_started_by(image.repository)
        if started is None:
            signed = server_in(container, labels, devices=devices)
            started = engines().get(signed.engine) if signed else None
        if started is None:
            return None
        line = CommandLine(started.name, started.version_tag(image.repository, image.tag), line.args, line.command)
    words = [word.rpartition("/")[2] if place == 0 else word for place, word in enumerate(line.words)]
    if line.command and words[0] in _table()["idle"]:
        return None
    known = engines()[line.engine]
    # The command of an engine is the first word after its program, or the first argument of the entrypoint.
    command = words[1:2] if words and words[0] in known.programs else words[:1]
    return None if command and command[0] in _table()["commands"].get(line.engine, ()) else line


def demonstration_of(line: CommandLine) -> str:
    """Return the program that runs, if it has neither the OpenAI API nor metrics; empty for any other server."""
    known = engines().get(line.engine)
    if known is None or not known.demonstrations:
        return ""
    modules = (
        after
        for words in (line.words, *commands_of(line))
        for word, after in itertools.pairwise(words)
        if word == "-m"
    )
    return next((module for module in modules if module in known.demonstrations), "")


def _engine_in_script(line: CommandLine) -> Engine | None:
    """Return the engine that a script starts last; None without one."""
    last: Engine | None = None
    for command in commands_of(line):
        # Runners such as ``exec``, their options and assignments of variables come before the program.
        words = itertools.dropwhile(
            lambda word: word in _table()["runners"] or word.startswith("-") or _ASSIGNMENT.match(word), command
        )
        last = engine_of_program([*words]) or last
    return last


@functools.cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_table(__package__, "serving.yaml")
    return table

"""How a server takes requests, and which API of its own it has: ``answers.yaml`` in an engine's folder.

api: the engine's own API, beside OpenAI's: openai (it has no other), ollama, tgi or llamacpp.
embeds: flags with which it makes embeddings instead of text, each with the values that mean so; none for a switch.
batch: how many requests it computes at once at most.
queue: how many may wait before more are refused. in_flight: how many may wait or be computed.
context: tokens of a request with its answer, where ``asked.yaml`` says nothing of the engine. Each of these has
  flags, variable: what says it; a flag wins.
  usual: by version (from, absent, until) the number where nothing says it. Without a row nothing bounds it.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...api.tables import read_table, table
from ..asked.numbers import whole
from ..command_line import CommandLine
from ..images import image_of, is_one_of
from ..registry import Engine, engines
from ..scripts.commands import engine_line
from ..versions import Span

OPENAI = "openai"
_BOUNDS = ("batch", "queue", "in_flight", "context")


@dataclass(frozen=True, slots=True)
class Answering:
    """How one server takes requests; None where nothing bounds it, or it is not known.

    Attributes:
        api: The API that is its own.
        embeds: Whether it makes embeddings instead of text.
        batch: Requests that it computes at once, at most.
        is_told: Whether its command line or a variable says that.
        queue: Requests that may wait.
        in_flight: Requests that may wait or be computed.
        context: Tokens of a request with its answer, as far as the engine's own table says it.
    """

    api: str = OPENAI
    embeds: bool = False
    batch: int | None = None
    is_told: bool = False
    queue: int | None = None
    in_flight: int | None = None
    context: int | None = None


@dataclass(frozen=True, slots=True)
class _RequestBound:
    flags: tuple[str, ...] = ()
    variable: str = ""
    usual: tuple[tuple[Span, int], ...] = ()

    def stated(self, line: CommandLine, variables: Mapping[str, str]) -> int | None:
        """Return what a command line or a variable says."""
        text = line.value_of(*self.flags) if self.flags else None
        number = whole(text or variables.get(self.variable, ""))
        return number if number is not None and number > 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    engine: Engine
    api: str
    embeds: Mapping[str, tuple[str, ...]]
    bounds: Mapping[str, _RequestBound]

    def usual(self, name: str, tag: str) -> int | None:
        """Return a number where nothing says it; None where there is none."""
        version = self.engine.version(tag)
        return next((number for span, number in self.bounds[name].usual if span.is_in(version)), None)


def answering_of(container: Mapping[str, Any], line: CommandLine) -> Answering:
    """Return how the server in a container takes requests.

    Args:
        container: The container.
        line: What it is started with. A script is looked into.
    """
    engine = engines().get(line.engine)
    known = _table(engine) if engine else None
    if known is None:
        return Answering(embeds=is_one_of(image_of(str(container.get("image") or "")).repository, _embedders()))
    own = engine_line(line) or line
    variables = {str(each["name"]): str(each.get("value") or "") for each in container.get("env") or ()}
    stated = {name: bound.stated(own, variables) for name, bound in known.bounds.items()}
    found = {name: number or known.usual(name, own.tag) for name, number in stated.items()}
    return Answering(
        api=known.api,
        embeds=any(_is_given(own, flag, values) for flag, values in known.embeds.items()),
        is_told=stated.get("batch") is not None,
        **found,
    )


def _is_given(line: CommandLine, flag: str, values: tuple[str, ...]) -> bool:
    return line.value_of(flag) in values if values else line.holds(flag)


@functools.cache
def _table(engine: Engine) -> _Table | None:
    file = engine.folder.joinpath("answers.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    return _Table(
        engine,
        facts.get("api", OPENAI),
        {flag: tuple(values) for flag, values in facts.get("embeds", {}).items()},
        {name: _bound(facts[name]) for name in _BOUNDS if name in facts},
    )


def _bound(row: Mapping[str, Any]) -> _RequestBound:
    usual = tuple((Span.of(each), int(each["number"])) for each in row.get("usual", ()))
    return _RequestBound(tuple(row.get("flags", ())), row.get("variable", ""), usual)


@functools.cache
def _embedders() -> tuple[str, ...]:
    facts: Mapping[str, Any] = table(__package__, "servers.yaml")
    return tuple(facts["embeds"])

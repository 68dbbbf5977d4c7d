"""How a server takes requests, and which API of its own it has: ``answers.yaml`` in an engine's folder.

api: the engine's own API, beside OpenAI's: openai (it has no other), ollama, tgi or llamacpp.
embeds: flags with which it makes embeddings instead of text, each with the values that mean so; none for a switch.
batch: how many requests it computes at once at most.
queue: how many may wait before more are refused. in_flight: how many may wait or be computed.
context: tokens of a request with its answer, where ``asked.yaml`` says nothing of the engine.
inputs: texts of one request for embeddings.
model: what it is told to load, of a server without a folder. Each of these has
  flags, variable: what says it; a flag wins.
  usual: by version (from, absent, until) the number where nothing says it. Without a row nothing bounds it.
truncates: what makes it cut inputs that are too long, where it refuses them otherwise: flags, variable, and from
  which version it does so by itself.
images: what it says to images that its model does not read (refused), where it does not take them all the same;
  ``<model>`` stands for the model. flags, variables: without any of them the model reads none; unless: flags and
  variables with which that is not known.
tools: what it says (refused) to a request that leaves the call of a tool to the model, without one of some flags.
silent: what it says in place of metrics that are not turned on, where it knows the path all the same.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...api.tables import read_table, table
from ..asked.numbers import whole
from ..command_line import CommandLine
from ..images import image_of, is_one_of
from ..registry import Engine, engines
from ..scripts.commands import engine_line
from ..versions import Span, Version, trimmed

OPENAI = "openai"
_NUMBERED = re.compile(r"\d+(?:\.\d+)+")
_BOUNDS = ("batch", "queue", "in_flight", "context", "inputs")


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
        inputs: Texts of one request for embeddings.
        model: What it is told to load, where the engine's settings do not say it.
        truncates: Whether it cuts inputs that are too long, instead of refusing them.
        images: Whether its model reads images, as far as its command line says it.
        image_refusal: What it says to images that its model does not read; empty where it takes them all the same.
        tool_refusal: What it says to requests that leave the call of a tool to the model; empty where it takes them.
        metrics_refusal: What it says where its metrics are not turned on; empty where it then knows no such path.
    """

    api: str = OPENAI
    embeds: bool = False
    batch: int | None = None
    is_told: bool = False
    queue: int | None = None
    in_flight: int | None = None
    context: int | None = None
    inputs: int | None = None
    model: str = ""
    truncates: bool = False
    images: bool | None = None
    image_refusal: str = ""
    tool_refusal: str = ""
    metrics_refusal: str = ""


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
    """What is known of a server: of an engine, or of one without a folder.

    Attributes:
        facts: The columns that are read as they are.
    """

    engine: Engine | None
    api: str
    embeds: Mapping[str, tuple[str, ...]]
    bounds: Mapping[str, _RequestBound]
    facts: Mapping[str, Any]

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag, of a server without a folder the first one in it; None without."""
        if self.engine:
            return self.engine.version(tag)
        found = _NUMBERED.search(tag)
        return trimmed(tuple(map(int, found[0].split(".")))) if found else None

    def usual(self, name: str, tag: str) -> int | None:
        """Return a number where nothing says it; None where there is none."""
        version = self.version(tag)
        return next((number for span, number in self.bounds[name].usual if span.is_in(version)), None)


def answering_of(container: Mapping[str, Any], line: CommandLine) -> Answering:
    """Return how the server in a container takes requests.

    Args:
        container: The container.
        line: What it is started with. A script is looked into.
    """
    engine = engines().get(line.engine)
    known = _table(engine) if engine else _other(image_of(str(container.get("image") or "")).repository)
    if known is None:
        return Answering()
    own = engine_line(line) or line
    variables = {str(each["name"]): str(each.get("value") or "") for each in container.get("env") or ()}
    stated = {name: bound.stated(own, variables) for name, bound in known.bounds.items()}
    found = {name: number or known.usual(name, own.tag) for name, number in stated.items()}
    return Answering(
        api=known.api,
        embeds=engine is None or any(_is_given(own, flag, values) for flag, values in known.embeds.items()),
        is_told=stated.get("batch") is not None,
        model=_stated(known.facts.get("model", {}), own, variables),
        truncates=_truncates(known, own, variables),
        metrics_refusal=known.facts.get("silent", ""),
        tool_refusal=_tool_refusal(known, own),
        images=_reads_images(known, own, variables),
        image_refusal=known.facts.get("images", {}).get("refused", ""),
        **found,
    )


def _stated(row: Mapping[str, Any], line: CommandLine, variables: Mapping[str, str]) -> str:
    """Return what a flag, or else a variable, says."""
    flags = row.get("flags", ())
    return (line.value_of(*flags) if flags else None) or variables.get(row.get("variable", ""), "")


def _truncates(known: _Table, line: CommandLine, variables: Mapping[str, str]) -> bool:
    row = known.facts.get("truncates")
    if row is None:
        return False
    text = _stated(row, line, variables)
    if not text and line.holds(*row["flags"]):
        return True
    return (
        text.lower() == "true" if text.lower() in ("true", "false") else Span.of(row).is_in(known.version(line.tag))
    )


def _tool_refusal(known: _Table, line: CommandLine) -> str:
    row = known.facts.get("tools", {})
    return "" if any(line.holds(flag) for flag in row.get("flags", ())) else str(row.get("refused", ""))


def _reads_images(known: _Table, line: CommandLine, variables: Mapping[str, str]) -> bool | None:
    """Tell whether a model reads images, where what it is started with decides that; None elsewhere."""
    row = known.facts.get("images", {})
    given = [name for name in (*row.get("variables", ()), *row.get("unless", ())) if variables.get(name)]
    if "flags" not in row or line.holds(*row["unless"]) or any(name in row["unless"] for name in given):
        return None
    return line.holds(*row["flags"]) or bool(given)


def _is_given(line: CommandLine, flag: str, values: tuple[str, ...]) -> bool:
    return line.value_of(flag) in values if values else line.holds(flag)


@functools.cache
def _table(engine: Engine) -> _Table | None:
    file = engine.folder.joinpath("answers.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    embeds = {flag: tuple(values) for flag, values in facts.get("embeds", {}).items()}
    return _read(facts, engine, embeds)


def _read(facts: Mapping[str, Any], engine: Engine | None, embeds: Mapping[str, tuple[str, ...]]) -> _Table:
    bounds = {name: _bound(facts[name]) for name in _BOUNDS if name in facts}
    return _Table(engine, facts.get("api", OPENAI), embeds, bounds, facts)


def _other(repository: str) -> _Table | None:
    """Return what is known of a server without a folder, by the repository of its image."""
    return next((table for images, table in _others() if is_one_of(repository, images)), None)


def _bound(row: Mapping[str, Any]) -> _RequestBound:
    usual = tuple((Span.of(each), int(each["number"])) for each in row.get("usual", ()))
    return _RequestBound(tuple(row.get("flags", ())), row.get("variable", ""), usual)


@functools.cache
def _others() -> tuple[tuple[tuple[str, ...], _Table], ...]:
    facts: Mapping[str, Any] = table(__package__, "servers.yaml")
    return tuple((tuple(row["repositories"]), _read(row, None, {})) for row in facts["embedders"])

"""How a server takes requests, and which API of its own it has: ``answers.yaml`` in an engine's folder.

api: the engine's own API, beside OpenAI's: openai (it has no other), ollama, tgi or llamacpp.
embeds: flags with which it makes embeddings instead of text, each with the values that mean so; none for a switch.
batch: how many requests it computes at once at most.
queue: how many may wait before more are refused. in_flight: how many may wait or be computed.
context: tokens of a request with its answer, where ``asked.yaml`` says nothing of the engine. Each of these has
  flags, variable: what says it; a flag wins.
  usual: by version (from, absent, until) the number where nothing says it. Without a row nothing bounds it.
The rows of ``usual`` of batch may have further conditions, and the first row that holds counts:
  above: GiB of an accelerator's memory, from which on it holds. except: accelerators for which it does not.
  with: a flag with which it holds.
batch has besides
  at_most: a flag whose number the default does not exceed.
  file: a flag with a file that may say it as well; what the command line says wins.
  shared: a flag with which the number is that of all copies (data parallelism) together; else each has as many.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...api.tables import read_table, table
from ..asked.numbers import whole
from ..command_line import CommandLine, line_of
from ..flags.values import is_filled_later
from ..images import Image, image_of, is_one_of
from ..memory.rows import Device
from ..registry import Engine, engines
from ..scripts.commands import engine_line
from ..settings import Setting
from ..versions import ANY, Span, titled

OPENAI = "openai"
_BOUNDS = ("batch", "queue", "in_flight", "context")
_GIB = 2**30
_REFERENCE = re.compile(r"\$\(([\w.-]+)\)")
"""What Kubernetes replaces by the variable of that name."""


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
class AtOnce:
    """How many requests a server computes at once.

    Attributes:
        most: The largest number; None where it is not known, or nothing bounds it.
        reason: What sets that number, such as ``--max-num-seqs 19``; else why there is none.
        is_told: Whether the command line or a variable of the container sets it; else it is the engine's default.
        is_least: Whether it is the smallest of several defaults, because the version or the accelerator is not known.
    """

    most: int | None
    reason: str
    is_told: bool = False
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class _Usual:
    """A default, and when it holds; the attributes are the columns of a row."""

    span: Span
    number: int
    above: int = 0
    without: tuple[str, ...] = ()
    flag: str = ""

    def holds(self, line: CommandLine, engine: Engine, device: Device | None) -> bool | None:
        """Tell whether it holds; None where the version or the accelerator is not known, and it may."""
        version = engine.version(line.tag)
        if not self.span.is_in(version) or (self.flag and not line.holds(self.flag)):
            return False
        if device and (device.memory < self.above * _GIB or device.name in self.without):
            return False
        is_open = (version == ANY and self.span != Span()) or (device is None and (self.above or self.without))
        return None if is_open else True


@dataclass(frozen=True, slots=True)
class _RequestBound:
    flags: tuple[str, ...] = ()
    variable: str = ""
    usual: tuple[_Usual, ...] = ()
    at_most: str = ""
    file: str = ""
    shared: str = ""

    def stated(self, line: CommandLine, variables: Mapping[str, str | None]) -> int | None:
        """Return what a command line or a variable says."""
        text = line.value_of(*self.flags) if self.flags else None
        number = whole(text or variables.get(self.variable) or "")
        return number if number is not None and number > 0 else None

    def read(self, line: CommandLine, variables: Mapping[str, str | None]) -> AtOnce | None:
        """Return what a command line or a variable says, also that it cannot be known; None where neither does."""
        text, name = line.value_of(*self.flags) if self.flags else None, self.flags[0] if self.flags else ""
        if not text and self.variable in variables:
            text, name = variables[self.variable], self.variable
            if text is None:
                return AtOnce(None, f"the value of the variable {name} is not in the manifest")
        if text and (reference := _REFERENCE.fullmatch(text)):
            text = variables.get(reference[1]) or text
        if text and is_filled_later(text):
            return AtOnce(None, f"{name} is {text}, which is filled in later")
        number = whole(text or "")
        return AtOnce(number, f"{name} {number}", is_told=True) if number is not None and number > 0 else None

    def defaults(self, line: CommandLine, engine: Engine, device: Device | None) -> list[int]:
        """Return the default: several, smallest first, where it depends on a version or accelerator that is open."""
        numbers = []
        for row in self.usual:
            holds = row.holds(line, engine, device)
            numbers += [] if holds is False else [row.number]
            if holds:
                break
        bound = line.number_of(self.at_most) if self.at_most else None
        return sorted({min(number, bound or number) for number in numbers})


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    engine: Engine
    api: str
    embeds: Mapping[str, tuple[str, ...]]
    bounds: Mapping[str, _RequestBound]

    def usual(self, name: str, line: CommandLine) -> int | None:
        """Return a number where nothing says it; None where there is none."""
        return next(iter(self.bounds[name].defaults(line, self.engine, None)), None)


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
    variables = _variables(container)
    stated = {name: bound.stated(own, variables) for name, bound in known.bounds.items()}
    found = {name: number or known.usual(name, own) for name, number in stated.items()}
    return Answering(
        api=known.api,
        embeds=any(_is_given(own, flag, values) for flag, values in known.embeds.items()),
        is_told=stated.get("batch") is not None,
        **found,
    )


def most_at_once(container: Mapping[str, Any], line: CommandLine, device: Device | None = None) -> AtOnce:
    """Return how many requests the server in a container computes at once: as it is told, else by its default.

    Where the default depends on a version or an accelerator that is not known, it is the smallest that it may be.

    Args:
        container: The container.
        line: What it is started with. A script is looked into.
        device: Its accelerators; None where they are not known.
    """
    engine = engines().get(line.engine)
    known = _table(engine) if engine else None
    if engine is None or known is None or "batch" not in known.bounds:
        what = engine.name if engine else f"image {container.get('image') or ''!r}"
        return AtOnce(None, f"nothing is known of how many requests {what} computes at once")
    own, bound = engine_line(line) or line, known.bounds["batch"]
    variables = _variables(container)
    found = bound.read(own, variables)
    if found is None and bound.file and own.holds(bound.file):
        found = AtOnce(None, f"{bound.file} names a file that may say it")
    if found is None:
        name = bound.flags[0] if bound.flags else bound.variable
        numbers = bound.defaults(own, engine, device)
        reason = f"{titled(engine.name, own.tag)} without {name}" if numbers else f"{engine.name} bounds it by memory"
        found = AtOnce(next(iter(numbers), None), reason, is_least=len(numbers) > 1)
    copies = own.number_of(Setting.DATA_PARALLEL) or 1
    if found.most and copies > 1 and not (bound.shared and own.holds(bound.shared)):
        found = replace(found, most=found.most * copies, reason=f"{found.reason}, in {copies} copies")
    return _within(found, known, own, variables)


def _within(found: AtOnce, known: "_Table", line: CommandLine, variables: Mapping[str, str | None]) -> AtOnce:
    """Return a number that is no larger than that of the requests that may be there at all."""
    bound = known.bounds.get("in_flight")
    stated = bound.read(line, variables) if bound else None
    if bound is None or (stated and stated.most is None):
        return found
    name = bound.flags[0]
    if stated is None:
        numbers = bound.defaults(line, known.engine, None)
        stated = AtOnce(next(iter(numbers), None), f"{titled(known.engine.name, line.tag)} without {name}")
    if stated.most is None or (found.most is not None and found.most <= stated.most):
        return found
    return stated


def usual_at_once(device: Device | None) -> AtOnce:
    """Return how many requests are computed at once by the engine that most models are served with, untold."""
    engine = next(iter(engines().values()))
    image = engine.current_image or Image(engine.name, "", "")
    container = {"image": f"{image.repository}:{image.tag}"}
    return most_at_once(container, line_of(container), device)


def _variables(container: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the environment variables of a container; None for one whose value is somewhere else."""
    return {
        str(each.get("name")): None if each.get("valueFrom") else str(each.get("value") or "")
        for each in container.get("env") or ()
    }


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
    usual = tuple(
        _Usual(
            Span.of(each),
            int(each["number"]),
            each.get("above", 0),
            tuple(each.get("except", ())),
            each.get("with", ""),
        )
        for each in row.get("usual", ())
    )
    others = {name: row[name] for name in ("variable", "at_most", "file", "shared") if name in row}
    return _RequestBound(tuple(row.get("flags", ())), usual=usual, **others)


@functools.cache
def _embedders() -> tuple[str, ...]:
    facts: Mapping[str, Any] = table(__package__, "servers.yaml")
    return tuple(facts["embeds"])

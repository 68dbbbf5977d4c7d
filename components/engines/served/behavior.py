"""How a server handles requests, and its own API beside OpenAI's: ``answers.yaml`` in an engine's folder.

api: the engine's own API: openai (no other), ollama, tgi, tei or llamacpp.
only_embeds: whether it always returns embeddings instead of text.
embeds: flags that make it return embeddings instead of text, each with the values that do so; none for a switch.
batch: maximum number of requests computed at once.
queue: how many may wait before further ones are rejected. in_flight: how many may wait or be computed.
context: tokens of a request including its answer, for engines whose ``memory_settings.yaml`` does not have it.
inputs: texts of one embeddings request.
model: the model to load, for engines that variables name it for. Each of these has
  flags, variable: where it is set; a flag takes precedence.
  usual: the default by version (from, absent, until). Without a row there is no limit.
The rows of ``usual`` of batch may have further conditions; the first row that applies counts:
  above: minimum GiB of the accelerator's memory. except: accelerators that it does not apply to.
  with: a flag that must be set.
batch also has
  at_most: a flag whose number caps the default.
  file: a flag with a configuration file that may set the limit; the command line takes precedence.
  shared: a flag that makes the limit one for all data parallel copies together; otherwise each copy has it.
truncates: what makes it truncate long inputs instead of rejecting them: flags, variable, and since which version it
  is the default.
images: its error for images that the model does not read (refused), unless it accepts them; ``<model>`` stands for
  the model. flags, variables: without any of them the model reads none; unless: flags and variables that make this
  unknown.
tools: its error (refused) for ``tool_choice: auto`` without any of some flags.
silent: its answer to ``/metrics`` if metrics are disabled but the path exists.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...contract.quantity import GIB
from ...contract.tables import read_table
from ..command_line import CommandLine, command_line_of
from ..flags.values import is_filled_later
from ..memory.rows import Device
from ..numbers import parse_int
from ..registry import Engine, engines
from ..scripts.commands import engine_line
from ..settings import Setting
from ..versions import ANY, Version, VersionSpan, engine_title

OPENAI = "openai"
_BOUNDS = ("batch", "queue", "in_flight", "context", "inputs")
_REFERENCE = re.compile(r"\$\(([\w.-]+)\)")
"""A reference that Kubernetes expands."""


@dataclass(frozen=True, slots=True)
class ServerBehavior:
    """How one server handles requests. A limit is None if it is unknown or does not exist.

    Attributes:
        api: Its own API.
        embeds: Whether it returns embeddings instead of text.
        batch: Maximum number of requests processed at once.
        is_batch_set: Whether its command line or a variable sets that.
        queue: Requests that may wait.
        in_flight: Requests that may wait or be processed.
        context: Tokens of a request including its answer, if the engine's own table has it.
        inputs: Texts of one embeddings request.
        model: The model to load, if the engine's settings do not have it.
        truncates: Whether it truncates long inputs instead of rejecting them.
        images: Whether its model reads images, according to its command line; None if unknown.
        image_refusal: Error for images that its model does not read; empty if it accepts them.
        tool_refusal: Error for ``tool_choice: auto``; empty if it accepts that.
        metrics_refusal: Answer to ``/metrics`` if metrics are disabled; empty if it answers 404.
    """

    api: str = OPENAI
    embeds: bool = False
    batch: int | None = None
    is_batch_set: bool = False
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
class ConcurrencyLimit:
    """A server's limit on concurrent requests.

    Attributes:
        limit: The limit; None if it is unknown or does not exist.
        reason: Source of the limit, such as ``--max-num-seqs 19``; otherwise why it is None.
        is_set: Whether the command line or a variable of the container sets it, not the engine's default.
        is_lowest_default: Whether it is the smallest of several possible defaults, because the version or
            accelerator is unknown.
    """

    limit: int | None
    reason: str
    is_set: bool = False
    is_lowest_default: bool = False


@dataclass(frozen=True, slots=True)
class _DefaultLimit:
    """A default and its conditions; the attributes are the columns of a row."""

    span: VersionSpan
    number: int
    above: int = 0
    without: tuple[str, ...] = ()
    flag: str = ""

    def holds(self, line: CommandLine, version: Version | None, device: Device | None) -> bool | None:
        """Return whether it applies; None if that depends on an unknown version or accelerator."""
        if not self.span.includes(version) or (self.flag and not line.holds(self.flag)):
            return False
        if device and (device.memory < self.above * GIB or device.name in self.without):
            return False
        is_open = (version == ANY and self.span != VersionSpan()) or (device is None and (self.above or self.without))
        return None if is_open else True


@dataclass(frozen=True, slots=True)
class _RequestBound:
    flags: tuple[str, ...] = ()
    variable: str = ""
    usual: tuple[_DefaultLimit, ...] = ()
    at_most: str = ""
    file: str = ""
    shared: str = ""

    def stated(self, line: CommandLine, variables: Mapping[str, str | None]) -> int | None:
        """Return the limit that the command line or a variable sets, or None."""
        text = line.value_of(*self.flags) if self.flags else None
        number = parse_int(text or variables.get(self.variable) or "")
        return number if number is not None and number > 0 else None

    def read(self, line: CommandLine, variables: Mapping[str, str | None]) -> ConcurrencyLimit | None:
        """Return the limit of the command line or a variable, or why it is unknown; None if neither sets it."""
        text, name = line.value_of(*self.flags) if self.flags else None, self.flags[0] if self.flags else ""
        if not text and self.variable in variables:
            text, name = variables[self.variable], self.variable
            if text is None:
                return ConcurrencyLimit(None, f"the value of the variable {name} is not in the manifest")
        if text and (reference := _REFERENCE.fullmatch(text)):
            text = variables.get(reference[1]) or text
        if text and is_filled_later(text):
            return ConcurrencyLimit(None, f"{name} is {text}, which is filled in later")
        number = parse_int(text or "")
        return (
            ConcurrencyLimit(number, f"{name} {number}", is_set=True) if number is not None and number > 0 else None
        )

    def defaults(self, line: CommandLine, version: Version | None, device: Device | None) -> list[int]:
        """Return the possible defaults, smallest first: several if the version or accelerator is unknown."""
        numbers = []
        for row in self.usual:
            holds = row.holds(line, version, device)
            numbers += [] if holds is False else [row.number]
            if holds:
                break
        bound = line.number_of(self.at_most) if self.at_most else None
        return sorted({min(number, bound or number) for number in numbers})


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Facts of an engine; ``facts`` are the columns that are read as they are."""

    engine: Engine
    api: str
    embeds: Mapping[str, tuple[str, ...]]
    bounds: Mapping[str, _RequestBound]
    facts: Mapping[str, Any]

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag, or None."""
        return self.engine.version(tag)

    def default_limit(self, name: str, line: CommandLine) -> int | None:
        """Return the default of a limit; None without a default."""
        return next(iter(self.bounds[name].defaults(line, self.version(line.tag), None)), None)


def server_behavior(container: Mapping[str, Any], line: CommandLine) -> ServerBehavior:
    """Return how the server in a container handles requests.

    Args:
        container: The container.
        line: Its command line, which may be in a script.
    """
    engine = engines().get(line.engine)
    table = _table(engine) if engine else None
    if table is None:
        return ServerBehavior()
    own, variables = engine_line(line) or line, _variables(container)
    configured = {name: bound.stated(own, variables) for name, bound in table.bounds.items()}
    limits = {name: number or table.default_limit(name, own) for name, number in configured.items()}

    truncates = False
    if row := table.facts.get("truncates"):
        text = _value_of(row, own, variables).lower()
        if text in ("true", "false"):
            truncates = text == "true"
        else:
            is_switch_on = not text and own.holds(*row["flags"])
            truncates = is_switch_on or VersionSpan.from_row(row).includes(table.version(own.tag))
    tools = table.facts.get("tools", {})
    return ServerBehavior(
        api=table.api,
        embeds=table.facts.get("only_embeds", False)
        or any(own.value_of(flag) in values if values else own.holds(flag) for flag, values in table.embeds.items()),
        is_batch_set=configured.get("batch") is not None,
        model=_value_of(table.facts.get("model", {}), own, variables),
        truncates=truncates,
        metrics_refusal=table.facts.get("silent", ""),
        tool_refusal="" if any(map(own.holds, tools.get("flags", ()))) else str(tools.get("refused", "")),
        images=_reads_images(table, own, variables),
        image_refusal=table.facts.get("images", {}).get("refused", ""),
        **limits,
    )


def concurrency_limit(
    container: Mapping[str, Any], line: CommandLine, device: Device | None = None
) -> ConcurrencyLimit:
    """Return the limit on concurrent requests of the server in a container, or its default.

    If the default depends on an unknown version or accelerator, the smallest possible one is returned.

    Args:
        container: The container.
        line: Its command line, which may be in a script.
        device: Its accelerators; None if unknown.
    """
    engine = engines().get(line.engine)
    table = _table(engine) if engine else None
    if engine is None or table is None or "batch" not in table.bounds:
        server = engine.name if engine else f"image {container.get('image') or ''!r}"
        return ConcurrencyLimit(None, f"the concurrency limit of {server} is unknown")
    own, batch, variables = engine_line(line) or line, table.bounds["batch"], _variables(container)
    limit = batch.read(own, variables)
    if limit is None and batch.file and own.holds(batch.file):
        limit = ConcurrencyLimit(None, f"the file of {batch.file} may set it")
    if limit is None:
        numbers = batch.defaults(own, table.version(own.tag), device)
        if numbers:
            name = batch.flags[0] if batch.flags else batch.variable
            reason = f"{engine_title(engine.name, own.tag)} without {name}"
        else:
            reason = f"{engine.name} limits it by memory"
        limit = ConcurrencyLimit(next(iter(numbers), None), reason, is_lowest_default=len(numbers) > 1)
    copies = own.number_of(Setting.DATA_PARALLEL) or 1
    if limit.limit and copies > 1 and not (batch.shared and own.holds(batch.shared)):
        limit = replace(limit, limit=limit.limit * copies, reason=f"{limit.reason}, in {copies} copies")

    # A server computes no more requests at once than it accepts.
    in_flight = table.bounds.get("in_flight")
    if in_flight is None:
        return limit
    accepted = in_flight.read(own, variables)
    if accepted is None:
        numbers = in_flight.defaults(own, table.version(own.tag), None)
        reason = f"{engine_title(own.engine, own.tag)} without {in_flight.flags[0]}"
        accepted = ConcurrencyLimit(next(iter(numbers), None), reason)
    if accepted.limit is None or (limit.limit is not None and limit.limit <= accepted.limit):
        return limit
    return accepted


def default_concurrency_limit(device: Device | None) -> ConcurrencyLimit:
    """Return the default limit on concurrent requests of the most common engine."""
    engine = next(iter(engines().values()))
    image = engine.current_image
    container = {"image": f"{image.repository}:{image.tag}" if image else engine.name}
    return concurrency_limit(container, command_line_of(container), device)


def _variables(container: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the variables of a container; None for values that are not in the manifest (``valueFrom``)."""
    return {
        str(variable.get("name")): None if variable.get("valueFrom") else str(variable.get("value") or "")
        for variable in container.get("env") or ()
    }


def _value_of(row: Mapping[str, Any], line: CommandLine, variables: Mapping[str, str | None]) -> str:
    """Return the value of a flag, else of a variable."""
    flags = row.get("flags", ())
    return (line.value_of(*flags) if flags else None) or variables.get(row.get("variable", "")) or ""


def _reads_images(table: _Table, line: CommandLine, variables: Mapping[str, str | None]) -> bool | None:
    """Return whether the model reads images, if the command line or variables determine that; else None."""
    row = table.facts.get("images", {})
    names = [name for name in (*row.get("variables", ()), *row.get("unless", ())) if variables.get(name)]
    if "flags" not in row or line.holds(*row["unless"]) or any(name in row["unless"] for name in names):
        return None
    return line.holds(*row["flags"]) or bool(names)


@functools.cache
def _table(engine: Engine) -> _Table | None:
    file = engine.folder.joinpath("answers.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    embeds = {flag: tuple(values) for flag, values in facts.get("embeds", {}).items()}
    return _read(facts, engine, embeds)


def _read(facts: Mapping[str, Any], engine: Engine, embeds: Mapping[str, tuple[str, ...]]) -> _Table:
    bounds: dict[str, _RequestBound] = {}
    for name in _BOUNDS:
        if name not in facts:
            continue
        defaults = tuple(
            _DefaultLimit(
                VersionSpan.from_row(row),
                int(row["number"]),
                row.get("above", 0),
                tuple(row.get("except", ())),
                row.get("with", ""),
            )
            for row in facts[name].get("usual", ())
        )
        columns = {key: facts[name][key] for key in ("variable", "at_most", "file", "shared") if key in facts[name]}
        bounds[name] = _RequestBound(tuple(facts[name].get("flags", ())), usual=defaults, **columns)
    return _Table(engine, facts.get("api", OPENAI), embeds, bounds, facts)

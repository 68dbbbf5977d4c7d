"""The settings of an engine that determine its memory use: ``memory_settings.yaml`` in the engine's folder.

variables: environment variables by setting; a flag takes precedence.
spread: how it uses accelerators by default: one, all (every layer is split over all of them), layers (each has
  some of the layers).
contexts: default tokens of a request by version (from, until); null if the engine chooses it by the remaining memory.
  Without a row it is the context of the model.
single_files: whether it loads single files of a repository, whose sizes the catalog does not have.
longer_context: set for engines that do not start with a context above that of the model's configuration: the variable
  that allows it; from, absent, until: versions that refuse it.
whole_inputs: set for engines that do not start if a batch has fewer tokens than an input of the model may have,
  unless they cut inputs: the default tokens of a batch; from, absent, until: versions that refuse it.
host_cache: default size of a second cache in host memory, as a multiple of that on the accelerator (ratio), by
  version (from, until).
shared_memory: whether a process for each accelerator exchanges data through /dev/shm.
shared_context: whether the context is divided among the concurrent requests.
cache: bytes per number in the KV cache, by type.
converts: type to which weights are converted while they are loaded, by quantization; other methods convert nothing.
bits: least and most bits per parameter, with scales, of weights of a quantization that has one width.
whole_cache: cache types that mean the type of the weights.
batch_without_chunks: tokens of a batch if prompts are not cut into chunks, by default.
draft_heads, draft_models: methods of speculative decoding for which the engine reserves memory: with heads of the
  model, and with a model of its own.
adapters: default number (most) and rank; a rank of null is that of the adapters themselves.
speculation: keys of the JSON: model, tensor and method; own are the methods without a draft model, heads those with
  additional heads.
unclear, unclear_variables: flags and variables that make the memory use unknown, with the reason.
clear_values: values of unclear flags with which it stays known.
all_layers: versions that put all layers on accelerators by default (from).
adapts: versions that keep layers that do not fit in host memory by default (from).
batch_of_input: versions whose default number of tokens computed at a time is the maximum input (from, until).
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..settings import Setting
from ..versions import Version, VersionSpan


class Spread(StrEnum):
    """How an engine uses several accelerators by default."""

    ONE = "one"
    ALL = "all"
    LAYERS = "layers"


class DefaultContext(NamedTuple):
    """Default tokens of a request in some versions; None if the engine chooses it by the remaining memory."""

    span: VersionSpan
    tokens: int | None


class LongerContext(NamedTuple):
    """What lets an engine start with a context above that of the model's configuration."""

    span: VersionSpan
    variable: str


class WholeInputs(NamedTuple):
    """The versions that start only if a batch has room for the longest input, and the default tokens of a batch."""

    span: VersionSpan
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class MemorySettingsTable:
    """The memory settings of an engine; the attributes are the columns."""

    engine: Engine
    variables: Mapping[Setting, tuple[str, ...]] = field(default_factory=dict)
    spread: Spread = Spread.ONE
    contexts: tuple[DefaultContext, ...] = ()
    longer_context: LongerContext | None = None
    whole_inputs: WholeInputs | None = None
    host_cache: tuple[tuple[VersionSpan, Decimal], ...] = ()
    shared_memory: bool = False
    shared_context: bool = False
    single_files: bool = False
    cache: Mapping[str, Decimal] = field(default_factory=dict)
    whole_cache: tuple[str, ...] = ()
    converts: Mapping[str, str] = field(default_factory=dict)
    bits: Mapping[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    batch_without_chunks: int | None = None
    draft_heads: tuple[str, ...] = ()
    draft_models: tuple[str, ...] = ()
    adapters: Mapping[str, int | None] = field(default_factory=dict)
    speculation: Mapping[str, Any] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)
    unclear_variables: Mapping[str, str] = field(default_factory=dict)
    clear_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    all_layers: VersionSpan | None = None
    adapts: VersionSpan | None = None
    batch_of_input: VersionSpan | None = None

    def context(self, version: Version | None) -> DefaultContext | None:
        """Return the default context of a version; None for that of the model."""
        return next((context for context in self.contexts if context.span.includes(version)), None)


def memory_settings_table(engine: str) -> MemorySettingsTable | None:
    """Return the table of an engine; None if it has none."""
    known = engines().get(engine)
    return _read(known) if known else None


def _longer_context(row: Mapping[str, Any]) -> LongerContext:
    return LongerContext(VersionSpan.from_row(row), row["variable"])


@functools.cache
def _read(engine: Engine) -> MemorySettingsTable | None:
    file = engine.folder.joinpath("memory_settings.yaml")
    if not file.is_file():
        return None
    facts: dict[str, Any] = dict(read_table(file))
    longer, whole = facts.get("longer_context"), facts.get("whole_inputs")
    return MemorySettingsTable(
        engine,
        variables={
            Setting(name): (names,) if isinstance(names, str) else tuple(names)
            for name, names in facts.get("variables", {}).items()
        },
        spread=Spread(facts.get("spread", Spread.ONE)),
        contexts=tuple(DefaultContext(VersionSpan.from_row(row), row["tokens"]) for row in facts.get("contexts", ())),
        longer_context=_longer_context(longer) if longer else None,
        whole_inputs=WholeInputs(VersionSpan.from_row(whole), whole["tokens"]) if whole else None,
        host_cache=tuple(
            (VersionSpan.from_row(row), Decimal(str(row["ratio"]))) for row in facts.get("host_cache", ())
        ),
        shared_memory=facts.get("shared_memory", False),
        shared_context=facts.get("shared_context", False),
        single_files=facts.get("single_files", False),
        cache={str(name): Decimal(str(number)) for name, number in facts.get("cache", {}).items()},
        whole_cache=tuple(facts.get("whole_cache", ())),
        converts=facts.get("converts", {}),
        bits={
            method: (Decimal(str(least)), Decimal(str(most)))
            for method, (least, most) in facts.get("bits", {}).items()
        },
        batch_without_chunks=facts.get("batch_without_chunks"),
        draft_heads=tuple(facts.get("draft_heads", ())),
        draft_models=tuple(facts.get("draft_models", ())),
        adapters=facts.get("adapters", {}),
        speculation=facts.get("speculation", {}),
        unclear=facts.get("unclear", {}),
        unclear_variables=facts.get("unclear_variables", {}),
        clear_values={flag: tuple(values) for flag, values in facts.get("clear_values", {}).items()},
        **{
            name: VersionSpan.from_row(facts[name])
            for name in ("all_layers", "adapts", "batch_of_input")
            if name in facts
        },
    )

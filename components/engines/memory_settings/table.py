"""Where engines take the settings that decide how much memory they need: ``memory_settings.yaml`` in their folders.

variables: environment variables that say what a flag would, by setting; a flag wins.
spread: how it uses accelerators that nothing tells it of: one, all (each layer is cut over all of them), layers (each
  has a part of the layers).
contexts: tokens of a request where nothing says it, by version (from, until); null where the engine decides by the
  memory that is left. Without a row it is the model's own.
single_files: whether it reads single files, of whose size a repository says nothing.
shared_context: whether the context is divided among the requests in flight.
cache: bytes of a number in the key-value cache, by type.
converts: what weights are converted to while they are loaded, by quantization; of others they stay as they are.
whole_cache: types of the cache that are as the weights are computed with.
adapters: most and rank where nothing says it; a rank of null is that of the adapters themselves.
speculation: keys of the JSON: model, tensor and method; own are the methods without a model of their own.
unclear, unclear_variables: flags and variables with which memory is not known, with the reason.
all_layers: versions that put all layers on accelerators where nothing says it (from).
adapts: versions that keep in the memory of the host what does not fit, where nothing says where layers are (from).
batch_of_input: versions that compute as many tokens at a time as an input may have, where nothing says it (from,
  until).
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..settings import Setting
from ..versions import Span, Version


class Spread(StrEnum):
    """How an engine uses several accelerators without being told."""

    ONE = "one"
    ALL = "all"
    LAYERS = "layers"


@dataclass(frozen=True, slots=True)
class DefaultContext:
    """Tokens of a request by default, in some versions; None where the engine decides by what is left."""

    span: Span
    tokens: int | None


@dataclass(frozen=True, slots=True, eq=False)
class MemorySettingsTable:
    """How an engine is told of memory; the attributes are the columns."""

    engine: Engine
    variables: Mapping[Setting, tuple[str, ...]] = field(default_factory=dict)
    spread: Spread = Spread.ONE
    contexts: tuple[DefaultContext, ...] = ()
    shared_context: bool = False
    single_files: bool = False
    cache: Mapping[str, Decimal] = field(default_factory=dict)
    whole_cache: tuple[str, ...] = ()
    converts: Mapping[str, str] = field(default_factory=dict)
    adapters: Mapping[str, int | None] = field(default_factory=dict)
    speculation: Mapping[str, Any] = field(default_factory=dict)
    unclear: Mapping[str, str] = field(default_factory=dict)
    unclear_variables: Mapping[str, str] = field(default_factory=dict)
    all_layers: Span | None = None
    adapts: Span | None = None
    batch_of_input: Span | None = None

    def context(self, version: Version | None) -> DefaultContext | None:
        """Return the default of a version; None where that is the model's own."""
        return next((each for each in self.contexts if each.span.includes(version)), None)


def memory_settings_table(engine: str) -> MemorySettingsTable | None:
    """Return how an engine is told of memory; None where that is not known."""
    known = engines().get(engine)
    return _read(known) if known else None


@functools.cache
def _read(engine: Engine) -> MemorySettingsTable | None:
    file = engine.folder.joinpath("memory_settings.yaml")
    if not file.is_file():
        return None
    facts: dict[str, Any] = dict(read_table(file))
    return MemorySettingsTable(
        engine,
        variables={Setting(name): _several(row) for name, row in facts.get("variables", {}).items()},
        spread=Spread(facts.get("spread", Spread.ONE)),
        contexts=tuple(DefaultContext(Span.from_row(row), row["tokens"]) for row in facts.get("contexts", ())),
        shared_context=facts.get("shared_context", False),
        single_files=facts.get("single_files", False),
        cache={str(name): Decimal(str(number)) for name, number in facts.get("cache", {}).items()},
        whole_cache=tuple(facts.get("whole_cache", ())),
        converts=facts.get("converts", {}),
        adapters=facts.get("adapters", {}),
        speculation=facts.get("speculation", {}),
        unclear=facts.get("unclear", {}),
        unclear_variables=facts.get("unclear_variables", {}),
        **{name: Span.from_row(facts[name]) for name in ("all_layers", "adapts", "batch_of_input") if name in facts},
    )


def _several(row: str | list[str]) -> tuple[str, ...]:
    return (row,) if isinstance(row, str) else tuple(row)

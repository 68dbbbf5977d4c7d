"""Puts together what is asked about the memory of one workload."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from ....engines.memory.rows import Device, memory_of
from ....engines.memory_settings.reader import MemorySettings
from ....engines.memory_settings.sharding import Sharding
from ....engines.memory_settings.table import memory_settings_table
from ....engines.registry import engines
from ....fleet.instances import Instance
from ....fleet.workloads import NamedWeights, SpreadField
from ..accelerators.devices import GIB
from ..cases import EngineMemory, MemoryCase, Parallel
from ..shapes import Layers, Shape
from .known import KnownShapes
from .placing import Placement, memory_bytes

_PLAIN = ("", "bfloat16", "float16", "float32")
"""Types of weights that are not quantized."""
_LEAST_BITS = Decimal(2)
"""Bits per parameter of weights whose quantization is unknown."""
_MORE_THAN_ALL = 99
"""More layers than any model of unknown shape is assumed to have; examples of ggml-org/llama.cpp use ``-ngl 99``."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Accelerators, how they share a model, and what the engine does with their memory."""

    node: Instance
    placement: Placement
    parallel: Parallel
    budget: EngineMemory


def parallel_of(division: Sharding, placement: Placement) -> Parallel:
    """Return how accelerators share a model; what nothing says is what the engine does by itself."""
    tensor = placement.per_pod if division.tensor is None else division.tensor
    pipeline = division.pipeline
    if pipeline is None:
        pipeline = 1 if division.shares else placement.per_pod
    return Parallel(tensor, pipeline, division.data, division.experts)


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """What is asked about a workload.

    Attributes:
        is_whole: Whether it is about the whole model; else about the part on the fullest accelerator.
    """

    case: MemoryCase
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Serves:
    """What serves a model.

    Attributes:
        tag: Tag of its image.
        asked: What it is told.
        weights: Other names of what it loads.
        spread: Fields of the manifest that set the parallelism.
    """

    engine: str
    tag: str
    asked: MemorySettings
    weights: tuple[NamedWeights, ...] = ()
    spread: SpreadField | None = None

    @property
    def reads_single_files(self) -> bool:
        """Whether it reads single files."""
        table = memory_settings_table(self.engine)
        return table is not None and table.single_files


def question_of(serves: Serves, placement: Placement, node: Instance, known: KnownShapes) -> MemoryQuestion | str:
    """Return what is asked about a workload on a type of nodes; in words what is not known of it."""
    asked, engine, weights = serves.asked, serves.engine, serves.weights
    parallel = parallel_of(asked.sharding, placement)
    used = len(asked.sharding.shares) or parallel.accelerators
    if used > placement.total:
        return f"it is told to use {used} accelerators, and a replica has {placement.total}"
    budget = memory_of(
        engines()[engine], serves.tag, Device(node.accelerator, memory_bytes(node), used), asked.batch_tokens
    )
    if budget is None:
        return f"nothing is known of the memory that {engine} needs"
    if not asked.graphs:
        budget = replace(budget, most_graphs=0)
    if asked.limits.is_open:
        budget = replace(budget, reserves_context=False, reserves_all=False)
    if asked.offloads_to_host:
        budget = replace(budget, spills=True)
    single = serves.reads_single_files
    shape = known.find(asked.model, weights, single_file=single)
    draft = known.find(asked.draft, weights, single_file=single) if asked.draft else None
    if isinstance(shape, str):
        return shape
    if isinstance(draft, str):
        return draft
    return _question(serves, shape, draft, _Place(node, placement, parallel, budget))


def _question(serves: Serves, shape: Shape, draft: Shape | None, place: _Place) -> MemoryQuestion | str:
    asked = serves.asked
    if asked.quantized and shape.span and not shape.dtype:
        narrow = replace(shape.span, least_bits=min(shape.span.least_bits, _LEAST_BITS))
        shape = replace(shape, span=narrow)
    if asked.quantized and shape.dtype in _PLAIN[1:]:
        return f"it is told that the weights are quantized, and those of {shape.name} are {shape.dtype}"
    offloaded = _offloaded(shape, asked.sharding, place.parallel)
    part = _on_accelerators(shape, asked.sharding)
    if isinstance(offloaded, str):
        return offloaded
    if isinstance(part, str):
        return part
    case = MemoryCase(
        shape=part,
        device=place.node.accelerator,
        device_bytes=memory_bytes(place.node),
        parallel=place.parallel,
        budget=place.budget,
        weights_dtype=asked.converted if shape.dtype in _PLAIN else "",
        cache_bytes=_cache_bytes(asked, part),
        context=asked.limits.context,
        sequences=asked.limits.sequences,
        batch_tokens=asked.batch_tokens,
        draft=draft,
        draft_tensor=asked.draft_tensor or place.parallel.tensor,
        adapters=asked.adapters,
        adapter_rank=asked.adapter_rank,
        offloaded_bytes=offloaded,
        share=asked.share,
        engine=serves.engine,
        tag=serves.tag,
        instance_type=place.node.name,
        per_pod=place.placement.per_pod,
        pods=place.placement.pods,
        spread=serves.spread,
    )
    return MemoryQuestion(case, is_whole=part is shape)


def _cache_bytes(asked: MemorySettings, shape: Shape) -> Decimal:
    """Return the bytes of a number in the cache: what keys and values take together, never too little."""
    if asked.sharding.cache_on_host:
        return Decimal(0)
    keys, values = asked.key_bytes, asked.value_bytes
    if keys == values:
        return keys
    if all(kind.value_dim == 0 for kind in shape.layers):
        return keys
    if all(kind.key_dim == kind.value_dim for kind in shape.layers):
        return (keys + values) / 2
    return max(keys, values)


def _offloaded(shape: Shape, division: Sharding, parallel: Parallel) -> int | str:
    """Return the weights per accelerator that stay in the memory of the host; in words what is not known of them."""
    offloaded = int(division.offloaded_gib * GIB)
    if division.expert_layers == 0:
        return offloaded
    if shape.expert_share is None or shape.weights_bytes is None:
        return f"it keeps experts in the memory of the host, and how large those of {shape.name} are is not known"
    layers = sum(kind.count for kind in shape.layers) or 1
    share = (
        Decimal(1) if division.expert_layers is None else min(Decimal(division.expert_layers) / layers, Decimal(1))
    )
    return offloaded + int(shape.weights_bytes * shape.expert_share * share / (parallel.tensor * parallel.pipeline))


def _on_accelerators(shape: Shape, division: Sharding) -> Shape | str:
    """Return the part of a model that the fullest accelerator has to do with, where not all are equal."""
    total = sum(kind.count for kind in shape.layers)
    if division.layers == 0:
        return "it puts no layer on an accelerator"
    if division.layers is not None and not total and not _has_all(division, shape):
        return f"the layers of {shape.name} are not known"
    if shape.span and division.shares:
        return f"the layers of {shape.name} are not known"
    part = Decimal(1)
    if division.layers is not None and total and division.layers < total:
        part = Decimal(division.layers) / total
    if division.shares:
        part *= max(division.shares) / sum(division.shares)
    return shape if part == 1 else _scaled(shape, part)


def _has_all(division: Sharding, shape: Shape) -> bool:
    """Tell whether a number of layers means all of them, as 99 and 999 do."""
    return shape.span is not None and division.layers is not None and division.layers >= _MORE_THAN_ALL


def _scaled(shape: Shape, part: Decimal) -> Shape:
    """Return a share of a model; layers are rounded up."""
    return replace(
        shape,
        parameters=None if shape.parameters is None else _up(shape.parameters * part),
        weights_bytes=None if shape.weights_bytes is None else _up(shape.weights_bytes * part),
        least_bytes=None if shape.least_bytes is None else int(shape.least_bytes * part),
        layers=tuple(_scaled_layers(kind, part) for kind in shape.layers),
    )


def _scaled_layers(kind: Layers, part: Decimal) -> Layers:
    return replace(kind, count=_up(kind.count * part))


def _up(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_CEILING))

"""Builds the memory case of a workload from its command line, its placement and the known shapes.

Functions return a message in place of a value if a required fact is unknown.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from ....contract.quantity import GIB
from ....engines.formats.faults import FormatUse, computed_type
from ....engines.memory.encoders import encoder_of
from ....engines.memory.reserve import DraftKind
from ....engines.memory.rows import Device, memory_of
from ....engines.memory_settings.layout import ModelLayout
from ....engines.memory_settings.reader import MemorySettings
from ....engines.memory_settings.table import memory_settings_table
from ....engines.registry import engines
from ....engines.scripts.commands import engine_line
from ....engines.settings import Setting
from ....fleet.demand import PodDemand
from ....fleet.instances import Instance, instance, is_accelerator
from ....fleet.workloads import NamedWeights, Server, SpreadField, Workload
from ..accelerators.devices import capability
from ..architecture_names import architecture_of
from ..cases import NO_ACCELERATOR, NOTHING, EngineMemory, MemoryCase, Parallel
from ..shapes import UNQUANTIZED, Layers, Shape, heads_of
from .known import KnownShapes

_SUPPORTED = frozenset({"nvidia.com/gpu", "amd.com/gpu"})
"""Accelerators for which the engines have memory figures."""
_LEAST_BITS = Decimal(2)
"""Bits per parameter of weights whose quantization is unknown."""
_ALL_LAYERS = 99
"""More layers than any model of unknown shape is assumed to have; examples of ggml-org/llama.cpp use ``-ngl 99``."""


_FLOAT32_BYTES = Decimal(4)


class Placement(NamedTuple):
    """Where the pods of one replica may run.

    Attributes:
        per_pod: Accelerators of a pod that has some.
        total: Accelerators of a replica.
        types: The instance types, in order of preference.
        is_open: Whether pods may also run on nodes of types that nothing names.
        host: Cores and bytes of memory that the pod with the most requests.
    """

    per_pod: int
    total: int
    types: tuple[str, ...]
    is_open: bool = False
    host: tuple[Decimal, Decimal] = NOTHING

    @property
    def pods(self) -> int:
        """Pods of a replica that have accelerators."""
        return -(-self.total // self.per_pod)


def loaded_weights(workload: Workload, settings: MemorySettings) -> tuple[NamedWeights, ...]:
    """Return the origins of what a server with some settings loads."""
    loaded = (settings.model, settings.draft)
    return tuple(source for source in workload.server.weights if source.loaded_as in loaded)


def placement_of(workload: Workload) -> Placement | str:
    counts = [
        (key, int(amount), demand)
        for demand in workload.pods
        for key, amount in demand.requests.items()
        if is_accelerator(key) and amount > 0
    ]
    if not counts:
        return NO_ACCELERATOR
    unsupported = next((key for key, _, _ in counts if key not in _SUPPORTED), "")
    if unsupported:
        return f"no figures on the memory use of servers on {unsupported}"
    choices = [choice for _, _, demand in counts for choice in (demand.choices or (None,))]
    types = [name for choice in choices if choice for name in (choice.instance_type, *choice.alternatives) if name]
    if not types:
        return "the instance type of the nodes is unknown"
    return Placement(
        per_pod=max(amount for _, amount, _ in counts),
        total=sum(amount * demand.per_replica for _, amount, demand in counts),
        types=tuple(dict.fromkeys(types)),
        is_open=any(choice is None or choice.instance_type is None for choice in choices),
        host=(_most(counts, "cpu"), _most(counts, "memory")),
    )


def _most(counts: Sequence[tuple[str, int, PodDemand]], resource: str) -> Decimal:
    return max(demand.requests.get(resource, Decimal(0)) for _, _, demand in counts)


def device_of(instance_type: str) -> Instance | str:
    """Return an instance type whose accelerators and their memory are known."""
    node = instance(instance_type)
    if node is None:
        return f"unknown instance type {instance_type}"
    if not node.accelerators:
        return f"{instance_type} has no accelerators"
    if node.accelerator_memory_gib is None:
        return f"the accelerator memory of {instance_type} is unknown"
    return node


def spread_field(server: Server) -> SpreadField | None:
    """Return the fields that set parallelism: those of the family, otherwise flags of the engine.

    None if the engine has no flag for it, such as llama.cpp, which uses all accelerators by default.
    """
    if server.spread is not None:
        return server.spread
    line = engine_line(server.line) or server.line
    engine = engines().get(line.engine)
    tensor = engine.flag(Setting.TENSOR_PARALLEL) if engine else None
    if engine is None or tensor is None:
        return None
    place = "" if server.is_written else server.args.written

    def step(setting: Setting, flag: str, degree: str) -> str:
        if line.holds(setting):
            return f"set {flag} to {degree}" + (f" in {place}" if place else "")
        return f"add {flag} {degree}" + (f" to {place}" if place else "")

    tensor_step = step(Setting.TENSOR_PARALLEL, tensor, "{tensor}")
    pipeline = engine.flag(Setting.PIPELINE_PARALLEL)
    both = f"{tensor_step} and {step(Setting.PIPELINE_PARALLEL, pipeline, '{pipeline}')}" if pipeline else ""
    return SpreadField(tensor_step, both)


def no_videos_step(server: Server) -> str:
    """Return how to turn videos off with the flag for the limits of requests; empty if it is set, or without one."""
    line = engine_line(server.line) or server.line
    engine, reading = engines().get(line.engine), line.reading
    flag = engine.flag(Setting.MEDIA_LIMITS) if engine else None
    known = reading.table.find(flag) if reading and flag else None
    if reading is None or known is None or line.holds(Setting.MEDIA_LIMITS):
        return ""
    value = '{"video":0}' if known.form_in(reading.version).type == "json" else "video=0"
    return f"add {flag} {value}" + ("" if server.is_written else f" to {server.args.written}")


class ServerSpec(NamedTuple):
    """A server and its settings.

    Attributes:
        tag: Tag of its image.
        settings: Settings that affect memory.
        weights: Other names of what it loads.
        spread: Fields of the manifest that set the parallelism.
        no_videos: How to turn videos off; empty if the engine has no setting for it, or if it is set.
    """

    engine: str
    tag: str
    settings: MemorySettings
    weights: tuple[NamedWeights, ...] = ()
    spread: SpreadField | None = None
    no_videos: str = ""


class WorkloadCase(NamedTuple):
    """The memory case of a workload.

    Attributes:
        is_whole: Whether the case is the whole model; otherwise it is the part on the fullest accelerator.
    """

    case: MemoryCase
    is_whole: bool


def case_of(server: ServerSpec, placement: Placement, node: Instance, known: KnownShapes) -> WorkloadCase | str:
    settings, engine = server.settings, server.engine
    layout = settings.layout
    tensor = placement.per_pod if layout.tensor is None else layout.tensor
    pipeline = layout.pipeline
    if pipeline is None:
        # The engine divides layers over all accelerators by itself, like llama.cpp, unless shares are set.
        pipeline = 1 if layout.shares else placement.per_pod
    parallel = Parallel(tensor, pipeline, layout.data, layout.experts, layout.groups)
    used = len(layout.shares) or parallel.accelerators
    if used > placement.total:
        return f"the engine is set to use {used} accelerators, but a replica has {placement.total}"
    device_bytes = int((node.accelerator_memory_gib or 0) * GIB)
    device = Device(node.accelerator, device_bytes, used)
    if memory_of(engines()[engine], server.tag, device) is None:
        return f"no figures on the memory use of {engine}"
    table = memory_settings_table(engine)
    single_file = table is not None and table.single_files
    shape = known.find(settings.model, server.weights, single_file=single_file)
    draft = known.find(settings.draft, server.weights, single_file=single_file) if settings.draft else None
    if isinstance(shape, str):
        return shape
    if isinstance(draft, str):
        return draft
    if settings.draft_kind is DraftKind.HEADS and draft is None:
        draft = heads_of(shape)
    if settings.quantized and shape.span and not shape.dtype:
        least, most = settings.bits or (_LEAST_BITS, shape.span.most_bits)
        least, most = min(shape.span.least_bits, least), min(shape.span.most_bits, most)
        shape = replace(shape, span=shape.span._replace(least_bits=least, most_bits=most))
    if settings.quantized and shape.dtype in UNQUANTIZED:
        return f"the engine is set to load quantized weights, but those of {shape.name} are {shape.dtype}"
    settings = _computed_on(server, shape, node)
    offloaded = _offloaded_bytes(shape, layout, parallel)
    if isinstance(offloaded, str):
        return offloaded
    part = _part_on_accelerators(shape, layout)
    if isinstance(part, str):
        return part
    case = MemoryCase(
        shape=part,
        device=node.accelerator,
        device_bytes=device_bytes,
        parallel=parallel,
        dtype=settings.dtype,
        quantization=settings.quantization,
        weights_dtype=settings.converted if not shape.dtype or shape.dtype in UNQUANTIZED else "",
        cache_bytes=_cache_bytes(settings, part),
        context=settings.limits.context,
        sequences=settings.limits.sequences,
        batch_tokens=settings.batch_tokens,
        draft=draft,
        draft_tensor=settings.draft_tensor or parallel.tensor,
        draft_kind=settings.draft_kind,
        graph_requests=settings.graph_requests,
        adapters=settings.adapters,
        adapter_rank=settings.adapter_rank,
        offloaded_bytes=offloaded,
        share=settings.share,
        engine=engine,
        tag=server.tag,
        instance_type=node.name,
        per_node=node.accelerators,
        per_pod=placement.per_pod,
        pods=placement.pods,
        host=placement.host,
        spread=server.spread,
        media=settings.media,
        encoder=encoder_of(engines()[engine], shape.architecture or architecture_of(shape.name)),
        no_videos=server.no_videos,
    )
    budget = memory_of(engines()[engine], server.tag, device, case.traits)
    if budget is not None:
        case = replace(case, budget=_adjusted(budget, settings))
    return WorkloadCase(case, is_whole=part is shape)


def _computed_on(server: ServerSpec, shape: Shape, node: Instance) -> MemorySettings:
    """Return the settings of a server, with float32 where its engine takes that because of the accelerator."""
    settings, size = server.settings, int((node.accelerator_memory_gib or 0) * GIB)
    use = FormatUse(server.engine, server.tag, shape.name, shape.known_dtype, settings.dtype)
    if computed_type(use, capability(node.accelerator, size)) != "float32":
        return settings
    return replace(settings, converted="float32", key_bytes=_FLOAT32_BYTES, value_bytes=_FLOAT32_BYTES)


def _adjusted(budget: EngineMemory, settings: MemorySettings) -> EngineMemory:
    """Apply the settings of a command line to the defaults of an engine."""
    if not settings.graphs:
        budget = budget._replace(most_graphs=0)
    if settings.limits.is_open:
        budget = budget._replace(reserves_context=False, reserves_all=False)
    if settings.offloads_to_host:
        budget = budget._replace(spills=True)
    if budget.state_ratio:
        ratio = budget.state_ratio if settings.state_ratio is None else settings.state_ratio
        states = settings.states
        if not settings.prefix_caching:
            # Only the running requests have states then.
            states = settings.limits.sequences if states is None else states
            budget = budget._replace(state_slots=1)
        budget = budget._replace(state_ratio=ratio, states=states)
    return budget


def _cache_bytes(settings: MemorySettings, shape: Shape) -> Decimal:
    """Return the bytes per number of the cache, averaged over keys and values; never too few."""
    if settings.layout.cache_on_host:
        return Decimal(0)
    keys, values = settings.key_bytes, settings.value_bytes
    if keys == values or all(kind.value_dim == 0 for kind in shape.layers):
        return keys
    if all(kind.key_dim == kind.value_dim for kind in shape.layers):
        return (keys + values) / 2
    return max(keys, values)


def _offloaded_bytes(shape: Shape, layout: ModelLayout, parallel: Parallel) -> int | str:
    """Return the weights per accelerator that stay in host memory."""
    offloaded = int(layout.offloaded_gib * GIB)
    if layout.expert_layers == 0:
        return offloaded
    if shape.expert_share is None or shape.weights_bytes is None:
        return f"the engine keeps experts in host memory, but the size of those of {shape.name} is unknown"
    layers = sum(kind.count for kind in shape.layers) or 1
    share = Decimal(1) if layout.expert_layers is None else min(Decimal(layout.expert_layers) / layers, Decimal(1))
    return offloaded + int(shape.weights_bytes * shape.expert_share * share / (parallel.tensor * parallel.pipeline))


def _part_on_accelerators(shape: Shape, layout: ModelLayout) -> Shape | str:
    """Return the part of a model on the fullest accelerator, if the engine divides layers unevenly."""
    total = sum(kind.count for kind in shape.layers)
    if layout.layers == 0:
        return "the engine puts no layers on accelerators"
    unknown = f"the layers of {shape.name} are unknown"
    if layout.layers is not None and not total and (shape.span is None or layout.layers < _ALL_LAYERS):
        return unknown
    if shape.span and layout.shares:
        return unknown
    part = Decimal(1)
    if layout.layers is not None and total and layout.layers < total:
        part = Decimal(layout.layers) / total
    if layout.shares:
        part *= max(layout.shares) / sum(layout.shares)
    if part == 1:
        return shape

    def scaled(kind: Layers) -> Layers:
        return replace(kind, count=math.ceil(kind.count * part))

    return replace(
        shape,
        parameters=None if shape.parameters is None else math.ceil(shape.parameters * part),
        weights_bytes=None if shape.weights_bytes is None else math.ceil(shape.weights_bytes * part),
        least_bytes=None if shape.least_bytes is None else int(shape.least_bytes * part),
        layers=tuple(map(scaled, shape.layers)),
    )

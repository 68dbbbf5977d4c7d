"""Pace of a replica on an instance type: estimated from its model and accelerators, or assumed.

Speculative decoding, LoRA adapters and the network between nodes are not modelled.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from components.checks.memory.accelerators.choices import on_instance
from components.checks.memory.accelerators.speeds import DeviceSpeed, accelerator_speed, processor_speed
from components.checks.memory.arithmetic import judge
from components.checks.memory.cache import KeyCache
from components.checks.memory.cases import MemoryCase, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import rank_bytes, weights_of
from components.contract.tables import load_table
from components.fleet.instances import Instance, instance
from components.performance.sizing.cases import Profile

from ..fleet import PaceSource, TokenPace
from .profiles import Efficiency, StepWork, from_profile, from_roofline

_EIGHT_BITS = frozenset({"fp8", "nvfp4"})
_AVERAGED_TOKENS = 2**16
"""Tokens over which the growth of the cache is averaged, so that rounding per sequence does not matter."""
_LATENT_HEAD = 128 + 64 + 128
"""Width of a key and a value of a head with multi-head latent attention (DeepSeek-V3, arXiv 2412.19437)."""
_NVLINK4 = 900e9
"""Bytes per second of an accelerator with NVLink of the fourth generation."""
_PARAMETER_BYTES = 2
"""Bytes of a parameter that is not quantized, and of a number between layers."""
_GENERATIONS = ((1800e9, "blackwell"), (_NVLINK4, "hopper"), (0.0, "older"))
"""Generations of accelerators by the bandwidth of their links, fastest first."""


def assumed_pace() -> TokenPace:
    """Return the pace of a replica whose model or node is unknown."""
    row = _table()["assumed"]
    alpha, beta, prefill = (row[f"{name}_ms"] / 1000 for name in ("alpha", "beta", "prefill"))
    return TokenPace(alpha, beta, prefill, row["batch"], source=PaceSource.ASSUMED)


class PaceEstimate(NamedTuple):
    """An estimated pace.

    Attributes:
        spread: Factor within which nine of ten published times to the first token are, in either direction.
        faster, slower: Factors by which nine of ten published times between tokens are at most shorter and longer.
        beside_ms: Milliseconds by which times to the first token may be longer than that.
    """

    pace: TokenPace
    spread: float
    faster: float
    slower: float
    beside_ms: float


def estimated_pace(verdict: MemoryVerdict, instance_type: str) -> PaceEstimate | None:
    """Return the pace of a replica that a memory verdict describes.

    None if its model or its nodes are unknown, or if no measurement of its engine on such an accelerator is known.
    """
    pace, node = pace_of(verdict, instance_type), instance(instance_type)
    speed = accelerator_speed(node) if node and node.accelerators else None
    if pace.source is not PaceSource.ESTIMATE or verdict.asked is None or speed is None:
        return None
    known = ranges().get(engine_of(verdict.asked), {}).get(generation(speed))
    if known is None:
        return None
    return PaceEstimate(pace, known["first"], known["faster"], known["slower"], float(known.get("beside_ms", 0)))


def ranges() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the factors of :class:`PaceEstimate` by engine and generation of accelerators, where any are known."""
    known: dict[str, dict[str, Mapping[str, float]]] = {}
    for table in (_calibrated(), _table()):
        for engine, by_generation in table["ranges"].items():
            known.setdefault(engine, {}).update(by_generation)
    return known


def engine_of(case: MemoryCase) -> str:
    """Return the engine of a case; empty if it is unknown."""
    return case.engine or case.budget.engine


def generation(speed: DeviceSpeed) -> str:
    """Return the generation of an accelerator: ``blackwell``, ``hopper``, or ``older`` with slower links."""
    return next(name for least, name in _GENERATIONS if speed.nvlink >= least)


def profiled(profile: Profile, estimate: TokenPace) -> TokenPace:
    """Return the pace of a measured profile, such as that of a VariantAutoscaling.

    Args:
        profile: The measured values.
        estimate: Source of the values that a profile lacks.
    """
    return from_profile(profile.alpha, profile.beta, profile.batch, estimate)


def pace_of(
    verdict: MemoryVerdict, instance_type: str, shape: Shape | None = None, cpus: float | None = None
) -> TokenPace:
    """Return the pace of a replica on nodes of a type.

    Args:
        verdict: The plan's memory verdict about the workload on any type; its case is evaluated again on this type.
        instance_type: Type of the nodes; empty if unknown.
        shape: The model of a workload without accelerators, which has no case in the verdict.
        cpus: CPUs that such a workload requests; None for all of the node.
    """
    node, case = instance(instance_type), verdict.asked
    if node is None:
        return assumed_pace()
    estimate = _on_accelerators(node, case) if case else _on_processors(node, shape, cpus)
    return estimate or assumed_pace()


class Roofline(NamedTuple):
    """What an estimate of a replica on accelerators is computed from."""

    work: StepWork
    bandwidth: float
    flops: float
    bounds: TokenPace
    engine: str
    fast_links: bool

    def pace(self, known: Efficiency) -> TokenPace:
        """Return the pace with an efficiency."""
        return from_roofline(self.work, self.bandwidth, self.flops, known, self.bounds)


def _on_accelerators(node: Instance, planned: MemoryCase) -> TokenPace | None:
    found = roofline(node, planned)
    return found.pace(efficiency(found.engine, fast_links=found.fast_links)) if found else None


def roofline(node: Instance, planned: MemoryCase) -> Roofline | None:
    """Return what the estimate of a case on nodes of a type is computed from; None if too little is known."""
    speed = accelerator_speed(node) if node.accelerators else None
    verdict = judge(on_instance(planned, node, planned.parallel), types=False)
    case = verdict.asked
    if speed is None or case is None:
        return None
    # Weights in the host's memory: those that are offloaded, and those that do not fit if the engine spills.
    on_host = case.offloaded_bytes + (max(0, -verdict.margin) if case.budget.spills else 0)
    work = _work(case, on_host)
    if work is None:
        return None
    flops = speed.flops8 if (case.weights_dtype or case.shape.dtype) in _EIGHT_BITS else speed.flops
    batch = (case.requests or _table()["usual_batch"]) * case.parallel.data
    chunk = case.tokens_at_a_time(verdict.context or _usual_tokens(case))
    bounds = TokenPace(
        alpha=0.0, beta=0.0, prefill=0.0, batch=batch, cache_tokens=_cache_tokens(verdict), chunk=max(1, chunk)
    )
    return Roofline(work, speed.bandwidth, flops, bounds, engine_of(case), speed.nvlink >= _NVLINK4)


def _on_processors(node: Instance, shape: Shape | None, cpus: float | None) -> TokenPace | None:
    speed = processor_speed(node)
    if speed is None or shape is None or node.accelerators:
        return None
    work = _work(MemoryCase(shape, "", 0))
    used = min(cpus or node.vcpu, node.vcpu)
    if work is None or used <= 0:
        return None
    total = speed.times(used)
    bounds = TokenPace(0.0, 0.0, 0.0, 1, shape.max_context)
    return from_roofline(work, total.bandwidth, total.flops, efficiency(), bounds)


@functools.cache
def efficiency(engine: str = "", *, fast_links: bool = False) -> Efficiency:
    """Return the share of the peak performance that an engine reaches, and its overhead.

    Args:
        engine: Its name; engines without measurements of their own have those of round numbers.
        fast_links: Whether accelerators are linked by NVLink 4 or later.
    """
    table, fitted = _table(), _calibrated()
    if engine in fitted["engines"]:
        return calibrated(fitted["shared"], fitted["engines"][engine], fast_links=fast_links)
    names = (name for name in Efficiency.__dataclass_fields__ if name in table)
    found = Efficiency(**{name: float(table[name]) for name in names})
    found = replace(found, latent_us=found.layer_us)
    return replace(found, reduce_us=float(table["reduce_nvlink4_us"])) if fast_links else found


def calibrated(shared: Mapping[str, float], own: Mapping[str, float], *, fast_links: bool) -> Efficiency:
    """Return the efficiency of an engine from fitted parameters.

    Args:
        shared: Those of kernels and links, which all engines have in common.
        own: Those of the engine: ``overhead``, a factor of the overhead of layers; ``start_ms``, which is of
            benchmarks alone (:func:`.closed_loop.benchmark_times`); and attributes of the result.
        fast_links: Whether accelerators are linked by NVLink 4 or later; no point calibrates other links.
    """
    values = {name: value for name, value in {**shared, **own}.items() if name not in ("overhead", "start_ms")}
    for name in ("layer_us", "latent_us", "experts_us"):
        values[name] = shared[name] * own["overhead"]
    if not fast_links:
        values["reduce_us"] = float(_table()["reduce_us"])
    return Efficiency(**values, host=float(_table()["host"]))


def _work(case: MemoryCase, on_host: int = 0) -> StepWork | None:
    """Return the work of a rank in a step; None if the size or the layers of the model are unknown.

    Args:
        case: The model, its quantization and parallelism.
        on_host: Bytes of the weights of an accelerator that are in the host's memory.
    """
    shape, parallel = case.shape, case.parallel
    weights = weights_of(shape, case.weights_dtype)
    if isinstance(weights, str) or not shape.layers:
        return None
    dense_weights = weights._replace(total=weights.total - weights.experts, experts=0)
    total, dense = (
        rank_bytes(sizes, shape, parallel, spread=case.budget.spreads_experts) for sizes in (weights, dense_weights)
    )
    ranks = parallel.tensor * parallel.pipeline
    # An engine may keep more in memory, but reads only the window of layers that have one.
    cache = KeyCache(shape.layers, parallel, case.cache_bytes)
    # Beyond all windows, each token adds the same to the cache.
    far = 1 + max((kind.window or 0 for kind in shape.layers), default=0)
    token = (cache.of_sequence(far + _AVERAGED_TOKENS) - cache.of_sequence(far)) / _AVERAGED_TOKENS
    usual = _usual_tokens(case)
    pair, bounded = _attention(shape, usual)
    active_experts = Decimal(shape.active_experts) / shape.experts if shape.experts else Decimal(1)
    idle = (shape.expert_share or Decimal(0)) * (1 - active_experts)
    active_parameters = float(shape.parameters or weights.total / _PARAMETER_BYTES) * float(1 - idle)
    return StepWork(
        weights=dense,
        experts=total - dense,
        untouched=float(1 - active_experts),
        on_host=min(1.0, on_host / total) if total else 0.0,
        cache=max(0.0, cache.of_sequence(usual) - token * usual),
        token=token,
        # A multiplication and an addition for each active parameter.
        operations=(2 * active_parameters + bounded) / ranks,
        pair=pair / ranks,
        layers=sum(kind.count for kind in shape.layers),
        tensor=parallel.tensor,
        pipeline=parallel.pipeline,
        copies=parallel.data,
        hidden=float(_PARAMETER_BYTES * (shape.hidden or 0) * (1 + shape.active_experts)),
        is_latent=any(kind.is_latent for kind in shape.layers),
    )


def _usual_tokens(case: MemoryCase) -> int:
    """Return the average tokens of a request, which bound what layers with a window read."""
    usual: int = _table()["context"]
    return min(usual, case.length or usual)


def _attention(shape: Shape, usual: int) -> tuple[float, float]:
    """Return the operations of attention while a prompt is computed.

    In each head, a token is multiplied with the key and the value of each token before it, or in its window: two
    operations for each number.

    Returns:
        Operations for each pair of tokens, in layers without a window; for each token, in layers with a window.
    """
    pairs = bounded = 0.0
    for kind in shape.layers:
        heads = shape.heads or kind.kv_heads
        width = _LATENT_HEAD if kind.is_latent else kind.key_dim + kind.value_dim
        operations = 2.0 * kind.count * heads * width
        if kind.window is None:
            pairs += operations
        else:
            bounded += operations * min(kind.window, usual)
    return pairs, bounded


def _cache_tokens(verdict: MemoryVerdict) -> int | None:
    """Return the capacity of a replica's KV cache in tokens; None if unknown.

    A verdict has the cache of the requests that the engine reserves memory for, and the memory that is left.
    """
    case = verdict.asked
    part = next((part for part in verdict.parts if part.name.startswith("cache")), None)
    if case is None or part is None or not verdict.context:
        return None
    requests = max(1, case.requests or 1) if case.budget.reserves_all else 1
    tokens = verdict.context * requests
    if not case.budget.reserves_all:
        tokens = max(tokens, tokens * (part.size + max(0, verdict.margin)) // part.size)
    return tokens * case.parallel.data


@functools.cache
def _calibrated() -> Mapping[str, Any]:
    table: dict[str, Any] = load_table(__package__, "calibrated.yaml")
    return table


@functools.cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = load_table(__package__, "efficiency.yaml")
    return table

"""Pace of a replica on an instance type: estimated from its model and accelerators, or assumed.

Speculative decoding, LoRA adapters and the network between nodes are not modelled.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from components.checks.memory.accelerators.choices import on_instance
from components.checks.memory.accelerators.speeds import DeviceSpeed, accelerator_speed, processor_speed
from components.checks.memory.arithmetic import judge
from components.checks.memory.cache import KeyCache
from components.checks.memory.cases import MemoryCase, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import WeightSizes, rank_bytes, weights_of
from components.contract.tables import load_table
from components.fleet.instances import Instance, instance
from components.performance.sizing.cases import Profile

from ..fleet import PaceSource, TokenPace
from .profiles import Efficiency, StepWork, from_profile, from_roofline

_EIGHT_BITS = frozenset({"fp8", "nvfp4"})
_MANY = 2**16
"""Tokens over which the growth of the cache is averaged: what is rounded once per sequence does not count."""
_LATENT_HEAD = 128 + 64 + 128
"""Width of a key and a value of a head where one latent stands for all heads (DeepSeek-V3, arXiv 2412.19437)."""
_WORD = 2
"""Bytes of a parameter that is not quantized."""


def assumed_pace() -> TokenPace:
    """Return the pace of a replica whose model or node is unknown."""
    row = _table()["assumed"]
    alpha, beta, prefill = (row[f"{name}_ms"] / 1000 for name in ("alpha", "beta", "prefill"))
    return TokenPace(alpha, beta, prefill, row["batch"], source=PaceSource.ASSUMED)


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
    """Return how fast a replica is on nodes of a type.

    Args:
        verdict: Of the plan about the workload, on whatever type; what was asked there is asked of this type.
        instance_type: The nodes; empty where their type is not known.
        shape: The model, for a workload of which the verdict knows nothing because it has no accelerator.
        cpus: Processors that such a workload may use; None where that is all of the node.
    """
    node, asked = instance(instance_type), verdict.asked
    if node is None:
        return assumed_pace()
    found = _on_accelerators(node, asked) if asked else _on_processors(node, shape, cpus)
    return found or assumed_pace()


def _on_accelerators(node: Instance, asked: MemoryCase) -> TokenPace | None:
    speed = accelerator_speed(node) if node.accelerators else None
    verdict = judge(on_instance(asked, node, asked.parallel), types=False)
    case = verdict.asked
    work = _work(case, _on_host(verdict)) if case else None
    if speed is None or case is None or work is None:
        return None
    batch = (case.requests or _table()["usual_batch"]) * case.parallel.data
    chunk = case.tokens_at_a_time(verdict.context or _usual_tokens(case))
    bounds = TokenPace(0.0, 0.0, 0.0, batch, _cache_tokens(verdict), max(1, chunk))
    return from_roofline(work, speed.bandwidth, _flops(speed, case), efficiency(), bounds)


def _on_processors(node: Instance, shape: Shape | None, cpus: float | None) -> TokenPace | None:
    speed = processor_speed(node)
    if speed is None or shape is None or node.accelerators:
        return None
    work = _work(MemoryCase(shape, "", 0))
    used = min(cpus or node.vcpu, node.vcpu)
    if work is None or used <= 0:
        return None
    whole = speed.times(used)
    bounds = TokenPace(0.0, 0.0, 0.0, 1, shape.max_context)
    return from_roofline(work, whole.bandwidth, whole.flops, efficiency(), bounds)


@functools.cache
def efficiency() -> Efficiency:
    """Return the share of the peak performance that engines reach."""
    found = _table()
    return Efficiency(**{name: float(found[name]) for name in Efficiency.__dataclass_fields__})


def _on_host(verdict: MemoryVerdict) -> int:
    """Return how much of the weights of an accelerator is in the memory of the host: told so, or for lack of room."""
    case = verdict.asked
    if case is None:
        return 0
    return case.offloaded_bytes + (max(0, -verdict.margin) if case.budget.spills else 0)


def _work(case: MemoryCase, on_host: int = 0) -> StepWork | None:
    """Return the work of a rank in a step; None if the model is not known well enough."""
    shape, parallel = case.shape, case.parallel
    weights = weights_of(shape, case.weights_dtype)
    if isinstance(weights, str) or not shape.layers:
        return None
    spread = case.budget.spreads_experts
    dense = replace(weights, total=weights.total - weights.experts, experts=0)
    whole, read = (rank_bytes(each, shape, parallel, spread=spread) for each in (weights, dense))
    ranks = parallel.tensor * parallel.pipeline
    # What is kept in memory is another matter: of layers with a window no engine reads more than that.
    cache = KeyCache(shape.layers, parallel, case.cache_bytes)
    # Beyond all windows the cache grows by the same for each token.
    far = 1 + max((kind.window or 0 for kind in shape.layers), default=0)
    token = cache.of_sequence(far + _MANY) - cache.of_sequence(far)
    usual = _usual_tokens(case)
    pair, bounded = _attention(shape, usual)
    return StepWork(
        weights=read,
        experts=whole - read,
        untouched=float(1 - _touched(shape)),
        on_host=min(1.0, on_host / whole) if whole else 0.0,
        cache=max(0.0, cache.of_sequence(usual) - token / _MANY * usual),
        token=token / _MANY,
        operations=(2 * _active_parameters(shape, weights) + bounded) / ranks,
        pair=pair / ranks,
        layers=sum(kind.count for kind in shape.layers),
        tensor=parallel.tensor,
        pipeline=parallel.pipeline,
        copies=parallel.data,
    )


def _usual_tokens(case: MemoryCase) -> int:
    """Return how many tokens a request has on average, for layers that read so many of them and no more."""
    usual: int = _table()["context"]
    return min(usual, case.length or usual)


def _attention(shape: Shape, usual: int) -> tuple[float, float]:
    """Return the operations of attention while a prompt is computed.

    A token is multiplied with the key and the value of each token before it, in each head: two operations for each
    number. Layers with a window do so with the window alone.

    Returns:
        For each token and one before it, in layers without a window; for each token, in layers with one.
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


def _touched(shape: Shape) -> Decimal:
    """Return the share of the experts that one token activates."""
    return Decimal(shape.active_experts) / shape.experts if shape.experts else Decimal(1)


def _active_parameters(shape: Shape, weights: WeightSizes) -> float:
    """Return the number of parameters that a token activates."""
    parameters = shape.parameters or weights.total / _WORD
    idle = (shape.expert_share or Decimal(0)) * (1 - _touched(shape))
    return float(parameters) * float(1 - idle)


def _flops(speed: DeviceSpeed, case: MemoryCase) -> float:
    loaded = case.weights_dtype or case.shape.dtype
    return speed.flops8 if loaded in _EIGHT_BITS else speed.flops


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
def _table() -> Mapping[str, Any]:
    found: dict[str, Any] = load_table(__package__, "efficiency.yaml")
    return found

"""The pace of a replica from a measured profile, or from a roofline estimate: weights, bandwidth and FLOP/s."""

from dataclasses import dataclass, replace

from ..fleet import PaceSource, TokenPace

_MILLI = 1e-3
_MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The share of the peak performance of accelerators that engines reach, and their overhead (``efficiency.yaml``).

    Attributes:
        weights: Share of the memory bandwidth when weights are read.
        cache: Share of the memory bandwidth when the KV cache is read.
        compute: Share of the FLOP/s.
        layer_us: Overhead of a layer in microseconds.
        latent_us: The same with multi-head latent attention.
        experts_us: Additional overhead of a layer with experts, in microseconds.
        reduce_us: Time of an all-reduce over the ranks of tensor parallelism, in microseconds.
        request_us: Overhead of each request in a step, in microseconds.
        host: Bandwidth from the host's memory to an accelerator, in bytes per second.
        passes: How often a token's hidden state is read or written in a layer, and again for each of its experts.
        eager: Overhead of the layers of a step with prompts beside that of other steps, as a multiple of it.
        latency_ms: Milliseconds of a request before it is in the queue.
        token_us: Microseconds that each prompt token adds to them.
    """

    weights: float
    cache: float
    compute: float
    layer_us: float
    experts_us: float
    reduce_us: float
    request_us: float
    host: float
    latent_us: float = 0.0
    passes: float = 0.0
    eager: float = 0.0
    latency_ms: float = 0.0
    token_us: float = 0.0


@dataclass(frozen=True, slots=True)
class StepWork:
    """The work of a replica's most loaded rank in a step: bytes to read, and floating-point operations.

    Attributes:
        weights: Bytes that a step reads for any batch: all weights except experts.
        experts: Bytes of all experts.
        untouched: Share of the experts that one token does not activate.
        cache: Bytes of the cache of a request that do not grow with its tokens: layers with a window, states.
        token: Bytes of the cache of one token, in layers where the cache grows.
        operations: Operations for each prompt token, in one stage.
        pair: Operations for each pair of a prompt token and one before it, in one stage.
        layers: Layers of the model.
        on_host: Share of the weights that is offloaded to the host's memory, and read from there.
        tensor: Degree of tensor parallelism.
        pipeline: Degree of pipeline parallelism.
        copies: Degree of data parallelism.
        hidden: Bytes of a token's hidden state, times one more than the experts that it activates.
        is_latent: Whether attention is on latents (MLA).
    """

    weights: float
    cache: float
    operations: float
    layers: int
    experts: float = 0.0
    untouched: float = 1.0
    token: float = 0.0
    pair: float = 0.0
    on_host: float = 0.0
    tensor: int = 1
    pipeline: int = 1
    copies: int = 1
    hidden: float = 0.0
    is_latent: bool = False


def from_profile(alpha_ms: float, beta_ms: float, batch: int, estimate: TokenPace) -> TokenPace:
    """Return the pace of a measured profile, which has no values for prompts and the cache (WVA spec 8.1).

    Args:
        alpha_ms: Milliseconds of a step without requests.
        beta_ms: Milliseconds that each request adds.
        batch: Maximum requests in a step.
        estimate: Source of all other values. If it is only assumed, prompts take no time, as in the queueing model.
    """
    is_assumed = estimate.source is PaceSource.ASSUMED
    return replace(
        estimate,
        alpha=alpha_ms * _MILLI,
        beta=beta_ms * _MILLI,
        batch=batch,
        prefill=0.0 if is_assumed else estimate.prefill,
        attention=0.0 if is_assumed else estimate.attention,
        # A profile measures the steps of real requests, which include the time to read their cache and experts.
        cached=0.0,
        experts=0.0,
        untouched=1.0,
        source=PaceSource.PROFILE,
    )


def from_roofline(
    work: StepWork, bandwidth: float, flops: float, efficiency: Efficiency, bounds: TokenPace
) -> TokenPace:
    """Estimate a pace from the bytes that a rank reads and the operations that it computes.

    A step reads the weights once, the experts that its tokens activate, and the cache of each request. With pipeline
    parallelism, a token passes all stages in turn, while the other stages process other requests: a step takes the
    time for the weights of all stages, and each request adds its time in one stage. A prompt also passes all stages;
    stages that process several prompts at a time are not modelled. A token of an answer is computed as one of a
    prompt is: its operations, and the passes over its hidden state in memory.

    Args:
        work: The work of a rank.
        bandwidth: Peak memory bandwidth of an accelerator, in bytes per second.
        flops: Peak FLOP/s of an accelerator.
        efficiency: Share of the peaks that engines reach.
        bounds: Source of batch, cache and chunk.
    """
    # Two all-reduces per layer: after the attention and after the feed-forward network.
    reduces = 2 * efficiency.reduce_us if work.tensor > 1 else 0.0
    routing = efficiency.experts_us if work.experts else 0.0
    kernels = work.layers * ((efficiency.latent_us if work.is_latent else efficiency.layer_us) + routing) * _MICRO
    overhead = kernels + work.layers * reduces * _MICRO
    seconds_per_byte = (1 - work.on_host) / (bandwidth * efficiency.weights) + work.on_host / efficiency.host
    token = work.operations * work.pipeline / (flops * efficiency.compute)
    token += work.layers * work.hidden * efficiency.passes / bandwidth
    request = work.cache / (bandwidth * efficiency.cache) + efficiency.request_us * _MICRO
    if efficiency.passes:
        request += token / work.pipeline
    return replace(
        bounds,
        alpha=work.pipeline * work.weights * seconds_per_byte + overhead,
        beta=request / work.copies,
        prefill=token,
        cached=work.token / (bandwidth * efficiency.cache) / work.copies,
        attention=work.pair * work.pipeline / (flops * efficiency.compute),
        experts=work.pipeline * work.experts * seconds_per_byte,
        untouched=work.untouched ** (1 / work.copies),
        eager=kernels * efficiency.eager,
        latency=efficiency.latency_ms * _MILLI,
        tokenizing=efficiency.token_us * _MICRO,
        source=PaceSource.ESTIMATE,
    )

"""From numbers to a pace: a profile that was measured, or weights and bandwidth."""

from dataclasses import dataclass, replace

from ..fleet import PaceSource, TokenPace

_MILLI = 1e-3
_MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What engines get of what accelerators could do (``efficiency.yaml``).

    Attributes:
        weights: Part of the bandwidth, when weights are read.
        cache: Part of the bandwidth, when the cache is read.
        compute: Part of the operations a second, when prompts are computed.
        layer_us: What a layer takes beside, in microseconds.
        experts_us: What a layer with experts takes beside that.
        reduce_us: What a sum over the ranks of tensor parallelism takes.
        request_us: What each request adds to a step.
        host: Bytes of the memory of the host that an accelerator reads in a second.
    """

    weights: float
    cache: float
    compute: float
    layer_us: float
    experts_us: float
    reduce_us: float
    request_us: float
    host: float


@dataclass(frozen=True, slots=True)
class StepWork:
    """What the fullest rank of a replica does: bytes that it reads and operations.

    Attributes:
        weights: Bytes that each step reads for any batch: all weights except experts.
        experts: All experts.
        untouched: The part of them that one token does not go through.
        cache: Of one request, beside what grows with its tokens: layers with a window, states.
        token: Cache of one token, where it grows.
        operations: For each token of a prompt, in one stage.
        pair: Operations for each token of a prompt and one before it, in one stage.
        layers: Of the model.
        on_host: The part of the weights that is in the memory of the host, and read from there.
        tensor: Ranks that share each layer.
        pipeline: Stages that a token goes through one after the other.
        copies: Ranks among which requests are divided (data parallelism).
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


def from_profile(alpha_ms: float, beta_ms: float, batch: int, estimate: TokenPace) -> TokenPace:
    """Return the pace of a profile, which knows nothing of prompts and of the cache (WVA spec 8.1).

    Args:
        alpha_ms: Milliseconds of a step without requests.
        beta_ms: What each request adds.
        batch: Requests in a step, at most.
        estimate: Tells the rest. Where even that is assumed, prompts take no time, as in the model of queues.
    """
    is_assumed = estimate.source is PaceSource.ASSUMED
    return replace(
        estimate,
        alpha=alpha_ms * _MILLI,
        beta=beta_ms * _MILLI,
        batch=batch,
        prefill=0.0 if is_assumed else estimate.prefill,
        attention=0.0 if is_assumed else estimate.attention,
        # Its steps are those of whole requests: with their cache, and the experts that they went through.
        cached=0.0,
        experts=0.0,
        untouched=1.0,
        source=PaceSource.PROFILE,
    )


def from_roofline(
    work: StepWork, bandwidth: float, flops: float, efficiency: Efficiency, bounds: TokenPace
) -> TokenPace:
    """Estimate a pace from what a rank reads and computes.

    A step reads the weights once, of experts those that its tokens go through, and the cache of each request. With
    several stages a token goes through all of them, while the others work on other requests: so a step takes the
    weights of all stages, and a request adds what it takes in one of them. A prompt goes through all stages, too;
    that they could work on several prompts at once is left out.

    Args:
        work: What a rank does.
        bandwidth: Bytes a second that an accelerator can read at best.
        flops: Operations a second at best.
        efficiency: What is got of both.
        bounds: Batch, cache and chunk.
    """
    sums = 2 * efficiency.reduce_us if work.tensor > 1 else 0.0
    routing = efficiency.experts_us if work.experts else 0.0
    fixed = work.layers * (efficiency.layer_us + routing + sums) * _MICRO
    byte = (1 - work.on_host) / (bandwidth * efficiency.weights) + work.on_host / efficiency.host
    request = work.cache / (bandwidth * efficiency.cache) + efficiency.request_us * _MICRO
    return replace(
        bounds,
        alpha=work.pipeline * work.weights * byte + fixed,
        beta=request / work.copies,
        prefill=work.operations * work.pipeline / (flops * efficiency.compute),
        cached=work.token / (bandwidth * efficiency.cache) / work.copies,
        attention=work.pair * work.pipeline / (flops * efficiency.compute),
        experts=work.pipeline * work.experts * byte,
        untouched=work.untouched ** (1 / work.copies),
        source=PaceSource.ESTIMATE,
    )

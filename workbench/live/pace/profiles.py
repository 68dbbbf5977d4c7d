"""From numbers to a pace: a profile that was measured, or weights and bandwidth."""

from dataclasses import dataclass, replace

from ..served import PaceSource, TokenPace

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
        reduce_us: What a sum over the ranks of tensor parallelism takes.
        request_us: What each request adds to a step.
        host: Bytes of the memory of the host that an accelerator reads in a second.
    """

    weights: float
    cache: float
    compute: float
    layer_us: float
    reduce_us: float
    request_us: float
    host: float


@dataclass(frozen=True, slots=True)
class StepWork:
    """What the fullest rank of a replica does: bytes that it reads and operations.

    Attributes:
        weights: Read in each step: of experts those that a few requests go through.
        experts: Further experts that each request makes it read, on average.
        cache: Of one request, on average.
        operations: For each token of a prompt, in one stage.
        layers: Of the model.
        on_host: Weights that are read in each step from the memory of the host.
        tensor: Ranks that share each layer.
        pipeline: Stages that a token goes through one after the other.
        copies: Ranks among which requests are divided (data parallelism).
    """

    weights: float
    experts: float
    cache: float
    operations: float
    layers: int
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
        source=PaceSource.PROFILE,
    )


def from_roofline(
    work: StepWork, bandwidth: float, flops: float, efficiency: Efficiency, bounds: TokenPace
) -> TokenPace:
    """Estimate a pace from what a rank reads and computes.

    A step reads the weights once, and the cache of each request. With several stages a token goes through all of
    them, while the others work on other requests: so a step takes the weights of all stages, and a request adds what
    it takes in one of them. A prompt goes through all stages, too; that they could work on several prompts at once is
    left out.

    Args:
        work: What a rank does.
        bandwidth: Bytes a second that an accelerator can read at best.
        flops: Operations a second at best.
        efficiency: What is got of both.
        bounds: Batch, cache and chunk.
    """
    sums = 2 * efficiency.reduce_us if work.tensor > 1 else 0.0
    fixed = work.layers * (efficiency.layer_us + sums) * _MICRO
    reading = work.weights / (bandwidth * efficiency.weights) + work.on_host / efficiency.host
    request = (
        work.cache / (bandwidth * efficiency.cache)
        + work.experts / (bandwidth * efficiency.weights)
        + efficiency.request_us * _MICRO
    )
    return replace(
        bounds,
        alpha=work.pipeline * reading + fixed,
        beta=request / work.copies,
        prefill=work.operations * work.pipeline / (flops * efficiency.compute),
        source=PaceSource.ESTIMATE,
    )

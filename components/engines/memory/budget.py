"""What an engine does with the memory of an accelerator."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """What an engine does with the memory of an accelerator, where its command line does not say otherwise.

    The numbers of each engine and version are data of ``engines``. Sizes are per accelerator, and the least that was
    measured; ``spread_bytes`` is by how much more servers were seen to take.

    Attributes:
        share: Share of the memory that the engine may use; None where it takes what it needs.
        share_used: Which part of its share it uses, whoever set that.
        fixed_bytes: What it takes of its share beside weights, cache and activations: libraries, graphs.
        beside_bytes: What it takes beside its share: the context of its process, and graphs that it does not count.
        weights_share: What it takes beside that, as a share of the weights of one accelerator.
        sequences: Requests at once; None where the engine decides by what is left.
        batch_tokens: Tokens that are computed at a time; None where that is the context.
        chunks_above: Context above which it computes requests in parts where nothing says so; None where it does not.
        chunk: Tokens of such a part.
        reserves_context: Whether it refuses to start unless one request of the whole context fits.
        reserves_all: Whether it takes the cache of all requests at once when it starts (llama.cpp).
        reserves_states: Whether it refuses to start unless it can keep a fixed state for each request at once.
        activations_beside: Whether activations are computed in what the share leaves (SGLang), not in it.
        cache_share: Which part of what is left becomes cache.
        block: How many tokens the cache grows by.
        copies: How often it keeps the outer width of a token that it computes.
        logit_bytes: What it takes for each number that it chooses the next token by.
        logits_of_all: Whether it keeps those of all tokens that it computes at a time, not only of the last ones.
        windows: Whether the cache of layers with a window stops growing there; else it holds the whole context.
        spreads_experts: Whether data parallel ranks share the experts, even without expert parallelism.
        loads_whole: Whether it loads weights as they are kept before it quantizes them, and needs room for that.
        spills: Whether it keeps in the memory of the host what does not fit, and gets slow.
        cuts: Whether it refuses a degree of tensor parallelism that does not divide the attention heads.
        process_bytes: Of what it takes beside its share, the context of its process.
        layer_graphs: The most that the graphs of a layer were seen to take beside its share.
        expert_graphs: Likewise of a layer with experts.
        most_graphs: The most that graphs of any model were seen to take there.
        image_bytes: The most that reading images and sounds was seen to take.
        mxfp4_share: By which part weights in MXFP4 grow at most when a kernel fills them up.
        spread_bytes: By how much more than the sum of all of this servers were seen to take.
    """

    share: Decimal | None = None
    share_used: Decimal = Decimal(1)
    fixed_bytes: int = 0
    beside_bytes: int = 0
    weights_share: Decimal = Decimal(0)
    sequences: int | None = None
    batch_tokens: int | None = None
    chunks_above: int | None = None
    chunk: int = 0
    reserves_context: bool = True
    reserves_all: bool = False
    reserves_states: bool = False
    activations_beside: bool = False
    cache_share: Decimal = Decimal(1)
    block: int = 1
    copies: int = 2
    logit_bytes: int = 0
    logits_of_all: bool = False
    windows: bool = True
    spreads_experts: bool = False
    loads_whole: bool = False
    spills: bool = False
    cuts: bool = True
    process_bytes: int = 0
    layer_graphs: int = 0
    expert_graphs: int = 0
    most_graphs: int = 0
    image_bytes: int = 0
    mxfp4_share: Decimal = Decimal(0)
    spread_bytes: int = 0

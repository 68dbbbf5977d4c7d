"""How an engine uses the memory of an accelerator."""

from decimal import Decimal
from typing import NamedTuple


class EngineMemory(NamedTuple):
    """How an engine uses the memory of an accelerator by default.

    The numbers are in ``memory.yaml`` of the engines, by version. Sizes are per accelerator, and the
    smallest measured ones; some measured servers used up to ``spread_bytes`` more.

    Attributes:
        engine: Name of the engine; empty for an ideal one.
        share: Share of the memory that the engine may use; None if it allocates what it needs.
        share_used: Fraction of that share that it uses.
        fixed_bytes: Memory within its share other than weights, cache and activations: libraries, graphs.
        beside_bytes: Memory outside its share: the context of its process, and graphs that it does not count.
        weights_share: Further memory, as a share of the weights of one accelerator.
        sequences: Maximum concurrent requests; None if only the remaining memory limits them.
        batch_tokens: Tokens computed at a time; None for the whole context.
        chunks_above: Context above which it computes requests in chunks by default; None for never.
        chunk: Tokens of such a chunk.
        reserves_context: Whether it refuses to start unless one request of the whole context fits.
        reserves_all: Whether it allocates the cache of all requests at startup (llama.cpp).
        reserves_states: Whether it refuses to start without room for the fixed states of all concurrent requests.
        activations_beside: Whether activations are computed outside of the share (SGLang).
        share_of_free: Whether the share is of what is free beside the context of the process, not of all memory.
        slot_bytes: Bytes per token of the context that it keeps outside the share for each request that it may run.
        least_slots: Fewest requests for which it keeps them, if their number is not set.
        most_slots: Most requests for which it keeps them.
        graph_requests: Requests in the largest CUDA graph.
        state_ratio: Memory of fixed states, as a multiple of the memory of the cache that grows; 0 if both share one
            pool.
        state_slots: States that each request needs.
        states: Number of states that it keeps; None if it follows from the ratio.
        cache_share: Fraction of the remaining memory that becomes cache.
        block: Number of tokens by which the cache grows.
        copies: Copies of the hidden state of each token in a step.
        logit_bytes: Memory per logit, including temporary copies.
        logits_of_all: Whether it computes the logits of all tokens of a step, not only of the last ones.
        windows: Whether the cache of sliding-window layers stops growing at the window.
        window_share: Part of the tokens that they keep if it does not.
        spreads_experts: Whether data parallel ranks share the experts, even without expert parallelism.
        loads_whole: Whether it loads unquantized weights before it quantizes them, and needs room for them.
        spills: Whether it keeps in host memory what does not fit, which is slow.
        cuts: Whether it rejects a tensor parallel size that does not divide the attention heads.
        process_bytes: The part of ``beside_bytes`` that is the context of its process.
        layer_graphs: Largest measured size of the graphs of one layer outside its share.
        expert_graphs: The same for a layer with experts.
        most_graphs: Largest measured size of all graphs outside its share.
        graphs_per_stage: Whether each accelerator captures its graphs once for every stage of pipeline parallelism.
        image_bytes: Largest measured memory for encoding images and audio, for encoders whose widths are unknown.
        whole_requests: Whether it encodes all images and videos of a request at a time.
        mxfp4_share: Largest fraction by which kernels pad weights in MXFP4.
        spread_bytes: Largest measured excess over the sum of all of these.
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
    share_of_free: bool = False
    slot_bytes: int = 0
    least_slots: int = 0
    most_slots: int = 0
    graph_requests: int = 0
    state_ratio: Decimal = Decimal(0)
    state_slots: int = 1
    states: int | None = None
    cache_share: Decimal = Decimal(1)
    block: int = 1
    copies: int = 2
    logit_bytes: int = 0
    logits_of_all: bool = False
    windows: bool = True
    window_share: Decimal = Decimal(1)
    spreads_experts: bool = False
    loads_whole: bool = False
    spills: bool = False
    cuts: bool = True
    process_bytes: int = 0
    layer_graphs: int = 0
    expert_graphs: int = 0
    most_graphs: int = 0
    graphs_per_stage: bool = False
    image_bytes: int = 0
    whole_requests: bool = False
    mxfp4_share: Decimal = Decimal(0)
    spread_bytes: int = 0
    engine: str = ""

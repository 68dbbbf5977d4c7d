"""The memory that an engine leaves free by default, for activations and CUDA graphs.

The columns of ``reserve`` in ``memory.yaml``, in MiB:

    base: always. per_rank: for each accelerator.
    per_batch_token: for each token computed at a time, at least ``tokens_at_least`` of them.
    per_graph_request: for each request in the largest CUDA graph.
    per_prefill_graph: for each size of a prefill graph, up to the tokens computed at a time; ``prefill_sizes`` lists
      ranges of these sizes as (last, step). latent_prefill_graphs: for all of them if the cache consists of latents.
    heads, draft: for drafts of the model's own heads, and of a model of its own.
    groups: if attention runs in data parallel. per_group_request: for each request in the largest graph, and group;
      per_large_group_request is added for graphs of more than ``large_graph`` requests.
    at_least: the least of these.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple


class DraftKind(StrEnum):
    """What proposes tokens in speculative decoding."""

    NONE = ""
    HEADS = "heads"
    """Heads or a small model that continue the computation of the model (EAGLE, MTP)."""
    MODEL = "model"
    """A model of its own."""


class ServerTraits(NamedTuple):
    """What a server computes, as far as the memory that an engine reserves depends on it.

    Attributes:
        batch_tokens: Tokens computed at a time; None for the engine's default.
        graph_requests: Requests in the largest CUDA graph; None for the engine's default.
        has_latents: Whether its cache consists of latents (MLA).
        has_images: Whether it also accepts images or audio.
        tower: Size of the encoder of images, as a multiple of that of CLIP ViT-L/14.
        draft: What proposes tokens.
        groups: Groups of ranks that run attention in data parallel.
        is_simple: Whether it is neither spread over stages nor adapted; only then prefill has graphs.
    """

    batch_tokens: int | None = None
    graph_requests: int | None = None
    has_latents: bool = False
    has_images: bool = False
    tower: Decimal = Decimal(1)
    draft: DraftKind = DraftKind.NONE
    groups: int = 1
    is_simple: bool = True


NO_TRAITS = ServerTraits()
_NONE = Decimal(0)
_LEAST_FACTOR, _MOST_FACTOR = Decimal("0.8"), Decimal("1.05")
"""Bounds of the factor for the size of an encoder (SGLang, ``adjust_mem_fraction_for_vlm``)."""


def reserved_mib(reserve: Mapping[str, Any], traits: ServerTraits, *, ranks: int, tokens: int, graph: int) -> Decimal:
    """Return the memory that an engine leaves free, in MiB.

    Args:
        reserve: The columns of ``reserve``.
        traits: What the server computes.
        ranks: Accelerators of a replica.
        tokens: Tokens computed at a time.
        graph: Requests in the largest CUDA graph.
    """

    def size(name: str) -> Decimal:
        return Decimal(str(reserve.get(name, 0)))

    reserved = size("base") + size("per_rank") * ranks + size("per_graph_request") * graph
    reserved += size("per_batch_token") * max(tokens, int(size("tokens_at_least")))
    if traits.groups > 1:
        reserved += size("groups") + size("per_group_request") * graph * traits.groups
        if graph > size("large_graph"):
            reserved += size("per_large_group_request") * graph * traits.groups
    if traits.is_simple and traits.groups == 1 and not traits.has_images:
        if traits.has_latents:
            reserved += size("latent_prefill_graphs")
        else:
            reserved += size("per_prefill_graph") * _prefill_graphs(reserve.get("prefill_sizes", ()), tokens)
    reserved = max(reserved, size("at_least"))
    if traits.draft is not DraftKind.NONE:
        reserved += size("heads" if traits.draft is DraftKind.HEADS else "draft")
    return reserved


def tower_factor(share: Decimal, sensitivity: Decimal, traits: ServerTraits) -> Decimal:
    """Return the factor by which an engine lowers its share for the encoder of images.

    Args:
        share: The factor for an encoder of the size of CLIP ViT-L/14.
        sensitivity: How much larger encoders lower it.
        traits: What the server computes.
    """
    if not traits.has_images:
        return Decimal(1)
    factor = 1 - sensitivity * (traits.tower - 1)
    return share * max(_LEAST_FACTOR, min(_MOST_FACTOR, factor))


def _prefill_graphs(sizes: Iterable[tuple[int, int]], tokens: int) -> int:
    """Return the number of sizes up to a number of tokens."""
    count = start = 0
    for last, step in sizes:
        count += max(0, min(last, tokens) - start) // step
        start = last
    return count

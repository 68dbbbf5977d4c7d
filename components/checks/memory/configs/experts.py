"""Layers with experts, and the widths of these, from a model's ``config.json``."""

from typing import NamedTuple

from .values import ConfigValues

_MOST_EXPERTS = 1_000_000


class ExpertLayers(NamedTuple):
    """Experts of a model.

    Attributes:
        layers: Number of layers with experts.
        number: Experts of such a layer that tokens are routed to.
        active: Experts that a token is routed to.
        width: Inner width of one of them.
        shared: Total inner width of the shared experts, which process every token.
    """

    layers: int
    number: int
    active: int
    width: int
    shared: int


def experts_of(values: ConfigValues, layers: int) -> ExpertLayers | None:
    """Return the experts of a model, given its number of layers; None without experts."""
    number = values.maybe("num_experts", "num_local_experts", "n_routed_experts", least=0, most=_MOST_EXPERTS)
    if not number:
        return None
    width = values.number("moe_intermediate_size", "intermediate_size")
    sparse = _sparse(values, layers)
    active = values.number("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts")
    shared = values.maybe("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", least=0)
    if shared is None:
        shared = width * (values.maybe("n_shared_experts", "num_shared_experts", least=0) or 0)
    return ExpertLayers(sparse, number, active, width, shared)


def _sparse(values: ConfigValues, layers: int) -> int:
    """Return the number of layers with experts: all but the first ones, or every n-th."""
    letters, names = values.text("hybrid_override_pattern"), values.texts("layers_block_type")
    if letters or names:
        return letters.count("E") + names.count("moe")
    pattern = values.keys.get("moe_layer_freq")
    if isinstance(pattern, list):
        return sum(1 for has in values.numbers("moe_layer_freq") if has)
    first = values.maybe("first_k_dense_replace", least=0) or 0
    step = values.maybe("decoder_sparse_step", "interleave_moe_layer_step") or 1
    dense = set(values.numbers("mlp_only_layers"))
    return sum(1 for place in range(first, layers) if (place + 1) % step == 0 and place not in dense)

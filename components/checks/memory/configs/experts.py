"""Which layers of a model have experts, and how wide they are, by its ``config.json``."""

from dataclasses import dataclass

from .values import ConfigValues

_MOST_EXPERTS = 1_000_000


@dataclass(frozen=True, slots=True)
class ExpertLayers:
    """Experts of a model.

    Attributes:
        layers: How many layers have them.
        number: How many each of those has.
        active: How many of them a token goes through.
        width: Inner width of one.
        shared: Inner width of those that every token goes through.
    """

    layers: int
    number: int
    active: int
    width: int
    shared: int


def experts_of(values: ConfigValues, layers: int) -> ExpertLayers | None:
    """Return the experts of a model with so many layers; None where it has none."""
    number = values.maybe("num_experts", "num_local_experts", "n_routed_experts", least=0, most=_MOST_EXPERTS)
    if not number:
        return None
    width = values.number("moe_intermediate_size", "intermediate_size")
    return ExpertLayers(
        layers=_sparse(values, layers),
        number=number,
        active=values.number("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts"),
        width=width,
        shared=_shared(values, width),
    )


def _sparse(values: ConfigValues, layers: int) -> int:
    """Return how many layers have experts: all but the first ones, or every n-th."""
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


def _shared(values: ConfigValues, width: int) -> int:
    given = values.maybe("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", least=0)
    if given is not None:
        return given
    return width * (values.maybe("n_shared_experts", "num_shared_experts", least=0) or 0)

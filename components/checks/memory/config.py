"""Reads the shape of a model from its ``config.json``, in the format of Hugging Face's transformers."""

from dataclasses import replace
from decimal import Decimal

from .configs.attention import UNKNOWN, head_dim, layer_kinds, layers_of
from .configs.experts import ExpertLayers, experts_of
from .configs.parameters import Counted, count, embeddings, is_known, replicated
from .configs.quantization import Quantized, quantized
from .configs.values import ConfigValues, parsed
from .shapes import Layers, Shape, tower_size

_TOWERS = ("vision_config", "audio_config", "vision_tower")
"""Parts other than the text model; their parameters are not counted."""
_SCALED = frozenset({"linear", "dynamic", "yarn", "deepseek_yarn", "mrope_yarn"})
"""Types of position scaling that extend the trained context; other types leave the stated context unchanged."""
_LONGEST = 10**9
_RENAMED = {
    "chatglm": {
        "multi_query_group_num": "num_key_value_heads",
        "kv_channels": "head_dim",
        "ffn_hidden_size": "intermediate_size",
        "padded_vocab_size": "vocab_size",
    }
}
"""Keys of models with custom code, by ``model_type``, and their names in transformers."""


def read_config(text: str, name: str) -> Shape:
    """Return the shape of a model.

    Unknown values are None: the parameters of architectures that are not listed, or with a vision tower.

    Args:
        text: Content of a ``config.json``.
        name: Name of the model.

    Raises:
        ValueError: The text is not a valid configuration; the message names the key.
    """
    whole = parsed(text, name)
    inner = whole.part("text_config") or whole.part("llm_config") or whole.part("language_config")
    values = whole if inner is None else ConfigValues(name, inner.keys, inner.path, whole)
    model = values.text("model_type")
    renamed = {new: values.keys[old] for old, new in _RENAMED.get(model, {}).items() if old in values}
    if renamed:
        values = replace(values, keys=renamed | dict(values.keys))
    kinds = layer_kinds(values, model)
    experts = experts_of(values, len(kinds))
    images = any(tower in whole for tower in _TOWERS)
    counted = None if images else count(values, model, kinds, experts)
    shape = _shape(name, values, weights=quantized(values, whole), kinds=kinds, experts=experts, counted=counted)
    architecture = next(iter(whole.texts("architectures")), "")
    return replace(shape, images=images, tower=_tower(whole), architecture=architecture)


def _shape(
    name: str,
    values: ConfigValues,
    weights: Quantized,
    kinds: tuple[str, ...],
    experts: ExpertLayers | None,
    counted: Counted | None,
) -> Shape:
    layers = () if "block_configs" in values else layers_of(values, kinds)
    known = "vocab_size" in values
    return Shape(
        name=name,
        parameters=counted.total if counted else None,
        dtype=weights.dtype,
        layers=layers,
        heads=values.maybe("num_attention_heads", "n_head"),
        max_context=_context(values),
        hidden=values.number("hidden_size", "n_embd"),
        vocabulary=values.maybe("vocab_size"),
        expert_share=Decimal(counted.experts) / counted.total if counted and counted.experts else None,
        experts=experts.number if experts else 0,
        active_experts=experts.active if experts else 0,
        intermediate=experts.width if experts else values.maybe("intermediate_size"),
        embeddings=embeddings(values, values.text("model_type")) if known else None,
        replicated=replicated(values, kinds),
        block=weights.block,
        cuts=_cuts(values, layers, experts) if weights.block else (),
        exact=is_known(values.text("model_type")) and UNKNOWN not in kinds,
        source="its config.json",
    )


def _tower(whole: ConfigValues) -> Decimal:
    """Return the size of the encoder of images as SGLang reads it, which defaults to that of CLIP ViT-L/14."""
    vision = whole.part("vision_config")
    if vision is None:
        return Decimal(1)
    return tower_size(vision.maybe("num_hidden_layers") or 24, vision.maybe("hidden_size") or 1024)


def _context(values: ConfigValues) -> int | None:
    """Return the longest context, as vLLM derives it (``_get_and_verify_max_len``)."""
    given = values.maybe(
        "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length", most=_LONGEST
    )
    scaling = values.part("rope_scaling") or values.part("rope_parameters")
    # Gemma 3 states the context after scaling.
    if given is None or scaling is None or values.text("model_type") == "gemma3_text":
        return given
    kind = scaling.text("rope_type", "type")
    factor = scaling.factor("factor") if kind in _SCALED else None
    if factor is None:
        return given
    trained = scaling.maybe("original_max_position_embeddings", most=_LONGEST) if "yarn" in kind else None
    return min(_LONGEST, int((given if trained is None else trained) * factor))


def _cuts(values: ConfigValues, layers: tuple[Layers, ...], experts: ExpertLayers | None) -> tuple[int, ...]:
    """Return the widths that tensor parallelism divides: of feed-forward networks, and of all heads together."""
    widths = {experts.width if experts else values.maybe("intermediate_size")}
    if not any(kind.is_latent for kind in layers):
        widths.add(values.number("num_attention_heads", "n_head") * head_dim(values))
    return tuple(sorted(width for width in widths if width))

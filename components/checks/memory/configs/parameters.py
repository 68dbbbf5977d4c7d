"""The number of parameters of a model, from its ``config.json``: exact for the listed architectures.

Checked against publishers: Llama-3.1-8B 8,030,261,248, Qwen2.5-7B 7,615,616,512, Mixtral-8x7B 46,702,792,704.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....contract.tables import load_table
from .attention import LINEAR, MAMBA, NOTHING, head_dim, indexers, kv_heads
from .experts import ExpertLayers
from .values import ConfigValues

_UNCOUNTED = ("moe_latent_size", "block_configs")
"""Keys of variants with a different structure."""


class Architecture(NamedTuple):
    """Properties of the models of one ``model_type`` that their configurations do not state.

    Attributes:
        qkv_bias: Whether queries, keys and values have biases.
        out_bias: Whether the output of attention has a bias.
        out_unbiased: Whether it has none even if ``attention_bias`` is set.
        qk_norm: Whether queries and keys have norms: of a ``head``, or of ``all`` heads together.
        qk_norm_asked: Whether they have them only if ``use_qk_norm`` is set.
        norms: Number of norms per layer.
        norm_bias: Whether norms have biases.
        tied: Whether output and input share the embeddings by default.
        sinks: Whether attention has a sink: a number per head that absorbs attention no token gets.
        plain: Whether feed-forward networks have two matrices instead of three.
        network_bias: Whether they have biases by default.
        router_bias: Whether the router of experts has a bias.
        expert_bias: Whether experts have biases.
        shared_gate: Whether shared experts, which process every token, have a gate.
        shared: Number of shared experts, if no key states it.
        dense_width: Key of the inner width of layers without experts.
    """

    qkv_bias: bool = False
    out_bias: bool = False
    out_unbiased: bool = False
    qk_norm: str = ""
    qk_norm_asked: bool = False
    norms: int = 2
    norm_bias: bool = False
    tied: bool = False
    sinks: bool = False
    plain: bool = False
    network_bias: bool = False
    router_bias: bool = False
    expert_bias: bool = False
    shared_gate: bool = False
    shared: int = 0
    dense_width: str = "intermediate_size"


_PLAIN = Architecture()


class Counted(NamedTuple):
    """Parameters of a model.

    Attributes:
        experts: Those of the experts that tokens are routed to.
        embeddings: Those of the input and output embeddings.
    """

    total: int
    experts: int
    embeddings: int


def count(values: ConfigValues, model: str, kinds: Sequence[str], experts: ExpertLayers | None) -> Counted | None:
    """Count the parameters of a model; None for architectures that are not listed."""
    traits = _counted().get(model)
    if traits is None or any(key in values for key in _UNCOUNTED):
        return None
    hidden = values.number("hidden_size")
    routed = experts.layers * experts.number * _network(values, traits, experts.width) if experts else 0
    ends = embeddings(values, model)
    rest = _networks(values, traits, kinds, experts)

    mamba = kinds.count(MAMBA)
    attention = len(kinds) - mamba - kinds.count(NOTHING)
    rest += attention * (_latent(values) if "kv_lora_rank" in values else _attention(values, traits))
    indexed = indexers(values, attention)
    rest += indexed * _indexer(values) if indexed else 0
    rest += mamba * _mamba(values) if mamba else 0

    if experts and traits.expert_bias:
        rest += experts.layers * experts.number * (2 * experts.width + hidden)
    norms = (len(kinds) * traits.norms + 1) * hidden * (1 + traits.norm_bias)
    if values.flag("lm_head_bias"):
        rest += values.number("vocab_size")
    return Counted(ends + rest + norms + routed, routed, ends)


def embeddings(values: ConfigValues, model: str) -> int:
    """Count the parameters of input and output embeddings."""
    tied = values.flag("tie_word_embeddings", default=_counted().get(model, _PLAIN).tied)
    return values.number("vocab_size") * values.number("hidden_size", "n_embd") * (1 if tied else 2)


def replicated(values: ConfigValues, kinds: Sequence[str]) -> int:
    """Count the parameters that every rank holds in full: latents and the index (vLLM ``ReplicatedLinear``)."""
    if "kv_lora_rank" not in values:
        return 0
    layers = sum(1 for kind in kinds if kind not in (MAMBA, NOTHING, LINEAR))
    latent = values.number("kv_lora_rank") + values.number("qk_rope_head_dim") + (values.maybe("q_lora_rank") or 0)
    indexed = indexers(values, layers)
    return layers * values.number("hidden_size") * latent + (indexed * _indexer(values) if indexed else 0)


def is_known(model: str) -> bool:
    """Return whether the cache of models of a ``model_type`` is exactly what their configurations state."""
    return model in _counted() or model in _table()["cached"]


@functools.cache
def _counted() -> Mapping[str, Architecture]:
    return {model: Architecture(**row) for model, row in _table()["counted"].items()}


@functools.cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_table(__package__, "architectures.yaml")
    return table


def _attention(values: ConfigValues, traits: Architecture) -> int:
    hidden, heads, size = values.number("hidden_size"), values.number("num_attention_heads"), head_dim(values)
    keys = kv_heads(values) * size
    queries, out = heads * size, heads * (values.maybe("v_head_dim") or size)
    matrices = hidden * (queries + 2 * keys) + out * hidden
    both = values.flag("attention_bias")
    out_bias = traits.out_bias or (both and not traits.out_unbiased)
    biases = (queries + 2 * keys) * (traits.qkv_bias or both) + hidden * out_bias
    has_norms = not traits.qk_norm_asked or values.flag("use_qk_norm")
    norms = {"head": 2 * size, "all": queries + keys}.get(traits.qk_norm, 0) * has_norms
    return matrices + biases + norms + heads * traits.sinks


def _latent(values: ConfigValues) -> int:
    """Multi-head latent attention (deepseek_v3 ``DeepseekV3Attention``)."""
    hidden, heads = values.number("hidden_size"), values.number("num_attention_heads")
    nope, rope = values.number("qk_nope_head_dim"), values.number("qk_rope_head_dim")
    latent, value = values.number("kv_lora_rank"), values.number("v_head_dim")
    rank = values.maybe("q_lora_rank")
    wide = heads * (nope + rope)
    queries = hidden * wide if rank is None else hidden * rank + rank + rank * wide
    keys = hidden * (latent + rope) + latent + latent * heads * (nope + value)
    return queries + keys + heads * value * hidden


def _indexer(values: ConfigValues) -> int:
    """The index of DeepSeek V3.2 (deepseek_v32 ``DeepseekV32Indexer``)."""
    size, heads = values.number("index_head_dim"), values.number("index_n_heads")
    hidden = values.number("hidden_size")
    rank = values.maybe("q_lora_rank") or hidden
    return rank * heads * size + hidden * size + 2 * size + hidden * heads


def _networks(values: ConfigValues, traits: Architecture, kinds: Sequence[str], experts: ExpertLayers | None) -> int:
    """Count the parameters of feed-forward networks, without the experts that tokens are routed to."""
    hidden = values.number("hidden_size")
    layers = len(kinds) if MAMBA not in kinds else kinds.count(NOTHING)
    if experts is None:
        return layers * _network(values, traits, values.number("intermediate_size"))
    sparse = min(layers, experts.layers)
    shared = experts.shared + traits.shared * experts.width
    router = hidden * experts.number + experts.number * traits.router_bias
    per_layer = router + _network(values, traits, shared) + hidden * traits.shared_gate
    dense = layers - sparse
    width = values.number(traits.dense_width, "intermediate_size") if dense else 0
    return sparse * per_layer + (dense * _network(values, traits, width) if dense else 0)


def _network(values: ConfigValues, traits: Architecture, width: int) -> int:
    matrices = 2 if traits.plain else 3
    hidden = values.number("hidden_size")
    biases = ((matrices - 1) * width + hidden) * values.flag("mlp_bias", default=traits.network_bias)
    return matrices * hidden * width + biases


def _mamba(values: ConfigValues) -> int:
    """Mamba 2 (nemotron_h ``NemotronHMamba2Mixer``)."""
    hidden, heads = values.number("hidden_size"), values.number("mamba_num_heads")
    inner = heads * values.number("mamba_head_dim")
    groups = 2 * values.number("n_groups") * values.number("ssm_state_size")
    convolution = (inner + groups) * (values.number("conv_kernel") + values.flag("use_conv_bias", default=True))
    return hidden * (2 * inner + groups + heads) + convolution + 3 * heads + inner + inner * hidden

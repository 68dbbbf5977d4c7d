"""The cache of each layer, per token and per sequence, from a model's ``config.json``.

Sources: the configuration classes of huggingface/transformers v5 (``layer_types`` and its defaults in gemma2, gemma3,
gpt_oss, llama4, qwen2, qwen3_next, cohere2), and vLLM's ``MambaStateShapeCalculator``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from ..shapes import Layers
from .values import ConfigValues

_MOST_LAYERS = 10_000
FULL, WINDOW, CHUNK, LINEAR, MAMBA, NOTHING = "full", "window", "chunk", "linear", "mamba", "nothing"
UNKNOWN = "unknown"
"""A layer of an unknown kind; it counts as one that caches the whole context."""
_TYPES = {
    "full_attention": FULL,
    "attention": FULL,
    "sliding_attention": WINDOW,
    "chunked_attention": CHUNK,
    "linear_attention": LINEAR,
    "deepseek_sparse_attention": FULL,
    "mamba": MAMBA,
    "moe": NOTHING,
    "mlp": NOTHING,
}
_PATTERN = {"*": FULL, "M": MAMBA, "E": NOTHING, "-": NOTHING}
"""Letters of ``hybrid_override_pattern``: attention, Mamba, experts, feed-forward."""
_INTERVALS = {"gemma2": 2, "gemma3_text": 6, "gpt_oss": 2, "cohere2": 4}
"""Every n-th layer caches the whole context, if ``config.json`` does not list the layers."""
_WINDOWED = frozenset({"mistral", "mixtral", "phi3", "starcoder2"})
"""Models in which all layers use the window of the configuration."""


def layer_kinds(values: ConfigValues, model: str) -> tuple[str, ...]:
    """Return the kind of each layer.

    Raises:
        ValueError: The number of listed layers is not ``num_hidden_layers``.
    """
    block_types = values.texts("layers_block_type")
    if block_types:
        return tuple(_TYPES.get(name, UNKNOWN) for name in block_types)
    count = values.number("num_hidden_layers", "n_layer", "num_layers", most=_MOST_LAYERS)
    kinds: Iterable[str]
    if (linear := values.part("linear_attn_config")) is not None:
        full = set(linear.numbers("full_attn_layers"))
        kinds = (FULL if position in full else LINEAR for position in range(1, count + 1))
    elif "layer_types" in values:
        kinds = (_TYPES.get(name, UNKNOWN) for name in values.texts("layer_types"))
    elif "hybrid_override_pattern" in values:
        kinds = (_PATTERN.get(letter, UNKNOWN) for letter in values.text("hybrid_override_pattern"))
    elif "hybrid_layer_pattern" in values:
        kinds = (WINDOW if number else FULL for number in values.numbers("hybrid_layer_pattern"))
    elif "full_attention_interval" in values:
        kinds = _every(values.number("full_attention_interval"), LINEAR, count)
    elif "attention_chunk_size" in values and "sliding_window" not in values:
        # Llama 4: layers with rotary positions attend to a chunk; every fourth one has none and attends to all.
        if rotary := values.numbers("no_rope_layers"):
            kinds = (CHUNK if is_rotary else FULL for is_rotary in rotary)
        else:
            kinds = _every(values.maybe("no_rope_layer_interval") or 4, CHUNK, count)
    else:
        kinds = _windowed(values, model, count)
    kinds = tuple(kinds)
    if len(kinds) != count:
        field = f"{values.path}num_hidden_layers"
        raise ValueError(f"{values.name}: {field} is {count}, and {len(kinds)} layers are listed")
    return kinds


def _every(interval: int, other: str, count: int) -> Iterator[str]:
    """Yield the kinds of layers of which every n-th one caches the whole context."""
    yield from (FULL if position % interval == 0 else other for position in range(1, count + 1))


def _windowed(values: ConfigValues, model: str, count: int) -> Iterator[str]:
    """Yield the kinds of layers of which some or all have a sliding window."""
    interval = values.maybe("sliding_window_pattern", "_sliding_window_pattern") or _INTERVALS.get(model)
    if "sliding_window" not in values:
        yield from (FULL for _ in range(count))
    elif "use_sliding_window" in values:
        first = values.maybe("max_window_layers", least=0) if values.flag("use_sliding_window") else None
        yield from (FULL if first is None or position < first else WINDOW for position in range(count))
    elif interval is not None:
        yield from _every(interval, WINDOW, count)
    else:
        yield from (WINDOW if model in _WINDOWED else FULL for _ in range(count))


def layers_of(values: ConfigValues, kinds: tuple[str, ...]) -> tuple[Layers, ...]:
    """Return the layers of a model by kind, without those that cache nothing.

    Layers that share the cache of others are not counted (``num_kv_shared_layers``).
    """
    shared = values.maybe("num_kv_shared_layers", least=0, most=len(kinds)) or 0
    counts = Counter(kinds[: len(kinds) - shared] if shared else kinds)
    layers: list[Layers] = []
    for kind, count in sorted(counts.items()):
        if kind == NOTHING:
            continue
        if kind == LINEAR:
            layers.append(Layers(count, state_bytes=_linear_state(values)))
        elif kind == MAMBA:
            layers.append(Layers(count, state_bytes=_mamba_state(values)))
        elif "kv_lora_rank" in values:
            latent = values.number("kv_lora_rank") + values.number("qk_rope_head_dim")
            indexed = min(count, indexers(values, count))
            if indexed:
                # DeepSeek V3.2 caches an index key per token, in FP8 with scales (vLLM DeepseekV32IndexerCache).
                size = values.maybe("index_head_dim") or 0
                index_bytes = size + 4 * -(-size // 128)
                layers.append(Layers(indexed, 1, latent, 0, is_latent=True, token_bytes=index_bytes))
            if indexed < count:
                layers.append(Layers(count - indexed, 1, latent, 0, is_latent=True))
        else:
            layers.append(_attention(values, kind, count))
    return tuple(layers)


def head_dim(values: ConfigValues) -> int:
    """Return the size of a head: ``head_dim``, or the hidden size divided by the heads."""
    size = values.maybe("head_dim", "attention_head_dim")
    if size is not None:
        return size
    return max(1, values.number("hidden_size", "n_embd") // values.number("num_attention_heads", "n_head"))


def kv_heads(values: ConfigValues) -> int:
    """Return the number of key-value heads, by default that of query heads."""
    return values.maybe("num_key_value_heads", "num_kv_heads") or values.number("num_attention_heads", "n_head")


def indexers(values: ConfigValues, count: int) -> int:
    """Return the number of layers with an index of their own; in GLM 5.2, several layers share one."""
    if "index_head_dim" not in values:
        return 0
    types = values.texts("indexer_types")
    return types.count("full") if types else count


def _attention(values: ConfigValues, kind: str, count: int) -> Layers:
    """Return attention layers. Layers with a window (MiMo) or without one (Gemma 4) may have other heads."""
    heads, key = kv_heads(values), head_dim(values)
    value = values.maybe("v_head_dim") or key
    if kind in (FULL, UNKNOWN):
        size = values.maybe("global_head_dim")
        heads = values.maybe("num_global_key_value_heads") or heads
        return Layers(count, heads, size or key, size or value)
    if kind == CHUNK:
        return Layers(count, heads, key, value, window=values.number("attention_chunk_size"))
    heads = values.maybe("swa_num_key_value_heads") or heads
    key, value = values.maybe("swa_head_dim") or key, values.maybe("swa_v_head_dim") or value
    return Layers(count, heads, key, value, window=values.number("sliding_window"))


def _linear_state(values: ConfigValues) -> int:
    """Gated delta nets: the state of a head is a matrix, and the convolution keeps previous inputs."""
    config = values.part("linear_attn_config")
    if config is not None:
        heads, size = config.number("num_heads"), config.number("head_dim")
        kernel = config.number("short_conv_kernel_size")
        return heads * size * size * 4 + 3 * heads * size * (kernel - 1) * 2
    keys, heads = values.number("linear_num_key_heads"), values.number("linear_num_value_heads")
    key, value = values.number("linear_key_head_dim"), values.number("linear_value_head_dim")
    width = 2 * keys * key + heads * value
    number = 4 if values.text("mamba_ssm_dtype") == "float32" else 2
    return heads * key * value * number + width * (values.number("linear_conv_kernel_dim") - 1) * 2


def _mamba_state(values: ConfigValues) -> int:
    """Mamba 2: the state of a head is a matrix, and the convolution keeps previous inputs."""
    heads = values.number("mamba_num_heads", "mamba_n_heads")
    size = values.number("mamba_head_dim", "mamba_d_head")
    state = values.number("ssm_state_size", "mamba_d_state")
    width = heads * size + 2 * values.number("n_groups", "mamba_n_groups") * state
    number = 4 if values.text("mamba_ssm_cache_dtype") == "float32" else 2
    return heads * size * state * number + width * (values.number("conv_kernel", "mamba_d_conv") - 1) * 2

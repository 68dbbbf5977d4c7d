"""Shapes that are read from a config.json: counts are those that publishers tell."""

from decimal import Decimal
from typing import Any

import pytest

from components.checks.memory.shapes import Layers
from components.contract.quantity import GIB
from tests.checks.memory.configs.models import CHATGLM, LLAMA, MIXTRAL, MLA, QWEN, read


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        pytest.param(LLAMA, 8_030_261_248, id="Llama-3.1-8B"),
        pytest.param(
            LLAMA
            | {"num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64, "intermediate_size": 28672},
            70_553_706_496,
            id="Llama-3.1-70B",
        ),
        pytest.param(
            LLAMA | {"model_type": "mistral", "vocab_size": 32768, "rope_scaling": None},
            7_248_023_552,
            id="Mistral-7B-v0.3",
        ),
        pytest.param(
            LLAMA
            | {"num_hidden_layers": 16, "hidden_size": 2048, "intermediate_size": 8192, "tie_word_embeddings": True},
            1_235_814_400,
            id="Llama-3.2-1B",
        ),
        pytest.param(MIXTRAL, 46_702_792_704, id="Mixtral-8x7B"),
        pytest.param(QWEN, 8_190_735_360, id="Qwen3-8B"),
        pytest.param(
            LLAMA
            | {
                "model_type": "qwen2",
                "num_hidden_layers": 28,
                "hidden_size": 3584,
                "num_attention_heads": 28,
                "num_key_value_heads": 4,
                "intermediate_size": 18944,
                "vocab_size": 152064,
            },
            7_615_616_512,
            id="Qwen2.5-7B",
        ),
        pytest.param(
            MLA
            | {
                "model_type": "deepseek_v2",
                "num_hidden_layers": 27,
                "hidden_size": 2048,
                "num_attention_heads": 16,
                "intermediate_size": 10944,
                "moe_intermediate_size": 1408,
                "n_routed_experts": 64,
                "num_experts_per_tok": 6,
                "n_shared_experts": 2,
                "first_k_dense_replace": 1,
                "q_lora_rank": None,
                "vocab_size": 102400,
            },
            15_706_484_224,
            id="DeepSeek-V2-Lite",
        ),
        pytest.param(
            LLAMA | {"model_type": "cohere", "vocab_size": 256000, "tie_word_embeddings": None},
            8_028_033_024,
            id="aya-23-8B",
        ),
        pytest.param(
            LLAMA
            | {"model_type": "olmo2", "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352},
            7_298_617_344,
            id="OLMo-2-1124-7B",
        ),
        pytest.param(
            LLAMA
            | {
                "model_type": "starcoder2",
                "hidden_size": 4608,
                "num_attention_heads": 36,
                "num_key_value_heads": 4,
                "intermediate_size": 18432,
                "vocab_size": 49152,
                "tie_word_embeddings": None,
            },
            7_173_923_840,
            id="starcoder2-7b",
        ),
        pytest.param(
            LLAMA
            | {
                "model_type": "phimoe",
                "intermediate_size": 6400,
                "num_local_experts": 16,
                "num_experts_per_tok": 2,
                "vocab_size": 32064,
                "attention_bias": True,
                "lm_head_bias": True,
            },
            41_873_153_344,
            id="Phi-3.5-MoE",
        ),
        pytest.param(LLAMA | {"model_type": "internlm2", "vocab_size": 92544}, 7_737_708_544, id="internlm2-7b"),
        pytest.param(CHATGLM, 9_399_951_360, id="glm-4-9b"),
    ],
)
def test_parameters_are_exact(config: dict[str, Any], parameters: int) -> None:
    assert read(config).parameters == parameters


@pytest.mark.parametrize(
    ("model", "norms"),
    [
        # transformers: glm4_moe norms each head alike, cohere each head on its own; both only where it is asked for.
        ("glm4_moe", 32 * 2 * 128),
        ("cohere", 32 * (32 + 8) * 128),
    ],
)
def test_norms_of_queries_and_keys_that_are_asked_for(model: str, norms: int) -> None:
    without = read(LLAMA | {"model_type": model}).parameters
    asked = read(LLAMA | {"model_type": model, "use_qk_norm": True}).parameters
    assert without
    assert asked == without + norms


def test_the_output_of_attention_of_glm_has_no_bias() -> None:
    without = read(LLAMA | {"model_type": "glm4_moe"}).parameters
    assert without
    assert read(LLAMA | {"model_type": "glm4_moe", "attention_bias": True}).parameters == without + 32 * 6144
    assert read(LLAMA | {"attention_bias": True}).parameters == 8_030_261_248 + 32 * (6144 + 4096)


def test_chatglm_calls_its_dimensions_otherwise() -> None:
    shape = read(CHATGLM)
    assert shape.layers == (Layers(40, 2, 128, 128),)
    assert (shape.max_context, shape.vocabulary, shape.intermediate) == (8192, 151552, 13696)
    assert shape.exact


def test_deepseek_has_671_billion_parameters_of_which_most_are_experts() -> None:
    shape = read(MLA)
    assert shape.parameters == pytest.approx(671.03e9, rel=1e-5)
    # 58 layers of 256 experts of three matrices.
    assert shape.expert_share == Decimal(58 * 256 * 3 * 7168 * 2048) / (shape.parameters or 1)
    assert shape.layers == (Layers(61, 1, 576, 0, is_latent=True),)
    assert (shape.experts, shape.active_experts, shape.intermediate) == (256, 8, 2048)


def test_a_model_without_experts_has_no_share_of_them() -> None:
    shape = read(LLAMA)
    assert (shape.expert_share, shape.experts, shape.active_experts) == (None, 0, 0)
    assert (shape.heads, shape.hidden, shape.vocabulary, shape.intermediate) == (32, 4096, 128256, 14336)
    assert shape.layers == (Layers(32, 8, 128, 128),)
    assert shape.embeddings == 2 * 128256 * 4096
    assert shape.exact


@pytest.mark.parametrize(
    ("rope", "context"),
    [
        (None, 40960),
        # Llama's scaling is in the number already, as is that of Phi.
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}, 40960),
        ({"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]}, 40960),
        # Qwen's model card: 32,768 tokens, and 131,072 with YaRN.
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
        ({"type": "linear", "factor": 2}, 81920),
        ({"rope_type": "dynamic", "factor": 2.5}, 102400),
        ({"rope_type": "default", "rope_theta": 1000000}, 40960),
    ],
    ids=["none", "llama3", "longrope", "yarn", "linear", "dynamic", "default"],
)
def test_scaled_positions_make_the_context_longer(rope: dict[str, Any] | None, context: int) -> None:
    assert read(QWEN | {"rope_scaling": rope}).max_context == context
    assert read(QWEN | {"rope_scaling": None, "rope_parameters": rope}).max_context == context


def test_the_context_of_gemma_3_is_that_of_scaled_positions_already() -> None:
    """What vLLM says of it (``_get_and_verify_max_len``)."""
    gemma = QWEN | {"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    assert read(gemma).max_context == 40960


@pytest.mark.parametrize(
    ("keys", "full", "windowed"),
    [
        ({"layer_types": ["sliding_attention", "full_attention"] * 18, "sliding_window": 128}, 18, {128: 18}),
        ({"sliding_window_pattern": 6, "sliding_window": 1024}, 6, {1024: 30}),
        # Qwen2: the first layers have no window.
        ({"use_sliding_window": True, "max_window_layers": 28, "sliding_window": 4096}, 28, {4096: 8}),
        ({"use_sliding_window": False, "max_window_layers": 28, "sliding_window": 4096}, 36, {}),
        ({"model_type": "mistral", "sliding_window": 4096}, 0, {4096: 36}),
        ({"sliding_window": None}, 36, {}),
        ({"hybrid_layer_pattern": [0] + [1] * 35, "sliding_window": 128}, 1, {128: 35}),
        # Llama 4: every fourth layer has no rotary positions and no chunk.
        ({"attention_chunk_size": 8192}, 9, {8192: 27}),
        ({"attention_chunk_size": 8192, "no_rope_layers": [0] + [1] * 35}, 1, {8192: 35}),
        # Gemma: keys and values of the last layers are those of layers before.
        ({"num_kv_shared_layers": 16}, 20, {}),
    ],
    ids=["types", "pattern", "first", "off", "all", "none", "mimo", "chunks", "listed-chunks", "shared"],
)
def test_windows(keys: dict[str, Any], full: int, windowed: dict[int, int]) -> None:
    layers = read(QWEN | keys).layers
    assert sum(kind.count for kind in layers if kind.window is None) == full
    assert {kind.window: kind.count for kind in layers if kind.window} == windowed


def test_layers_with_and_without_a_window_have_heads_of_their_own() -> None:
    types = {"layer_types": ["sliding_attention", "full_attention"] * 18, "sliding_window": 1024}
    gemma = read(QWEN | types | {"num_global_key_value_heads": 4, "global_head_dim": 512})
    assert set(gemma.layers) == {Layers(18, 4, 512, 512), Layers(18, 8, 128, 128, window=1024)}
    mimo = read(QWEN | types | {"swa_num_key_value_heads": 16, "v_head_dim": 64})
    assert set(mimo.layers) == {Layers(18, 8, 128, 64), Layers(18, 16, 128, 64, window=1024)}


def test_linear_layers_have_a_fixed_state() -> None:
    """vLLM, issue 49064: a place for one request of Qwen3.8-27B takes 16 x 3.2 MB."""
    linear = {
        "full_attention_interval": 4,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
    }
    state = 48 * 128 * 128
    convolution = (2 * 16 * 128 + 48 * 128) * 3 * 2
    wide = read(QWEN | linear | {"mamba_ssm_dtype": "float32"})
    assert set(wide.layers) == {Layers(9, 8, 128, 128), Layers(27, state_bytes=state * 4 + convolution)}
    assert Layers(27, state_bytes=state * 2 + convolution) in read(QWEN | linear).layers


def test_nemotron_keeps_states_and_a_few_layers() -> None:
    """NVIDIA-Nemotron-3-Nano-30B-A3B: 58.82 GiB of 16-bit files."""
    pattern = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
    config = {
        "model_type": "nemotron_h",
        "hybrid_override_pattern": pattern,
        "num_hidden_layers": 52,
        "hidden_size": 2688,
        "num_attention_heads": 32,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "intermediate_size": 1856,
        "moe_intermediate_size": 1856,
        "moe_shared_expert_intermediate_size": 3712,
        "n_routed_experts": 128,
        "n_shared_experts": 1,
        "num_experts_per_tok": 6,
        "mamba_num_heads": 64,
        "mamba_head_dim": 64,
        "n_groups": 8,
        "ssm_state_size": 128,
        "conv_kernel": 4,
        "mamba_ssm_cache_dtype": "float32",
        "vocab_size": 131072,
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": False,
        "time_step_limit": [0.0, float("inf")],
    }
    shape = read(config)
    assert round(Decimal((shape.parameters or 0) * 2) / GIB, 2) == Decimal("58.82")
    state = 64 * 64 * 128 * 4 + (64 * 64 + 2 * 8 * 128) * 3 * 2
    assert set(shape.layers) == {Layers(6, 2, 128, 128), Layers(23, state_bytes=state)}
    names = {"M": "mamba", "E": "moe", "*": "attention"}
    listed = config | {"layers_block_type": [names[letter] for letter in pattern]}
    del listed["hybrid_override_pattern"], listed["num_hidden_layers"]
    assert read(listed) == shape


def test_deepseek_v32_keeps_an_index_beside() -> None:
    shape = read(MLA | {"model_type": "deepseek_v32", "index_head_dim": 128, "index_n_heads": 64})
    assert shape.layers == (Layers(61, 1, 576, 0, is_latent=True, token_bytes=132),)
    shared = read(
        MLA
        | {"model_type": "deepseek_v32", "index_head_dim": 128, "index_n_heads": 64}
        | {"indexer_types": ["full"] * 21 + ["shared"] * 40}
    )
    assert [kind.count for kind in shared.layers if kind.token_bytes] == [21]
    assert sum(kind.count for kind in shared.layers) == 61


def test_the_text_model_of_a_model_that_sees() -> None:
    text = {key: value for key, value in QWEN.items() if key not in ("tie_word_embeddings", "torch_dtype")}
    whole = {"text_config": text, "vision_config": {}, "tie_word_embeddings": True, "torch_dtype": "bfloat16"}
    shape = read(whole)
    assert shape.layers == (Layers(36, 8, 128, 128),)
    assert shape.dtype == "bfloat16"
    assert shape.embeddings == 151936 * 4096
    # What its eyes take is not in the text model.
    assert shape.parameters is None
    assert read({key: value for key, value in whole.items() if key != "vision_config"}).parameters is not None


@pytest.mark.parametrize(
    "keys", [{"model_type": "new"}, {"layer_types": ["new_attention"] * 36}], ids=["model", "layer"]
)
def test_what_is_new_is_an_upper_bound(keys: dict[str, Any]) -> None:
    shape = read(QWEN | keys)
    assert not shape.exact
    assert shape.layers == (Layers(36, 8, 128, 128),)


def test_an_architecture_that_is_not_listed_is_not_counted() -> None:
    assert read(QWEN | {"model_type": "new"}).parameters is None


def test_layers_that_differ_one_by_one_are_not_guessed() -> None:
    assert read(QWEN | {"model_type": "nemotron-nas", "block_configs": [{}]}).layers == ()

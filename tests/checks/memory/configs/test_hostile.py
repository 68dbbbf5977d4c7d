"""A config.json is whatever somebody has: each mistake is told in one plain sentence that names the key."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.config import read_config
from tests.checks.memory.configs.models import LLAMA, MIXTRAL, MLA, QWEN


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"num_hidden_layers": None}, "num_hidden_layers is missing"),
        ({"num_hidden_layers": "32"}, 'num_hidden_layers is "32", and must be a whole number from 1 to 10000'),
        ({"num_hidden_layers": -1}, "num_hidden_layers is -1, and must be a whole number from 1 to 10000"),
        ({"num_hidden_layers": True}, "num_hidden_layers is true, and must be"),
        ({"num_hidden_layers": 32.5}, "num_hidden_layers is 32.5, and must be"),
        ({"hidden_size": 0}, "hidden_size is 0, and must be a whole number from 1 to 1000000000"),
        ({"hidden_size": 10**400}, "hidden_size is a number of more than 18 digits, and must be"),
        ({"hidden_size": [4096]}, "hidden_size is a list, and must be"),
        ({"vocab_size": float("nan")}, "vocab_size is NaN, and must be"),
        ({"max_position_embeddings": float("inf")}, "max_position_embeddings is Infinity, and must be"),
        ({"num_attention_heads": {}}, "num_attention_heads is an object, and must be"),
        ({"tie_word_embeddings": "yes"}, 'tie_word_embeddings is "yes", and must be true or false'),
        ({"model_type": 3}, "model_type is 3, and must be a text"),
        ({"layer_types": "full"}, 'layer_types is "full", and must be a list of texts'),
        ({"layer_types": ["full_attention"]}, "num_hidden_layers is 32, and 1 layers are listed"),
        ({"layer_types": [3]}, "layer_types is a list, and must be a list of texts"),
        ({"rope_scaling": "yarn"}, 'rope_scaling is "yarn", and must be an object'),
        (
            {"rope_scaling": {"type": "yarn", "factor": "4"}},
            'rope_scaling.factor is "4", and must be a number above 0',
        ),
        ({"rope_scaling": {"type": "yarn", "factor": float("nan")}}, "rope_scaling.factor is NaN, and must be"),
        ({"rope_scaling": {"type": "yarn", "factor": -1}}, "rope_scaling.factor is -1, and must be"),
        ({"quantization_config": 4}, "quantization_config is 4, and must be an object"),
        (
            {"quantization_config": {"quant_method": "awq", "bits": "4"}},
            'quantization_config.bits is "4", and must be',
        ),
        ({"text_config": []}, "text_config is a list, and must be an object"),
        ({"text_config": {"num_hidden_layers": 0}}, "text_config.num_hidden_layers is 0, and must be"),
        ({"num_experts": 8}, "num_experts_per_tok is missing"),
        ({"model_type": "<script>" * 20_000}, "and must be a text"),
    ],
)
def test_a_wrong_key_is_named(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=r"^test/model: ") as error:
        read_config(json.dumps(LLAMA | keys), "test/model")
    assert message in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[]", "is a list, and must be an object"),
        ("3", "is 3, and must be an object"),
        ("null", "is null, and must be an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (f'{{"hidden_size": {"9" * 5000}}}', "is no JSON"),
        (" " * 5_000_000, "has 5,000,000 characters"),
    ],
    ids=["empty", "cut", "list", "number", "null", "deep-lists", "deep-objects", "digits", "long"],
)
def test_what_is_no_configuration(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^test/model: ") as error:
        read_config(text, "test/model")
    assert message in str(error.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from([LLAMA, MIXTRAL, QWEN, MLA]), st.data())
def test_any_key_may_hold_anything(config: dict[str, object], data: st.DataObject) -> None:
    """Whatever a key holds, there is a shape or a plain ValueError, never anything else."""
    extra = ["sliding_window", "layer_types", "rope_parameters", "quantization_config", "text_config", "head_dim"]
    keys = data.draw(st.lists(st.sampled_from([*config, *extra]), min_size=1, max_size=3))
    broken = config | {key: data.draw(ANYTHING) for key in keys}
    found = failure(broken)
    assert not found or found.startswith("test/model: ")


def failure(config: dict[str, object]) -> str:
    try:
        read_config(json.dumps(config), "test/model")
    except ValueError as error:
        return str(error)
    return ""

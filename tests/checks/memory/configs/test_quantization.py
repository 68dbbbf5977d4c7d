"""What a config.json says of the types of weights."""

from decimal import Decimal
from typing import Any

import pytest

from components.checks.memory.weights import weights_of
from components.contract.quantity import GIB
from tests.checks.memory.configs.models import QWEN, read


@pytest.mark.parametrize(
    ("quantization", "dtype", "block"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "int4-awq", 128),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "int4-gptq", 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "int8", None),
        ({"quant_method": "gptq", "bits": 3, "group_size": 64}, "int3", 64),
        ({"quant_method": "gptq", "group_size": 128}, "gptq", None),
        ({"quant_method": "awq"}, "int4-awq", None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 128),
        ({"quant_method": "fp8"}, "fp8", None),
        ({"quant_method": "mxfp4"}, "mxfp4", None),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes", None),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}},
            },
            "fp8",
            None,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}},
            },
            "int4",
            32,
        ),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", None),
        ({"quant_method": "quark"}, "quark", None),
    ],
    ids=lambda value: value["quant_method"] if isinstance(value, dict) else None,
)
def test_quantization(quantization: dict[str, Any], dtype: str, block: int | None) -> None:
    shape = read(QWEN | {"quantization_config": quantization})
    assert (shape.dtype, shape.block) == (dtype, block)
    assert shape.cuts == ((4096, 12288) if block else ())


def test_quantized_weights_keep_a_vocabulary_of_sixteen_bits() -> None:
    """Qwen3-8B-AWQ has 5.68 GiB of files."""
    weights = weights_of(read(QWEN | {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}))
    assert not isinstance(weights, str)
    assert round(Decimal(weights.total) / GIB, 2) == Decimal("5.68")
    assert weights.error == pytest.approx(0.025 * weights.total, abs=1)


def test_a_type_that_stands_elsewhere_is_not_guessed() -> None:
    """NVIDIA's older checkpoints tell it in hf_quant_config.json, and config.json says bfloat16."""
    assert read(QWEN, "nvidia/Qwen3-8B-NVFP4").dtype == ""
    assert weights_of(read(QWEN, "nvidia/Qwen3-8B-NVFP4")) == ("the type of the weights is unknown")

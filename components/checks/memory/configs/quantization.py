"""The data type of a model's weights, from its ``config.json``.

Sources: huggingface/transformers ``utils/quantization_config.py``; vllm-project/compressed-tensors
``QuantizationConfig``; NVIDIA's modelopt writes ``quant_algo``.
"""

import re
from typing import NamedTuple

from .values import ConfigValues

_METHODS = {"awq": "int4-awq", "gptq": "int4-gptq"}
_SEVERAL_BITS = "gptq"
"""A method with 2, 3, 4 or 8 bits, whose configuration states them; AWQ has 4 (vllm quantization/awq.py)."""
_ALGORITHMS = {"FP8": "fp8", "NVFP4": "nvfp4", "W4A16_AWQ": "int4-awq"}
_QUANTIZED_NAME = re.compile(r"FP8|NVFP4|MXFP4|AWQ|GPTQ|INT[48]", re.IGNORECASE)
_FOUR, _EIGHT = 4, 8


class Quantized(NamedTuple):
    """Data type of weights.

    Attributes:
        dtype: Such as ``bfloat16`` or ``int4-awq``; empty if unknown.
        block: Numbers with a common scale, along the width that tensor parallelism cuts; None if all have one scale.
    """

    dtype: str
    block: int | None = None


def quantized(values: ConfigValues, whole: ConfigValues) -> Quantized:
    """Return the data type of a model's weights."""
    config = values.part("quantization_config") or whole.part("quantization_config")
    if config is None:
        # NVIDIA's models declare their quantization in hf_quant_config.json, which is not read; use the name.
        elsewhere = _QUANTIZED_NAME.search(values.name)
        return Quantized("" if elsewhere else values.text("dtype", "torch_dtype"))
    method = config.text("quant_method")
    if method in _METHODS:
        bits = config.maybe("bits", "w_bit", most=32)
        if bits is None and method == _SEVERAL_BITS:
            return Quantized(method)
        bits = bits or _FOUR
        group = config.maybe("group_size", "q_group_size", least=-1)
        dtype = _METHODS[method] if bits == _FOUR else f"int{bits}"
        return Quantized(dtype, group if group and group > 0 else None)
    if method == "compressed-tensors":
        return _compressed(config)
    if method in ("modelopt", "modelopt_fp4"):
        return Quantized(_ALGORITHMS.get(config.text("quant_algo"), "modelopt"))
    if method == "fp8" and (values.text("expert_dtype") or "fp8") != "fp8":
        return Quantized(f"fp8 with experts in {values.text('expert_dtype')}")
    sizes = config.numbers("weight_block_size")
    return Quantized(method or "quantized", max(sizes) if sizes and max(sizes) > 0 else None)


def _compressed(config: ConfigValues) -> Quantized:
    groups = config.part("config_groups")
    first = next(iter(groups.keys), None) if groups else None
    group = groups.part(first) if groups and first is not None else None
    weights = group.part("weights") if group else None
    if weights is None or group is None:
        return Quantized("compressed-tensors")
    bits, size = weights.number("num_bits", most=32), weights.maybe("group_size")
    if weights.text("type") == "float":
        layout = group.text("format") or config.text("format")
        narrow = "mxfp4" if layout.startswith("mxfp4") else "nvfp4"
        return Quantized("fp8" if bits == _EIGHT else narrow, size)
    return Quantized(f"int{bits}", size)

"""The number formats that engines compute, by release and compute capability.

Expected values are from the sources of the releases: get_min_capability of the classes in
``model_executor/layers/quantization`` (vLLM) and ``srt/layers/quantization`` (SGLang), and their rules for bfloat16.
"""

from decimal import Decimal
from typing import Any

import pytest

from components.engines.formats.faults import FormatUse, attention_fault, computed_type, format_fault, is_computed
from components.engines.formats.rows import format_table
from components.engines.registry import engines
from components.engines.settings import Setting
from components.engines.versions import without_version

V100, T4, A100, A10G, L4, H100, B200 = map(Decimal, ("7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0"))
BF16, FP8, MXFP4, NVFP4, AWQ = "bfloat16", "fp8", "mxfp4", "nvfp4", "int4-awq"
REFUSED = [
    # vllm/worker/worker.py up to 0.8.5: "Bfloat16 is only supported on GPUs with compute capability of at least 8.0".
    ("vllm", "v0.7.3", BF16, {}, T4, (Setting.DTYPE, "half")),
    ("vllm", "v0.8.5", BF16, {}, T4, (Setting.DTYPE, "half")),
    ("vllm", "v0.20.0", BF16, {"dtype": "bfloat16"}, T4, (Setting.DTYPE, "half")),
    # Mxfp4Config: 80. Fp8Config: 80 up to 0.13, then 75. ModelOptFp8Config: 89 up to 0.26, then 80.
    ("vllm", "v0.11.0", MXFP4, {}, T4, (None, "")),
    ("vllm", "v0.33.0", MXFP4, {}, T4, (None, "")),
    ("vllm", "v0.13.0", FP8, {}, T4, (None, "")),
    ("vllm", "v0.26.0", FP8, {"model": "nvidia/Llama-3.1-8B-Instruct-FP8"}, A100, (None, "")),
    # ModelOptNvFp4Config: 100 in 0.8, 80 up to 0.13, then 75.
    ("vllm", "v0.8.5", NVFP4, {"model": "nvidia/Llama-3.1-8B-Instruct-NVFP4"}, H100, (None, "")),
    ("vllm", "v0.13.0", NVFP4, {}, T4, (None, "")),
    # AWQConfig: 75; AWQMarlinConfig: 80 up to 0.13.
    ("vllm", "v0.11.0", AWQ, {}, V100, (None, "")),
    ("vllm", "v0.11.0", AWQ, {"quantization": "awq_marlin"}, T4, (None, "")),
    ("vllm", "v0.20.0", BF16, {"dtype": "half"}, V100, (None, "")),
    # _FLOAT16_NOT_SUPPORTED_MODELS since 0.9.1.
    ("vllm", "v0.11.0", BF16, {"model": "google/gemma-3-12b-it", "dtype": "half"}, A10G, (Setting.DTYPE, "bfloat16")),
    # GPTQ with BitBLAS: vLLM issue 17539.
    ("vllm", "v0.8.5", "int4-gptq", {}, T4, (None, "")),
    # Online quantization needs what Fp8Config needs.
    ("vllm", "v0.11.0", BF16, {"quantization": "fp8"}, T4, (None, "")),
    # model_loader/weight_utils.py: "Cannot find the config file for awq"; ModelConfig._verify_quantization.
    ("vllm", "v0.20.0", BF16, {"quantization": "awq"}, A100, (Setting.QUANTIZATION, "")),
    ("vllm", "v0.20.0", AWQ, {"quantization": "gptq"}, A100, (Setting.QUANTIZATION, "")),
    ("sglang", "v0.5.12", FP8, {"quantization": "gptq"}, A100, (Setting.QUANTIZATION, "")),
    # ModelOptFp4Config of SGLang: 100 up to 0.5.12, then 80. "SGLang only supports sm75 and above."
    ("sglang", "v0.5.12-cu130", NVFP4, {"model": "nvidia/Qwen3-32B-NVFP4"}, H100, (None, "")),
    ("sglang", "v0.5.12", MXFP4, {}, T4, (None, "")),
    ("sglang", "v0.4.3", BF16, {}, V100, (None, "")),
    # "sm_120 is not compatible with the current PyTorch installation" (vLLM issue 21633), torch 2.6.0 up to 0.8.5.
    ("vllm", "v0.8.5", BF16, {}, B200, (None, "")),
    ("vllm", "v0.10.0", BF16, {}, B200, (None, "")),
    ("sglang", "v0.4.6", BF16, {}, B200, (None, "")),
    # Marlin for FP8 weights is imported from vLLM up to 0.5.4; experts have no such method up to 0.5.23.
    ("sglang", "v0.5.4.post2", FP8, {}, A100, (None, "")),
    ("sglang", "v0.5.3", FP8, {"experts": True}, A100, (None, "")),
    ("sglang", "v0.5.23", FP8, {"experts": True}, A10G, (None, "")),
    ("sglang", "v0.5.23", BF16, {"quantization": "fp8", "experts": True}, A100, (None, "")),
]
STARTS = [
    ("vllm", "v0.7.3", BF16, {}, A10G),
    ("vllm", "v0.7.3", BF16, {"dtype": "half"}, T4),
    # Since 0.9.0: "Your device doesn't support torch.bfloat16. Falling back to torch.float16 for compatibility."
    ("vllm", "v0.9.0", BF16, {}, T4),
    ("vllm", "v0.20.0", BF16, {}, T4),
    ("vllm", "v0.14.0", FP8, {}, T4),
    ("vllm", "v0.8.4", "int4-gptq", {}, T4),
    ("vllm", "v0.9.0", "int4-gptq", {}, T4),
    ("vllm", "v0.11.0", FP8, {}, A10G),
    ("vllm", "v0.27.0", FP8, {"model": "nvidia/Llama-3.1-8B-Instruct-FP8"}, A100),
    ("vllm", "v0.11.0", NVFP4, {}, H100),
    ("vllm", "v0.9.2", NVFP4, {}, B200),
    ("vllm", "v0.10.1", BF16, {}, B200),
    ("vllm", "v0.8.5", BF16, {}, H100),
    ("sglang", "v0.4.7", BF16, {}, B200),
    ("vllm", "v0.11.0", MXFP4, {}, A100),
    ("vllm", "v0.11.0", AWQ, {"dtype": "half"}, T4),
    ("vllm", "v0.14.0", AWQ, {"quantization": "awq_marlin"}, T4),
    ("vllm", "v0.10.2", BF16, {"dtype": "half"}, V100),
    ("vllm", "v0.20.0", BF16, {"quantization": "fp8"}, A100),
    ("vllm", "v0.20.0", AWQ, {"quantization": "awq_marlin"}, A100),
    ("vllm", "v0.9.0", BF16, {"model": "google/gemma-2-2b-it", "dtype": "half"}, T4),
    ("vllm", "v0.20.0", "", {}, T4),
    ("sglang", "v0.5.12", BF16, {}, T4),
    ("sglang", "v0.5.6", FP8, {}, A100),
    ("sglang", "v0.5.4", FP8, {"experts": True}, L4),
    ("vllm", "v0.11.0", FP8, {"experts": True}, A100),
    ("sglang", "v0.5.12", BF16, {"dtype": "bfloat16"}, T4),
    ("sglang", "v0.5.13", NVFP4, {"model": "nvidia/Qwen3-32B-NVFP4"}, H100),
    ("sglang", "v0.5.12", NVFP4, {}, B200),
    ("llamacpp", "server-cuda-b6500", "Q4_K_M", {}, T4),
    ("tgi", "3.3.6", BF16, {}, T4),
]


def use(engine: str, tag: str, weights: str, more: dict[str, Any]) -> FormatUse:
    return FormatUse(engine, tag, **{"model": "example/model", "weights": weights, **more})


@pytest.mark.parametrize(("engine", "tag", "weights", "more", "capability", "step"), REFUSED)
def test_a_refused_format_names_what_to_change(
    engine: str, tag: str, weights: str, more: dict[str, Any], capability: Decimal, step: tuple[Setting | None, str]
) -> None:
    asked = use(engine, tag, weights, more)
    fault = format_fault(asked, capability)
    assert fault is not None
    assert (fault.setting, fault.value) == step
    assert not is_computed(asked, capability)


@pytest.mark.parametrize(("engine", "tag", "weights", "more", "capability"), STARTS)
def test_a_format_that_is_computed_or_not_known(
    engine: str, tag: str, weights: str, more: dict[str, Any], capability: Decimal
) -> None:
    assert format_fault(use(engine, tag, weights, more), capability) is None


def test_nothing_is_said_of_unknown_versions_and_accelerators() -> None:
    own = without_version("2024-build")
    assert format_fault(use("vllm", own, BF16, {}), T4) is None
    assert format_fault(use("vllm", "v0.7.3", BF16, {}), None) is None
    assert format_fault(use("vllm", own, BF16, {"quantization": "awq"}), None) is not None


@pytest.mark.parametrize(
    ("tag", "model", "capability", "type_"),
    [
        ("v0.20.0", "google/gemma-2-2b-it", T4, "float32"),
        ("v0.9.0", "google/gemma-2-2b-it", T4, "float16"),
        ("v0.20.0", "google/gemma-2-2b-it", A10G, ""),
        ("v0.10.1", "google/gemma-3-1b-it", T4, "float16"),
        ("v0.10.2", "google/gemma-3-1b-it", T4, "float32"),
        ("v0.20.0", "google/gemma-4-E2B-it", T4, "float16"),
        ("v0.20.0", "THUDM/GLM-4-9B-0414", T4, "float32"),
        ("v0.20.0", "zai-org/GLM-4.5-Air", T4, "float16"),
        ("v0.7.3", "Qwen/Qwen3-8B", T4, ""),
    ],
)
def test_models_that_are_computed_in_another_type(tag: str, model: str, capability: Decimal, type_: str) -> None:
    asked = use("vllm", tag, BF16, {"model": model})
    assert computed_type(asked, capability) == type_
    assert is_computed(asked, capability) == (capability >= A100 or type_ == "float16")


def test_every_row_is_found_in_some_version() -> None:
    """Rows with bounds that overlap would hide one another."""
    for name in engines():
        table = format_table(name)
        if table is None:
            continue
        for method, rows in table.methods.items():
            found = {table.least_for(method, row.span.since or (0, 4)) for row in rows}
            assert found == {row.capability for row in rows}, (name, method)


RTX6000 = Decimal("12.0")
BACKENDS = [
    # supports_compute_capability of vllm/v1/attention/backends at 0.11.1 to 0.33.0.
    ("vllm", "v0.11.0", "FLASH_ATTN", "", T4, None),
    ("vllm", "v0.13.0", "FLASH_ATTN", "", T4, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "flash_attn", "", T4, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "FLASH_ATTN", "", A10G, None),
    ("vllm", "v0.23.0", "FLASHINFER", "", T4, None),
    ("vllm", "v0.24.0", "FLASHINFER", "", T4, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.24.0", "TRITON_ATTN", "", T4, None),
    ("vllm", "v0.20.0", "FLASHMLA", "", L4, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "FLASHMLA", "", B200, None),
    ("vllm", "v0.20.0", "FLASH_ATTN_MLA", "", B200, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "CUTLASS_MLA", "", H100, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "CUTLASS_MLA", "", B200, None),
    # flash_attn_supports_fp8: FlashAttention 3 on 9.0; since 0.27 version 4 on 10.0.
    ("vllm", "v0.20.0", "FLASH_ATTN", "fp8", L4, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "", "fp8", L4, None),
    ("vllm", "v0.20.0", "FLASHINFER", "fp8", L4, None),
    ("vllm", "v0.20.0", "FLASH_ATTN", "fp8", H100, None),
    ("vllm", "v0.26.0", "FLASH_ATTN", "fp8", B200, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.27.0", "FLASH_ATTN", "fp8", B200, None),
    ("vllm", "v0.33.0", "FLASH_ATTN", "fp8", RTX6000, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.21.0", "FLASH_ATTN", "fp8_e5m2", H100, None),
    ("vllm", "v0.22.0", "FLASH_ATTN", "fp8_e5m2", H100, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "FLEX_ATTENTION", "fp8", None, Setting.ATTENTION_BACKEND),
    ("vllm", "v0.20.0", "FLASH_ATTN", "", None, None),
    ("vllm", "v0.25.0", "", "nvfp4", H100, Setting.CACHE_TYPE),
    ("vllm", "v0.25.0", "", "nvfp4", B200, None),
    ("vllm", "v0.33.0", "", "nvfp4", H100, None),
    ("vllm", without_version("own"), "FLASH_ATTN", "", T4, None),
    # "FlashAttention v3 Backend requires SM>=80 and SM<=90", "TRTLLM MHA backend is only supported on Blackwell".
    ("sglang", "v0.5.9", "fa3", "", T4, Setting.ATTENTION_BACKEND),
    ("sglang", "v0.5.9", "fa3", "", A100, None),
    ("sglang", "v0.5.9", "fa3", "fp8_e5m2", H100, None),
    ("sglang", "v0.5.9", "fa3", "", B200, Setting.ATTENTION_BACKEND),
    ("sglang", "v0.5.9", "trtllm_mha", "", H100, Setting.ATTENTION_BACKEND),
    ("sglang", "v0.5.9", "trtllm_mha", "", B200, None),
    ("sglang", "v0.5.23", "trtllm_mla", "", H100, Setting.ATTENTION_BACKEND),
    ("sglang", "v0.5.23", "trtllm_mla", "", RTX6000, None),
    ("sglang", "v0.5.9", "flashinfer", "fp8_e4m3", T4, None),
    ("llamacpp", "b6500", "x", "q8_0", T4, None),
]


@pytest.mark.parametrize(("engine", "tag", "backend", "cache", "capability", "setting"), BACKENDS)
def test_attention_backends_and_types_of_the_cache_by_gpu(
    engine: str, tag: str, backend: str, cache: str, capability: Decimal | None, setting: Setting | None
) -> None:
    fault = attention_fault(engine, tag, backend, cache, capability)
    assert (fault.setting if fault else None) is setting
    if fault and capability:
        assert f"and this GPU has {capability}" in fault.reason or "needs" not in fault.reason

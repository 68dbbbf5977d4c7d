"""LLMKube: what a single engine reads (LLMKube spec 1.1, 2). Each has effect with its own runtime only."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32, NaturalInt32, PositiveInt32, Rule
from ....contract.schema.embedded import SecretKeySelector
from .. import rules as rules_llmkube
from .values import Decimals, GpuShare


class RopeScalingSpec(ApiModel):
    """llama.cpp: how to extend the context beyond the trained length.

    ``factor`` is the multiple of the trained length, ``originalContext`` that length in tokens.
    """

    type: Literal["linear", "yarn", "longrope"]
    factor: Decimals | None = None
    original_context: Annotated[Int32, Field(ge=128)] | None = None


class PersonaPlexConfig(ApiModel):
    """PersonaPlex."""

    quantize4_bit: bool | None = None
    cpu_offload: bool | None = None
    hf_token_secret_ref: SecretKeySelector | None = None


class SpeculativeConfig(ApiModel):
    """vLLM: a draft model that proposes tokens. ``model`` names a Model of the same namespace."""

    enabled: bool | None = None
    model: str | None = None
    num_speculative_tokens: Annotated[PositiveInt32, Field(le=16)] = 4


class VLLMConfig(ApiModel):
    """vLLM.

    ``cpuOffloadGB`` is gigabytes of host memory per GPU, ``gpuMemoryUtilization`` a share of GPU memory.
    """

    tensor_parallel_size: Int32 | None = None
    max_model_len: Int32 | None = None
    quantization: Literal["awq", "gptq", "squeezellm", "fp8", "nvfp4", "compressed-tensors"] | None = None
    dtype: Literal["auto", "float16", "bfloat16"] | None = None
    kv_cache_dtype: Literal["auto", "fp8_e5m2", "fp8_e4m3"] = "auto"
    kv_cache_custom_dtype: str | None = None
    enable_prefix_caching: bool | None = None
    enable_chunked_prefill: bool | None = None
    max_num_batched_tokens: Annotated[Int32, Field(ge=512)] | None = None
    attention_backend: (
        Literal["FLASH_ATTN", "FLASHINFER", "XFORMERS", "flashinfer", "flash_attn", "xformers", "torch_sdpa"] | None
    ) = None
    speculative: SpeculativeConfig | None = None
    enable_expert_parallel: bool | None = None
    cpu_offload_gb: NaturalInt32 | None = Field(default=None, alias="cpuOffloadGB")
    gpu_memory_utilization: GpuShare | None = None
    hf_token_secret_ref: SecretKeySelector | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules_llmkube.GPU_SHARE,)


class TGIConfig(ApiModel):
    """Text Generation Inference. Lengths are tokens."""

    quantize: Literal["bitsandbytes", "gptq", "awq", "eetq"] | None = None
    dtype: Literal["float16", "bfloat16"] | None = None
    max_input_length: Int32 | None = None
    max_total_tokens: Int32 | None = None
    hf_token_secret_ref: SecretKeySelector | None = None

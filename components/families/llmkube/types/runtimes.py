"""LLMKube: settings of single runtimes (LLMKube spec 1.1, 2), which others ignore."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32, NaturalInt32, PositiveInt32, Rule, no_local_check
from ....contract.schema.embedded import SecretKeySelector
from .values import Decimals, GpuShare

# The API server truncates the bound when it compares an integer, so the schema alone would accept 0. In Python,
# GpuShare validates the range.
GPU_SHARE = Rule(
    "gpuMemoryUtilization must be at least 0.1 and at most 0.99",
    no_local_check,
    "!has(self.gpuMemoryUtilization) || (self.gpuMemoryUtilization >= 0.1 && self.gpuMemoryUtilization <= 0.99)",
)


class RopeScalingSpec(ApiModel):
    """llama.cpp: how to extend the context beyond the trained length.

    ``factor`` is the multiple of the trained length, ``originalContext`` that length in tokens.
    """

    type: Literal["linear", "yarn", "longrope"]
    """linear, yarn or longrope."""
    factor: Decimals | None = None
    """Multiple of the trained length, such as 2 or 1.5."""
    original_context: Annotated[Int32, Field(ge=128)] | None = None
    """The trained length in tokens, at least 128."""


class PersonaPlexConfig(ApiModel):
    """PersonaPlex."""

    quantize4_bit: bool | None = None
    """Load the weights in 4 bits."""
    cpu_offload: bool | None = None
    """Keep layers in host memory."""
    hf_token_secret_ref: SecretKeySelector | None = None
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""


class SpeculativeConfig(ApiModel):
    """vLLM: a draft model that proposes tokens. ``model`` names a Model of the same namespace."""

    enabled: bool | None = None
    """Whether it is used."""
    model: str | None = None
    """Name of a Model in the same namespace, which is passed as draft_model."""
    num_speculative_tokens: Annotated[PositiveInt32, Field(le=16)] = 4
    """Tokens that it proposes at a time, 1 to 16."""


class VLLMConfig(ApiModel):
    """vLLM.

    ``cpuOffloadGB`` is gigabytes of host memory per GPU, ``gpuMemoryUtilization`` a share of GPU memory.
    """

    tensor_parallel_size: Int32 | None = None
    """GPUs to spread each layer over. Default: those of the pod."""
    max_model_len: Int32 | None = None
    """Tokens of context."""
    quantization: Literal["awq", "gptq", "squeezellm", "fp8", "nvfp4", "compressed-tensors"] | None = None
    """awq, gptq, squeezellm, fp8, nvfp4 or compressed-tensors."""
    dtype: Literal["auto", "float16", "bfloat16"] | None = None
    """auto, float16 or bfloat16."""
    kv_cache_dtype: Literal["auto", "fp8_e5m2", "fp8_e4m3"] = "auto"
    """auto, fp8_e5m2 or fp8_e4m3."""
    kv_cache_custom_dtype: str | None = None
    """Type of the KV cache, if it is not in the list of kv_cache_dtype."""
    enable_prefix_caching: bool | None = None
    """Whether to cache common prefixes of requests."""
    enable_chunked_prefill: bool | None = None
    """Whether to process long prompts in chunks."""
    max_num_batched_tokens: Annotated[Int32, Field(ge=512)] | None = None
    """Tokens of one step, at least 512."""
    attention_backend: (
        Literal["FLASH_ATTN", "FLASHINFER", "XFORMERS", "flashinfer", "flash_attn", "xformers", "torch_sdpa"] | None
    ) = None
    """Implementation of attention."""
    speculative: SpeculativeConfig | None = None
    """Speculative decoding with a draft model."""
    enable_expert_parallel: bool | None = None
    """Whether to spread the experts over the GPUs."""
    cpu_offload_gb: NaturalInt32 | None = Field(default=None, alias="cpuOffloadGB")
    """Gigabytes of host memory per GPU for weights."""
    gpu_memory_utilization: GpuShare | None = None
    """Share of a GPU's memory that the engine may take, 0.1 to 0.99."""
    hf_token_secret_ref: SecretKeySelector | None = None
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""

    rules: ClassVar[tuple[Rule, ...]] = (GPU_SHARE,)


class TGIConfig(ApiModel):
    """Text Generation Inference. Lengths are tokens."""

    quantize: Literal["bitsandbytes", "gptq", "awq", "eetq"] | None = None
    """bitsandbytes, gptq, awq or eetq."""
    dtype: Literal["float16", "bfloat16"] | None = None
    """float16 or bfloat16."""
    max_input_length: Int32 | None = None
    """Tokens of a prompt."""
    max_total_tokens: Int32 | None = None
    """Tokens of prompt and answer together."""
    hf_token_secret_ref: SecretKeySelector | None = None
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""

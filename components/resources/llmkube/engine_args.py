"""Parts of an InferenceService as arguments: what a single engine reads."""

from typing import Any, Required, TypedDict


class RopeScalingArgs(TypedDict, total=False):
    """llama.cpp: how to extend the context beyond the trained length."""

    type: Required[str]
    """linear, yarn or longrope."""
    factor: str
    """Multiple of the trained length, such as 2 or 1.5."""
    original_context: int
    """The trained length in tokens, at least 128."""


class PersonaPlexConfigArgs(TypedDict, total=False):
    """Settings of PersonaPlex."""

    quantize4_bit: bool
    """Load the weights in 4 bits."""
    cpu_offload: bool
    """Keep layers in host memory."""
    hf_token_secret_ref: dict[str, Any]
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""


class SpeculativeArgs(TypedDict, total=False):
    """vLLM: speculative decoding with a draft model."""

    enabled: bool
    """Whether it is used."""
    model: str
    """Name of a Model in the same namespace, which is passed as draft_model."""
    num_speculative_tokens: int
    """Tokens that it proposes at a time, 1 to 16. Default: 4."""


class VllmConfigArgs(TypedDict, total=False):
    """Settings of vLLM."""

    tensor_parallel_size: int
    """GPUs to spread each layer over. Default: those of the pod."""
    max_model_len: int
    """Tokens of context."""
    quantization: str
    """awq, gptq, squeezellm, fp8, nvfp4 or compressed-tensors."""
    dtype: str
    """auto, float16 or bfloat16."""
    kv_cache_dtype: str
    """auto, fp8_e5m2 or fp8_e4m3. Default: auto."""
    kv_cache_custom_dtype: str
    """Type of the KV cache, if it is not in the list of kv_cache_dtype."""
    enable_prefix_caching: bool
    """Whether to cache common prefixes of requests."""
    enable_chunked_prefill: bool
    """Whether to process long prompts in chunks."""
    max_num_batched_tokens: int
    """Tokens of one step, at least 512."""
    attention_backend: str
    """FLASH_ATTN, FLASHINFER, XFORMERS, the same in lower case, or torch_sdpa."""
    speculative: SpeculativeArgs
    """Speculative decoding with a draft model."""
    enable_expert_parallel: bool
    """Whether to spread the experts over the GPUs."""
    cpu_offload_gb: int
    """Gigabytes of host memory per GPU for weights."""
    gpu_memory_utilization: float
    """Share of a GPU's memory that the engine may take, 0.1 to 0.99."""
    hf_token_secret_ref: dict[str, Any]
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""


class TgiConfigArgs(TypedDict, total=False):
    """Settings of Text Generation Inference."""

    quantize: str
    """bitsandbytes, gptq, awq or eetq."""
    dtype: str
    """float16 or bfloat16."""
    max_input_length: int
    """Tokens of a prompt."""
    max_total_tokens: int
    """Tokens of prompt and answer together."""
    hf_token_secret_ref: dict[str, Any]
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""

"""LLMKube: settings of single runtimes (LLMKube spec 1.1, 2), which others ignore."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32, Json, NaturalInt32, PositiveInt32, Rule, Violation, no_local_check
from ....contract.releases import Span
from ....contract.schema.embedded import SecretKeySelector
from .values import Decimals, GpuShare, ObjectName, Share, Text

# The API server truncates the bound when it compares an integer, so the schema alone would accept 0. In Python,
# GpuShare validates the range.
GPU_SHARE = Rule(
    "gpuMemoryUtilization must be at least 0.1 and at most 0.99",
    no_local_check,
    "!has(self.gpuMemoryUtilization) || (self.gpuMemoryUtilization >= 0.1 && self.gpuMemoryUtilization <= 0.99)",
)


MEMORY_SHARE = Rule(
    "memFractionStatic must be at least 0.1 and at most 0.99",
    no_local_check,
    "!has(self.memFractionStatic) || (self.memFractionStatic >= 0.1 && self.memFractionStatic <= 0.99)",
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
    quantization: Annotated[
        Literal["awq", "gptq", "squeezellm", "fp8", "nvfp4", "mxfp4", "compressed-tensors"] | None,
        Span(until="v0.9.13", enum=["awq", "gptq", "squeezellm", "fp8", "nvfp4", "compressed-tensors"]),
        Span(since="v0.9.14"),
    ] = None
    """awq, gptq, squeezellm, fp8, nvfp4, mxfp4 or compressed-tensors."""
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


DRAFT_TYPES = frozenset({"draft", "draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark"})
"""Types that need the weights of a draft model."""


def _draft_without_weights(spec: Json) -> Iterator[Violation]:
    if spec.type == "draft":
        yield ("type",), "; write mtp, or use a release with draftModelRef"


def _weights_missing(spec: Json) -> Iterator[Violation]:
    if spec.type in DRAFT_TYPES and not (spec.draft_model_ref or spec.draft_model):
        yield ("draftModelRef",), f", found type {spec.type} and neither"


def _weights_unused(spec: Json) -> Iterator[Violation]:
    if spec.type not in DRAFT_TYPES | {"draft-mtp"} and (spec.draft_model_ref or spec.draft_model):
        field = "draftModelRef" if spec.draft_model_ref else "draftModel"
        yield (field,), f", found type {spec.type}; remove it"


def _both_weights(spec: Json) -> Iterator[Violation]:
    if spec.draft_model_ref and spec.draft_model:
        yield ("draftModel",), f", found {spec.draft_model_ref!r} and {spec.draft_model!r}"


class SpeculativeDecodingSpec(ApiModel):
    """llama.cpp: how tokens are proposed, which the model then verifies."""

    type: Annotated[
        Literal[
            "none",
            "disabled",
            "mtp",
            "draft",
            "draft-simple",
            "draft-eagle3",
            "draft-mtp",
            "draft-dflash",
            "draft-dspark",
            "ngram-simple",
            "ngram-map-k",
            "ngram-map-k4v",
            "ngram-mod",
            "ngram-cache",
        ],
        Span(until="v0.9.17", enum=["mtp", "draft", "disabled"]),
        Span(since="v0.9.18"),
    ]
    """The method; mtp is draft-mtp, draft is draft-simple, disabled is none."""
    n_draft_max: PositiveInt32 | None = None
    """Tokens that are proposed at a time."""
    p_min: Annotated[Share | None, Span(since="v0.9.18")] = None
    """Probability below which no further token is proposed."""
    draft_model_ref: Annotated[str | None, Span(since="v0.9.18")] = None
    """Name of a Model in the same namespace that proposes tokens."""
    draft_model: Annotated[ObjectName | None, Span(since="v0.9.18")] = None
    """One of the files of the served Model, which proposes tokens."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            'type "draft" is not supported: there is no draft-model field to name the draft weights; use type "mtp" '
            "for self-speculation instead",
            _draft_without_weights,
            "self.type != 'draft'",
            span=Span("v0.9.15", "v0.9.17"),
        ),
        Rule(
            "this speculative decoding type needs draft weights: set draftModelRef to a Model in the same namespace, "
            "or draftModel to a file in Model.files",
            _weights_missing,
            "!(self.type in ['draft','draft-simple','draft-eagle3','draft-dflash','draft-dspark']) || "
            "((has(self.draftModelRef) && self.draftModelRef.size() > 0) || (has(self.draftModel) && "
            "self.draftModel.size() > 0))",
            span=Span(since="v0.9.18"),
        ),
        Rule(
            "draft weights (draftModelRef or draftModel) are only valid for the draft-model types (draft-simple, "
            "draft-eagle3, draft-dflash, draft-dspark, draft-mtp); the ngram types need no draft weights",
            _weights_unused,
            "(self.type in ['draft','draft-simple','draft-eagle3','draft-dflash','draft-dspark','draft-mtp']) || "
            "((!has(self.draftModelRef) || self.draftModelRef.size() == 0) && (!has(self.draftModel) || "
            "self.draftModel.size() == 0))",
            span=Span(since="v0.9.18"),
        ),
        Rule(
            "set only one of draftModelRef (a separate Model CR) and draftModel (a file in Model.files), not both",
            _both_weights,
            "!((has(self.draftModelRef) && self.draftModelRef.size() > 0) && (has(self.draftModel) && "
            "self.draftModel.size() > 0))",
            span=Span(since="v0.9.18"),
        ),
    )


class SGLangLoRAAdapter(ApiModel):
    """An adapter in the container."""

    name: Text
    """Name under which requests select it."""
    path: Text
    """Its folder in the container."""


class SGLangSpeculativeConfig(ApiModel):
    """SGLang: a draft model that proposes tokens."""

    enabled: bool | None = None
    """Whether it is used."""
    algorithm: Literal["EAGLE", "EAGLE3", "Medusa"] | None = None
    """EAGLE, EAGLE3 or Medusa."""
    draft_model_path: str | None = None
    """Folder or repository of the draft model."""
    num_steps: PositiveInt32 | None = None
    """Steps of the draft model at a time."""
    eagle_top_k: PositiveInt32 | None = None
    """Branches of each step."""
    num_draft_tokens: PositiveInt32 = 4
    """Tokens that it proposes at a time."""
    accept_threshold_single: Annotated[Share | None, Span(since="v0.9.6")] = None
    """Probability at which a single token is accepted."""
    accept_threshold_acc: Annotated[Share | None, Span(since="v0.9.6")] = None
    """Probability at which a sequence of tokens is accepted."""


class SGLangConfig(ApiModel):
    """SGLang. ``memFractionStatic`` is a share of GPU memory."""

    tensor_parallel_size: PositiveInt32 | None = None
    """GPUs to spread each layer over. Default: those of the pod."""
    data_parallel_size: PositiveInt32 | None = None
    """Copies of the model in a pod."""
    expert_parallel_size: PositiveInt32 | None = None
    """GPUs to spread experts over."""
    context_length: Annotated[Int32, Field(ge=128)] | None = None
    """Tokens of context."""
    mem_fraction_static: GpuShare | None = None
    """Share of GPU memory for weights and cache, 0.1 to 0.99."""
    chunked_prefill_size: Annotated[Int32, Field(ge=512)] | None = None
    """Tokens of a chunk of a prompt."""
    max_running_requests: PositiveInt32 | None = None
    """Concurrent requests."""
    quantization: str | None = None
    """How the weights are quantized."""
    kv_cache_dtype: Literal["auto", "fp8_e5m2", "fp8_e4m3"] = "auto"
    """auto, fp8_e5m2 or fp8_e4m3."""
    kv_cache_custom_dtype: str | None = None
    """Type of the KV cache, if it is not in the list of kv_cache_dtype."""
    attention_backend: Literal["flashinfer", "flash_attn", "torch_native"] | None = None
    """flashinfer, flash_attn or torch_native."""
    enable_prefix_caching: bool | None = None
    """Whether to cache common prefixes of requests."""
    tool_call_parser: Literal["llama3", "qwen3", "qwen25", "hermes", "functionary", "mistral"] | None = None
    """llama3, qwen3, qwen25, hermes, functionary or mistral."""
    reasoning_parser: Literal["qwen3", "deepseek-r1"] | None = None
    """qwen3 or deepseek-r1."""
    chat_template: str | None = None
    """Name or file of the chat template."""
    speculative: SGLangSpeculativeConfig | None = None
    """A draft model that proposes tokens."""
    lora_modules: list[str] | None = None
    """Adapters as name=path, or as JSON with name and path."""
    lora_adapters: Annotated[list[SGLangLoRAAdapter] | None, Span(since="v0.9.6")] = None
    """Adapters; they take precedence over lora_modules."""
    lora_target_modules: list[str] | None = None
    """Modules that adapters may change."""
    max_lora_rank: PositiveInt32 | None = None
    """Maximum rank of an adapter."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"] | None, Span(since="v0.9.6")] = None
    """debug, info, warning or error."""
    trust_remote_code: Annotated[bool | None, Span(since="v0.9.6")] = None
    """Whether to run code of the model's repository."""
    skip_tokenizer_init: Annotated[bool | None, Span(since="v0.9.6")] = None
    """Whether requests consist of tokens instead of text."""
    hf_token_secret_ref: SecretKeySelector | None = None
    """Secret with the token of Hugging Face (core/v1 SecretKeySelector, in wire form)."""

    rules: ClassVar[tuple[Rule, ...]] = (MEMORY_SHARE,)

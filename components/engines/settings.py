"""What engines can be told, in words that do not depend on the engine: its folder has its own flags for them."""

from enum import StrEnum


class Setting(StrEnum):
    """What a flag means. The names are those of ``settings`` in an engine's ``engine.yaml``."""

    # What is served, and where.
    MODEL = "model"
    """File, folder or repository of the model."""
    MODEL_REPOSITORY = "model_repository"
    """Repository of the model, where a file has a flag of its own."""
    MODEL_ADDRESS = "model_address"
    """Address of the model's file."""
    MODEL_CONFIG = "model_config"
    """JSON over the model's own configuration."""
    MODEL_METADATA = "model_metadata"
    """Entries over those of the model's file."""
    SERVED_NAME = "served_name"
    """Name that clients ask for."""
    HOST = "host"
    PORT = "port"
    CERTIFICATES = "certificates"
    """Folder of certificates."""
    METRICS = "metrics"
    """Turns metrics on."""
    NO_METRICS = "no_metrics"
    """Turns metrics off."""

    # How much at once.
    CONTEXT = "context"
    """Tokens of a request and its answer."""
    INPUT = "input"
    """Tokens of a request alone."""
    CONCURRENCY = "concurrency"
    """Requests in flight."""
    BATCH_TOKENS = "batch_tokens"
    """Tokens of a batch."""
    MICRO_BATCH_TOKENS = "micro_batch_tokens"
    """Tokens that are computed at a time."""

    # What numbers are kept in.
    DTYPE = "dtype"
    QUANTIZATION = "quantization"
    FOUR_BITS = "four_bits"
    """Turns on quantization to four bits."""
    CACHE_TYPE = "cache_type"
    """Type of the key-value cache."""
    CACHE_TYPE_K = "cache_type_k"
    CACHE_TYPE_V = "cache_type_v"

    # What is where.
    TENSOR_PARALLEL = "tensor_parallel"
    PIPELINE_PARALLEL = "pipeline_parallel"
    DATA_PARALLEL = "data_parallel"
    EXPERT_PARALLEL = "expert_parallel"
    SHARDED = "sharded"
    """Whether all accelerators are used."""
    GPU_LAYERS = "gpu_layers"
    SPLIT_MODE = "split_mode"
    TENSOR_SPLIT = "tensor_split"
    """Share of each accelerator."""
    TENSOR_PLACEMENT = "tensor_placement"
    """Which tensors are kept where."""
    GPU_MEMORY = "gpu_memory"
    """Share of an accelerator's memory that is used."""
    OFFLOADED_GIB = "offloaded_gib"
    """GiB of weights that are kept in the memory of the host."""
    OFFLOADING = "offloading"
    """Lets weights be kept in the memory of the host."""
    EXPERTS_ON_CPU = "experts_on_cpu"
    EXPERT_LAYERS_ON_CPU = "expert_layers_on_cpu"
    CACHE_ON_GPU = "cache_on_gpu"

    # How it is computed.
    ATTENTION_BACKEND = "attention_backend"
    FLASH_ATTENTION = "flash_attention"
    PREFIX_CACHING = "prefix_caching"
    CHUNKED_PREFILL = "chunked_prefill"
    DRAFT_MODEL = "draft_model"
    DRAFT_TOKENS = "draft_tokens"
    SPECULATION = "speculation"
    """JSON that says all of speculative decoding."""
    ROPE_SCALING = "rope_scaling"
    ROPE_FACTOR = "rope_factor"
    ROPE_ORIGINAL_CONTEXT = "rope_original_context"
    CHAT_TEMPLATES = "chat_templates"
    """Whether the model's own chat template is used."""
    REASONING_BUDGET = "reasoning_budget"
    REASONING_MESSAGE = "reasoning_message"
    WARMUP = "warmup"


class Feature(StrEnum):
    """What came with a version of an engine. The names are those of ``features`` in ``engine.yaml``."""

    PIPELINE_PARALLEL = "pipeline_parallel"
    PREFIX_CACHING_ON = "prefix_caching_on"
    """On unless it is turned off."""
    CHUNKED_PREFILL_ON = "chunked_prefill_on"
    CHAT_TEMPLATES_ON = "chat_templates_on"
    HF_TOKEN = "hf_token"  # noqa: S105  a word, not a secret
    """The token for the Hugging Face hub is read from the variable HF_TOKEN."""

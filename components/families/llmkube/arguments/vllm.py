"""Arguments of vLLM's server, in the order in which LLMKube writes them (LLMKube spec 2.2)."""

import json

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Feature, Setting
from ....fleet.objects import Object
from ..serving import ServiceContext
from ..types.runtimes import VLLMConfig
from ..weights import repository_of, revision_of
from .facts import has
from .line import EXTRA, Line, token_env

_CONFIG = "spec.vllmConfig"
_BACKEND_ENV = "VLLM_ATTENTION_BACKEND"
_OTHER_SPLITS = (Setting.PIPELINE_PARALLEL, Setting.DATA_PARALLEL)
_AUTO_LENGTH = -1
_SPECULATIVE = f"{_CONFIG}.speculative"
_CLAIM = "pvc://"
_MOUNT = "/model-source/"
"""Mount path of the served Model's claim (LLMKube spec 3.3)."""


def vllm_line(serving: ServiceContext) -> CommandLine:
    """Return the command line of a vLLM server."""
    line, spec = Line(serving), serving.service.spec
    source = serving.model.spec.source
    skipped = spec.skip_model_init and not serving.model_path
    if skipped and source.startswith(("http://", "https://")):
        reason = f"vllm cannot load a URL, and nothing fetches {source!r} of Model {serving.model.metadata.name!r}"
        serving.findings.error("spec.skipModelInit", f"{reason}; remove skipModelInit", RuleId.WEIGHTS_UNREACHABLE)
    # The mounted file, or else a path in the image or a repository.
    line.args.append(serving.model_path or repository_of(source).removeprefix("file://"))
    line.add_revision()
    line.bind()
    line.listen(serving.port)
    config = spec.vllm_config
    if config:
        _add_config(serving, line, config)
    is_set = config is not None and config.tensor_parallel_size is not None
    if serving.gpus > 1 and not is_set and line.written(Setting.TENSOR_PARALLEL, *_OTHER_SPLITS) is None:
        # Use all GPUs unless a field or extraArgs configures parallelism.
        line.add(Setting.TENSOR_PARALLEL, serving.gpus, EXTRA)
    line.add_slots()
    return line.finish()


def vllm_env(serving: ServiceContext) -> list[Object]:
    """Return the hub token, and the attention backend for versions that have no flag for it."""
    config = serving.service.spec.vllm_config
    if config is None:
        return []
    env = token_env(serving, "HF_TOKEN", config.hf_token_secret_ref, f"{_CONFIG}.hfTokenSecretRef")
    if config.attention_backend and not Line(serving).knows(Setting.ATTENTION_BACKEND):
        # The variable must be in capitals; the flag is case-insensitive.
        env.append({"name": _BACKEND_ENV, "value": config.attention_backend.upper()})
    return env


def _add_config(serving: ServiceContext, line: Line, config: VLLMConfig) -> None:
    _add_tensor_parallelism(serving, line, config.tensor_parallel_size)
    length = config.max_model_len
    if length is not None and length < 1 and length != _AUTO_LENGTH:
        reason = f"must be at least 1 token, found {length}; remove it to use the model's default"
        serving.findings.error(f"{_CONFIG}.maxModelLen", reason, RuleId.FLAGS_MALFORMED)
    line.add(Setting.CONTEXT, config.max_model_len, f"{_CONFIG}.maxModelLen")
    line.add(Setting.QUANTIZATION, config.quantization, f"{_CONFIG}.quantization")
    line.add(Setting.DTYPE, config.dtype, f"{_CONFIG}.dtype")
    # A custom type takes precedence; auto is the engine's default.
    dtype, custom = config.kv_cache_dtype, config.kv_cache_custom_dtype
    if custom and dtype != "auto":
        reason = "has no effect: kvCacheCustomDtype takes precedence; remove one of the two"
        serving.findings.warn(f"{_CONFIG}.kvCacheDtype", reason, RuleId.FIELD_OVERRIDDEN)
    if custom:
        line.add(Setting.CACHE_TYPE, custom, f"{_CONFIG}.kvCacheCustomDtype", custom=True)
    elif dtype != "auto":
        line.add(Setting.CACHE_TYPE, dtype, f"{_CONFIG}.kvCacheDtype")
    prefixes, chunks = config.enable_prefix_caching, config.enable_chunked_prefill
    for setting, field, enabled, feature in (
        (Setting.PREFIX_CACHING, "enablePrefixCaching", prefixes, Feature.PREFIX_CACHING_ON),
        (Setting.CHUNKED_PREFILL, "enableChunkedPrefill", chunks, Feature.CHUNKED_PREFILL_ON),
    ):
        line.switch(setting, f"{_CONFIG}.{field}", on=enabled)
        # In the contract, false means vLLM's default, which is on in newer versions.
        if enabled is False and has("vllm", feature, serving.tag) and line.written(setting) != line.off(setting):
            serving.findings.warn(
                f"{_CONFIG}.{field}",
                f"false keeps vLLM's default, which is on in this version; add {line.off(setting)} to {EXTRA} to "
                "turn it off",
                RuleId.FIELD_NO_EFFECT,
            )
    line.add(Setting.BATCH_TOKENS, config.max_num_batched_tokens, f"{_CONFIG}.maxNumBatchedTokens")
    if line.knows(Setting.ATTENTION_BACKEND):
        line.add(Setting.ATTENTION_BACKEND, config.attention_backend, f"{_CONFIG}.attentionBackend")
    _add_speculative(serving, line)
    line.switch(Setting.EXPERT_PARALLEL, f"{_CONFIG}.enableExpertParallel", on=config.enable_expert_parallel)
    for setting, field, value in (
        (Setting.OFFLOADED_GIB, "cpuOffloadGB", config.cpu_offload_gb),
        (Setting.GPU_MEMORY, "gpuMemoryUtilization", config.gpu_memory_utilization),
    ):
        if value is not None and serving.gpus < 1:
            reason = (
                "is omitted, because the pod does not request a GPU; set hardware.gpu.count in the Model, or "
                "remove it"
            )
            serving.findings.warn(f"{_CONFIG}.{field}", reason, RuleId.GPUS_ABSENT)
        else:
            line.add(setting, value, f"{_CONFIG}.{field}")


def _add_tensor_parallelism(serving: ServiceContext, line: Line, size: int | None) -> None:
    path = f"{_CONFIG}.tensorParallelSize"
    if size is None:
        return
    if size < 1:
        serving.findings.error(
            path,
            f"must be between 1 and the number of GPUs of a pod, found {size}; remove it to use all GPUs",
            RuleId.GPUS_MISMATCH,
        )
    elif size > 1 and serving.gpus < 1:
        serving.findings.error(
            path, f"is {size}, but a pod has no GPU; request GPUs in the Model, or remove it", RuleId.GPUS_MISMATCH
        )
    if size > 1:
        line.add(Setting.TENSOR_PARALLEL, size, path)


def _add_speculative(serving: ServiceContext, line: Line) -> None:
    """Add the draft model: two flags, or in later versions the JSON option that replaced them."""
    config = serving.service.spec.vllm_config
    speculative = config.speculative if config else None
    if speculative is None:
        return
    if not speculative.enabled:
        if speculative.model and speculative.enabled is None:
            serving.findings.warn(
                f"{_SPECULATIVE}.model",
                "has no effect without enabled: true; set it, or remove this",
                RuleId.FIELD_NO_EFFECT,
            )
        return
    if not speculative.model:
        reason = "speculative decoding is omitted, because there is no draft; name a Model in this namespace"
        serving.findings.warn(f"{_SPECULATIVE}.model", reason, RuleId.FIELD_NO_EFFECT)
        return
    draft = _draft(serving, speculative.model)
    if draft is None:
        return
    tokens = speculative.num_speculative_tokens
    if line.knows(Setting.DRAFT_MODEL):
        line.add(Setting.DRAFT_MODEL, draft, _SPECULATIVE)
        line.add(Setting.DRAFT_TOKENS, tokens, _SPECULATIVE)
    else:
        value = json.dumps({"model": draft, "num_speculative_tokens": tokens})
        line.add(Setting.SPECULATION, value, _SPECULATIVE)


def _draft(serving: ServiceContext, name: str) -> str | None:
    """Return the draft's repository or its path in the container; None after an error."""
    path = f"{_SPECULATIVE}.model"
    model = serving.models.get(name)
    if model is None:
        serving.findings.error(
            path,
            unknown_reference("Model", name, serving.models, "add one to this namespace"),
            RuleId.REFERENCE_MISSING,
        )
        return None
    source = model.spec.source
    if source.startswith("hf://") and not revision_of(source):
        return repository_of(source)
    if "://" not in source:
        return source
    claim, _, file = source.removeprefix(_CLAIM).partition("/")
    served_claim = serving.model.spec.source.removeprefix(_CLAIM).partition("/")[0]
    # The pod mounts the served Model's claim only.
    if source.startswith(_CLAIM) and serving.model_path.startswith(_MOUNT) and claim == served_claim:
        return _MOUNT + file
    if source.startswith("file://"):
        return source.removeprefix("file://")
    serving.findings.error(
        path,
        f"Model {name!r} comes from {source!r}, but only the served Model is fetched into the pod; use a Hugging "
        "Face repository such as org/name, or a path in the image",
        RuleId.WEIGHTS_UNREACHABLE,
    )
    return None

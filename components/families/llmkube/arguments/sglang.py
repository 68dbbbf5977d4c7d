"""Arguments of SGLang's server, in the order in which LLMKube writes them (runtime_sglang.go at v0.9.19)."""

import json

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Setting
from ....fleet.objects import Object
from ..serving import ServiceContext
from ..types.inference_service import InferenceServiceSpec
from ..types.runtimes import SGLangConfig, SGLangSpeculativeConfig
from ..weights import repository_of
from .line import EXTRA, Line, token_env

_CONFIG = "spec.sglangConfig"
_SPECULATIVE = f"{_CONFIG}.speculative"
_COMMAND = ("python3", "-m", "sglang.launch_server")
_SPLITS = (Setting.PIPELINE_PARALLEL, Setting.DATA_PARALLEL)


def sglang_line(serving: ServiceContext) -> CommandLine:
    """Return the command line of an SGLang server."""
    line, spec = Line(serving, _COMMAND), serving.service.spec
    source, name = serving.model.spec.source, serving.model.metadata.name
    if not serving.model_path and source.startswith(("http://", "https://", "s3://")):
        reason = f"sglang cannot load a URL, and nothing fetches {source!r} of Model {name!r}"
        serving.findings.error("spec.skipModelInit", f"{reason}; remove skipModelInit", RuleId.WEIGHTS_UNREACHABLE)
    line.put(Setting.MODEL, serving.model_path or repository_of(source).removeprefix("file://"))
    line.add_revision()
    line.listen(serving.port)
    if not line.written(Setting.METRICS):
        line.args.append(line.flag(Setting.METRICS))
    line.bind()
    if not line.written(Setting.SERVED_NAME):
        line.put(Setting.SERVED_NAME, name)
    config = spec.sglang_config or SGLangConfig()
    _add_config(serving, line, config)
    if serving_mode(spec, line) == "embedding" and not line.written(Setting.EMBEDDING):
        line.switch(Setting.EMBEDDING, "spec.mode", on=True)
    return line.finish()


def sglang_env(serving: ServiceContext) -> list[Object]:
    """Return the hub token."""
    config = serving.service.spec.sglang_config or SGLangConfig()
    return token_env(serving, "HF_TOKEN", config.hf_token_secret_ref, f"{_CONFIG}.hfTokenSecretRef")


def serving_mode(spec: InferenceServiceSpec, line: Line) -> str:
    """Return how the model is served: as the field says, or else ``extraArgs`` or the path of the endpoint."""
    if spec.mode:
        return spec.mode
    path = spec.endpoint.path if spec.endpoint else ""
    return "embedding" if line.written(Setting.EMBEDDING) or "/embeddings" in path else "chat"


def _add_config(serving: ServiceContext, line: Line, config: SGLangConfig) -> None:
    _add_parallelism(serving, line, config)
    line.add(Setting.CONTEXT, config.context_length, f"{_CONFIG}.contextLength")
    if config.mem_fraction_static is not None and not serving.is_accelerated:
        reason = (
            "is omitted, because the pod does not request a GPU; set hardware.gpu.count in the Model, or remove it"
        )
        serving.findings.warn(f"{_CONFIG}.memFractionStatic", reason, RuleId.GPUS_ABSENT)
    else:
        line.add(Setting.GPU_MEMORY, config.mem_fraction_static, f"{_CONFIG}.memFractionStatic")
    line.add(Setting.CHUNK_TOKENS, config.chunked_prefill_size, f"{_CONFIG}.chunkedPrefillSize")
    line.add(Setting.CONCURRENCY, config.max_running_requests, f"{_CONFIG}.maxRunningRequests")
    line.add(Setting.QUANTIZATION, config.quantization, f"{_CONFIG}.quantization")
    custom = config.kv_cache_custom_dtype
    if custom and config.kv_cache_dtype != "auto":
        reason = "has no effect: kvCacheCustomDtype takes precedence; remove one of the two"
        serving.findings.warn(f"{_CONFIG}.kvCacheDtype", reason, RuleId.FIELD_OVERRIDDEN)
    if custom:
        line.add(Setting.CACHE_TYPE, custom, f"{_CONFIG}.kvCacheCustomDtype", custom=True)
    elif config.kv_cache_dtype != "auto":
        line.add(Setting.CACHE_TYPE, config.kv_cache_dtype, f"{_CONFIG}.kvCacheDtype")
    line.add(Setting.ATTENTION_BACKEND, config.attention_backend, f"{_CONFIG}.attentionBackend")
    # The prefix cache is on unless a flag turns it off; the operator writes a flag for it that no version has.
    line.switch(Setting.NO_PREFIX_CACHING, f"{_CONFIG}.enablePrefixCaching", on=config.enable_prefix_caching is False)
    if config.enable_prefix_caching and (off := line.written(Setting.NO_PREFIX_CACHING)):
        reason = f"has no effect: {EXTRA} contains {off}; remove one of the two"
        serving.findings.warn(f"{_CONFIG}.enablePrefixCaching", reason, RuleId.FIELD_OVERRIDDEN)
    line.add(Setting.TOOL_PARSER, config.tool_call_parser, f"{_CONFIG}.toolCallParser")
    line.add(Setting.REASONING_PARSER, config.reasoning_parser, f"{_CONFIG}.reasoningParser")
    line.add(Setting.CHAT_TEMPLATE, config.chat_template or None, f"{_CONFIG}.chatTemplate")
    _add_speculative(serving, line, config.speculative)
    line.add_all(Setting.ADAPTERS, _adapters(serving, config), f"{_CONFIG}.loraAdapters")
    line.add(Setting.MOST_RANK, config.max_lora_rank, f"{_CONFIG}.maxLoraRank")
    line.add_all(Setting.ADAPTED_MODULES, config.lora_target_modules or (), f"{_CONFIG}.loraTargetModules")
    line.add(Setting.LOG_LEVEL, config.log_level, f"{_CONFIG}.logLevel")
    line.switch(Setting.REMOTE_CODE, f"{_CONFIG}.trustRemoteCode", on=config.trust_remote_code)
    line.switch(Setting.NO_TOKENIZER, f"{_CONFIG}.skipTokenizerInit", on=config.skip_tokenizer_init)


def _add_parallelism(serving: ServiceContext, line: Line, config: SGLangConfig) -> None:
    """Add the degrees of parallelism, and use all GPUs of the pod unless a field or ``extraArgs`` divides them."""
    tensor, data, experts = config.tensor_parallel_size, config.data_parallel_size, config.expert_parallel_size
    gpus, findings = serving.gpus, serving.findings
    # With attention in data parallel, the copies share the accelerators of one model.
    copies = 1 if line.written(Setting.ATTENTION_PARALLEL) else data or 1
    if gpus and experts and experts > gpus:
        reason = f"is {experts}, but a pod has only {gpus} GPUs; request more GPUs in the Model, or lower it"
        findings.error(f"{_CONFIG}.expertParallelSize", reason, RuleId.GPUS_MISMATCH)
    line.add(Setting.TENSOR_PARALLEL, tensor, f"{_CONFIG}.tensorParallelSize")
    line.add(Setting.EXPERT_PARALLEL, experts, f"{_CONFIG}.expertParallelSize")
    line.add(Setting.DATA_PARALLEL, data, f"{_CONFIG}.dataParallelSize")
    rest = gpus // copies
    if tensor is None and rest > 1 and line.written(Setting.TENSOR_PARALLEL, *_SPLITS) is None:
        line.add(Setting.TENSOR_PARALLEL, rest, EXTRA)


def _add_speculative(serving: ServiceContext, line: Line, config: SGLangSpeculativeConfig | None) -> None:
    """Add the draft model, if it is enabled and complete."""
    if config is None:
        return
    if not config.enabled:
        written = config.wire().keys() - {"enabled", "numDraftTokens"}
        if written and config.enabled is None:
            reason = "has no effect without enabled: true; set it, or remove this"
            serving.findings.warn(f"{_SPECULATIVE}.{min(written)}", reason, RuleId.FIELD_NO_EFFECT)
        return
    if not config.algorithm or not config.draft_model_path:
        missing = "algorithm" if not config.algorithm else "draftModelPath"
        reason = "speculative decoding is omitted without it; set algorithm and draftModelPath, or remove it"
        serving.findings.warn(f"{_SPECULATIVE}.{missing}", reason, RuleId.FIELD_NO_EFFECT)
        return
    line.add(Setting.DRAFT_METHOD, config.algorithm, f"{_SPECULATIVE}.algorithm")
    line.add(Setting.DRAFT_MODEL, config.draft_model_path, f"{_SPECULATIVE}.draftModelPath")
    line.add(Setting.DRAFT_STEPS, config.num_steps, f"{_SPECULATIVE}.numSteps")
    line.add(Setting.DRAFT_BRANCHES, config.eagle_top_k, f"{_SPECULATIVE}.eagleTopK")
    line.add(Setting.DRAFT_TOKENS, config.num_draft_tokens, f"{_SPECULATIVE}.numDraftTokens")
    line.add(Setting.ACCEPT_TOKEN, config.accept_threshold_single, f"{_SPECULATIVE}.acceptThresholdSingle")
    line.add(Setting.ACCEPT_SEQUENCE, config.accept_threshold_acc, f"{_SPECULATIVE}.acceptThresholdAcc")


def _adapters(serving: ServiceContext, config: SGLangConfig) -> list[str]:
    """Return the adapters as ``name=path``; those of ``loraAdapters`` take precedence."""
    named = {adapter.name: adapter.path for adapter in config.lora_adapters or ()}
    for index, text in enumerate(config.lora_modules or ()):
        path = f"{_CONFIG}.loraModules[{index}]"
        name, folder = _name_and_path(text)
        if not name or not folder:
            reason = f"must be name=path, or JSON with name and path, found {text!r}"
            serving.findings.error(path, reason, RuleId.ADAPTERS_WRONG)
        elif name in named:
            reason = f"has no effect: another adapter has the name {name!r}; remove one of the two"
            serving.findings.warn(path, reason, RuleId.FIELD_OVERRIDDEN)
        else:
            named[name] = folder
    return [f"{name}={folder}" for name, folder in named.items()]


def _name_and_path(text: str) -> tuple[str, str]:
    name, separator, folder = text.partition("=")
    if separator and not any(letter in name for letter in '{[ "'):
        return name, folder
    try:
        value = json.loads(text)
    except ValueError:
        return "", ""
    if not isinstance(value, dict):
        return "", ""
    return str(value.get("name", "")), str(value.get("path", ""))

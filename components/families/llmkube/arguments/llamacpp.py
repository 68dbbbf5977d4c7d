"""Arguments of llama.cpp's server, in the order in which LLMKube writes them (LLMKube spec 2.1, 4.3)."""

import math
import re

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Feature, Setting
from ..serving import ServiceContext
from ..types.model import GPUSpec, Model
from ..types.runtimes import DRAFT_TYPES
from ..weights import FOLDER, repository_of, revision_of
from .facts import has
from .line import EXTRA, Line

MODELS = (Setting.MODEL, Setting.MODEL_REPOSITORY, Setting.MODEL_ADDRESS)
_MODEL_ENV = ("LLAMA_ARG_MODEL", "LLAMA_ARG_HF_REPO", "LLAMA_ARG_MODEL_URL")
_UNQUANTIZED_TYPES = ("f16", "f32", "bf16")
DRAFTS = (Setting.DRAFT_MODEL, Setting.DRAFT_REPOSITORY)
_MODEL_REF = "spec.modelRef"
_MODE = "spec.mode"
_SPECULATION = "spec.speculativeDecoding"
_DRAFT_METHODS = {"mtp": "draft-mtp", "draft": "draft-simple", "disabled": "none"}
"""Methods by their other names (LLMKube v0.9.19, runtime_llamacpp_args.go)."""
_POOLING = {"embedding": "last", "rerank": "rank"}
_ALL_LAYERS = 99
"""More layers than any model has, which llama.cpp reads as all."""
_SPLIT_MODES = {"row": "row", "tensor": "row", "none": "none"}
_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)


def llamacpp_line(serving: ServiceContext) -> CommandLine:
    """Return the command line of a llama.cpp server."""
    line, spec = Line(serving), serving.service.spec
    _add_model(serving, line)
    _add_sharding(serving, line)
    line.add(Setting.CONTEXT, spec.context_size, "spec.contextSize")
    rope = spec.rope_scaling
    if rope and line.written(Setting.ROPE_SCALING):
        reason = f"is omitted, because {EXTRA} contains {line.flag(Setting.ROPE_SCALING)}; remove one of the two"
        serving.findings.warn("spec.ropeScaling", reason, RuleId.FIELD_OVERRIDDEN)
    elif rope:
        line.add(Setting.ROPE_SCALING, rope.type, "spec.ropeScaling.type")
        line.add(Setting.ROPE_FACTOR, rope.factor, "spec.ropeScaling.factor")
        line.add(Setting.ROPE_ORIGINAL_CONTEXT, rope.original_context, "spec.ropeScaling.originalContext")
    line.add_slots()
    attention = spec.flash_attention
    if attention and not serving.is_accelerated:
        reason = "requires a GPU, but the pod requests none, so the server decides; set resources.gpu, or remove it"
        serving.findings.warn("spec.flashAttention", reason, RuleId.GPUS_ABSENT)
    elif attention is not None:
        line.add(Setting.FLASH_ATTENTION, "on" if attention else "off", "spec.flashAttention")
    line.switch(Setting.CHAT_TEMPLATES, "spec.jinja", on=spec.jinja)
    if spec.jinja is False and has("llamacpp", Feature.CHAT_TEMPLATES_ON, serving.tag):
        line.turn_off(Setting.CHAT_TEMPLATES, "spec.jinja")
    _add_cache_types(serving, line)
    _add_offloading(serving, line)
    line.add(Setting.BATCH_TOKENS, spec.batch_size, "spec.batchSize")
    line.add(Setting.MICRO_BATCH_TOKENS, spec.u_batch_size, "spec.uBatchSize")
    if spec.no_warmup:
        line.turn_off(Setting.WARMUP, "spec.noWarmup")
    _add_speculation(serving, line)
    line.add(Setting.REASONING_BUDGET, spec.reasoning_budget, "spec.reasoningBudget")
    message, message_path = spec.reasoning_budget_message, "spec.reasoningBudgetMessage"
    if message and spec.reasoning_budget is None:
        reason = "has no effect without reasoningBudget; set it, or remove the message"
        serving.findings.warn(message_path, reason, RuleId.FIELD_NO_EFFECT)
    elif message:
        line.add(Setting.REASONING_MESSAGE, message, message_path)
    if serving.projector_path:
        line.add(Setting.PROJECTOR, serving.projector_path, _MODEL_REF)
    line.put(Setting.MODEL_METADATA, *(spec.metadata_overrides or ()))
    _add_mode(line, spec.mode)
    return _with_metrics(line)


def llamacpp_router_line(serving: ServiceContext) -> CommandLine:
    """Return the command line of a llama.cpp server that serves every file of a folder (since LLMKube v0.9.8)."""
    line, spec = Line(serving), serving.service.spec
    mounted = [mount["mountPath"].rstrip("/") for mount in spec.extra_volume_mounts or ()]
    if not any(path == FOLDER or path.startswith(f"{FOLDER}/") for path in mounted):
        serving.findings.error(
            "spec.extraVolumeMounts",
            f"must mount the models at {FOLDER}, because nothing fetches them for runtime llamacpp-router, found "
            f"{', '.join(mounted) or 'no mount'}; add the volume to extraVolumes too",
            RuleId.WEIGHTS_UNREACHABLE,
        )
    line.put(Setting.MODEL_FOLDER, FOLDER)
    line.bind()
    line.listen(serving.port)
    return _with_metrics(line)


def _with_metrics(line: Line) -> CommandLine:
    command_line = line.finish()
    if line.written(Setting.METRICS):
        return command_line
    # Last, as LLMKube writes it.
    return command_line.followed_by(command_line.continued((line.flag(Setting.METRICS),)))


def _add_model(serving: ServiceContext, line: Line) -> None:
    other = line.written(*MODELS)
    variables = {env.get("name") for env in serving.service.spec.env or ()}
    if serving.model_path:
        line.put(Setting.MODEL, serving.model_path)
        if other:
            reason = f"{other} loads a different model than spec.modelRef; remove it"
            serving.findings.warn(EXTRA, reason, RuleId.WEIGHTS_ELSEWHERE)
    elif other or variables & set(_MODEL_ENV):
        # Even an empty argument overrides its variable.
        line.put(Setting.MODEL, *([] if _MODEL_ENV[0] in variables else [""]))
    else:
        # The server downloads the model, or finds it in its image.
        source = serving.model.spec.source
        if source.startswith(("http://", "https://")):
            line.put(Setting.MODEL_ADDRESS, source)
        elif source.startswith(("file://", "/")):
            line.put(Setting.MODEL, source.removeprefix("file://"))
        else:
            line.put(Setting.MODEL_REPOSITORY, _repository(serving, serving.model, _MODEL_REF))
    line.bind()
    line.listen(serving.port)


def _repository(serving: ServiceContext, model: Model, path: str) -> str:
    """Return the repository of a Model, of which this server downloads the newest revision only."""
    source = model.spec.source
    if revision_of(source):
        reason = (
            f"Model {model.metadata.name!r} names the revision {revision_of(source)!r}, which llama.cpp's server "
        )
        serving.findings.error(
            path,
            f"{reason}cannot choose; name its file in the Model's files, or remove the revision",
            RuleId.WEIGHTS_UNREACHABLE,
        )
    return repository_of(source)


def _add_speculation(serving: ServiceContext, line: Line) -> None:
    """Add how tokens are proposed, and the draft model that proposes them."""
    spec = serving.service.spec.speculative_decoding
    method = _DRAFT_METHODS.get(spec.type, spec.type) if spec else "none"
    if spec is None or method == "none":
        return
    findings, needs_draft = serving.findings, spec.type in DRAFT_TYPES
    draft = serving.draft_path or serving.draft_repository
    for name, value in (("draftModelRef", spec.draft_model_ref), ("draftModel", spec.draft_model)):
        if value and not (needs_draft or method == "draft-mtp"):
            reason = f"has no effect: type {spec.type} has no draft model; remove it, or choose a type with one"
            findings.warn(f"{_SPECULATION}.{name}", reason, RuleId.FIELD_NO_EFFECT)
    if spec.draft_model_ref and spec.draft_model:
        reason = "cannot be combined with draftModelRef; remove one of the two"
        findings.error(f"{_SPECULATION}.draftModel", reason)
    elif spec.draft_model and spec.draft_model not in (serving.model.spec.files or ()):
        reason = f"must be one of the files of Model {serving.model.metadata.name!r}, found {spec.draft_model!r}"
        findings.error(f"{_SPECULATION}.draftModel", reason, RuleId.REFERENCE_MISSING)
    elif needs_draft and not (spec.draft_model_ref or spec.draft_model) and not line.written(*DRAFTS):
        reason = f"{spec.type} needs a draft model; set draftModelRef to a Model, or use mtp or a type of ngram"
        findings.error(f"{_SPECULATION}.type", reason, RuleId.REFERENCE_MISSING)
    line.add(Setting.DRAFT_METHOD, method, f"{_SPECULATION}.type")
    if draft and (needs_draft or method == "draft-mtp"):
        setting = Setting.DRAFT_MODEL if serving.draft_path else Setting.DRAFT_REPOSITORY
        line.add(setting, draft, f"{_SPECULATION}.{'draftModelRef' if spec.draft_model_ref else 'draftModel'}")
    line.add(Setting.DRAFT_TOKENS, spec.n_draft_max, f"{_SPECULATION}.nDraftMax")
    line.add(Setting.DRAFT_PROBABILITY, spec.p_min, f"{_SPECULATION}.pMin")


def _add_mode(line: Line, mode: str | None) -> None:
    """Add the flags that serve embeddings or rankings; those in ``extraArgs`` replace them."""
    if mode not in _POOLING:
        return
    for setting in (Setting.RERANKING, Setting.EMBEDDING) if mode == "rerank" else (Setting.EMBEDDING,):
        if not line.written(setting):
            line.switch(setting, _MODE, on=True)
    if not line.written(Setting.POOLING):
        line.add(Setting.POOLING, _POOLING[mode], _MODE)
    # Earlier prompts are of no use here; older versions have no cache of them.
    if line.knows(Setting.PROMPT_CACHE) and not line.written(Setting.PROMPT_CACHE):
        line.add(Setting.PROMPT_CACHE, 0, _MODE)


def _add_cache_types(serving: ServiceContext, line: Line) -> None:
    """Add the types of the K and V cache. A custom type takes precedence, separately for K and V."""
    spec = serving.service.spec
    for side, setting, listed_type, custom in (
        ("K", Setting.CACHE_TYPE_K, spec.cache_type_k, spec.cache_type_custom_k),
        ("V", Setting.CACHE_TYPE_V, spec.cache_type_v, spec.cache_type_custom_v),
    ):
        if listed_type and custom:
            reason = f"has no effect: cacheTypeCustom{side} takes precedence; remove one of the two"
            serving.findings.warn(f"spec.cacheType{side}", reason, RuleId.FIELD_OVERRIDDEN)
        path = f"spec.cacheType{'Custom' if custom else ''}{side}"
        line.add(setting, custom or listed_type, path, custom=bool(custom))
    quantized = None if spec.cache_type_custom_v else spec.cache_type_v
    if not quantized or quantized in _UNQUANTIZED_TYPES or line.written(Setting.FLASH_ATTENTION):
        return
    # Versions whose flag takes no value leave flash attention off by default; later ones decide by themselves.
    enabled = spec.flash_attention
    if enabled is False or (
        not line.takes_value(Setting.FLASH_ATTENTION) and not (enabled and serving.is_accelerated)
    ):
        line.refuse(
            "spec.cacheTypeV", f"{quantized} requires flash attention, which is off; set flashAttention: true"
        )


def _add_offloading(serving: ServiceContext, line: Line) -> None:
    """Add the settings that keep experts or the cache in host memory."""
    spec = serving.service.spec
    layers = spec.moe_cpu_layers or None
    line.switch(Setting.EXPERTS_ON_CPU, "spec.moeCPUOffload", on=spec.moe_cpu_offload)
    line.add(Setting.EXPERT_LAYERS_ON_CPU, layers, "spec.moeCPULayers")
    if spec.no_kv_offload:
        line.turn_off(Setting.CACHE_ON_GPU, "spec.noKvOffload")
    line.put(Setting.TENSOR_PLACEMENT, *(spec.tensor_overrides or ()))
    if spec.moe_cpu_offload and layers:
        reason = (
            "has no effect together with moeCPUOffload, which keeps the experts of all layers on the CPU; remove one"
        )
        serving.findings.warn("spec.moeCPULayers", reason, RuleId.FIELD_NO_EFFECT)
    if spec.resources and (spec.resources.memory or spec.resources.host_memory):
        return
    for name, enabled in (("moeCPUOffload", spec.moe_cpu_offload), ("noKvOffload", spec.no_kv_offload)):
        if enabled:
            reason = "uses host memory, but the pod does not request any; set resources.hostMemory"
            serving.findings.warn(f"spec.{name}", reason, RuleId.MEMORY_NOT_REQUESTED)


def _add_sharding(serving: ServiceContext, line: Line) -> None:
    """Distribute layers and tensors over the GPUs."""
    gpu = _gpu(serving)
    if not serving.is_accelerated:
        if gpu.layers is not None or gpu.sharding is not None:
            serving.findings.warn(
                _MODEL_REF,
                f"{_title(serving)}: hardware.gpu.layers and sharding have no effect without a GPU; set "
                "hardware.gpu.count, or remove them",
                RuleId.GPUS_ABSENT,
            )
        return
    if gpu.layers == 0:
        serving.findings.warn(
            _MODEL_REF,
            f"{_title(serving)}: hardware.gpu.layers 0 puts no layer on the {serving.gpus} GPUs of the pod; set -1 "
            "for all layers, or request no GPU",
            RuleId.GPUS_UNUSED,
        )
    # Unset and negative numbers mean all.
    layers = _ALL_LAYERS if gpu.layers is None or gpu.layers < 0 else gpu.layers
    line.add(Setting.GPU_LAYERS, layers, EXTRA)
    if serving.gpus < 2:
        if gpu.sharding and gpu.sharding.layer_split:
            reason = "sharding.layerSplit has no effect with one GPU; increase hardware.gpu.count, or remove it"
            serving.findings.warn(_MODEL_REF, f"{_title(serving)}: {reason}", RuleId.FIELD_NO_EFFECT)
        return
    mode = _SPLIT_MODES.get(gpu.sharding.strategy, "layer") if gpu.sharding else "layer"
    line.add(Setting.SPLIT_MODE, mode, EXTRA)
    if mode != "none":
        line.add(Setting.TENSOR_SPLIT, ",".join(map(str, _shares(serving))), EXTRA)
    else:
        serving.findings.warn(
            _MODEL_REF,
            f"{_title(serving)}: sharding.strategy none uses only one of {serving.gpus} GPUs; use layer",
            RuleId.GPUS_UNUSED,
        )


def _shares(serving: ServiceContext) -> list[int]:
    """Return the share of each GPU: the sizes in ``layerSplit`` in lowest terms, or equal shares."""
    sharding = _gpu(serving).sharding
    entries = (sharding.layer_split if sharding else None) or []
    if not entries:
        return [1] * serving.gpus
    matches = [_RANGE.fullmatch(entry) for entry in entries]
    # An entry is start-end; 0 stands for a malformed one.
    sizes = [max(int(match[2]) - int(match[1]) + 1, 0) if match else 0 for match in matches]
    if len(sizes) != serving.gpus or not all(sizes):
        serving.findings.warn(
            _MODEL_REF,
            f"{_title(serving)}: sharding.layerSplit must have {serving.gpus} entries such as '0-19', one per GPU, "
            f"found {', '.join(map(repr, entries))}; until it is corrected, every GPU gets an equal share",
            RuleId.GPUS_UNEQUAL,
        )
        return [1] * serving.gpus
    return [size // math.gcd(*sizes) for size in sizes]


def _gpu(serving: ServiceContext) -> GPUSpec:
    hardware = serving.model.spec.hardware
    return (hardware.gpu if hardware else None) or GPUSpec()


def _title(serving: ServiceContext) -> str:
    return f"Model {serving.model.metadata.name!r}"

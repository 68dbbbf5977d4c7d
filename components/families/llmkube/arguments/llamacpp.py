"""Arguments of llama.cpp's server, in the order in which LLMKube writes them (LLMKube spec 2.1)."""

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Feature, Setting
from ..serving import Serving
from .facts import has
from .line import EXTRA, Line
from .sharding import add_sharding

MODELS = (Setting.MODEL, Setting.MODEL_REPOSITORY, Setting.MODEL_ADDRESS)
_MODEL_ENV = ("LLAMA_ARG_MODEL", "LLAMA_ARG_HF_REPO", "LLAMA_ARG_MODEL_URL")
_WHOLE_TYPES = ("f16", "f32", "bf16")
"""Types of the cache that are not quantized."""


def llamacpp_line(serving: Serving) -> CommandLine:
    """Return what a llama.cpp server is started with."""
    line, spec = Line(serving), serving.service.spec
    _add_model(serving, line)
    add_sharding(serving, line)
    line.add(Setting.CONTEXT, spec.context_size, "spec.contextSize")
    _add_rope_scaling(serving, line)
    _add_slots(serving, line)
    _add_flash_attention(serving, line)
    _add_jinja(serving, line)
    _add_cache_types(serving, line)
    _add_offloading(serving, line)
    line.add(Setting.BATCH_TOKENS, spec.batch_size, "spec.batchSize")
    line.add(Setting.MICRO_BATCH_TOKENS, spec.u_batch_size, "spec.uBatchSize")
    if spec.no_warmup:
        line.turn_off(Setting.WARMUP, "spec.noWarmup")
    _add_reasoning(serving, line)
    line.put(Setting.MODEL_METADATA, *(spec.metadata_overrides or ()))
    whole = line.finish()
    # Behind all else, as LLMKube writes it.
    return (
        whole if line.written(Setting.METRICS) else whole.followed_by(whole.continued((line.flag(Setting.METRICS),)))
    )


def _add_model(serving: Serving, line: Line) -> None:
    """Add what is served and where it listens."""
    other = line.written(*MODELS)
    named = {env.get("name") for env in serving.service.spec.env or ()}
    if serving.model_path:
        line.put(Setting.MODEL, serving.model_path)
        if other:
            reason = f"{other} loads a different model than spec.modelRef; remove it"
            serving.findings.warn(EXTRA, reason, RuleId.WEIGHTS_ELSEWHERE)
    elif other or named & set(_MODEL_ENV):
        # An argument wins over its variable, an empty one too.
        line.put(Setting.MODEL, *([] if _MODEL_ENV[0] in named else [""]))
    else:
        line.put(*_fetched(serving.model.spec.source))
    line.put(Setting.HOST, "0.0.0.0")  # noqa: S104  a pod listens for its Service
    line.listen(serving.port)


def _fetched(source: str) -> tuple[Setting, str]:
    """Return what lets the server fetch the model by itself, or find it in its image."""
    if source.startswith(("http://", "https://")):
        return Setting.MODEL_ADDRESS, source
    if source.startswith(("file://", "/")):
        return Setting.MODEL, source.removeprefix("file://")
    return Setting.MODEL_REPOSITORY, source


def _add_rope_scaling(serving: Serving, line: Line) -> None:
    rope = serving.service.spec.rope_scaling
    if rope is None:
        return
    if line.written(Setting.ROPE_SCALING):
        reason = f"is omitted, because {EXTRA} contains {line.flag(Setting.ROPE_SCALING)}; remove one of the two"
        serving.findings.warn("spec.ropeScaling", reason, RuleId.FIELD_OVERRIDDEN)
        return
    line.add(Setting.ROPE_SCALING, rope.type, "spec.ropeScaling.type")
    line.add(Setting.ROPE_FACTOR, rope.factor, "spec.ropeScaling.factor")
    line.add(Setting.ROPE_ORIGINAL_CONTEXT, rope.original_context, "spec.ropeScaling.originalContext")


def _add_slots(serving: Serving, line: Line) -> None:
    slots, other = serving.service.spec.parallel_slots, line.written(Setting.CONCURRENCY)
    if slots is not None and other:
        serving.findings.warn(
            "spec.parallelSlots",
            f"is omitted, because {EXTRA} contains {other}; remove one of the two",
            RuleId.FIELD_OVERRIDDEN,
        )
    else:
        line.add(Setting.CONCURRENCY, slots, "spec.parallelSlots")


def _add_flash_attention(serving: Serving, line: Line) -> None:
    """Add flash attention: on where there is a GPU, off wherever the server would otherwise decide by itself."""
    wanted, path = serving.service.spec.flash_attention, "spec.flashAttention"
    if wanted and serving.gpus < 1:
        reason = "requires a GPU, but the pod requests none, so the server decides; set resources.gpu, or remove it"
        serving.findings.warn(path, reason, RuleId.GPUS_ABSENT)
    elif wanted is not None:
        line.add(Setting.FLASH_ATTENTION, "on" if wanted else "off", path)


def _add_jinja(serving: Serving, line: Line) -> None:
    wanted, path = serving.service.spec.jinja, "spec.jinja"
    line.switch(Setting.CHAT_TEMPLATES, path, on=wanted)
    if wanted is False and has("llamacpp", Feature.CHAT_TEMPLATES_ON, serving.tag):
        line.turn_off(Setting.CHAT_TEMPLATES, path)


def _add_cache_types(serving: Serving, line: Line) -> None:
    """Add the types of the key-value cache; a custom one wins over one of the list, each side by itself."""
    spec = serving.service.spec
    for side, setting, plain, custom in (
        ("K", Setting.CACHE_TYPE_K, spec.cache_type_k, spec.cache_type_custom_k),
        ("V", Setting.CACHE_TYPE_V, spec.cache_type_v, spec.cache_type_custom_v),
    ):
        if plain and custom:
            reason = f"has no effect: cacheTypeCustom{side} takes precedence; remove one of the two"
            serving.findings.warn(f"spec.cacheType{side}", reason, RuleId.FIELD_OVERRIDDEN)
        path = f"spec.cacheType{'Custom' if custom else ''}{side}"
        line.add(setting, custom or plain, path, custom=bool(custom))
    quantized = None if spec.cache_type_custom_v else spec.cache_type_v
    if quantized and quantized not in _WHOLE_TYPES and _flash_attention_is_off(serving, line):
        line.refuse(
            "spec.cacheTypeV", f"{quantized} requires flash attention, which is off; set flashAttention: true"
        )


def _flash_attention_is_off(serving: Serving, line: Line) -> bool:
    """Tell whether the server surely runs without: it is turned off, or its version does so unless it is told."""
    if line.written(Setting.FLASH_ATTENTION):
        return False
    wanted = serving.service.spec.flash_attention
    return wanted is False or (not line.takes_value(Setting.FLASH_ATTENTION) and not (wanted and serving.gpus))


def _add_offloading(serving: Serving, line: Line) -> None:
    """Add what stays in the memory of the host."""
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
    _check_host_memory(serving)


def _check_host_memory(serving: Serving) -> None:
    spec = serving.service.spec
    if spec.resources and (spec.resources.memory or spec.resources.host_memory):
        return
    for name, wanted in (("moeCPUOffload", spec.moe_cpu_offload), ("noKvOffload", spec.no_kv_offload)):
        if wanted:
            reason = "uses host memory, but the pod does not request any; set resources.hostMemory"
            serving.findings.warn(f"spec.{name}", reason, RuleId.MEMORY_NOT_REQUESTED)


def _add_reasoning(serving: Serving, line: Line) -> None:
    spec, path = serving.service.spec, "spec.reasoningBudgetMessage"
    line.add(Setting.REASONING_BUDGET, spec.reasoning_budget, "spec.reasoningBudget")
    if not spec.reasoning_budget_message:
        return
    if spec.reasoning_budget is None:
        serving.findings.warn(
            path, "has no effect without reasoningBudget; set it, or remove the message", RuleId.FIELD_NO_EFFECT
        )
    else:
        line.add(Setting.REASONING_MESSAGE, spec.reasoning_budget_message, path)

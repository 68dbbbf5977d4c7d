"""Checks of settings that LLMKube's operator ignores or breaks, before a resource is left to it.

A defect applies to the releases of its span: since the first one until the last one that has it. Releases without a
bound are v0.8.7 and v0.9.19 (internal/controller at each tag).
"""

from collections.abc import Callable, Iterator, Mapping

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.releases import Span
from ...engines.settings import Feature, Setting
from ...fleet.demand import NodeChoice
from ...fleet.options import Options
from ...fleet.placement import taints, tolerates
from .arguments.facts import has
from .arguments.line import EXTRA, Line
from .arguments.llamacpp import MODELS
from .facts import llmkube
from .hardware import MODEL_PATH, Hardware
from .pods import FIRST_UNPRIVILEGED_PORT
from .serving import ServiceContext
from .types.inference_service import EndpointSpec
from .types.model import GPUSpec
from .weights import repository_of, revision_of

_OPTIONS = ("overrides", "cache", "runtimes", "grace_seconds", "scheduler_name")
_UPSTREAM_METRICS = ("llamacpp", "llamacpp-router", "vllm", "sglang")
"""Runtimes whose default metric is one that the server exports."""
_CLAIM = "pvc://"
_MODEL_ENV = ("LLAMA_ARG_HF_REPO", "LLAMA_ARG_MODEL_URL")
"""Variables that still apply with an empty model argument, which overrides LLAMA_ARG_MODEL."""
_VLLM, _SGLANG = "spec.vllmConfig", "spec.sglangConfig"
Fault = tuple[str, str]
"""Path of a field, and how the operator mishandles it."""


def check_for_operator(
    serving: ServiceContext, hardware: Hardware, choices: tuple[NodeChoice, ...], options: Options, findings: Findings
) -> None:
    """Report options and fields that the operator ignores or breaks (LLMKube spec 4)."""
    for name in _OPTIONS:
        if getattr(options, name) != getattr(Options(), name):
            reason = (
                f"the option {name!r} applies only to realization 'native'; the LLMKube operator does not support it"
            )
            findings.error("", reason, RuleId.SETTINGS)
    spec = serving.service.spec
    port = (spec.endpoint or EndpointSpec()).port
    if port != serving.port:
        findings.error(
            "spec.endpoint.port",
            f"the LLMKube operator's Service targets port {port}, but the container listens on {serving.port}; set "
            f"endpoint.port: {serving.port}, or use realization 'native'",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    _check_hardware(serving, hardware, findings)
    drops_placement = applies(Span(until="v0.9.16"), findings)
    for field, value in (("nodeSelector", spec.node_selector), ("tolerations", spec.tolerations)):
        if value and not hardware.gpus and drops_placement:
            reason = "the LLMKube operator drops it if no GPUs are requested; use realization 'native'"
            findings.warn(f"spec.{field}", reason, RuleId.OPERATOR_DIFFERS)
    if hardware.gpus and not options.tolerates_devices:
        node_taints = (taint for choice in choices for taint in taints(choice.instance_type))
        for key, taint in {taint["key"]: taint for taint in node_taints}.items():
            if not any(tolerates(toleration, taint) for toleration in spec.tolerations or ()):
                findings.error(
                    "spec.tolerations",
                    f"its nodes have the taint {key}={taint['value']}:NoSchedule, but the LLMKube operator "
                    f"tolerates only the value 'present'; add {{key: {key}, operator: Exists}}",
                    RuleId.OPERATOR_UNSUPPORTED,
                )
    if spec.autoscaling and not spec.autoscaling.metrics and serving.runtime not in _UPSTREAM_METRICS:
        findings.error(
            "spec.autoscaling.metrics",
            f"the LLMKube operator's default metric for runtime {serving.runtime} is one that the server does not "
            "export; name one that it does",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    _check_protection(serving, findings)
    arguments = _ARGUMENTS.get(serving.runtime)
    for path, reason in (*_source(serving), *(arguments(serving) if arguments else ())):
        findings.error(
            path, f"the LLMKube operator {reason}, or use realization 'native'", RuleId.OPERATOR_UNSUPPORTED
        )
    for path, reason in _warnings(serving):
        findings.warn(path, f"the LLMKube operator {reason}, or use realization 'native'", RuleId.OPERATOR_DIFFERS)


def applies(span: Span, findings: Findings) -> bool:
    """Whether the operator that is installed is of one of the releases of a defect."""
    kind = findings.source.kind
    return kind.releases.covers(span, kind.release or kind.releases.contract)


def _check_protection(serving: ServiceContext, findings: Findings) -> None:
    """Report a protection that should end when the service is ready (merge.go keeps annotations of the pods)."""
    spec = serving.service.spec
    disruption, key = spec.disruption, next(iter(llmkube().undisrupted))
    if not applies(Span(since="v0.8.12"), findings) or key in (spec.pod_annotations or {}):
        return
    if disruption and (disruption.protect_always or not disruption.protect_startup):
        return
    reason = (
        f"the LLMKube operator annotates starting pods with {key}, also by default, and does not remove it when the "
        "service is ready, so that Karpenter never consolidates or replaces their nodes; set "
        "disruption.protectStartup: false, or use realization 'native'"
    )
    if disruption:
        findings.warn("spec.disruption.protectStartup", reason, RuleId.OPERATOR_DIFFERS)
    else:
        findings.note("", reason, RuleId.OPERATOR_DIFFERS)


def _check_hardware(serving: ServiceContext, hardware: Hardware, findings: Findings) -> None:
    """Report accelerators for which the operator requests another device, or chooses an image without support."""
    spec, gpu = serving.service.spec, _gpu(serving)
    written = gpu.vendor if gpu else ""
    # Until v0.8.7 the accelerator counted, but AMD was unknown; since then the vendor alone counts.
    ignores_amd = applies(Span(until="v0.8.7"), findings)
    if hardware.gpus and hardware.vendor == "amd" and ignores_amd:
        findings.error(
            MODEL_PATH,
            f"the LLMKube operator requests {llmkube().resources['nvidia']}, but the Model's GPUs are AMD's; use "
            "realization 'native'",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    elif hardware.gpus and not ignores_amd and hardware.vendor != (written or "nvidia"):
        findings.error(
            MODEL_PATH,
            f"the LLMKube operator requests the device of hardware.gpu.vendor, {written or 'nvidia'} by default, "
            f"whatever accelerator says; set it to {hardware.vendor}, or use realization 'native'",
            RuleId.OPERATOR_UNSUPPORTED,
        )
    if serving.program != "llamacpp" or not hardware.gpus or spec.image:
        return
    builds = {"nvidia": Span(since="v0.9.9"), "vulkan": Span(since="v0.8.8"), "rocm": Span(since="v0.9.8")}
    build = builds.get(hardware.kind)
    if build is None or not applies(build, findings) or serving.runtime != "llamacpp":
        findings.warn(
            "spec.image",
            "the LLMKube operator uses an image without GPU support by default; name one with GPU support, such as "
            f"{serving.image}",
            RuleId.OPERATOR_DIFFERS,
        )


def _gpu(serving: ServiceContext) -> GPUSpec | None:
    hardware = serving.model.spec.hardware
    return hardware.gpu if hardware else None


# -- arguments that stop the server, or differ from the field


def _source(serving: ServiceContext) -> Iterator[Fault]:
    """Yield sources that the server cannot read, such as a claim that is not mounted."""
    source, skipped = serving.model.spec.source, serving.service.spec.skip_model_init
    loads = llmkube().runtimes[serving.runtime].loads
    if source.startswith(_CLAIM) and serving.runtime == "llamacpp-router":
        return  # extraVolumeMounts bring its models
    if source.startswith(_CLAIM) and not loads:
        yield MODEL_PATH, f"does not mount claims for runtime {serving.runtime}; use a Model from a repository"
    elif source.startswith(_CLAIM) and skipped:
        yield (
            "spec.skipModelInit",
            "mounts the Model's claim only together with the init container; remove skipModelInit",
        )
    elif source.startswith(("/", "file://")) and applies(Span(since="v0.9.0"), serving.findings):
        yield (
            MODEL_PATH,
            "refuses paths of nodes: modelSource.allowedHostPathRoots of its chart is empty; use another source",
        )
    elif source.startswith("hf://") and not serving.model_path:
        yield from _hub_source(serving, source)
    elif serving.model.spec.files and "://" not in source:
        yield MODEL_PATH, f"fetches files from hf:// only; write the source as hf://{source}"
    elif "/" not in source:
        yield MODEL_PATH, f"takes the source {source!r} for a URL and cannot fetch it; write it as org/name"
    elif source.startswith("file://") and (serving.runtime == "tgi" or (serving.runtime == "vllm" and skipped)):
        path = source.removeprefix("file://")
        yield (
            MODEL_PATH,
            f"passes {source!r} to the server, which takes it for a repository; write the source as {path}",
        )


def _hub_source(serving: ServiceContext, source: str) -> Iterator[Fault]:
    """Yield how releases pass on a repository that the server itself fetches."""
    if serving.program == "llamacpp":
        return  # without an init container, extraArgs name the model
    if applies(Span(until="v0.9.12"), serving.findings):
        name = repository_of(source)
        yield (
            MODEL_PATH,
            f"passes an address to the server, which takes it for a repository; write the source as {name}",
        )
    elif revision_of(source):
        flag = Line(serving).flag(Setting.MODEL_REVISION)
        reason = "passes the revision as part of the repository, which the server rejects"
        yield MODEL_PATH, f"{reason}; remove it from the source, and add '{flag} {revision_of(source)}' to {EXTRA}"


def _folder(serving: ServiceContext) -> Iterator[Fault]:
    """Yield a folder of which releases pass on the first file only."""
    folder = serving.model.spec.files and not serving.model_path.endswith(f"/{serving.model.spec.files[0]}")
    if folder and serving.model_path and applies(Span(until="v0.9.7"), serving.findings):
        yield MODEL_PATH, "passes the first of the files to the server, not their folder; use a repository"


def _llamacpp(serving: ServiceContext) -> Iterator[Fault]:
    line, spec = Line(serving), serving.service.spec
    attention, valued = line.flag(Setting.FLASH_ATTENTION), line.takes_value(Setting.FLASH_ATTENTION)
    if spec.flash_attention is False and valued and not line.written(Setting.FLASH_ATTENTION):
        yield (
            "spec.flashAttention",
            f"writes no flag for false, so the server decides; {_as_extra_args(f'{attention} off')}",
        )
    if spec.flash_attention and serving.is_accelerated and not valued:
        reason = f"writes '{attention} on', but the flag takes no value in this version"
        yield "spec.flashAttention", f"{reason}; {_as_extra_args(attention)}"
    no_templates = line.off(Setting.CHAT_TEMPLATES)
    on_by_default = has("llamacpp", Feature.CHAT_TEMPLATES_ON, serving.tag)
    if spec.jinja is False and on_by_default and not line.written(Setting.CHAT_TEMPLATES):
        yield (
            "spec.jinja",
            f"writes no flag for false, but it is on by default in this version; {_as_extra_args(no_templates)}",
        )
    gpu = _gpu(serving)
    layers = gpu.layers if gpu else None
    if serving.gpus and layers == 0 and not line.written(Setting.GPU_LAYERS):
        name = serving.model.metadata.name
        reason = f"treats hardware.gpu.layers 0 of Model {name!r} as unset and puts all layers on GPUs"
        yield MODEL_PATH, f"{reason}; add '{line.flag(Setting.GPU_LAYERS)} 0' to {EXTRA}"
    named = {variable["name"] for variable in spec.env or ()}
    names_model = line.written(*MODELS) or named & set(_MODEL_ENV)
    if spec.skip_model_init and not names_model and not serving.model.spec.source.startswith(_CLAIM):
        model, repository = line.flag(Setting.MODEL), line.flag(Setting.MODEL_REPOSITORY)
        empty = f"writes an empty {model} if the init container is skipped, so the server has no model"
        yield "spec.skipModelInit", f"{empty}; name one in {EXTRA}, such as '{repository} org/name'"
    yield from _speculation(serving, line)


def _speculation(serving: ServiceContext, line: Line) -> Iterator[Fault]:
    """Yield how releases write the settings of speculative decoding (runtime_llamacpp_args.go since v0.8.17)."""
    spec, findings = serving.service.spec.speculative_decoding, serving.findings
    if spec is None:
        return
    path = "spec.speculativeDecoding"
    if spec.n_draft_max is not None and applies(Span("v0.8.17", "v0.9.13"), findings):
        flag = line.flag(Setting.DRAFT_TOKENS)
        reason = "writes a flag for it that llama.cpp's server does not have"
        yield f"{path}.nDraftMax", f"{reason}; {_as_extra_args(f'{flag} {spec.n_draft_max}')}"
    if serving.draft_repository:
        reason = "downloads only files for the draft, not a repository"
        yield f"{path}.draftModelRef", f"{reason}; name the file in the Model's files, or its address as source"


def _as_extra_args(arguments: str) -> str:
    """Return the remedy of a field that the operator does not pass on: its arguments in ``extraArgs``."""
    return f"remove the field and add '{arguments}' to {EXTRA}"


def _vllm(serving: ServiceContext) -> Iterator[Fault]:
    """Yield flags that the version does not support, and drafts that the server cannot find."""
    yield from _folder(serving)
    if applies(Span("v0.8.12", "v0.9.2"), serving.findings):
        reason = "writes a flag for metrics in this release, with which vLLM exits"
        releases = serving.findings.source.kind.releases
        yield "spec.runtime", f"{reason}; choose another release ({releases.choosing()})"
    line, config = Line(serving), serving.service.spec.vllm_config
    speculative = config.speculative if config else None
    if speculative and speculative.enabled and speculative.model:
        path, name = f"{_VLLM}.speculative", speculative.model
        model, flag = serving.models.get(name), line.flag(Setting.DRAFT_MODEL)
        if not line.knows(Setting.DRAFT_MODEL):
            flags = f"writes {flag} and {line.flag(Setting.DRAFT_TOKENS)}, which this version rejects"
            yield path, f"{flags}; remove the field and add {line.flag(Setting.SPECULATION)} to {EXTRA}"
        elif model and model.spec.source != name and not line.written(Setting.DRAFT_MODEL):
            draft = f"passes the name of Model {name!r} to the server as the draft, not its source"
            yield f"{path}.model", f"{draft}; add {flag} with that source to {EXTRA}"
    if config and config.attention_backend and not line.knows(Setting.ATTENTION_BACKEND):
        flag = f"writes {line.flag(Setting.ATTENTION_BACKEND)}, which this version does not support"
        yield f"{_VLLM}.attentionBackend", f"{flag}; remove the field and set VLLM_ATTENTION_BACKEND in spec.env"


def _sglang(serving: ServiceContext) -> Iterator[Fault]:
    """Yield a flag that no version of SGLang has, and copies of the model that would not fit."""
    yield from _folder(serving)
    line, config = Line(serving), serving.service.spec.sglang_config
    if config is None:
        return
    path = f"{_SGLANG}.enablePrefixCaching"
    if config.enable_prefix_caching:
        yield path, "writes a flag for it that SGLang does not have; remove it, the prefix cache is on by default"
    elif config.enable_prefix_caching is False and not line.written(Setting.NO_PREFIX_CACHING):
        flag = line.flag(Setting.NO_PREFIX_CACHING)
        yield path, f"writes no flag for false, so the prefix cache stays on; {_as_extra_args(flag)}"
    data, gpus = config.data_parallel_size or 1, serving.gpus
    if data > 1 and config.tensor_parallel_size is None and gpus > 1 and not line.written(Setting.ATTENTION_PARALLEL):
        reason = f"spreads each of the {data} copies over all {gpus} GPUs of the pod; set tensorParallelSize"
        yield f"{_SGLANG}.dataParallelSize", f"{reason}: {max(gpus // data, 1)}"


def _tgi(serving: ServiceContext) -> Iterator[Fault]:
    if serving.service.spec.extra_args and applies(Span(until="v0.9.12"), serving.findings):
        yield EXTRA, "does not pass extra arguments to TGI; set the launcher's environment variables in spec.env"


def _personaplex(serving: ServiceContext) -> Iterator[Fault]:
    port = llmkube().runtimes[serving.runtime].port
    if serving.port != port:
        field = "containerPort" if serving.service.spec.container_port else "endpoint.port"
        stays = f"moves Service and probes to port {serving.port}, but the server stays on {port}"
        yield f"spec.{field}", f"{stays}; set {field}: {port}"


def _warnings(serving: ServiceContext) -> Iterator[Fault]:
    """Yield fields that the operator drops or weakens although the server starts (LLMKube spec 1.3, 3.5 and 8)."""
    spec, model = serving.service.spec, serving.model.spec
    of_model = f"of Model {serving.model.metadata.name!r}"
    if model.resources and model.resources.wire():
        yield MODEL_PATH, f"ignores the resources {of_model}; set spec.resources"
    if model.sha256 and model.source.startswith("http"):
        yield MODEL_PATH, f"verifies the sha256 {of_model} only for local sources; check the file yourself"
    if model.refresh_policy == "OnChange" and model.source.startswith(("/", "file://")):
        yield MODEL_PATH, f"does not copy the local source {of_model} again; give a changed file a new name"
    if serving.port < FIRST_UNPRIVILEGED_PORT and spec.security_context is None:
        rights = f"drops all capabilities, including the one to listen on port {serving.port}"
        yield "spec.endpoint.port", f"{rights}; use a port of at least {FIRST_UNPRIVILEGED_PORT}"
    if serving.gpus > 1 and llmkube().runtimes[serving.runtime].shared_memory:
        gpu = _gpu(serving)
        model_count = gpu and gpu.count
        small = f"leaves /dev/shm at 64 MiB, which the processes of {serving.gpus} GPUs share and can exhaust"
        yield MODEL_PATH if model_count else "spec.resources.gpu", f"{small}; request one GPU"
    token = spec.tgi_config and spec.tgi_config.hf_token_secret_ref
    named = {variable["name"] for variable in spec.env or ()}
    if serving.runtime == "tgi" and token and "HF_TOKEN" not in named and has("tgi", Feature.HF_TOKEN, serving.tag):
        name = "HUGGING_FACE_HUB_TOKEN, which the launcher of this version does not read"
        yield "spec.tgiConfig.hfTokenSecretRef", f"passes the token as {name}; set HF_TOKEN in spec.env"


_ARGUMENTS: Mapping[str, Callable[[ServiceContext], Iterator[Fault]]] = {
    "llamacpp": _llamacpp,
    "vllm": _vllm,
    "tgi": _tgi,
    "sglang": _sglang,
    "personaplex": _personaplex,
}

"""Render InferenceServices and Models, natively or for LLMKube's operator (LLMKube spec 4)."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...contract.findings.collector import Findings, unknown_reference
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity
from ...contract.releases import Span
from ...engines.command_line import CommandLine
from ...fleet.demand import NodeChoice, PodDemand
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.placement import requests_of
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest, render_declared
from ...fleet.shapes import DEPLOYMENT
from ...fleet.workloads import ImageField, Server, SpreadField, Workload
from .arguments.line import EXTRA
from .arguments.start import start_command
from .autoscaling import autoscaler
from .checks import check_for_native, check_ignored_fields, check_names, check_probes, check_quantities
from .exposure import endpoint_of, left_to_operator, service_of
from .facts import LlmkubeRuntime, llmkube
from .hardware import MODEL_PATH, NODES_PATH, Hardware, check_nodes, hardware_of, node_choices, node_field
from .operated import check_for_operator
from .pods import labels_of, pod_priority, pod_template, priority_class, priority_of, selected_nodes, selector_of
from .serving import ServiceContext
from .types import InferenceService, InferenceServiceSpec, Model
from .weights import DRAFT_PATH, Draft, MountedWeights, cache_claim, draft_of, merged, named_weights, weights_of

OPERATOR = "llmkube"

_LOADING_SECONDS = 3600
"""A new node and half an hour to start exceed the default of ten minutes after which a Deployment has failed."""
_OTHER_CACHE = "set modelCache of the environment to a ReadWriteMany claim"
_SURGE = 0.25
"""Share of the replicas that a rolling update adds by default, rounded up (LLMKube spec 4.1)."""


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A service with its Model, hardware, weights and nodes resolved."""

    serving: ServiceContext
    hardware: Hardware
    weights: MountedWeights
    choices: tuple[NodeChoice, ...]
    draft: Draft | None = None


def render_inference_service(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered:
    """Render an InferenceService.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    service = source.resource
    assert isinstance(service, InferenceService)  # noqa: S101  the caller chose this function by kind
    resolved = _resolve(service, library, options, findings)
    serving = resolved.serving
    started = start_command(serving)
    template = pod_template(
        serving,
        started,
        weights=resolved.weights,
        hardware=resolved.hardware,
        choices=resolved.choices,
        options=options,
    )
    native = options.realization.is_native
    scaler = autoscaler(serving, operated=not native)
    endpoint = endpoint_of(serving, started.line, _replicas(service.spec))
    if native:
        check_for_native(service.spec, findings)
        endpoint = replace(endpoint, body=service_of(serving))
    else:
        endpoint = left_to_operator(endpoint, serving)
        check_for_operator(serving, resolved.hardware, resolved.choices, options, findings)
    # Services share the PriorityClass and the cache claim.
    shared_class = priority_class(priority_of(service.spec, options))
    shared = [shared_class] if shared_class else []
    if resolved.weights.claims:
        shared.append(cache_claim(serving.namespace))
    return Rendered(
        source=source,
        kind=service.kind,
        name=service.metadata.name,
        namespace=serving.namespace,
        workloads=(_workload(resolved, started.line, template, options),),
        endpoints=(endpoint,),
        autoscalers=(scaler,) if scaler else (),
        others=() if native else (as_manifest(source, options),),
        shared=tuple(shared) if native else (),
        requires=frozenset() if native else frozenset({OPERATOR}),
        model=serving.model.metadata.name,
    )


def render_model(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered | None:
    """Render a Model. Only the operator needs an object."""
    model = source.resource
    assert isinstance(model, Model)  # noqa: S101  the caller chose this function by kind
    if model.spec.prefetch and options.realization.is_native:
        findings.warn(
            "spec.prefetch",
            "has no effect: the first pod of a service downloads the files, only the operator does so before; remove "
            "it, or use realization 'operator'",
            RuleId.FIELD_NO_EFFECT,
        )
    return render_declared(source, options, OPERATOR)


def _workload(resolved: _Resolved, line: CommandLine, template: Object, options: Options) -> Workload:
    serving = resolved.serving
    source = serving.findings.source
    if line.engine != serving.engine:  # the image contains another engine than the runtime
        line = CommandLine(serving.engine, serving.tag, line.args, line.command)
    spec = serving.service.spec
    arguments_at = Origin(source, "spec.args" if spec.args and not spec.extra_args else EXTRA)
    fields = {setting: Origin(source, path) for setting, path in serving.fields.items()}
    weights = tuple(named_weights(serving.model, serving.model_path))
    if resolved.draft:
        weights += tuple(named_weights(resolved.draft.model, serving.draft_path))
    config = {"vllm": spec.vllm_config, "sglang": spec.sglang_config}.get(serving.runtime)
    is_field = config is not None and config.tensor_parallel_size is not None
    spread = SpreadField(f"set spec.{serving.runtime}Config.tensorParallelSize to {{tensor}}") if is_field else None
    max_replicas = _max_replicas(spec)
    pods: tuple[PodDemand, ...] = ()
    if not serving.findings.has_errors:  # else quantities may be invalid
        surge = 0 if serving.is_accelerated else math.ceil(_SURGE * (max_replicas or _replicas(spec)))
        requests = requests_of(template["spec"])
        nodes_at = node_field(Origin(source, NODES_PATH))
        pods = (PodDemand(_replicas(spec), requests, resolved.choices, max_replicas, surge, node_field=nodes_at),)
    return Workload(
        body=_deployment(serving, template),
        server=Server(
            position=0,
            line=line,
            args=arguments_at,
            ports=Origin(source, "spec"),
            image=ImageField(Origin(source, "spec.image")),
            weights=weights,
            fields=fields,
            spread=spread,
        ),
        port=serving.port,
        replicas=_replicas(spec),
        pods=pods,
        model=serving.model.metadata.name,
        origin=Origin(source, "spec"),
        most=max_replicas,
        operated=not options.realization.is_native,
        priority=pod_priority(spec, source, options),
    )


def _resolve(service: InferenceService, library: Library, options: Options, findings: Findings) -> _Resolved:
    """Look up the Model and resolve everything that depends on it."""
    spec = service.spec
    namespace = service.metadata.namespace or options.namespace
    model = _model(spec, namespace, library, findings)
    check_names(service, findings)
    check_quantities(spec, model, findings)
    check_ignored_fields(spec, findings)
    check_probes(spec, findings)
    runtime = llmkube().runtimes[spec.runtime]
    hardware = hardware_of(spec, model, findings)
    weights = weights_of(spec, model, runtime, options.cache, findings)
    max_replicas = _max_replicas(spec) or _replicas(spec)
    if weights.claims and max_replicas > 1:
        claim = llmkube().claim
        findings.warn(
            "spec.autoscaling.maxReplicas" if spec.autoscaling else "spec.replicas",
            f"up to {max_replicas} pods share the claim {claim.name!r}, which is {claim.access}, so all of them must "
            f"run on one node; {_OTHER_CACHE}",
            RuleId.STORAGE_ONE_NODE,
        )
    draft = _draft(spec, weights, namespace=namespace, library=library, options=options, findings=findings)
    if draft:
        weights = merged(weights, draft.weights)
    origin = Origin(findings.source, NODES_PATH)
    choices = node_choices(selected_nodes(spec, options), spec.affinity, options, origin)
    check_nodes(spec, model, hardware, choices, findings)
    # An endpoint without a port has the contract's default, which then takes precedence over the runtime's port.
    port = spec.container_port or (spec.endpoint.port if spec.endpoint else runtime.port)
    serving = ServiceContext(
        service=service,
        model=model,
        models=library.all(Model, namespace),
        namespace=namespace,
        runtime=spec.runtime,
        image=_image(spec, runtime, hardware, options, findings),
        port=port,
        gpus=hardware.gpus,
        claims=bool(hardware.claims),
        model_path=weights.path,
        draft_path=_draft_path(spec, weights, draft),
        draft_repository=draft.repository if draft else "",
        projector_path=weights.beside(model.spec.mmproj or ""),
        findings=findings,
    )
    return _Resolved(serving, hardware, weights, choices, draft)


def _draft(
    spec: InferenceServiceSpec,
    weights: MountedWeights,
    namespace: str,
    library: Library,
    options: Options,
    findings: Findings,
) -> Draft | None:
    """Look up the Model that a llama.cpp server uses as its draft; None without one, or after an error."""
    speculation = spec.speculative_decoding
    if spec.runtime != "llamacpp" or speculation is None or not speculation.draft_model_ref:
        return None
    models, name = library.all(Model, namespace), speculation.draft_model_ref
    if name not in models:
        if not library.is_unread("Model", name):
            reason = unknown_reference("Model", name, library.names(Model, namespace), "add one to this namespace")
            findings.error(DRAFT_PATH, reason, RuleId.REFERENCE_MISSING)
        return None
    return draft_of(spec, models[name], weights, options.cache, findings)


def _draft_path(spec: InferenceServiceSpec, weights: MountedWeights, draft: Draft | None) -> str:
    """Return the file of the draft model in the container; empty without one."""
    if draft:
        return draft.weights.path
    speculation = spec.speculative_decoding
    return weights.beside((speculation.draft_model if speculation else None) or "")


def _model(spec: InferenceServiceSpec, namespace: str, library: Library, findings: Findings) -> Model:
    """Look up the Model in the service's namespace; a placeholder replaces a missing one, to check the rest."""
    models = library.all(Model, namespace)
    if spec.model_ref in models:
        return models[spec.model_ref]
    # A Model whose manifest is invalid is reported there.
    if not library.is_unread("Model", spec.model_ref):
        elsewhere = library.namespaces_with(Model, spec.model_ref)
        remedy = f"add its manifest to namespace {namespace}, or correct the name"
        if elsewhere:
            remedy = (
                f"it exists in namespace {', '.join(elsewhere)}, but must be in the namespace of the service, "
                f"{namespace}"
            )
        reason = unknown_reference("Model", spec.model_ref, library.names(Model, namespace), remedy)
        findings.error(MODEL_PATH, reason, RuleId.REFERENCE_MISSING)
    findings.is_tentative = True
    return Model.model_validate(
        {
            "apiVersion": findings.source.kind.api_version,
            "kind": Model.__name__,
            "metadata": {"name": "any", "namespace": namespace},
            "spec": {"source": "any/any"},
        }
    )


def _image(
    spec: InferenceServiceSpec, runtime: LlmkubeRuntime, hardware: Hardware, options: Options, findings: Findings
) -> str:
    """Return the user's image, or the default build for the pod's accelerators."""
    image = spec.image or _operator_image(runtime, hardware, options, findings)
    image = image or runtime.image(options.runtimes, hardware.kind)
    if not image and hardware.kind == "rocm":  # a build for AMD's accelerators is one for ROCm
        image = runtime.image(options.runtimes, hardware.vendor)
    if image:
        return image
    if not runtime.images:
        reason = f"is required with runtime {runtime.name}, which has no default image; name the image of your server"
    else:
        known = ", ".join(sorted(runtime.images[options.runtimes]))
        reason = (
            f"is required with runtime {runtime.name} on {hardware.kind}, because its default images are built for "
            f"{known}; name an image, or request such GPUs in the Model's hardware.gpu"
        )
    findings.error("spec.image", reason, RuleId.IMAGE_MISSING)
    return ""


def _operator_image(runtime: LlmkubeRuntime, hardware: Hardware, options: Options, findings: Findings) -> str | None:
    """Return the image that the release of the operator chooses, if it is another one than that of the contract's."""
    images = llmkube().operator_images.get(runtime.name)
    kind = findings.source.kind
    if images is None or options.realization.is_native or not kind.release:
        return None
    later = kind.releases.covers(Span(since=images["since"]), kind.release)
    return images.get(hardware.kind) if later else None


# -- objects


def _deployment(serving: ServiceContext, template: Object) -> Object:
    """Return the Deployment."""
    spec, name = serving.service.spec, serving.service.metadata.name
    # An autoscaler owns the replicas.
    body: Object = {} if spec.autoscaling and not spec.suspend else {"replicas": 0 if spec.suspend else spec.replicas}
    if spec.revision_history_limit is not None:
        body["revisionHistoryLimit"] = spec.revision_history_limit
    body |= {"progressDeadlineSeconds": _LOADING_SECONDS, "selector": {"matchLabels": selector_of(name)}}
    if serving.is_accelerated:
        # Old pods must release their accelerators first: there may be no others.
        body["strategy"] = {"type": "Recreate"}
    body["template"] = template
    return {
        "apiVersion": DEPLOYMENT.api_version,
        "kind": DEPLOYMENT.kind,
        "metadata": {"name": name, "namespace": serving.namespace, "labels": labels_of(serving)},
        "spec": body,
    }


# -- replicas


def _replicas(spec: InferenceServiceSpec) -> int:
    if spec.suspend:
        return 0
    return spec.autoscaling.min_replicas if spec.autoscaling else spec.replicas


def _max_replicas(spec: InferenceServiceSpec) -> int | None:
    return spec.autoscaling.max_replicas if spec.autoscaling and not spec.suspend else None


def crowded_claims(rendered: Iterable[Rendered]) -> Iterator[Problem]:
    """Yield a warning for each further service of a namespace whose pods mount its cache claim.

    Only one node at a time can mount it, so services on different nodes would block each other (LLMKube spec 9.1).
    """
    first_by_namespace: dict[str, Rendered] = {}
    for service in rendered:
        if not any(body["kind"] == "PersistentVolumeClaim" for body in service.shared):
            continue
        first = first_by_namespace.setdefault(service.namespace, service)
        if first is not service:
            claim = llmkube().claim
            reason = (
                f"its pods share the claim {claim.name!r} with those of {first.kind}/{first.name}; the claim is "
                f"{claim.access}, so all of them must run on one node; {_OTHER_CACHE}"
            )
            yield service.source.problem(MODEL_PATH, reason, Severity.WARNING, rule=RuleId.STORAGE_ONE_NODE)

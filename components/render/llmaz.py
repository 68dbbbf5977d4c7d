"""llmaz: Playground -> Service -> workload (llmaz spec 2), natively or through the operator."""

import copy

from ..api.llmaz import (
    ElasticConfig,
    ModelClaim,
    ModelClaims,
    ModelRef,
    Playground,
    RecommendedConfig,
    Service,
)
from ..api.load import Loaded
from .findings import Findings
from .groups import group_templates
from .models import Claim, Library, placeholders, resolve
from .options import Options
from .parallel import Parallelism, check_use, parallelism
from .placement import check_choices, node_choices
from .runner_args import runner_args
from .runtime import (
    Backend,
    add_shared_memory,
    choose_backend,
    runner_container,
    shared_memory,
)
from .service_args import check_service_args
from .types import LEADER_WORKER_SET, LLMAZ, Object, Rendered
from .workload import Scaling, Workload, demand_of, endpoint_of, realize

SKIP_LOADER = "llmaz.io/skip-model-loader"
_TRIGGER_REMEDY = (
    "add elasticConfig.scaleTrigger.hpa with the metrics to scale on, choose a configuration that recommends one, "
    "or remove elasticConfig and set replicas"
)


def render_playground(source: Loaded, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a Playground.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    playground = source.resource
    assert isinstance(playground, Playground)  # noqa: S101  the caller chose this function by kind
    spec = playground.spec
    claim, path = _claim(playground, spec.model_claim, spec.model_claims, library, findings)
    backend = choose_backend(spec, library, options.runtimes, findings)
    cut = parallelism(claim.flavor, path, findings)
    check_use(cut, claim.flavor, backend.engine, list(backend.wanted.args or ()), path, findings)
    scaling = _scaling(spec.elastic_config, backend.config, findings)
    if scaling and "replicas" in spec.model_fields_set:
        findings.warn("spec.replicas", "has no effect: the autoscaler owns the replicas; remove it")
    workload = Workload(
        name=playground.metadata.name,
        namespace=playground.metadata.namespace or options.namespace,
        claim=claim,
        replicas=scaling.minimum if scaling else spec.replicas,
        template=_template(backend, claim, cut, path, options, findings),
        rollout={"type": "RollingUpdate"},
        cut=cut,
        scaling=scaling,
    )
    return _rendered(source, workload, path, options, findings)


def render_service(source: Loaded, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a Service.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    service = source.resource
    assert isinstance(service, Service)  # noqa: S101  the caller chose this function by kind
    spec = service.spec
    claim, path = _claim(service, None, spec.model_claims, library, findings)
    template = copy.deepcopy(spec.workload_template.wire())
    cut = Parallelism(size=spec.workload_template.size)
    _check_group(claim, cut.size, path, findings)
    check_service_args(template, findings)
    workload = Workload(
        name=service.metadata.name,
        namespace=service.metadata.namespace or options.namespace,
        claim=claim,
        replicas=spec.replicas,
        template=template,
        rollout=spec.rollout_strategy.wire(),
        cut=cut,
    )
    return _rendered(source, workload, path, options, findings)


def render_as_written(source: Loaded, options: Options, *, namespaced: bool, needs: frozenset[str]) -> Rendered:
    """Render a resource as itself: for an operator, or because it is a Kubernetes object already."""
    resource = source.resource
    written = resource.wire()
    namespace = resource.metadata.namespace or options.namespace if namespaced else ""
    if namespace:
        written["metadata"] = {**written["metadata"], "namespace": namespace}
    written.pop("status", None)
    return Rendered(source, resource.kind, resource.metadata.name, namespace, (written,), needs=needs)


def _rendered(source: Loaded, workload: Workload, path: str, options: Options, findings: Findings) -> Rendered:
    """Realize a workload. For the operator the typed resource is created; nodes and endpoint stay the same."""
    model = workload.claim.main.metadata.name
    realized = realize(workload, options, findings)
    if options.realization == "native":
        return Rendered(
            source, source.resource.kind, workload.name, workload.namespace, realized.objects, model,
            realized.endpoint, realized.kind, workload.name, workload.replicas, realized.pods, realized.needs,
        )  # fmt: skip
    _check_for_operator(workload, path, options, findings)
    needs = realized.needs - {LEADER_WORKER_SET} | {LLMAZ}
    written = render_as_written(source, options, namespaced=True, needs=needs)
    return Rendered(
        source, source.resource.kind, workload.name, workload.namespace, written.objects, model,
        endpoint_of(workload.name, workload.namespace, workload.claim), "LeaderWorkerSet", workload.name,
        workload.replicas, demand_of(workload, options), written.needs,
    )  # fmt: skip


def _check_for_operator(workload: Workload, path: str, options: Options, findings: Findings) -> None:
    """Refuse what the operator cannot be told or ignores: to drop it silently is worse (design decision 2)."""
    plain = Options()
    for name in ("overrides", "cache", "workload", "runtimes", "grace_seconds"):
        if getattr(options, name) != getattr(plain, name):
            findings.error(
                "", f"the option {name!r} is for realization 'native'; the llmaz operator knows nothing of it"
            )
    cut = workload.cut
    if (cut.tensor or 1) > 1 or (cut.pipeline or 1) > 1:
        findings.error(
            path,
            "the llmaz operator ignores the flavor's params TP and PP; use realization 'native', or a Service with "
            "the flags and the size written out",
        )
    if any(choice.labels for choice in node_choices(workload.claim.flavors)):
        findings.warn(
            path,
            "the llmaz operator writes neither affinity nor tolerations for flavors; their order and INSTANCE-TYPE "
            "hold only with its own scheduler and untainted nodes, or with realization 'native'",
        )


def _claim(
    resource: Playground | Service,
    single: ModelClaim | None,
    several: ModelClaims | None,
    library: Library,
    findings: Findings,
) -> tuple[Claim, str]:
    """Resolve the claim; also return the field to blame for what its flavors say."""
    if single:
        refs = [(ModelRef.model_validate({"name": single.model_name}), "spec.modelClaim.modelName")]
        base, names = "spec.modelClaim", single.inference_flavors
    else:
        claims = several.models if several else []
        refs = [(ref, f"spec.modelClaims.models[{index}].name") for index, ref in enumerate(claims)]
        base, names = "spec.modelClaims", several.inference_flavors if several else None
    skip = (resource.metadata.annotations or {}).get(SKIP_LOADER) == "true"
    flavors_path = f"{base}.inferenceFlavors"
    claim = resolve(refs, names, flavors_path, library, findings, skip_loader=skip)
    path = flavors_path if names else claim.paths[0]
    check_choices(claim.flavors, path, findings)
    return claim, path


def _check_group(claim: Claim, size: int, path: str, findings: Findings) -> None:
    """A hand-written group carries its own flags; its size must still be what the flavor says."""
    cut = parallelism(claim.flavor, path, findings)
    if cut.pipeline and cut.size != size:
        findings.error(
            "spec.workloadTemplate.size",
            f"is {size}, but PP {cut.pipeline} of the flavor makes groups of {cut.size}; make them agree",
        )


def _template(
    backend: Backend, claim: Claim, cut: Parallelism, path: str, options: Options, findings: Findings
) -> Object:
    """Return the ``leaderWorkerTemplate`` of a Playground (llmaz spec 2.5, and 2.9 for groups)."""
    # The operator puts arguments into the pod as they are written.
    fit = options.realization == "native"
    args = runner_args(backend, placeholders(claim), cut, path, findings, fit=fit)
    container = runner_container(backend, args)
    if cut.size == 1:
        return {"workerTemplate": {"spec": _pod_spec(container, backend, options)}}
    if not backend.engine or not backend.engine.multi_node:
        raise findings.fail(
            path,
            f"a replica spans {cut.size} pods, and backend {backend.runtime.metadata.name!r} cannot join pods; use "
            "vllm or sglang, an instance with more accelerators, or write a Service with a leader template",
        )
    leader, worker = group_templates(container, backend)
    return {
        "size": cut.size,
        "leaderTemplate": {"spec": _pod_spec(leader, backend, options)},
        "workerTemplate": {"spec": _pod_spec(worker, backend, options)},
    }


def _pod_spec(container: Object, backend: Backend, options: Options) -> Object:
    spec: Object = {"terminationGracePeriodSeconds": options.grace_seconds, "containers": [container]}
    size = shared_memory(backend)
    if size is not None:
        add_shared_memory(spec, size)
    return spec


def _scaling(elastic: ElasticConfig | None, config: RecommendedConfig, findings: Findings) -> Scaling | None:
    if elastic is None:
        return None
    trigger = elastic.scale_trigger or config.scale_trigger
    if trigger is None:
        findings.error(
            "spec.elasticConfig",
            f"has replica bounds and nothing to scale on: configuration {config.name!r} recommends no scaleTrigger; "
            + _TRIGGER_REMEDY,
        )
        return None
    return Scaling(elastic.min_replicas, elastic.max_replicas, trigger.hpa)

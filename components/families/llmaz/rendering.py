"""Render llmaz's kinds, natively or for the operator (llmaz spec 2)."""

import copy
import math
import shlex

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...engines.command_line import CommandLine
from ...engines.draining import follower_hook
from ...engines.groups import group_lines
from ...engines.paths import path_prefix
from ...engines.registry import engines
from ...engines.shell import is_shell_word
from ...fleet.flavors import Flavor
from ...fleet.instances import instance
from ...fleet.library import Library
from ...fleet.objects import LWS_LABEL, Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.serving import (
    as_manifest,
    check_containers,
    require_containers,
    warn_about_duplicate_env,
)
from ...fleet.serving import render_declared as declared
from ...fleet.words import LEADER_WORKER_SET
from ...fleet.workloads import LWS_VARIABLES
from ..leaderworkerset.rules import topology_violations
from .backend import (
    CONFIG_PATH,
    DEFAULT_BACKEND,
    ChosenBackend,
    add_shared_memory,
    choose_backend,
    runner_container,
    shared_memory,
    written_runtime,
)
from .flavors import check_choices, check_params, has_pipeline, param
from .loaders import SKIP_LOADER
from .models import Claim, placeholders, resolve
from .parallel import Parallelism, accelerators, parallelism_of
from .reading import read_playground, read_service
from .runner_args import runner_args
from .service_args import check_service_args
from .types import (
    BackendRuntime,
    ElasticConfig,
    ModelClaim,
    ModelClaims,
    ModelRef,
    OpenModel,
    Playground,
    RecommendedConfig,
    Service,
)
from .workload import DesiredWorkload, Scaling, realize

OPERATOR = "llmaz"
_TRIGGER_REMEDY = (
    "add elasticConfig.scaleTrigger.hpa with the metrics to scale on, choose a configuration that recommends one, "
    "or remove elasticConfig and set replicas"
)
_PERIOD = 10
"""Kubernetes' default ``periodSeconds`` of a probe."""
_BASE_SECONDS = 3600
"""Allowance for launching nodes and pulling images; as long as a Deployment may take to make progress."""
_DISK, _LOCAL_DISK = 125, 250
"""MiB per second at which weights reach a node's disk: the baseline of an EBS gp3 volume, and the rate of a hub for
nodes with local disks."""


def render_playground(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a Playground.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    manifest = source
    native = options.realization.is_native
    # The charts of other releases ship other runtimes.
    release = "" if native else manifest.kind.release

    def runtime_of(name: str) -> BackendRuntime | None:
        return written_runtime(name, library, options.runtimes, release)

    source = findings.source = read_playground(manifest, runtime_of, findings)
    playground = source.resource
    assert isinstance(playground, Playground)  # noqa: S101  the caller chose this function by kind
    spec = playground.spec
    claim, path = _claim(playground, spec.model_claim, spec.model_claims, library, findings)
    # The operator does not rewrite arguments.
    backend = choose_backend(
        spec,
        library,
        options.runtimes,
        findings,
        fit=native,
        is_group=has_pipeline(claim.flavor),
        release=release,
    )
    warn_about_duplicate_env(backend.user_config.envs or (), f"{CONFIG_PATH}.envs", findings)
    parallelism = parallelism_of(claim.flavor, path, findings)
    scaling = _scaling(spec.elastic_config, backend.config, findings)
    if scaling and "replicas" in spec.model_fields_set:
        findings.warn(
            "spec.replicas", "has no effect: the autoscaler owns the replicas; remove it", RuleId.FIELD_NO_EFFECT
        )
    template, line = _template(backend, claim, parallelism=parallelism, path=path, options=options, findings=findings)
    desired = DesiredWorkload(
        name=playground.metadata.name,
        namespace=playground.metadata.namespace or options.namespace,
        claim=claim,
        replicas=scaling.minimum if scaling else spec.replicas,
        template=template,
        rollout={"type": "RollingUpdate"},
        annotations=_group_annotations(playground),
        parallelism=parallelism,
        line=line,
        scaling=scaling,
    )
    if not native:
        from .operator import OperatedPlayground, check_for_operator

        shipped_commands = backend.runtime.metadata.name == DEFAULT_BACKEND and not library.all(BackendRuntime).get(
            DEFAULT_BACKEND
        )
        has_commands = backend.runtime.spec.multi_host_commands is not None or shipped_commands
        check_for_operator(desired, path, options, findings, OperatedPlayground(spec, backend, has_commands))
    return _rendered(manifest, source, desired, options, findings)


def render_service(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a Service.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    manifest = source
    source = findings.source = read_service(manifest, findings)
    service = source.resource
    assert isinstance(service, Service)  # noqa: S101  the caller chose this function by kind
    spec = service.spec
    claim, path = _claim(service, None, spec.model_claims, library, findings)
    template = copy.deepcopy(spec.workload_template.wire())
    require_containers(template, "spec.workloadTemplate", findings)
    parallelism = Parallelism(size=spec.workload_template.size)
    # A hand-written group has its own flags, but its size must match the flavor.
    of_flavor = parallelism_of(claim.flavor, path, findings)
    if of_flavor.pipeline and of_flavor.size != parallelism.size:
        findings.error(
            "spec.workloadTemplate.size",
            f"is {parallelism.size}, but PP {of_flavor.pipeline} of the flavor requires groups of {of_flavor.size}; "
            "make them match",
            RuleId.GPUS_MISMATCH,
        )
    check_service_args(template, claim, findings)
    check_containers(template, "spec.workloadTemplate", findings)
    desired = DesiredWorkload(
        name=service.metadata.name,
        namespace=service.metadata.namespace or options.namespace,
        claim=claim,
        replicas=spec.replicas,
        template=template,
        rollout=spec.rollout_strategy.wire(),
        annotations=_group_annotations(service),
        parallelism=parallelism,
    )
    if not options.realization.is_native:
        from .operator import check_for_operator

        check_for_operator(desired, path, options, findings)
    return _rendered(manifest, source, desired, options, findings)


def render_open_model(
    source: LoadedResource, _library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Render an OpenModel. Only the operator needs an object."""
    model = source.resource
    assert isinstance(model, OpenModel)  # noqa: S101  the caller chose this function by kind
    config = model.spec.inference_config
    check_params((config.flavors if config else None) or (), "spec.inferenceConfig.flavors", findings)
    if not options.realization.is_native:
        from .operator import check_model_for_operator

        check_model_for_operator(model, source.kind, findings)
    return declared(source, options, OPERATOR)


def render_backend_runtime(
    source: LoadedResource, _library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Render a BackendRuntime. Only the operator needs an object."""
    runtime = source.resource
    assert isinstance(runtime, BackendRuntime)  # noqa: S101  the caller chose this function by kind
    warn_about_duplicate_env(runtime.spec.envs or (), "spec.envs", findings)
    return declared(source, options, OPERATOR)


def _rendered(
    manifest: LoadedResource,
    source: LoadedResource,
    desired: DesiredWorkload,
    options: Options,
    findings: Findings,
) -> Rendered:
    """Render a workload. For the operator, the llmaz resource is created instead of the Kubernetes objects.

    Args:
        manifest: The resource as it is written.
        source: The resource in the contract's form.
        desired: Its workload.
        options: Rendering options.
        findings: Receives the problems.
    """
    native = options.realization.is_native
    for field, reason in topology_violations(desired.annotations, desired.template):
        findings.error(field, reason)
    lacks_service = False
    if not native:
        from .operator import makes_service, operated_release

        lacks_service = not makes_service(operated_release(manifest.kind))
    realized = realize(source, desired, options, findings, lacks_service=lacks_service)
    needs = realized.requires if native else realized.requires - {LEADER_WORKER_SET} | {OPERATOR}
    return Rendered(
        source=manifest,
        kind=manifest.kind.kind,
        name=desired.name,
        namespace=desired.namespace,
        workloads=(realized.workload,),
        endpoints=(realized.endpoint,),
        autoscalers=(realized.autoscaler,) if realized.autoscaler else (),
        others=() if native else (as_manifest(manifest, options),),
        requires=needs,
        model=desired.claim.main.metadata.name,
    )


def _group_annotations(resource: Playground | Service) -> dict[str, str]:
    # They configure the LeaderWorkerSet controller, for example exclusive topology.
    annotations = resource.metadata.annotations or {}
    return {key: value for key, value in annotations.items() if key.startswith(f"{LWS_LABEL}/")}


def _claim(
    resource: Playground | Service,
    single: ModelClaim | None,
    several: ModelClaims | None,
    library: Library,
    findings: Findings,
) -> tuple[Claim, str]:
    """Resolve the claim; also return the field to report problems of its flavors at."""
    if single:
        refs = [(ModelRef.model_validate({"name": single.model_name}), "spec.modelClaim.modelName")]
        base, names = "spec.modelClaim", single.inference_flavors
    else:
        claims = several.models if several else []
        refs = [(ref, f"spec.modelClaims.models[{index}].name") for index, ref in enumerate(claims)]
        base, names = "spec.modelClaims", several.inference_flavors if several else None
    skip = (resource.metadata.annotations or {}).get(SKIP_LOADER) == "true"
    flavors_path = f"{base}.inferenceFlavors"
    claim = resolve(refs, names, base, library, findings, skip_loader=skip)
    path = flavors_path if names else claim.paths[0]
    check_choices(claim.flavors, path, findings)
    return claim, path


def _template(
    backend: ChosenBackend, claim: Claim, parallelism: Parallelism, path: str, options: Options, findings: Findings
) -> tuple[Object, CommandLine]:
    """Return the ``leaderWorkerTemplate`` of a Playground and its server's command line (llmaz spec 2.5, 2.9)."""
    commands = backend.runtime.spec.multi_host_commands
    values = placeholders(claim, with_parallelism=commands is not None)
    line = runner_args(backend, values, parallelism, path, findings)
    grace = options.pod_grace if options.realization.is_native else None
    container = runner_container(backend, line, grace)
    if parallelism.size == 1:
        return {"workerTemplate": {"spec": _pod_spec(container, backend, options)}}, line
    if commands is None and (not backend.engine or not backend.engine.groups):
        supporting = " or ".join(engine.name for engine in engines().values() if engine.groups)
        raise findings.fail(
            path,
            f"a replica spans {parallelism.size} pods, but backend {backend.runtime.metadata.name!r} does not "
            f"support multi-node serving; use {supporting}, an instance with more accelerators, or a Service with a "
            "leader template",
            RuleId.NATIVE_UNSUPPORTED,
        )
    leader, worker = _group_lines(backend, line, path, findings)
    # Only the leader takes requests.
    worker_container = {
        key: value
        for key, value in container.items()
        if key not in ("ports", "lifecycle") and not key.endswith("Probe")
    }
    if grace is not None:
        port = container["ports"][0]["containerPort"]
        hook = follower_hook(backend.engine_name, LWS_VARIABLES.leader, port, grace, path_prefix(line))
        worker_container |= {"lifecycle": hook} if hook else {}
    template = {
        "size": parallelism.size,
        # A pod that is still loading weights must not lose them because another pod restarts.
        "restartPolicy": "RecreateGroupAfterStart",
        "leaderTemplate": {
            "spec": _pod_spec(
                with_patient_startup_probe(_started(container, leader), claim, parallelism), backend, options
            )
        },
        "workerTemplate": {"spec": _pod_spec(_started(worker_container, worker), backend, options)},
    }
    return template, leader


def _group_lines(
    backend: ChosenBackend, line: CommandLine, path: str, findings: Findings
) -> tuple[CommandLine, CommandLine]:
    """Return the command lines of the leader and of the workers."""
    commands = backend.runtime.spec.multi_host_commands
    if commands is None:
        assert backend.engine  # noqa: S101  the caller checked it
        return group_lines(backend.engine, line, LWS_VARIABLES)
    if not commands.leader or not commands.worker:
        part = "worker" if commands.leader else "leader"
        raise findings.fail(
            path,
            f"a replica spans several pods, but multiHostCommands of BackendRuntime "
            f"{backend.runtime.metadata.name!r} has no command for the {part}; add it",
            RuleId.NATIVE_UNSUPPORTED,
        )
    # As in llmaz v0.1.1, the arguments follow the last word of the leader, which is usually a script.
    *first, last = commands.leader
    words = (arg if is_shell_word(arg) else shlex.quote(arg) for arg in line.args)
    script = " ".join((last.removesuffix("\n"), *words))
    return (
        CommandLine(line.engine, line.tag, (), (*first, script)),
        CommandLine(line.engine, line.tag, (), tuple(commands.worker)),
    )


def _started(container: Object, line: CommandLine) -> Object:
    command = {"command": list(line.command)} if line.command else {}
    started = {**container, **command, "args": list(line.args)}
    return started if line.args else {key: value for key, value in started.items() if key != "args"}


def _pod_spec(container: Object, backend: ChosenBackend, options: Options) -> Object:
    grace = options.pod_grace if options.realization.is_native else options.grace_seconds
    spec: Object = {"terminationGracePeriodSeconds": grace, "containers": [container]}
    if (container.get("lifecycle") or {}).get("stopSignal"):
        spec["os"] = {"name": "linux"}  # the API server rejects signals of unknown systems
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
            f"has replica bounds but nothing to scale on: configuration {config.name!r} does not recommend a "
            "scaleTrigger; " + _TRIGGER_REMEDY,
            RuleId.AUTOSCALING_NO_TRIGGER,
        )
        return None
    recommended = elastic.scale_trigger is None
    return Scaling(elastic.min_replicas, elastic.max_replicas, trigger.hpa, recommended)


def with_patient_startup_probe(leader: Object, claim: Claim, parallelism: Parallelism) -> Object:
    """Extend the leader's startup probe to the loading time of the slowest pod of the group.

    A shorter probe would restart the leader over and over while a worker is still loading.
    """
    probe = leader.get("startupProbe")
    if not probe:
        return leader
    seconds = _BASE_SECONDS + max((_loading_seconds(flavor, parallelism) for flavor in claim.flavors), default=0)
    failures = math.ceil(seconds / probe.get("periodSeconds", _PERIOD))
    return {**leader, "startupProbe": {**probe, "failureThreshold": max(failures, probe.get("failureThreshold", 0))}}


def _loading_seconds(flavor: Flavor, parallelism: Parallelism) -> int:
    """Estimate the seconds to load the weights: each pod writes all of them to its disk and reads its part.

    Their size is at most the memory of the accelerators.
    """
    node = instance(param(flavor, "INSTANCE-TYPE") or "")
    if node is None or node.accelerator_memory_gib is None:
        return 0
    key, count = accelerators(flavor)
    pod_mib = node.accelerator_memory_gib * 1024 * int((parallelism.per_pod or {}).get(key, count))
    return math.ceil((pod_mib * parallelism.size + pod_mib) / (_LOCAL_DISK if node.local_nvme_gb else _DISK))

"""The pods of an InferenceService: container, probes, security, labels and placement (LLMKube spec 4.1, 4.2, 4.6)."""

import copy
from typing import TypeVar

from ...contract.load import LoadedResource
from ...engines.draining import drain_hook
from ...engines.paths import path_prefix
from ...fleet.demand import INSTANCE_TYPE_LABEL, NodeChoice
from ...fleet.objects import Object
from ...fleet.options import ModelCache, Options
from ...fleet.origins import Origin
from ...fleet.placement import SHARED_MEMORY, assign_nodes
from ...fleet.serving import deduplicate_env, disable_token_mount, stricter_settings
from ...fleet.workloads import PodPriority
from .arguments.start import StartCommand
from .checks import check_volumes
from .facts import llmkube
from .hardware import Hardware, tolerations_of
from .serving import ServiceContext
from .types.inference_service import InferenceServiceSpec, ProbeOverrides
from .weights import MountedWeights, has_own_cache

FIRST_UNPRIVILEGED_PORT = 1024
"""Lowest port that needs no capability."""
T = TypeVar("T")
_PREFIX = "inference.llmkube.dev"
RUNTIME_LABEL = f"{_PREFIX}/runtime"
"""Label with the runtime of the pods, which the operator sets too."""


def selector_of(name: str) -> dict[str, str]:
    """Return the labels by which Deployment and Service select their pods."""
    return {"app": name, f"{_PREFIX}/service": name}


def labels_of(serving: ServiceContext) -> dict[str, str]:
    """Return the labels of the Deployment and its pods, which users cannot override."""
    name = serving.service.metadata.name
    return {
        "app": name,
        f"{_PREFIX}/model": serving.model.metadata.name,
        f"{_PREFIX}/service": name,
        RUNTIME_LABEL: serving.runtime,
    }


def pod_template(
    serving: ServiceContext,
    command: StartCommand,
    weights: MountedWeights,
    hardware: Hardware,
    choices: tuple[NodeChoice, ...],
    options: Options,
) -> Object:
    """Return the template of the pods.

    Args:
        serving: The service.
        command: How its server is started.
        weights: How its model gets into the pod.
        hardware: Its accelerators.
        choices: The nodes that it may run on.
        options: Rendering options; the service's own fields take precedence.
    """
    spec, overrides = serving.service.spec, options.overrides
    metadata: Object = {"labels": {**overrides.labels, **(spec.pod_labels or {}), **labels_of(serving)}}
    protected = llmkube().undisrupted if spec.disruption and spec.disruption.protect_always else {}
    annotations = {**protected, **overrides.annotations, **(spec.pod_annotations or {})}
    if annotations:
        metadata["annotations"] = annotations
    pod: Object = {"securityContext": _value_or(spec.pod_security_context, _pod_security())}
    if weights.loaders:
        security = _loader_security(spec, None if has_own_cache(spec) else options.cache)
        pod["initContainers"] = [{**loader, "securityContext": security} for loader in weights.loaders]
    shared: list[Object] = []
    if serving.gpus > 1 and llmkube().runtimes[serving.runtime].shared_memory:
        # Processes of several GPUs exchange tensors in /dev/shm, which has 64 MiB by default.
        shared = [{"name": SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108  the name that libraries look for
    container = _container(serving, command, weights, hardware, shared)
    if options.realization.is_native:
        prefix = path_prefix(command.line)
        container["lifecycle"] = drain_hook(command.line.engine, serving.port, _grace_of(options), prefix)
    pod["containers"] = [container]
    volumes = [*weights.volumes, *({"name": v["name"], "emptyDir": {"medium": "Memory"}} for v in shared)]
    check_volumes(spec, volumes, pod["containers"][0], serving.findings)
    volumes += spec.extra_volumes or ()
    if volumes:
        pod["volumes"] = volumes
    pod |= _settings(serving, options)
    if hardware.claims:
        pod["resourceClaims"] = list(hardware.claims)
    _add_placement(pod, spec, hardware, choices, options)
    if options.realization.is_native:
        disable_token_mount(pod)
    return {"metadata": metadata, "spec": pod}


def priority_of(spec: InferenceServiceSpec, options: Options) -> str:
    """Return the PriorityClass of the pods, empty for none. The environment's replaces the default priority only."""
    if spec.priority_class_name:
        return spec.priority_class_name
    if "priority" not in spec.model_fields_set:
        if options.overrides.priority_class_name:
            return options.overrides.priority_class_name
        # The operator cannot apply a class of the environment.
        if options.default_class is not None and options.realization.is_native:
            return options.default_class
    return class_name(spec.priority)


def pod_priority(spec: InferenceServiceSpec, source: LoadedResource, options: Options) -> PodPriority:
    """Return the origin of the pods' priority.

    ``high`` and ``critical`` preempt LLMKube's services of default priority, which counts as the user's intent. Every
    priority but ``batch`` also preempts pods without a class; that is a side effect, which no user requested.
    """
    if spec.priority_class_name:
        known = priority_class(spec.priority_class_name)
        field = Origin(source, "spec.priorityClassName")
        return PodPriority(field, known, is_written=True, is_overridden=True, is_raised=True)
    is_set = "priority" in spec.model_fields_set
    values = {name: facts.value for name, facts in llmkube().priorities.items()}
    default = InferenceServiceSpec.model_fields["priority"].default
    return PodPriority(
        Origin(source, "spec.priority"),
        known=priority_class(priority_of(spec, options)),
        is_written=is_set,
        is_overridden=is_set and spec.priority != default,
        is_raised=is_set and values[spec.priority] > values[default],
    )


def class_name(priority: str) -> str:
    """Return the name of a priority's PriorityClass (LLMKube spec 4.7)."""
    return f"llmkube-{priority}"


def priority_class(name: str) -> Object | None:
    """Return a PriorityClass of LLMKube, which is cluster-scoped; None for a class of another origin."""
    known = {class_name(priority): facts for priority, facts in llmkube().priorities.items()}
    if name not in known:
        return None
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": known[name].value,
        "preemptionPolicy": known[name].preemption,
        "globalDefault": False,
        "description": f"InferenceServices of priority {name.removeprefix(class_name(''))}.",
    }


def selected_nodes(spec: InferenceServiceSpec, options: Options) -> dict[str, str]:
    """Return the node selector of the pods; the service's own labels take precedence."""
    return {**options.overrides.node_selector, **(spec.node_selector or {})}


def _value_or(value: T | None, default: T) -> T:
    """Return a value even if it is empty: an empty security context replaces the default entirely."""
    return default if value is None else value


# -- the container


def _container(
    serving: ServiceContext, command: StartCommand, weights: MountedWeights, hardware: Hardware, shared: list[Object]
) -> Object:
    spec = serving.service.spec
    runtime = llmkube().runtimes[serving.runtime]
    container: Object = {"name": runtime.container, "image": serving.image}
    if command.line.command:
        container["command"] = list(command.line.command)
    if command.line.args:
        container["args"] = list(command.line.args)
    env = deduplicate_env([*weights.env, *command.env, *(spec.env or ())])
    if env:
        container["env"] = env
    container["ports"] = [{"name": "http", "containerPort": serving.port, "protocol": "TCP"}]
    # The contract makes accelerators limits, and cpu and memory requests without limits.
    limits: Object = {hardware.resource: hardware.gpus} if hardware.gpus else {}
    requests: Object = requests_of(serving)
    storage = spec.resources.ephemeral_storage if spec.resources else None
    if storage:
        limits["ephemeral-storage"] = requests["ephemeral-storage"] = storage
    claims = [{"name": claim["name"]} for claim in hardware.claims]
    parts = (("limits", limits), ("requests", requests), ("claims", claims))
    resources = {name: part for name, part in parts if part}
    if resources:
        container["resources"] = resources
    mounts = [*weights.mounts, *shared, *(spec.extra_volume_mounts or ())]
    if mounts:
        container["volumeMounts"] = mounts
    overrides = spec.probe_overrides or ProbeOverrides()
    for name, numbers in llmkube().probes.items():
        path = runtime.ready if runtime.ready and name != "liveness" else runtime.health
        probe: Object = {"httpGet": {"path": path_prefix(command.line) + path, "port": serving.port}}
        handler: Object = probe if runtime.health else {"tcpSocket": {"port": serving.port}}
        # An override replaces the whole probe (LLMKube spec 2).
        container[f"{name}Probe"] = _value_or(getattr(overrides, name), {**handler, **numbers})
    # Without all capabilities, even root needs this one to listen on a low port.
    low_port = {"add": ["NET_BIND_SERVICE"]} if serving.port < FIRST_UNPRIVILEGED_PORT else {}
    security: Object = {"allowPrivilegeEscalation": False, "capabilities": {**low_port, "drop": ["ALL"]}}
    container["securityContext"] = _value_or(spec.security_context, security)
    return container


def requests_of(serving: ServiceContext) -> dict[str, str]:
    """Return the cpu and memory requests of a pod; the Model's resources are the defaults."""
    model = serving.model.spec.resources
    resources = serving.service.spec.resources
    cpu = (resources and resources.cpu) or (model and model.cpu)
    memory = (resources and (resources.host_memory or resources.memory)) or (model and model.memory)
    return {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount}


# -- security and placement


def _pod_security() -> Object:
    return {"seccompProfile": {"type": "RuntimeDefault"}, "fsGroup": llmkube().fs_group}


def _loader_security(spec: InferenceServiceSpec, cache: ModelCache | None) -> Object:
    """Return the fixed security context of the init container, with the pod's user (LLMKube spec 4.6).

    A host path belongs to root. Restrictions of the server apply as well, but none of its permissions.
    """
    fixed: Object = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": False,
        "capabilities": {"drop": ["ALL"]},
    }
    pod = _value_or(spec.pod_security_context, _pod_security())
    root = {"runAsUser": 0} if cache and cache.host_path else {}
    stricter = stricter_settings(spec.security_context, pod, fixed["capabilities"]["drop"])
    return {**fixed, **stricter, **root, **{key: pod[key] for key in ("runAsUser", "runAsGroup") if key in pod}}


def _settings(serving: ServiceContext, options: Options) -> Object:
    """Return the scalar settings of the pod in the order of LLMKube spec 4.1."""
    spec, overrides = serving.service.spec, options.overrides
    pull = [{"name": name} for name in overrides.image_pull_secrets]
    settings: Object = {
        "priorityClassName": priority_of(spec, options),
        "runtimeClassName": spec.runtime_class_name,
        "imagePullSecrets": _value_or(spec.image_pull_secrets, pull),
        # A Service named vllm would set VLLM_PORT, which vLLM takes for its own.
        "enableServiceLinks": None if llmkube().runtimes[serving.runtime].service_links else False,
        "serviceAccountName": overrides.service_account_name,
        "schedulerName": None if options.scheduler_name == Options().scheduler_name else options.scheduler_name,
        "terminationGracePeriodSeconds": _grace_of(options),
    }
    return {key: value for key, value in settings.items() if value not in (None, "", [])}


def _grace_of(options: Options) -> int:
    return options.pod_grace if options.realization.is_native else options.grace_seconds


def _add_placement(
    pod: Object,
    spec: InferenceServiceSpec,
    hardware: Hardware,
    choices: tuple[NodeChoice, ...],
    options: Options,
) -> None:
    """Add tolerations and the node selector; alternative instance types need an affinity instead."""
    if spec.affinity:
        pod["affinity"] = copy.deepcopy(spec.affinity)  # alternative instance types are added to it
    if spec.topology_spread_constraints:
        pod["topologySpreadConstraints"] = spec.topology_spread_constraints
    selector = selected_nodes(spec, options)
    tolerations = tolerations_of(hardware, choices)
    written = [*(spec.tolerations or ()), *options.overrides.tolerations]
    if tolerations or written:
        pod["tolerations"] = [*tolerations, *(toleration for toleration in written if toleration not in tolerations)]
    if any(choice.alternatives for choice in choices):
        selector.pop(INSTANCE_TYPE_LABEL, None)
        assign_nodes(pod, choices)
    if selector:
        pod["nodeSelector"] = selector

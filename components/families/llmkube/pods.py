"""The pods of an InferenceService: container, probes, security, labels and placement (LLMKube spec 4.1, 4.2, 4.6)."""

from typing import TypeVar

from ...contract.load import LoadedResource
from ...engines.paths import path_prefix
from ...fleet.demand import INSTANCE_TYPE_LABEL, NodeChoice
from ...fleet.objects import Object
from ...fleet.options import ModelCache, Options
from ...fleet.origins import Origin
from ...fleet.placement import SHARED_MEMORY, assign_nodes
from ...fleet.serving import deduplicate_env, disable_token_mount, stricter_settings
from ...fleet.workloads import PodPriority
from .arguments.started import StartCommand
from .facts import LlmkubeRuntime, llmkube
from .hardware import Hardware, tolerations_of
from .serving import Serving
from .types.inference_service import InferenceServiceSpec, ProbeOverrides
from .weights import MountedWeights

FIRST_OPEN_PORT = 1024
"""Below it a port takes a right that containers do not have by default."""
T = TypeVar("T")
_PREFIX = "inference.llmkube.dev"


def selector_of(name: str) -> dict[str, str]:
    """Return the labels by which Deployment and Service know their pods."""
    return {"app": name, f"{_PREFIX}/service": name}


def labels_of(serving: Serving) -> dict[str, str]:
    """Return the labels of Deployment and pods; no label of the user replaces them."""
    name = serving.service.metadata.name
    return {
        "app": name,
        f"{_PREFIX}/model": serving.model.metadata.name,
        f"{_PREFIX}/service": name,
        f"{_PREFIX}/runtime": serving.runtime,
    }


def pod_template(
    serving: Serving,
    started: StartCommand,
    weights: MountedWeights,
    hardware: Hardware,
    choices: tuple[NodeChoice, ...],
    options: Options,
) -> Object:
    """Return the template of the pods.

    Args:
        serving: The service.
        started: How its server is started.
        weights: How its model gets into the pod.
        hardware: Its accelerators.
        choices: The nodes that it may run on.
        options: How to render; what the service says itself wins.
    """
    spec, overrides = serving.service.spec, options.overrides
    metadata: Object = {"labels": {**overrides.labels, **(spec.pod_labels or {}), **labels_of(serving)}}
    annotations = {**overrides.annotations, **(spec.pod_annotations or {})}
    if annotations:
        metadata["annotations"] = annotations
    pod: Object = {"securityContext": _given(spec.pod_security_context, _pod_security())}
    if weights.loader:
        security = _loader_security(spec, options.cache)
        pod["initContainers"] = [{**weights.loader, "securityContext": security}]
    shared = _shared_memory(serving)
    pod["containers"] = [_container(serving, started, weights, hardware, shared)]
    volumes = [*weights.volumes, *({"name": v["name"], "emptyDir": {"medium": "Memory"}} for v in shared)]
    if volumes:
        pod["volumes"] = volumes
    pod |= _settings(serving, options)
    _put_on_nodes(pod, spec, hardware, choices, options)
    if options.realization.is_native:
        disable_token_mount(pod)
    return {"metadata": metadata, "spec": pod}


def priority_of(spec: InferenceServiceSpec, options: Options) -> str:
    """Return the PriorityClass of the pods, empty for none; the environment's replaces a default nobody wrote."""
    if spec.priority_class_name:
        return spec.priority_class_name
    if "priority" not in spec.model_fields_set:
        if options.overrides.priority_class_name:
            return options.overrides.priority_class_name
        # The operator knows nothing of it.
        if options.default_class is not None and options.realization.is_native:
            return options.default_class
    return class_name(spec.priority)


def pod_priority(spec: InferenceServiceSpec, source: LoadedResource, options: Options) -> PodPriority:
    """Return where the priority of the pods comes from.

    Among LLMKube's services only ``high`` and ``critical`` ask to precede others; against pods without a class, all
    but ``batch`` do, which nobody asked for.
    """
    if spec.priority_class_name:
        known = priority_class(spec.priority_class_name)
        field = Origin(source, "spec.priorityClassName")
        return PodPriority(field, known, is_written=True, is_overridden=True, is_raised=True)
    stated = "priority" in spec.model_fields_set
    values = {name: facts.value for name, facts in llmkube().priorities.items()}
    usual = InferenceServiceSpec.model_fields["priority"].default
    return PodPriority(
        Origin(source, "spec.priority"),
        known=priority_class(priority_of(spec, options)),
        is_written=stated,
        is_overridden=stated and spec.priority != usual,
        is_raised=stated and values[spec.priority] > values[usual],
    )


def class_name(priority: str) -> str:
    """Return the name of a priority's class (LLMKube spec 4.7)."""
    return f"llmkube-{priority}"


def priority_class(name: str) -> Object | None:
    """Return a PriorityClass of LLMKube, which the whole cluster shares; None for a class of somebody else."""
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
    """Return the labels of the nodes that the pods ask for; the service's own win."""
    return {**options.overrides.node_selector, **(spec.node_selector or {})}


def _given(value: T | None, default: T) -> T:
    """Return what is set, be it empty: an empty security context replaces the default as a whole."""
    return default if value is None else value


# -- the container


def _container(
    serving: Serving, started: StartCommand, weights: MountedWeights, hardware: Hardware, shared: list[Object]
) -> Object:
    spec = serving.service.spec
    runtime = llmkube().runtimes[serving.runtime]
    container: Object = {"name": runtime.container, "image": serving.image}
    if started.line.command:
        container["command"] = list(started.line.command)
    if started.line.args:
        container["args"] = list(started.line.args)
    env = deduplicate_env([*weights.env, *started.env, *(spec.env or ())])
    if env:
        container["env"] = env
    container["ports"] = [{"name": "http", "containerPort": serving.port, "protocol": "TCP"}]
    resources = _resources(serving, hardware)
    if resources:
        container["resources"] = resources
    mounts = [*weights.mounts, *shared]
    if mounts:
        container["volumeMounts"] = mounts
    container |= _probes(spec.probe_overrides or ProbeOverrides(), runtime, path_prefix(started.line), serving.port)
    container["securityContext"] = _given(spec.security_context, _security(serving.port))
    return container


def _resources(serving: Serving, hardware: Hardware) -> Object:
    """Accelerators as limits, cpu and memory as requests alone: so says the contract of each field."""
    requests = requests_of(serving)
    limits = {hardware.resource: hardware.gpus} if hardware.gpus else {}
    return {name: part for name, part in (("limits", limits), ("requests", requests)) if part}


def requests_of(serving: Serving) -> dict[str, str]:
    """Return what a pod asks of its node beside accelerators; the Model's own needs count where nothing is said."""
    model = serving.model.spec.resources
    resources = serving.service.spec.resources
    cpu = (resources and resources.cpu) or (model and model.cpu)
    memory = (resources and (resources.host_memory or resources.memory)) or (model and model.memory)
    return {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount}


def _probes(overrides: ProbeOverrides, runtime: LlmkubeRuntime, prefix: str, port: int) -> Object:
    """An override replaces the whole probe (LLMKube spec 2)."""
    health = {"httpGet": {"path": prefix + runtime.health, "port": port}}
    asked = health if runtime.health else {"tcpSocket": {"port": port}}
    return {
        f"{name}Probe": _given(getattr(overrides, name), {**asked, **numbers})
        for name, numbers in llmkube().probes.items()
    }


# -- security and placement


def _pod_security() -> Object:
    return {"seccompProfile": {"type": "RuntimeDefault"}, "fsGroup": llmkube().fs_group}


def _loader_security(spec: InferenceServiceSpec, cache: ModelCache | None) -> Object:
    """Fixed but for the user, who is the pod's (LLMKube spec 4.6); a folder of the node belongs to root.

    Beyond that it is denied what the server is; nothing of the server's gives it more than upstream does.
    """
    fixed: Object = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": False,
        "capabilities": {"drop": ["ALL"]},
    }
    pod = _given(spec.pod_security_context, _pod_security())
    root = {"runAsUser": 0} if cache and cache.host_path else {}
    taken = stricter_settings(spec.security_context, pod, fixed["capabilities"]["drop"])
    return {**fixed, **taken, **root, **{key: pod[key] for key in ("runAsUser", "runAsGroup") if key in pod}}


def _security(port: int) -> Object:
    """Take all rights away but the one to listen on a low port, which even root then lacks."""
    kept = {"add": ["NET_BIND_SERVICE"]} if port < FIRST_OPEN_PORT else {}
    return {"allowPrivilegeEscalation": False, "capabilities": {**kept, "drop": ["ALL"]}}


def _shared_memory(serving: Serving) -> list[Object]:
    """Processes of several GPUs exchange tensors in ``/dev/shm``, of which a container has 64 MiB by default."""
    if serving.gpus < 2 or not llmkube().runtimes[serving.runtime].shared_memory:
        return []
    return [{"name": SHARED_MEMORY, "mountPath": "/dev/shm"}]  # noqa: S108  the name that libraries look for


def _settings(serving: Serving, options: Options) -> Object:
    """Return the plain settings of the pod, in the order of LLMKube spec 4.1."""
    spec, overrides = serving.service.spec, options.overrides
    pull = [{"name": name} for name in overrides.image_pull_secrets]
    settings: Object = {
        "priorityClassName": priority_of(spec, options),
        "runtimeClassName": spec.runtime_class_name,
        "imagePullSecrets": _given(spec.image_pull_secrets, pull),
        "enableServiceLinks": None if llmkube().runtimes[serving.runtime].service_links else False,
        "serviceAccountName": overrides.service_account_name,
        "schedulerName": None if options.scheduler_name == Options().scheduler_name else options.scheduler_name,
        "terminationGracePeriodSeconds": options.grace_seconds,
    }
    return {key: value for key, value in settings.items() if value not in (None, "", [])}


def _put_on_nodes(
    pod: Object,
    spec: InferenceServiceSpec,
    hardware: Hardware,
    choices: tuple[NodeChoice, ...],
    options: Options,
) -> None:
    """Add tolerations and the node selector; where further instance types are allowed, an affinity says so."""
    selector = selected_nodes(spec, options)
    tolerations = tolerations_of(hardware, choices)
    own = [*(spec.tolerations or ()), *options.overrides.tolerations]
    if tolerations or own:
        pod["tolerations"] = [*tolerations, *(each for each in own if each not in tolerations)]
    if any(choice.alternatives for choice in choices):
        selector.pop(INSTANCE_TYPE_LABEL, None)
        assign_nodes(pod, choices)
    if selector:
        pod["nodeSelector"] = selector

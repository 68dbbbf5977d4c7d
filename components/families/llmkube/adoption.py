"""Describes workloads of other families in LLMKube's kinds: a Model and an InferenceService.

Runtime generic runs the container as it is. A server that loads a single file gets the runtime of its engine, whose
init container fetches the file. LLMKube has no fields for other init containers, for hooks, or for limits of cpu and
memory: such parts are left out. It cannot express replicas of several pods, or weights of other origins.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ...engines.settings import Setting
from ...fleet.objects import Object, new_object
from ...fleet.workloads import NamedWeights
from ..adoption import AdoptedWorkload, node_selector_of
from .facts import llmkube
from .types.inference_service import EndpointSpec

GENERIC = "generic"
OWN_VARIABLES: Mapping[str, str] = MappingProxyType({})
_API = "inference.llmkube.dev/v1alpha1"
_MOST_REPLICAS, _MOST_MINIMUM, _MOST_MAXIMUM, _MOST_GPUS = 10, 10, 100, 8
"""Bounds of the CustomResourceDefinition. What exceeds one becomes the nearest that it accepts."""
_CPU_DEFAULT: Object = {"type": "Resource", "name": "cpu", "targetAverageUtilization": 80}
"""Metric of an autoscaler without any (kubernetes/kubernetes v1.36.3, pkg/apis/autoscaling/v2/defaults.go)."""
_OPERATION = "/chat/completions"


def adopt(adopted: AdoptedWorkload) -> tuple[Object, ...]:
    """Return a Model and an InferenceService with the same container; none if they cannot be described."""
    weights = adopted.workload.server.weights
    origin = _source(weights, adopted)
    if adopted.workers or not origin:
        return ()
    model = adopted.workload.model
    container = adopted.container
    vendor, gpus = _accelerators(container)
    source: Object = {"source": origin, "format": _format(weights)}
    if vendor:
        source["hardware"] = (
            {"gpu": {"vendor": vendor}} if vendor == "nvidia" else {"accelerator": _accelerator(vendor)}
        )
    return (
        new_object(_API, "Model", model, adopted.namespace, source),
        new_object(_API, "InferenceService", adopted.name, adopted.namespace, _service(adopted, model, gpus)),
    )


def _service(adopted: AdoptedWorkload, model: str, gpus: int) -> Object:
    container, pod = adopted.container, adopted.leader["spec"]
    runtime, autoscaling = _runtime(adopted), _autoscaling(adopted)
    metadata = adopted.leader.get("metadata") or {}
    requests = _requests(container)
    resources = {"gpu": gpus, "cpu": requests.get("cpu"), "memory": requests.get("memory")}
    fields: Object = {
        "modelRef": model,
        "runtime": runtime,
        "replicas": None if autoscaling else min(adopted.workload.replicas, _MOST_REPLICAS),
        "image": container["image"],
        "imagePullSecrets": pod.get("imagePullSecrets"),
        "command": container.get("command"),
        "args" if runtime == GENERIC else "extraArgs": _args(adopted, runtime),
        "env": [*(container.get("env") or ()), *(_loader_secrets(adopted) if runtime == GENERIC else ())],
        "containerPort": adopted.workload.port or None,
        "endpoint": _endpoint(adopted),
        "resources": {key: value for key, value in resources.items() if value},
        "tolerations": pod.get("tolerations"),
        "nodeSelector": {**(pod.get("nodeSelector") or {}), **(node_selector_of(pod) or {})},
        "runtimeClassName": pod.get("runtimeClassName"),
        "priorityClassName": pod.get("priorityClassName"),
        "podLabels": metadata.get("labels"),
        "podAnnotations": metadata.get("annotations"),
        "probeOverrides": {
            name.removesuffix("Probe"): container[name]
            for name in ("startupProbe", "livenessProbe", "readinessProbe")
            if container.get(name)
        },
        "autoscaling": autoscaling,
    }
    written = {key: value for key, value in fields.items() if value not in (None, {}, [], "")}
    # An empty context replaces the default of LLMKube.
    security = {"podSecurityContext": pod.get("securityContext"), "securityContext": container.get("securityContext")}
    return {**written, **{key: value or {} for key, value in security.items()}}


# The model


def _source(weights: Iterable[NamedWeights], adopted: AdoptedWorkload) -> str:
    """Return the origin of the first model's weights, or its folder on the node; empty for any other source."""
    first = next(iter(weights), None)
    if first is None:
        volumes = adopted.leader["spec"].get("volumes") or ()
        folder = next((v["hostPath"]["path"] for v in volumes if "hostPath" in v), "/")
        return f"file://{folder}"
    if first.file and "://" not in first.name:
        return f"https://huggingface.co/{first.name}/resolve/main/{first.file}"
    return first.name if "://" not in first.name else ""


def _format(weights: Iterable[NamedWeights]) -> str:
    return "gguf" if any(".gguf" in item.file for item in weights) else "safetensors"


def _accelerators(container: Object) -> tuple[str, int]:
    """Return the vendor of the accelerators and their number; an empty vendor without any."""
    limits = (container.get("resources") or {}).get("limits") or {}
    for vendor, resource in llmkube().resources.items():
        if resource in limits:
            return vendor, min(int(str(limits[resource])), _MOST_GPUS)
    return "", 0


def _accelerator(vendor: str) -> str:
    return next(name for name, known in llmkube().accelerators.items() if known == vendor)


def _requests(container: Object) -> dict[str, str]:
    resources = container.get("resources") or {}
    requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {key: str(requests[key]) for key in ("cpu", "memory") if key in requests}


# The container


def _runtime(adopted: AdoptedWorkload) -> str:
    """Return the runtime that fetches the weights, if they are one file of a hub; otherwise the generic one."""
    engine = adopted.workload.server.line.engine
    first = next(iter(adopted.workload.server.weights), None)
    runtime = llmkube().runtimes.get(engine)
    is_file = first is not None and bool(first.file) and "://" not in first.name
    return engine if is_file and runtime and runtime.loads and "gguf" in runtime.formats else GENERIC


def _args(adopted: AdoptedWorkload, runtime: str) -> list[str]:
    """Return the arguments, without those that LLMKube writes itself.

    A folder that an init container fills becomes the repository, which the server loads.
    """
    line = adopted.workload.server.line
    if runtime != GENERIC:
        return list(line.without(Setting.MODEL, Setting.HOST, Setting.PORT, Setting.METRICS).args)
    if not adopted.leader["spec"].get("initContainers"):
        return list(line.args)
    repositories = {item.loaded_as: item.name for item in adopted.workload.server.weights if not item.file}
    return [repositories.get(arg, arg) for arg in line.args]


def _loader_secrets(adopted: AdoptedWorkload) -> Iterator[Object]:
    """Yield the variables from Secrets with which an init container fetches the weights."""
    names = {variable["name"] for variable in adopted.container.get("env") or ()}
    for loader in adopted.leader["spec"].get("initContainers") or ():
        for variable in loader.get("env") or ():
            if "valueFrom" in variable and variable["name"] not in names:
                names.add(variable["name"])
                yield variable


def _endpoint(adopted: AdoptedWorkload) -> Object:
    endpoint = adopted.endpoint
    if endpoint is None:
        return {}
    default = EndpointSpec()
    fields: Object = {} if endpoint.port == default.port else {"port": endpoint.port}
    path = f"{endpoint.path}{_OPERATION}"
    return fields if path == default.path else {**fields, "path": path}


# Scaling


def _autoscaling(adopted: AdoptedWorkload) -> Object | None:
    scaler = adopted.autoscaler
    if scaler is None:
        return None
    written = scaler.hpa["spec"].get("metrics") or ()
    metrics = list(_metrics(written)) if written else [_CPU_DEFAULT]
    if not metrics:
        return None
    return {
        "minReplicas": max(1, min(scaler.minimum, _MOST_MINIMUM)),
        "maxReplicas": min(scaler.maximum, _MOST_MAXIMUM),
        "metrics": metrics,
    }


def _metrics(metrics: Iterable[Object]) -> Iterator[Object]:
    for metric in metrics:
        pods, resource = metric.get("pods") or {}, metric.get("resource") or {}
        target = (pods or resource).get("target") or {}
        if pods and target.get("type") == "AverageValue" and not pods["metric"].get("selector"):
            name = pods["metric"]["name"]
            yield {"type": "Pods", "name": name, "targetAverageValue": str(target["averageValue"])}
        elif resource and target.get("type") == "Utilization":
            share = target["averageUtilization"]
            yield {"type": "Resource", "name": resource["name"], "targetAverageUtilization": share}

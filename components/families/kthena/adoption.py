"""Describes workloads of other families in Kthena's kinds: a ModelServing, its route, and its autoscaling."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ...fleet.autoscalers import DECLINE, GROWTH
from ...fleet.objects import Object, new_object
from ...fleet.options import Options
from ..adoption import AdoptedWorkload, renamed_variables
from .autoscaling.targets import MEASURED_ROLE
from .kinds import BINDING, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from .names import entry_labels
from .serving.groups import SCHEDULER
from .serving.pods import GROUP_VARIABLES

ROLE = MEASURED_ROLE
"""The only role. Kthena's autoscaler measures pods of this name alone."""
OWN_VARIABLES: Mapping[str, str] = MappingProxyType(
    dict(zip(GROUP_VARIABLES, ("LWS_GROUP_SIZE", "LWS_LEADER_ADDRESS", "LWS_WORKER_INDEX"), strict=True))
)
_KTHENA_NAMES = {shared: own for own, shared in OWN_VARIABLES.items()}
_ENGINES = {"vllm": "vLLM", "sglang": "SGLang"}
"""The engines that Kthena's router can reach."""


def adopt(adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:
    """Return a ModelServing with the same pods, the route to it, and what scales it."""
    scaling = tuple(_scaling(adopted))
    return (_serving(adopted, options, is_scaled=bool(scaling)), *_route(adopted), *scaling)


def _serving(adopted: AdoptedWorkload, options: Options, *, is_scaled: bool) -> Object:
    role: Object = {"name": ROLE, "replicas": 1, "entryTemplate": _template(adopted.leader)}
    role["workerReplicas"] = adopted.workers
    if adopted.worker is not None:
        role["workerTemplate"] = _template(adopted.worker)
    spec: Object = {} if is_scaled else {"replicas": adopted.workload.replicas}
    spec |= {"schedulerName": SCHEDULER, "template": {"roles": [role]}}
    update = adopted.update
    bounds: Object = {}
    if not update.is_recreate:
        bounds = {"maxUnavailable": update.unavailable, "maxSurge": update.surge}
        bounds |= {"partition": update.partition} if update.partition else {}
    if bounds not in ({}, {"maxUnavailable": 1, "maxSurge": 0}):
        spec["rolloutStrategy"] = {"type": "ServingGroupRollingUpdate", "rollingUpdateConfiguration": bounds}
    spec["recoveryPolicy"] = _recovery_policy(adopted, options)
    return _new(MODEL_SERVING.api_version, MODEL_SERVING.kind, adopted, spec)


def _recovery_policy(adopted: AdoptedWorkload, options: Options) -> str:
    if adopted.workers:
        return "RoleRecreate"
    # Natively a container of a single pod then restarts in place, as in a Deployment. Kthena's controller would not
    # replace the pod (D-12), nor that of a role instance with RoleRecreate (D-13).
    return "None" if options.of_family("kthena").realization.is_native else "ServingGroupRecreate"


def _template(template: Object) -> Object:
    spec = {
        key: value
        for key, value in template["spec"].items()
        if key != "schedulerName" or value != "default-scheduler"
    }
    for field in ("initContainers", "containers"):
        if spec.get(field):
            spec[field] = [renamed_variables(container, _KTHENA_NAMES) for container in spec[field]]
    return {**template, "spec": spec}


def _route(adopted: AdoptedWorkload) -> Iterator[Object]:
    """Yield a ModelServer and a ModelRoute, if the router supports the engine."""
    endpoint, engine = adopted.endpoint, _ENGINES.get(adopted.workload.server.line.engine)
    if endpoint is None or engine is None or endpoint.path != "/v1":
        return
    server = {
        "inferenceEngine": engine,
        "workloadSelector": {"matchLabels": entry_labels(adopted.name, ROLE)},
        "workloadPort": {"port": adopted.workload.port},
    }
    yield _new(MODEL_SERVER.api_version, MODEL_SERVER.kind, adopted, server)
    rule = {"name": "default", "targetModels": [{"modelServerName": adopted.name}]}
    yield _new(MODEL_ROUTE.api_version, MODEL_ROUTE.kind, adopted, {"modelName": endpoint.model, "rules": [rule]})


def _scaling(adopted: AdoptedWorkload) -> Iterator[Object]:
    """Yield a policy and its binding, if it has a metric of the pods."""
    scaler = adopted.autoscaler
    metrics = list(_metrics(scaler.hpa["spec"].get("metrics") or ())) if scaler else []
    if scaler is None or not metrics:
        return
    behavior = scaler.hpa["spec"].get("behavior") or {}
    policy = {
        "metrics": metrics,
        "behavior": {
            "scaleUp": {"stablePolicy": _pace(behavior.get("scaleUp"), GROWTH)},
            "scaleDown": _pace(behavior.get("scaleDown"), DECLINE),
        },
    }
    yield _new(POLICY.api_version, POLICY.kind, adopted, policy)
    target: Object = {"targetRef": {"kind": MODEL_SERVING.kind, "name": adopted.name}}
    port = adopted.workload.port
    if port:
        target["metricEndpoint"] = {"port": port}
    configuration = {"target": target, "minReplicas": scaler.minimum, "maxReplicas": scaler.maximum}
    yield _new(
        BINDING.api_version,
        BINDING.kind,
        adopted,
        {"policyRef": {"name": adopted.name}, "scalingConfiguration": configuration},
    )


def _new(api_version: str, kind: str, adopted: AdoptedWorkload, spec: Object) -> Object:
    return new_object(api_version, kind, adopted.name, adopted.namespace, spec)


def _metrics(metrics: Iterable[Object]) -> Iterator[Object]:
    """Yield the metrics that a policy can have: means of a metric of the pods."""
    for metric in metrics:
        pods = metric.get("pods") or {}
        target = pods.get("target") or {}
        if target.get("type") == "AverageValue" and not (pods.get("metric") or {}).get("selector"):
            yield {"metricName": pods["metric"]["name"], "targetValue": target["averageValue"]}


def _pace(rules: Object | None, defaults: Object) -> Object:
    """Return the limits of one direction; those that a policy cannot have become the nearest that it can."""
    full = {**defaults, **{key: value for key, value in (rules or {}).items() if value is not None}}
    limits = {"Pods": 0, "Percent": 0}
    for limit in full["policies"]:
        limits[limit["type"]] = limit["value"]
    disabled = full["selectPolicy"] == "Disabled"
    return {
        "instances": 0 if disabled else limits["Pods"],
        "percent": 0 if disabled else limits["Percent"],
        "period": f"{full['policies'][0]['periodSeconds']}s",
        "selectPolicy": "And" if disabled or full["selectPolicy"] == "Min" else "Or",
        "stabilizationWindow": f"{full['stabilizationWindowSeconds']}s",
    }

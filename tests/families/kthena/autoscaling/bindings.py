"""Short ways to write policies and bindings, and to look at what they become."""

from typing import Any

from components.contract.problems import Problem
from components.fleet.rendered import Fleet
from tests.families.kthena.serving.support import WORKLOAD_API, engine, model_serving, pods, role
from tests.fleets import errors, fleet_of

Object = dict[str, Any]
QUEUE = "vllm:num_requests_waiting"
PORT = {"name": "http", "containerPort": 8000}
GPU = {"limits": {"nvidia.com/gpu": 1}}
HAND_WRITTEN = {"node.kubernetes.io/instance-type": "g5.xlarge"}


def policy(*metrics: Object, name: str = "queue", behavior: Object | None = None, **spec: Any) -> Object:
    """An AutoscalingPolicy; without metrics, on the queue."""
    listed = [*(metrics or (metric(),))]
    spec |= {"behavior": behavior} if behavior is not None else {}
    return _object("AutoscalingPolicy", name, {"metrics": listed, **spec})


def metric(name: str = QUEUE, value: str = "5") -> Object:
    return {"metricName": name, "targetValue": value}


def binding(*params: Object, name: str = "scaling", policy: str = "queue", **scaling: Any) -> Object:
    """A binding of one target; with params, of several that share a load."""
    how: Object = {"optimizerConfiguration": {"params": [*params], **scaling}} if params else {
        "scalingConfiguration": bounded(**scaling)
    }  # fmt: skip
    return _object("AutoscalingPolicyBinding", name, {"policyRef": {"name": policy}, **how})


def bounded(
    target: str = "chat", minimum: int = 1, maximum: int = 4, cost: int | None = None, **fields: Any
) -> Object:
    """A target and its bounds; further fields of the target by their wire names."""
    reference = {"kind": "ModelServing", "name": target, **fields.pop("reference", {})}
    reference = {key: value for key, value in reference.items() if value is not None}
    bounds = {"minReplicas": minimum, "maxReplicas": maximum, **({} if cost is None else {"cost": cost})}
    return {"target": {"targetRef": reference, **fields}, **bounds}


def serving(name: str = "chat", *roles: Object, image: str = "", args: tuple[str, ...] = (), **spec: Any) -> Object:
    """A ModelServing of one role with vLLM on a GPU."""
    chosen = {"image": image} if image else {}
    own = role(entryTemplate=pods(engine(*args, ports=[PORT], resources=GPU, **chosen), nodeSelector=HAND_WRITTEN))
    return model_serving(name, *(roles or (own,)), **spec)


def rendered(*documents: Object, **options: Any) -> Fleet:
    """A fleet without an error."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    return fleet


def scalers(*documents: Object, **options: Any) -> dict[str, Object]:
    """The autoscalers of documents without an error, by name."""
    fleet = rendered(*documents, **options)
    return {scaler.name: scaler.hpa for _, scaler in fleet.autoscalers}


def scaler(*documents: Object, **options: Any) -> Object:
    """The only autoscaler of documents without an error."""
    (hpa,) = scalers(*documents, **options).values()
    return hpa


def of_behavior(behavior: Object | None = None, maximum: int = 4, **spec: Any) -> Object:
    """The behavior of the autoscaler that a policy becomes."""
    tolerant = spec.pop("tolerates_changes", False)
    documents = serving(), policy(behavior=behavior, **spec), binding(maximum=maximum)
    found: Object = scaler(*documents, tolerates_changes=tolerant)["spec"]["behavior"]
    return found


def said(problems: list[Problem] | tuple[Problem, ...]) -> list[tuple[str, str, str]]:
    """Severity, kind and path of problems."""
    return [(str(problem.severity), problem.kind, problem.path) for problem in problems]


def _object(kind: str, name: str, spec: Object) -> Object:
    return {
        "apiVersion": WORKLOAD_API,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ns"},
        "spec": spec,
    }

"""The policies and bindings of a booster and its backends (Kthena spec 2.8)."""

from collections.abc import Sequence

from ....fleet.objects import Object, new_object
from ..autoscaling.effective import effective_cost_rate
from ..names import SERVING_LABEL, WORKLOAD_API
from ..types.autoscaling import AutoscalingPolicySpec
from .context import DECODE, LEADER, BackendContext, labels_of, metadata_of
from .serving import RUNTIME_PORT, runtime_port


def booster_scaling(backends: Sequence[BackendContext], ports: Sequence[int]) -> tuple[Object, Object] | None:
    """Return the policy of a booster and the binding that distributes replicas over its backends.

    Args:
        backends: The backends.
        ports: The port of each backend's engine, which serves its metrics.
    """
    booster, namespace = backends[0].booster, backends[0].namespace
    policy = booster.spec.autoscaling_policy
    if policy is None:
        return None
    model = booster.metadata.name
    params = [
        {"target": _target(backend, port), "cost": backend.spec.scaling_cost, **_bounds(backend)}
        for backend, port in zip(backends, ports, strict=True)
    ]
    # Set even if it is 0: a controller would leave that out, and the API server would set the default (D-27).
    optimizer = {"params": params, "costExpansionRatePercent": effective_cost_rate(booster.spec)}
    return _objects(model, namespace, labels_of(model, namespace), policy, {"optimizerConfiguration": optimizer})


def backend_scaling(backend: BackendContext, port: int) -> tuple[Object, Object] | None:
    """Return the policy of a backend and the binding that scales it."""
    policy = backend.spec.autoscaling_policy
    if policy is None:
        return None
    scaling = {"target": _target(backend, port), **_bounds(backend)}
    return _objects(backend.name, backend.namespace, backend.labels, policy, {"scalingConfiguration": scaling})


def _objects(
    name: str, namespace: str, labels: dict[str, str], policy: AutoscalingPolicySpec, configuration: Object
) -> tuple[Object, Object]:
    policy_spec, binding_spec = policy.wire(), {"policyRef": {"name": name}, **configuration}
    policy_body = new_object(WORKLOAD_API, "AutoscalingPolicy", name, namespace, policy_spec)
    binding_body = new_object(WORKLOAD_API, "AutoscalingPolicyBinding", name, namespace, binding_spec)
    return (
        {**policy_body, "metadata": metadata_of(name, namespace, labels, policy_spec)},
        {**binding_body, "metadata": metadata_of(name, namespace, labels, binding_spec)},
    )


def _bounds(backend: BackendContext) -> Object:
    return {"minReplicas": backend.spec.min_replicas, "maxReplicas": backend.spec.max_replicas}


def _target(backend: BackendContext, engine_port: int) -> Object:
    """Return the ModelServing to scale, and the pods to measure: of a disaggregated pair, those of decode."""
    port = runtime_port(backend) if backend.options.runtime else engine_port
    return {
        "targetRef": {"kind": "ModelServing", "name": backend.name},
        "additionalMatchLabels": {f"{SERVING_LABEL}/role": DECODE if backend.is_disaggregated else LEADER},
        "metricEndpoint": {} if port == RUNTIME_PORT else {"port": port},
    }

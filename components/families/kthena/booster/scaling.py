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
    if booster.spec.backend:
        # Since v0.2.0, the policy of a booster scales its only backend.
        return _one_backend(backends[0], ports[0], policy)
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
    return None if policy is None else _one_backend(backend, port, policy)


def _one_backend(backend: BackendContext, port: int, policy: AutoscalingPolicySpec) -> tuple[Object, Object]:
    scaling = {"target": _target(backend, port), **_bounds(backend)}
    return _objects(backend.name, backend.namespace, backend.labels, policy, {scaling_field(backend): scaling})


def scaling_field(backend: BackendContext) -> str:
    """Return the field of a binding with the only target, which was renamed together with ``backends``."""
    return "homogeneousTarget" if backend.booster.spec.backend else "scalingConfiguration"


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
    return {"minReplicas": backend.spec.least, "maxReplicas": backend.spec.most}


def _target(backend: BackendContext, engine_port: int) -> Object:
    """Return the ModelServing to scale, and the pods to measure: of a disaggregated pair, those of decode."""
    port = runtime_port(backend) if backend.options.runtime else engine_port
    labels = {f"{SERVING_LABEL}/role": DECODE if backend.is_disaggregated else LEADER}
    target: Object = {"targetRef": {"kind": "ModelServing", "name": backend.name}}
    endpoint: Object = {} if port == RUNTIME_PORT else {"port": port}
    if backend.booster.spec.backend:
        return {**target, "metricEndpoint": {**endpoint, "labelSelector": {"matchLabels": labels}}}
    return {**target, "additionalMatchLabels": labels, "metricEndpoint": endpoint}

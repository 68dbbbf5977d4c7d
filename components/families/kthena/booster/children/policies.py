"""Policies of a booster and its backends, and what binds them (Kthena spec 2.8)."""

from collections.abc import Sequence

from .....fleet.objects import Object, new_object
from ...autoscaling.effective import effective_cost_rate
from ...names import SERVING_LABEL, WORKLOAD_API
from ...types import ModelBooster
from ...types.autoscaling import AutoscalingPolicySpec
from ..setup import Part
from .labels import labels_of, metadata_of
from .pods import RUNTIME_PORT, runtime_port
from .serving import DECODE, LEADER

Ports = Sequence[int]
"""Where the engine of each backend tells its metrics."""


def of_booster(booster: ModelBooster, parts: Sequence[Part], ports: Ports) -> tuple[Object, Object] | None:
    """Return the policy of a booster, and the binding that spreads replicas over its backends."""
    policy = booster.spec.autoscaling_policy
    if policy is None:
        return None
    model = booster.metadata.name
    params = [
        {"target": _target(part, port), "cost": part.backend.scaling_cost, **_bounds(part)}
        for part, port in zip(parts, ports, strict=True)
    ]
    # Said even where it is 0, which a controller would leave out and the API server take for the default (D-27).
    optimizer = {"params": params, "costExpansionRatePercent": effective_cost_rate(booster.spec)}
    labels = labels_of(model, parts[0].namespace)
    return _bound(model, parts[0].namespace, labels, policy, {"optimizerConfiguration": optimizer})


def of_backend(part: Part, port: int) -> tuple[Object, Object] | None:
    """Return the policy of a backend, and the binding that scales it."""
    policy = part.backend.autoscaling_policy
    if policy is None:
        return None
    scaling = {"target": _target(part, port), **_bounds(part)}
    labels = labels_of(part.model, part.namespace, part.backend.name)
    return _bound(part.name, part.namespace, labels, policy, {"scalingConfiguration": scaling})


def _bound(
    name: str, namespace: str, labels: dict[str, str], policy: AutoscalingPolicySpec, how: Object
) -> tuple[Object, Object]:
    binding = {"policyRef": {"name": name}, **how}
    return (
        _object("AutoscalingPolicy", name, namespace, labels, policy.wire()),
        _object("AutoscalingPolicyBinding", name, namespace, labels, binding),
    )


def _object(kind: str, name: str, namespace: str, labels: dict[str, str], spec: Object) -> Object:
    body = new_object(WORKLOAD_API, kind, name, namespace, spec)
    return {**body, "metadata": metadata_of(name, namespace, labels, spec)}


def _bounds(part: Part) -> Object:
    return {"minReplicas": part.backend.min_replicas, "maxReplicas": part.backend.max_replicas}


def _target(part: Part, port: int) -> Object:
    """Return what is scaled, and which of its pods tell the load: of a pair those that answer."""
    role = DECODE if part.is_disaggregated else LEADER
    tells_at = runtime_port(part) if part.setup.runtime else port
    return {
        "targetRef": {"kind": "ModelServing", "name": part.name},
        "additionalMatchLabels": {f"{SERVING_LABEL}/role": role},
        "metricEndpoint": {} if tells_at == RUNTIME_PORT else {"port": tells_at},
    }

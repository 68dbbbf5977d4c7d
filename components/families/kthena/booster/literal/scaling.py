"""Policies and bindings as Kthena's controllers write them (Kthena spec 2.8)."""

import copy

from .....fleet.objects import Object
from ...names import SERVING_LABEL, backend_name
from ...types.model_booster import ModelBackend, ModelBoosterSpec
from .command import Unconvertible
from .golang import duration

_DURATIONS = ("period", "stabilizationWindow", "panicModeHold")


def policy_spec(stored: Object) -> Object:
    """Return the spec of a policy, from that in the booster as it is stored.

    Parts that are absent are sent empty, and so get the defaults of the CRD; a panic's period is sent as 0.
    """
    spec = copy.deepcopy(stored)
    behavior = spec.setdefault("behavior", {})
    up = behavior.setdefault("scaleUp", {})
    parts = [
        up.setdefault("stablePolicy", {}),
        up.setdefault("panicPolicy", {}),
        behavior.setdefault("scaleDown", {}),
    ]
    parts[1].setdefault("period", "0s")
    for part in parts:
        part.update({key: duration(part[key]) for key in _DURATIONS if key in part})
    spec["metrics"] = [{**each, "targetValue": str(each["targetValue"])} for each in spec["metrics"]]
    return spec


def optimizer_spec(model: str, spec: ModelBoosterSpec) -> Object:
    """Return the spec of the binding of a booster's policy; what is 0 is not sent (D-27).

    Raises:
        Unconvertible: the controllers crash: there is no costExpansionRatePercent (D-25).
    """
    rate = spec.cost_expansion_rate_percent
    if rate is None:
        raise Unconvertible("the controllers crash without costExpansionRatePercent (D-25)")
    params = [
        {
            "target": _target(model, each),
            **({"cost": each.scaling_cost} if each.scaling_cost else {}),
            "minReplicas": each.min_replicas,
            "maxReplicas": each.max_replicas,
        }
        for each in spec.backends
    ]
    optimizer = {"params": params, **({"costExpansionRatePercent": rate} if rate else {})}
    return {"policyRef": {"name": model}, "optimizerConfiguration": optimizer}


def scaling_spec(model: str, backend: ModelBackend) -> Object:
    """Return the spec of the binding of a backend's policy."""
    scaling = {
        "target": _target(model, backend),
        "minReplicas": backend.min_replicas,
        "maxReplicas": backend.max_replicas,
    }
    return {"policyRef": {"name": backend_name(model, backend.name)}, "scalingConfiguration": scaling}


def _target(model: str, backend: ModelBackend) -> Object:
    return {
        "targetRef": {"kind": "ModelServing", "name": backend_name(model, backend.name)},
        "additionalMatchLabels": {f"{SERVING_LABEL}/role": "leader"},
        "metricEndpoint": {},
    }

"""Policies and bindings as Kthena's controllers write them (Kthena spec 2.8)."""

import copy

from .....fleet.objects import Object
from ...names import SERVING_LABEL, backend_name
from ...types.model_booster import ModelBackend, ModelBoosterSpec
from .golang import format_duration
from .serving import ConversionError

_DURATIONS = ("period", "stabilizationWindow", "panicModeHold")


def policy_spec(stored: Object) -> Object:
    """Return the spec of a policy, from the one that is stored in the booster.

    Missing sections are sent empty, and so get the defaults of the CRD; the period of a panic policy is sent as 0.
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
        part.update({key: format_duration(part[key]) for key in _DURATIONS if key in part})
    spec["metrics"] = [{**metric, "targetValue": str(metric["targetValue"])} for metric in spec["metrics"]]
    return spec


def optimizer_spec(model: str, spec: ModelBoosterSpec) -> Object:
    """Return the spec of the binding of a booster's policy; zeros are omitted (D-27).

    Raises:
        ConversionError: the controllers crash without costExpansionRatePercent (D-25).
    """
    rate = spec.cost_expansion_rate_percent
    if rate is None:
        raise ConversionError("the controllers crash without costExpansionRatePercent (D-25)")
    params = [
        {
            "target": _target(model, backend),
            **({"cost": backend.scaling_cost} if backend.scaling_cost else {}),
            "minReplicas": backend.min_replicas,
            "maxReplicas": backend.max_replicas,
        }
        for backend in spec.all_backends
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
        # Even for prefill and decode, which have no such role.
        "additionalMatchLabels": {f"{SERVING_LABEL}/role": "leader"},
        # RUNTIME_PORT is not passed on: the CRD's default port applies (Kthena spec 2.8).
        "metricEndpoint": {},
    }

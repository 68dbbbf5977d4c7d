"""How fast an autoscaler may be, from what a policy says (Kthena spec 4.3, 4.4, 4.6).

Kthena and Kubernetes look every 15 seconds. ``instances`` and ``percent`` are two limits there and two policies here,
of which ``Or`` takes the looser and ``And`` the tighter one. Kubernetes has no limit of 0 and no period of 0.
"""

from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....fleet.objects import Object
from ....fleet.options import Options
from .effective import EffectivePolicy, Pace

_UP, _DOWN = "spec.behavior.scaleUp.stablePolicy", "spec.behavior.scaleDown"
_SECOND = 1000
_LONGEST_PERIOD, _LONGEST_WINDOW = 1800, 3600
"""In seconds, of an autoscaler (kubernetes/kubernetes v1.36.3, pkg/apis/autoscaling/validation/validation.go)."""
_USUAL_TOLERANCE = 10
"""In per cent, of the controller manager (--horizontal-pod-autoscaler-tolerance)."""


@dataclass(frozen=True, slots=True)
class _Direction:
    """One way to go.

    Attributes:
        path: The section of the policy that says how fast.
        unlimited: A policy of an autoscaler that never holds it back.
    """

    path: str
    unlimited: Object


def behavior_of(policy: EffectivePolicy, most: int, options: Options, findings: Findings) -> Object:
    """Return the ``behavior`` of an autoscaler.

    Args:
        policy: What the policy means.
        most: The most replicas that there may be.
        options: How to render.
        findings: Of the policy.
    """
    up = _Direction(_UP, {"type": "Pods", "value": most, "periodSeconds": 15})
    down = _Direction(_DOWN, {"type": "Percent", "value": 100, "periodSeconds": 15})
    tolerance = _tolerance(policy.tolerance, options, findings)
    if policy.panic is not None:
        findings.warn(
            "spec.behavior.scaleUp.panicPolicy",
            f"natively there is no panic mode: when {policy.panic.threshold} % of the replicas are wanted, "
            f"{_UP} limits growth all the same; raise its limits, or use realization 'operator'",
            RuleId.NATIVE_DIFFERS,
        )
    return {
        "scaleUp": {**_rules(policy.up, up, findings), **tolerance},
        "scaleDown": {**_rules(policy.down, down, findings), **tolerance},
    }


def _rules(pace: Pace, direction: _Direction, findings: Findings) -> Object:
    window = _seconds(pace.window, _LONGEST_WINDOW, f"{direction.path}.stabilizationWindow", findings)
    period = _seconds(pace.period, _LONGEST_PERIOD, f"{direction.path}.period", findings)
    policies = [
        {"type": kind, "value": value, "periodSeconds": period}
        for kind, value in (("Pods", pace.instances), ("Percent", pace.percent))
        if value
    ]
    select = "Max" if pace.fastest else "Min"
    if not period:
        policies = [direction.unlimited]
    elif not policies or (len(policies) < 2 and not pace.fastest):
        # The tighter one of two limits is 0, or both are.
        policies, select = [direction.unlimited], "Disabled"
    return {"stabilizationWindowSeconds": window, "selectPolicy": select, "policies": policies}


def _seconds(milliseconds: int, most: int, path: str, findings: Findings) -> int:
    """Return whole seconds, as autoscalers count."""
    seconds, rest = divmod(milliseconds, _SECOND)
    if rest or not 0 <= seconds <= most:
        findings.error(
            path,
            f"must be whole seconds from 0 to {most} natively, found {milliseconds} ms; round it, or use realization "
            "'operator'",
            RuleId.NATIVE_UNSUPPORTED,
        )
    return seconds


def _tolerance(percent: int, options: Options, findings: Findings) -> Object:
    if percent == _USUAL_TOLERANCE:
        return {}
    if not options.tolerates_changes:
        findings.warn(
            "spec.tolerancePercent",
            f"has no effect on an autoscaler of Kubernetes before 1.35, or of a version that is not known: changes "
            f"below {_USUAL_TOLERANCE} % are ignored, found {percent}",
            RuleId.FIELD_NO_EFFECT,
        )
        return {}
    whole, hundredths = divmod(percent, 100)
    return {"tolerance": f"{hundredths * 10}m" if hundredths else str(whole)}

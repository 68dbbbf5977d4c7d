"""A binding with what it refers to."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....fleet.origins import Origin
from ..made import behind
from ..types import AutoscalingPolicy, AutoscalingPolicyBinding
from .targets import AimedServing

_BOUNDS = ("minReplicas", "maxReplicas")
_METRIC = re.compile(r"metrics(\[\d+\])")


@dataclass(frozen=True, slots=True)
class PolicyBinding:
    """A binding, its policy and its targets.

    Attributes:
        targets: All of them, in their order.
        findings: Of the binding.
        policy_findings: Of the policy, which has them at its own fields.
    """

    source: LoadedResource
    binding: AutoscalingPolicyBinding
    namespace: str
    policy: AutoscalingPolicy
    targets: tuple[AimedServing, ...]
    findings: Findings
    policy_findings: Findings


def blame_of(bound: PolicyBinding, target: AimedServing) -> Callable[[str], Origin]:
    """Return what finds the field behind a field of a target's autoscaler: of the binding, or of its policy."""
    source, policy, aim = behind(bound.source), behind(bound.policy_findings.source), target.aim

    def blame(path: str) -> Origin:
        metric = _METRIC.match(path)
        if metric:
            field = "targetValue" if ".target" in path else "metricName"
            return Origin(policy, f"spec.metrics{metric[1]}.{field}")
        if path.startswith("behavior"):
            return Origin(policy, "spec.behavior")
        return Origin(source, f"{aim.path}.{path}" if path in _BOUNDS else aim.name_path)

    return blame

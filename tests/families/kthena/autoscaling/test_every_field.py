"""No field of a policy or a binding is dropped: another value changes what is made, or is refused or warned of."""

import copy
import csv
from pathlib import Path
from typing import Any

import pytest

from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from tests.families.kthena.autoscaling.bindings import binding, bounded, metric, policy, serving
from tests.fleets import fleet_of

Object = dict[str, Any]
CONTRACT = Path(__file__).parents[1] / "data/contract.csv"
STABLE: Object = {
    "instances": 2,
    "percent": 50,
    "period": "30s",
    "selectPolicy": "Or",
    "stabilizationWindow": "10s",
}
PANIC: Object = {"percent": 500, "period": "10s", "panicThresholdPercent": 150, "panicModeHold": "30s"}
POLICY = policy(
    metric(),
    tolerancePercent=20,
    behavior={"scaleUp": {"stablePolicy": STABLE, "panicPolicy": PANIC}, "scaleDown": STABLE},
)
TARGET: Object = {
    "metricEndpoint": {"uri": "/metrics", "port": 8000},
    "additionalMatchLabels": {"modelserving.volcano.sh/role": "leader"},
}
ONE = binding(minimum=1, maximum=4, **TARGET)
SEVERAL = binding(bounded(cost=30, **TARGET), costExpansionRatePercent=150)

STABLE_VALUES: Object = {
    "instances": 3,
    "percent": 51,
    "period": "31s",
    "selectPolicy": "And",
    "stabilizationWindow": "16s",
}
PANIC_VALUES: Object = {"percent": 501, "period": "11s", "panicThresholdPercent": 151, "panicModeHold": "31s"}
TARGET_VALUES: Object = {
    "targetRef.name": "other",
    "targetRef.namespace": "elsewhere",
    "targetRef.apiVersion": "apps/v1",
    "targetRef.uid": "1",
    "targetRef.resourceVersion": "1",
    "targetRef.fieldPath": "spec",
    "additionalMatchLabels": {"own": "label"},
    "metricEndpoint.uri": "/other",
    "metricEndpoint.port": 9000,
}
OF_POLICY: Object = {
    "spec.tolerancePercent": 30,
    "spec.metrics.0.metricName": "vllm:num_requests_running",
    "spec.metrics.0.targetValue": "6",
    **{f"spec.behavior.scaleDown.{key}": value for key, value in STABLE_VALUES.items()},
    **{f"spec.behavior.scaleUp.stablePolicy.{key}": value for key, value in STABLE_VALUES.items()},
    **{f"spec.behavior.scaleUp.panicPolicy.{key}": value for key, value in PANIC_VALUES.items()},
}
OF_ONE: Object = {
    "spec.policyRef.name": "other",
    "spec.scalingConfiguration.minReplicas": 2,
    "spec.scalingConfiguration.maxReplicas": 5,
    **{f"spec.scalingConfiguration.target.{key}": value for key, value in TARGET_VALUES.items()},
}
OF_SEVERAL: Object = {
    "spec.optimizerConfiguration.costExpansionRatePercent": 151,
    "spec.optimizerConfiguration.params.0.cost": 31,
    "spec.optimizerConfiguration.params.0.minReplicas": 2,
    "spec.optimizerConfiguration.params.0.maxReplicas": 5,
    **{f"spec.optimizerConfiguration.params.0.target.{key}": value for key, value in TARGET_VALUES.items()},
}
WALK = [
    *(("policy", path, value) for path, value in OF_POLICY.items()),
    *(("one", path, value) for path, value in OF_ONE.items()),
    *(("several", path, value) for path, value in OF_SEVERAL.items()),
]


def changed(document: Object, path: str, value: Any) -> Object:
    found = copy.deepcopy(document)
    *steps, last = path.split(".")
    place: Any = found
    for step in steps:
        place = place[int(step)] if step.isdecimal() else place.setdefault(step, {})
    place[last] = value
    return found


def fleet(policy: Object, bound: Object, realization: Realization) -> Fleet:
    documents = [copy.deepcopy(each) for each in (serving(), policy, bound)]
    for document in documents:
        document["metadata"]["namespace"] = "kthena-system"
    return fleet_of(*documents, realization=realization, tolerates_devices=True, tolerates_changes=True)


def warned(found: Fleet, path: str) -> bool:
    """Whether something is said of the field, or of what it stands in."""
    dotted = path.replace(".0.", "[0].")
    return any(dotted.startswith(problem.path) for problem in found.problems if problem.path.startswith("spec."))


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize(("which", "path", "value"), WALK, ids=[f"{which} {path}" for which, path, _ in WALK])
def test_another_value_is_not_dropped(which: str, path: str, value: Any, realization: Realization) -> None:
    bound = SEVERAL if which == "several" else ONE
    before = fleet(POLICY, bound, realization)
    after = (
        fleet(changed(POLICY, path, value), bound, realization)
        if which == "policy"
        else fleet(POLICY, changed(bound, path, value), realization)
    )
    assert list(before.objects) != list(after.objects) or warned(after, path)


def test_the_walk_has_every_field_of_the_contract() -> None:
    """Rows that hold others, status and metadata apart."""
    kinds = {
        "AutoscalingPolicySpec", "AutoscalingPolicyMetric", "AutoscalingPolicyStablePolicy",
        "AutoscalingPolicyPanicPolicy", "AutoscalingPolicyBindingSpec", "MetricEndpoint", "ScalingConfiguration",
        "OptimizerConfiguration", "OptimizerParam", "Target", "ScalingTarget",
    }  # fmt: skip
    lines = (line for line in CONTRACT.read_text().splitlines() if not line.startswith("#"))
    rows = {row["field"] for row in csv.DictReader(lines) if row["type"] in kinds}
    walked = {step for _, path, _ in WALK for step in path.split(".")}
    assert rows
    assert rows - walked == set()

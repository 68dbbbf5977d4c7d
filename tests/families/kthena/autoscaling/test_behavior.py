"""How fast an autoscaler may be (Kthena spec 4.4, 4.6; defaults of absent sections: 1.4, M2)."""

from typing import Any

import pytest

from tests.families.kthena.autoscaling.bindings import binding, of_behavior, policy, said, scaler, serving
from tests.fleets import fleet_of

Object = dict[str, Any]


def rules(window: int, select: str, *policies: tuple[str, int, int]) -> Object:
    return {
        "stabilizationWindowSeconds": window,
        "selectPolicy": select,
        "policies": [{"type": kind, "value": value, "periodSeconds": period} for kind, value, period in policies],
    }


def both(**stable: Any) -> Object:
    return {"scaleUp": {"stablePolicy": stable}, "scaleDown": stable}


def test_sections_that_are_absent() -> None:
    assert of_behavior() == {
        "scaleUp": rules(0, "Max", ("Pods", 4, 60), ("Percent", 100, 60)),
        "scaleDown": rules(300, "Max", ("Percent", 100, 60)),
    }


def test_fields_that_are_absent() -> None:
    """Defaults of the contract (1.3): one replica or as many again, each 15 seconds, no window."""
    expected = rules(0, "Max", ("Pods", 1, 15), ("Percent", 100, 15))
    assert of_behavior(both()) == {"scaleUp": expected, "scaleDown": expected}


@pytest.mark.parametrize(
    ("stable", "expected"),
    [
        ({"instances": 3, "percent": 50}, rules(0, "Max", ("Pods", 3, 15), ("Percent", 50, 15))),
        (
            {"instances": 3, "percent": 50, "selectPolicy": "And"},
            rules(0, "Min", ("Pods", 3, 15), ("Percent", 50, 15)),
        ),
        ({"period": "1m30s", "instances": 2}, rules(0, "Max", ("Pods", 2, 90), ("Percent", 100, 90))),
        ({"period": "30m"}, rules(0, "Max", ("Pods", 1, 1800), ("Percent", 100, 1800))),
        ({"stabilizationWindow": "30m"}, rules(1800, "Max", ("Pods", 1, 15), ("Percent", 100, 15))),
        ({"stabilizationWindow": "0s"}, rules(0, "Max", ("Pods", 1, 15), ("Percent", 100, 15))),
        ({"percent": 1000}, rules(0, "Max", ("Pods", 1, 15), ("Percent", 1000, 15))),
        # A limit of 0 is none where the looser one counts, and forbids all where the tighter one does.
        ({"instances": 0, "percent": 50}, rules(0, "Max", ("Percent", 50, 15))),
        ({"instances": 2, "percent": 0}, rules(0, "Max", ("Pods", 2, 15))),
    ],
)
def test_a_limit(stable: Object, expected: Object) -> None:
    assert of_behavior(both(**stable)) == {"scaleUp": expected, "scaleDown": expected}


@pytest.mark.parametrize(
    "stable",
    [
        {"instances": 0, "percent": 0},
        {"instances": 0, "percent": 50, "selectPolicy": "And"},
        {"instances": 2, "percent": 0, "selectPolicy": "And"},
        {"instances": 0, "percent": 0, "selectPolicy": "And"},
    ],
)
def test_limits_of_nothing(stable: Object) -> None:
    found = of_behavior(both(**stable))
    assert [found[way]["selectPolicy"] for way in ("scaleUp", "scaleDown")] == ["Disabled", "Disabled"]
    # The API server wants a policy all the same, above 0.
    assert all(rule["value"] > 0 for way in found.values() for rule in way["policies"])


def test_a_period_of_0_is_no_limit() -> None:
    """Kthena's window of no length has no value to start from: nothing limits the change."""
    found = of_behavior(both(period="0s", percent=1), maximum=70)
    assert found == {
        "scaleUp": rules(0, "Max", ("Pods", 70, 15)),
        "scaleDown": rules(0, "Max", ("Percent", 100, 15)),
    }


@pytest.mark.parametrize("field", ["period", "stabilizationWindow"])
@pytest.mark.parametrize("value", ["500ms", "1.5s", "1m0.25s"])
def test_parts_of_a_second(field: str, value: str) -> None:
    fleet = fleet_of(serving(), policy(behavior={"scaleDown": {field: value}}), binding())
    (problem,) = fleet.problems
    assert said((problem,)) == [("error", "AutoscalingPolicy", f"spec.behavior.scaleDown.{field}")]
    assert "must be whole seconds" in problem.reason
    assert problem.line == fleet.problems[0].line > 0


@pytest.mark.parametrize(
    ("percent", "tolerance"), [(0, "0"), (1, "10m"), (5, "50m"), (12, "120m"), (50, "500m"), (100, "1")]
)
def test_a_tolerance_where_kubernetes_knows_it(percent: int, tolerance: str) -> None:
    found = of_behavior(tolerancePercent=percent, tolerates_changes=True)
    assert (found["scaleUp"]["tolerance"], found["scaleDown"]["tolerance"]) == (tolerance, tolerance)


def test_a_tolerance_where_it_does_not() -> None:
    fleet = fleet_of(serving(), policy(tolerancePercent=5), binding())
    assert said(fleet.problems) == [("warning", "AutoscalingPolicy", "spec.tolerancePercent")]
    assert "below 10 %" in fleet.problems[0].reason


@pytest.mark.parametrize("tolerant", [True, False])
def test_the_usual_tolerance_is_the_controllers(tolerant: bool) -> None:
    """--horizontal-pod-autoscaler-tolerance is 0.1."""
    found = scaler(serving(), policy(tolerancePercent=10), binding(), tolerates_changes=tolerant)
    assert "tolerance" not in str(found)
    assert not fleet_of(serving(), policy(tolerancePercent=10), binding()).problems


@pytest.mark.parametrize(
    ("panic", "lost"),
    [({"period": "0s"}, True), ({"period": "15s", "panicModeHold": "0s"}, False)],
    ids=["panic", "switched off"],
)
def test_panic_is_lost_and_that_is_said(panic: Object, lost: bool) -> None:
    behavior = {"scaleUp": {"panicPolicy": panic}}
    fleet = fleet_of(serving(), policy(behavior=behavior), binding())
    expected = [("warning", "AutoscalingPolicy", "spec.behavior.scaleUp.panicPolicy")] if lost else []
    assert said(fleet.problems) == expected
    assert of_behavior(behavior) == of_behavior()

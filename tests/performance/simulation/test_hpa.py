"""HorizontalPodAutoscalers: what Kubernetes documents of them, and the tests of its own controller (v1.36.3)."""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.performance.simulation.hpa.controller import HpaController, simulate_hpas
from components.performance.simulation.hpa.spec import HpaError, read_spec
from components.performance.simulation.trace import Moment, TargetReading
from tests.tries import tries

POD_METRIC = {"type": "Pods", "pods": {"metric": {"name": "q"}, "target": {"averageValue": "10"}}}


def external(**target: str) -> dict[str, Any]:
    return {"type": "External", "external": {"metric": {"name": "q"}, "target": target}}


def spec(
    *,
    minimum: int = 1,
    maximum: int = 1000,
    metrics: tuple[Mapping[str, Any], ...] = (POD_METRIC,),
    behavior: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    found = {"minReplicas": minimum, "maxReplicas": maximum, "metrics": list(metrics)}
    return found if behavior is None else {**found, "behavior": behavior}


def simulated(
    hpa: Mapping[str, Any], start: int, values: Sequence[object], *, step: int = 15, **pods: int
) -> list[int]:
    moments = [
        Moment(number * step * 1000, {"a": TargetReading({} if v is None else {"q": Fraction(str(v))}, **pods)})
        for number, v in enumerate(values)
    ]
    run = simulate_hpas({"a": read_spec(hpa, {})}, moments, {"a": start}, "HPA")
    return [each.total for each in run.passes]


def rules(*policies: tuple[str, int, int], window: int = 0, select: str = "Max") -> dict[str, Any]:
    return {
        "stabilizationWindowSeconds": window,
        "selectPolicy": select,
        "policies": [{"type": kind, "value": value, "periodSeconds": period} for kind, value, period in policies],
    }


class TestProposals:
    """desired = ceil(current * value / target), unless that is within the tolerance (Kubernetes documentation)."""

    @pytest.mark.parametrize(
        ("total", "expected"),
        [(100, 5), (101, 6), (50, 5), (54, 5), (55, 5), (56, 6), (45, 5), (44, 5), (200, 10)],
    )
    def test_tolerance_of_a_tenth(self, total: int, expected: int) -> None:
        """Five pods with a target of 10: from 45 to 55 nothing moves; scaling down waits for its window."""
        if total in (100, 101):
            assert simulated(spec(maximum=expected), 5, [total]) == [expected]
        else:
            assert simulated(spec(), 5, [total]) == [expected]

    @pytest.mark.parametrize(("total", "expected"), [("1000", 100), ("120", 12), ("80", 8), ("109", 10)])
    def test_average_value_of_an_external_metric(self, total: str, expected: int) -> None:
        quick = {"scaleDown": rules(("Percent", 100, 15)), "scaleUp": rules(("Percent", 1000, 15))}
        assert simulated(spec(metrics=(external(averageValue="10"),), behavior=quick), 10, [total]) == [expected]

    def test_value_of_an_external_metric_is_a_ratio(self) -> None:
        assert simulated(spec(metrics=(external(value="10"),)), 2, [20]) == [4]

    @pytest.mark.parametrize(
        ("total", "replicas", "ready", "silent", "expected"),
        [
            # Idle when scaling up: 60 of 3 pods are 20 each, twice the target.
            (60, 3, 2, 1, 6),
            # 24 of 2 pods call for more, and of 3 pods for fewer: no change.
            (24, 3, 2, 1, 3),
            # At the target when scaling down: 10 and 10 of 3 pods are 6.67 each; without the third pod it would be 1.
            (10, 3, 2, 1, 2),
            (10, 2, 2, 0, 1),
            # 27 and 10 of 4 pods are within the tolerance.
            (27, 4, 3, 1, 4),
        ],
    )
    def test_running_pods_without_metrics(
        self, total: int, replicas: int, ready: int, silent: int, expected: int
    ) -> None:
        """As ``calcPlainMetricReplicas`` counts missing pods (replica_calculator.go, v1.36.3)."""
        at_once = {"scaleDown": rules(("Pods", 10, 15))}
        assert simulated(spec(behavior=at_once), replicas, [total], ready=ready, silent=silent) == [expected]

    def test_starting_pods_count_as_idle(self) -> None:
        """Two ready pods at 3 times their target, one Pending: 60 / 3 is the double, and asks for 6."""
        assert simulated(spec(behavior={}), 3, [60], starting=1) == [6]
        assert simulated(spec(), 3, [36], starting=1) == [4]
        assert simulated(spec(), 3, [32], starting=1) == [3]

    def test_failed_pods_do_not_count(self) -> None:
        assert simulated(spec(), 3, [22], failed=1) == [3]
        assert simulated(spec(), 3, [40], failed=1) == [4]

    def test_without_metrics_nothing_happens(self) -> None:
        assert simulated(spec(), 3, [None, None]) == [3, 3]

    def test_a_missing_metric_forbids_only_scaling_down(self) -> None:
        other = {"type": "Pods", "pods": {"metric": {"name": "x"}, "target": {"averageValue": "10"}}}
        quick = {"scaleDown": rules(("Percent", 100, 15))}
        assert simulated(spec(metrics=(POD_METRIC, other), behavior=quick), 3, [10]) == [3]
        assert simulated(spec(metrics=(POD_METRIC, other), behavior=quick), 3, [60]) == [6]

    def test_zero_replicas_are_left_alone(self) -> None:
        assert simulated(spec(), 0, [100]) == [0]

    def test_bounds_are_reached_at_once(self) -> None:
        still = {"scaleUp": {"selectPolicy": "Disabled"}, "scaleDown": {"selectPolicy": "Disabled"}}
        assert simulated(spec(minimum=5, maximum=7, behavior=still), 2, [None]) == [5]
        assert simulated(spec(minimum=5, maximum=7, behavior=still), 20, [None]) == [7]


class TestBehavior:
    def test_scale_up_as_fast_as_possible(self) -> None:
        """KEP-853, story 1: 900 percent a minute is 1, 10, 100, 1000."""
        hpa = spec(behavior={"scaleUp": rules(("Percent", 900, 60))})
        assert simulated(hpa, 1, [10_000] * 3, step=61) == [10, 100, 1000]

    def test_scale_up_gradually(self) -> None:
        """KEP-853: one pod in 10 minutes."""
        hpa = spec(behavior={"scaleUp": rules(("Pods", 1, 600))})
        assert simulated(hpa, 1, [10_000] * 4, step=601) == [2, 3, 4, 5]

    def test_scale_down_by_the_larger_of_two_policies(self) -> None:
        """Documentation: 4 pods or 10 percent a minute: of 80 go 8, of 72 again 8 (7.2), of 40 or fewer 4."""
        hpa = spec(behavior={"scaleDown": rules(("Pods", 4, 60), ("Percent", 10, 60))})
        series = simulated(hpa, 80, [10] * 12, step=61)
        assert series[:3] == [72, 64, 57]
        assert [before - after for before, after in itertools.pairwise(series) if before <= 40] != []
        assert {before - after for before, after in itertools.pairwise(series) if before <= 40} == {4}

    def test_the_smaller_change_is_chosen_with_min(self) -> None:
        hpa = spec(behavior={"scaleDown": rules(("Pods", 4, 60), ("Percent", 10, 60), select="Min")})
        assert simulated(hpa, 80, [10], step=61) == [76]

    def test_disabled(self) -> None:
        hpa = spec(behavior={"scaleDown": {"selectPolicy": "Disabled"}})
        assert simulated(hpa, 80, [10] * 50) == [80] * 50

    def test_a_period_counts_what_changed_in_it(self) -> None:
        hpa = spec(behavior={"scaleUp": rules(("Pods", 2, 60))})
        assert simulated(hpa, 1, [10_000] * 6) == [3, 3, 3, 3, 5, 5]

    def test_default_scale_up_is_four_pods_or_the_double_in_15_seconds(self) -> None:
        assert simulated(spec(behavior={}), 1, [10_000] * 3) == [5, 10, 20]

    def test_without_behavior_it_is_the_double_or_four(self) -> None:
        assert simulated(spec(), 1, [10_000] * 3) == [4, 8, 16]

    def test_percent_is_rounded_up_as_float64(self) -> None:
        """100 * (1 + 10 / 100) is a little more than 110."""
        assert simulated(spec(behavior={"scaleUp": rules(("Percent", 10, 60))}), 100, [10_000]) == [111]

    def test_scale_down_window_is_five_minutes_by_default(self) -> None:
        behaviors: tuple[dict[str, Any] | None, ...] = (None, {})
        for behavior in behaviors:
            series = simulated(spec(behavior=behavior), 1, [40] + [10] * 24)
            assert series[0] == 4
            assert series.index(1) in (20, 21)

    def test_scale_up_window(self) -> None:
        hpa = spec(behavior={"scaleUp": rules(("Percent", 1000, 15), window=60)})
        assert simulated(hpa, 1, [50] * 6) == [1, 1, 1, 1, 5, 5]

    def test_tolerances(self) -> None:
        behavior: dict[str, Any] = {
            "scaleUp": {"tolerance": "0"},
            "scaleDown": {"tolerance": "500m", "stabilizationWindowSeconds": 0},
        }
        assert simulated(spec(behavior=behavior), 10, [101]) == [11]
        assert simulated(spec(behavior=behavior), 10, [50]) == [10]
        assert simulated(spec(behavior=behavior), 10, [49]) == [5]


@pytest.mark.parametrize("kind", ["Resource", "ContainerResource", "Nonsense"])
def test_what_a_trace_does_not_say_is_refused(kind: str) -> None:
    with pytest.raises(HpaError, match=f"type {kind} cannot be simulated: .*; scale on a metric of type"):
        read_spec(spec(metrics=({"type": kind},)), {})


def test_without_metrics_it_would_scale_on_cpu() -> None:
    with pytest.raises(HpaError, match="type Resource"):
        read_spec({"maxReplicas": 2}, {})


def test_without_a_ready_pod_nothing_is_proposed() -> None:
    """No pod has a value to read, whatever the trace says (calcPlainMetricReplicas: no metrics returned)."""
    assert simulated(spec(), 4, [900, 900], ready=0, starting=4) == [4, 4]


def test_metrics_have_the_names_of_the_trace() -> None:
    read = read_spec(spec(), {"q": "kind:queue"})
    step = HpaController(read).step(0, 2, TargetReading({"kind:queue": Fraction(40)}))
    assert (step.replicas, step.proposed) == (4, 4)


Rules = dict[str, Any]
POLICIES = st.lists(
    st.tuples(st.sampled_from(["Pods", "Percent"]), st.integers(1, 200), st.sampled_from([15, 30, 60, 300])),
    min_size=1,
    max_size=3,
)
RULES = st.builds(
    lambda policies, window, select: rules(*policies, window=window, select=select),
    POLICIES,
    st.sampled_from([0, 15, 60, 300]),
    st.sampled_from(["Max", "Min", "Disabled"]),
)


@given(RULES, RULES, st.integers(1, 30), st.integers(0, 30), st.lists(st.integers(0, 900), max_size=30))
@settings(max_examples=tries(500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bounds_and_direction(
    up: dict[str, Any], down: dict[str, Any], minimum: int, more: int, totals: list[int]
) -> None:
    hpa = spec(minimum=minimum, maximum=minimum + more, behavior={"scaleUp": up, "scaleDown": down})
    series = [minimum, *simulated(hpa, minimum, list(totals))]
    for before, after in itertools.pairwise(series):
        assert minimum <= after <= minimum + more
        assert after <= before or up["selectPolicy"] != "Disabled"
        assert after >= before or down["selectPolicy"] != "Disabled"

"""What a fleet says of a scenario: its autoscalers and prices."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from components.contract.load import LoadedResource
from components.families import objects
from components.fleet.autoscalers import Autoscaler
from components.fleet.origins import Origin
from components.fleet.rendered import Fleet, Rendered
from components.performance.simulation.hpa.spec import HpaError
from components.performance.simulation.rendered import hpas_of, prices_of
from components.performance.simulation.scenario import Scenario, SimulatedTarget
from components.plan.rendering import render_fleet
from tests.fleets import open_model, playground

MANIFESTS = [
    open_model(
        "m", flavors=[{"name": "a10", "limits": {"nvidia.com/gpu": "1"}, "params": {"INSTANCE-TYPE": "g5.xlarge"}}]
    ),
    playground("chat", "m"),
]
RESOURCES = objects(MANIFESTS).resources
SOURCE: LoadedResource = RESOURCES[0]


def scenario(*targets: str, metrics: tuple[str, ...] = ("queue",)) -> Scenario:
    return Scenario(
        scaler="x",
        sources=(SOURCE, SOURCE),
        namespace="default",
        targets=tuple(SimulatedTarget(name, 1, 9) for name in targets),
        metrics={metric: Fraction(1) for metric in metrics},
        read=lambda *_: (),
        run=lambda *_: pytest.fail("not here"),
    )


def autoscaler(name: str, *metrics: str, namespace: str = "default") -> Autoscaler:
    listed: list[dict[str, Any]] = [
        {"type": "Pods", "pods": {"metric": {"name": metric}, "target": {"averageValue": "5"}}} for metric in metrics
    ]
    hpa = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"kind": "LeaderWorkerSet", "name": name},
            "maxReplicas": 7,
            "metrics": listed,
        },
    }
    return Autoscaler(hpa, lambda path: Origin(SOURCE, path))


def fleet(*scalers: Autoscaler) -> Fleet:
    return Fleet((Rendered(SOURCE, "Kind", "x", "default", autoscalers=scalers),), ())


def test_the_autoscaler_of_each_target() -> None:
    others = autoscaler("a", "queue", namespace="elsewhere"), autoscaler("c", "queue")
    found = hpas_of(fleet(autoscaler("a", "queue"), autoscaler("b", "queue"), *others), scenario("a", "b"))
    assert [*found] == ["a", "b"]
    assert (found["a"].maximum, found["a"].metrics[0].name) == (7, "queue")


def test_metrics_that_are_called_otherwise_stand_in_the_order_of_the_policy() -> None:
    made = fleet(autoscaler("a", "engine_queue", "engine_cache"))
    found = hpas_of(made, scenario("a", metrics=("queue", "cache")))
    assert [metric.name for metric in found["a"].metrics] == ["queue", "cache"]


def test_another_number_of_metrics_is_refused() -> None:
    with pytest.raises(HpaError, match=r"a has 2 metrics and .* 1 \(only there: other\)"):
        hpas_of(fleet(autoscaler("a", "queue", "other")), scenario("a"))


def test_no_autoscaler() -> None:
    with pytest.raises(HpaError, match="no HorizontalPodAutoscaler is rendered for 'b', target of"):
        hpas_of(fleet(autoscaler("a", "queue")), scenario("b"))


def test_prices_of_workloads() -> None:
    """One A10G of a g5.xlarge, which has one."""
    made = render_fleet(RESOURCES)
    assert prices_of(made, scenario("chat", "nosuch")) == {"chat": Decimal("1.006")}
    assert prices_of(made, replace(scenario("chat"), namespace="elsewhere")) == {}

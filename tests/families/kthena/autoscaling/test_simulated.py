"""What is simulated of a binding is what it becomes: costs by the prices of nodes, and the rendered autoscaler."""

from fractions import Fraction
from typing import Any

import pytest
import yaml

from components.families import parse
from components.families.kthena.simulation.scenario import scenario
from components.performance.simulation.hpa.controller import simulate_hpas
from components.performance.simulation.rendered import hpas_of
from components.performance.simulation.scenario import AutoscalerQuery, Scenario
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.autoscaling.bindings import GPU, PORT, QUEUE, binding, bounded, policy, rendered, serving
from tests.families.kthena.serving.support import engine, pods, role

Object = dict[str, Any]
FAST = {"scaleUp": {"stablePolicy": {"instances": 100}}, "scaleDown": {"instances": 100}}


def on(instance_type: str) -> Object:
    selector = {"node.kubernetes.io/instance-type": instance_type}
    return role(entryTemplate=pods(engine(ports=[PORT], resources=GPU), nodeSelector=selector))


SERVINGS = serving("dear", on("g5.2xlarge")), serving("cheap", on("g5.xlarge"))


def scenario_of(*documents: Object, name: str = "scaling") -> Scenario:
    manifests = parse(yaml.safe_dump_all(documents, sort_keys=False), "fleet.yaml")
    assert not manifests.problems
    return scenario(manifests.resources, AutoscalerQuery(name, "", "ns"))


def load(*waiting: int, targets: tuple[str, ...] = ("dear", "cheap")) -> list[Moment]:
    """As many requests that wait, at each look, for all targets together."""
    return [
        Moment(15_000 * i, {name: TargetReading({QUEUE: Fraction(total, len(targets))}) for name in targets})
        for i, total in enumerate(waiting)
    ]


@pytest.mark.parametrize(
    ("dear", "cheap", "expected"),
    [
        # 121 and 101 cents.
        (None, None, {"dear": 1, "cheap": 3}),
        (0, 0, {"dear": 3, "cheap": 1}),
        (100, None, {"dear": 3, "cheap": 1}),
        (None, 122, {"dear": 3, "cheap": 1}),
    ],
)
def test_replicas_go_where_they_are_cheap(dear: int | None, cheap: int | None, expected: dict[str, int]) -> None:
    """Two at least, and two more for 20 requests at five each; equal costs go by the order (4.5)."""
    params = bounded("dear", maximum=5, cost=dear), bounded("cheap", maximum=5, cost=cheap)
    shared = binding(*params, costExpansionRatePercent=100)
    found = scenario_of(*SERVINGS, policy(behavior=FAST), shared)
    run = found.run(load(10, 20, 20), {"dear": 1, "cheap": 1}, ())
    assert dict(run.passes[-1].replicas) == expected


def test_the_autoscaler_beside_it_is_the_rendered_one() -> None:
    """35 / 5 = 7 are wanted: four more or twice as many a minute, and fewer after five minutes alone (1.4, M2)."""
    documents = serving(), policy(), binding(maximum=9)
    specs = hpas_of(rendered(*documents), scenario_of(*documents))
    totals = [35, 35, 35, 35, 35, 5]
    run = simulate_hpas(specs, load(*totals, targets=("chat",)), {"chat": 1}, "HPA")
    assert [each.total for each in run.passes] == [5, 5, 5, 5, 7, 7]

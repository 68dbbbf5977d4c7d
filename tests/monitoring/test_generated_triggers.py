"""The queries of generated ScaledObjects against a real Prometheus: they want what the autoscalers would want.

KEDA takes a query with one element, and divides it by the threshold (lws-hpa spec 2.5).
"""

from typing import Any

import pytest

from components.checks.metrics.words import Adapter
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.simulated.mixed import HERE, THERE, mixed_fleet
from tests.monitoring.simulated.watched import Watched, replicas

Json = dict[str, Any]


@pytest.fixture(scope="module")
def triggers() -> dict[tuple[str, str], list[Json]]:
    """What each ScaledObject asks, by namespace and name."""
    objects = mixed_fleet(Adapter.KEDA).chain.scaled_objects
    return {
        (body["metadata"]["namespace"], body["metadata"]["name"]): [
            trigger["metadata"] for trigger in body["spec"]["triggers"]
        ]
        for body in objects
    }


@pytest.mark.parametrize(
    ("namespace", "name", "position", "value", "wanted"),
    [
        (HERE, "vllm", 0, 19, 4),
        (HERE, "vllm", 1, 19, 4),
        (HERE, "sglang", 0, 7.5, 2),
        (HERE, "sglang", 1, 7.5, 2),
        (HERE, "tgi", 0, 10, 2),
        (HERE, "llamacpp", 0, 6, 2),
        (HERE, "llamacpp", 1, 6, 2),
        # A namesake in another namespace is another workload.
        (THERE, "vllm", 0, 219, 44),
        # 0.7 and 0.4 at 0.8 per pod.
        (HERE, "levels", 0, 1.1, 2),
        (HERE, "recommended", 0, 7, 2),
        (HERE, "outside", 0, 19, 4),
        (HERE, "outside", 1, 3, 3),
        # Two and four: a series that was left behind is no wish, and sums would be six.
        (HERE, "moved", 0, 4, 4),
    ],
)
def test_a_trigger_is_one_value(
    mixed: Watched,
    triggers: dict[tuple[str, str], list[Json]],
    namespace: str,
    name: str,
    position: int,
    value: float,
    wanted: int,
) -> None:
    trigger = triggers[namespace, name][position]
    found = mixed.prometheus.value(trigger["query"])
    assert found is not None
    assert found == pytest.approx(value)
    assert replicas([found], float(trigger["threshold"])) == wanted


def test_a_counter_is_used_as_a_rate(promtool: Promtool, triggers: dict[tuple[str, str], list[Json]]) -> None:
    """In 15 s, 12000 and 9000 tokens: 1400 a second, of which a pod is to have 1000."""
    labels = f'namespace="{HERE}",workload="levels"'
    series = [
        {
            "series": f'vllm:generation_tokens_total{{{labels},pod="{pod}",engine="{engine}"}}',
            "values": f"0+{pace}x40",
        }
        for pod, engine, pace in (("levels-0", "0", 9000), ("levels-0", "1", 3000), ("levels-1", "0", 9000))
    ]
    trigger = triggers[HERE, "levels"][1]
    asked = {"expr": trigger["query"], "eval_time": "8m", "exp_samples": [{"labels": "{}", "value": 1400}]}
    test = {"interval": "15s", "input_series": series, "promql_expr_test": [asked]}
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": [test]})
    assert replicas([1400], float(trigger["threshold"])) == 2

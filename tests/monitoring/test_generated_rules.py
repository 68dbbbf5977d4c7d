"""The adapter rules that the project makes of a mixed fleet, as queries to a real Prometheus that scrapes it.

Values per pod are what the exporter was told; the replicas are worked out by hand from them.
"""

import pytest

from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.programs.rules import promql
from tests.monitoring.simulated.mixed import HERE, LOADS, QUEUES, THERE, mixed_fleet
from tests.monitoring.simulated.watched import Watched, replicas

WANTED = {"vllm": 4, "sglang": 2, "tgi": 2, "llamacpp": 2}
"""Replicas at five per pod: 19, 7.5, 10 and 6 in all."""


def two(name: str) -> tuple[str, str]:
    return f"{name}-0", f"{name}-1"


@pytest.mark.parametrize(
    ("engine", "metric"), [(engine, metric) for engine, metrics in QUEUES.items() for metric in metrics]
)
def test_the_queue_of_each_engine_in_each_spelling(mixed: Watched, engine: str, metric: str) -> None:
    found = mixed.per_pod(metric, HERE, *two(engine))
    assert found == dict(zip(two(engine), LOADS[engine], strict=True))
    assert replicas(found.values(), 5) == WANTED[engine]


def test_pods_of_the_same_name_elsewhere_are_others(mixed: Watched) -> None:
    assert mixed.per_pod("vllm_num_requests_waiting", THERE, *two("vllm")) == {"vllm-0": 112, "vllm-1": 107}


def test_a_trigger_that_a_runtime_recommends(mixed: Watched) -> None:
    """Seven in flight at four per pod."""
    found = mixed.per_pod("vllm_num_requests_running", HERE, *two("recommended"))
    assert found == {"recommended-0": 5, "recommended-1": 2}
    assert replicas(found.values(), 4) == 2


def test_pods_by_hand_are_under_the_same_rules(mixed: Watched) -> None:
    """Whoever writes an autoscaler for a Service finds its metrics by the names of the engine."""
    found = mixed.per_pod("vllm:num_requests_waiting", HERE, *two("by-hand"))
    assert found == {"by-hand-0": 50, "by-hand-1": 60}


def test_a_share_is_the_mean_of_a_pods_engines(mixed: Watched) -> None:
    """(0.9 + 0.5) / 2 and 0.4: at 0.8 per pod two pods are enough, where sums would ask for three."""
    found = mixed.per_pod("vllm:kv_cache_usage_perc", HERE, *two("levels"))
    assert found == {"levels-0": 0.7, "levels-1": 0.4}
    assert replicas(found.values(), 0.8) == 2


def test_an_external_metric_is_of_the_namespace_and_the_selector(mixed: Watched) -> None:
    """12 and 7 of the workload that is named; neither its neighbours nor its namesake elsewhere."""
    found = mixed.external("vllm_num_requests_waiting", HERE, workload="vllm")
    assert found == [19]
    assert replicas(found, 5) == 4
    assert mixed.external("vllm_num_requests_waiting", THERE, workload="vllm") == [219]
    assert mixed.external("vllm_num_requests_waiting", "nowhere", workload="vllm") == []


def test_the_wish_of_the_variant_autoscaler_is_the_number_of_replicas(mixed: Watched) -> None:
    """WVA spec 10: AverageValue 1, so that the value is the number."""
    name = "inferno_desired_replicas"
    found = mixed.external(name, HERE, variant_name="outside")
    assert found == [3]
    assert replicas(found, 1) == 3
    assert mixed.external(name, THERE, variant_name="outside") == [9]
    # Of the namespace that the controller is in, nothing is said.
    assert mixed.external(name, "inferno-autoscaler-system", variant_name="outside") == []


def test_a_wish_that_was_left_behind_is_not_added(mixed: Watched) -> None:
    """An autoscaler adds up what it gets: of the two and four of a variant that moved, six replicas would be made."""
    assert mixed.external("inferno_desired_replicas", HERE, variant_name="moved") == [4]
    # Variants are not taken together.
    assert sorted(mixed.external("inferno_desired_replicas", HERE)) == [3, 4, 5]


def test_each_rule_finds_one_series(mixed: Watched) -> None:
    """The adapter exposes what the seriesQuery finds; a rule that finds others gives their values a wrong name."""
    rules = mixed.made.chain.adapter_rules
    found = {rule["name"]["as"]: mixed.series(rule) for rule in [*rules["custom"], *rules["external"]]
             if rule["name"]["as"] != "vllm:generation_tokens_total"}  # fmt: skip
    assert found == {
        **{metric: metrics[0] for metrics in QUEUES.values() for metric in metrics},
        "vllm_num_requests_running": "vllm:num_requests_running",
        "vllm:kv_cache_usage_perc": "vllm:kv_cache_usage_perc",
        "inferno_desired_replicas": "inferno_desired_replicas",
    }


def test_a_counter_is_used_as_a_rate(promtool: Promtool) -> None:
    """In 15 s, 12000 tokens of one pod's two engines and 9000 of another pod: 800 and 600 a second, two pods at 1000.

    Exact, and so with the clock of promtool; the labels are those that the PodMonitor leaves on a series.
    """
    rule = mixed_fleet().rule("vllm:generation_tokens_total")
    query = promql(rule, "vllm:generation_tokens_total", f'namespace="{HERE}",pod=~"levels-0|levels-1"', "pod")
    paces = {
        (HERE, "levels-0", "0"): 9000,
        (HERE, "levels-0", "1"): 3000,
        (HERE, "levels-1", "0"): 9000,
        (HERE, "vllm-0", "0"): 77,
        (THERE, "levels-0", "0"): 777,
    }
    series = [
        {
            "series": f'vllm:generation_tokens_total{{namespace="{where}",pod="{pod}",engine="{engine}"}}',
            "values": f"5000+{pace}x40",
        }
        for (where, pod, engine), pace in paces.items()
    ]
    samples = [
        {"labels": f'{{pod="{pod}"}}', "value": value} for pod, value in (("levels-0", 800), ("levels-1", 600))
    ]
    asked = {"expr": query, "eval_time": "5m", "exp_samples": samples}
    tests = [{"interval": "15s", "input_series": series, "promql_expr_test": [asked]}]
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": tests})
    assert replicas((800, 600), 1000) == 2

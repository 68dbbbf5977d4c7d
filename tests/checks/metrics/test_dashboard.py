"""The dashboard shows every engine's metrics, and none that is not in the table."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from components.checks.metrics.dashboard import (
    DashboardSettings,
    dashboard,
    dashboard_config_map,
    exported_node_labels,
    series_label,
)
from components.checks.metrics.queries import expand
from components.engines.metrics import engine_metrics, known_series

COSTS: dict[str, Decimal | float] = {"g5.xlarge": Decimal("1.006"), "p5.48xlarge": 98.32}
FUNCTIONS = {
    *("histogram_quantile", "sum", "avg", "max", "count", "rate", "increase", "round", "max_over_time", "vector"),
    *("by", "on", "and", "or", "unless", "without"),
}


def series_in(query: str) -> set[str]:
    """The names of series in a query: identifiers outside of strings, matchers, ranges and groupings."""
    bare = re.sub(r'"[^"]*"', "", query)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|\b(?:by|on|without) \([^)]*\)", " ", bare)
    return set(re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*", bare)) - FUNCTIONS


def balanced(query: str) -> bool:
    depth = 0
    for sign in re.sub(r'"[^"]*"', "", query):
        depth += (sign in "({[") - (sign in ")}]")
        if depth < 0:
            return False
    return depth == 0


def panels(**chosen: Any) -> dict[str, Any]:
    return {p["title"]: p for p in dashboard(DashboardSettings(**chosen))["panels"] if p["type"] != "row"}


def queries(**chosen: Any) -> list[str]:
    return [target["expr"] for panel in panels(**chosen).values() for target in panel.get("targets", [])]


def test_a_query_is_taken_apart() -> None:
    query = 'histogram_quantile(0.5, sum by (a, le) (rate(x:y_bucket{b="c"}[5m]))) > on (d) z'
    assert series_in(query) == {"x:y_bucket", "z"}


def test_every_series_is_in_the_table() -> None:
    asked = queries(costs=COSTS, gateway=True)
    assert len(asked) >= 35
    for query in asked:
        assert series_in(query), query
        assert series_in(query) <= known_series(), query
        assert balanced(query), query
        assert "<<" not in query


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Requests waiting", "vllm:num_requests_waiting sglang:num_queue_reqs tgi_queue_size "
                             "llamacpp:requests_deferred"),
        ("Requests in flight", "vllm:num_requests_running sglang:num_running_reqs tgi_batch_current_size "
                               "llamacpp:requests_processing"),
        ("Cache in use", "vllm:kv_cache_usage_perc vllm:gpu_cache_usage_perc sglang:token_usage"),
        ("Time to first token", "vllm:time_to_first_token_seconds_bucket sglang:time_to_first_token_seconds_bucket"),
        ("Tokens generated per second", "vllm:generation_tokens_total sglang:generation_tokens_total "
                                        "tgi_request_generated_tokens_sum llamacpp:tokens_predicted_total"),
        ("GPU utilization", "DCGM_FI_DEV_GPU_UTIL"),
        ("GPU memory in use", "DCGM_FI_DEV_FB_USED DCGM_FI_DEV_FB_FREE"),
        ("Ready replicas", "kube_deployment_status_replicas_available kube_statefulset_status_replicas_ready"),
    ],
)  # fmt: skip
def test_what_the_panels_ask_for(title: str, names: str) -> None:
    asked = {name for target in panels()[title]["targets"] for name in series_in(target["expr"])}
    assert asked == set(names.split())


@pytest.mark.parametrize("title", ["Time to first token", "Time between tokens", "Request latency"])
def test_latencies_have_three_quantiles(title: str) -> None:
    targets = panels()[title]["targets"]
    assert [re.match(r"histogram_quantile\((0\.\d+),", t["expr"]).group(1) for t in targets] == [  # type: ignore[union-attr]
        "0.5",
        "0.95",
        "0.99",
    ]
    assert panels()[title]["fieldConfig"]["defaults"]["unit"] == "s"
    for target in targets:
        assert "by (namespace, model, workload, le)" in target["expr"]


def test_only_the_engines_that_there_are() -> None:
    shown = panels(engines={"llamacpp"})
    assert not {"Time to first token", "Cache in use", "Requests per second"} & set(shown)
    asked = {name for query in queries(engines={"llamacpp"}) for name in series_in(query) if ":" in name}
    assert asked
    assert all(name.startswith("llamacpp:") for name in asked)


def test_engines_are_filtered_by_both_variables() -> None:
    variables = {v["name"]: v for v in dashboard()["templating"]["list"]}
    assert list(variables) == ["datasource", "namespace", "model"]
    assert variables["model"]["definition"] == 'label_values(up{model!="",namespace=~"$namespace"}, model)'
    engine_series = {series for engine in engine_metrics().values() for m in engine.metrics for series in m.series}
    for query in queries():
        if series_in(query) & engine_series:
            assert query.count('namespace=~"$namespace",model=~"$model"') == query.count("{"), query
        else:
            assert "$namespace" in query


class TestGateway:
    """Series of Envoy, and of the AI gateway's sidecar, whose labels do not know our models and workloads."""

    def test_the_row_is_there_with_a_gateway_alone(self) -> None:
        rows = [panel["title"] for panel in dashboard(DashboardSettings(gateway=True))["panels"]]
        assert "Front door" in rows
        assert set(rows) - {p["title"] for p in dashboard()["panels"]} == {
            "Front door",
            "Requests per second by status",
            "Time to answer",
            "Requests over a limit per second",
            "Tokens per second by model",
            "Time to first token by model",
            "Time to answer by model",
            "Failed requests per second by model",
        }

    def test_what_it_asks_for(self) -> None:
        """Names as Envoy's documentation of its statistics and the AI gateway's own dashboard have them."""
        without = set(queries())
        asked = {name for query in set(queries(gateway=True)) - without for name in series_in(query)}
        assert asked == {
            "envoy_http_downstream_rq_xx",
            "envoy_http_downstream_rq_time_bucket",
            "envoy_http_local_rate_limit_rate_limited",
            "envoy_cluster_ratelimit_over_limit",
            "gen_ai_client_token_usage_sum",
            "gen_ai_server_time_to_first_token_seconds_bucket",
            "gen_ai_server_request_duration_seconds_bucket",
            "gen_ai_server_request_duration_seconds_count",
        }


class TestCost:
    def test_nodes_times_price(self) -> None:
        shown = panels(costs=COSTS)
        each = {t["legendFormat"]: t["expr"] for t in shown["Cost per hour by instance type"]["targets"]}
        label = "label_node_kubernetes_io_instance_type"
        assert each == {
            "g5.xlarge": f'count(kube_node_labels{{{label}="g5.xlarge"}}) * 1.006',
            "p5.48xlarge": f'count(kube_node_labels{{{label}="p5.48xlarge"}}) * 98.32',
        }
        (total,) = shown["Cost per hour"]["targets"]
        assert total["expr"] == " + ".join(f"({query} or vector(0))" for query in each.values())
        assert shown["Cost per hour"]["fieldConfig"]["defaults"]["unit"] == "currencyUSD"

    def test_another_label_tells_the_groups_apart(self) -> None:
        settings = DashboardSettings(costs={"gpu": 2}, cost_label="karpenter.sh/nodepool")
        assert exported_node_labels(settings) == ["nodes=[karpenter.sh/nodepool]"]
        (total,) = panels(costs={"gpu": 2}, cost_label="karpenter.sh/nodepool")["Cost per hour"]["targets"]
        assert 'label_karpenter_sh_nodepool="gpu"' in total["expr"]

    def test_without_prices_it_says_so(self) -> None:
        assert panels()["Cost per hour"]["type"] == "text"
        assert exported_node_labels() == ["nodes=[node.kubernetes.io/instance-type]"]

    @pytest.mark.parametrize(
        ("label", "series"),
        [
            ("node.kubernetes.io/instance-type", "label_node_kubernetes_io_instance_type"),
            ("eks.amazonaws.com/nodegroup", "label_eks_amazonaws_com_nodegroup"),
            ("eks.amazonaws.com/capacityType", "label_eks_amazonaws_com_capacity_type"),
        ],
    )
    def test_labels_are_spelled_as_kube_state_metrics_does(self, label: str, series: str) -> None:
        assert series_label(label) == series


def test_panels_neither_overlap_nor_share_a_number() -> None:
    shown = dashboard(DashboardSettings(costs=COSTS))["panels"]
    assert [panel["id"] for panel in shown] == list(range(1, len(shown) + 1))
    taken: set[tuple[int, int]] = set()
    for panel in shown:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert all(x < 24 for x, _ in cells)
        taken |= cells
    for panel in shown:
        refs = [target["refId"] for target in panel.get("targets", [])]
        assert len(refs) == len(set(refs))


def test_grafana_finds_it_as_a_config_map() -> None:
    body = dashboard_config_map("models", "monitoring")
    assert (body["kind"], body["metadata"]) == (
        "ConfigMap",
        {"name": "models", "namespace": "monitoring", "labels": {"grafana_dashboard": "1"}},
    )
    ((name, text),) = body["data"].items()
    assert name.endswith(".json")
    assert json.loads(text) == dashboard()
    assert text == dashboard_config_map("models", "monitoring")["data"][name]


def test_the_order_of_engines_and_prices_does_not_matter() -> None:
    one = DashboardSettings(engines=("vllm", "tgi"), costs=COSTS)
    other = DashboardSettings(engines={"tgi", "vllm"}, costs=dict(reversed(list(COSTS.items()))))
    assert dashboard(one) == dashboard(other)


def test_a_word_that_is_not_known_is_not_left_in() -> None:
    assert expand("<<gauge queue>> > 1", (), "", {}) is None
    assert expand("up{<<selector>>}", (), 'a="b"', {}) == 'up{a="b"}'
    with pytest.raises(KeyError):
        expand("<<median queue>>", ("vllm",), "", {})


def test_an_environment_without_prices_says_so() -> None:
    shown = panels()["Cost per hour"]
    assert shown["options"]["content"] == "No prices are known for this environment."
    assert panels(costs=COSTS)["Cost per hour"]["type"] == "stat"

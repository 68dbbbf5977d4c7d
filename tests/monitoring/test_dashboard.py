"""The queries of the generated dashboard, asked of a real Prometheus that scrapes a fleet with every engine."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from components.checks.metrics.dashboard import BudgetedStart, DashboardSettings, dashboard
from tests.fleets import playground
from tests.monitoring.programs.prometheus import Prometheus, Sample, scraping, started
from tests.monitoring.programs.promtool import Promtool
from tests.monitoring.simulated.engines import DCGM, ENGINES, KUBE_STATE, SGLANG, VLLM, Engine
from tests.monitoring.simulated.exporter import Exporter, PretendedPod, serving
from tests.monitoring.simulated.fleets import in_namespace, made, pods_of
from tests.monitoring.simulated.watched import Watched

Json = dict[str, Any]
HERE = "serving"
COSTS: dict[str, Decimal | float] = {"g5.xlarge": Decimal("1.006"), "p5.48xlarge": Decimal("98.32"), "g6.xlarge": 0.8}
STARTS = (BudgetedStart("vllm", HERE, "vllm", 480), BudgetedStart("sglang", HERE, "sglang", None))
NODES = ("g5.xlarge", "g5.xlarge", "p5.48xlarge", "m5.large")
"""One has no price and is not counted; of g6.xlarge there is no node."""


def asked(namespace: str = ".*", model: str = ".*") -> list[tuple[str, str, str]]:
    """Panel, legend and query of everything that is asked, with the variables filled in as Grafana does."""

    def filled(query: str) -> str:
        return query.replace("$namespace", namespace).replace("$model", model)

    return [
        (panel["title"], target["legendFormat"], filled(target["expr"]))
        for panel in dashboard(DashboardSettings(costs=COSTS, gateway=True, starts=STARTS))["panels"]
        for target in panel.get("targets", ())
    ]


def query_of(title: str, legend: str = "{{workload}}", **variables: str) -> str:
    (found,) = (query for panel, name, query in asked(**variables) if (panel, name) == (title, legend))
    return found


def per_workload(samples: list[Sample]) -> dict[str, float]:
    return {sample.labels["workload"]: sample.value for sample in samples}


@pytest.fixture(scope="module")
def prometheus(prometheus_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Every engine with two pods, each of which has answered requests since it was first scraped; nodes and a GPU."""
    folder = tmp_path_factory.mktemp("prometheus")
    with started(prometheus_program, folder) as prometheus, serving() as exporter:
        documents = [playground(e.name, "qwen", backendRuntimeConfig={"backendName": e.name}) for e in ENGINES]
        fleet = made(*(in_namespace(document, HERE) for document in documents), monitoring=True)
        served = {
            engine.name: pods_of(fleet.find("Deployment", engine.name, HERE), f"{engine.name}-0", f"{engine.name}-1")
            for engine in ENGINES
        }
        said = [said_by(exporter, engine, pod) for engine in ENGINES for pod in served[engine.name]]
        others = [*nodes(exporter), gpu(exporter)]
        jobs = scraping([pod.target(exporter.address) for pod in others], job="others", honor_labels=True)
        Watched(fleet, prometheus, exporter).scrape(
            [pod for pods in served.values() for pod in pods], *jobs["scrape_configs"], interval="2s"
        )
        for tokens in (1000, 1500):
            for pod in said:
                answered(pod, tokens)
            prometheus.await_scrape(len(exporter.pods))
        prometheus.rest()
        yield prometheus


def said_by(exporter: Exporter, engine: Engine, pod: Json) -> PretendedPod:
    """An engine's page: three wait in the first pod, four in the second."""
    name = pod["metadata"]["name"]
    page = exporter.pod(engine, HERE, name)
    page.set(engine.queue, 3 + int(name[-1]))
    return page


def answered(pod: PretendedPod, tokens: int) -> None:
    """Requests whose first token came after between half a second and one; the first pods alone generate more."""
    if pod.engine in (VLLM, SGLANG):
        pod.observe(f"{pod.engine.name}:time_to_first_token_seconds", 0.7)
        pod.set(f"{pod.engine.name}:generation_tokens_total", tokens if pod.engine is VLLM else 1000)


def nodes(exporter: Exporter) -> list[PretendedPod]:
    page = exporter.pod(KUBE_STATE, "monitoring", "kube-state-metrics-0")
    for number, kind in enumerate(NODES):
        page.set("kube_node_labels", 1, node=f"node-{number}", label_node_kubernetes_io_instance_type=kind)
    return [page]


def gpu(exporter: Exporter) -> PretendedPod:
    page = exporter.pod(DCGM, "monitoring", "dcgm-exporter-0")
    where = {"gpu": "0", "UUID": "GPU-0", "Hostname": "node-0", "namespace": HERE, "pod": "vllm-0", "container": "x"}
    for name, value in (("GPU_UTIL", 97), ("FB_USED", 18), ("FB_FREE", 6)):
        page.set(f"DCGM_FI_DEV_{name}", value, **where)
    return page


@pytest.mark.parametrize(
    "query", [query for _, _, query in asked()], ids=[f"{title}-{legend}" for title, legend, _ in asked()]
)
def test_prometheus_accepts_every_query(prometheus: Prometheus, query: str) -> None:
    assert "$" not in query
    assert isinstance(prometheus.query(query), list)


def test_requests_that_wait(prometheus: Prometheus) -> None:
    found = per_workload(prometheus.query(query_of("Requests waiting")))
    assert found == {"vllm": 7, "sglang": 7, "tgi": 7, "llamacpp": 7}


@pytest.mark.parametrize(("namespace", "model"), [("elsewhere", ".*"), (".*", "other")])
def test_what_was_not_chosen_is_not_shown(prometheus: Prometheus, namespace: str, model: str) -> None:
    assert prometheus.query(query_of("Requests waiting", namespace=namespace, model=model)) == []
    assert prometheus.query(query_of("Requests waiting", namespace=f"{HERE}|{namespace}", model=f"qwen|{model}"))


@pytest.mark.parametrize(("quantile", "seconds"), [("p50", 0.75), ("p95", 0.975), ("p99", 0.995)])
def test_the_time_to_the_first_token(prometheus: Prometheus, quantile: str, seconds: float) -> None:
    """All within one bucket, from 0.5 to 1 s, which Prometheus takes as evenly filled."""
    found = per_workload(prometheus.query(query_of("Time to first token", f"{{{{workload}}}} {quantile}")))
    assert found == {"vllm": pytest.approx(seconds), "sglang": pytest.approx(seconds)}


def test_tokens_flow_where_they_are_generated(prometheus: Prometheus) -> None:
    found = per_workload(prometheus.query(query_of("Tokens generated per second")))
    assert found.keys() == {"vllm", "sglang"}
    assert found["vllm"] > 0
    assert found["sglang"] == 0


def test_tokens_per_second(promtool: Promtool) -> None:
    """Two pods of vLLM with 6000 tokens a minute each, TGI with a histogram of lengths: 3000, llama.cpp with 600."""
    grows = {
        ("vllm:generation_tokens_total", "vllm", "vllm-0"): 6000,
        ("vllm:generation_tokens_total", "vllm", "vllm-1"): 6000,
        ("tgi_request_generated_tokens_sum", "tgi", "tgi-0"): 3000,
        ("llamacpp:tokens_predicted_total", "llamacpp", "llamacpp-0"): 600,
    }
    labels = 'namespace="serving",model="qwen",workload="{}"'
    series = [
        {"series": f'{name}{{{labels.format(workload)},pod="{pod}"}}', "values": f"0+{each}x30"}
        for (name, workload, pod), each in grows.items()
    ]
    expected = [
        {"labels": f"{{{labels.format(workload)}}}", "value": value}
        for workload, value in (("vllm", 200), ("tgi", 50), ("llamacpp", 10))
    ]
    asks = {"expr": query_of("Tokens generated per second"), "eval_time": "20m", "exp_samples": expected}
    test = {"interval": "1m", "input_series": series, "promql_expr_test": [asks]}
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": [test]})


def test_the_start_of_a_replica(promtool: Promtool) -> None:
    """The slowest pod of the workload took 420 s; other pods, and those that are not ready, do not count."""
    times = {"vllm-6d-a": (1000, 1300), "vllm-6d-b": (2000, 2420), "vllm-6d-c": (9000, None), "sglang-0": (0, 9999)}
    series = []
    for pod, (created, ready) in times.items():
        labels = f'namespace="serving",pod="{pod}"'
        series.append({"series": f"kube_pod_created{{{labels}}}", "values": f"{created}x30"})
        if ready:
            series.append({"series": f"kube_pod_status_ready_time{{{labels}}}", "values": f"{ready}x30"})

    def asks(legend: str, namespace: str, *values: float) -> Json:
        query = query_of("Start of a replica", legend, namespace=namespace)
        samples = [{"labels": "{}", "value": value} for value in values]
        return {"expr": query, "eval_time": "20m", "exp_samples": samples}

    cases = [
        asks("vllm measured", "serving", 420),
        asks("vllm budgeted", "serving", 480),
        asks("sglang measured", "serving", 9999),
        asks("vllm measured", "elsewhere"),
        asks("vllm budgeted", "elsewhere"),
    ]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": cases}
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": [test]})
    assert "sglang budgeted" not in {legend for _, legend, _ in asked()}


PROXY = 'namespace="envoy-gateway-system",pod="{}"'
HTTP = 'envoy_http_conn_manager_prefix="{}",envoy_response_code_class="{}"'
MODEL = 'gen_ai_original_model="{}",gen_ai_token_type="{}"'
REACHED: dict[str, tuple[dict[str, int], str, str, dict[str, float]]] = {
    "by status, without the probes of the proxies": (
        {
            f"envoy_http_downstream_rq_xx{{{PROXY.format('a')},{HTTP.format('https-443', 2)}}}": 600,
            f"envoy_http_downstream_rq_xx{{{PROXY.format('b')},{HTTP.format('https-443', 2)}}}": 1200,
            f"envoy_http_downstream_rq_xx{{{PROXY.format('b')},{HTTP.format('http-80', 4)}}}": 60,
            f"envoy_http_downstream_rq_xx{{{PROXY.format('b')},{HTTP.format('eg-ready-http', 2)}}}": 6000,
        },
        "Requests per second by status",
        "{{envoy_response_code_class}}xx",
        {'{envoy_response_code_class="2"}': 30, '{envoy_response_code_class="4"}': 1},
    ),
    "tokens by model": (
        {
            f"gen_ai_client_token_usage_sum{{{PROXY.format('a')},{MODEL.format('m', 'input')}}}": 6000,
            f"gen_ai_client_token_usage_sum{{{PROXY.format('b')},{MODEL.format('m', 'input')}}}": 600,
            f"gen_ai_client_token_usage_sum{{{PROXY.format('b')},{MODEL.format('m', 'output')}}}": 60,
            f"gen_ai_client_token_usage_sum{{{PROXY.format('b')},{MODEL.format('m', 'cached_input')}}}": 6000,
        },
        "Tokens per second by model",
        "{{gen_ai_original_model}} {{gen_ai_token_type}}",
        {f"{{{MODEL.format('m', 'input')}}}": 110, f"{{{MODEL.format('m', 'output')}}}": 1},
    ),
    "over a limit": (
        {
            f"envoy_http_local_rate_limit_rate_limited{{{PROXY.format('a')}}}": 60,
            f"envoy_http_local_rate_limit_rate_limited{{{PROXY.format('b')}}}": 120,
        },
        "Requests over a limit per second",
        "of one proxy",
        {"{}": 3},
    ),
}
"""What each series grows by in a minute, a panel with a legend, and what is shown."""


@pytest.mark.parametrize("name", REACHED)
def test_the_front_door(promtool: Promtool, name: str) -> None:
    grows, title, legend, shown = REACHED[name]
    series = [{"series": each, "values": f"0+{amount}x30"} for each, amount in grows.items()]
    expected = [{"labels": labels, "value": value} for labels, value in shown.items()]
    asks = {"expr": query_of(title, legend), "eval_time": "20m", "exp_samples": expected}
    test = {"interval": "1m", "input_series": series, "promql_expr_test": [asks]}
    assert "SUCCESS" in promtool.test_rules({"groups": []}, {"tests": [test]})


def test_the_memory_of_a_gpu_is_its_workloads(prometheus: Prometheus) -> None:
    """18 of 24 GiB; the exporter's labels are kept, so that the GPU is found by the namespace of the model."""
    (found,) = prometheus.query(query_of("GPU memory in use", "{{pod}} GPU {{gpu}}", namespace=HERE))
    assert (found.labels["pod"], found.value) == ("vllm-0", 0.75)


def test_what_the_nodes_cost(prometheus: Prometheus) -> None:
    """2 x 1.006 + 98.32; a kind without a node costs nothing and does not take the sum with it."""
    assert prometheus.value(query_of("Cost per hour", "all")) == pytest.approx(100.332)
    kinds = {kind: prometheus.value(query_of("Cost per hour by instance type", kind)) for kind in COSTS}
    assert kinds == {"g5.xlarge": pytest.approx(2.012), "p5.48xlarge": pytest.approx(98.32), "g6.xlarge": None}

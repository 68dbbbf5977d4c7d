"""From an autoscaler to Prometheus: lws-hpa spec 1.9, 2.3 to 2.5, WVA spec 10, written down by hand."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.engines.metrics import engine_metrics
from components.fleet.autoscalers import Autoscaler
from components.fleet.rendered import Fleet
from components.fleet.words import WorkloadChoice
from components.metrics.chain import MetricChain, MetricSettings, metric_chain, with_scaled_objects
from components.metrics.words import Adapter, Scrape
from components.prerequisites.needed import ClusterFacts, prerequisites
from tests.fleets import GPU, errors, fleet_of, open_model, playground, runner, runtime, service

MODEL = open_model()
ADDRESS = "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"
QUEUES = {
    "vllm": "vllm:num_requests_waiting",
    "sglang": "sglang:num_queue_reqs",
    "tgi": "tgi_queue_size",
    "llamacpp": "llamacpp:requests_deferred",
}
RUNNING = {
    "vllm": "vllm:num_requests_running",
    "sglang": "sglang:num_running_reqs",
    "tgi": "tgi_batch_current_size",
    "llamacpp": "llamacpp:requests_processing",
}
POD_OVERRIDES = {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}
SUM = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
AVG = "avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"


def metric(kind: str, name: str, selector: Any = None, **target: Any) -> dict[str, Any]:
    target = target or {"type": "AverageValue", "averageValue": "5"}
    named = {"name": name, **({"selector": selector} if selector else {})}
    return {"type": kind, kind.lower(): {"metric": named, "target": target}}


def pods(name: str, **target: Any) -> dict[str, Any]:
    return metric("Pods", name, **target)


def external(name: str, selector: Any = None, **target: Any) -> dict[str, Any]:
    return metric("External", name, selector, **target)


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def scaled(
    *metrics: Any, backend: str = "vllm", name: str = "p", behavior: Any = None, **fields: Any
) -> dict[str, Any]:
    hpa = {**({"metrics": list(metrics)} if metrics else {}), **({"behavior": behavior} if behavior else {})}
    return playground(
        name,
        elasticConfig={"minReplicas": 1, "maxReplicas": 4, "scaleTrigger": {"hpa": hpa}},
        backendRuntimeConfig={"backendName": backend, **fields},
    )


def chain(*documents: Any, options: Any = None, **chosen: Any) -> MetricChain:
    fleet = fleet_of(MODEL, *documents, **(options or {}))
    assert not errors(fleet), errors(fleet)
    return metric_chain(fleet, MetricSettings(**chosen))


def with_minimum(fleet: Fleet, minimum: int) -> Fleet:
    """What other kinds of resources may ask for, and a Playground may not."""

    def changed(scaler: Autoscaler) -> Autoscaler:
        return replace(scaler, hpa={**scaler.hpa, "spec": {**scaler.hpa["spec"], "minReplicas": minimum}})

    return replace(
        fleet,
        rendered=tuple(replace(item, autoscalers=tuple(map(changed, item.autoscalers))) for item in fleet.rendered),
    )


def installed(*documents: dict[str, Any], adapter: Adapter = Adapter.PROMETHEUS_ADAPTER) -> set[str]:
    """The charts that an environment installs for what its autoscalers read."""
    fleet = fleet_of(MODEL, *documents)
    facts = ClusterFacts(adapter=adapter)
    further = ((chart, title) for chart, titles in metric_chain(fleet).needs.items() for title in titles)
    return {each.chart.name for each in prerequisites(fleet, (), facts, further)}


class TestMonitors:
    @pytest.mark.parametrize(
        ("workload", "labels"),
        [
            (
                WorkloadChoice.DEPLOYMENT,
                {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": "p"},
            ),
            (
                WorkloadChoice.LWS,
                {"leaderworkerset.sigs.k8s.io/name": "p", "leaderworkerset.sigs.k8s.io/worker-index": "0"},
            ),
        ],
    )
    def test_the_pods_that_take_requests_are_scraped(self, workload: WorkloadChoice, labels: Any) -> None:
        (monitor,) = chain(playground(), options={"workload": workload, "namespace": "llm"}).monitors
        assert monitor == {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": {"name": "p", "namespace": "llm"},
            "spec": {
                "selector": {"matchLabels": labels},
                "podMetricsEndpoints": [
                    {
                        "port": "http",
                        "path": "/metrics",
                        "interval": "15s",
                        "relabelings": [
                            *(
                                {"action": "replace", "sourceLabels": [source], "targetLabel": label}
                                for source, label in (
                                    ("__meta_kubernetes_namespace", "namespace"),
                                    ("__meta_kubernetes_pod_name", "pod"),
                                    ("__meta_kubernetes_pod_container_name", "container"),
                                )
                            ),
                            {"action": "replace", "replacement": "m", "targetLabel": "model"},
                            {"action": "replace", "replacement": "p", "targetLabel": "workload"},
                        ],
                    }
                ],
            },
        }

    def test_its_labels_are_those_of_the_pods_and_its_port_is_one_of_them(self) -> None:
        fleet = fleet_of(MODEL, playground())
        (monitor,) = metric_chain(fleet).monitors
        template = fleet.rendered[0].objects[0]["spec"]["template"]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        names = [port["name"] for port in template["spec"]["containers"][0]["ports"]]
        assert monitor["spec"]["podMetricsEndpoints"][0]["port"] in names

    @pytest.mark.parametrize(
        ("backend", "monitoring", "scraped"),
        [
            ("vllm", False, True),
            ("tgi", False, True),
            ("llamacpp", False, True),
            ("sglang", False, False),
            ("sglang", True, True),
            ("ollama", True, False),
            ("tensorrt-llm", True, False),
        ],
    )
    def test_what_exports_metrics_is_scraped(self, backend: str, monitoring: bool, scraped: bool) -> None:
        document = playground(backendRuntimeConfig={"backendName": backend})
        model = "ollama://qwen2:0.5b" if backend == "ollama" else "Qwen/Qwen2-0.5B"
        fleet = fleet_of(open_model(source=model), document, monitoring=monitoring)
        found = metric_chain(fleet)
        assert bool(found.monitors) is scraped

    def test_what_an_autoscaler_reads_is_scraped_whatever_its_engine(self) -> None:
        found = chain(runtime(), scaled(pods("waiting"), backend="own"))
        assert [monitor["metadata"]["name"] for monitor in found.monitors] == ["p"]

    def test_only_what_is_used(self) -> None:
        found = chain(playground("a"), scaled(pods(QUEUES["vllm"])), scaled(CPU, name="c"), scrape=Scrape.USED)
        assert [monitor["metadata"]["name"] for monitor in found.monitors] == ["p"]

    def test_prometheus_finds_them_by_labels(self) -> None:
        (monitor,) = chain(playground(), monitor_labels={"release": "kps", "a": "b"}, interval="5s").monitors
        assert monitor["metadata"]["labels"] == {"a": "b", "release": "kps"}
        assert monitor["spec"]["podMetricsEndpoints"][0]["interval"] == "5s"

    @pytest.mark.parametrize(
        ("fields", "port"),
        [
            ({"ports": [{"name": "http", "containerPort": 9000}]}, {"port": "http"}),
            ({"ports": [{"name": "api", "containerPort": 9000}]}, {"port": "api"}),
            ({"ports": [{"containerPort": 40000}]}, {"portNumber": 40000}),
            (
                {"ports": [{"containerPort": 1}, {"name": "x", "containerPort": 9000}], "args": ["--port", "9000"]},
                {"port": "x"},
            ),
        ],
    )
    def test_the_port_of_hand_written_pods(self, fields: Any, port: Any) -> None:
        own = {"workerTemplate": {"spec": {"containers": [runner(image="vllm/vllm-openai:v0.9.2", **fields)]}}}
        (monitor,) = chain(service(workloadTemplate=own)).monitors
        endpoint = monitor["spec"]["podMetricsEndpoints"][0]
        assert {key: endpoint[key] for key in port} == port
        assert len({"port", "portNumber"} & set(endpoint)) == 1

    def test_a_port_that_is_not_declared_cannot_be_found(self) -> None:
        engine = runner(image="vllm/vllm-openai:v0.9.2", args=["--port=9000"])
        own = {"workerTemplate": {"spec": {"containers": [engine]}}}
        found = chain(service(workloadTemplate=own))
        assert not found.monitors
        (problem,) = found.problems
        assert (problem.severity, problem.path) == (
            "warning",
            "spec.workloadTemplate.workerTemplate.spec.containers[0].ports",
        )
        assert "containerPort: 9000" in problem.reason

    def test_a_leader_worker_set_of_the_user_is_scraped_too(self) -> None:
        engine = runner(image="vllm/vllm-openai:v0.9.2", ports=[{"name": "http", "containerPort": 8000}])
        body = {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "raw"},
            "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [engine]}}}},
        }
        (monitor,) = chain(body).monitors
        assert monitor["spec"]["selector"]["matchLabels"]["leaderworkerset.sigs.k8s.io/name"] == "raw"
        assert {r["targetLabel"]: r.get("replacement") for r in monitor["spec"]["podMetricsEndpoints"][0][
            "relabelings"]}["model"] == "raw"  # fmt: skip


class TestAdapter:
    @pytest.mark.parametrize(
        ("backend", "name", "series", "query"),
        [
            *((backend, name, name, SUM) for backend, name in QUEUES.items()),
            *((backend, name.replace(":", "_"), name, SUM) for backend, name in QUEUES.items()),
            *((backend, name, name, SUM) for backend, name in RUNNING.items() if backend != "llamacpp"),
        ],
    )
    def test_a_rule_gives_the_name_that_is_asked_for(self, backend: str, name: str, series: str, query: str) -> None:
        found = chain(scaled(pods(name), backend=backend))
        assert not found.problems
        assert found.adapter_rules == {
            "default": False,
            "custom": [
                {
                    "seriesQuery": f'{{__name__="{series}",namespace!="",pod!=""}}',
                    "resources": {"overrides": POD_OVERRIDES},
                    "name": {"as": name},
                    "metricsQuery": query,
                }
            ],
            "external": [],
        }
        assert found.needs == {"prometheus": ("Playground/p",)}

    @pytest.mark.parametrize(
        ("backend", "version", "name"),
        [
            ("vllm", "v0.9.2", "vllm:kv_cache_usage_perc"),
            ("vllm", "v0.7.3", "vllm_gpu_cache_usage_perc"),
            ("sglang", "v0.5.4", "sglang:token_usage"),
        ],
    )
    def test_shares_are_averaged(self, backend: str, version: str, name: str) -> None:
        target = {"type": "AverageValue", "averageValue": "800m"}
        found = chain(scaled(pods(name, **target), backend=backend, version=version))
        assert not found.problems
        assert [rule["metricsQuery"] for rule in found.adapter_rules["custom"]] == [AVG]

    def test_counters_become_rates(self) -> None:
        (rule,) = chain(scaled(pods("vllm:generation_tokens_total"))).adapter_rules["custom"]
        assert rule["metricsQuery"] == "sum(rate(<<.Series>>{<<.LabelMatchers>>}[120s])) by (<<.GroupBy>>)"

    def test_an_external_metric_is_one_value_of_the_namespace(self) -> None:
        selector = {"matchLabels": {"workload": "p"}}
        found = chain(scaled(external("vllm_num_requests_waiting", selector)))
        assert not found.problems
        assert found.adapter_rules["external"] == [
            {
                "seriesQuery": '{__name__="vllm:num_requests_waiting",namespace!=""}',
                "resources": {"overrides": {"namespace": {"resource": "namespace"}}},
                "name": {"as": "vllm_num_requests_waiting"},
                "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>})",
            }
        ]
        assert not found.adapter_rules["custom"]

    def test_a_gateway_of_another_namespace(self) -> None:
        (rule,) = chain(scaled(external("inference_extension_flow_control_queue_size"))).adapter_rules["external"]
        assert rule["resources"] == {"namespaced": False}
        assert rule["seriesQuery"] == '{__name__="inference_extension_flow_control_queue_size"}'

    @pytest.mark.parametrize("asked", ["setting", "autoscaler", "both"])
    def test_the_wish_of_the_variant_autoscaler(self, asked: str) -> None:
        """WVA spec 10."""
        read = CPU if asked == "setting" else external(
            "inferno_desired_replicas", {"matchLabels": {"variant_name": "p"}}, type="AverageValue", averageValue="1"
        )  # fmt: skip
        found = chain(scaled(read), wva=asked != "autoscaler")
        assert not found.problems
        assert found.adapter_rules["external"] == [
            {
                "seriesQuery": 'inferno_desired_replicas{variant_name!="",exported_namespace!=""}',
                "resources": {
                    "overrides": {
                        "exported_namespace": {"resource": "namespace"},
                        "variant_name": {"resource": "deployment"},
                    }
                },
                "name": {"matches": "^inferno_desired_replicas", "as": "inferno_desired_replicas"},
                "metricsQuery": (
                    "max(inferno_desired_replicas{<<.LabelMatchers>>}) by (exported_namespace, variant_name)"
                ),
            }
        ]

    def test_only_what_is_used_and_each_once_in_order(self) -> None:
        found = chain(
            scaled(pods("vllm_num_requests_waiting"), pods("vllm:num_requests_running"), name="b"),
            scaled(pods("vllm:num_requests_waiting"), pods("vllm_num_requests_waiting"), name="a"),
            playground("c"),
        )
        assert [rule["name"]["as"] for rule in found.adapter_rules["custom"]] == [
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm_num_requests_waiting",
        ]

    def test_a_series_of_an_unknown_engine_keeps_its_name(self) -> None:
        (rule,) = chain(runtime(), scaled(pods("waiting"), backend="own")).adapter_rules["custom"]
        assert rule["seriesQuery"] == '{__name__="waiting",namespace!="",pod!=""}'

    @pytest.mark.parametrize(
        ("metrics", "needs"),
        [
            ([CPU], {"metrics-server"}),
            ([], {"metrics-server"}),
            ([pods("vllm:num_requests_waiting")], {"prometheus", "prometheus-adapter"}),
            ([pods("vllm:num_requests_waiting"), CPU], {"prometheus", "prometheus-adapter", "metrics-server"}),
        ],
    )
    def test_what_the_cluster_must_offer(self, metrics: list[Any], needs: set[str]) -> None:
        assert installed(scaled(*metrics)) == needs

    def test_without_autoscalers_there_are_no_rules(self) -> None:
        assert chain(playground()).adapter_rules == {"default": False, "custom": [], "external": []}


class TestKeda:
    def test_a_scaled_object_takes_the_place_of_the_autoscaler(self) -> None:
        fleet = fleet_of(MODEL, scaled(pods("vllm_num_requests_waiting"), behavior={"scaleDown": {
            "stabilizationWindowSeconds": 600}}), namespace="llm")  # fmt: skip
        found = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA))
        assert found.needs == {"prometheus": ("Playground/p",)}
        assert found.adapter_rules == {"default": False, "custom": [], "external": []}
        assert found.scaled_objects == (
            {
                "apiVersion": "keda.sh/v1alpha1",
                "kind": "ScaledObject",
                "metadata": {"name": "p", "namespace": "llm"},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "p"},
                    "minReplicaCount": 1,
                    "maxReplicaCount": 4,
                    "pollingInterval": 15,
                    "fallback": {"failureThreshold": 4, "replicas": 1, "behavior": "currentReplicasIfHigher"},
                    "advanced": {
                        "horizontalPodAutoscalerConfig": {
                            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}}
                        }
                    },
                    "triggers": [
                        {
                            "type": "prometheus",
                            "metricType": "AverageValue",
                            "metadata": {
                                "serverAddress": ADDRESS,
                                "query": 'sum(vllm:num_requests_waiting{namespace="llm",workload="p"})',
                                "threshold": "5",
                                "ignoreNullValues": "false",
                            },
                        }
                    ],
                },
            },
        )
        kinds = [body["kind"] for body in with_scaled_objects(fleet, found).rendered[0].objects]
        assert kinds == ["Deployment", "Service", "ScaledObject"]

    @pytest.mark.parametrize(
        ("read", "query", "kind", "threshold"),
        [
            (pods("vllm:num_requests_running"), 'sum(vllm:num_requests_running{namespace="default",workload="p"})',
             "AverageValue", "5"),
            (
                pods("vllm:kv_cache_usage_perc", type="AverageValue", averageValue="800m"),
                'sum(avg by (pod) (vllm:kv_cache_usage_perc{namespace="default",workload="p"}))',
                "AverageValue",
                "0.8",
            ),
            (
                pods("vllm:generation_tokens_total", type="AverageValue", averageValue="1k"),
                'sum(rate(vllm:generation_tokens_total{namespace="default",workload="p"}[120s]))',
                "AverageValue",
                "1000",
            ),
            (
                external("vllm_num_requests_waiting", {"matchLabels": {"model_name": "m"}}, type="Value", value="10"),
                'sum(vllm:num_requests_waiting{namespace="default",model_name="m"})',
                "Value",
                "10",
            ),
            (
                external("inference_extension_flow_control_queue_size"),
                "sum(inference_extension_flow_control_queue_size{})",
                "AverageValue",
                "5",
            ),
            (
                external("inferno_desired_replicas", {"matchLabels": {"variant_name": "p"}}),
                'max(inferno_desired_replicas{exported_namespace="default",variant_name="p"})',
                "AverageValue",
                "5",
            ),
        ],
    )  # fmt: skip
    def test_queries_give_one_value(self, read: Any, query: str, kind: str, threshold: str) -> None:
        (made,) = chain(scaled(read, version="v0.10.2"), adapter=Adapter.KEDA).scaled_objects
        (trigger,) = made["spec"]["triggers"]
        assert (trigger["metricType"], trigger["metadata"]["query"], trigger["metadata"]["threshold"]) == (
            kind,
            query,
            threshold,
        )
        assert all(isinstance(value, str) for value in trigger["metadata"].values())

    def test_cpu_alone_stays_with_kubernetes(self) -> None:
        found = chain(scaled(CPU), adapter=Adapter.KEDA)
        assert not found.scaled_objects
        assert installed(scaled(CPU), adapter=Adapter.KEDA) == {"metrics-server"}

    def test_cpu_beside_a_queue_moves_along_and_has_no_fallback(self) -> None:
        found = chain(scaled(pods("vllm:num_requests_waiting"), CPU), adapter=Adapter.KEDA)
        (made,) = found.scaled_objects
        assert made["spec"]["triggers"][1] == {
            "type": "cpu",
            "metricType": "Utilization",
            "metadata": {"value": "50"},
        }
        assert "fallback" not in made["spec"]
        needed = installed(scaled(pods("vllm:num_requests_waiting"), CPU), adapter=Adapter.KEDA)
        assert needed == {"prometheus", "keda", "metrics-server"}

    def test_zero_needs_a_signal_from_in_front_of_the_pods(self) -> None:
        outside = external("inference_extension_flow_control_queue_size")
        fleet = with_minimum(fleet_of(MODEL, scaled(pods("vllm:num_requests_waiting"), outside)), 0)
        found = metric_chain(fleet, MetricSettings(adapter=Adapter.KEDA))
        assert not found.problems
        (made,) = found.scaled_objects
        assert (made["spec"]["minReplicaCount"], made["spec"]["fallback"]["replicas"]) == (0, 1)

    @pytest.mark.parametrize(
        ("adapter", "read", "said"),
        [
            (Adapter.KEDA, pods("vllm:num_requests_waiting"), "without pods nobody exports"),
            (Adapter.KEDA, external("vllm:num_requests_waiting"), "without pods nobody exports"),
            (Adapter.PROMETHEUS_ADAPTER, external("inference_extension_flow_control_queue_size"), "needs KEDA"),
            (Adapter.PROMETHEUS_ADAPTER, pods("vllm:num_requests_waiting"), "needs KEDA"),
        ],
    )
    def test_zero_without_it_is_an_error(self, adapter: Adapter, read: Any, said: str) -> None:
        fleet = with_minimum(fleet_of(MODEL, scaled(read)), 0)
        (problem,) = metric_chain(fleet, MetricSettings(adapter=adapter)).problems
        assert (problem.severity, problem.path) == ("error", "spec.elasticConfig.minReplicas")
        assert said in problem.reason

    def test_expressions_cannot_be_queried(self) -> None:
        selector = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
        found = chain(scaled(external("vllm:num_requests_waiting", selector)), adapter=Adapter.KEDA)
        (problem,) = found.problems
        assert problem.path.endswith("metrics[0].external.metric.selector")


class TestSettings:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("interval", "2m"),
            ("interval", "0s"),
            ("interval", "90s"),
            ("interval", "15"),
            ("prometheus", "prometheus:9090"),
        ],
    )
    def test_wrong_words_are_refused(self, field: str, value: str) -> None:
        with pytest.raises(ValueError, match=field):
            replace(MetricSettings(), **{field: value})  # type: ignore[arg-type]

    @pytest.mark.parametrize(("interval", "window"), [("15s", "120s"), ("30s", "120s"), ("60s", "240s")])
    def test_rates_span_four_scrapes(self, interval: str, window: str) -> None:
        assert MetricSettings(interval=interval).window == window


def documents() -> list[Any]:
    return [
        open_model(),
        open_model("g", flavors=[GPU]),
        *(scaled(pods(name), pods(RUNNING[backend]), backend=backend, name=backend)
          for backend, name in QUEUES.items()),
        scaled(external("vllm_num_requests_waiting"), CPU, name="e"),
        playground("plain", "g"),
    ]  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False), st.sampled_from(Adapter))
def test_the_order_of_documents_does_not_matter(order: random.Random, adapter: Adapter) -> None:
    changed = documents()
    order.shuffle(changed)

    def made(source: list[Any]) -> tuple[Any, ...]:
        found = metric_chain(fleet_of(*source), MetricSettings(adapter=adapter))
        said = sorted((p.name, p.path, p.reason) for p in found.problems)
        return found.monitors, found.adapter_rules, found.scaled_objects, found.needs, said

    assert made(changed) == made(documents())


NAMES = sorted({
    spelled for engine in engine_metrics().values() for m in engine.metrics for spelled in (m.name, m.neutral)
})  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["vllm", "sglang", "tgi", "llamacpp"]),
    st.sampled_from(["v0.4.3", "v0.9.2", "v0.11.0", "v0.20.0", "latest"]),
    st.sampled_from(NAMES),
    st.sampled_from(["Pods", "External"]),
    st.sampled_from(["100m", "1", "5", "200"]),
    st.sampled_from(Adapter),
)
def test_what_has_no_problem_has_the_whole_chain(
    backend: str, version: str, name: str, kind: str, value: str, adapter: Adapter
) -> None:
    """Either it is said what is wrong, or the metric is exported, scraped and adapted under the name that is read."""
    read = metric(kind, name, type="AverageValue", averageValue=value)
    fleet = fleet_of(MODEL, scaled(read, backend=backend, version=version))
    found = metric_chain(fleet, MetricSettings(adapter=adapter))
    if found.problems:
        return
    exported = {m.name for m in engine_metrics()[backend].of_version(version)}
    assert name in {spelled for m in exported for spelled in (m, m.replace(":", "_"))}
    assert len(found.monitors) == 1
    if adapter == Adapter.KEDA:
        (trigger,) = found.scaled_objects[0]["spec"]["triggers"]
        assert any(series in trigger["metadata"]["query"] for series in exported)
    else:
        (rule,) = found.adapter_rules["custom" if kind == "Pods" else "external"]
        assert rule["name"]["as"] == name
        assert any(f'"{series}"' in rule["seriesQuery"] for series in exported)

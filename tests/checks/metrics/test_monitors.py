"""What Prometheus scrapes of a model."""

from typing import Any

import pytest

from components.checks.metrics.chain import metric_chain
from components.checks.metrics.monitors import pod_monitor, unscrapable
from components.checks.metrics.uses import scrape_targets
from components.checks.metrics.words import Scrape
from components.fleet.words import WorkloadChoice
from tests.checks.metrics.chains import CPU, MODEL, QUEUES, chain, pods, scaled
from tests.fleets import fleet_of, open_model, playground, runner, runtime, service


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

    @pytest.mark.parametrize(
        ("args", "addresses"),
        [(["--port=9000"], ["$1:9000", "[$1]:9000"]), ([], ["$1:8000", "[$1]:8000"])],
        ids=["flag", "engine"],
    )
    def test_a_port_that_is_not_declared_is_found_by_its_number(self, args: list[str], addresses: list[str]) -> None:
        engine = runner(image="vllm/vllm-openai:v0.9.2", args=args)
        found = chain(service(workloadTemplate={"workerTemplate": {"spec": {"containers": [engine]}}}))
        (monitor,) = found.monitors
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert not {"port", "portNumber"} & set(endpoint)
        rules = endpoint["relabelings"]
        assert rules[0] == {
            "action": "keep",
            "sourceLabels": ["__meta_kubernetes_pod_container_name"],
            "regex": "model-runner",
        }
        assert [rule["replacement"] for rule in rules if rule.get("targetLabel") == "__address__"] == addresses
        assert found.problems == ()

    def test_a_port_that_nothing_tells_cannot_be_found(self) -> None:
        own = {"workerTemplate": {"spec": {"containers": [runner(image="example.com/engine:v1")]}}}
        (target,) = scrape_targets(fleet_of(open_model(), service(workloadTemplate=own)))
        assert pod_monitor(target, "15s", {}) is None
        problem = unscrapable(target)
        assert (problem.severity, problem.path) == (
            "warning",
            "spec.workloadTemplate.workerTemplate.spec.containers[0].ports",
        )
        assert "containerPort: <serving port>" in problem.reason

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

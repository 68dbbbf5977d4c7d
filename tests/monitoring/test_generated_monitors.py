"""The PodMonitors that the project makes: which pods they choose, where these are asked, and as what they appear."""

from typing import Any

import pytest

from components.engines.registry import engines
from components.fleet.words import WorkloadChoice
from livefleet.loop.monitors import targets_of
from tests.fleets import playground, runner, service
from tests.monitoring.programs.monitors import exporter_job
from tests.monitoring.programs.prometheus import Prometheus
from tests.monitoring.simulated.engines import ENGINES, VLLM, Engine
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import Made, in_namespace, made, pods_of, scaled
from tests.monitoring.simulated.watched import Watched
from tests.monitoring.simulated.workload import pods_metric
from workbench.errors import WorkbenchError

Json = dict[str, Any]
HERE = "serving"


def by_hand(name: str, *containers: Json) -> Json:
    template = {"workerTemplate": {"spec": {"containers": list(containers)}}}
    return in_namespace(service(name, "qwen", workloadTemplate=template), HERE)


def two(*documents: Json, name: str = "chat") -> tuple[Made, list[Json]]:
    """The fleet of documents, and two pods of its workload with a name."""
    all_of_it = made(*documents)
    return all_of_it, pods_of(all_of_it.find("Deployment", name, HERE), f"{name}-0", f"{name}-1")


def found(prometheus: Prometheus, engine: Engine = VLLM) -> dict[str, tuple[str, float]]:
    """Where each pod was asked, and what it said."""
    return {
        sample.labels["pod"]: (sample.labels["instance"], sample.value) for sample in prometheus.query(engine.queue)
    }


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_an_engine_is_asked_at_its_own_port(prometheus: Prometheus, exporter: Exporter, engine: Engine) -> None:
    """The port of llmaz' backend runtimes, which start every engine on 8080."""
    assert engine.name in engines()
    fleet, pods = two(scaled("chat", HERE, [pods_metric(engine.queue, "5")], backend=engine.name))
    for number, pod in enumerate(pods):
        exporter.pod(engine, HERE, pod["metadata"]["name"]).set(engine.queue, number + 1)
    Watched(fleet, prometheus, exporter).scrape(pods)
    prometheus.await_scrape(2)
    assert found(prometheus, engine) == {"chat-0": ("10.244.0.1:8080", 1), "chat-1": ("10.244.0.2:8080", 2)}


def test_a_series_tells_workload_and_model(prometheus: Prometheus, exporter: Exporter) -> None:
    """What dashboards and alerts group by; the operator's own labels are as it always sets them."""
    fleet, (pod, _) = two(scaled("chat", HERE, [pods_metric(VLLM.queue, "5")]))
    exporter.pod(VLLM, HERE, "chat-0")
    Watched(fleet, prometheus, exporter).scrape([pod])
    prometheus.await_scrape()
    (sample,) = prometheus.query(VLLM.queue)
    assert sample.labels == {
        "__name__": VLLM.queue,
        "namespace": HERE,
        "pod": "chat-0",
        "container": "model-runner",
        "model": "qwen",
        "workload": "chat",
        "endpoint": "http",
        "job": "serving/chat",
        "instance": "10.244.0.1:8080",
        "model_name": "model",
        "engine": "0",
    }


def test_only_the_workloads_own_pods_are_asked(prometheus: Prometheus, exporter: Exporter) -> None:
    """Neither pods with other labels, nor such as ended, nor the namesakes of another namespace."""
    fleet, pods = two(scaled("chat", HERE, [pods_metric(VLLM.queue, "5")]))
    ended = {**pods[1], "status": {**pods[1]["status"], "phase": "Succeeded"}}
    labels = {"app.kubernetes.io/instance": "chat-2"}
    other = {**pods[1], "metadata": {"name": "other", "namespace": HERE, "labels": labels}}
    away = {**pods[0], "metadata": {**pods[0]["metadata"], "namespace": "elsewhere"}}
    for pod in (*pods, other, away):
        exporter.pod(VLLM, pod["metadata"]["namespace"], pod["metadata"]["name"])
    Watched(fleet, prometheus, exporter).scrape([pods[0], ended, other, away])
    prometheus.await_scrape()
    assert [(s.labels["namespace"], s.labels["pod"]) for s in prometheus.query(VLLM.queue)] == [(HERE, "chat-0")]


def test_a_port_without_a_name_is_asked_by_its_number(prometheus: Prometheus, exporter: Exporter) -> None:
    """And the container beside the engine, which declares a port of its own, is not asked."""
    engine = runner(image="vllm/vllm-openai:v0.9.2", args=["--port=9000"], ports=[{"containerPort": 9000}])
    beside = {"name": "proxy", "image": "example.com/proxy:v1", "ports": [{"name": "web", "containerPort": 80}]}
    fleet, pods = two(by_hand("chat", engine, beside))
    for pod in pods:
        exporter.pod(VLLM, HERE, pod["metadata"]["name"])
    Watched(fleet, prometheus, exporter).scrape(pods)
    prometheus.await_scrape(2)
    assert {where for where, _ in found(prometheus).values()} == {"10.244.0.1:9000", "10.244.0.2:9000"}
    assert {sample.labels["container"] for sample in prometheus.query(VLLM.queue)} == {"model-runner"}


@pytest.mark.parametrize(("args", "port"), [(["--port=9000"], 9000), ([], 8000)])
def test_a_port_that_is_not_declared_is_asked_all_the_same(
    prometheus: Prometheus, exporter: Exporter, args: list[str], port: int
) -> None:
    """Once for each pod: neither its init container nor the container beside the engine is asked."""
    engine = runner(image="vllm/vllm-openai:v0.9.2", args=args)
    beside = {"name": "proxy", "image": "example.com/proxy:v1", "ports": [{"name": "web", "containerPort": 80}]}
    fleet, pods = two(by_hand("chat", engine, beside))
    for pod in pods:
        exporter.pod(VLLM, HERE, pod["metadata"]["name"])
    Watched(fleet, prometheus, exporter).scrape(pods)
    prometheus.await_scrape(2)
    assert found(prometheus) == {
        "chat-0": (f"10.244.0.1:{port}", 0),
        "chat-1": (f"10.244.0.2:{port}", 0),
    }
    assert {sample.labels["container"] for sample in prometheus.query(VLLM.queue)} == {"model-runner"}
    assert len(prometheus.query(VLLM.queue)) == 2


def test_of_a_group_only_the_leader_is_asked(prometheus: Prometheus, exporter: Exporter) -> None:
    """Workers of a LeaderWorkerSet may serve the same series; a group would count twice (lws-hpa spec 1.9)."""
    fleet = made(in_namespace(playground("chat", "qwen"), HERE), workload=WorkloadChoice.LWS)
    workload = fleet.find("LeaderWorkerSet", "chat", HERE)
    pods = [
        *pods_of(workload, "chat-0", name="chat", group_index="0", worker_index="0"),
        *pods_of(workload, "chat-0-1", name="chat", group_index="0", worker_index="1"),
        *pods_of(workload, "chatter-0", name="chatter", group_index="0", worker_index="0"),
    ]
    for pod in pods:
        exporter.pod(VLLM, HERE, pod["metadata"]["name"])
    Watched(fleet, prometheus, exporter).scrape(pods)
    prometheus.await_scrape()
    assert set(found(prometheus)) == {"chat-0"}


# The translation itself


def test_a_pod_is_one_target_per_port() -> None:
    """Prometheus' page on kubernetes_sd_config: a container without ports is a target without a port."""
    pod = {
        "metadata": {"name": "chat-0", "namespace": HERE, "labels": {"app.kubernetes.io/name": "x"}},
        "spec": {
            "containers": [{"name": "a", "ports": [{"name": "http", "containerPort": 1}, {"containerPort": 2}]}],
            "initContainers": [{"name": "b"}],
        },
        "status": {"phase": "Running", "podIP": "10.244.0.9"},
    }
    targets = targets_of(pod)
    assert [each["targets"] for each in targets] == [["10.244.0.9:1"], ["10.244.0.9:2"], ["10.244.0.9"]]
    told = "__meta_kubernetes_pod_container_port_number"
    assert [each["labels"].get(told) for each in targets] == ["1", "2", None]
    assert {each["labels"]["__meta_kubernetes_pod_label_app_kubernetes_io_name"] for each in targets} == {"x"}


def test_a_field_that_is_not_translated_is_told() -> None:
    monitor = made(in_namespace(playground("chat", "qwen"), HERE)).find("PodMonitor", "chat", HERE)
    monitor["spec"]["podMetricsEndpoints"][0]["honorLabels"] = True
    with pytest.raises(WorkbenchError, match="honorLabels"):
        exporter_job(monitor, "pods.json", "127.0.0.1:1")

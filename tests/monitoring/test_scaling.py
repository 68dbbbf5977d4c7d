"""The autoscaler of a real controller manager, moved by what the pods' pages say, through generated rules."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fleets import open_model
from tests.group_pods import LABEL
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.prometheus import Prometheus
from tests.monitoring.simulated.chain import Chain, Reported, SharedLoad
from tests.monitoring.simulated.engines import VLLM, WVA
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import Made, made, scaled
from tests.monitoring.simulated.workload import external_metric, pods_metric, without_waiting
from toolkit.kube import Kube

Json = dict[str, Any]
Adapting = Callable[[Json], Adapter]


def parts(fleet: Made, namespace: str) -> tuple[Json, Json]:
    """The Deployment and the autoscaler as they are rendered; of the latter, a copy that does not wait."""
    return (
        fleet.find("Deployment", "chat", namespace),
        without_waiting(fleet.find("HorizontalPodAutoscaler", "chat", namespace)),
    )


def test_waiting_requests_move_replicas_up_and_down(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """ceil(1 pod x 15 waiting / 5) = 3, and with one waiting per pod ceil(3 x 1 / 5) = 1."""
    fleet = made(scaled("chat", metrics_namespace, [pods_metric("vllm:num_requests_waiting", "5")], maximum=3))
    model, hpa = parts(fleet, metrics_namespace)
    running = adapter(dict(fleet.chain.adapter_rules))
    chain = Chain(metrics_kube, prometheus, exporter, running, fleet.find("PodMonitor", "chat", metrics_namespace))
    assert chain.scale(model, hpa, SharedLoad(VLLM, VLLM.queue), [0, 15, 3]) == [1, 3, 1]


def test_what_wva_wants_is_what_the_model_gets(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """With AverageValue 1 the metric is the number of replicas."""
    wish = external_metric("inferno_desired_replicas", "1", variant_name="chat")
    fleet = made(scaled("chat", metrics_namespace, [wish], maximum=3))
    model, hpa = parts(fleet, metrics_namespace)
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    labels = {"variant_name": "chat", "namespace": metrics_namespace, "accelerator_type": "A100"}
    # A variant of the same name somewhere else is no reason to scale this one.
    controller.set("inferno_desired_replicas", 3, **{**labels, "namespace": "elsewhere"})
    # Nor is what the controller said while the variant was on another accelerator.
    controller.set("inferno_desired_replicas", 1, **{**labels, "accelerator_type": "A10G"})
    load = Reported(VLLM, controller, "inferno_desired_replicas", labels)
    chain = Chain(metrics_kube, prometheus, exporter, adapter(dict(fleet.chain.adapter_rules)))
    assert chain.scale(model, hpa, load, [1, 3, 1]) == [1, 3, 1]


@pytest.mark.usefixtures("metrics_groups")
def test_what_wva_wants_is_what_a_group_gets(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """An autoscaler moves groups through the scale subresource of the LeaderWorkerSet; a group is one replica."""
    wish = external_metric("inferno_desired_replicas", "1", variant_name="chat")
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}
    document = scaled("chat", metrics_namespace, [wish], maximum=3)
    one_by_one = {"type": "Pods", "value": 1, "periodSeconds": 60}
    slowly = {"scaleDown": {"stabilizationWindowSeconds": 600, "policies": [one_by_one]}}
    document["spec"]["elasticConfig"]["scaleTrigger"]["hpa"]["behavior"] = slowly
    fleet = made(document, model=open_model("qwen", flavors=[flavor]))
    model = fleet.find("LeaderWorkerSet", "chat", metrics_namespace)
    assert model["spec"]["leaderWorkerTemplate"]["size"] == 2
    hpa = without_waiting(fleet.find("HorizontalPodAutoscaler", "chat", metrics_namespace))
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    labels = {"variant_name": "chat", "namespace": metrics_namespace, "accelerator_type": "A100"}
    load = Reported(VLLM, controller, "inferno_desired_replicas", labels)
    chain = Chain(metrics_kube, prometheus, exporter, adapter(dict(fleet.chain.adapter_rules)))
    assert chain.scale(model, hpa, load, [1, 3, 1]) == [1, 3, 1]

    def names() -> list[str]:
        running = metrics_kube.list("v1", "Pod", metrics_namespace, labels=f"{LABEL}/name=chat")
        return sorted(pod["metadata"]["name"] for pod in running)

    eventually(lambda: names() == ["chat-0", "chat-0-1"], "one group")

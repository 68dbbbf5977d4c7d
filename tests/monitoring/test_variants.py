"""Variants sized by service levels: the autoscalers that are rendered for them move Deployments and groups.

Real: the API server, the controller manager with the autoscaler, Prometheus, prometheus-adapter. Played: what the
variant controller and the pods export, and the controller of LeaderWorkerSets.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from components.families.llmd.names import NAMESPACE
from components.fleet.levels import Accelerator, LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.words import Realization
from tests.fleets import open_model, playground
from tests.group_pods import LABEL
from tests.monitoring.programs.adapter import Adapter
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.programs.prometheus import Prometheus
from tests.monitoring.simulated.chain import Chain, Reported, SharedLoad
from tests.monitoring.simulated.engines import VLLM, WVA
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import MODEL, Made, in_namespace, made
from tests.monitoring.simulated.workload import without_waiting
from toolkit.kube import Kube

Json = dict[str, Any]
Adapting = Callable[[Json], Adapter]
GROUPED = open_model(
    "qwen", flavors=[{"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
)
LEVELS = ServiceLevels(
    classes=(ServiceClass("premium", 1, {"qwen": LatencyTargets(itl_ms=24, ttft_ms=500)}),),
    # The first vector of WVA spec 8.10: 25.3 requests a minute for each replica.
    loads={"chat": Load(per_minute=Decimal(70), output_tokens=Decimal(178))},
    accelerators={"A10G": Accelerator(cents_per_hour=Decimal(40))},
)


def variant(namespace: str, accelerators: int = 1) -> Json:
    """A VariantAutoscaling of the Playground ``chat``."""
    profile = {"acc": "A10G", "accCount": accelerators, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 4}
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {
            "name": "chat",
            "namespace": namespace,
            "labels": {"inference.optimization/acceleratorName": "A10G"},
        },
        "spec": {
            "modelID": "qwen",
            "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
            "modelProfile": {"accelerators": [profile]},
        },
    }


def sized(namespace: str, *, model: Json = MODEL, accelerators: int = 1, **options: Any) -> Made:
    """A Playground and its VariantAutoscaling as they are rendered."""
    chat = in_namespace(playground("chat", model="qwen"), namespace)
    return made(chat, variant(namespace, accelerators), model=model, levels=LEVELS, **options)


def parts(fleet: Made, kind: str, namespace: str) -> tuple[Json, Json]:
    """The workload and its autoscaler as they are rendered; of the latter, a copy that does not wait."""
    (hpa,) = (s.body for _, s in fleet.fleet.autoscalers)
    assert hpa["metadata"]["namespace"] == namespace
    return fleet.find(kind, "chat", namespace), without_waiting(hpa)


def test_the_controllers_wish_moves_a_deployment(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    fleet = sized(metrics_namespace, realizations={"llmd": Realization.OPERATOR})
    model, hpa = parts(fleet, "Deployment", metrics_namespace)
    controller = exporter.pod(WVA, NAMESPACE, "wva-0", container="manager", endpoint="https")
    labels = {"variant_name": "chat", "namespace": metrics_namespace, "accelerator_type": "A10G"}
    # What it wants of a variant of the same name somewhere else.
    controller.set("inferno_desired_replicas", 2, **{**labels, "namespace": "elsewhere"})
    load = Reported(VLLM, controller, "inferno_desired_replicas", labels)
    chain = Chain(metrics_kube, prometheus, exporter, adapter(dict(fleet.chain.adapter_rules)))
    assert chain.scale(model, hpa, load, [1, 3, 1]) == [1, 3, 1]


def test_waiting_requests_move_a_deployment_within_the_bounds_of_the_plan(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """70 requests a minute need 3 replicas of 25.3 each: more than that are never made, however many wait."""
    fleet = sized(metrics_namespace)
    model, hpa = parts(fleet, "Deployment", metrics_namespace)
    assert (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"]) == (1, 3)
    chain = Chain(
        metrics_kube,
        prometheus,
        exporter,
        adapter(dict(fleet.chain.adapter_rules)),
        fleet.find("PodMonitor", "chat", metrics_namespace),
    )
    assert chain.scale(model, hpa, SharedLoad(VLLM, VLLM.queue), [0, 60, 0]) == [1, 3, 1]


@pytest.mark.usefixtures("metrics_groups")
def test_waiting_requests_move_groups(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """The same with two pods for each replica: the autoscaler counts leaders, and moves groups."""
    fleet = sized(metrics_namespace, model=GROUPED, accelerators=2)
    model, hpa = parts(fleet, "LeaderWorkerSet", metrics_namespace)
    assert model["spec"]["leaderWorkerTemplate"]["size"] == 2
    chain = Chain(
        metrics_kube,
        prometheus,
        exporter,
        adapter(dict(fleet.chain.adapter_rules)),
        fleet.find("PodMonitor", "chat", metrics_namespace),
    )
    assert chain.scale(model, hpa, SharedLoad(VLLM, VLLM.queue), [0, 60, 0]) == [1, 3, 1]

    def names() -> list[str]:
        running = metrics_kube.list("v1", "Pod", metrics_namespace, labels=f"{LABEL}/name=chat")
        return sorted(pod["metadata"]["name"] for pod in running)

    eventually(lambda: names() == ["chat-0", "chat-0-1"], "one group")

"""The autoscaler of a real controller manager, moved by what the pods' pages say."""

from collections.abc import Callable
from typing import Any

from tests.monitoring.adapter import Adapter
from tests.monitoring.chain import Chain, Reported, SharedLoad
from tests.monitoring.engines import VLLM, WVA
from tests.monitoring.exporter import Exporter
from tests.monitoring.prometheus import Prometheus
from tests.monitoring.test_adapter import RULES
from tests.monitoring.workload import autoscaler, deployment, external_metric, pods_metric
from workbench.kube import Kube

Json = dict[str, Any]
Adapting = Callable[[Json], Adapter]


def test_waiting_requests_move_replicas_up_and_down(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """ceil(1 pod x 15 waiting / 5) = 3, and with one waiting per pod ceil(3 x 1 / 5) = 1."""
    model = deployment(metrics_namespace)
    hpa = autoscaler(model, pods_metric("vllm_num_requests_waiting", "5"))
    chain = Chain(metrics_kube, prometheus, exporter, adapter({**RULES, "external": []}))
    assert chain.scale(model, hpa, SharedLoad(VLLM, VLLM.queue), [0, 15, 3]) == [1, 3, 1]


def test_what_wva_wants_is_what_the_model_gets(
    metrics_kube: Kube, metrics_namespace: str, prometheus: Prometheus, exporter: Exporter, adapter: Adapting
) -> None:
    """With AverageValue 1 the sum of the metric is the number of replicas."""
    model = deployment(metrics_namespace)
    controller = exporter.pod(WVA, "inferno-autoscaler-system", "wva-0", container="manager", endpoint="https")
    labels = {"variant_name": "chat", "namespace": metrics_namespace, "accelerator_type": "A100"}
    # A variant of the same name somewhere else is no reason to scale this one.
    controller.set("inferno_desired_replicas", 3, **{**labels, "namespace": "elsewhere"})
    load = Reported(VLLM, controller, "inferno_desired_replicas", labels)
    hpa = autoscaler(model, external_metric("inferno_desired_replicas", "1", variant_name="chat"))
    chain = Chain(metrics_kube, prometheus, exporter, adapter({**RULES, "custom": []}))
    assert chain.scale(model, hpa, load, [1, 3, 1]) == [1, 3, 1]

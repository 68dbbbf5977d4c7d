"""Autoscalers that do nothing on the workbench are named, with the reason; all others are not."""

from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from livefleet.fleet import LiveFleet
from livefleet.reading.fleet import fleet_of
from tests.fleets import open_model, playground
from tests.monitoring.simulated.workload import external_metric, pods_metric

Json = dict[str, Any]
QUEUE = pods_metric("vllm:num_requests_waiting", "5")
WISH = external_metric("inferno_desired_replicas", "1", variant_name="chat")
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}


def played(*metrics: Json, realization: Realization = Realization.NATIVE, **environment: Any) -> LiveFleet:
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
    elastic = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": list(metrics)}}}
    documents = [open_model("qwen", flavors=[flavor]), playground("chat", model="qwen", elasticConfig=elastic)]
    found = plan(
        objects(documents), Environment(options=Options(namespace="models", realization=realization), **environment)
    )
    return fleet_of("dev", found)


@pytest.mark.parametrize(
    ("metrics", "sentences"),
    [
        ([QUEUE], ()),
        ([QUEUE, WISH], ()),  # the queue alone moves it
        ([QUEUE, CPU], ()),
        ([WISH], ("nothing on the workbench emits inferno_desired_replicas: models/chat keep their replicas",)),
        ([CPU], ("nothing on the workbench uses CPU or memory: models/chat keep their replicas",)),
    ],
    ids=["queue", "queue and wish", "queue and CPU", "wish", "CPU"],
)
def test_what_an_autoscaler_waits_for(metrics: list[Json], sentences: tuple[str, ...]) -> None:
    fleet = played(*metrics)
    assert fleet.at_rest == sentences
    assert bool(fleet.autoscalers) is not bool(sentences)


def test_keda_does_not_run_here() -> None:
    fleet = played(QUEUE, metrics=MetricSettings(adapter=Adapter.KEDA))
    sentence = "what follows ScaledObjects does not run on the workbench: models/chat keep their replicas"
    assert (fleet.at_rest, fleet.autoscalers) == ((sentence,), {})


def test_what_an_operator_would_make_is_not_there_at_all() -> None:
    fleet = played(QUEUE, realization=Realization.OPERATOR)
    assert (fleet.at_rest, fleet.autoscalers) == ((), {})

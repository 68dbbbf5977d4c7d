"""Autoscalers that are manifests of their own, in the live fleet and in virtual time."""

from typing import Any

import pytest

from livefleet.reading.fleet import fleet_of
from livefleet.reading.paces import speeds_of
from livefleet.virtual.fleet import Gauge
from livefleet.virtual.reading import virtual_fleet
from tests.plan.test_written_scalers import hpa, planned, scaled_object

Json = dict[str, Any]
CPU: Json = {**hpa(metrics=None, targetCPUUtilizationPercentage=80), "apiVersion": "autoscaling/v1"}
REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat", "service": "chat", "port": 8080}
HTTP: Json = {
    "apiVersion": "http.keda.sh/v1alpha1",
    "kind": "HTTPScaledObject",
    "metadata": {"name": "chat"},
    "spec": {"hosts": ["chat.example.com"], "scaleTargetRef": REFERENCE, "replicas": {"min": 1, "max": 2}},
}
PROXY = "its HTTPScaledObject scales on requests at the proxy of KEDA, which is not simulated"
KINDS = {"autoscaling/v2": hpa(), "autoscaling/v1": CPU, "ScaledObject": scaled_object(), "HTTPScaledObject": HTTP}


@pytest.mark.parametrize("kind", KINDS)
def test_they_change_no_pace(kind: str) -> None:
    assert speeds_of(planned(KINDS[kind])) == speeds_of(planned())


@pytest.mark.parametrize(
    ("kind", "gauges", "reason"),
    [
        ("autoscaling/v2", {"vllm:num_requests_waiting": Gauge.QUEUE}, ""),
        ("autoscaling/v1", None, "its autoscaler reads metrics that are not simulated"),
        ("ScaledObject", {"s0-prometheus": Gauge.QUEUE}, ""),
        ("HTTPScaledObject", None, PROXY),
    ],
)
def test_in_virtual_time_they_scale_or_have_a_reason(kind: str, gauges: Json | None, reason: str) -> None:
    found = virtual_fleet("dev", planned(KINDS[kind]))
    (chat,) = found.workloads
    assert (chat.scaler.gauges if chat.scaler else None) == gauges
    notes = [note for note in found.notes if "keeps its replicas" in note]
    assert notes == ([f"models/chat keeps its replicas: {reason}."] if reason else [])


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("autoscaling/v2", ""),
        ("autoscaling/v1", "nothing on the workbench uses CPU or memory"),
        ("ScaledObject", "what follows ScaledObjects does not run on the workbench"),
        ("HTTPScaledObject", "what follows HTTPScaledObjects does not run on the workbench"),
    ],
)
def test_in_the_live_fleet_they_scale_or_have_a_reason(kind: str, rest: str) -> None:
    found = fleet_of("dev", planned(KINDS[kind]))
    assert found.at_rest == ((f"{rest}: models/chat keep their replicas",) if rest else ())
    assert found.autoscalers == ({} if rest else {"models/chat": ("models", "chat")})

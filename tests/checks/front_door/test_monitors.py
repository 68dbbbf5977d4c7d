"""What is scraped of the gateway, and where it is shown."""

import json
from dataclasses import replace
from typing import Any

import pytest

from components.checks.front_door.door import Door
from components.checks.metrics.chain import MetricSettings
from components.families import objects
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.checks.front_door.doors import BALANCERS, PRIVATE, PUBLIC, Object
from tests.fleets import GPU, open_model, playground

PRESENT = frozenset({"prometheus", "envoy-gateway", "ai-gateway", "cert-manager"})
MODELS = (open_model("m", flavors=[GPU]), playground("chat", "m"))


def planned(door: Door, *models: Any, watched: bool = True, present: frozenset[str] = PRESENT, **more: Any) -> Plan:
    facts = ClusterFacts(present=present, monitoring=watched)
    options = Options(namespace="models")
    environment = Environment(options=options, cluster=facts, watched=watched, door=door, **more)
    found = plan(objects(models), environment)
    assert not [problem for problem in found.problems if problem.severity == "error"], found.problems
    return found


def monitors(found: Plan) -> dict[str, Object]:
    return {body["metadata"]["name"]: body for body in found.monitoring if body["kind"] == "PodMonitor"}


def rows(found: Plan) -> list[str]:
    (shown,) = [body for body in found.monitoring if body["kind"] == "ConfigMap"]
    (text,) = shown["data"].values()
    return [panel["title"] for panel in json.loads(text)["panels"] if panel["type"] == "row"]


def test_the_proxies_and_their_sidecars_are_scraped() -> None:
    """Ports and paths as the two projects document them: 19001 is named metrics, 1064 aigw-admin."""
    settings = MetricSettings(interval="20s", monitor_labels={"release": "kps"})
    found = planned(PUBLIC, *MODELS, metrics=settings)
    assert set(monitors(found)) == {"chat", "inference-gateway.proxies"}
    assert monitors(found)["inference-gateway.proxies"] == {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {
            "name": "inference-gateway.proxies",
            "namespace": "models",
            "labels": {"release": "kps"},
        },
        "spec": {
            "namespaceSelector": {"matchNames": ["envoy-gateway-system"]},
            "selector": {
                "matchLabels": {
                    "app.kubernetes.io/component": "proxy",
                    "gateway.envoyproxy.io/owning-gateway-name": "inference-gateway",
                    "gateway.envoyproxy.io/owning-gateway-namespace": "envoy-gateway-system",
                }
            },
            "podMetricsEndpoints": [
                {"port": "metrics", "path": "/stats/prometheus", "interval": "20s"},
                {"port": "aigw-admin", "path": "/metrics", "interval": "20s"},
            ],
        },
    }
    assert "Front door" in rows(found)


def test_proxies_run_in_the_namespace_of_the_controller_whatever_that_of_their_gateway() -> None:
    spec = monitors(planned(replace(PRIVATE, namespace="models"), *MODELS))["inference-gateway.proxies"]["spec"]
    assert spec["namespaceSelector"] == {"matchNames": ["envoy-gateway-system"]}
    assert spec["selector"]["matchLabels"]["gateway.envoyproxy.io/owning-gateway-namespace"] == "models"


@pytest.mark.parametrize(("door", "models"), [(BALANCERS, MODELS), (Door(), MODELS), (PUBLIC, ())])
def test_without_a_gateway_there_is_nothing_of_it(door: Door, models: tuple[Object, ...]) -> None:
    found = planned(door, *models, present=PRESENT | {"load-balancer-controller"})
    assert "inference-gateway.proxies" not in monitors(found)
    assert "Front door" not in rows(found)


def test_unwatched_the_gateway_is_not_scraped_and_without_prometheus_nothing_is() -> None:
    assert set(monitors(planned(PUBLIC, *MODELS, watched=False))) == {"chat"}
    assert planned(PUBLIC, *MODELS, watched=False, present=PRESENT - {"prometheus"}).monitoring == ()

"""What scrapes models gets through their network policies, wherever it is, or the plan says what to write."""

from typing import Any

import pytest

from components.families import objects
from components.plan.monitoring import namespace_in
from components.plan.plan import Plan, plan
from components.plan.prerequisites.prometheus import PROMETHEUS_URL
from components.plan.settings import FleetSettings
from tests.checks.hardening.reaching import Caller, lets_in
from tests.fleets import GPU, open_model, playground

OTHER = "http://prometheus.observability.svc"
FIELD = "prerequisites.prometheusNamespace"
POD = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": "p"}


def planned(*, policies: bool = True, **prerequisites: Any) -> Plan:
    said = {"prerequisites": {"monitoring": True, **prerequisites}, "hardening": {"networkPolicies": policies}}
    manifests = objects([open_model(flavors=[GPU]), playground()], "manifests")
    # Behind a gateway not every pod of the cluster is let in.
    said["frontDoor"] = {"expose": "gateway", "internal": True, "allowAnonymous": True}
    said["prerequisites"]["present"] = [*said["prerequisites"].get("present", []), "envoy-gateway", "ai-gateway"]
    return plan(manifests, FleetSettings.model_validate(said).environment())


def wrong(made: Plan) -> list[tuple[str, str]]:
    return [(p.path, p.reason) for p in made.problems if p.is_error]


@pytest.mark.parametrize(
    ("prerequisites", "scraper"),
    [
        ({"install": True}, "monitoring"),
        ({"present": ["prometheus"], "prometheusNamespace": "observability"}, "observability"),
        ({"present": ["prometheus"], "prometheusUrl": OTHER}, "observability"),
        ({"present": ["prometheus"], "prometheusUrl": f"{OTHER}.cluster.local"}, "observability"),
        # What is asked need not be what scrapes.
        ({"present": ["prometheus"], "prometheusUrl": OTHER, "prometheusNamespace": "agents"}, "agents"),
        ({"present": ["prometheus"], "monitoring": False, "prometheusNamespace": "agents"}, "agents"),
    ],
)
def test_what_scrapes_gets_through(prerequisites: dict[str, Any], scraper: str) -> None:
    made = planned(**prerequisites)
    assert wrong(made) == []
    through = {
        name
        for name in ("monitoring", "observability", "agents", "models")
        if lets_in(made.policies, POD, "models", Caller(name, {"app": "prometheus"}), 8080)
    }
    assert through == {scraper}


@pytest.mark.parametrize(
    ("prerequisites", "policies", "said"),
    [
        ({"present": ["prometheus"]}, True, "is required with network policies and a Prometheus that is present"),
        (
            {"present": ["prometheus"], "prometheusUrl": "https://metrics.example.com"},
            True,
            "is required with network policies",
        ),
        ({"install": True, "prometheusNamespace": "observability"}, True, "Prometheus is not listed under present"),
        (
            {"present": ["prometheus"], "prometheusNamespace": "observability"},
            False,
            "has no effect without network policies",
        ),
    ],
)
def test_nothing_is_denied_or_ignored_in_silence(prerequisites: dict[str, Any], said: str, *, policies: bool) -> None:
    ((path, reason),) = wrong(planned(policies=policies, **prerequisites))
    assert path == FIELD
    assert said in reason


def test_without_policies_nobody_has_to_say_where_it_is() -> None:
    assert wrong(planned(policies=False, present=["prometheus"])) == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://prometheus.observability.svc:9090", "observability"),
        ("https://thanos-query.o11y.svc.cluster.local./api", "o11y"),
        ("http://prometheus.corp:9090", None),
        ("https://prometheus.observability.svc.example.com", None),
        ("https://metrics.example.com:9090", None),
        ("http://10.0.0.7:9090", None),
        (f"{PROMETHEUS_URL}:9090", None),
    ],
)
def test_the_address_of_a_service_has_a_namespace(url: str, expected: str | None) -> None:
    assert namespace_in(url) == expected

"""Who may connect to models: each row is an exact rule; a small model of the API decides who gets through."""

from dataclasses import replace
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.hardening.network_policies import Allowed, network_policies
from components.fleet.words import Realization
from tests.checks.hardening.reaching import PROXY, Caller, lets_in
from tests.families.llmkube.support import isvc, model
from tests.fleets import GPU, fleet_of, open_model, playground, service

Object = dict[str, Any]
TWO_NODES = [{"name": "two", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
DEPLOYMENT = {"app.kubernetes.io/name": "llmaz-service", "app.kubernetes.io/instance": "p"}
GROUP = {"leaderworkerset.sigs.k8s.io/name": "p"}
LEADER = {**GROUP, "leaderworkerset.sigs.k8s.io/worker-index": "0"}
EVERYBODY = {"from": [{"namespaceSelector": {}}], "ports": [{"protocol": "TCP", "port": 8080}]}
MONITORING = {
    "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
    "ports": [{"protocol": "TCP", "port": 8080}],
}


def policies(*documents: Object, allowed: Allowed | None = None, **options: Any) -> dict[str, Object]:
    made = network_policies(fleet_of(*documents, **options), allowed or Allowed())
    for body in made:
        kubernetes_validate.validate(body, "1.36", strict=True)
    found = {body["metadata"]["name"]: body for body in made}
    assert len(found) == len(made)
    return found


def one(flavors: list[Object] | None = None, **spec: Any) -> tuple[Object, Object]:
    return open_model(flavors=flavors or [GPU]), playground(**spec)


def test_a_deployment_is_closed_but_for_metrics_and_clients_of_the_cluster() -> None:
    assert policies(*one()) == {
        "p": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {
                "podSelector": {"matchLabels": DEPLOYMENT},
                "policyTypes": ["Ingress"],
                "ingress": [MONITORING, EVERYBODY],
            },
        }
    }


def test_of_a_group_the_leader_serves_and_the_pods_talk_among_each_other() -> None:
    found = policies(*one(TWO_NODES))
    assert found["p"]["spec"] == {
        "podSelector": {"matchLabels": LEADER},
        "policyTypes": ["Ingress"],
        "ingress": [MONITORING, EVERYBODY],
    }
    assert found["p.group"]["spec"] == {
        "podSelector": {"matchLabels": GROUP},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {"matchLabels": GROUP}}]}],
    }
    assert set(found) == {"p", "p.group"}


@pytest.mark.parametrize(
    ("allowed", "ingress"),
    [
        (Allowed(gateway_namespace="envoy-gateway-system"), [MONITORING, EVERYBODY]),
        (Allowed(gateway_namespace="envoy-gateway-system", clients=(), cidrs=("10.0.0.0/16",)), [MONITORING]),
    ],
)
def test_a_deployment_behind_no_endpoint_has_a_policy_too(allowed: Allowed, ingress: list[Object]) -> None:
    """The gateway and load balancers lead to endpoints alone; clients may call what the settings let them call."""
    fleet = fleet_of(*one())
    apart = replace(fleet, rendered=tuple(replace(each, endpoints=()) for each in fleet.rendered))
    (body,) = network_policies(apart, allowed)
    assert body["spec"]["podSelector"] == {"matchLabels": DEPLOYMENT}
    assert body["spec"]["ingress"] == ingress


def test_a_model_that_is_shut_off_takes_nothing() -> None:
    """An empty list of rules is not the same as none: it denies."""
    (body,) = policies(*one(), allowed=Allowed(monitoring_namespace=None, clients=())).values()
    assert body["spec"]["ingress"] == []


def test_the_gateway_is_its_proxies_in_their_namespace() -> None:
    allowed = Allowed(gateway_namespace="envoy-gateway-system", monitoring_namespace=None, clients=())
    (body,) = policies(*one(), allowed=allowed).values()
    assert body["spec"]["ingress"] == [
        {
            "from": [
                {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "envoy-gateway-system"}},
                    "podSelector": {
                        "matchLabels": {
                            "app.kubernetes.io/name": "envoy",
                            "app.kubernetes.io/component": "proxy",
                            "app.kubernetes.io/managed-by": "envoy-gateway",
                        }
                    },
                }
            ],
            "ports": [{"protocol": "TCP", "port": 8080}],
        }
    ]
    bare = replace(allowed, gateway_pods={})
    (body,) = policies(*one(), allowed=bare).values()
    assert "podSelector" not in body["spec"]["ingress"][0]["from"][0]


def test_clients_are_namespaces_with_labels_and_addresses_outside() -> None:
    allowed = Allowed(monitoring_namespace=None, clients=({"team": "a"}, {"team": "b"}), cidrs=("10.0.0.0/16",))
    (body,) = policies(*one(), allowed=allowed).values()
    assert body["spec"]["ingress"] == [
        {
            "from": [
                {"namespaceSelector": {"matchLabels": {"team": "a"}}},
                {"namespaceSelector": {"matchLabels": {"team": "b"}}},
                {"ipBlock": {"cidr": "10.0.0.0/16"}},
            ],
            "ports": [{"protocol": "TCP", "port": 8080}],
        }
    ]


def test_addresses_of_load_balancers_are_for_models_behind_one() -> None:
    """Of two InferenceServices, the one whose Service asks for one by itself."""
    documents = [model(), isvc("open", endpoint={"type": "LoadBalancer"}), isvc("closed")]
    allowed = Allowed(monitoring_namespace=None, clients=(), cidrs=("10.0.0.0/16",), only_balanced=True)
    found = policies(*documents, allowed=allowed)
    assert found["closed"]["spec"]["ingress"] == []
    assert found["open"]["spec"]["ingress"] == [
        {"from": [{"ipBlock": {"cidr": "10.0.0.0/16"}}], "ports": [{"protocol": "TCP", "port": 8080}]}
    ]


@pytest.mark.parametrize("cidr", ["10.0.0.1/16", "here", "10.0.0.0/33"])
def test_what_is_no_network_is_refused(cidr: str) -> None:
    with pytest.raises(ValueError, match="is not a network such as"):
        Allowed(cidrs=(cidr,))


def test_ports_are_those_of_the_pods() -> None:
    """The Service listens on 8080 and forwards: a policy is about the pod's own port."""
    args = {"args": ["--port", "9000"]}
    (body,) = policies(*one(backendRuntimeConfig=args), allowed=Allowed(metrics_port=9400)).values()
    assert [rule["ports"][0]["port"] for rule in body["spec"]["ingress"]] == [9400, 9000]


def test_egress_is_open_unless_restricted() -> None:
    assert "egress" not in policies(*one())["p"]["spec"]
    found = policies(*one(TWO_NODES), allowed=Allowed(restrict_egress=True))
    assert "Egress" not in found["p"]["spec"]["policyTypes"]
    spec = found["p.group"]["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["egress"] == [
        {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
        {"ports": [{"protocol": "TCP", "port": 443}]},
        {"to": [{"ipBlock": {"cidr": "169.254.170.23/32"}}], "ports": [{"protocol": "TCP", "port": 80}]},
        {"to": [{"podSelector": {"matchLabels": GROUP}}]},
    ]
    alone = policies(*one(), allowed=Allowed(restrict_egress=True))["p"]["spec"]
    assert alone["egress"] == spec["egress"][:3]


def test_under_an_operator_the_labels_are_those_of_its_group() -> None:
    found = policies(*one(), realization=Realization.OPERATOR)
    assert found["p"]["spec"]["podSelector"] == {"matchLabels": LEADER}
    assert set(found) == {"p", "p.group"}


def test_each_workload_has_its_own_in_its_namespace() -> None:
    other = service("s")
    other["metadata"]["namespace"] = "other"
    found = network_policies(fleet_of(open_model(flavors=[GPU]), playground(), other), Allowed())
    assert [(b["metadata"]["namespace"], b["metadata"]["name"]) for b in found] == [("default", "p"), ("other", "s")]


def test_names_stay_apart_where_one_model_is_called_as_anothers_group() -> None:
    documents = [open_model(flavors=TWO_NODES), playground(), playground("p-group")]
    made = network_policies(fleet_of(*documents), Allowed())
    names = [body["metadata"]["name"] for body in made]
    assert len(set(names)) == len(names) == 4


NAMESPACES = st.sampled_from(["default", "other", "monitoring", "envoy-gateway-system"])
LABELS = st.sampled_from([{}, PROXY, GROUP, LEADER, DEPLOYMENT])
FLEETS = {
    "single": fleet_of(open_model(flavors=[GPU]), playground()),
    "group": fleet_of(open_model(flavors=TWO_NODES), playground()),
}


@given(NAMESPACES, LABELS, st.sampled_from([8080, 6379, 22]), st.sampled_from(sorted(FLEETS)), st.booleans())
def test_who_gets_through(namespace: str, labels: Object, port: int, shape: str, leader: bool) -> None:
    made = network_policies(FLEETS[shape], Allowed(gateway_namespace="envoy-gateway-system", clients=()))
    pod = DEPLOYMENT if shape == "single" else LEADER if leader else {**GROUP, "other": "label"}
    caller = Caller(namespace, labels)
    serves = port == 8080 and (shape == "single" or leader)
    proxy = namespace == "envoy-gateway-system" and labels == PROXY
    same_group = shape == "group" and namespace == "default" and labels in (GROUP, LEADER)
    expected = same_group or (serves and (proxy or namespace == "monitoring"))
    assert lets_in(made, pod, "default", caller, port) is expected
    assert lets_in(made, {"app": "somebody's"}, "default", caller, port), "pods of others stay open"

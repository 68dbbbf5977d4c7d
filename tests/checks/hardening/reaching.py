"""Who gets through to a pod: load balancers, what they do to a client's address, and NetworkPolicies.

As Kubernetes, AWS Load Balancer Controller and Elastic Load Balancing document them; nothing here is from our code.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.plan.plan import Plan

Object = dict[str, Any]
NLB = "service.beta.kubernetes.io/aws-load-balancer"
NLB_ADDRESS = "10.0.3.17"
"""One of a Network Load Balancer in the VPC 10.0.0.0/16: of a subnet of it (Elastic Load Balancing user guide)."""
NODE_ADDRESS = "192.168.7.7"
"""Of a node outside of AWS, other than the pod's own: by that one it hides a client's address."""
PROXY: Mapping[str, str] = {
    "app.kubernetes.io/name": "envoy",
    "app.kubernetes.io/component": "proxy",
    "app.kubernetes.io/managed-by": "envoy-gateway",
}


@dataclass(frozen=True)
class Caller:
    """Who opens a connection: a pod of a namespace, or an address outside the cluster."""

    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    address: str = ""


@dataclass(frozen=True)
class Balancer:
    """A Service of type LoadBalancer, or what Envoy Gateway makes of its EnvoyProxy."""

    namespace: str
    spec: Object
    annotations: Mapping[str, str]
    aws: bool

    @property
    def attributes(self) -> dict[str, str]:
        """Of its target groups (AWS Load Balancer Controller, annotations: target-group-attributes)."""
        text = self.annotations.get(f"{NLB}-target-group-attributes", "")
        return dict(pair.split("=", 1) for pair in text.split(",") if pair)

    def takes(self, client: str) -> bool:
        """Whether it takes connections of a client.

        AWS: the rules of the load balancer's security group, by the client's own address. Elsewhere the cloud's
        firewall or kube-proxy. Without ranges everybody.
        """
        return within(client, self.spec.get("loadBalancerSourceRanges") or ["0.0.0.0/0"])

    def address_at_pods(self, client: str) -> str:
        """Which address pods see.

        AWS: by default none is preserved for TCP to targets by address. Elsewhere nodes preserve it with the policy
        Local, and put their own in its place with Cluster, the default.
        """
        if self.aws:
            assert self.annotations[f"{NLB}-type"] == "external"
            assert self.annotations[f"{NLB}-nlb-target-type"] == "ip"
            preserved = self.attributes.get("preserve_client_ip.enabled", "false") == "true"
            return client if preserved else NLB_ADDRESS
        return client if self.spec.get("externalTrafficPolicy", "Cluster") == "Local" else NODE_ADDRESS

    def checks_from(self) -> str | None:
        """Where health checks of pods come from: on AWS its own address; elsewhere it checks nodes, not pods."""
        return NLB_ADDRESS if self.aws else None


def within(address: str, ranges: Iterable[str]) -> bool:
    return any(ipaddress.ip_address(address) in ipaddress.ip_network(each) for each in ranges)


def balancers(planned: Plan) -> list[Balancer]:
    """Those before the pods of models."""
    aws = planned.environment.cloud is not None
    return [
        Balancer(body["metadata"]["namespace"], body["spec"], body["metadata"].get("annotations", {}), aws)
        for body in planned.objects
        if (body["apiVersion"], body["kind"]) == ("v1", "Service") and body["spec"].get("type") == "LoadBalancer"
    ]


def gateway(planned: Plan) -> Balancer | None:
    """That before the proxies. Envoy Gateway's own traffic policy is Local (EnvoyProxy, envoyService)."""
    for body in planned.objects:
        if body["kind"] == "EnvoyProxy":
            made: Object = body["spec"]["provider"]["kubernetes"]["envoyService"]
            spec = {"externalTrafficPolicy": "Local", **made}
            return Balancer("envoy-gateway-system", spec, made["annotations"], planned.environment.cloud is not None)
    return None


def logged(planned: Plan, client: str) -> str:
    """What the gateway takes for a client's address; empty if it takes no connection at all.

    A proxy that expects the proxy protocol refuses what comes without (ClientTrafficPolicy, proxyProtocol), and one
    that does not takes the header for a broken request. None but AWS's load balancers send it.
    """
    door = gateway(planned)
    assert door is not None
    (policy,) = [body for body in planned.objects if body["kind"] == "ClientTrafficPolicy"]
    expected = "proxyProtocol" in policy["spec"]
    told = door.attributes.get("proxy_protocol_v2.enabled") == "true"
    if expected != told or (expected and not door.aws):
        return ""
    return client if told else door.address_at_pods(client)


def lets_in(made: Iterable[Object], pod: Mapping[str, str], namespace: str, caller: Caller, port: int) -> bool:
    """What the API documents: pods that no policy selects are open, others take what any policy's rule matches."""
    mine = [
        body["spec"]
        for body in made
        if body["metadata"]["namespace"] == namespace and matches(body["spec"]["podSelector"], pod)
    ]
    return not mine or any(
        (not rule.get("ports") or port in [p["port"] for p in rule["ports"]])
        and any(_is_peer(peer, namespace, caller) for peer in rule["from"])
        for spec in mine
        for rule in spec["ingress"]
    )


def _is_peer(peer: Object, namespace: str, caller: Caller) -> bool:
    """A peer without namespaces means pods of the policy's own; ranges are about addresses outside the cluster."""
    if "ipBlock" in peer:
        assert "except" not in peer["ipBlock"]
        return bool(caller.address) and within(caller.address, [peer["ipBlock"]["cidr"]])
    if caller.address:
        return False
    if "namespaceSelector" in peer:
        there = matches(peer["namespaceSelector"], {"kubernetes.io/metadata.name": caller.namespace})
    else:
        there = caller.namespace == namespace
    return there and matches(peer.get("podSelector", {}), caller.labels)


def matches(selector: Object, labels: Mapping[str, str]) -> bool:
    wanted: Object = selector.get("matchLabels", {})
    return wanted.items() <= labels.items()

"""Annotations that make the AWS Load Balancer Controller create Network Load Balancers."""

import re
from collections.abc import Iterable

from ...fleet.load_balancers import BalancerSeconds, LoadBalancers
from .names import LOAD_BALANCER_CONTROLLER, READINESS_GATES

IDLE_SECONDS = (60, 350, 6000)
"""Shortest, default and longest ``tcp.idle_timeout.seconds`` of a listener (Elastic Load Balancing, "Update the TCP
idle timeout for your Network Load Balancer listener")."""
LONGEST_DEREGISTRATION = 3600
"""Longest ``deregistration_delay.timeout_seconds`` of a target group (Elastic Load Balancing API Reference,
TargetGroupAttribute)."""
CERTIFICATE_FORM = "arn:aws:acm:REGION:ACCOUNT:certificate/ID"
_LOAD_BALANCER = "service.beta.kubernetes.io/aws-load-balancer"
_CERTIFICATE_ARN = r"arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+"
_TLS_POLICY = "ELBSecurityPolicy-TLS13-1-2-2021-06"
"""TLS 1.2 and 1.3 only; the controller's default still accepts TLS 1.0."""


def load_balancer_annotations(
    *,
    internal: bool,
    proxy_protocol: bool = False,
    seconds: BalancerSeconds | None = None,
    tcp_ports: Iterable[int] = (),
) -> dict[str, str]:
    """Return the annotations for a Network Load Balancer with pod addresses as targets.

    Client addresses are not preserved, which is AWS's default for TCP to IP targets: connections come from the load
    balancer's addresses, as its health checks always do, and a pod can be a client of a load balancer with a target
    on its own node. The load balancer's security group, which sees client addresses, decides who may connect; the
    controller derives its rules from ``loadBalancerSourceRanges``.

    Cross-zone load balancing is on: while pods are replaced a zone may have no target, and clients that resolve to
    its node would be refused. A deregistered target keeps its connections until the pod closes them
    (``deregistration_delay.connection_termination.enabled`` is off for TCP).

    The controller changes attributes in place: neither load balancer nor target group is replaced, whose names hold
    the Service's uid, ports, protocols and health check (buildTargetGroupName in pkg/service/
    model_build_target_group.go).

    Args:
        internal: Whether the address is in the private network.
        proxy_protocol: Whether the load balancer announces the client address by PROXY protocol, which the pod must
            expect it.
        seconds: Timeouts; None for AWS's defaults.
        tcp_ports: Service ports with TCP listeners; the idle timeout of TLS listeners is fixed.

    Sources: AWS Load Balancer Controller 225f4456, docs/guide/service/{nlb,annotations}.md, docs/deploy/
    security_groups.md and pkg/service/model_build_managed_sg.go, as in v3.5.0. (That ranges are ignored where
    addresses are not preserved, as annotations.md warns, is so for load balancers without a security group:
    buildTargetGroupBindingNetworkingLegacy in model_build_target_group.go.) Elastic Load Balancing, "Edit target
    group attributes" (client IP preservation, proxy protocol), "Update the security groups" (health checks are
    subject to outbound rules only) and "Troubleshoot" (requests from a target to its load balancer).
    """
    attributes = ["preserve_client_ip.enabled=false"]
    if proxy_protocol:
        attributes.append("proxy_protocol_v2.enabled=true")
    if seconds:
        attributes.append(f"deregistration_delay.timeout_seconds={seconds.deregistration}")
    annotations = {
        f"{_LOAD_BALANCER}-type": "external",
        f"{_LOAD_BALANCER}-nlb-target-type": "ip",
        f"{_LOAD_BALANCER}-scheme": "internal" if internal else "internet-facing",
        f"{_LOAD_BALANCER}-target-group-attributes": ",".join(attributes),
        f"{_LOAD_BALANCER}-attributes": "load_balancing.cross_zone.enabled=true",
    }
    if seconds:
        for port in tcp_ports:
            annotations[f"{_LOAD_BALANCER}-listener-attributes.TCP-{port}"] = (
                f"tcp.idle_timeout.seconds={seconds.idle}"
            )
    return annotations


def is_certificate(arn: str) -> bool:
    """Return whether a text is the ARN of an ACM certificate."""
    return bool(re.fullmatch(_CERTIFICATE_ARN, arn, re.ASCII))


def certificate_annotations(arn: str) -> dict[str, str]:
    """Return the annotations that terminate TLS on port 443 with an ACM certificate."""
    return {
        f"{_LOAD_BALANCER}-ssl-cert": arn,
        f"{_LOAD_BALANCER}-ssl-ports": "443",
        f"{_LOAD_BALANCER}-ssl-negotiation-policy": _TLS_POLICY,
    }


NETWORK_LOAD_BALANCERS = LoadBalancers(
    title="Network Load Balancer",
    controller=LOAD_BALANCER_CONTROLLER,
    annotations=load_balancer_annotations,
    idle_seconds=IDLE_SECONDS,
    longest_deregistration=LONGEST_DEREGISTRATION,
    # AWS Load Balancer Controller issue 2366, aws/containers-roadmap issue 470, istio/istio issue 35964.
    late_seconds=120,
    # AWS Load Balancer Controller, issues 1834 and 1786.
    registration="3 to 5 minutes",
    # EKS User Guide, "Understand each phase of node updates".
    node_drain_seconds=900,
    node_drain=(
        "EKS gives the pods of a node {seconds} when it updates a managed node group; a longer answer fails the "
        "update, or is cut off by forceUpdate"
    ),
    certificate_form=CERTIFICATE_FORM,
    is_certificate=is_certificate,
    certificate_annotations=certificate_annotations,
    readiness_gates=READINESS_GATES,
    own_addresses=True,
    internet=True,
    ipv4_only=True,
)

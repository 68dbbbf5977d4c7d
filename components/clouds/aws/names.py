"""The names that AWS, EKS and Karpenter give to things in a cluster."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LABEL_DOMAINS = ("karpenter.sh", "karpenter.k8s.aws", "eks.amazonaws.com")
"""Domains of labels that EKS or Karpenter set on nodes, beside those of Kubernetes."""
EFA_RESOURCE = "vpc.amazonaws.com/efa"
EFA_COST = "EFA has no charge of its own (aws.amazon.com/hpc/efa)."
NEURON_RESOURCE = "aws.amazon.com/neuron"
MOST_NODES = 450
"""Nodes of one node group that EKS allows (aws-gpu spec 14)."""
ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
"""By it the Cluster Autoscaler knows that a node without GPUs yet will have some."""
CAPACITY_TYPE_LABEL = "eks.amazonaws.com/capacityType"
KARPENTER_CAPACITY_LABEL = "karpenter.sh/capacity-type"
CAPACITY_LABELS = (KARPENTER_CAPACITY_LABEL, CAPACITY_TYPE_LABEL)
READINESS_GATES = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}
"""Label of namespaces where the AWS Load Balancer Controller makes pods behind a target group of addresses Ready only
when the target group reports them healthy. Pods get the condition when they are created, so the Service must be there
(its docs/deploy/pod_readiness_gate.md)."""
IDLE_SECONDS = (60, 350, 6000)
"""Shortest, default and longest ``tcp.idle_timeout.seconds`` of a listener (Elastic Load Balancing, "Update the TCP
idle timeout for your Network Load Balancer listener")."""
LONGEST_DEREGISTRATION = 3600
"""Longest ``deregistration_delay.timeout_seconds`` of a target group (Elastic Load Balancing API Reference,
TargetGroupAttribute)."""
LOAD_BALANCER_CONTROLLER = "load-balancer-controller"
"""What makes load balancers for Services, in the names of the charts."""
CERTIFICATE_FORM = "arn:aws:acm:REGION:ACCOUNT:certificate/ID"
POD_IDENTITY_AGENT = "169.254.170.23/32"
"""EKS Pod Identity gives out credentials there, on port 80 of every node (EKS user guide, Pod Identity agent)."""
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"
"""By it a service account names its role where a cluster has no Pod Identity (EKS User Guide, IRSA)."""
HOSTED_ZONE = r"Z[A-Z0-9]{1,31}"
"""ID of a hosted zone (Amazon Route 53 API reference, data type ResourceId)."""
SPOT_SERVICE = "spot.amazonaws.com"
SPOT_ROLE = "AWSServiceRoleForEC2Spot"
CREATE_SPOT_ROLE = f"aws iam create-service-linked-role --aws-service-name {SPOT_SERVICE}"
"""The role without which EC2 takes no request for Spot Instances through its API (EC2 user guide, "Spot Fleet
permissions", Service-linked role for Spot Instances; aws/karpenter-provider-aws 1d927085,
website/content/en/v1.14/troubleshooting.md, "Missing Service Linked Role")."""
_KARPENTER_TYPE = ("karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-size")
_LOAD_BALANCER = "service.beta.kubernetes.io/aws-load-balancer"
_CERTIFICATE_ARN = re.compile(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+\Z", re.ASCII)
_TLS_POLICY = "ELBSecurityPolicy-TLS13-1-2-2021-06"
"""TLS 1.2 and 1.3 only; the controller's own default still takes TLS 1.0."""


@dataclass(frozen=True, slots=True)
class BalancerSeconds:
    """What a load balancer is told of time, in seconds.

    Attributes:
        deregistration: How long a target that is deregistered counts as draining.
        idle: How long listeners keep connections without data.
    """

    deregistration: int
    idle: int


def karpenter_type(labels: Mapping[str, str]) -> str | None:
    """Return the instance type that Karpenter's labels of family and size name together; None without both."""
    if not all(label in labels for label in _KARPENTER_TYPE):
        return None
    return ".".join(labels[label] for label in _KARPENTER_TYPE)


def load_balancer_annotations(
    *,
    internal: bool,
    proxy_protocol: bool = False,
    seconds: BalancerSeconds | None = None,
    tcp_ports: Iterable[int] = (),
) -> dict[str, str]:
    """Return what makes the AWS controller put a Network Load Balancer before pods, by their own addresses.

    Client addresses are not preserved, which is AWS's default for TCP to IP targets: connections come from the load
    balancer's addresses, as its health checks do in any case, and a pod may be a client of a load balancer on its own
    node. Who may connect is up to the load balancer's security group, which sees the client's address; the controller
    makes its rules of ``loadBalancerSourceRanges``.

    Each of its nodes sends to the targets of all zones: while pods are replaced a zone may have none, and clients
    that still resolve to its node would be refused. A target that is deregistered keeps its connections, and their
    end is up to the pod (``deregistration_delay.connection_termination.enabled`` is off for TCP).

    The controller changes attributes in place: neither load balancer nor target group is replaced, whose names hold
    the Service's uid, ports, protocols and health check (buildTargetGroupName in pkg/service/
    model_build_target_group.go).

    Args:
        internal: Whether the address is one of the private network.
        proxy_protocol: Whether the load balancer sends the client's address ahead of each connection; the pod must
            expect it.
        seconds: How long targets drain and connections may be silent; None for AWS's defaults.
        tcp_ports: Ports of the Service with listeners of protocol TCP; that of TLS listeners cannot be changed.

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
    found = {
        f"{_LOAD_BALANCER}-type": "external",
        f"{_LOAD_BALANCER}-nlb-target-type": "ip",
        f"{_LOAD_BALANCER}-scheme": "internal" if internal else "internet-facing",
        f"{_LOAD_BALANCER}-target-group-attributes": ",".join(attributes),
        f"{_LOAD_BALANCER}-attributes": "load_balancing.cross_zone.enabled=true",
    }
    if seconds:
        for port in tcp_ports:
            found[f"{_LOAD_BALANCER}-listener-attributes.TCP-{port}"] = f"tcp.idle_timeout.seconds={seconds.idle}"
    return found


def is_certificate(arn: str) -> bool:
    """Tell whether a text is the ARN of a certificate of AWS Certificate Manager."""
    return bool(_CERTIFICATE_ARN.match(arn))


def dns_solver(zone: str, region: str) -> dict[str, Any]:
    """Return the solver of a cert-manager issuer that answers DNS-01 challenges in a zone of Route 53.

    It has no credentials of its own: cert-manager gives a ClusterIssuer those of its pod, and an Issuer none
    (cert-manager v1.18.2, internal/apis/config/controller/v1alpha1/defaults.go). It does not look for a zone that is
    named (cert-manager/website, content/docs/configuration/acme/dns01/route53.md).
    """
    return {"dns01": {"route53": {"region": region, "hostedZoneID": zone}}}


def certificate_annotations(arn: str) -> dict[str, str]:
    """Return what makes the load balancer take the encryption off on port 443, with a certificate of ACM."""
    return {
        f"{_LOAD_BALANCER}-ssl-cert": arn,
        f"{_LOAD_BALANCER}-ssl-ports": "443",
        f"{_LOAD_BALANCER}-ssl-negotiation-policy": _TLS_POLICY,
    }

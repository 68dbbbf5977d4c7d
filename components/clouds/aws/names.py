"""The names that AWS, EKS and Karpenter give to things in a cluster."""

from collections.abc import Mapping
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
LOAD_BALANCER_CONTROLLER = "load-balancer-controller"
"""What makes load balancers for Services, in the names of the charts."""
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


def karpenter_type(labels: Mapping[str, str]) -> str | None:
    """Return the instance type that Karpenter's labels of family and size name together; None without both."""
    if not all(label in labels for label in _KARPENTER_TYPE):
        return None
    return ".".join(labels[label] for label in _KARPENTER_TYPE)


def dns_solver(zone: str, region: str) -> dict[str, Any]:
    """Return the solver of a cert-manager issuer that answers DNS-01 challenges in a zone of Route 53.

    It has no credentials of its own: cert-manager gives a ClusterIssuer those of its pod, and an Issuer none
    (cert-manager v1.18.2, internal/apis/config/controller/v1alpha1/defaults.go). It does not look for a zone that is
    named (cert-manager/website, content/docs/configuration/acme/dns01/route53.md).
    """
    return {"dns01": {"route53": {"region": region, "hostedZoneID": zone}}}

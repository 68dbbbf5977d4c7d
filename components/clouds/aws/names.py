"""Labels, resources and other names that AWS, EKS and Karpenter define."""

from collections.abc import Mapping
from typing import Any

LABEL_DOMAINS = ("karpenter.sh", "karpenter.k8s.aws", "eks.amazonaws.com")
"""Domains of labels that EKS or Karpenter set on nodes, in addition to those of Kubernetes."""
EFA_RESOURCE = "vpc.amazonaws.com/efa"
EFA_COST = "EFA has no charge of its own (aws.amazon.com/hpc/efa)."
NEURON_RESOURCE = "aws.amazon.com/neuron"
NEURON_PARTS = ("aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice")
"""Other resources of the Neuron device plugin: cores, and the earlier name of devices."""
MOST_NODES = 450
"""Maximum nodes of an EKS node group (aws-gpu spec 14)."""
ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
"""Tells the Cluster Autoscaler that a new node will have GPUs before its device plugin reports them."""
GENERATION_LABEL = "inference-platform/generation"
"""Label of nodes whose settings name a generation, and of the nodes that their pods select."""
CAPACITY_TYPE_LABEL = "eks.amazonaws.com/capacityType"
KARPENTER_CAPACITY_LABEL = "karpenter.sh/capacity-type"
CAPACITY_LABELS = (KARPENTER_CAPACITY_LABEL, CAPACITY_TYPE_LABEL)
READINESS_GATES = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}
"""Label of namespaces in which the AWS Load Balancer Controller keeps pods in an IP target group unready until the
target group reports them healthy. Pods get the condition when they are created, so the Service must already exist
(its docs/deploy/pod_readiness_gate.md)."""
LOAD_BALANCER_CONTROLLER = "load-balancer-controller"
"""Chart name of the AWS Load Balancer Controller, which creates load balancers for Services."""
POD_IDENTITY_AGENT = "169.254.170.23/32"
"""Address of the Pod Identity agent, which serves credentials on port 80 of each node (EKS user guide, Pod Identity
agent)."""
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"
"""Annotation of a service account with its role, for clusters without Pod Identity (EKS User Guide, IRSA)."""
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
    """Return the instance type from Karpenter's labels for family and size; None unless both are set."""
    if not all(label in labels for label in _KARPENTER_TYPE):
        return None
    return ".".join(labels[label] for label in _KARPENTER_TYPE)


def dns_solver(zone: str, region: str) -> dict[str, Any]:
    """Return the solver of a cert-manager issuer for DNS-01 challenges in a Route 53 zone.

    It has no credentials: by default a ClusterIssuer uses those of the cert-manager pod, and an Issuer has none
    (cert-manager v1.18.2, internal/apis/config/controller/v1alpha1/defaults.go). With a zone ID, cert-manager does
    not need to look up the zone (cert-manager/website, content/docs/configuration/acme/dns01/route53.md).
    """
    return {"dns01": {"route53": {"region": region, "hostedZoneID": zone}}}

"""Settings of an EKS cluster, shared by programs and stacks."""

import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from ...clouds.aws.facts.eks import EksVersion, versions
from ...clouds.aws.facts.iam import OIDC_PROVIDER
from ...clouds.aws.names import MOST_NODES
from ...clouds.aws.nodes.launch import SYSTEM_TYPES
from ...clouds.aws.versions import USUAL_VERSION
from ...clouds.aws.words import ServiceLinkedRole, Support
from ...contract.base import combined_error
from ...fleet.instances import instance
from ...plan.section import Day, KubernetesVersion, Section
from .node_settings import KMS_KEY, Zone
from .storage.settings import KMS_KEY as VOLUME_KEY


class NamespaceAccessSettings(Section):
    """Access to one namespace."""

    admin_role_arns: list[str] = Field(default_factory=list)
    """ARNs of IAM roles that may do almost everything in the namespace, including Roles and RoleBindings."""
    editor_role_arns: list[str] = Field(default_factory=list)
    """ARNs of IAM roles that may change workloads in the namespace. They can read its Secrets and act as its service
    accounts."""
    viewer_role_arns: list[str] = Field(default_factory=list)
    """ARNs of IAM roles that may view everything in the namespace except Secrets and custom resources."""


class VersionSettings(Section):
    """A Kubernetes version of EKS that the tables do not have."""

    standard_until: Day | None = None
    """Day on which its standard support ends, such as 2027-12-02. Default: unknown; no warning is given."""
    extended_until: Day | None = None
    """Day on which its extended support ends. Default: unknown."""
    ami_releases: dict[Literal["al2023", "bottlerocket"], str] = Field(default_factory=dict)
    """Releases of node images by image, such as al2023: 1.37.0-20261201, where no setting names another. Default:
    none; AWS chooses when nodes are created or changed."""
    addons: dict[str, str] = Field(default_factory=dict)
    """Versions of EKS add-ons by name, such as kube-proxy: v1.37.0-eksbuild.2, where no setting names another.
    Default: none; EKS chooses at creation."""

    @model_validator(mode="after")
    def _in_order(self) -> "VersionSettings":
        if self.standard_until and self.extended_until and self.extended_until < self.standard_until:
            reason = f"is before standardUntil ({self.standard_until}); extended support follows standard support"
            raise combined_error([(("extendedUntil",), reason)])
        return self

    def facts(self, version: str) -> EksVersion:
        """Return them as the tables state those of other versions."""
        days = [day and datetime.date.fromisoformat(day) for day in (self.standard_until, self.extended_until)]
        standard, extended = (day or None for day in days)
        images = {str(image): release for image, release in self.ami_releases.items()}
        return EksVersion(version, standard, extended, images=images, addons=self.addons)


def _unknown_to_tables(described: dict[str, VersionSettings]) -> dict[str, VersionSettings]:
    reason = "is in the tables, whose facts count: remove it from kubernetesVersions"
    if known := [version for version in described if version in versions()]:
        raise combined_error([((version,), reason) for version in known])
    return described


KubernetesVersions = Annotated[dict[KubernetesVersion, VersionSettings], AfterValidator(_unknown_to_tables)]
"""Kubernetes versions that the tables do not have yet, by version."""


class ClusterSettings(Section):
    """A new or existing EKS cluster, named by ``clusterName``."""

    version: KubernetesVersion = USUAL_VERSION
    """Kubernetes version, in quotes."""
    kubernetes_versions: KubernetesVersions = Field(default_factory=dict)
    """Kubernetes versions that the tables do not have yet, by version, such as "1.37". Default: none."""
    existing: bool = False
    """Whether to use the existing cluster of this name, unchanged."""
    zones: list[Zone] = Field(default_factory=list)
    """Zones of the control plane's subnets, at least two of the network's. Keep them as they were when the cluster
    was created: EKS accepts no others later. Also the default zones of nodes. Default: all zones of the network."""
    system_zones: list[Zone] = Field(default_factory=list)
    """Availability zones of the system nodes. Changes replace the nodes. Default: the zones of the control plane."""
    oidc_provider_arn: str | None = Field(default=None, pattern=OIDC_PROVIDER)
    """ARN of the IAM OIDC provider of an existing cluster without the Pod Identity agent. Service accounts then
    assume their roles with their tokens (IRSA)."""
    public_access_cidrs: list[str] = Field(default_factory=list)
    """CIDR ranges that may reach the API server over the internet. Default: none; the API server is private."""
    private_access_cidrs: list[str] = Field(default_factory=list)
    """CIDR ranges of the VPC and connected networks that may reach the API server. Default: none; only the nodes
    reach it."""
    private_access_security_groups: dict[str, str] = Field(default_factory=dict)
    """IDs of security groups whose members may reach the API server in the VPC, by an arbitrary key."""
    bastion: bool = False
    """Whether to create a bastion through which Session Manager forwards a port to the API server. The output tunnel
    has the command. Default: false."""
    tunnel_port: int | None = Field(default=None, ge=0, le=65535)
    """Local port that is forwarded to the API server; the provider and the kubeconfig connect to it. 0 connects
    directly. Default: 8443 with a bastion, otherwise 0."""
    admin_role_arns: list[str] = Field(default_factory=list)
    """ARNs of IAM roles that administer the cluster. Omit the principal that creates it, unless creatorIsAdmin is
    false: EKS creates its access entry and rejects a second one."""
    viewer_role_arns: list[str] = Field(default_factory=list)
    """ARNs of IAM roles that may view all namespaces, except Secrets and custom resources."""
    namespace_access: dict[str, NamespaceAccessSettings] = Field(default_factory=dict)
    """Access of IAM roles to single namespaces, by namespace; team-* matches all namespaces with that prefix."""
    creator_is_admin: bool = True
    """Whether the principal that creates the cluster administers it. With false, adminRoleArns may include it. Takes
    effect at creation only."""
    log_types: list[str] | None = None
    """Control plane logs to enable: api, audit, authenticator, controllerManager, scheduler. Default: all."""
    log_retention_days: int = Field(default=90, ge=1)
    """Days to retain the logs, including after the cluster is deleted; one of the periods of CloudWatch Logs."""
    log_kms_key_arn: str | None = Field(default=None, pattern=VOLUME_KEY)
    """ARN of the KMS key that encrypts the log group of the control plane. Its key policy must allow CloudWatch Logs.
    Default: encryption by CloudWatch Logs."""
    secrets_key_arn: str | None = None
    """ARN of the KMS key that encrypts Secrets. Default: a new key."""
    addons: dict[str, str] = Field(default_factory=dict)
    """Versions of additional EKS add-ons, by name. An empty version selects the one that this package pins for the
    Kubernetes version; default, the one that EKS chooses at creation; most-recent, the newest at each preview, which
    then requires credentials. Default: only the add-ons of every cluster."""
    support: Support = Support.STANDARD
    """What happens when standard support for the Kubernetes version ends: standard upgrades the cluster, extended
    keeps it at extra cost."""
    system_instance_types: list[str] = Field(default_factory=lambda: [*SYSTEM_TYPES])
    """Instance types of the system nodes, all of one architecture."""
    system_nodes: int = Field(default=2, ge=1, le=MOST_NODES)
    """Number of system nodes."""
    system_nodes_max: int | None = Field(default=None, ge=1, le=MOST_NODES)
    """Number of system nodes up to which the Cluster Autoscaler may scale; models without an instance type run on
    them too. Default: the number is fixed."""
    imds_hop_limit: int = Field(default=1, ge=1, le=64)
    """Hop limit of the instance metadata service on system nodes. With 1, pods cannot reach it and use the nodes'
    role; some agents need 2."""
    system_ami_release: str = ""
    """AMI release of the system nodes, such as 1.35.6-20260714, or latest. Default: the release that this package
    pins."""
    force_update: bool = False
    """Whether updates of the system nodes proceed when a disruption budget blocks the eviction of pods."""
    spot_service_linked_role: ServiceLinkedRole = ServiceLinkedRole.EXISTING
    """Whether the account already has the service-linked role AWSServiceRoleForEC2Spot, which Karpenter's Spot
    Instances require (existing), or the stack creates it (create), which fails if the account has it."""
    disk_kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts the system nodes' disks; EC2 Auto Scaling must be allowed to use it. Default:
    the account's default key for EBS."""
    volume_kms_key_arn: str | None = Field(default=None, pattern=VOLUME_KEY)
    """ARN of the KMS key that encrypts volumes of the add-on aws-ebs-csi-driver, in the cluster's region. The key
    policy must delegate to IAM policies of the account, or allow the driver's role. Default: the account's default
    key for EBS; volumes are always encrypted."""
    node_policies: list[str] | None = None
    """Additional IAM policies of the nodes: names of AWS managed policies, or ARNs. Default:
    AmazonSSMManagedInstanceCore."""
    node_role_arn: str | None = None
    """ARN of the IAM role of the nodes. Default: a new role."""
    deletion_protection: bool = False
    """Whether EKS protects the cluster from deletion."""
    service_cidr: str = "172.20.0.0/16"
    """CIDR range of Services."""

    @property
    def described_version(self) -> EksVersion | None:
        """What kubernetesVersions says of the cluster's version; None if it does not describe it."""
        described = self.kubernetes_versions.get(self.version)
        return described.facts(self.version) if described else None

    @property
    def system_vcpus(self) -> int:
        """Maximum vCPUs of the system nodes; 0 for an existing cluster, which has its nodes."""
        known = [node.vcpu for node in map(instance, self.system_instance_types) if node]
        most = self.system_nodes_max or self.system_nodes
        return 0 if self.existing else max(known, default=0) * most

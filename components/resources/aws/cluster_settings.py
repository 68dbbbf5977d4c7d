"""What a program or a stack says about an EKS cluster, checked."""

from pydantic import Field

from ...clouds.aws.facts.iam import OIDC_PROVIDER
from ...clouds.aws.names import MOST_NODES
from ...clouds.aws.nodes.launch import SYSTEM_TYPES
from ...clouds.aws.versions import USUAL_VERSION
from ...clouds.aws.words import ServiceLinkedRole, Support
from ...fleet.instances import instance
from ...plan.section import KubernetesVersion, Section
from .node_settings import KMS_KEY, Zone
from .storage.settings import KMS_KEY as VOLUME_KEY


class NamespaceAccessSettings(Section):
    """Who has rights in one namespace."""

    admin_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that may do almost everything in it, Roles and RoleBindings included."""
    editor_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that may change what runs in it. They reach its Secrets and the service accounts of its pods."""
    viewer_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that may view everything in it except Secrets and custom resources."""


class ClusterSettings(Section):
    """A new or existing EKS cluster; its name is ``clusterName``."""

    version: KubernetesVersion = USUAL_VERSION
    """Kubernetes version, in quotes."""
    existing: bool = False
    """Whether to use the existing cluster with this name, unchanged."""
    zones: list[Zone] = Field(default_factory=list)
    """Those zones of the network, two at least, in which the control plane has its subnets, as they were when the
    cluster was created: EKS takes no others afterwards. Nodes that name no zones are in them too. Default: all."""
    system_zones: list[Zone] = Field(default_factory=list)
    """Availability zones of the nodes for system pods; others replace these nodes. Default: those of the control
    plane."""
    oidc_provider_arn: str | None = Field(default=None, pattern=OIDC_PROVIDER)
    """IAM OIDC provider of an existing cluster without the Pod Identity agent: service accounts get their roles by
    their tokens."""
    public_access_cidrs: list[str] = Field(default_factory=list)
    """CIDR ranges that may reach the API server over the internet. Default: none; the API server is private."""
    private_access_cidrs: list[str] = Field(default_factory=list)
    """CIDR ranges in the VPC, or in networks connected with it, that may reach the API server. Default: none; the
    nodes alone reach it there."""
    private_access_security_groups: dict[str, str] = Field(default_factory=dict)
    """Security groups whose members may reach the API server in the VPC, by a name of your choice."""
    bastion: bool = False
    """Whether to create an instance through which Session Manager forwards a port to the API server: see the output
    tunnel."""
    tunnel_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of the machine that runs Pulumi and kubectl which leads to the API server; provider and kubeconfig connect
    to it. 0: they connect directly. Default: 8443 with a bastion, otherwise 0."""
    admin_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that administer the cluster, in addition to the principal that creates it: EKS gives that one its
    entry itself, and refuses a second."""
    viewer_role_arns: list[str] = Field(default_factory=list)
    """IAM roles that may view all namespaces, except Secrets and custom resources."""
    namespace_access: dict[str, NamespaceAccessSettings] = Field(default_factory=dict)
    """IAM roles with rights in single namespaces, by namespace; team-* stands for all that begin so."""
    creator_is_admin: bool = True
    """Whether the principal that creates the cluster administers it. With false, it can be one of adminRoleArns.
    Counts when the cluster is created."""
    log_types: list[str] | None = None
    """Logs of the control plane: api, audit, authenticator, controllerManager, scheduler. Default: all."""
    log_retention_days: int = Field(default=90, ge=1)
    """Days to keep the logs, also after the cluster is gone; one of the periods of CloudWatch Logs."""
    secrets_key_arn: str | None = None
    """KMS key for Secrets. Default: a new key."""
    addons: dict[str, str] = Field(default_factory=dict)
    """EKS add-ons with their versions, in addition to those that every cluster has. An empty version is the one that
    this package pins for the cluster's; default is EKS's, which is chosen once; most-recent is looked up in each
    preview, which then needs credentials."""
    support: Support = Support.STANDARD
    """What happens when standard support for the version ends: standard upgrades, extended pays for extended
    support."""
    system_instance_types: list[str] = Field(default_factory=lambda: [*SYSTEM_TYPES])
    """Instance types for system pods, all of one architecture."""
    system_nodes: int = Field(default=2, ge=1, le=MOST_NODES)
    """Number of nodes for system pods."""
    system_nodes_max: int | None = Field(default=None, ge=1, le=MOST_NODES)
    """Number of nodes that the Cluster Autoscaler may make of them, for models without an instance type too. Default:
    the number is fixed."""
    system_ami_release: str = ""
    """Release of their image, such as 1.35.6-20260714, or latest. Default: the one that this package pins."""
    force_update: bool = False
    """Whether updates of the system nodes replace nodes whose pods a disruption budget keeps."""
    spot_service_linked_role: ServiceLinkedRole = ServiceLinkedRole.EXISTING
    """Whether Karpenter's Spot Instances find the account's role AWSServiceRoleForEC2Spot (existing), or the stack
    makes it (create), which AWS refuses where the account has it."""
    disk_kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """KMS key of the system nodes' disks, which EC2 Auto Scaling must be allowed to use. Default: the account's
    key."""
    volume_kms_key_arn: str | None = Field(default=None, pattern=VOLUME_KEY)
    """KMS key of the volumes that the add-on aws-ebs-csi-driver provides, in the region of the cluster; its policy
    must let the IAM policies of the account decide, or allow the driver's role. Default: the account's key for EBS;
    volumes are always encrypted."""
    node_policies: list[str] | None = None
    """Further policies of the nodes: names of AWS's, or ARNs. Default: AmazonSSMManagedInstanceCore."""
    node_role_arn: str | None = None
    """IAM role of the nodes. Default: a new role."""
    deletion_protection: bool = False
    """Whether EKS protects the cluster from deletion."""
    service_cidr: str = "172.20.0.0/16"
    """CIDR range of Services."""

    @property
    def system_vcpus(self) -> int:
        """The most vCPUs that nodes for system pods have; 0 in an existing cluster, whose nodes are there already."""
        known = [node.vcpu for node in map(instance, self.system_instance_types) if node]
        most = self.system_nodes_max or self.system_nodes
        return 0 if self.existing else max(known, default=0) * most

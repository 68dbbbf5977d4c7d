"""An EKS cluster with the nodes that its own pods need, or one that exists.

Cluster
├── kms.Key, kms.Alias             <name>-secrets
├── iam.Role + attachments         <name>-control-plane
├── cloudwatch.LogGroup            <name>-logs
├── eks.Cluster                    <name>
├── eks.AccessEntry + association  <name>-admin-<role>, <name>-viewer-<role>
├── eks.Addon + iam.Role           <name>-<add-on>, before the nodes or after them
├── iam.Role + attachments         <name>-node
├── ec2.LaunchTemplate             <name>-system
├── eks.NodeGroup                  <name>-system
└── kubernetes Provider            <name>
"""

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

import pulumi
import pulumi_kubernetes
from pulumi_aws import cloudwatch, eks, iam, kms

from ...api.problems import Problem, errors
from ...serving.objects import token
from ..facts.eks import addons
from ..kubeconfig import kubeconfig
from ..versions import check_version
from .addons import AddonInstaller, wanted_addons
from .argument_problems import Problems, place_problems, refuse
from .roles import managed_policy, named, partition, service_role
from .system_nodes import DEFAULT_TYPES, SystemNodes, problems, system_node_group

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
_ADMIN, _VIEWER = "AmazonEKSClusterAdminPolicy", "AmazonEKSAdminViewPolicy"
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+", re.ASCII)
SERVICE_CIDR = "172.20.0.0/16"
_SUPPORT = ("standard", "extended")


class ClusterArgs(TypedDict, total=False):
    """Arguments of a Cluster."""

    region: Required[str]
    """AWS region, such as us-east-1."""
    cluster_name: str
    """Name of the cluster. Default: the component's name."""
    existing: bool
    """Use the cluster of this name as it is; of the rest only node_role_arn then counts. Default: false."""
    version: str
    """Kubernetes version, such as 1.35. Required unless existing."""
    subnet_ids: pulumi.Input[list[str]]
    """Private subnets of two zones at least, for the control plane and the system nodes. Required unless existing."""
    public_access_cidrs: list[str]
    """From where the API server may be reached over the internet. Default: from nowhere; private only."""
    admin_role_arns: list[str]
    """IAM roles that administer the cluster, beside the one that creates it."""
    viewer_role_arns: list[str]
    """IAM roles that may look at everything but Secrets."""
    log_types: list[str]
    """Logs of the control plane: api, audit, authenticator, controllerManager, scheduler. Default: all."""
    log_retention_days: int
    """Days that the logs are kept. Default: 90."""
    secrets_key_arn: str
    """KMS key for Secrets. Default: one is made."""
    addons: Mapping[str, str]
    """EKS add-ons beside those that every cluster has, with version; empty is EKS's default version."""
    support: str
    """What happens when standard support ends: standard upgrades, extended pays for more time. Default: standard."""
    system_instance_types: list[str]
    """Types of the nodes for system pods, all of one architecture. Default: m7i.large."""
    system_nodes: int
    """How many of them. Default: 2."""
    image: str
    """Image of the system nodes: al2023 or bottlerocket. Default: al2023."""
    node_role_arn: str
    """Role of the nodes. Default: one is made."""
    service_cidr: str
    """Addresses of Services. Default: 172.20.0.0/16."""
    deletion_protection: bool
    """Let EKS itself refuse the cluster's deletion. Default: false."""
    protect: bool
    """Let Pulumi refuse to delete the cluster and its key. Default: false."""
    tags: Mapping[str, str]
    """Tags of everything."""


class Cluster(pulumi.ComponentResource):
    """Provides an EKS cluster whose Secrets are encrypted and whose access is by access entries alone.

    Its system nodes carry no taint, so that CoreDNS and controllers have a place beside the GPU nodes.
    Does not make the network, GPU nodes or Karpenter.
    """

    cluster_name: pulumi.Output[str]
    """Name of the cluster, known once it exists."""
    endpoint: pulumi.Output[str]
    """URL of the API server."""
    certificate_authority: pulumi.Output[str]
    """CA of the API server, in base64."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig as JSON; asks the AWS CLI for tokens. A secret."""
    security_group_id: pulumi.Output[str]
    """Security group that EKS made for control plane and nodes."""
    node_role_arn: pulumi.Output[str]
    """Role of the nodes."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the cluster.

        Raises:
            InvalidArguments: the arguments contradict each other or EKS; every problem is listed.
        """
        refuse(name, _problems(name, args))
        super().__init__(token("Cluster"), name, {}, opts)
        self._name, self._args = name, args
        self._tags = args.get("tags", {})
        self.label = args.get("cluster_name", name)
        self.node_role = self._node_role() if "node_role_arn" not in args else None
        given = args.get("node_role_arn", "")
        self.node_role_arn = self.node_role[0].arn if self.node_role else pulumi.Output.from_input(given)
        cluster, self.ready = self._existing() if args.get("existing") else self._make()
        self._describe(cluster)

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _existing(self) -> tuple[eks.Cluster, list[pulumi.Resource]]:
        cluster = eks.Cluster.get(self._name, self.label, opts=self._child())
        return cluster, [cluster]

    def _make(self) -> tuple[eks.Cluster, list[pulumi.Resource]]:
        cluster = self._control_plane()
        access = self._access(cluster)
        install = AddonInstaller(self._name, cluster.name, self._args["region"], self._tags, self)
        asked = self._args.get("addons", {})
        wanted = wanted_addons(asked)
        before: list[pulumi.Resource] = [
            install.install(addon, asked.get(name, ""), [cluster])
            for name, addon in wanted.items()
            if addon.before_nodes
        ]
        nodes = self._system_nodes(cluster, before)
        after = [
            install.install(addon, asked.get(name, ""), [nodes])
            for name, addon in wanted.items()
            if not addon.before_nodes
        ]
        return cluster, [*access, nodes, *after]

    def _control_plane(self) -> eks.Cluster:
        args, name = self._args, self._name
        policy = managed_policy("AmazonEKSClusterPolicy", args["region"])
        role, attached = service_role(
            f"{name}-control-plane",
            "eks.amazonaws.com",
            [policy],
            self._tags,
            self,
            ("sts:AssumeRole", "sts:TagSession"),
        )
        logs = self._logs()
        cidrs = args.get("public_access_cidrs", [])
        return eks.Cluster(
            name,
            name=self.label,
            role_arn=role.arn,
            version=args["version"],
            access_config=eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=True
            ),
            bootstrap_self_managed_addons=False,
            vpc_config=eks.ClusterVpcConfigArgs(
                subnet_ids=args["subnet_ids"],
                endpoint_private_access=True,
                endpoint_public_access=bool(cidrs),
                public_access_cidrs=cidrs or None,
            ),
            encryption_config=eks.ClusterEncryptionConfigArgs(
                provider=eks.ClusterEncryptionConfigProviderArgs(key_arn=self._secrets_key()), resources=["secrets"]
            ),
            enabled_cluster_log_types=list(args.get("log_types", LOG_TYPES)),
            kubernetes_network_config=eks.ClusterKubernetesNetworkConfigArgs(
                service_ipv4_cidr=args.get("service_cidr", SERVICE_CIDR)
            ),
            upgrade_policy=eks.ClusterUpgradePolicyArgs(support_type=args.get("support", "standard").upper()),
            deletion_protection=args.get("deletion_protection", False),
            tags=named(self.label, self._tags),
            opts=self._child(depends_on=[*attached, logs], protect=args.get("protect")),
        )

    def _secrets_key(self) -> pulumi.Input[str]:
        given = self._args.get("secrets_key_arn")
        if given:
            return given
        name = f"{self._name}-secrets"
        key = kms.Key(
            name,
            description=f"Secrets of the EKS cluster {self.label}",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            tags=named(name, self._tags),
            opts=self._child(protect=self._args.get("protect")),
        )
        kms.Alias(name, name=f"alias/eks/{self.label}", target_key_id=key.key_id, opts=self._child())
        return key.arn

    def _logs(self) -> cloudwatch.LogGroup:
        """EKS would make the group itself, for ever and without tags."""
        name = f"/aws/eks/{self.label}/cluster"
        return cloudwatch.LogGroup(
            f"{self._name}-logs",
            name=name,
            retention_in_days=self._args.get("log_retention_days", 90),
            tags=named(name, self._tags),
            opts=self._child(),
        )

    def _access(self, cluster: eks.Cluster) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        people = {
            "admin": (_ADMIN, self._args.get("admin_role_arns", [])),
            "viewer": (_VIEWER, self._args.get("viewer_role_arns", [])),
        }
        arn = f"arn:{partition(self._args['region'])}:eks::aws:cluster-access-policy"
        for role, (policy, principals) in people.items():
            for principal in principals:
                name = f"{self._name}-{role}-{principal.rpartition('/')[2]}"
                entry = eks.AccessEntry(
                    name,
                    cluster_name=cluster.name,
                    principal_arn=principal,
                    tags=named(name, self._tags),
                    opts=self._child(),
                )
                made.append(
                    eks.AccessPolicyAssociation(
                        name,
                        cluster_name=cluster.name,
                        principal_arn=principal,
                        policy_arn=f"{arn}/{policy}",
                        access_scope=eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                        opts=self._child(depends_on=[entry]),
                    )
                )
        return made

    def _node_role(self) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
        policies = [managed_policy(policy, self._args["region"]) for policy in _NODE_POLICIES]
        return service_role(f"{self._name}-node", "ec2.amazonaws.com", policies, self._tags, self)

    def _system_nodes(self, cluster: eks.Cluster, after: list[pulumi.Resource]) -> eks.NodeGroup:
        attached = self.node_role[1] if self.node_role else []
        return system_node_group(
            f"{self._name}-system",
            SystemNodes(*_system(self._args), self._args["version"], self.label),
            cluster.name,
            self.node_role_arn,
            self._args["subnet_ids"],
            self._tags,
            self._child(depends_on=[*after, *attached]),
        )

    def _describe(self, cluster: eks.Cluster) -> None:
        region = self._args["region"]
        self.cluster_name = cluster.name
        self.endpoint = cluster.endpoint
        self.certificate_authority = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        self.security_group_id = cluster.vpc_config.apply(lambda config: config.cluster_security_group_id or "")
        facts = pulumi.Output.all(cluster.endpoint, self.certificate_authority)
        self.kubeconfig = pulumi.Output.secret(
            facts.apply(lambda known: kubeconfig(self.label, known[0], known[1], region))
        )
        self.provider = pulumi_kubernetes.Provider(
            self._name,
            kubeconfig=self.kubeconfig,
            cluster_identifier=f"{region}/{self.label}",
            enable_server_side_apply=True,
            opts=self._child(depends_on=self.ready),
        )
        self.register_outputs(
            {
                "clusterName": self.cluster_name,
                "endpoint": self.endpoint,
                "certificateAuthority": self.certificate_authority,
                "kubeconfig": self.kubeconfig,
                "securityGroupId": self.security_group_id,
                "nodeRoleArn": self.node_role_arn,
            }
        )


def _system(args: ClusterArgs) -> tuple[Sequence[str], int, str]:
    return args.get("system_instance_types", DEFAULT_TYPES), args.get("system_nodes", 2), args.get("image", "al2023")


def _problems(name: str, args: ClusterArgs) -> Problems:
    yield from place_problems("cluster_name", args.get("cluster_name", name), args.get("region", ""))
    if args.get("existing"):
        return
    missing: tuple[str, ...] = tuple(key for key in ("version", "subnet_ids") if key not in args)
    for key in missing:
        yield key, "is required unless existing is true"
    if "version" in args:
        yield from ((p.path, p.reason) for p in _version_problems(args["version"], name))
    if args.get("support", "standard") not in _SUPPORT:
        yield "support", f"must be one of {', '.join(_SUPPORT)}, found {args.get('support')!r}"
    for word in args.get("log_types", ()):
        if word not in LOG_TYPES:
            yield "log_types", f"must be of {', '.join(LOG_TYPES)}, found {word!r}"
    for addon in args.get("addons", {}):
        if addon not in addons():
            yield "addons", f"unknown add-on {addon!r}; known are {', '.join(addons())}"
    yield from _access_problems(args)
    yield from problems(*_system(args))


def _version_problems(version: str, name: str) -> tuple[Problem, ...]:
    today = datetime.datetime.now(datetime.UTC).date()
    return errors(check_version(version, today, name, "version"))


def _access_problems(args: ClusterArgs) -> Problems:
    for key, arns in (
        ("admin_role_arns", args.get("admin_role_arns", [])),
        ("viewer_role_arns", args.get("viewer_role_arns", [])),
    ):
        for arn in arns:
            if not _ROLE.fullmatch(arn):
                yield key, f"must be ARNs of IAM roles, such as arn:aws:iam::123456789012:role/admin, found {arn!r}"

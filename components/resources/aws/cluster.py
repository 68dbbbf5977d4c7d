"""An EKS cluster with the nodes that its own pods need, or one that exists.

Cluster
├── vpc.SecurityGroupIngressRule   <name>-api-<range or name>, for who reaches the API server inside the network
├── Bastion                        <name>-bastion, on request
├── kms.Key, kms.Alias             <name>-secrets
├── iam.Role + attachments         <name>-control-plane
├── cloudwatch.LogGroup            <name>-logs
├── eks.Cluster                    <name>
├── eks.AccessEntry                <name>-access-<account>-<role>
├── eks.AccessPolicyAssociation    <name>-<what>-<account>-<role>: cluster-admin, admin, edit or view
├── eks.Addon + iam.Role           <name>-<add-on>, before the nodes or after them
├── iam.Role + attachments         <name>-node
├── ec2.LaunchTemplate             <name>-system
├── eks.NodeGroup                  <name>-system
├── autoscaling.Tag                <name>-system-<tag>, where its nodes scale
├── kubernetes Provider            <name>
└── StorageClass                   <name>-<class>, each, with the add-on aws-ebs-csi-driver
"""

import functools
from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes
from pulumi_aws import eks, iam

from ...clouds.aws.api_server import TUNNEL_PORT, kubeconfig, tunnel_command
from ...clouds.aws.nodes.releases import eks_release
from ...clouds.aws.storage.volumes import VOLUME_DRIVER, encrypted_class, former_class
from ...clouds.aws.words import NodeImage
from ..serving.arguments import checked_args
from ..serving.objects import KubernetesObject, kubernetes_object, token
from .access.bastion import Bastion
from .access.rules import admit
from .args import ClusterArgs
from .cluster_checks import problems, system_nodes, tunnel_port
from .parts.access import grant_access
from .parts.addons import AddonInstaller, version_of, wanted_addons
from .parts.auto_scaling_groups import bounds_of
from .parts.control_plane import ControlPlane
from .parts.roles import NODE_POLICIES, node_role
from .parts.system_nodes import SystemNodes, system_node_group


class Cluster(pulumi.ComponentResource):
    """Creates an EKS cluster with encrypted Secrets, to which only access entries grant access.

    Its system nodes have no taint, so that CoreDNS and controllers can run outside the GPU nodes. Does not create the
    network, GPU nodes or Karpenter.
    """

    cluster_name: pulumi.Output[str]
    """Name of the cluster, known once the cluster exists."""
    endpoint: pulumi.Output[str]
    """URL of the API server."""
    certificate_authority: pulumi.Output[str]
    """CA of the API server, in base64."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig as JSON, which gets tokens from the AWS CLI. A secret."""
    tunnel: pulumi.Output[str]
    """Command that opens the way through the bastion to the API server; empty without a bastion."""
    security_group_id: pulumi.Output[str]
    """Security group that EKS created for control plane and nodes."""
    node_role_arn: pulumi.Output[str]
    """Role of the nodes."""
    bounds: pulumi.Output[list[dict[str, Any]]]
    """What system_nodes_max asks of the autoscaler, as GpuNodeGroups.bounds; empty where the number is fixed."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the cluster.

        Raises:
            InvalidArguments: the arguments contradict each other or EKS; every problem is listed.
        """
        args = checked_args(name, args, ClusterArgs, functools.partial(problems, name))
        super().__init__(token("Cluster"), name, {}, opts)
        self._name, self._args = name, args
        self.bastion: Bastion | None = None
        self._tags = args.get("tags", {})
        self.label = args.get("cluster_name", name)
        self.node_role = self._node_role() if "node_role_arn" not in args else None
        given = args.get("node_role_arn", "")
        self.node_role_arn = self.node_role[0].arn if self.node_role else pulumi.Output.from_input(given)
        self.bounded: list[dict[str, Any]] = []
        cluster, self.ready = self._existing() if args.get("existing") else self._make()
        self._describe(cluster)
        self.classes = self._storage_classes()

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _existing(self) -> tuple[eks.Cluster, list[pulumi.Resource]]:
        cluster = eks.Cluster.get(self._name, self.label, opts=self._child())
        return cluster, [cluster]

    def _make(self) -> tuple[eks.Cluster, list[pulumi.Resource]]:
        cluster = ControlPlane(self._name, self.label, self._args, self).register()
        access = list(grant_access(self._name, cluster, self._args, self))
        access += admit(self._name, self._group(cluster), self._args, self)
        access += self._bastion(cluster)
        install = AddonInstaller(
            *(self._name, cluster.name, self._args["version"], self._args["region"], self._tags, self),
            volume_key=self._args.get("volume_kms_key_arn", ""),
        )
        asked = self._args.get("addons", {})
        wanted = wanted_addons(asked, ipv6_egress=self._args.get("ipv6_egress", False))
        versions = {name: version_of(name, asked, self._args["version"]) for name in wanted}
        before: list[pulumi.Resource] = [
            install.install(addon, versions[name], [cluster]) for name, addon in wanted.items() if addon.before_nodes
        ]
        nodes = self._system_nodes(cluster, before)
        after = [
            install.install(addon, versions[name], [nodes])
            for name, addon in wanted.items()
            if not addon.before_nodes
        ]
        return cluster, [*access, nodes, *after]

    def _bastion(self, cluster: eks.Cluster) -> list[pulumi.Resource]:
        if not self._args.get("bastion"):
            return []
        self.bastion = Bastion(
            f"{self._name}-bastion",
            {
                "region": self._args["region"],
                "vpc_id": cluster.vpc_config.apply(lambda config: config.vpc_id or ""),
                "subnet_id": pulumi.Output.from_input(self._args["subnet_ids"]).apply(lambda subnets: subnets[0]),
                "cluster_security_group_id": self._group(cluster),
                "tags": self._tags,
            },
            self._child(),
        )
        return self.bastion.ready

    def _group(self, cluster: eks.Cluster) -> pulumi.Output[str]:
        return cluster.vpc_config.apply(lambda config: config.cluster_security_group_id or "")

    def _node_role(self) -> tuple[iam.Role, list[iam.RolePolicyAttachment]]:
        further = self._args.get("node_policies", NODE_POLICIES)
        return node_role(f"{self._name}-node", further, self._args["region"], self._tags, self)

    def _system_nodes(self, cluster: eks.Cluster, after: list[pulumi.Resource]) -> eks.NodeGroup:
        attached = self.node_role[1] if self.node_role else []
        args, (types, count, image, most) = self._args, system_nodes(self._args)
        release = eks_release(NodeImage(image), args["version"], args.get("system_ami_release", ""))
        forced = args.get("force_update", False)
        key = args.get("disk_kms_key_arn", "")
        nodes = SystemNodes(types, count, image, most, args["version"], self.label, release, forced, key)
        group = system_node_group(
            f"{self._name}-system",
            nodes,
            cluster.name,
            self.node_role_arn,
            self._args.get("system_subnet_ids", self._args["subnet_ids"]),
            self._tags,
            self._child(depends_on=[*after, *attached]),
        )
        if nodes.bounds:
            self.bounded.append(bounds_of(group, nodes.bounds))
        return group

    def _describe(self, cluster: eks.Cluster) -> None:
        region = self._args["region"]
        self.cluster_name = cluster.name
        self.endpoint = cluster.endpoint
        self.certificate_authority = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        self.security_group_id = self._group(cluster)
        self.bounds = pulumi.Output.from_input(self.bounded)
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.all(cluster.endpoint, self.certificate_authority).apply(self._kubeconfig)
        )
        self.tunnel = self._tunnel(cluster)
        self.provider = pulumi_kubernetes.Provider(
            self._name,
            kubeconfig=self.kubeconfig,
            cluster_identifier=f"{region}/{self.label}",
            enable_server_side_apply=True,
            # What a killed run had begun to create is taken over; in an existing cluster it may be another's.
            upsert_existing_objects=None if self._args.get("existing") else True,
            opts=self._child(depends_on=self.ready),
        )
        self.register_outputs(
            {
                "clusterName": self.cluster_name,
                "endpoint": self.endpoint,
                "certificateAuthority": self.certificate_authority,
                "kubeconfig": self.kubeconfig,
                "tunnel": self.tunnel,
                "securityGroupId": self.security_group_id,
                "nodeRoleArn": self.node_role_arn,
                "bounds": self.bounds,
            }
        )

    def _storage_classes(self) -> list[KubernetesObject]:
        """Register what claims without a class get.

        The API server takes the newest of several default classes (Kubernetes, "Storage Classes"), so the encrypted
        one comes last.
        """
        if self._args.get("existing") or VOLUME_DRIVER not in self._args.get("addons", {}):
            return []
        classes: list[KubernetesObject] = []
        for value in (former_class(), encrypted_class(self._args.get("volume_kms_key_arn", ""))):
            options = self._child(provider=self.provider, depends_on=list(classes))
            classes.append(kubernetes_object(value, f"{self._name}-{value['metadata']['name']}", options))
        return classes

    def _kubeconfig(self, known: Sequence[str]) -> str:
        endpoint, authority = known
        args = self._args
        return kubeconfig(
            self.label,
            endpoint,
            authority,
            args["region"],
            profile=args.get("profile", ""),
            role_arn=args.get("assume_role_arn", ""),
            tunnel_port=tunnel_port(args),
        )

    def _tunnel(self, cluster: eks.Cluster) -> pulumi.Output[str]:
        args, bastion = self._args, self.bastion
        if bastion is None:
            return pulumi.Output.from_input("")
        port, region, profile = tunnel_port(args) or TUNNEL_PORT, args["region"], args.get("profile", "")
        return pulumi.Output.all(bastion.instance_id, cluster.endpoint).apply(
            lambda known: tunnel_command(known[0], known[1], port, region, profile)
        )

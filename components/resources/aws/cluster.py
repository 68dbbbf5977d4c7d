"""An EKS cluster with the nodes for its system pods, or an existing one.

Cluster
├── vpc.SecurityGroupIngressRule   <name>-api-<range or name>, per range or security group with access
├── Bastion                        <name>-bastion, on request
├── kms.Key, kms.Alias             <name>-secrets
├── iam.Role + attachments         <name>-control-plane
├── cloudwatch.LogGroup            <name>-logs
├── eks.Cluster                    <name>
├── eks.AccessEntry                <name>-access-<account>-<role>
├── eks.AccessPolicyAssociation    <name>-<policy>-<account>-<role>; policy is cluster-admin, admin, edit or view
├── eks.Addon + iam.Role           <name>-<add-on>, before or after the nodes
├── iam.Role + attachments         <name>-node
├── ec2.LaunchTemplate             <name>-system
├── eks.NodeGroup                  <name>-system
├── autoscaling.Tag                <name>-system-<tag>, if its nodes scale
├── kubernetes Provider            <name>
└── StorageClass                   <name>-<class>, with the add-on aws-ebs-csi-driver
"""

import functools
from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi_aws import eks, iam

from ...clouds.aws.api_server import TUNNEL_PORT, kubeconfig, tunnel_command
from ...clouds.aws.nodes.releases import eks_release
from ...clouds.aws.storage.volumes import VOLUME_DRIVER, encrypted_class, former_class
from ...clouds.aws.words import NodeImage
from ...fleet.instances import instances_beside
from ..serving.arguments import checked_args
from ..serving.kubernetes_provider import KubernetesProvider
from ..serving.objects import KubernetesObject, kubernetes_object, token
from .args import BastionArgs, ClusterArgs
from .bastion import Bastion
from .cluster_checks import problems, system_nodes, tunnel_port
from .described import types_in, version_in
from .parts.access import api_server_rules, grant_access
from .parts.addons import AddonInstaller, required_addons, version_of
from .parts.common import NODE_POLICIES, node_role
from .parts.control_plane import control_plane
from .parts.node_groups import bounds_of
from .parts.system_nodes import SystemNodes, system_node_group
from .parts.waiting import node_group_option, waiting


class Cluster(pulumi.ComponentResource):
    """Creates an EKS cluster with encrypted Secrets, and access by access entries only.

    Its system nodes have no taints: CoreDNS and controllers run there, not on GPU nodes. Does not create the network,
    GPU nodes or Karpenter.
    """

    cluster_name: pulumi.Output[str]
    """Name of the cluster; users of this output depend on the cluster."""
    endpoint: pulumi.Output[str]
    """URL of the API server."""
    certificate_authority: pulumi.Output[str]
    """CA certificate of the API server, in base64."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig in JSON that gets tokens with the AWS CLI. A secret."""
    tunnel: pulumi.Output[str]
    """Command that forwards the local port through the bastion to the API server; empty without a bastion."""
    security_group_id: pulumi.Output[str]
    """ID of the security group that EKS created for control plane and nodes."""
    node_role_arn: pulumi.Output[str]
    """ARN of the nodes' IAM role."""
    bounds: pulumi.Output[list[dict[str, Any]]]
    """Sizes of the system nodes for the autoscaler, as GpuNodeGroups.bounds; empty without system_nodes_max."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the cluster.

        Raises:
            InvalidArguments: the arguments contradict each other or EKS; every problem is listed.
        """
        with instances_beside(types_in(args)):
            self._register(name, args, opts)

    def _register(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None) -> None:
        args = checked_args(name, args, ClusterArgs, functools.partial(problems, name))
        super().__init__(token("Cluster"), name, {}, waiting(opts, args.get("timeouts", {})))
        self._name, self._args = name, args
        self._described = version_in(args)
        self.bastion: Bastion | None = None
        self._tags = args.get("tags", {})
        self._label = args.get("cluster_name", name)
        self.node_role: tuple[iam.Role, list[iam.RolePolicyAttachment]] | None = None
        if "node_role_arn" in args:
            self.node_role_arn = pulumi.Output.from_input(args["node_role_arn"])
        else:
            policies = args.get("node_policies", NODE_POLICIES)
            boundary = args.get("permissions_boundary_arn", "")
            self.node_role = node_role(
                f"{name}-node", policies, region=args["region"], tags=self._tags, parent=self, boundary=boundary
            )
            self.node_role_arn = self.node_role[0].arn
        self.bounded: list[dict[str, Any]] = []
        if args.get("existing"):
            cluster = eks.Cluster.get(name, self._label, opts=self._child())
            self.ready: list[pulumi.Resource] = [cluster]
        else:
            cluster, self.ready = self._create()
        self._set_outputs(cluster)
        self.classes = self._storage_classes()

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self, **options)

    def _create(self) -> tuple[eks.Cluster, list[pulumi.Resource]]:
        """Create control plane, access, add-ons and system nodes; return what is required to use the cluster."""
        args, name = self._args, self._name
        cluster = control_plane(name, self._label, args, self)
        access = list(grant_access(name, cluster, args, self))
        access += api_server_rules(name, _security_group(cluster), args, self)
        if args.get("bastion"):
            bastion: BastionArgs = {
                "region": args["region"],
                "vpc_id": cluster.vpc_config.apply(lambda config: config.vpc_id or ""),
                "subnet_id": pulumi.Output.from_input(args["subnet_ids"]).apply(lambda subnets: subnets[0]),
                "cluster_security_group_id": _security_group(cluster),
                "tags": self._tags,
                "timeouts": args.get("timeouts", {}),
            }
            if "permissions_boundary_arn" in args:
                bastion["permissions_boundary_arn"] = args["permissions_boundary_arn"]
            self.bastion = Bastion(f"{name}-bastion", bastion, self._child())
            access += self.bastion.ready
        installer = AddonInstaller(
            *(name, cluster.name, args["version"], args["region"], self._tags, self, self._label),
            boundary=args.get("permissions_boundary_arn", ""),
            volume_key=args.get("volume_kms_key_arn", ""),
        )
        requested = args.get("addons", {})
        required = required_addons(requested, ipv6_egress=args.get("ipv6_egress", False))
        pinned = self._described.addons if self._described else {}
        versions = {key: version_of(key, requested, args["version"], pinned) for key in required}
        before: list[pulumi.Resource] = [
            installer.install(addon, versions[key], [cluster])
            for key, addon in required.items()
            if addon.before_nodes
        ]
        nodes = self._system_nodes(cluster, before)
        after = [
            installer.install(addon, versions[key], [nodes])
            for key, addon in required.items()
            if not addon.before_nodes
        ]
        return cluster, [*access, nodes, *after]

    def _system_nodes(self, cluster: eks.Cluster, after: list[pulumi.Resource]) -> eks.NodeGroup:
        attached = self.node_role[1] if self.node_role else []
        args, (types, count, image, most) = self._args, system_nodes(self._args)
        setting = args.get("system_ami_release", "") or (
            self._described.images.get(image, "") if self._described else ""
        )
        release = eks_release(NodeImage(image), args["version"], setting)
        force_update = args.get("force_update", False)
        key = args.get("disk_kms_key_arn", "")
        hops = args.get("imds_hop_limit", 1)
        nodes = SystemNodes(
            types=types,
            count=count,
            image=image,
            most=most,
            version=args["version"],
            cluster=self._label,
            release=release,
            force_update=force_update,
            kms_key=key,
            hops=hops,
        )
        group = system_node_group(
            f"{self._name}-system",
            nodes,
            cluster=cluster.name,
            role_arn=self.node_role_arn,
            subnet_ids=args.get("system_subnet_ids", args["subnet_ids"]),
            tags=self._tags,
            opts=self._child(
                depends_on=[*after, *attached],
                custom_timeouts=node_group_option(most or count, 1, args.get("timeouts", {})),
            ),
        )
        if nodes.bounds:
            self.bounded.append(bounds_of(group, nodes.bounds))
        return group

    def _set_outputs(self, cluster: eks.Cluster) -> None:
        args = self._args
        region, profile, port = args["region"], args.get("profile", ""), tunnel_port(args)

        def config(known: Sequence[str]) -> str:
            (endpoint, authority), role = known, args.get("assume_role_arn", "")
            return kubeconfig(
                self._label, endpoint, authority, region, profile=profile, role_arn=role, tunnel_port=port
            )

        self.cluster_name = cluster.name
        self.endpoint = cluster.endpoint
        self.certificate_authority = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        self.security_group_id = _security_group(cluster)
        self.bounds = pulumi.Output.from_input(self.bounded)
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.all(cluster.endpoint, self.certificate_authority).apply(config)
        )
        self.tunnel = pulumi.Output.from_input("")
        if self.bastion:
            self.tunnel = pulumi.Output.all(self.bastion.instance_id, cluster.endpoint).apply(
                lambda known: tunnel_command(known[0], known[1], port or TUNNEL_PORT, region, profile)
            )
        self.provider = KubernetesProvider(
            self._name,
            kubeconfig=self.kubeconfig,
            cluster_identifier=f"{region}/{self._label}",
            enable_server_side_apply=True,
            # Adopts objects whose creation a killed run had begun. In an existing cluster they may belong to others.
            upsert_existing_objects=None if args.get("existing") else True,
            enable_patch_force=args.get("enable_patch_force") or None,
            # A new control plane is another cluster, also under the same region and name: its provider is replaced
            # with it, and all objects with the provider. Otherwise they would exist in the state alone.
            opts=self._child(depends_on=self.ready, deleted_with=None if args.get("existing") else cluster),
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
        if self._args.get("existing") or VOLUME_DRIVER not in self._args.get("addons", {}):
            return []
        classes: list[KubernetesObject] = []
        # Of several default classes the API server uses the newest (Kubernetes, "Storage Classes"), so the encrypted
        # one must be created last.
        for value in (former_class(), encrypted_class(self._args.get("volume_kms_key_arn", ""))):
            options = self._child(provider=self.provider, depends_on=list(classes))
            classes.append(kubernetes_object(value, f"{self._name}-{value['metadata']['name']}", options))
        return classes


def _security_group(cluster: eks.Cluster) -> pulumi.Output[str]:
    return cluster.vpc_config.apply(lambda config: config.cluster_security_group_id or "")

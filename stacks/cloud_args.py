"""What the components of an environment on AWS are told: its settings, as their arguments."""

from typing import cast

import pulumi
from pydantic.alias_generators import to_camel

from components.clouds.aws.words import Provisioner
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.resources.aws.args import ClusterArgs, NamespaceAccessArgs, NetworkArgs
from components.resources.aws.cluster_checks import OF_A_NEW_ONE
from components.resources.aws.cluster_checks import problems as cluster_problems
from components.resources.aws.network_checks import problems as network_problems
from components.resources.serving.arguments import raise_errors

from .settings import Settings

_OF_ANY_CLUSTER = {
    *("existing", "version", "oidc_provider_arn", "tunnel_port", "node_role_arn", "node_policies", "service_cidr"),
}
"""Settings of a cluster that count for one that exists, too: how it is reached, and its nodes."""


def check_cloud(settings: Settings) -> None:
    """See what is wrong with network and cluster before the first of them is registered.

    Raises:
        InvalidArguments: there is something; every problem is listed.
    """
    if settings.cluster.existing:
        _warn_of_new_clusters(settings)
    found = [("network", *each) for each in network_problems(network_args(settings))]
    found += [("cluster", *each) for each in cluster_problems("cluster", cluster_args(settings, []))]
    if found:
        raise_errors(
            [Problem(component, 0, "", "", path, reason, rule=RuleId.SETTINGS) for component, path, reason in found]
        )


def _warn_of_new_clusters(settings: Settings) -> None:
    """Say what has no effect on a cluster that exists and stays as it is; some of it is refused anyway."""
    for key in sorted(settings.cluster.model_fields_set - _OF_ANY_CLUSTER - {*OF_A_NEW_ONE}):
        name = f"{settings.file}: cluster.{to_camel(key)}"
        pulumi.log.warn(f"{name}: has no effect on an existing cluster, which stays as it is; remove it")


def network_args(settings: Settings) -> NetworkArgs:
    """Return the arguments of the network."""
    network = settings.network
    args: NetworkArgs = {
        "cluster_name": settings.cluster_name,
        "region": settings.region,
        "interface_endpoints": network.interface_endpoints,
        "tags": settings.tags,
    }
    if network.cidr:
        args["cidr"] = network.cidr
    # Of an existing VPC the component refuses these.
    if network.pod_cidr:
        args["pod_cidr"] = network.pod_cidr
    if network.ipv6:
        args["ipv6"] = True
    if network.flow_logs:
        logs = network.flow_logs
        args["flow_logs"] = {"traffic": logs.traffic, "retention_days": logs.retention_days}
    if network.public_subnets:
        reason = "load balancers find public subnets by their tag kubernetes.io/role/elb: 1, and not by this list"
        pulumi.log.warn(f"{settings.file}: network.publicSubnets: has no effect: {reason}; tag them, and remove it")
    if settings.control_plane_zones:
        args["control_plane_zones"] = [*settings.control_plane_zones]
    if network.vpc_id:
        args["vpc_id"] = network.vpc_id
        args["private_subnets"] = network.private_subnets
        args["public_subnets"] = network.public_subnets
        return args
    args["zones"] = network.zones
    args["nat_gateways"] = network.nat_gateways
    args["protect"] = settings.protect
    return args


def cluster_args(
    settings: Settings,
    subnet_ids: pulumi.Input[list[str]],
    system_subnet_ids: pulumi.Input[list[str]] | None = None,
) -> ClusterArgs:
    """Return the arguments of the cluster, in some subnets; its system nodes may have others."""
    cluster = settings.cluster
    args: ClusterArgs = {
        "region": settings.region,
        "cluster_name": settings.cluster_name,
        "existing": cluster.existing,
        "version": cluster.version,
        "subnet_ids": subnet_ids,
        "log_retention_days": cluster.log_retention_days,
        "addons": settings.addons,
        "support": cluster.support,
        "system_instance_types": cluster.system_instance_types,
        "system_nodes": cluster.system_nodes,
        "system_ami_release": cluster.system_ami_release,
        "force_update": cluster.force_update,
        "image": settings.gpu_nodes.image,
        "deletion_protection": cluster.deletion_protection,
        "service_cidr": cluster.service_cidr,
        "ipv6_egress": settings.network.ipv6,
        "protect": settings.protect,
        "tags": settings.tags,
    }
    if system_subnet_ids is not None:
        args["system_subnet_ids"] = system_subnet_ids
    _set_access(args, settings)
    _add_given(args, settings)
    return args


def _add_given(args: ClusterArgs, settings: Settings) -> None:
    """Add what has no default here, where it is given."""
    cluster = settings.cluster
    if cluster.system_nodes_max is not None:
        args["system_nodes_max"] = cluster.system_nodes_max
    if cluster.log_types is not None:
        args["log_types"] = cluster.log_types
    if cluster.disk_kms_key_arn:
        args["disk_kms_key_arn"] = cluster.disk_kms_key_arn
    if cluster.volume_kms_key_arn:
        args["volume_kms_key_arn"] = cluster.volume_kms_key_arn
    if cluster.secrets_key_arn:
        args["secrets_key_arn"] = cluster.secrets_key_arn
    if cluster.node_role_arn:
        args["node_role_arn"] = cluster.node_role_arn
    # The nodes of Karpenter have a role of their own, which takes them.
    alone = not (cluster.node_role_arn and settings.gpu_nodes.provisioner == Provisioner.KARPENTER)
    if cluster.node_policies is not None and alone:
        args["node_policies"] = cluster.node_policies


def _set_access(args: ClusterArgs, settings: Settings) -> None:
    """Set who reaches the cluster, how, and what they may do in it."""
    cluster, credentials = settings.cluster, settings.credentials
    args["public_access_cidrs"] = cluster.public_access_cidrs
    args["private_access_cidrs"] = cluster.private_access_cidrs
    args["private_access_security_groups"] = {**cluster.private_access_security_groups}
    args["bastion"] = cluster.bastion
    args["profile"] = credentials.profile or ""
    args["assume_role_arn"] = credentials.assume_role_arn or ""
    args["admin_role_arns"] = cluster.admin_role_arns
    args["viewer_role_arns"] = cluster.viewer_role_arns
    args["namespace_access"] = {
        namespace: cast("NamespaceAccessArgs", access.model_dump())
        for namespace, access in cluster.namespace_access.items()
    }
    args["creator_is_admin"] = cluster.creator_is_admin
    if cluster.tunnel_port is not None:
        args["tunnel_port"] = cluster.tunnel_port

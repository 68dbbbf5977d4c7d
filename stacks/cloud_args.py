"""Converts the settings of an environment on AWS to arguments of its components."""

from typing import cast

import pulumi
from pydantic.alias_generators import to_camel

from components.clouds.aws.words import Provisioner
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.resources.aws.args import AwsTimeoutArgs, ClusterArgs, NamespaceAccessArgs, NetworkArgs
from components.resources.aws.cluster_checks import NEW_CLUSTER_ONLY
from components.resources.aws.cluster_checks import problems as cluster_problems
from components.resources.aws.network_checks import problems as network_problems
from components.resources.aws.timeout_settings import AwsTimeoutSettings
from components.resources.serving.arguments import raise_errors

from .settings import Settings

_ANY_CLUSTER = {
    *("existing", "version", "oidc_provider_arn", "tunnel_port", "node_role_arn", "node_policies", "service_cidr"),
}
"""Settings of a cluster that also take effect on an existing one: access to it, and its nodes."""


def check_cloud(settings: Settings) -> None:
    """Check network and cluster before either is created.

    Raises:
        InvalidArguments: either is invalid; every problem is listed.
    """
    if settings.cluster.existing:
        # The component rejects those in NEW_CLUSTER_ONLY.
        for key in sorted(settings.cluster.model_fields_set - _ANY_CLUSTER - {*NEW_CLUSTER_ONLY}):
            name = f"{settings.file}: cluster.{to_camel(key)}"
            pulumi.log.warn(f"{name}: has no effect on an existing cluster, which stays as it is; remove it")
    for name, rule in settings.gpu_nodes.types.items():
        if rule.taints and rule.existing_groups and settings.is_operated:
            pulumi.log.warn(
                f"{settings.file}: gpuNodes.types.{name}.taints: pods that an operator creates do not tolerate the "
                f"taints of {', '.join(rule.existing_groups)}, and do not run there unless their manifests do"
            )
    problems = [("network", *problem) for problem in network_problems(network_args(settings))]
    problems += [("cluster", *problem) for problem in cluster_problems("cluster", cluster_args(settings, []))]
    if problems:
        raise_errors(
            [
                Problem(component, 0, "", "", path, reason, rule=RuleId.SETTINGS)
                for component, path, reason in problems
            ]
        )


def aws_timeouts(settings: Settings) -> AwsTimeoutArgs:
    """Return the timeouts of AWS resources that the settings name."""
    named = settings.timeouts.model_dump(include=set(AwsTimeoutSettings.model_fields), exclude_none=True)
    return cast("AwsTimeoutArgs", named)


def network_args(settings: Settings) -> NetworkArgs:
    network = settings.network
    args: NetworkArgs = {
        "cluster_name": settings.cluster_name,
        "region": settings.region,
        "interface_endpoints": network.interface_endpoints,
        "tags": settings.tags,
        "timeouts": aws_timeouts(settings),
    }
    if network.cidr:
        args["cidr"] = network.cidr
    # The component rejects these for an existing VPC.
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
    """Return the arguments of the cluster; its system nodes may use other subnets."""
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
        "timeouts": aws_timeouts(settings),
    }
    if settings.adopted.objects:
        # Adopted objects have fields of former managers, which would conflict with the first change of each.
        args["enable_patch_force"] = True
    if system_subnet_ids is not None:
        args["system_subnet_ids"] = system_subnet_ids
    _set_access(args, settings)
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
    # With Karpenter they are policies of its node role (see cloud.py), if this role is an existing one.
    applies = not (cluster.node_role_arn and settings.gpu_nodes.provisioner == Provisioner.KARPENTER)
    if cluster.node_policies is not None and applies:
        args["node_policies"] = cluster.node_policies
    return args


def _set_access(args: ClusterArgs, settings: Settings) -> None:
    """Set network access, credentials and permissions."""
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

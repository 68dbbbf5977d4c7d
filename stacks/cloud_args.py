"""Converts the settings of an environment on AWS to arguments of its components."""

from collections.abc import Iterator
from typing import cast

import pulumi
from pydantic.alias_generators import to_camel

from components.clouds.aws.api_server import open_ranges
from components.clouds.aws.reach import endpoint_services
from components.clouds.aws.words import Provisioner
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity, did_you_mean
from components.resources.aws.args import (
    AwsTimeoutArgs,
    ClusterArgs,
    KubernetesVersionArgs,
    NamespaceAccessArgs,
    NetworkArgs,
)
from components.resources.aws.cluster_checks import NEW_CLUSTER_ONLY
from components.resources.aws.cluster_checks import problems as cluster_problems
from components.resources.aws.network_checks import problems as network_problems
from components.resources.aws.timeout_settings import AwsTimeoutSettings

from .blame import in_settings
from .settings import Settings

_ANY_CLUSTER = {
    *("existing", "version", "kubernetes_versions", "oidc_provider_arn", "tunnel_port", "node_role_arn"),
    *("node_policies", "service_cidr"),
}
"""Settings of a cluster that also take effect on an existing one: access to it, and its nodes."""


def cloud_problems(settings: Settings) -> Iterator[Problem]:
    """Yield the problems of network and cluster, before either is created, by setting."""
    found = [in_settings("network", *problem) for problem in network_problems(network_args(settings))]
    found += (("network.existingEndpoints", reason) for reason in _unknown_endpoints(settings))
    found += (in_settings("cluster", *problem) for problem in cluster_problems("cluster", cluster_args(settings, [])))
    for path, reason in found:
        yield Problem(file=settings.file, path=path, reason=reason, rule=RuleId.SETTINGS)
    for path, reason, rule in _without_effect(settings):
        yield Problem(file=settings.file, path=path, reason=reason, severity=Severity.WARNING, rule=rule)


def _unknown_endpoints(settings: Settings) -> Iterator[str]:
    known = endpoint_services()
    for service in settings.network.existing_endpoints:
        if service not in known:
            hint = did_you_mean(service, known) or f"; known services: {', '.join(known)}"
            yield f"unknown service {service!r}{hint}"


def _without_effect(settings: Settings) -> Iterator[tuple[str, str, RuleId]]:
    """Yield the settings of network, cluster and nodes that have no effect or not all of it, or that are unsafe."""
    network = settings.network
    if network.existing_endpoints and network.exits.internet is not False:
        why = (
            "because whether the private subnets reach the internet is unknown, and so nothing is checked; set "
            "internetAccess: false if they do not, or remove it"
            if network.exits.internet is None
            else "because the private subnets reach the internet; remove it"
        )
        yield "network.existingEndpoints", f"has no effect, {why}", RuleId.FIELD_NO_EFFECT
    if settings.cluster.existing:
        # The component rejects those in NEW_CLUSTER_ONLY.
        for key in sorted(settings.cluster.model_fields_set - _ANY_CLUSTER - {*NEW_CLUSTER_ONLY}):
            reason = "has no effect on an existing cluster, which stays as it is; remove it"
            yield f"cluster.{to_camel(key)}", reason, RuleId.FIELD_NO_EFFECT
    open_to = "" if settings.cluster.existing else open_ranges(settings.cluster.public_access_cidrs)
    if open_to:
        reason = (
            f"opens the API server to the internet ({open_to}); limit it to the ranges that you connect from, or use "
            "a bastion or private access (docs/tasks/private-api-server.md)"
        )
        yield "cluster.publicAccessCidrs", reason, RuleId.API_SERVER_OPEN
    for name, rule in settings.gpu_nodes.types.items():
        if rule.taints and rule.existing_groups and settings.is_operated:
            reason = (
                "pods that an operator creates do not tolerate the taints of "
                f"{', '.join(rule.existing_groups)}, and do not run there unless their manifests do"
            )
            yield f"gpuNodes.types.{name}.taints", reason, RuleId.NODES_PENDING
    if settings.network.public_subnets:
        reason = (
            "has no effect: load balancers find public subnets by their tag kubernetes.io/role/elb: 1, and not by "
            "this list; tag them, and remove it"
        )
        yield "network.publicSubnets", reason, RuleId.FIELD_NO_EFFECT
    if settings.image_cache.registries and settings.cache_account and settings.cluster.node_role_arn:
        reason = (
            "nodes with the role cluster.nodeRoleArn cannot cache new images until the role has the policy in the "
            "output imageCache.nodePolicy; attach it"
        )
        yield "imageCache", reason, RuleId.IMAGES_UNCACHED


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
        if logs.kms_key_arn:
            args["flow_logs"]["kms_key_arn"] = logs.kms_key_arn
    if network.endpoint_policies:
        args["endpoint_policies"] = network.endpoint_policies
    if settings.permissions_boundary_arn:
        args["permissions_boundary_arn"] = settings.permissions_boundary_arn
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
    if cluster.kubernetes_versions:
        args["kubernetes_versions"] = {
            version: cast("KubernetesVersionArgs", described.model_dump(exclude_none=True))
            for version, described in cluster.kubernetes_versions.items()
        }
    if cluster.system_nodes_max is not None:
        args["system_nodes_max"] = cluster.system_nodes_max
    if cluster.log_types is not None:
        args["log_types"] = cluster.log_types
    if cluster.log_kms_key_arn:
        args["log_kms_key_arn"] = cluster.log_kms_key_arn
    if cluster.imds_hop_limit != 1:
        args["imds_hop_limit"] = cluster.imds_hop_limit
    if settings.permissions_boundary_arn:
        args["permissions_boundary_arn"] = settings.permissions_boundary_arn
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

"""The control plane of a cluster: its role, its logs, the key of its Secrets."""

import pulumi
from pulumi_aws import cloudwatch, eks, kms

from ....clouds.aws.facts.iam import cluster_trust
from ..args import ClusterArgs
from ..cluster_checks import LOG_DAYS, LOG_TYPES, SERVICE_CIDR
from .common import managed_policy, named, partition, service_role

_AT_CREATION = ["accessConfig.bootstrapClusterCreatorAdminPermissions", "vpcConfig.subnetIds"]
"""Properties that take effect at creation only. EKS reads the first once, and the provider would replace the cluster
to change it (hashicorp/terraform-provider-aws, internal/service/eks/cluster.go). UpdateClusterConfig accepts only
subnets in exactly the zones of the creation (EKS user guide, "VPC requirements and considerations";
aws/containers-roadmap #2258), so that adding or removing a zone would fail each later update."""


def control_plane(name: str, cluster_name: str, args: ClusterArgs, parent: pulumi.Resource) -> eks.Cluster:
    """Create a control plane.

    Args:
        name: Prefix of logical names.
        cluster_name: Name of the cluster.
        args: Arguments of the component.
        parent: The component.
    """
    tags, protect = args.get("tags", {}), args.get("protect")
    policies = [managed_policy("AmazonEKSClusterPolicy", args["region"])]
    trust = cluster_trust(cluster_name, args["region"], partition(args["region"]))
    boundary = args.get("permissions_boundary_arn", "")
    role, attached = service_role(
        f"{name}-control-plane", trust, policies=policies, tags=tags, parent=parent, boundary=boundary
    )
    log_types = list(args.get("log_types", LOG_TYPES))
    log_group = f"/aws/eks/{cluster_name}/cluster"
    # EKS would otherwise create the group itself, with unlimited retention and without tags. It even recreates it for
    # its last lines after the cluster is deleted, through its service-linked role, which cannot be restricted
    # (terraform-aws-eks, issues 2446 and 2763). A group with log types therefore outlives the cluster, with its
    # retention; without log types there are no last lines.
    logs = cloudwatch.LogGroup(
        f"{name}-logs",
        name=log_group,
        retention_in_days=args.get("log_retention_days", LOG_DAYS),
        kms_key_id=args.get("log_kms_key_arn"),
        tags=named(log_group, tags),
        opts=pulumi.ResourceOptions(parent=parent, retain_on_delete=bool(log_types)),
    )
    cidrs = args.get("public_access_cidrs", [])
    return eks.Cluster(
        name,
        name=cluster_name,
        role_arn=role.arn,
        version=args["version"],
        access_config=eks.ClusterAccessConfigArgs(
            authentication_mode="API",
            bootstrap_cluster_creator_admin_permissions=args.get("creator_is_admin", True),
        ),
        bootstrap_self_managed_addons=False,
        vpc_config=eks.ClusterVpcConfigArgs(
            subnet_ids=args["subnet_ids"],
            endpoint_private_access=True,
            endpoint_public_access=bool(cidrs),
            public_access_cidrs=cidrs or None,
        ),
        encryption_config=eks.ClusterEncryptionConfigArgs(
            provider=eks.ClusterEncryptionConfigProviderArgs(
                key_arn=args.get("secrets_key_arn") or _secrets_key(name, cluster_name, args, parent)
            ),
            resources=["secrets"],
        ),
        enabled_cluster_log_types=log_types,
        kubernetes_network_config=eks.ClusterKubernetesNetworkConfigArgs(
            service_ipv4_cidr=args.get("service_cidr", SERVICE_CIDR)
        ),
        upgrade_policy=eks.ClusterUpgradePolicyArgs(support_type=args.get("support", "standard").upper()),
        deletion_protection=args.get("deletion_protection", False),
        tags=named(cluster_name, tags),
        opts=pulumi.ResourceOptions(
            parent=parent, depends_on=[*attached, logs], protect=protect, ignore_changes=_AT_CREATION
        ),
    )


def _secrets_key(name: str, cluster_name: str, args: ClusterArgs, parent: pulumi.Resource) -> pulumi.Output[str]:
    # Retained, because the cluster needs the key for as long as it exists, whatever the settings say later: EKS never
    # changes it, and cannot recover a cluster without it. The alias is only a name, which the next stack needs.
    key = kms.Key(
        f"{name}-secrets",
        description=f"Secrets of the EKS cluster {cluster_name}",
        enable_key_rotation=True,
        deletion_window_in_days=30,
        tags=named(f"{name}-secrets", args.get("tags", {})),
        opts=pulumi.ResourceOptions(parent=parent, protect=args.get("protect"), retain_on_delete=True),
    )
    alias = f"alias/eks/{cluster_name}"
    options = pulumi.ResourceOptions(parent=parent)
    kms.Alias(f"{name}-secrets", name=alias, target_key_id=key.key_id, opts=options)
    return key.arn

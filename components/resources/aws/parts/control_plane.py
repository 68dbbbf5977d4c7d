"""The control plane of a cluster: its role, its logs, the key of its Secrets."""

from typing import Any

import pulumi
from pulumi_aws import cloudwatch, eks, kms

from ..args import ClusterArgs
from ..cluster_checks import LOG_DAYS, LOG_TYPES, SERVICE_CIDR
from .roles import managed_policy, named, service_role

_AT_CREATION = ["accessConfig.bootstrapClusterCreatorAdminPermissions", "vpcConfig.subnetIds"]
"""What counts when the cluster is created. EKS reads the first once, and the provider would make another cluster to
change it (hashicorp/terraform-provider-aws, internal/service/eks/cluster.go). UpdateClusterConfig accepts only
subnets in exactly the zones of the creation (EKS user guide, "VPC requirements and considerations";
aws/containers-roadmap #2258), so that a zone more or less would fail each later update."""


class ControlPlane:
    """Registers a control plane below a component."""

    def __init__(self, name: str, label: str, args: ClusterArgs, parent: pulumi.Resource) -> None:
        """Remember what to register.

        Args:
            name: Logical names begin with it.
            label: Name of the cluster.
            args: Arguments of the component.
            parent: The component.
        """
        self._name, self._label, self._args, self._parent = name, label, args, parent
        self._tags = args.get("tags", {})

    def _child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401  resource options
        return pulumi.ResourceOptions(parent=self._parent, **options)

    def register(self) -> eks.Cluster:
        """Register the control plane."""
        args, name = self._args, self._name
        policy = managed_policy("AmazonEKSClusterPolicy", args["region"])
        role, attached = service_role(
            f"{name}-control-plane",
            "eks.amazonaws.com",
            [policy],
            self._tags,
            self._parent,
            ("sts:AssumeRole", "sts:TagSession"),
        )
        logs = self._logs()
        return eks.Cluster(
            name,
            name=self._label,
            role_arn=role.arn,
            version=args["version"],
            access_config=eks.ClusterAccessConfigArgs(
                authentication_mode="API",
                bootstrap_cluster_creator_admin_permissions=args.get("creator_is_admin", True),
            ),
            bootstrap_self_managed_addons=False,
            vpc_config=self._access(),
            encryption_config=eks.ClusterEncryptionConfigArgs(
                provider=eks.ClusterEncryptionConfigProviderArgs(key_arn=self._secrets_key()), resources=["secrets"]
            ),
            enabled_cluster_log_types=self._log_types,
            kubernetes_network_config=eks.ClusterKubernetesNetworkConfigArgs(
                service_ipv4_cidr=args.get("service_cidr", SERVICE_CIDR)
            ),
            upgrade_policy=eks.ClusterUpgradePolicyArgs(support_type=args.get("support", "standard").upper()),
            deletion_protection=args.get("deletion_protection", False),
            tags=named(self._label, self._tags),
            opts=self._child(depends_on=[*attached, logs], protect=args.get("protect"), ignore_changes=_AT_CREATION),
        )

    def _access(self) -> eks.ClusterVpcConfigArgs:
        """Open the API to the network, and to what is asked for beyond it."""
        cidrs = self._args.get("public_access_cidrs", [])
        return eks.ClusterVpcConfigArgs(
            subnet_ids=self._args["subnet_ids"],
            endpoint_private_access=True,
            endpoint_public_access=bool(cidrs),
            public_access_cidrs=cidrs or None,
        )

    def _secrets_key(self) -> pulumi.Input[str]:
        given = self._args.get("secrets_key_arn")
        if given:
            return given
        name = f"{self._name}-secrets"
        key = kms.Key(
            name,
            description=f"Secrets of the EKS cluster {self._label}",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            tags=named(name, self._tags),
            opts=self._child(protect=self._args.get("protect")),
        )
        kms.Alias(name, name=f"alias/eks/{self._label}", target_key_id=key.key_id, opts=self._child())
        return key.arn

    def _logs(self) -> cloudwatch.LogGroup:
        """EKS would otherwise create the group itself, with unlimited retention and without tags.

        So it does with its last lines, after the cluster is deleted and through its service-linked role, to which
        nobody can deny it (terraform-aws-eks, issues 2446 and 2763): a group that EKS writes to outlives the cluster,
        with its retention. Without log types there are no last lines.
        """
        name = f"/aws/eks/{self._label}/cluster"
        return cloudwatch.LogGroup(
            f"{self._name}-logs",
            name=name,
            retention_in_days=self._args.get("log_retention_days", LOG_DAYS),
            tags=named(name, self._tags),
            opts=self._child(retain_on_delete=bool(self._log_types)),
        )

    @property
    def _log_types(self) -> list[str]:
        return list(self._args.get("log_types", LOG_TYPES))

"""Creates EKS add-ons with the identities that they need, and nothing more."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pulumi
from pulumi_aws import eks, iam

from ....clouds.aws.facts.eks import EKS_DEFAULT, MOST_RECENT, Addon, addons
from ....clouds.aws.facts.iam import pod_identity_trust, policy
from ....clouds.aws.facts.releases import addon_release
from ....clouds.aws.storage.volumes import VOLUME_DRIVER
from .common import managed_policy, named, service_role

NETWORK_PLUGIN = "vpc-cni"
_IPV6_EGRESS = {"ENABLE_V6_EGRESS": "true"}


def required_addons(requested: Mapping[str, str], *, ipv6_egress: bool = False) -> dict[str, Addon]:
    """Return the add-ons of a cluster by name: those of every cluster, and requested ones.

    Args:
        requested: Versions of add-ons, by name.
        ipv6_egress: Whether pods reach the internet over IPv6 through their node.

    Raises:
        KeyError: a requested add-on is unknown.
    """
    always = [name for name, addon in addons().items() if addon.always]
    required = {name: addons()[name] for name in dict.fromkeys([*always, *requested])}
    if ipv6_egress:
        # Both containers of the plugin need the variable (aws/amazon-vpc-cni-k8s, README, ENABLE_V6_EGRESS).
        values = dict(required[NETWORK_PLUGIN].configuration)
        values["env"] = {**values.get("env", {}), **_IPV6_EGRESS}
        values["init"] = {"env": _IPV6_EGRESS}
        required[NETWORK_PLUGIN] = replace(required[NETWORK_PLUGIN], configuration=values)
    return required


def version_of(name: str, requested: Mapping[str, str], kubernetes: str, described: Mapping[str, str]) -> str:
    """Return the version of an add-on; empty where EKS chooses, ``MOST_RECENT`` where it must be looked up.

    Args:
        name: The add-on.
        requested: Versions of add-ons, by name.
        kubernetes: Kubernetes version of the cluster.
        described: Versions by name for a Kubernetes version that the tables do not have.
    """
    version = requested.get(name, "") or addon_release(name, kubernetes) or described.get(name, "")
    return "" if version == EKS_DEFAULT else version


@dataclass(frozen=True, slots=True)
class AddonInstaller:
    """Creates add-ons in one cluster.

    Attributes:
        prefix: Prefix of logical names.
        cluster: Name of the cluster.
        kubernetes: Its Kubernetes version.
        region: AWS region.
        tags: Tags of the stack.
        parent: The component.
        plain_cluster: Name of the cluster as text, for the trust of roles.
        boundary: ARN of the permissions boundary of roles; empty for none.
        volume_key: ARN of the KMS key of EBS volumes; empty for the account's default key.
    """

    prefix: str
    cluster: pulumi.Input[str]
    kubernetes: str
    region: str
    tags: Mapping[str, str]
    parent: pulumi.Resource
    plain_cluster: str
    boundary: str = ""
    volume_key: str = ""

    def install(self, addon: Addon, version: str, after: list[pulumi.Resource]) -> eks.Addon:
        """Create an add-on.

        Args:
            addon: The add-on.
            version: Its version; empty where EKS chooses, ``MOST_RECENT`` to look it up.
            after: Resources to depend on.
        """
        name = f"{self.prefix}-{addon.name}"
        role, granted = self._identity(name, addon) if addon.service_account else (None, [])
        pinned: pulumi.Input[str] | None = version or None
        if version == MOST_RECENT:
            # CreateAddon accepts only exact versions (EKS API Reference, CreateAddon and DescribeAddonVersions).
            pinned = eks.get_addon_version_output(
                addon_name=addon.name,
                kubernetes_version=self.kubernetes,
                most_recent=True,
                opts=pulumi.InvokeOutputOptions(parent=self.parent),
            ).version
        return eks.Addon(
            name,
            cluster_name=self.cluster,
            addon_name=addon.name,
            addon_version=pinned,
            configuration_values=json.dumps(addon.configuration, sort_keys=True) if addon.configuration else None,
            pod_identity_associations=[
                eks.AddonPodIdentityAssociationArgs(service_account=addon.service_account, role_arn=role.arn)
            ]
            if role
            else None,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=named(name, self.tags),
            # The add-on is deleted before its permissions: its pods need them until they end. A driver detaches its
            # volumes with them.
            opts=pulumi.ResourceOptions(parent=self.parent, depends_on=[*after, *granted]),
        )

    def _identity(self, name: str, addon: Addon) -> tuple[iam.Role, list[pulumi.Resource]]:
        policies = [managed_policy(policy, self.region) for policy in addon.policies]
        trust = pod_identity_trust(self.plain_cluster, [(addon.namespace, addon.service_account)])
        role, attached = service_role(
            name, trust, policies=policies, tags=self.tags, parent=self.parent, boundary=self.boundary
        )
        granted: list[pulumi.Resource] = [*attached]
        if addon.name == VOLUME_DRIVER and self.volume_key:
            # The AWS managed policies for the driver allow no customer managed key.
            document = policy("volume-key", key_arn=self.volume_key, region=self.region)
            options = pulumi.ResourceOptions(parent=self.parent)
            granted.append(iam.RolePolicy(f"{name}-key", role=role.name, policy=json.dumps(document), opts=options))
        return role, granted

"""Registers EKS add-ons with the identities that they need, and nothing more."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pulumi
from pulumi_aws import eks, iam

from ....clouds.aws.facts.eks import Addon, addons
from ....clouds.aws.facts.iam import policy
from ....clouds.aws.facts.releases import addon_release
from ....clouds.aws.storage.volumes import VOLUME_DRIVER
from .roles import managed_policy, named, service_role

POD_IDENTITY = "pods.eks.amazonaws.com"
POD_IDENTITY_ACTIONS = ("sts:AssumeRole", "sts:TagSession")
EKS_DEFAULT = "default"
"""For an add-on's version: EKS's own choice, which it makes once."""
MOST_RECENT = "most-recent"
"""For an add-on's version: the newest that EKS has for the cluster's, asked for in every preview and update."""
NETWORK_PLUGIN = "vpc-cni"
_IPV6_EGRESS = {"ENABLE_V6_EGRESS": "true"}


def wanted_addons(asked: Mapping[str, str], *, ipv6_egress: bool = False) -> dict[str, Addon]:
    """Return the add-ons of a cluster by name: those that every cluster has, and those asked for.

    Args:
        asked: Add-ons with their versions.
        ipv6_egress: Whether pods reach the internet by IPv6 through their node.

    Raises:
        KeyError: one that is asked for is unknown.
    """
    always = [name for name, addon in addons().items() if addon.always]
    found = {name: addons()[name] for name in dict.fromkeys([*always, *asked])}
    if ipv6_egress:
        found[NETWORK_PLUGIN] = _with_ipv6_egress(found[NETWORK_PLUGIN])
    return found


def _with_ipv6_egress(plugin: Addon) -> Addon:
    """Tell both containers of the network plugin, as its README asks (aws/amazon-vpc-cni-k8s, ENABLE_V6_EGRESS)."""
    values = dict(plugin.configuration)
    values["env"] = {**values.get("env", {}), **_IPV6_EGRESS}
    values["init"] = {"env": _IPV6_EGRESS}
    return replace(plugin, configuration=values)


def version_of(name: str, asked: Mapping[str, str], version: str) -> str:
    """Return the version of an add-on: the one asked for, or the cluster's pinned one.

    It is empty where EKS chooses, and ``MOST_RECENT`` where EKS is to be asked.
    """
    found = asked.get(name, "") or addon_release(name, version)
    return "" if found == EKS_DEFAULT else found


class AddonInstaller:
    """Installs add-ons into one cluster."""

    def __init__(
        self,
        prefix: str,
        cluster: pulumi.Input[str],
        kubernetes: str,
        region: str,
        tags: Mapping[str, str],
        parent: pulumi.Resource,
        volume_key: str = "",
    ) -> None:
        """Remember where to.

        Args:
            prefix: Logical names begin with it.
            cluster: Name of the cluster.
            kubernetes: Its Kubernetes version.
            region: AWS region.
            tags: Tags of the stack.
            parent: The component.
            volume_key: KMS key that the driver of volumes encrypts with; empty for the account's.
        """
        self._volume_key = volume_key
        self._prefix, self._cluster, self._kubernetes, self._region = prefix, cluster, kubernetes, region
        self._tags, self._parent = tags, parent

    def install(self, addon: Addon, version: str, after: list[pulumi.Resource]) -> eks.Addon:
        """Register an add-on.

        Args:
            addon: What is known of it.
            version: Version of the add-on; empty where EKS chooses, ``MOST_RECENT`` where it is asked.
            after: What must be there first.
        """
        name = f"{self._prefix}-{addon.name}"
        role, attached = self._identity(name, addon) if addon.service_account else (None, [])
        return eks.Addon(
            name,
            cluster_name=self._cluster,
            addon_name=addon.name,
            addon_version=self._most_recent(addon) if version == MOST_RECENT else version or None,
            configuration_values=json.dumps(addon.configuration, sort_keys=True) if addon.configuration else None,
            pod_identity_associations=_associations(addon, role),
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=named(name, self._tags),
            # Its pods use their rights until they are gone: a driver detaches its volumes with them.
            opts=pulumi.ResourceOptions(parent=self._parent, depends_on=[*after, *attached]),
        )

    def _most_recent(self, addon: Addon) -> pulumi.Output[str]:
        """Ask EKS, which takes exact versions alone (EKS API Reference, CreateAddon and DescribeAddonVersions)."""
        found = eks.get_addon_version_output(
            addon_name=addon.name,
            kubernetes_version=self._kubernetes,
            most_recent=True,
            opts=pulumi.InvokeOutputOptions(parent=self._parent),
        )
        return found.version

    def _identity(self, name: str, addon: Addon) -> tuple[iam.Role, list[pulumi.Resource]]:
        policies = [managed_policy(policy, self._region) for policy in addon.policies]
        role, attached = service_role(name, POD_IDENTITY, policies, self._tags, self._parent, POD_IDENTITY_ACTIONS)
        granted: list[pulumi.Resource] = [*attached]
        if addon.name == VOLUME_DRIVER and self._volume_key:
            # The policies that AWS manages for the driver name no key.
            document = policy("volume-key", key_arn=self._volume_key, region=self._region)
            options = pulumi.ResourceOptions(parent=self._parent)
            key = iam.RolePolicy(f"{name}-key", role=role.name, policy=json.dumps(document), opts=options)
            granted.append(key)
        return role, granted


def _associations(addon: Addon, role: iam.Role | None) -> list[eks.AddonPodIdentityAssociationArgs] | None:
    if role is None:
        return None
    return [eks.AddonPodIdentityAssociationArgs(service_account=addon.service_account, role_arn=role.arn)]

"""Releases of node images.

A managed node group without a ``releaseVersion`` starts from the newest release (EKS API reference, CreateNodegroup)
and stays there, because no update ever differs from what is deployed. A pinned release is updated with this package,
and the preview shows the change.
"""

import re

from ..facts.releases import image_release, newest_version
from ..words import NodeImage, Provisioner

LATEST = "latest"
"""AWS's newest release at the time when a node group is created or changed, or when Karpenter resolves the alias."""
_IN_FULL = {
    NodeImage.AL2023: re.compile(r"(?P<kubernetes>\d+\.\d+)\.\d+-(?P<version>\d{8})"),
    NodeImage.BOTTLEROCKET: re.compile(r"(?P<version>\d+\.\d+\.\d+)-[0-9a-f]{8}"),
}
"""Spelling of EKS: Kubernetes version and date (``1.35.6-20260714``), or Bottlerocket version and commit."""
_ALIAS = {NodeImage.AL2023: re.compile(r"v\d{8}"), NodeImage.BOTTLEROCKET: re.compile(r"v?\d+\.\d+\.\d+")}
"""Spelling of Karpenter in an alias (its documentation, ``amiSelectorTerms``)."""
_EXAMPLES = {
    NodeImage.AL2023: ("1.35.6-20260714", "v20260714"),
    NodeImage.BOTTLEROCKET: ("1.66.0-1ad6b4a4", "v1.66.0"),
}


def eks_release(image: NodeImage, version: str, setting: str = "") -> str:
    """Return the ``releaseVersion`` of a managed node group; empty for AWS's newest.

    Args:
        image: Image of the nodes.
        version: Kubernetes version of the nodes.
        setting: Value of the setting: a release, ``latest``, or empty for the pinned release.
    """
    if setting == LATEST:
        return ""
    return setting or image_release(image, version)


def karpenter_release(image: NodeImage, version: str, setting: str = "") -> str:
    """Return the version in the alias of an EC2NodeClass, from a release in either spelling.

    Args:
        image: Image of the nodes.
        version: Kubernetes version of the cluster; empty if unknown, because an alias fits every version.
        setting: Value of the setting: a release, ``latest``, or empty for the pinned release.
    """
    release = setting or image_release(image, version or newest_version(image))
    in_full = _IN_FULL[image].fullmatch(release)
    return f"v{in_full['version']}" if in_full else release or LATEST


def release_problem(image: NodeImage, version: str, provisioner: Provisioner, setting: str) -> str:
    """Return why a release in the settings is invalid; empty if it is valid."""
    in_full = _IN_FULL[image].fullmatch(setting)
    alias = provisioner == Provisioner.KARPENTER and _ALIAS[image].fullmatch(setting)
    if setting in ("", LATEST) or alias:
        return ""
    if not in_full:
        full, short = _EXAMPLES[image]
        either = f"{full} or {short}" if provisioner == Provisioner.KARPENTER else full
        return f"must be {LATEST}, or a release of {image} such as {either}, found {setting!r}"
    kubernetes = in_full.groupdict().get("kubernetes")
    if kubernetes and version and kubernetes != version:
        return f"is for Kubernetes {kubernetes}, but the cluster has {version}; use a release of {version}"
    return ""

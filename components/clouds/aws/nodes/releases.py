"""Which release of its image a node starts from.

A managed node group without a ``releaseVersion`` starts from the newest one (EKS API reference, CreateNodegroup) and
stays there: no update ever differs from what is deployed. A pinned one moves with this package, as a change in the
preview.
"""

import re

from ..facts.releases import image_release, newest_version
from ..words import NodeImage, Provisioner

LATEST = "latest"
"""AWS's newest release, at the time when a node group is created or changed, or when Karpenter looks."""
_IN_FULL = {
    NodeImage.AL2023: re.compile(r"(?P<kubernetes>\d+\.\d+)\.\d+-(?P<version>\d{8})"),
    NodeImage.BOTTLEROCKET: re.compile(r"(?P<version>\d+\.\d+\.\d+)-[0-9a-f]{8}"),
}
"""As EKS writes them: Kubernetes version and date (``1.35.6-20260714``), or Bottlerocket's version and commit."""
_ALIAS = {NodeImage.AL2023: re.compile(r"v\d{8}"), NodeImage.BOTTLEROCKET: re.compile(r"v?\d+\.\d+\.\d+")}
"""As Karpenter writes them in an alias (its documentation, ``amiSelectorTerms``)."""
_EXAMPLES = {
    NodeImage.AL2023: ("1.35.6-20260714", "v20260714"),
    NodeImage.BOTTLEROCKET: ("1.66.0-1ad6b4a4", "v1.66.0"),
}


def eks_release(image: NodeImage, version: str, asked: str = "") -> str:
    """Return the ``releaseVersion`` of a managed node group; empty for AWS's newest.

    Args:
        image: Image of the nodes.
        version: Kubernetes version of the nodes.
        asked: What the settings say: a release, ``latest``, or nothing for the pinned one.
    """
    if asked == LATEST:
        return ""
    return asked or image_release(image, version)


def karpenter_release(image: NodeImage, version: str, asked: str = "") -> str:
    """Return the version in the alias of an EC2NodeClass, from a release in either spelling.

    Args:
        image: Image of the nodes.
        version: Kubernetes version of the cluster; empty where it is not known: an alias fits every version.
        asked: What the settings say: a release, ``latest``, or nothing for the pinned one.
    """
    wanted = asked or image_release(image, version or newest_version(image))
    in_full = _IN_FULL[image].fullmatch(wanted)
    return f"v{in_full['version']}" if in_full else wanted or LATEST


def release_problem(image: NodeImage, version: str, provisioner: Provisioner, asked: str) -> str:
    """Say what is wrong with a release that is asked for; empty if nothing is."""
    in_full = _IN_FULL[image].fullmatch(asked)
    alias = provisioner == Provisioner.KARPENTER and _ALIAS[image].fullmatch(asked)
    if asked in ("", LATEST) or alias:
        return ""
    if not in_full:
        full, short = _EXAMPLES[image]
        either = f"{full} or {short}" if provisioner == Provisioner.KARPENTER else full
        return f"must be {LATEST}, or a release of {image} such as {either}, found {asked!r}"
    kubernetes = in_full.groupdict().get("kubernetes")
    if kubernetes and version and kubernetes != version:
        return f"is for Kubernetes {kubernetes}, but the cluster has {version}; use a release of {version}"
    return ""

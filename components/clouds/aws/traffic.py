"""Which of what pods fetch passes a NAT gateway of the network that is made here.

S3 has a gateway endpoint there (VPC user guide, "Gateway endpoints for Amazon S3"), through which the layers of
images in a private ECR registry of the region come as well (ECR user guide, "Amazon ECR interface VPC endpoints").
All else that is not in the cluster is on the internet, public ECR registries included.
"""

import re

_ECR = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?", re.ASCII)
_S3 = re.compile(r"(?:[^/]+\.)?s3[.-][a-z0-9.-]*amazonaws\.com(\.cn)?", re.ASCII)
_INSIDE = re.compile(r"[^/]+\.svc(\.[a-z0-9.-]+)?|localhost|[^.]+", re.ASCII)
"""Hosts in the cluster."""
_ON_VOLUME = ("/", "./", "file://", "pvc://")


def image_passes_gateway(reference: str, region: str) -> bool:
    """Tell whether an image is pulled through a NAT gateway; not one in a private ECR registry of the region."""
    found = _ECR.fullmatch(reference.partition("/")[0])
    return found is None or found["region"] != region


def weights_pass_gateway(address: str) -> bool:
    """Tell whether weights are fetched through a NAT gateway.

    Args:
        address: Where they are from: a repository of a hub, an address, or a folder of a volume.
    """
    if address.startswith(_ON_VOLUME):
        return False
    scheme, separator, rest = address.partition("://")
    if separator and scheme in ("http", "https"):
        host = rest.partition("/")[0].rpartition("@")[2].partition(":")[0]
        return not (_S3.fullmatch(host) or _INSIDE.fullmatch(host))
    return not (separator and scheme == "s3")

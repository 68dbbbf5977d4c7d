"""Where nodes and pods download images and weights from, and what of it leaves the VPC by a NAT gateway.

A network that this package creates has a gateway endpoint for S3 (VPC user guide, "Gateway endpoints for Amazon S3"),
which also carries the layers of images in private ECR registries of the region (ECR user guide, "Amazon ECR interface
VPC endpoints"). Everything else outside the cluster is on the internet, including public ECR registries.
"""

import re

_ECR = re.compile(r"\d{12}\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?", re.ASCII)
_S3 = re.compile(r"(?:[^/]+\.)?s3[.-][a-z0-9.-]*amazonaws\.com(\.cn)?", re.ASCII)
_INSIDE = re.compile(r"[^/]+\.svc(\.[a-z0-9.-]+)?|localhost|[^.]+", re.ASCII)
"""Hosts in the cluster."""
_ON_VOLUME = ("/", "./", "file://", "pvc://")
_HUBS = {
    "": "huggingface.co",
    "hf": "huggingface.co",
    "ms": "modelscope.cn",
    "modelscope": "modelscope.cn",
    "ollama": "registry.ollama.ai",
    "gs": "storage.googleapis.com",
    "oss": "aliyuncs.com",
}
"""Hosts by the scheme of an address; a repository without a scheme is one of Hugging Face."""


def image_passes_gateway(reference: str, region: str) -> bool:
    """Return whether an image is pulled through a NAT gateway, as all but those in ECR of the same region are."""
    registry = _ECR.fullmatch(reference.partition("/")[0])
    return registry is None or registry["region"] != region


def weights_pass_gateway(address: str) -> bool:
    """Return whether weights are downloaded through a NAT gateway.

    Args:
        address: Source of the weights: a repository of a hub, a URL, or a path on a volume.
    """
    if address.startswith(_ON_VOLUME):
        return False
    scheme, separator, _ = address.partition("://")
    if separator and scheme in ("http", "https"):
        host = hub_of(address)
        return not (_S3.fullmatch(host) or _INSIDE.fullmatch(host))
    return not (separator and scheme == "s3")


def hub_of(address: str) -> str:
    """Return the host that weights are downloaded from; the address itself if its scheme is unknown."""
    scheme, separator, rest = address.partition("://")
    if separator and scheme in ("http", "https", "oci"):
        return rest.partition("/")[0].rpartition("@")[2].partition(":")[0]
    return _HUBS.get(scheme if separator else "", address)

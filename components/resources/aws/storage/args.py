"""Arguments of a ModelStorage, and what can be wrong with them."""

from typing import Required, TypedDict

import pulumi

from ....contract.names import is_dns1123_label
from ..argument_problems import Problems, place_problems, repeated
from .settings import StorageSettings

PATH_MAX = 100
"""Characters of the root directory of an EFS access point (EFS API, RootDirectory)."""


class EfsArgs(TypedDict, total=False):
    """An EFS file system: a new one, or access to an existing one."""

    id: str
    """ID of an existing file system, which is never changed or deleted. It must have a mount target in every zone of
    the nodes, open to the cluster's security group. Default: a new file system, encrypted, deleted with the
    component."""
    throughput: str
    """How throughput is paid for: elastic (by the gigabyte), bursting (with what is stored) or provisioned. Default:
    elastic."""
    mibps: int
    """Provisioned throughput in MiB/s."""
    kms_key_arn: str
    """KMS key that encrypts the file system. Default: that of AWS for EFS."""
    uid: int
    """User that all files belong to, whatever user the pods run as. Default: 1000."""
    gid: int
    """Group that all files belong to. Default: 1000."""


class FsxArgs(TypedDict, total=False):
    """An FSx for Lustre file system: a new one, or access to an existing one."""

    id: str
    """ID of an existing file system, which is never changed or deleted; set dns_name and mount_name too. Default: a
    new one, encrypted, deleted with the component."""
    dns_name: str
    """DNS name of the existing file system."""
    mount_name: str
    """Mount name of the existing file system, which AWS shows beside its DNS name."""
    zone: str
    """Availability zone of a new file system, which the nodes should be in too; required then."""
    deployment: str
    """persistent-2 keeps data twice; scratch-2 is cheaper, and loses what is on a file server that fails. Default:
    persistent-2."""
    capacity_gib: int
    """Size in GiB: 1200, or a multiple of 2400. Default: 1200."""
    throughput_per_tib: int
    """Throughput of persistent-2 in MB/s for each TiB of its size: 125, 250, 500 or 1000. Default: 250."""
    kms_key_arn: str
    """KMS key that encrypts persistent-2. Default: that of AWS for FSx."""


class ModelStorageArgs(TypedDict, total=False):
    """Arguments of a ModelStorage. What decides which resources there are is plain."""

    cluster_name: Required[str]
    """Name of the EKS cluster."""
    region: Required[str]
    """AWS region."""
    namespaces: Required[list[str]]
    """Namespaces of the models; each gets a volume of its own. Their claims are made with the models."""
    efs: EfsArgs
    """An EFS file system as the cache; {} creates one."""
    fsx: FsxArgs
    """Instead of EFS, an FSx for Lustre file system as the cache, in one zone."""
    s3: dict[str, str]
    """Buckets to read from, by name of the claim: each a bucket or bucket/prefix/ in the region. Pods mount them with
    the rights of their own service account (see Identities, model_buckets)."""
    vpc_id: pulumi.Input[str]
    """The cluster's VPC; required for a new file system."""
    subnets: dict[str, pulumi.Input[str]]
    """Private subnet per availability zone of the nodes; required for a new file system."""
    cluster_security_group_id: pulumi.Input[str]
    """The cluster's own security group, whose members may mount a new file system: Cluster.security_group_id."""
    tags: dict[str, str]
    """Tags for all resources."""


def problems(args: ModelStorageArgs, settings: StorageSettings | None) -> Problems:
    """Yield what is wrong, by argument; of the settings what they say together with other arguments."""
    yield from place_problems("cluster_name", args.get("cluster_name", ""), args.get("region", ""))
    namespaces = args.get("namespaces", [])
    if not namespaces:
        yield "namespaces", "name at least one namespace of models"
    for namespace in namespaces:
        if not is_dns1123_label(namespace):
            yield "namespaces", f"found {namespace!r}, which cannot be the name of a namespace"
    yield from repeated("namespaces", namespaces)
    if settings is None:
        return
    if not settings.drivers:
        yield "efs", "is required, unless fsx or s3 is set; {} creates an EFS file system"
    if settings.efs is not None:
        yield from _long_paths(args) if settings.efs.id else _place_of_new(args)
    if settings.fsx is not None and settings.fsx.zone:
        yield from _place_of_new(args)
        if settings.fsx.zone not in args.get("subnets", {}):
            yield "fsx.zone", f"{settings.fsx.zone} has no subnet; add one under subnets, or choose another zone"


def _place_of_new(args: ModelStorageArgs) -> Problems:
    for key in ("vpc_id", "subnets", "cluster_security_group_id"):
        if not args.get(key):
            yield key, "is required for a new file system"


def _long_paths(args: ModelStorageArgs) -> Problems:
    for namespace in args.get("namespaces", []):
        path = access_path(args, namespace)
        if len(path) > PATH_MAX:
            yield (
                "namespaces",
                f"{namespace!r} would have the folder {path!r} in the existing file system, of {len(path)} "
                f"characters, but EFS allows {PATH_MAX}; use a shorter namespace",
            )


def access_path(args: ModelStorageArgs, namespace: str) -> str:
    """Return the folder of a namespace; in a file system that others use too, below one of the cluster."""
    given = args.get("efs", {}).get("id") or args.get("fsx", {}).get("id")
    return f"/{args['cluster_name']}/{namespace}" if given else f"/{namespace}"

"""Checks of the arguments of a ModelStorage."""

from ....contract.names import is_dns1123_label
from ..args import ModelStorageArgs
from ..argument_problems import Problems, place_problems, repeated, timeout_problems
from .settings import StorageSettings

PATH_MAX = 100
"""Maximum length of the root directory of an EFS access point (EFS API, RootDirectory)."""


def problems(args: ModelStorageArgs, settings: StorageSettings | None) -> Problems:
    """Yield what is wrong, by argument; of the settings, only conflicts with other arguments."""
    yield from place_problems("cluster_name", args.get("cluster_name", ""), args.get("region", ""))
    yield from timeout_problems(args)
    namespaces = args.get("namespaces", [])
    if not namespaces:
        yield "namespaces", "is required: list at least one namespace of models"
    for namespace in namespaces:
        if not is_dns1123_label(namespace):
            yield "namespaces", f"found {namespace!r}, which is not a valid name of a namespace"
    yield from repeated("namespaces", namespaces)
    if settings is None:
        return
    if not settings.drivers:
        yield "efs", "is required, unless fsx or s3 is set; {} creates an EFS file system"
    if settings.efs is not None:
        yield from _long_paths(args) if settings.efs.id else _new_file_system(args)
    if settings.fsx is not None and settings.fsx.zone:
        yield from _new_file_system(args)
        if settings.fsx.zone not in args.get("subnets", {}):
            yield "fsx.zone", f"{settings.fsx.zone} has no subnet; add one under subnets, or choose another zone"


def _new_file_system(args: ModelStorageArgs) -> Problems:
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
    """Return the folder of a namespace; in an existing file system, below a folder of the cluster."""
    existing_id = args.get("efs", {}).get("id") or args.get("fsx", {}).get("id")
    return f"/{args['cluster_name']}/{namespace}" if existing_id else f"/{namespace}"

"""Checks of the arguments of a Cluster."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from ...clouds.aws.access import Namespaces, access_problems, role_problems
from ...clouds.aws.api_server import TUNNEL_PORT, endpoint_access_problems
from ...clouds.aws.facts.eks import EKS_DEFAULT, MOST_RECENT, addons
from ...clouds.aws.logs import retention_problems
from ...clouds.aws.nodes.policies import node_policy_problems
from ...clouds.aws.nodes.releases import release_problem
from ...clouds.aws.nodes.system import DEFAULT_TYPES, system_problems
from ...clouds.aws.storage.volumes import VOLUME_DRIVER
from ...clouds.aws.versions import check_version
from ...clouds.aws.words import NodeImage, Provisioner, Support
from ...contract import clock
from ...contract.problems import errors
from .args import ClusterArgs
from .argument_problems import Problems, boundary_problems, place_problems, timeout_problems
from .described import described_problems, version_in
from .storage.settings import KMS_KEY

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
LOG_DAYS = 90
SERVICE_CIDR = "172.20.0.0/16"
_ADDON_VERSION = re.compile(r"v\d+\.\d+[\w.-]*", re.ASCII)
_HIGHEST_PORT = 65535
NEW_CLUSTER_ONLY = (
    *("private_access_cidrs", "private_access_security_groups", "bastion", "namespace_access"),
    "volume_kms_key_arn",
)
_FOR_NEW_CLUSTER = "has no effect on an existing cluster; remove it, or existing"


def system_nodes(args: ClusterArgs) -> tuple[Sequence[str], int, str, int | None]:
    """Return types, number, image and maximum number of the system nodes."""
    types = args.get("system_instance_types", DEFAULT_TYPES)
    return types, args.get("system_nodes", 2), args.get("image", NodeImage.AL2023), args.get("system_nodes_max")


def problems(name: str, args: ClusterArgs) -> Problems:
    yield from place_problems("cluster_name", args.get("cluster_name", name), args.get("region", ""))
    yield from timeout_problems(args)
    yield from boundary_problems(args)
    yield from described_problems(args)
    yield from (("node_policies", reason) for reason in node_policy_problems(args.get("node_policies", ())))
    if "node_role_arn" in args and "node_policies" in args:
        yield (
            "node_policies",
            "has no effect with node_role_arn; attach the policies to that role, and remove node_policies",
        )
    yield from _kubeconfig_problems(args)
    if args.get("existing"):
        yield from ((key, _FOR_NEW_CLUSTER) for key in NEW_CLUSTER_ONLY if args.get(key))
        return
    missing: tuple[str, ...] = tuple(key for key in ("version", "subnet_ids") if key not in args)
    for key in missing:
        yield key, "is required unless existing is true"
    if "version" in args:
        described = version_in(args)
        version_errors = errors(check_version(args["version"], clock.today(), name, "version", described=described))
        yield from ((problem.path, problem.reason) for problem in version_errors)
    if args.get("support", Support.STANDARD) not in list(Support):
        yield "support", f"must be one of {', '.join(Support)}, found {args.get('support')!r}"
    for word in args.get("log_types", ()):
        if word not in LOG_TYPES:
            yield "log_types", f"must be one of {', '.join(LOG_TYPES)}, found {word!r}"
    yield from retention_problems("log_retention_days", args.get("log_retention_days", LOG_DAYS))
    yield from _addon_problems(args)
    yield from _access_problems(args)
    yield from endpoint_access_problems(
        args.get("public_access_cidrs", []),
        args.get("private_access_cidrs", []),
        args.get("private_access_security_groups", {}),
        tunnel=tunnel_port(args) != 0,
    )
    yield from system_problems(*system_nodes(args))
    yield from _release_problems(args)
    yield from _volume_key_problems(args)


def _addon_problems(args: ClusterArgs) -> Problems:
    for name, version in args.get("addons", {}).items():
        if name not in addons():
            yield "addons", f"unknown add-on {name!r}; known add-ons: {', '.join(addons())}"
        elif version not in ("", EKS_DEFAULT, MOST_RECENT) and not _ADDON_VERSION.fullmatch(version):
            yield (
                "addons",
                f"{name} must have a version such as v1.22.2-eksbuild.1, {EKS_DEFAULT} for the default of EKS, "
                f"{MOST_RECENT}, or an empty string for the version that this package pins, found {version!r}; `aws "
                "eks "
                f"describe-addon-versions --addon-name {name}` lists them",
            )


def _volume_key_problems(args: ClusterArgs) -> Problems:
    key = args.get("volume_kms_key_arn", "")
    if not key:
        return
    region = args.get("region", "")
    match = re.fullmatch(KMS_KEY, key)
    if not match:
        yield (
            "volume_kms_key_arn",
            f"must be the ARN of a key such as arn:aws:kms:{region}:123456789012:key/<id>, not of an alias, because "
            f"IAM permissions require the key's ARN; found {key!r}",
        )
    elif key.split(":")[3] != region:
        yield (
            "volume_kms_key_arn",
            f"is a key in {key.split(':')[3]}, but volumes in {region} require a key in {region}; use a key of that "
            "region",
        )
    if VOLUME_DRIVER not in args.get("addons", {}):
        yield "volume_kms_key_arn", f"has no effect without the add-on {VOLUME_DRIVER}; add it, or remove the key"


def _release_problems(args: ClusterArgs) -> Problems:
    image = args.get("image", NodeImage.AL2023)
    if image not in list(NodeImage):
        return
    release = args.get("system_ami_release", "")
    wrong = release_problem(NodeImage(image), args.get("version", ""), Provisioner.MANAGED, release)
    if wrong:
        yield "system_ami_release", wrong


def tunnel_port(args: ClusterArgs) -> int:
    """Return the local port that is forwarded to the API server; 0 without forwarding."""
    return args.get("tunnel_port", TUNNEL_PORT if args.get("bastion") else 0)


def _kubeconfig_problems(args: ClusterArgs) -> Problems:
    if not 0 <= tunnel_port(args) <= _HIGHEST_PORT:
        yield "tunnel_port", f"must be 0 to {_HIGHEST_PORT}, found {tunnel_port(args)}"
    role = args.get("assume_role_arn", "")
    if role:
        yield from role_problems("assume_role_arn", [role])
    if role and not args.get("creator_is_admin", True) and role not in args.get("admin_role_arns", []):
        yield "assume_role_arn", f"{role} has no access to the cluster; add it to admin_role_arns"


def namespaces_of(args: ClusterArgs) -> Namespaces:
    return cast("Mapping[str, Mapping[str, Sequence[str]]]", args.get("namespace_access", {}))


def _access_problems(args: ClusterArgs) -> Problems:
    admins = args.get("admin_role_arns", [])
    yield from access_problems(admins, args.get("viewer_role_arns", []), namespaces_of(args))
    if not admins and not args.get("creator_is_admin", True):
        yield (
            "creator_is_admin",
            "is false and admin_role_arns is empty, so no one could access the cluster; set one of the two",
        )

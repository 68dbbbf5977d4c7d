"""Arguments of a Cluster, and what can be wrong with them."""

import re
from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, cast

import pulumi

from ...clouds.aws.access import Namespaces, access_problems, role_problems
from ...clouds.aws.facts.eks import addons
from ...clouds.aws.logs import retention_problems
from ...clouds.aws.nodes.releases import release_problem
from ...clouds.aws.reach import TUNNEL_PORT, reach_problems
from ...clouds.aws.storage.classes import VOLUME_DRIVER
from ...clouds.aws.versions import check_version
from ...clouds.aws.words import NodeImage, Provisioner, Support
from ...contract import clock
from ...contract.problems import Problem, errors
from .argument_problems import Problems, place_problems
from .parts.addons import EKS_DEFAULT, MOST_RECENT
from .parts.roles import node_policy_problems
from .parts.system_nodes import DEFAULT_TYPES
from .parts.system_nodes import problems as system_problems
from .storage.settings import KMS_KEY

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
LOG_DAYS = 90
SERVICE_CIDR = "172.20.0.0/16"
_ADDON_VERSION = re.compile(r"v\d+\.\d+[\w.-]*", re.ASCII)
_HIGHEST_PORT = 65535
OF_A_NEW_ONE = (
    *("private_access_cidrs", "private_access_security_groups", "bastion", "namespace_access"),
    "volume_kms_key_arn",
)
_MADE_HERE = "is for a cluster that is created here; remove it, or existing"


class NamespaceAccessArgs(TypedDict, total=False):
    """Who has rights in one namespace."""

    admin_role_arns: list[str]
    """IAM roles that may do almost everything in it, Roles and RoleBindings included."""
    editor_role_arns: list[str]
    """IAM roles that may change what runs in it. They reach its Secrets and the service accounts of its pods."""
    viewer_role_arns: list[str]
    """IAM roles that may view everything in it except Secrets and custom resources."""


class ClusterArgs(TypedDict, total=False):
    """Arguments of a Cluster."""

    region: Required[str]
    """AWS region, such as us-east-1."""
    cluster_name: str
    """Name of the cluster. Default: the component's name."""
    existing: bool
    """Use the existing cluster with this name unchanged; of the other arguments only node_role_arn, node_policies and
    those of the kubeconfig (tunnel_port, profile, assume_role_arn) are used then. Default: false."""
    version: str
    """Kubernetes version, such as 1.35. Required unless existing."""
    subnet_ids: pulumi.Input[list[str]]
    """Private subnets in at least two zones, for the control plane. They count when the cluster is created: EKS takes
    no other zones afterwards. Required unless existing."""
    system_subnet_ids: pulumi.Input[list[str]]
    """Private subnets of the system nodes; others replace the nodes. Default: subnet_ids."""
    public_access_cidrs: list[str]
    """CIDR ranges that may reach the API server over the internet. Default: none; the API server is private."""
    private_access_cidrs: list[str]
    """CIDR ranges in the VPC, or in networks connected with it, that may reach the API server. Default: none; the
    nodes alone reach it there."""
    private_access_security_groups: dict[str, pulumi.Input[str]]
    """Security groups whose members may reach the API server in the VPC, by a name of your choice."""
    bastion: bool
    """Whether to create an instance through which Session Manager forwards a port to the API server: see the output
    tunnel. Default: false."""
    tunnel_port: int
    """Port of the machine that runs Pulumi and kubectl which leads to the API server; provider and kubeconfig connect
    to it. 0: they connect directly. Default: 8443 with a bastion, otherwise 0."""
    profile: str
    """Profile of the AWS CLI with which the kubeconfig gets its tokens. Default: none; the environment decides."""
    assume_role_arn: str
    """IAM role that the kubeconfig takes to get its tokens. Default: none."""
    admin_role_arns: list[str]
    """IAM roles that administer the cluster, in addition to the principal that creates it: EKS gives that one its
    entry itself, and refuses a second."""
    viewer_role_arns: list[str]
    """IAM roles that may view all namespaces, except Secrets and custom resources."""
    namespace_access: dict[str, NamespaceAccessArgs]
    """IAM roles with rights in single namespaces, by namespace; team-* stands for all that begin so."""
    creator_is_admin: bool
    """Whether the principal that creates the cluster administers it. With false, it can be one of admin_role_arns.
    Counts when the cluster is created. Default: true."""
    log_types: list[str]
    """Logs of the control plane: api, audit, authenticator, controllerManager, scheduler. Default: all."""
    log_retention_days: int
    """Days to keep the logs, also after the cluster is gone; one of the periods of CloudWatch Logs. Default: 90."""
    secrets_key_arn: str
    """KMS key for Secrets. Default: a new key."""
    addons: dict[str, str]
    """EKS add-ons with their versions, in addition to those that every cluster has. An empty version is the one that
    this package pins for the cluster's; default is EKS's, which is chosen once; most-recent is looked up in each
    preview, which then needs credentials."""
    support: str
    """What happens when standard support ends: standard upgrades, extended pays for extended support. Default:
    standard."""
    system_instance_types: list[str]
    """Instance types for system pods, all of one architecture. Default: m7i.large."""
    system_nodes: int
    """How many of them. Default: 2."""
    system_nodes_max: int
    """How many the Cluster Autoscaler may make of them, for models without an instance type too. Default: none beyond
    system_nodes."""
    system_ami_release: str
    """Release of their image, such as 1.35.6-20260714, or latest: the newest when they are created or changed.
    Default: the one that this package pins for the version."""
    force_update: bool
    """Whether updates of the system nodes replace nodes whose pods a disruption budget keeps. Default: false."""
    disk_kms_key_arn: str
    """KMS key of the system nodes' disks, which EC2 Auto Scaling must be allowed to use. Default: the account's."""
    volume_kms_key_arn: str
    """KMS key of the volumes that the add-on aws-ebs-csi-driver provides; its policy must let the IAM policies of the
    account decide, or allow the driver's role. Default: the account's key for EBS; volumes are always encrypted."""
    image: str
    """Image of the system nodes: al2023 or bottlerocket. Default: al2023."""
    node_policies: list[str]
    """Further policies of the nodes: names of AWS's, or ARNs. Default: AmazonSSMManagedInstanceCore."""
    node_role_arn: str
    """Role of the nodes. Default: a new role."""
    service_cidr: str
    """CIDR range of Services. Default: 172.20.0.0/16."""
    ipv6_egress: bool
    """Whether pods reach the internet by IPv6 through their node; the subnets must have IPv6. Default: false."""
    deletion_protection: bool
    """Whether EKS protects the cluster from deletion. Default: false."""
    protect: bool
    """Whether Pulumi protects the cluster and its key from deletion. Default: false."""
    tags: dict[str, str]
    """Tags of everything."""


def system_nodes(args: ClusterArgs) -> tuple[Sequence[str], int, str, int | None]:
    """Return types, number, image and greatest number of the system nodes."""
    types = args.get("system_instance_types", DEFAULT_TYPES)
    return types, args.get("system_nodes", 2), args.get("image", NodeImage.AL2023), args.get("system_nodes_max")


def problems(name: str, args: ClusterArgs) -> Problems:
    """Yield what is wrong, by argument."""
    yield from place_problems("cluster_name", args.get("cluster_name", name), args.get("region", ""))
    yield from (("node_policies", reason) for reason in node_policy_problems(args.get("node_policies", ())))
    if "node_role_arn" in args and "node_policies" in args:
        yield "node_policies", "is of a new role, but node_role_arn names one of your own; attach them there"
    yield from _kubeconfig_problems(args)
    if args.get("existing"):
        yield from ((key, _MADE_HERE) for key in OF_A_NEW_ONE if args.get(key))
        return
    missing: tuple[str, ...] = tuple(key for key in ("version", "subnet_ids") if key not in args)
    for key in missing:
        yield key, "is required unless existing is true"
    if "version" in args:
        yield from ((p.path, p.reason) for p in _version_problems(args["version"], name))
    if args.get("support", Support.STANDARD) not in list(Support):
        yield "support", f"must be one of {', '.join(Support)}, found {args.get('support')!r}"
    for word in args.get("log_types", ()):
        if word not in LOG_TYPES:
            yield "log_types", f"must be one of {', '.join(LOG_TYPES)}, found {word!r}"
    yield from retention_problems("log_retention_days", args.get("log_retention_days", LOG_DAYS))
    yield from _addon_problems(args)
    yield from _access_problems(args)
    yield from reach_problems(
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
                f"{name} must have a version such as v1.22.2-eksbuild.1, {EKS_DEFAULT} for EKS's, {MOST_RECENT} for "
                f"the newest, or an empty one for this package's, found {version!r}; `aws eks "
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
            f"must be the ARN of a key, such as arn:aws:kms:{region}:123456789012:key/<id>, and not of an alias: "
            f"permissions name the key; found {key!r}",
        )
    elif key.split(":")[3] != region:
        yield (
            "volume_kms_key_arn",
            f"is a key in {key.split(':')[3]}, but volumes in {region} are encrypted with keys of {region} alone; "
            "name a key there",
        )
    if VOLUME_DRIVER not in args.get("addons", {}):
        yield "volume_kms_key_arn", f"has no effect without the add-on {VOLUME_DRIVER}; add it, or remove the key"


def _release_problems(args: ClusterArgs) -> Problems:
    image = args.get("image", NodeImage.AL2023)
    if image not in list(NodeImage):
        return
    asked = args.get("system_ami_release", "")
    wrong = release_problem(NodeImage(image), args.get("version", ""), Provisioner.MANAGED, asked)
    if wrong:
        yield "system_ami_release", wrong


def _version_problems(version: str, name: str) -> tuple[Problem, ...]:
    return errors(check_version(version, clock.today(), name, "version"))


def tunnel_port(args: ClusterArgs) -> int:
    """Return the port of this machine that leads to the API server; 0 if it is reached directly."""
    return args.get("tunnel_port", TUNNEL_PORT if args.get("bastion") else 0)


def _kubeconfig_problems(args: ClusterArgs) -> Problems:
    if not 0 <= tunnel_port(args) <= _HIGHEST_PORT:
        yield "tunnel_port", f"must be 0 to {_HIGHEST_PORT}, found {tunnel_port(args)}"
    role = args.get("assume_role_arn", "")
    if role:
        yield from role_problems("assume_role_arn", [role])
    if role and not args.get("creator_is_admin", True) and role not in args.get("admin_role_arns", []):
        yield "assume_role_arn", f"{role} would have no rights in the cluster; add it to admin_role_arns"


def namespaces_of(args: ClusterArgs) -> Namespaces:
    """Return who has rights in single namespaces."""
    return cast("Mapping[str, Mapping[str, Sequence[str]]]", args.get("namespace_access", {}))


def _access_problems(args: ClusterArgs) -> Problems:
    admins = args.get("admin_role_arns", [])
    yield from access_problems(admins, args.get("viewer_role_arns", []), namespaces_of(args))
    if not admins and not args.get("creator_is_admin", True):
        yield "creator_is_admin", "is false, and admin_role_arns is empty: nobody could use the cluster; set either"

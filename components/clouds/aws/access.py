"""Access to the Kubernetes API of a cluster: which role gets which EKS access policy, in which namespaces.

Sources in the EKS user guide: "Review access policy permissions" for the permissions of each policy; "Create access
entries" and "Associate access policies with access entries" for the rules that a principal has one entry, that a
policy is associated with an entry once, and that service-linked roles cannot have entries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
VIEW = "AmazonEKSViewPolicy"
"""Cannot read Secrets, unlike AmazonEKSAdminViewPolicy."""
ADMINS, EDITORS, VIEWERS = "admin_role_arns", "editor_role_arns", "viewer_role_arns"
IN_NAMESPACES = {ADMINS: "AmazonEKSAdminPolicy", EDITORS: "AmazonEKSEditPolicy", VIEWERS: VIEW}
"""Policies for access to individual namespaces, strongest first: each includes the permissions of the next."""
_WORDS = {
    CLUSTER_ADMIN: "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSEditPolicy": "edit",
    VIEW: "view",
}
ROLE = r"^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$"
"""ARN of a role, as a pattern for the JSON schema of the settings."""
_ROLE = re.compile(
    r"arn:aws[a-z-]*:iam::(?P<account>\d{12}):role/(?P<path>[\w+=,.@/-]*/)?(?P<name>[\w+=,.@-]+)", re.A
)
_NAMESPACE = re.compile(r"[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?", re.A)

Namespaces = Mapping[str, Mapping[str, Sequence[str]]]
"""Role ARNs by argument (``admin_role_arns`` and so on), by namespace."""
Problems = Iterator[tuple[str, str]]
"""Pairs of an argument and a message."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The association of an access policy with a role.

    Attributes:
        role: ARN of the role.
        policy: Name of the access policy.
        namespaces: Namespaces in which the policy applies; empty for the whole cluster.
        formerly: Suffix of the logical name in earlier versions, for an alias; empty without one.
    """

    role: str
    policy: str
    namespaces: tuple[str, ...] = ()
    formerly: str = ""

    @property
    def entry(self) -> str:
        """Suffix of the logical name of the access entry."""
        return f"access-{_account_and_name(self.role)}"

    @property
    def name(self) -> str:
        """Suffix of the logical name of the association."""
        return f"{_WORDS[self.policy]}-{_account_and_name(self.role)}"


def grants(admins: Iterable[str], viewers: Iterable[str], namespaces: Namespaces) -> list[Grant]:
    """Return the access policies of all roles, in the order of the arguments.

    Args:
        admins: Roles that administer the cluster.
        viewers: Roles that may view everything but Secrets.
        namespaces: Roles with access to individual namespaces.
    """
    cluster_wide = [Grant(role, CLUSTER_ADMIN, (), f"admin-{_name(role)}") for role in admins]
    cluster_wide += [Grant(role, VIEW, (), f"viewer-{_name(role)}") for role in viewers]
    # Earlier logical names had no account, so roles of the same name in two accounts would both claim an alias. Only
    # the first one gets it.
    aliases: set[str] = set()
    for index, grant in enumerate(cluster_wide):
        if grant.formerly in aliases:
            cluster_wide[index] = replace(grant, formerly="")
        aliases.add(grant.formerly)
    scopes: dict[tuple[str, str], set[str]] = {}
    for namespace in sorted(namespaces):
        for kind, policy in IN_NAMESPACES.items():
            for role in namespaces[namespace].get(kind, ()):
                scopes.setdefault((role, policy), set()).add(namespace)
    return [*cluster_wide, *(Grant(role, policy, tuple(sorted(scope))) for (role, policy), scope in scopes.items())]


def access_problems(admins: Sequence[str], viewers: Sequence[str], namespaces: Namespaces) -> Problems:
    """Report invalid role ARNs and namespaces, and roles that are listed in more than one place."""
    yield from role_problems(ADMINS, admins)
    yield from role_problems(VIEWERS, viewers)
    for role in dict.fromkeys(viewers):
        if role in admins:
            yield (
                VIEWERS,
                f"{role} is in {ADMINS} too, and EKS has one entry for each role; remove it from one of them",
            )
    for namespace, kinds in namespaces.items():
        key = f"namespace_access[{namespace}]"
        if not _NAMESPACE.fullmatch(namespace):
            yield key, "must be the name of a namespace, in which * matches any characters, such as team-*"
        for kind in IN_NAMESPACES:
            yield from role_problems(f"{key}.{kind}", kinds.get(kind, ()))
        yield from _redundant_rights(key, kinds, admins, viewers)
    # Role names are unique in an account, so ARNs that differ only in the path are one role, or one of them is wrong.
    role_keys = [(ADMINS, role) for role in admins] + [(VIEWERS, role) for role in viewers]
    role_keys += [
        (f"namespace_access[{namespace}].{kind}", role)
        for namespace, kinds in namespaces.items()
        for kind in IN_NAMESPACES
        for role in kinds.get(kind, ())
    ]
    first_arns: dict[str, str] = {}
    for key, role in role_keys:
        if _ROLE.fullmatch(role):
            first = first_arns.setdefault(_account_and_name(role), role)
            if first != role:
                yield (
                    key,
                    f"{role} and {first} would be one role, since an account has a name once; use the right one",
                )


def _redundant_rights(
    key: str, kinds: Mapping[str, Sequence[str]], admins: Sequence[str], viewers: Sequence[str]
) -> Problems:
    """Report roles of a namespace whose rights another list already grants."""
    strongest_first = list(IN_NAMESPACES)
    for position, kind in enumerate(strongest_first):
        for role in dict.fromkeys(kinds.get(kind, ())):
            stronger = next((other for other in strongest_first[:position] if role in kinds.get(other, ())), None)
            if role in admins:
                yield f"{key}.{kind}", f"{role} may do this already, as one of {ADMINS}; remove it here"
            elif kind == VIEWERS and role in viewers:
                yield (
                    f"{key}.{kind}",
                    f"{role} may view every namespace already, as one of {VIEWERS}; remove it here",
                )
            elif stronger:
                yield f"{key}.{kind}", f"{role} may do this already, as one of {stronger}; remove it here"


def role_problems(key: str, roles: Sequence[str]) -> Problems:
    """Report invalid, service-linked and duplicate roles in a list.

    Args:
        key: The argument that contains the list.
        roles: ARNs.
    """
    for role in dict.fromkeys(roles):
        arn = _ROLE.fullmatch(role)
        if not arn:
            yield key, f"must be ARNs of IAM roles, such as arn:aws:iam::123456789012:role/admin, found {role!r}"
        elif (arn["path"] or "").startswith("aws-service-role/"):
            yield key, f"{role} is a service-linked role, for which EKS has no access entries; remove it"
        if list(roles).count(role) > 1:
            yield key, f"{role} is listed {list(roles).count(role)} times; list it once"


def _name(role: str) -> str:
    return role.rpartition("/")[2]


def account_of(role: str) -> str:
    """Return the account ID in the ARN of a role; empty if the ARN is invalid."""
    arn = _ROLE.fullmatch(role)
    return arn["account"] if arn else ""


def _account_and_name(role: str) -> str:
    # Without the path: it is not part of a role's identity, because names are unique in an account.
    arn = _ROLE.fullmatch(role)
    assert arn is not None, role  # noqa: S101  access_problems rejects invalid ARNs
    return f"{arn['account']}-{arn['name']}"

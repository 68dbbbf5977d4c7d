"""Who may do what in a cluster: which role gets which of EKS's access policies, and where.

What the policies allow is in EKS's user guide, "Review access policy permissions"; that a principal has one entry,
that a policy is associated with it once and that service-linked roles get none, in "Create access entries" and
"Associate access policies with access entries".
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
VIEW = "AmazonEKSViewPolicy"
"""Without Secrets; AmazonEKSAdminViewPolicy reads them too."""
ADMINS, EDITORS, VIEWERS = "admin_role_arns", "editor_role_arns", "viewer_role_arns"
IN_NAMESPACES = {ADMINS: "AmazonEKSAdminPolicy", EDITORS: "AmazonEKSEditPolicy", VIEWERS: VIEW}
"""Policies in single namespaces, the strongest first: each includes the next."""
_WORDS = {
    CLUSTER_ADMIN: "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSEditPolicy": "edit",
    VIEW: "view",
}
ROLE = r"^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$"
"""As settings describe it to editors."""
_ROLE = re.compile(
    r"arn:aws[a-z-]*:iam::(?P<account>\d{12}):role/(?P<path>[\w+=,.@/-]*/)?(?P<name>[\w+=,.@-]+)", re.A
)
_NAMESPACE = re.compile(r"[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?", re.A)

Namespaces = Mapping[str, Mapping[str, Sequence[str]]]
"""Roles by kind (``admin_role_arns`` and so on) by namespace."""
Problems = Iterator[tuple[str, str]]
"""Argument, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One access policy of one role.

    Attributes:
        role: ARN of the role.
        policy: Name of the access policy.
        namespaces: Where it counts; everywhere if there are none.
        formerly: End of the logical name that the same access had in versions before, if it is this role's alone.
    """

    role: str
    policy: str
    namespaces: tuple[str, ...] = ()
    formerly: str = ""

    @property
    def entry(self) -> str:
        """End of the entry's logical name: an account has a role's name once, whatever the path before it."""
        return f"access-{_told_apart(self.role)}"

    @property
    def name(self) -> str:
        """End of the association's logical name."""
        return f"{_WORDS[self.policy]}-{_told_apart(self.role)}"


def grants(admins: Iterable[str], viewers: Iterable[str], namespaces: Namespaces) -> list[Grant]:
    """Return what every role gets, by policy and in the order in which roles are named.

    Args:
        admins: Roles that administer the cluster.
        viewers: Roles that may look at everything but Secrets.
        namespaces: Roles with rights in single namespaces.
    """
    everywhere = [Grant(role, CLUSTER_ADMIN, (), f"admin-{_name(role)}") for role in admins]
    everywhere += [Grant(role, VIEW, (), f"viewer-{_name(role)}") for role in viewers]
    scopes: dict[tuple[str, str], set[str]] = {}
    for namespace in sorted(namespaces):
        for kind, policy in IN_NAMESPACES.items():
            for role in namespaces[namespace].get(kind, ()):
                scopes.setdefault((role, policy), set()).add(namespace)
    return [*_inherited_once(everywhere), *(Grant(*who, tuple(sorted(where))) for who, where in scopes.items())]


def _inherited_once(wanted: list[Grant]) -> Iterator[Grant]:
    """Leave a former name to the first role that had it: roles of one name in two accounts would both claim it."""
    seen: set[str] = set()
    for grant in wanted:
        yield dataclasses.replace(grant, formerly="" if grant.formerly in seen else grant.formerly)
        seen.add(grant.formerly)


def access_problems(admins: Sequence[str], viewers: Sequence[str], namespaces: Namespaces) -> Problems:
    """Yield what is wrong with who may do what."""
    yield from role_problems(ADMINS, admins)
    yield from role_problems(VIEWERS, viewers)
    for role in dict.fromkeys(viewers):
        if role in admins:
            yield (
                VIEWERS,
                f"{role} is in {ADMINS} too, and EKS has one entry for each role; remove it from one of them",
            )
    for namespace, kinds in namespaces.items():
        where = f"namespace_access[{namespace}]"
        if not _NAMESPACE.fullmatch(namespace):
            yield where, "must be the name of a namespace, in which * stands for any characters, such as team-*"
        for kind in IN_NAMESPACES:
            yield from role_problems(f"{where}.{kind}", kinds.get(kind, ()))
        yield from _repeated_rights(where, kinds, admins, viewers)
    yield from _one_role_twice(_all_of(admins, viewers, namespaces))


def _all_of(admins: Sequence[str], viewers: Sequence[str], namespaces: Namespaces) -> Iterator[tuple[str, str]]:
    yield from ((ADMINS, role) for role in admins)
    yield from ((VIEWERS, role) for role in viewers)
    for namespace, kinds in namespaces.items():
        yield from (
            (f"namespace_access[{namespace}].{kind}", role) for kind in IN_NAMESPACES for role in kinds.get(kind, ())
        )


def _repeated_rights(
    where: str, kinds: Mapping[str, Sequence[str]], admins: Sequence[str], viewers: Sequence[str]
) -> Problems:
    weakest_last = list(IN_NAMESPACES)
    for position, kind in enumerate(weakest_last):
        for role in dict.fromkeys(kinds.get(kind, ())):
            more = next((each for each in weakest_last[:position] if role in kinds.get(each, ())), None)
            if role in admins:
                yield f"{where}.{kind}", f"{role} may do this already, as one of {ADMINS}; remove it here"
            elif kind == VIEWERS and role in viewers:
                yield (
                    f"{where}.{kind}",
                    f"{role} may view every namespace already, as one of {VIEWERS}; remove it here",
                )
            elif more:
                yield f"{where}.{kind}", f"{role} may do this already, as one of {more}; remove it here"


def _one_role_twice(named: Iterable[tuple[str, str]]) -> Problems:
    """An account has a role's name once: ARNs that differ in the path alone are one role, or one is wrong."""
    known: dict[str, str] = {}
    for key, role in named:
        if _ROLE.fullmatch(role):
            first = known.setdefault(_told_apart(role), role)
            if first != role:
                yield (
                    key,
                    f"{role} and {first} would be one role, since an account has a name once; use the right one",
                )


def role_problems(key: str, roles: Sequence[str]) -> Problems:
    """Yield what is wrong with a list of roles, by the argument that holds it."""
    for role in dict.fromkeys(roles):
        found = _ROLE.fullmatch(role)
        if not found:
            yield key, f"must be ARNs of IAM roles, such as arn:aws:iam::123456789012:role/admin, found {role!r}"
        elif (found["path"] or "").startswith("aws-service-role/"):
            yield key, f"{role} is a service-linked role, for which EKS has no access entries; remove it"
        if list(roles).count(role) > 1:
            yield key, f"{role} is listed {list(roles).count(role)} times; list it once"


def _name(role: str) -> str:
    return role.rpartition("/")[2]


def account_of(role: str) -> str:
    """Return the account of a role, nothing if its ARN is none."""
    found = _ROLE.fullmatch(role)
    return found["account"] if found else ""


def _told_apart(role: str) -> str:
    found = _ROLE.fullmatch(role)
    assert found is not None, role  # noqa: S101  access_problems tells of what is none
    return f"{found['account']}-{found['name']}"

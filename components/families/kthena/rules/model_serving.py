"""Rules of ModelServings across fields (Kthena spec 1.2 and 1.4: V11, V12, V14, V15 and upstream's own CEL).

V13, that nothing is negative, is in the types. V3 over whole pods would exceed the API server's CEL budget: it is
checked when a ModelServing is rendered.
"""

from collections.abc import Iterator

from ....contract.base import Json, Rule, Violation, no_local_check
from ....contract.names import is_dns1035_label
from ....contract.rules import check_parts, server_only, unique_names
from ...leaderworkerset.rules import MAX_SURGE, MAX_UNAVAILABLE, is_share, share

_Parts = Iterator[tuple[tuple[str | int, ...], Json]]
_BOUNDS = ("rolloutStrategy", "rollingUpdateConfiguration")


def _names_broken(serving: Json) -> Iterator[Violation]:
    """Yield roles whose name cannot be part of a label, else the name that makes the whole too long."""
    name, groups = serving.metadata.name, serving.spec.replicas
    blamed = False
    for index, role in enumerate(serving.spec.template.roles):
        longest = f"{name}-{groups}-{role.name}-{role.replicas}-{role.worker_replicas}"
        if is_dns1035_label(longest):
            continue
        found = f", found {longest!r} of {len(longest)} characters"
        if not is_dns1035_label(f"a-{role.name}"):
            yield ("spec", "template", "roles", index, "name"), found
        elif not blamed:
            blamed = True
            yield ("metadata", "name"), found


# 59: the 63 characters of a label less the four dashes.
NAMES = Rule(
    "<name>-<replicas>-<role>-<its replicas>-<its workers> must be a DNS-1035 label for each role (at most 63 "
    "lower-case letters, digits and '-', starting with a letter), because pods are named so",
    _names_broken,
    "self.metadata.name.matches('^[a-z][-a-z0-9]*$') && self.spec.template.roles.all(r, "
    "r.name.matches('^[-a-z0-9]*$') && self.metadata.name.size() + string(self.spec.replicas).size() + r.name.size() "
    "+ string(r.replicas).size() + string(r.workerReplicas).size() <= 59)",
)


def _scheduler_broken(spec: Json) -> Iterator[Violation]:
    if spec.scheduler_name != "volcano":
        yield ("schedulerName",), f", found {spec.scheduler_name!r}"


_SCHEDULER = Rule(
    "schedulerName must be volcano, the only scheduler that Kthena knows",
    _scheduler_broken,
    "self.schedulerName == 'volcano'",
)


def _configuration(spec: Json) -> Json:
    return spec.rollout_strategy and spec.rollout_strategy.rolling_update_configuration


def _partition_broken(spec: Json) -> Iterator[Violation]:
    configuration = _configuration(spec)
    partition = configuration.partition if configuration else None
    if partition is not None and partition >= spec.replicas:
        yield (*_BOUNDS, "partition"), f", found {partition} of {spec.replicas}"


_HAS = "!has(self.rolloutStrategy) || !has(self.rolloutStrategy.rollingUpdateConfiguration) || "
_CEL = "self.rolloutStrategy.rollingUpdateConfiguration"
_PARTITION = Rule(
    "partition must be below replicas, or no group would ever be updated; lower it or remove it",
    _partition_broken,
    f"{_HAS}!has({_CEL}.partition) || {_CEL}.partition < self.replicas",
)


def _stuck(spec: Json) -> Iterator[Violation]:
    configuration = _configuration(spec)
    if not configuration:
        return
    unavailable, surge, groups = configuration.max_unavailable, configuration.max_surge, spec.replicas
    if not is_share(unavailable) or not is_share(surge):
        return
    if share(unavailable, groups, up=False) == 0 and share(surge, groups, up=True) == 0:
        yield (*_BOUNDS, "maxUnavailable"), f", found {unavailable} and {surge} of {groups} replicas"


# Malformed percentages are left to the rules about shares: int() would fail on them.
_MOVES = Rule(
    "maxUnavailable and maxSurge must not both amount to 0, or no group could ever be updated (percentages of "
    "maxUnavailable round down)",
    _stuck,
    f"{_HAS}(type({_CEL}.maxUnavailable) == int ? {_CEL}.maxUnavailable != 0 : "
    f"!{_CEL}.maxUnavailable.matches('^[0-9]{{1,3}}%$') || "
    f"int({_CEL}.maxUnavailable.replace('%', '')) * self.replicas >= 100) || "
    f"(type({_CEL}.maxSurge) == int ? {_CEL}.maxSurge != 0 : "
    f"!{_CEL}.maxSurge.matches('^[0-9]{{1,3}}%$') || int({_CEL}.maxSurge.replace('%', '')) * self.replicas > 0)",
)


def _roles_broken(group: Json) -> Iterator[Violation]:
    return unique_names(group.roles, "roles") if len(group.roles) > 1 else iter(())


_ROLES = Rule(
    "roles must have names that are unique",
    _roles_broken,
    "self.roles.all(x, self.roles.exists_one(y, y.name == x.name))",
)


def _gang_broken(group: Json) -> Iterator[Violation]:
    if not group.gang_policy or not group.gang_policy.min_role_replicas:
        return
    pods = {role.name: role.replicas + role.worker_replicas for role in group.roles}
    for name, least in group.gang_policy.min_role_replicas.items():
        path = ("gangPolicy", "minRoleReplicas", name)
        if name not in pods:
            yield path, f"; there is no role {name!r}, but {', '.join(map(repr, pods))}"
        elif not 0 <= least <= pods[name]:
            yield path, f", found {least}, and {pods[name]} in sum"


_GANG_ROLES = (
    "!has(self.gangPolicy) || !has(self.gangPolicy.minRoleReplicas) || "
    "self.gangPolicy.minRoleReplicas.all(k, self.roles.exists(r, r.name == k && "
    "self.gangPolicy.minRoleReplicas[k] >= 0 && "
    "self.gangPolicy.minRoleReplicas[k] <= r.replicas + r.workerReplicas))"
)
_GANG = Rule(
    "minRoleReplicas must be from 0 to replicas and workerReplicas of the role together, for roles that exist",
    _gang_broken,
    _GANG_ROLES,
)


GANG_STAYS = Rule(
    "gangPolicy cannot be removed once set; delete the ModelServing and create it anew",
    no_local_check,
    "!has(oldSelf.gangPolicy) || has(self.gangPolicy)",
)
LEAST_STAYS = Rule(
    "minRoleReplicas can neither be changed nor removed once set; delete the ModelServing and create it anew",
    no_local_check,
    "!has(oldSelf.minRoleReplicas) || (has(self.minRoleReplicas) && self.minRoleReplicas == oldSelf.minRoleReplicas)",
)


def _spec(serving: Json) -> _Parts:
    yield ("spec",), serving.spec


def _group(serving: Json) -> _Parts:
    yield ("spec", "template"), serving.spec.template


def _rollout(serving: Json) -> _Parts:
    configuration = _configuration(serving.spec)
    if configuration:
        yield ("spec", *_BOUNDS), configuration


_OF_SPEC = (_SCHEDULER, _PARTITION, _MOVES)
_OF_GROUP = (_ROLES, _GANG)
_OF_ROLLOUT = (MAX_UNAVAILABLE, MAX_SURGE)
WHOLE = (
    NAMES,
    *(check_parts(rule, _spec) for rule in _OF_SPEC),
    *(check_parts(rule, _rollout) for rule in _OF_ROLLOUT),
    *(check_parts(rule, _group) for rule in _OF_GROUP),
)
SPEC_CEL = tuple(map(server_only, _OF_SPEC))
GROUP_CEL = (*map(server_only, _OF_GROUP), GANG_STAYS)
ROLLOUT_CEL = tuple(map(server_only, _OF_ROLLOUT))

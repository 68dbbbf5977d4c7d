"""Rules of ModelServings across fields (Kthena spec 1.2 and 1.4: V11, V12, V14, V15 and upstream's own CEL).

Later releases are as their webhooks are (pkg/model-serving-controller/webhook of volcano-sh/kthena), which are called
since v0.3.0. V13, that nothing is negative, is in the types. V3 over whole pods would exceed the API server's CEL
budget: it is checked when a ModelServing is rendered.
"""

from collections.abc import Iterator
from dataclasses import replace

from ....contract.base import Json, Rule, Violation, no_local_check
from ....contract.names import is_dns1035_label
from ....contract.releases import Span
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
    span=Span(until="v0.1.0"),
)


def _configuration(spec: Json) -> Json:
    return spec.rollout_strategy and spec.rollout_strategy.rolling_update_configuration


def _partition_broken(spec: Json) -> Iterator[Violation]:
    configuration = _configuration(spec)
    partition = configuration.partition if configuration else None
    if isinstance(partition, int) and partition >= spec.replicas:
        yield (*_BOUNDS, "partition"), f", found {partition} of {spec.replicas}"


_HAS = "!has(self.rolloutStrategy) || !has(self.rolloutStrategy.rollingUpdateConfiguration) || "
_CEL = "self.rolloutStrategy.rollingUpdateConfiguration"
_PARTITION = Rule(
    "partition must be below replicas, or no group would ever be updated; lower it or remove it",
    _partition_broken,
    f"{_HAS}!has({_CEL}.partition) || {_CEL}.partition < self.replicas",
    span=Span(until="v0.3.0"),
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
_UNAVAILABLE = (
    f"{_HAS}(type({_CEL}.maxUnavailable) == int ? {_CEL}.maxUnavailable != 0 : "
    f"!{_CEL}.maxUnavailable.matches('^[0-9]{{1,3}}%$') || "
    f"int({_CEL}.maxUnavailable.replace('%', '')) * self.replicas >= 100)"
)
_MOVES = Rule(
    "maxUnavailable and maxSurge must not both amount to 0, or no group could ever be updated (percentages of "
    "maxUnavailable round down)",
    _stuck,
    "",
)
_MOVES_CEL = (
    replace(
        _MOVES,
        cel=f"{_UNAVAILABLE} || "
        f"(type({_CEL}.maxSurge) == int ? {_CEL}.maxSurge != 0 : "
        f"!{_CEL}.maxSurge.matches('^[0-9]{{1,3}}%$') || int({_CEL}.maxSurge.replace('%', '')) * self.replicas > 0)",
        span=Span(until="v0.2.0"),
    ),
    Rule(
        "maxUnavailable must not amount to 0, or no group could ever be updated (percentages round down)",
        _stuck,
        _UNAVAILABLE,
        span=Span(since="v0.3.0"),
    ),
)


def _partition_share(configuration: Json) -> Iterator[Violation]:
    if configuration.partition is not None and not is_share(configuration.partition):
        yield ("partition",), f", found {configuration.partition!r}"


_PARTITION_SHARE = Rule(
    "partition must be a number of at least 0, or a percentage from 0% to 100%",
    _partition_share,
    "!has(self.partition) || (type(self.partition) == int ? self.partition >= 0 : "
    "self.partition.matches('^(100|[0-9]{1,2})%$'))",
    span=Span(since="v0.4.0"),
)


def _rolls_roles(spec: Json) -> bool:
    return spec.rollout_strategy is not None and spec.rollout_strategy.type == "RoleRollingUpdate"


def _unread_configuration(spec: Json) -> Iterator[Violation]:
    if _rolls_roles(spec) and _configuration(spec):
        yield _BOUNDS, ""


_UNREAD = Rule(
    "rollingUpdateConfiguration must be absent with type RoleRollingUpdate, which reads the roles' maxUnavailable; "
    "remove it",
    _unread_configuration,
    "!has(self.rolloutStrategy) || self.rolloutStrategy.type != 'RoleRollingUpdate' || "
    "!has(self.rolloutStrategy.rollingUpdateConfiguration)",
    span=Span(since="v1.0.0"),
)


def _group_recreated(spec: Json) -> Iterator[Violation]:
    if _rolls_roles(spec) and spec.recovery_policy == "ServingGroupRecreate":
        yield ("rolloutStrategy", "type"), ", found RoleRollingUpdate"


_RECOVERY = Rule(
    "type must be ServingGroupRollingUpdate with recoveryPolicy ServingGroupRecreate: an update of one role instance "
    "would recreate the whole group",
    _group_recreated,
    "!has(self.rolloutStrategy) || self.rolloutStrategy.type != 'RoleRollingUpdate' || "
    "self.recoveryPolicy != 'ServingGroupRecreate'",
    span=Span(since="v0.4.0"),
)


def _unread_bound(spec: Json) -> Iterator[Violation]:
    for index, role in enumerate(spec.template.roles):
        # The CRD of the main branch sets 1, so that every object read back has it.
        if role.max_unavailable not in (None, 1) and not _rolls_roles(spec):
            yield ("template", "roles", index, "maxUnavailable"), ""


_ROLE_BOUND_READ = Rule(
    "maxUnavailable must be absent without rolloutStrategy.type RoleRollingUpdate, the only one that reads it; "
    "remove it, or set that type",
    _unread_bound,
    "(has(self.rolloutStrategy) && self.rolloutStrategy.type == 'RoleRollingUpdate') || "
    "self.template.roles.all(r, !has(r.maxUnavailable) || (type(r.maxUnavailable) == int && r.maxUnavailable == 1))",
    span=Span(since="v1.0.0"),
)


def _role_bound_broken(role: Json) -> Iterator[Violation]:
    bound = role.max_unavailable
    # The CRD of the main branch sets 1, also of a role that is scaled to 0.
    if bound is None or (bound == 1 and role.replicas == 0):
        return
    if not is_share(bound) or not 1 <= share(bound, role.replicas, up=False) <= role.replicas:
        yield ("maxUnavailable",), f", found {bound!r} of {role.replicas}"


_ROLE_BOUND = Rule(
    "maxUnavailable must be from 1 to the replicas of the role, or a percentage that amounts to that",
    _role_bound_broken,
    "!has(self.maxUnavailable) || (type(self.maxUnavailable) == int ? "
    "self.maxUnavailable >= 1 && (self.maxUnavailable == 1 || self.maxUnavailable <= self.replicas) : "
    "self.maxUnavailable.matches('^(100|[0-9]{1,2})%$') && "
    "int(self.maxUnavailable.replace('%', '')) * self.replicas >= 100)",
    span=Span(since="v1.0.0"),
)


def _bound_of_none(spec: Json) -> Iterator[Violation]:
    for index, role in enumerate(spec.template.roles):
        if role.max_unavailable == 1 and role.replicas == 0 and _rolls_roles(spec):
            yield ("template", "roles", index, "maxUnavailable"), ", found 1 of 0"


_ROLE_BOUND_OF_NONE = Rule(
    "maxUnavailable must be absent for a role without replicas with rolloutStrategy.type RoleRollingUpdate: the "
    "admission webhook refuses it; remove it, or set that type to ServingGroupRollingUpdate",
    _bound_of_none,
    "!has(self.rolloutStrategy) || self.rolloutStrategy.type != 'RoleRollingUpdate' || "
    "self.template.roles.all(r, !has(r.maxUnavailable) || r.replicas > 0)",
    span=Span(since="v1.0.0"),
)


def _role_name_broken(role: Json) -> Iterator[Violation]:
    # A name that no part of a label can have is left to NAMES.
    if is_dns1035_label(f"a-{role.name}") and not is_dns1035_label(role.name):
        yield ("name",), f", found {role.name!r}"


_ROLE_NAME = Rule(
    "name must start with a letter, because since v0.3.0 the admission webhook takes it for a DNS-1035 label",
    _role_name_broken,
    "self.name.matches('^[^0-9]')",
    span=Span(since="v0.3.0"),
)


def _workers_without_template(role: Json) -> Iterator[Violation]:
    if role.worker_replicas and role.worker_template is None:
        yield ("workerTemplate",), f" {role.worker_replicas}; add it, or set workerReplicas to 0"


_WORKER_TEMPLATE = Rule(
    "workerTemplate is required with workerReplicas",
    _workers_without_template,
    "self.workerReplicas == 0 || has(self.workerTemplate)",
    span=Span(since="v0.4.0"),
)


def _topology_broken(topology: Json) -> Iterator[Violation]:
    fields = topology.model_fields_set
    if fields & {"mode", "highest_tier_allowed"} and fields & {"group_policy", "role_policy"}:
        yield (), ""


_TOPOLOGY = Rule(
    "set either mode and highestTierAllowed, until v0.1.0, or groupPolicy and rolePolicy, since v0.2.0",
    _topology_broken,
    "",
)
"""Without CEL: no release has both forms."""


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


def _gang_of_instances(group: Json) -> Iterator[Violation]:
    replicas = {role.name: role.replicas for role in group.roles}
    for name, least in ((group.gang_policy and group.gang_policy.min_role_replicas) or {}).items():
        if name in replicas and least > replicas[name]:
            yield ("gangPolicy", "minRoleReplicas", name), f", found {least} of {replicas[name]}"


def _gang_cel(bound: str) -> str:
    return (
        "!has(self.gangPolicy) || !has(self.gangPolicy.minRoleReplicas) || "
        "self.gangPolicy.minRoleReplicas.all(k, self.roles.exists(r, r.name == k && "
        "self.gangPolicy.minRoleReplicas[k] >= 0 && "
        f"self.gangPolicy.minRoleReplicas[k] <= {bound}))"
    )


_GANG = Rule(
    "minRoleReplicas must be from 0 to replicas and workerReplicas of the role together, for roles that exist",
    _gang_broken,
    "",
)
_GANG_INSTANCES = Rule(
    "minRoleReplicas must be at most the replicas of the role",
    _gang_of_instances,
    _gang_cel("r.replicas"),
    span=Span(since="v0.3.0"),
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
    span=Span(until="v0.2.0"),
)
LEAST_UNCHANGED = Rule(
    "minRoleReplicas cannot be changed once set; delete the ModelServing and create it anew",
    no_local_check,
    "!has(oldSelf.minRoleReplicas) || !has(self.minRoleReplicas) || self.minRoleReplicas == oldSelf.minRoleReplicas",
    span=Span(since="v0.3.0"),
)


def _spec(serving: Json) -> _Parts:
    yield ("spec",), serving.spec


def _group(serving: Json) -> _Parts:
    yield ("spec", "template"), serving.spec.template


def _rollout(serving: Json) -> _Parts:
    configuration = _configuration(serving.spec)
    if configuration:
        yield ("spec", *_BOUNDS), configuration


def _roles(serving: Json) -> _Parts:
    for index, role in enumerate(serving.spec.template.roles):
        yield ("spec", "template", "roles", index), role


def _topology(serving: Json) -> _Parts:
    if serving.spec.template.network_topology:
        yield ("spec", "template", "networkTopology"), serving.spec.template.network_topology


_OF_SPEC = (_SCHEDULER, _PARTITION, _UNREAD, _RECOVERY, _ROLE_BOUND_READ, _ROLE_BOUND_OF_NONE)
_OF_GROUP = (_ROLES, _GANG_INSTANCES)
_OF_ROLE = (_ROLE_NAME, _ROLE_BOUND, _WORKER_TEMPLATE)
WHOLE = (
    NAMES,
    *(check_parts(rule, _spec) for rule in (*_OF_SPEC, _MOVES)),
    *(check_parts(rule, _rollout) for rule in (MAX_UNAVAILABLE, MAX_SURGE, replace(_PARTITION_SHARE, span=None))),
    *(check_parts(rule, _group) for rule in (*_OF_GROUP, _GANG)),
    *(check_parts(rule, _roles) for rule in _OF_ROLE),
    check_parts(_TOPOLOGY, _topology),
)
SPEC_CEL = tuple(map(server_only, (*_OF_SPEC, *_MOVES_CEL)))
GROUP_CEL = (
    *map(server_only, _OF_GROUP),
    server_only(replace(_GANG, cel=_gang_cel("r.replicas + r.workerReplicas"), span=Span(until="v0.2.0"))),
    GANG_STAYS,
)
ROLE_CEL = tuple(map(server_only, _OF_ROLE))
ROLLOUT_CEL = (
    server_only(MAX_UNAVAILABLE),
    server_only(replace(MAX_SURGE, span=Span(until="v0.2.0"))),
    server_only(_PARTITION_SHARE),
)

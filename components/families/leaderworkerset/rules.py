"""Cross-field rules of LeaderWorkerSets, each in Python and in CEL for the API server (LWS spec 1.2)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...contract.base import INT32_MAX, Json, Rule, Violation
from ...contract.names import is_dns1035_label
from ...contract.problems import field_path
from ...contract.rules import name_rule
from ...fleet.objects import LWS_LABEL

_PERCENT = re.compile(r"(100|[0-9]{1,2})%\Z", re.ASCII)

LWS_NAME = name_rule(
    "must be a DNS-1035 label: at most 63 lower-case letters, digits and '-', starting with a letter",
    is_dns1035_label,
    "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
)


def _subgroup_violations(template: Json) -> Iterator[Violation]:
    policy = template.sub_group_policy
    if policy is None:
        return
    size, part = template.size, policy.sub_group_size
    if part > size or (size % part != 0 and (size - 1) % part != 0):
        yield ("subGroupPolicy", "subGroupSize"), f", found {part} for size {size}"


def _excluded_leader_violations(template: Json) -> Iterator[Violation]:
    policy = template.sub_group_policy
    if policy is not None and policy.sub_group_policy_type == "LeaderExcluded":
        size, part = template.size, policy.sub_group_size
        if (size - 1) % part != 0:
            yield ("subGroupPolicy", "subGroupSize"), f", found {part} for size {size}"


SUBGROUPS = Rule(
    "subGroupSize must be at most size, and divide size or size - 1",
    _subgroup_violations,
    "!has(self.subGroupPolicy) || (self.subGroupPolicy.subGroupSize <= self.size && "
    "(self.size % self.subGroupPolicy.subGroupSize == 0 || "
    "(self.size - 1) % self.subGroupPolicy.subGroupSize == 0))",
)
LEADER_EXCLUDED = Rule(
    "with subGroupPolicyType LeaderExcluded, subGroupSize must divide size - 1",
    _excluded_leader_violations,
    "!has(self.subGroupPolicy) || self.subGroupPolicy.subGroupPolicyType != 'LeaderExcluded' || "
    "(self.size - 1) % self.subGroupPolicy.subGroupSize == 0",
)


def topology_violations(annotations: Mapping[str, str], template: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield annotations that the webhook rejects, each with the reason. CEL cannot read annotations."""
    key = f"{LWS_LABEL}/subgroup-exclusive-topology"
    if key in annotations and not template.get("subGroupPolicy"):
        path = field_path(("metadata", "annotations", key))
        yield path, "requires a subGroupPolicy; add one beside size, or remove the annotation"


def is_share(value: int | str) -> bool:
    return _PERCENT.match(value) is not None if isinstance(value, str) else value >= 0


def _share_rule(attribute: str, wire: str) -> Rule:
    def violations(configuration: Json) -> Iterator[Violation]:
        value = getattr(configuration, attribute)
        if not is_share(value):
            yield (wire,), f", found {value!r}"

    return Rule(
        f"{wire} must be a number of groups of at least 0, or a percentage from 0% to 100%",
        violations,
        f"!has(self.{wire}) || (type(self.{wire}) == int ? self.{wire} >= 0 : "
        f"self.{wire}.matches('^(100|[0-9]{{1,2}})%$'))",
    )


MAX_UNAVAILABLE = _share_rule("max_unavailable", "maxUnavailable")
MAX_SURGE = _share_rule("max_surge", "maxSurge")


def share(value: int | str, replicas: int, *, up: bool) -> int:
    """Convert a number or percentage of groups to a number, rounding percentages up or down."""
    if isinstance(value, int):
        return value
    percent = int(value.removesuffix("%"))
    return -(-percent * replicas // 100) if up else percent * replicas // 100


def _rollout_violations(spec: Json) -> Iterator[Violation]:
    strategy = spec.rollout_strategy
    configuration = strategy.rolling_update_configuration if strategy is not None else None
    if configuration is None or spec.replicas == 0:
        return
    unavailable, surge = configuration.max_unavailable, configuration.max_surge
    if not is_share(unavailable) or not is_share(surge):
        return
    if share(unavailable, spec.replicas, up=False) == 0 and share(surge, spec.replicas, up=True) == 0:
        path = ("rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable")
        yield path, f", found {unavailable} and {surge} of {spec.replicas} replicas"


_RUC = "self.rolloutStrategy.rollingUpdateConfiguration"
# Malformed percentages are left to the rules about shares: int() would fail on them.
ROLLOUT_MOVES = Rule(
    "maxUnavailable and maxSurge must not both amount to 0, or no group could ever be updated (percentages of "
    "maxUnavailable round down)",
    _rollout_violations,
    f"!has(self.rolloutStrategy) || !has({_RUC}) || self.replicas == 0 || "
    f"(type({_RUC}.maxUnavailable) == int ? {_RUC}.maxUnavailable != 0 : "
    f"!{_RUC}.maxUnavailable.matches('^[0-9]{{1,3}}%$') || "
    f"int({_RUC}.maxUnavailable.replace('%', '')) * self.replicas >= 100) || "
    f"(type({_RUC}.maxSurge) == int ? {_RUC}.maxSurge != 0 : !{_RUC}.maxSurge.matches('^0{{1,3}}%$'))",
)


def _pod_count_violations(spec: Json) -> Iterator[Violation]:
    pods = spec.replicas * spec.leader_worker_template.size
    if pods > INT32_MAX:
        yield ("replicas",), f", found {pods}"


PODS_FIT = Rule(
    f"replicas times size must be at most {INT32_MAX}",
    _pod_count_violations,
    f"self.replicas * self.leaderWorkerTemplate.size <= {INT32_MAX}",
)

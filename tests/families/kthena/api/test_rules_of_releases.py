"""Rules that changed between the releases: where they apply, where they do not, and what is said."""

import copy
from typing import Any

import pytest
import yaml

from components.families import parse
from components.families.kthena.kinds import RELEASES
from tests.contract.changing import REMOVED, changed, problems_of
from tests.families.kthena.api.samples import kind_of, made

Document = dict[str, Any]
ALL = tuple(RELEASES.names)
NONE: tuple[str, ...] = ()
ANY = ("",)
"""Without a release, where forms of several releases can meet."""


def since(first: str) -> tuple[str, ...]:
    return ALL[ALL.index(first) :]


def until(last: str) -> tuple[str, ...]:
    return ALL[: ALL.index(last) + 1]


CONTAINERS = {"spec": {"containers": [{"name": "e", "image": "i"}]}}
SERVING = made(
    "ModelServing",
    "s",
    {
        "schedulerName": "volcano",
        "replicas": 3,
        "template": {
            "roles": [
                {
                    "name": "leader",
                    "replicas": 2,
                    "workerReplicas": 1,
                    "entryTemplate": CONTAINERS,
                    "workerTemplate": CONTAINERS,
                }
            ]
        },
    },
)
BACKEND = {"name": "b", "type": "vLLM", "modelURI": "hf://a/b", "workers": [{"type": "server", "image": "i"}]}
BOUNDED = {**BACKEND, "minReplicas": 1, "maxReplicas": 1}
SEVERAL = made("ModelBooster", "m", {"backends": [BOUNDED]})
ONE = made("ModelBooster", "m", {"backend": BOUNDED})
LAST = made("ModelBooster", "m", {"backend": {**BACKEND, "replicas": 2}})
TARGET = {"target": {"targetRef": {"kind": "ModelServing", "name": "s"}}, "minReplicas": 1, "maxReplicas": 2}
POD: Document = {"a": {"pod": {}}}
SCALED = made("AutoscalingPolicy", "p", {"metrics": [{"name": "a", "targetValue": 1}], "homogeneousTarget": TARGET})
SIDE = {"minReplicas": 1, "maxReplicas": 4, "metricSources": POD}
ROLES = made(
    "AutoscalingPolicy",
    "p",
    {
        "metrics": [{"name": "a", "targetValue": 1}],
        "disaggregatedTarget": {
            "targetRef": {"kind": "ModelServing", "name": "s"},
            "roles": {"prefill": SIDE, "decode": SIDE},
            "ratioConstraint": {
                "numeratorRole": "prefill",
                "denominatorRole": "decode",
                "minRatio": "0.5",
                "maxRatio": 2,
            },
        },
    },
)
BINDING = made("AutoscalingPolicyBinding", "b", {"policyRef": {"name": "p"}, "homogeneousTarget": TARGET})
ROLE0, ROLLOUT = "spec/template/roles/0", "spec/rolloutStrategy"
UPDATE, BY_ROLE = f"{ROLLOUT}/rollingUpdateConfiguration", {"type": "RoleRollingUpdate"}
HOMOGENEOUS, DISAGGREGATED = "spec/homogeneousTarget", "spec/disaggregatedTarget"
SOURCES, RATIO = f"{HOMOGENEOUS}/target/metricSources", f"{DISAGGREGATED}/ratioConstraint"

# A document with changes, the releases that have its fields, those that refuse it, and where and how.
Case = tuple[Document, dict[str, Any], tuple[str, ...], tuple[str, ...], str, str]
CASES: dict[str, Case] = {
    "another scheduler": (
        SERVING, {"spec/schedulerName": "own"}, ALL, until("v0.1.0"), "spec/schedulerName", "must be volcano"
    ),
    "no scheduler": (
        SERVING, {"spec/schedulerName": REMOVED}, ALL, until("v0.1.0"), "spec/schedulerName", "found None"
    ),
    "a partition of all groups": (
        SERVING, {UPDATE: {"partition": 3}}, ALL, until("v0.3.0"), f"{UPDATE}/partition", "must be below replicas"
    ),
    "a partition by percentage": (SERVING, {UPDATE: {"partition": "50%"}}, since("v0.4.0"), NONE, "", ""),
    "more than all": (
        SERVING,
        {UPDATE: {"partition": "101%"}},
        since("v0.4.0"),
        since("v0.4.0"),
        f"{UPDATE}/partition",
        "a percentage from 0% to 100%",
    ),
    "nothing may be unavailable": (
        SERVING,
        {UPDATE: {"maxUnavailable": "10%"}},
        ALL,
        ALL,
        f"{UPDATE}/maxUnavailable",
        "no group could ever be updated",
    ),
    "but more may run": (
        SERVING,
        {UPDATE: {"maxUnavailable": 0, "maxSurge": 1}},
        ALL,
        since("v0.3.0"),
        f"{UPDATE}/maxSurge",
        "unknown field of Kthena",
    ),
    "roles are updated": (SERVING, {ROLLOUT: BY_ROLE}, since("v0.4.0"), NONE, "", ""),
    "a setting for groups": (
        SERVING,
        {ROLLOUT: {**BY_ROLE, "rollingUpdateConfiguration": {"partition": 1}}},
        since("v0.4.0"),
        since("v1.0.0"),
        UPDATE,
        "must be absent with type RoleRollingUpdate",
    ),
    "groups that are recreated": (
        SERVING,
        {ROLLOUT: BY_ROLE, "spec/recoveryPolicy": "ServingGroupRecreate"},
        since("v0.4.0"),
        since("v0.4.0"),
        f"{ROLLOUT}/type",
        "must be ServingGroupRollingUpdate with recoveryPolicy ServingGroupRecreate",
    ),
    "a role's own bound": (
        SERVING, {ROLLOUT: BY_ROLE, f"{ROLE0}/maxUnavailable": "50%"}, since("v1.0.0"), NONE, "", ""
    ),
    # The CRD of the main branch sets 1: every object that was read back has it.
    "the default of the CRD": (SERVING, {f"{ROLE0}/maxUnavailable": 1}, since("v1.0.0"), NONE, "", ""),
    "which nothing reads": (
        SERVING,
        {f"{ROLE0}/maxUnavailable": 2},
        since("v1.0.0"),
        since("v1.0.0"),
        f"{ROLE0}/maxUnavailable",
        "must be absent without rolloutStrategy.type RoleRollingUpdate",
    ),
    "which is nothing": (
        SERVING,
        {ROLLOUT: BY_ROLE, f"{ROLE0}/maxUnavailable": "49%"},
        since("v1.0.0"),
        since("v1.0.0"),
        f"{ROLE0}/maxUnavailable",
        "must be from 1 to the replicas of the role, or a percentage that amounts to that, found '49%' of 2",
    ),
    "which is more": (
        SERVING,
        {ROLLOUT: BY_ROLE, f"{ROLE0}/maxUnavailable": 3},
        since("v1.0.0"),
        since("v1.0.0"),
        f"{ROLE0}/maxUnavailable",
        "found 3 of 2",
    ),
    # The webhook of v1.0.0, for examples/model-serving/multi-node.yaml (validateRoleNames of validator.go).
    "a role that starts with a digit": (
        SERVING, {f"{ROLE0}/name": "405b"}, ALL, since("v0.3.0"), f"{ROLE0}/name", "must start with a letter"
    ),
    "workers without a template": (
        SERVING, {f"{ROLE0}/workerTemplate": REMOVED}, ALL, since("v0.4.0"), f"{ROLE0}/workerTemplate", "is required"
    ),
    "a gang of pods": (
        SERVING,
        {"spec/template/gangPolicy": {"minRoleReplicas": {"leader": 3}}},
        ALL,
        since("v0.3.0"),
        "spec/template/gangPolicy/minRoleReplicas/leader",
        "must be at most the replicas of the role, found 3 of 2",
    ),
    "two forms of a topology": (
        SERVING,
        {"spec/template/networkTopology": {"mode": "soft", "groupPolicy": {"mode": "hard"}}},
        ANY,
        ANY,
        "spec/template/networkTopology",
        "set either mode and highestTierAllowed, until v0.1.0, or groupPolicy and rolePolicy",
    ),
    # Boosters
    "several backends": (SEVERAL, {}, (*ANY, *until("v0.1.0")), NONE, "", ""),
    "one backend": (ONE, {}, (*ANY, "v0.2.0", "v0.3.0", "v0.4.0"), NONE, "", ""),
    "a number of replicas": (LAST, {}, (*ANY, "v1.0.0"), NONE, "", ""),
    "no backend": (SEVERAL, {"spec/backends": REMOVED}, ANY, ANY, "spec/backends", "since v0.2.0, backend takes its"),
    "both": (SEVERAL, {"spec/backend": BOUNDED}, ANY, ANY, "spec/backends", "must not be set together with backend"),
    "no bounds": (ONE, {"spec/backend": BACKEND}, ANY, ANY, "spec/backend/minReplicas", "replicas takes their place"),
    "one bound": (
        ONE, {"spec/backend/maxReplicas": REMOVED}, ANY, ANY, "spec/backend/maxReplicas", "is required; set it"
    ),
    "bounds and a number": (
        ONE, {"spec/backend/replicas": 1}, ANY, ANY, "spec/backend/replicas", "must not be set together with minRe"
    ),
    "bounds that differ": (
        ONE,
        {"spec/backend/maxReplicas": 2},
        ("v0.2.0", "v0.3.0", "v0.4.0"),
        ("v0.2.0", "v0.3.0", "v0.4.0"),
        "spec/backend/minReplicas",
        "must equal maxReplicas where nothing scales",
    ),
    "bounds that differ, with a policy": (
        ONE,
        {
            "spec/backend/maxReplicas": 2,
            "spec/autoscalingPolicy": {"metrics": [{"metricName": "a", "targetValue": 1}]},
        },
        ("v0.2.0", "v0.3.0", "v0.4.0"),
        NONE,
        "",
        "",
    ),
    "a policy with a target": (
        ONE,
        {"spec/autoscalingPolicy": SCALED["spec"], "spec/backend/maxReplicas": 2},
        ANY,
        ANY,
        "spec/autoscalingPolicy/homogeneousTarget",
        "must be absent in a booster",
    ),
    # Policies
    "a policy of its own": (SCALED, {}, (*ANY, "v1.0.0"), NONE, "", ""),
    "a policy of roles": (ROLES, {}, (*ANY, "v1.0.0"), NONE, "", ""),
    "no name": (
        SCALED, {"spec/metrics/0/name": REMOVED}, ANY, ANY, "spec/metrics/0/metricName", "since v1.0.0, name takes"
    ),
    "two names": (
        SCALED, {"spec/metrics/0/metricName": "a"}, ANY, ANY, "spec/metrics/0/metricName", "must not be set together"
    ),
    "a name twice": (
        SCALED,
        {"spec/metrics": [{"name": "a", "targetValue": 1}] * 2},
        ("v1.0.0",),
        ("v1.0.0",),
        "spec/metrics/1/name",
        "'a' is used twice",
    ),
    "no target": (
        SCALED, {HOMOGENEOUS: REMOVED}, (*ANY, "v1.0.0"), ("v1.0.0",), "spec", "since v1.0.0 there are no bindings"
    ),
    "two targets": (
        ROLES, {HOMOGENEOUS: TARGET}, ("v1.0.0",), ("v1.0.0",), "spec", "set only one of homogeneousTarget"
    ),
    "no metric": (
        SCALED, {"spec/metrics": []}, ("v1.0.0",), ("v1.0.0",), "spec/metrics", "must have at least one item"
    ),
    "metrics of roles": (
        ROLES,
        {
            "spec/metrics": REMOVED,
            f"{DISAGGREGATED}/roles/prefill/metrics": [{"name": "a", "targetValue": 1}],
            f"{DISAGGREGATED}/roles/decode/metrics": [{"name": "a", "targetValue": 1}],
        },
        ("v1.0.0",),
        NONE,
        "",
        "",
    ),
    "a role without metrics": (
        ROLES,
        {"spec/metrics": REMOVED, f"{DISAGGREGATED}/roles/prefill/metrics": [{"name": "a", "targetValue": 1}]},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{DISAGGREGATED}/roles/decode/metrics",
        "neither the role nor the policy has one",
    ),
    "a role without sources": (
        ROLES,
        {f"{DISAGGREGATED}/roles/decode/metricSources": REMOVED},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{DISAGGREGATED}/roles/decode/metricSources",
        "is required",
    ),
    "a fixed role without sources": (
        ROLES,
        {f"{DISAGGREGATED}/roles/decode": {"minReplicas": 2, "maxReplicas": 2}},
        ("v1.0.0",),
        NONE,
        "",
        "",
    ),
    "a source of no metric": (
        ROLES,
        {f"{DISAGGREGATED}/roles/decode/metricSources/b": {"pod": {}}},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{DISAGGREGATED}/roles/decode/metricSources/b",
        "is no metric of the role",
    ),
    "bounds of a role": (
        ROLES,
        {f"{DISAGGREGATED}/roles/decode/minReplicas": 5, RATIO: REMOVED},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{DISAGGREGATED}/roles/decode/minReplicas",
        "must not be above maxReplicas",
    ),
    "one role twice": (
        ROLES,
        {f"{RATIO}/denominatorRole": "prefill"},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{RATIO}/denominatorRole",
        "must differ",
    ),
    "an unknown role": (
        ROLES, {f"{RATIO}/denominatorRole": "x"}, ("v1.0.0",), ("v1.0.0",), f"{RATIO}/denominatorRole", "found 'x'"
    ),
    "crossed ratios": (
        ROLES, {f"{RATIO}/minRatio": 3}, ("v1.0.0",), ("v1.0.0",), f"{RATIO}/minRatio", "must be from 0 to maxRatio"
    ),
    "a ratio out of reach": (
        ROLES,
        {f"{RATIO}/minRatio": 5, f"{RATIO}/maxRatio": 6},
        ("v1.0.0",),
        ("v1.0.0",),
        RATIO,
        "no numbers of instances within the bounds",
    ),
    "one role to zero": (
        ROLES,
        {f"{DISAGGREGATED}/roles/decode/minReplicas": 0},
        ("v1.0.0",),
        ("v1.0.0",),
        RATIO,
        "both roles must be able to scale to zero",
    ),
    "a source": (SCALED, {SOURCES: POD}, ("v1.0.0",), NONE, "", ""),
    "no source": (
        SCALED, {SOURCES: {"a": {}}}, ("v1.0.0",), ("v1.0.0",), f"{SOURCES}/a", "exactly one of pod and prometheus"
    ),
    "two sources": (
        SCALED,
        {SOURCES: {"a": {"pod": {}, "prometheus": {"serverURL": "http://p", "query": "q"}}}},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{SOURCES}/a",
        "found both",
    ),
    "an address of nothing": (
        SCALED,
        {SOURCES: {"a": {"prometheus": {"serverURL": "p:9090", "query": "q"}}}},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{SOURCES}/a/prometheus/serverURL",
        "must begin with http:// or https://",
    ),
    # Bindings
    "a binding": (BINDING, {}, (*ANY, "v0.2.0", "v0.3.0", "v0.4.0"), NONE, "", ""),
    "two ways": (BINDING, {"spec/scalingConfiguration": TARGET}, ANY, ANY, "spec", "found scalingConfiguration and"),
    "no way": (BINDING, {HOMOGENEOUS: REMOVED}, ("v0.2.0", "v0.4.0"), ("v0.2.0", "v0.4.0"), "spec", "found neither"),
    "bounds of a binding": (
        BINDING,
        {f"{HOMOGENEOUS}/minReplicas": 3},
        ("v0.2.0", "v0.4.0"),
        ("v0.2.0", "v0.4.0"),
        f"{HOMOGENEOUS}/minReplicas",
        "must not be above maxReplicas",
    ),
    "a target of another kind": (
        BINDING,
        {f"{HOMOGENEOUS}/target/targetRef/kind": "Deployment"},
        ("v0.2.0", "v0.4.0"),
        ("v0.2.0", "v0.4.0"),
        f"{HOMOGENEOUS}/target/targetRef/kind",
        "must be ModelServing",
    ),
    "a target of a policy without a name": (
        SCALED,
        {f"{HOMOGENEOUS}/target/targetRef/name": REMOVED},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{HOMOGENEOUS}/target/targetRef/name",
        "name the ModelServing to scale",
    ),
    "a target of a policy with an empty name": (
        SCALED,
        {f"{HOMOGENEOUS}/target/targetRef/name": ""},
        ("v1.0.0",),
        ("v1.0.0",),
        f"{HOMOGENEOUS}/target/targetRef/name",
        "name the ModelServing to scale",
    ),
}  # fmt: skip


def found_in(release: str, document: Document, changes: dict[str, Any]) -> list[tuple[str, str]]:
    written = changed(copy.deepcopy(document), changes)
    return problems_of(written, kind_of(written, release))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_refused_where_the_rule_is(case: Case) -> None:
    document, changes, _, refused, path, words = case
    for release in refused:
        found = found_in(release, document, changes)
        assert [where for where, _ in found] == [path], (release, found)
        assert words in found[0][1], (release, found)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_accepted_elsewhere(case: Case) -> None:
    document, changes, written, refused, _, _ = case
    for release in set(written) - set(refused):
        assert found_in(release, document, changes) == [], release


def test_a_form_of_an_earlier_release_is_reported_once() -> None:
    """Once as unknown, and not again as missing, which it is for the releases that require it."""
    found = parse(yaml.safe_dump(SEVERAL), "m.yaml", {"kthena": "v1.0.0"}).problems
    assert [(problem.path, problem.reason.partition(";")[0]) for problem in found] == [
        ("spec.backend", "is required by Kthena v1.0.0"),
        ("spec.backends", "unknown field of Kthena v1.0.0"),
    ]

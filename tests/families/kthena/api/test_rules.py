# ruff: noqa: E501 - tables of values
"""Rules V1 to V16 of Kthena (spec 1.4) and those of its schema: what passes, what does not, and what is said."""

from typing import Any

import pytest

from tests.contract.changing import REMOVED, changed, problems_of
from tests.families.kthena.api.samples import (
    BINDING,
    DEFAULTS,
    DOCUMENTS,
    LEAST,
    OPTIMIZER,
    PAIR,
    POLICY,
    ROUTE,
    SERVER,
    SERVING,
    SHARED,
    SIMPLE,
    SMALL,
    backend,
    kind_of,
    role,
)

B0, B1 = "spec/backends/0", "spec/backends/1"
W0 = f"{B0}/workers/0"
UP, DOWN = "spec/behavior/scaleUp", "spec/behavior/scaleDown"
ROLE0 = "spec/template/roles/0"
GANG = "spec/template/gangPolicy/minRoleReplicas"
ROLL = "spec/rolloutStrategy/rollingUpdateConfiguration"
ONE = "spec/scalingConfiguration"
PARAM = "spec/optimizerConfiguration/params/0"
METRICS = [{"metricName": "a", "targetValue": 1}]
Case = tuple[int, dict[str, Any]]


def problems(base: int, changes: dict[str, Any]) -> list[tuple[str, str]]:
    document = changed(DOCUMENTS[base], changes)
    return problems_of(document, kind_of(document))


GOOD: dict[str, Case] = {
    "V1 shortest": (SHARED, {f"{B0}/scaleToZeroGracePeriod": "0s"}),
    "V1 longest": (SHARED, {f"{B0}/scaleToZeroGracePeriod": "30m"}),
    "V2 equal": (SMALL, {f"{B0}/minReplicas": 5, f"{B0}/maxReplicas": 5}),
    "V2 sum": (SMALL, {f"{B0}/minReplicas": 400_000, f"{B0}/maxReplicas": 400_000, f"{B1}/maxReplicas": 600_000}),
    "V3 none": (SMALL, {f"{W0}/image": ""}),
    "V3 digest": (SMALL, {f"{W0}/image": "r.example.com:5000/a/b@sha256:" + "0" * 64}),
    "V4 nothing scales and nothing runs": (SMALL, {f"{B0}/minReplicas": 1, f"{B0}/scalingCost": 0}),
    "V4 one of two scales": (SMALL, {f"{B0}/minReplicas": 0}),  # as upstream's hook: only without any policy are they equal
    "V5 a backend may stop": (SHARED, {f"{B0}/minReplicas": 0, f"{B1}/minReplicas": 1}),
    "V5 what the hook fills in": (SHARED, {f"{B0}/scaleToZeroGracePeriod": REMOVED, "spec/costExpansionRatePercent": REMOVED}),
    "V7 MindIE": (SMALL, {f"{B0}/type": "MindIE"}),
    "V7 a server by default": (SMALL, {f"{W0}/type": REMOVED}),
    "V7 decode first": (PAIR, {f"{W0}/type": "decode", f"{B0}/workers/1/type": "prefill"}),
    "V8 the same adapter in two backends": (SMALL, {f"{B0}/loraAdapters": [{"name": "a", "artifactURL": "hf://a"}], f"{B1}/loraAdapters": [{"name": "a", "artifactURL": "hf://a"}]}),
    "V9 no time": (POLICY, {f"{DOWN}/period": "0s", f"{UP}/panicPolicy/period": "0"}),
    "V9 longest": (POLICY, {f"{DOWN}/stabilizationWindow": "30m", f"{UP}/panicPolicy/panicModeHold": "1800s"}),
    "V9 a share": (DEFAULTS, {"spec/metrics/0/targetValue": "1n"}),
    "V9 rounded up": (DEFAULTS, {"spec/metrics/0/targetValue": "1e-20"}),
    "V10 bounds": (BINDING, {f"{ONE}/minReplicas": 7, f"{ONE}/maxReplicas": 7}),
    "V10 no kind": (BINDING, {f"{ONE}/target/targetRef": {"name": "a"}}),
    "V11 63 characters": (LEAST, {"metadata/name": "a" * (63 - len("-1-leader-1-0"))}),
    "V13 nothing runs": (LEAST, {"spec/replicas": 0, f"{ROLE0}/replicas": 0}),
    "V14 by percentage": (SERVING, {ROLL: {"maxUnavailable": "0%", "maxSurge": "1%"}}),
    "V14 of the last": (SERVING, {f"{ROLL}/partition": 3}),
    "V14 by default": (SERVING, {ROLL: {}}),
    "V14 all stopped": (SERVING, {"spec/replicas": 0, ROLL: {}}),
    "V15 none": (SERVING, {GANG: {"prefill": 0}}),
    "V15 all": (SERVING, {GANG: {"decode": 5, "third": 1}}),
    "V15 empty": (SERVING, {GANG: {}}),
    "V16 adapters alone": (SIMPLE, {}),
    "V16 an empty name beside adapters": (SIMPLE, {"spec/modelName": ""}),
    "config is any object": (SMALL, {f"{W0}/config": {"a": None, "b": [1, [2.5]], "C d": {"e": True}}}),
    "config is absent": (SMALL, {f"{W0}/config": None}),
    "16 backends": (SMALL, {"spec/backends": [backend(f"b{i}") for i in range(16)]}),
    "role of upper case in the schema": (LEAST, {f"{ROLE0}/name": "a1-b"}),
    "weights of 0": (SMALL, {f"{B0}/routeWeight": 0}),
    "any port of metrics": (BINDING, {f"{ONE}/target/metricEndpoint": {"port": -1}}),
    "time without bounds": (SERVER, {"spec/trafficPolicy/timeout": "2562047h"}),
    "port": (SERVER, {"spec/workloadPort/port": 65535}),
    "a route without a target": (ROUTE, {"spec/rules/0/targetModels": []}),
}  # fmt: skip


@pytest.mark.parametrize(("base", "changes"), GOOD.values(), ids=GOOD)
def test_good(base: int, changes: dict[str, Any]) -> None:
    assert problems(base, changes) == []


Refused = tuple[int, dict[str, Any], str, str]
BAD: dict[str, Refused] = {
    "V1 too long": (SHARED, {f"{B0}/scaleToZeroGracePeriod": "30m1ns"}, f"{B0}/scaleToZeroGracePeriod", "must be from 0s to 1800s, found '30m1ns'"),
    "V1 negative": (SHARED, {f"{B0}/scaleToZeroGracePeriod": "-1s"}, f"{B0}/scaleToZeroGracePeriod", "must be from 0s to 1800s"),
    "V2 crossed": (SMALL, {f"{B1}/minReplicas": 4}, f"{B1}/minReplicas", "must not be above maxReplicas, found 4 and 3"),
    "V2 sum": (SMALL, {f"{B1}/maxReplicas": 1_000_000}, "spec/backends", "must have maxReplicas of at most 1000000 in sum, found 1000001"),
    "V3 space": (SMALL, {f"{W0}/image": "a b"}, f"{W0}/image", "must be an image reference, without a space"),
    "V3 blank": (SMALL, {f"{W0}/image": "\t\u3000"}, f"{W0}/image", "must be an image reference"),
    "V4 cost": (SMALL, {f"{B0}/scalingCost": 3}, f"{B0}/scalingCost", "must be 0 or absent without spec.autoscalingPolicy"),
    "V4 grace": (SMALL, {f"{B0}/scaleToZeroGracePeriod": "30s"}, f"{B0}/scaleToZeroGracePeriod", "must be absent without spec.autoscalingPolicy; remove it"),
    "V4 rate": (SMALL, {"spec/costExpansionRatePercent": 200}, "spec/costExpansionRatePercent", "must be absent without spec.autoscalingPolicy"),
    "V4 stopped": (SMALL, {f"{B1}/minReplicas": 0}, f"{B1}/minReplicas", "must be at least 1 for a backend with a policy of its own"),
    "V4 nothing scales": (SMALL, {f"{B1}/autoscalingPolicy": REMOVED}, f"{B1}/minReplicas", "must equal maxReplicas where nothing scales; make them equal, or set an autoscalingPolicy, found 1 and 3"),
    "V5 cost": (SHARED, {f"{B1}/scalingCost": REMOVED}, f"{B1}/scalingCost", "must be at least 1 with spec.autoscalingPolicy"),
    "V5 no cost": (SHARED, {f"{B1}/scalingCost": 0}, f"{B1}/scalingCost", "such as its price in cents per hour, found 0"),
    "V5 all stopped": (SHARED, {f"{B1}/minReplicas": 0}, "spec/backends", "must have minReplicas of at least 1 in sum"),
    "V6": (SHARED, {f"{B1}/autoscalingPolicy": {"metrics": METRICS}}, f"{B1}/autoscalingPolicy", "must not be set for a backend together with spec.autoscalingPolicy"),
    "V7 two servers (D-29)": (SMALL, {f"{B0}/workers": [{}, {}]}, f"{B0}/workers", "must be exactly one of type server for vLLM, SGLang and MindIE: a second one would be ignored, found server, server"),
    "V7 no server": (SMALL, {f"{B0}/type": "SGLang", f"{W0}/type": "decode"}, f"{B0}/workers", "must be exactly one of type server"),
    "V7 no pair": (PAIR, {f"{W0}/type": "decode"}, f"{B0}/workers", "must be exactly one of type prefill and one of type decode"),
    "V7 half a pair": (PAIR, {f"{B0}/workers/1": REMOVED}, f"{B0}/workers", "found prefill"),
    "V7 a third": (PAIR, {f"{B0}/workers/1/type": "controller"}, f"{B0}/workers", "found prefill, controller"),
    "V7 MindIE": (PAIR, {f"{B1}/workers/4/type": "server"}, f"{B1}/workers/4/type", "must be one of prefill, decode, controller, coordinator for a worker of MindIEDisaggregated, found 'server'"),
    "V8 the model's name": (SMALL, {f"{B0}/loraAdapters": [{"name": "demo", "artifactURL": "hf://a"}]}, f"{B0}/loraAdapters/0/name", "must not be metadata.name for an adapter"),
    "V8 twice": (SMALL, {f"{B0}/loraAdapters": [{"name": "a", "artifactURL": "hf://a"}] * 2}, f"{B0}/loraAdapters/1/name", "'a' is used twice; names must be unique"),
    "V9 nothing": (POLICY, {"spec/metrics/0/targetValue": 0}, "spec/metrics/0/targetValue", "must be above 0, found 0"),
    "V9 less": (POLICY, {"spec/metrics/1/targetValue": "-1m"}, "spec/metrics/1/targetValue", "must be above 0, found '-1m'"),
    "V9 twice": (POLICY, {"spec/metrics/1/metricName": "kthena:num_requests_waiting"}, "spec/metrics/1/metricName", "is used twice; keep one of the two"),
    "V9 period": (POLICY, {f"{DOWN}/period": "31m"}, f"{DOWN}/period", "must be from 0s to 30m, found '31m'"),
    "V9 window": (POLICY, {f"{UP}/stablePolicy/stabilizationWindow": "-1ns"}, f"{UP}/stablePolicy/stabilizationWindow", "must be from 0s to 30m"),
    "V9 panic": (POLICY, {f"{UP}/panicPolicy/period": "1h"}, f"{UP}/panicPolicy/period", "must be from 0s to 30m"),
    "V9 hold": (POLICY, {f"{UP}/panicPolicy/panicModeHold": "1h"}, f"{UP}/panicPolicy/panicModeHold", "must be from 0s to 30m"),
    "V9 in a booster": (SHARED, {"spec/autoscalingPolicy/behavior/scaleDown/period": "1h"}, "spec/autoscalingPolicy/behavior/scaleDown/period", "must be from 0s to 30m"),
    "V9 in a backend": (SMALL, {f"{B1}/autoscalingPolicy/metrics/0/targetValue": 0}, f"{B1}/autoscalingPolicy/metrics/0/targetValue", "must be above 0"),
    "V10 neither": (BINDING, {ONE: REMOVED}, "spec", "for several that share a load; since v0.2.0 they are homogeneousTarget and heterogeneousTarget, found neither"),
    "V10 both": (BINDING, {"spec/optimizerConfiguration": DOCUMENTS[OPTIMIZER]["spec"]["optimizerConfiguration"]}, "spec", "found both"),
    "V10 bounds": (BINDING, {f"{ONE}/minReplicas": 3, f"{ONE}/maxReplicas": 2}, f"{ONE}/minReplicas", "must not be above maxReplicas, found 3 and 2"),
    "V10 bounds of a param": (OPTIMIZER, {f"{PARAM}/minReplicas": 2}, f"{PARAM}/minReplicas", "must not be above maxReplicas"),
    "V10 kind": (BINDING, {f"{ONE}/target/targetRef/kind": "Deployment"}, f"{ONE}/target/targetRef/kind", "must be ModelServing, or absent"),
    "V11 too long": (LEAST, {"metadata/name": "a" * (64 - len("-1-leader-1-0"))}, "metadata/name", "found '" + "a" * 51 + "-1-leader-1-0' of 64 characters"),
    "V11 digit": (LEAST, {"metadata/name": "1a"}, "metadata/name", "starting with a letter"),
    "V11 dot": (LEAST, {"metadata/name": "a.b"}, "metadata/name", "lower-case letters, digits and '-', starting with a letter"),
    "V11 upper case": (LEAST, {f"{ROLE0}/name": "Leader"}, f"{ROLE0}/name", "must be a DNS-1035 label for each role"),
    "V12": (LEAST, {"spec/schedulerName": "default-scheduler"}, "spec/schedulerName", "must be volcano, the only scheduler that Kthena knows, found 'default-scheduler'"),
    "V12 empty": (LEAST, {"spec/schedulerName": ""}, "spec/schedulerName", "must be volcano"),
    "V13 groups (D-28)": (LEAST, {"spec/replicas": -1}, "spec/replicas", "must be at least 0, found -1"),
    "V13 roles": (LEAST, {"spec/template/roles": []}, "spec/template/roles", "must have at least 1 item, found 0"),
    "V13 instances (D-28)": (LEAST, {f"{ROLE0}/replicas": -1}, f"{ROLE0}/replicas", "must be at least 0"),
    "V13 workers": (LEAST, {f"{ROLE0}/workerReplicas": -1}, f"{ROLE0}/workerReplicas", "must be at least 0"),
    "V14 negative": (SERVING, {f"{ROLL}/maxSurge": -1}, f"{ROLL}/maxSurge", "must be a number of groups of at least 0, or a percentage from 0% to 100%, found -1"),
    "V14 percentage": (SERVING, {f"{ROLL}/maxUnavailable": "101%"}, f"{ROLL}/maxUnavailable", "found '101%'"),
    "V14 text": (SERVING, {f"{ROLL}/maxUnavailable": ""}, f"{ROLL}/maxUnavailable", "found ''"),
    "V14 partition": (SERVING, {f"{ROLL}/partition": 4}, f"{ROLL}/partition", "must be below replicas, or no group would ever be updated; lower it or remove it, found 4 of 4"),
    "V14 negative partition": (SERVING, {f"{ROLL}/partition": -1}, f"{ROLL}/partition", "must be a number of at least 0"),
    "V14 stuck": (SERVING, {ROLL: {"maxUnavailable": "24%"}}, f"{ROLL}/maxUnavailable", "must not both amount to 0"),
    "V15 unknown": (SERVING, {f"{GANG}/Decode": 1}, f"{GANG}/Decode", "there is no role 'Decode', but 'prefill', 'decode', 'third'"),
    "V15 too many": (SERVING, {f"{GANG}/decode": 6}, f"{GANG}/decode", "found 6, and 5 in sum"),
    "V15 negative": (SERVING, {f"{GANG}/decode": -1}, f"{GANG}/decode", "found -1"),
    "V16 no key": (ROUTE, {"spec/modelName": REMOVED, "spec/loraAdapters": REMOVED}, "spec", "set modelName or at least one of loraAdapters: requests find a route by either, found neither"),
    "V16 empty": (ROUTE, {"spec/modelName": "", "spec/loraAdapters": []}, "spec", "set modelName or at least one of loraAdapters"),
    "V16 empty adapter": (ROUTE, {"spec/loraAdapters": ["a", ""]}, "spec/loraAdapters/1", "must not have an empty name"),
    "config is no object (D-05)": (SMALL, {f"{W0}/config": "--a b"}, f"{W0}/config", "must be a map, found \"--a b\""),
    "config is a list (D-05)": (SMALL, {f"{W0}/config": ["--a"]}, f"{W0}/config", "must be a map"),
    "variable twice": (SHARED, {f"{B0}/env": [{"name": "A"}, {"name": "A"}]}, f"{B0}/env", "items must differ in name, found name \"A\" twice"),
    "variable of a pod twice (D-30)": (SERVING, {f"{ROLE0}/entryTemplate/spec/containers/0/env": [{"name": "A"}, {"name": "A"}]}, f"{ROLE0}/entryTemplate/spec/containers/0/env", "items must differ in name"),
    "backend twice": (SMALL, {f"{B1}/name": "backend1"}, f"{B1}/name", "'backend1' is used twice; names must be unique"),
    "role twice": (SERVING, {f"{ROLE0}/name": "third", GANG: {}}, "spec/template/roles/2/name", "'third' is used twice"),
    "match by two ways": (ROUTE, {"spec/rules/0/modelMatch/uri/exact": "/"}, "spec/rules/0/modelMatch/uri", "set only one of exact, prefix and regex, found exact and prefix"),
    "header by two ways": (SHARED, {"spec/modelMatch/headers/user/regex": "."}, "spec/modelMatch/headers/user", "found exact and regex"),
    "source": (SMALL, {f"{B0}/modelURI": "ms://a/b"}, f"{B0}/modelURI", "must match ^(hf://|s3://|pvc://).+"),
    "source of nothing": (SMALL, {f"{B0}/modelURI": "hf://\n"}, f"{B0}/modelURI", "must be hf://"),
    "cache": (SMALL, {f"{B0}/cacheURI": "/tmp"}, f"{B0}/cacheURI", "must be hostpath://<folder> or pvc://<claim>"),
    "duration": (POLICY, {f"{DOWN}/period": "1 minute"}, f"{DOWN}/period", "must be a duration such as 30s, 5m or 1h30m, found \"1 minute\""),
    "number as duration": (POLICY, {f"{DOWN}/period": 60}, f"{DOWN}/period", "must be a string, found 60"),
    "days": (SERVER, {"spec/trafficPolicy/timeout": "1d"}, "spec/trafficPolicy/timeout", "must be a duration"),
    "longer than Go can hold": (SERVER, {"spec/trafficPolicy/timeout": "2562048h"}, "spec/trafficPolicy/timeout", "must be a duration of less than 292 years"),
    "backends": (SMALL, {"spec/backends": []}, "spec/backends", "must have at least 1 item"),
    "wrong capitals": (SMALL, {f"{B0}/modelUri": "hf://a"}, f"{B0}/modelUri", "unknown field; did you mean 'modelURI'?"),
    "five roles": (LEAST, {"spec/template/roles": [role(f"r{i}") for i in range(5)]}, "spec/template/roles", "must have at most 4 items, found 5"),
    "17 targets": (ROUTE, {"spec/rules/0/targetModels": [{"modelServerName": "a"}] * 17}, "spec/rules/0/targetModels", "must have at most 16 items"),
}  # fmt: skip


@pytest.mark.parametrize(("base", "changes", "path", "reason"), BAD.values(), ids=BAD)
def test_bad(base: int, changes: dict[str, Any], path: str, reason: str) -> None:
    (problem,) = problems(base, changes)
    assert problem[0] == path
    assert reason in problem[1]


def test_each_rule_has_both_cases() -> None:
    """V1 to V16; what refers to other objects is checked at rendering: V3 of whole pods, and that a policy exists."""
    for cases in (GOOD, BAD):
        assert {f"V{number}" for number in range(1, 17)} - {case.split()[0] for case in cases} <= {"V6", "V12"}
    assert problems(SHARED, {}) == problems(LEAST, {}) == []  # the good cases of V6 and V12


def test_a_writer_is_told_everything_at_once() -> None:
    """Whatever level a rule is at: of the whole, of the spec, of a backend, of a policy, of a match."""
    found = problems(
        SHARED,
        {
            "metadata/name": "With.Capitals",
            f"{B0}/minReplicas": 9,
            f"{B0}/scaleToZeroGracePeriod": "1h",
            f"{B0}/loraAdapters/0/name": "shared",
            f"{B1}/scalingCost": 0,
            f"{B1}/workers": [{}, {}],
            f"{B1}/autoscalingPolicy": {"metrics": METRICS * 2},
            "spec/modelMatch/uri/exact": "/",
            "spec/autoscalingPolicy/metrics/0/targetValue": 0,
        },
    )
    assert {path for path, _ in found} == {
        "metadata/name",
        f"{B0}/minReplicas",
        f"{B0}/scaleToZeroGracePeriod",
        f"{B1}/scalingCost",
        f"{B1}/workers",
        f"{B1}/autoscalingPolicy",
        f"{B1}/autoscalingPolicy/metrics/1/metricName",
        "spec/modelMatch/uri",
        "spec/autoscalingPolicy/metrics/0/targetValue",
    }


def test_two_places_of_one_rule_are_both_told() -> None:
    changes = {f"{B0}/minReplicas": 7, f"{B1}/minReplicas": 8}
    assert [path for path, _ in problems(SMALL, changes)] == [f"{B0}/minReplicas", f"{B1}/minReplicas"]

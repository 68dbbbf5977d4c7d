"""Bindings for Kthena's controller v0.1.0: what it ignores or breaks on is refused, what it does otherwise is said.

Read in volcano-sh/kthena at v0.1.0: pkg/autoscaler (D-14 to D-19 of the register, Kthena spec 10).
"""

from typing import Any

import pytest

from components.checks.metrics.chain import metric_chain
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.prerequisites.needed import ClusterFacts, prerequisites
from tests.families.kthena.autoscaling.bindings import binding, bounded, metric, policy, said, serving
from tests.families.kthena.serving.support import engine, pods, role
from tests.fleets import fleet_of

Object = dict[str, Any]
PANIC = {"panicPolicy": {"period": "0s"}}
WHOLE: Object = {"scaleUp": {"stablePolicy": {}, **PANIC}, "scaleDown": {}}
"""A behavior with every section, and nothing to speak of."""
AT_ENGINE: dict[str, Any] = {"metricEndpoint": {"port": 8000}}
SCALING = "spec.scalingConfiguration"


def operated(*documents: Object, namespace: str = "kthena-system") -> Fleet:
    for document in documents:
        document["metadata"]["namespace"] = namespace
    return fleet_of(*documents, realization=Realization.OPERATOR, tolerates_devices=True)


def told(*documents: Object, **where: str) -> list[tuple[str, str, str]]:
    """What is said of bindings and policies."""
    found = operated(*documents, **where).problems
    return [each for each in said(found) if each[1].startswith("AutoscalingPolicy")]


def usual(behavior: Object | None = None, **spec: Any) -> Object:
    return policy(behavior=WHOLE if behavior is None else behavior, **spec)


def written(*documents: Object) -> Object:
    fleet = operated(*documents)
    (item,) = [item for item in fleet.rendered if item.kind == "AutoscalingPolicyBinding"]
    spec: Object = item.others[0]["spec"]
    return spec


def test_what_the_controller_does_right_is_nothing_to_speak_of() -> None:
    documents = serving(recoveryPolicy="ServingGroupRecreate"), usual(), binding(**AT_ENGINE)
    assert told(*documents) == []
    assert written(*documents) == documents[2]["spec"]


def test_it_gets_the_objects_and_nothing_else() -> None:
    fleet = operated(serving(), usual(), binding(**AT_ENGINE))
    kinds = sorted(body["kind"] for body in fleet.objects)
    assert kinds == ["AutoscalingPolicy", "AutoscalingPolicyBinding", "ModelServing", "Service"]
    # It reads the pods itself: nothing is scraped or adapted for it.
    chain = metric_chain(fleet)
    assert (chain.adapter_rules["custom"], chain.needs) == ([], {"prometheus": ()})
    needed = {each.chart.name for each in prerequisites(fleet, (), ClusterFacts())}
    assert "prometheus-adapter" not in needed
    assert {"kthena", "kthena-router"} <= needed


def test_nodes_are_there_for_the_most_pods_of_each_role() -> None:
    roles = role("leader", replicas=2), role("embed", replicas=3)
    fleet = operated(serving("chat", *roles), usual(), binding(minimum=2, maximum=5))
    found = {
        workload.role: (demand.pods, demand.max_pods) for _, workload in fleet.workloads for demand in workload.pods
    }
    assert found == {"leader": (4, 10), "embed": (6, 15)}


def test_an_endpoint_that_is_absent_is_the_one_of_the_contract() -> None:
    """D-19: without the field, the port is 0; with an empty one, the API server fills in the defaults."""
    assert written(serving(), usual(), binding())["scalingConfiguration"]["target"]["metricEndpoint"] == {}


def test_other_namespaces_are_not_seen() -> None:
    """D-14."""
    assert told(serving(), usual(), binding(**AT_ENGINE), namespace="models") == [
        ("error", "AutoscalingPolicyBinding", "metadata.namespace")
    ]


OTHER = role("worker", entryTemplate=pods(engine(ports=[{"containerPort": 8000}])))
BOTH = (role("leader"), role("embed"))


@pytest.mark.parametrize(
    ("documents", "severity", "path"),
    [
        # The role is always `leader` (4.2).
        ((serving("chat", OTHER), binding(**AT_ENGINE)), "error", f"{SCALING}.target.targetRef.name"),
        (
            (
                serving("chat", *BOTH),
                binding(**AT_ENGINE, additionalMatchLabels={"modelserving.volcano.sh/role": "embed"}),
            ),
            "error",
            f"{SCALING}.target.additionalMatchLabels[modelserving.volcano.sh/role]",
        ),
        # Without a kind no label is asked for.
        ((serving(), binding(**AT_ENGINE, reference={"kind": None})), "error", f"{SCALING}.target.targetRef.kind"),
        # Of no pods there are no metrics.
        ((serving(), binding(**AT_ENGINE, minimum=0)), "warning", f"{SCALING}.minReplicas"),
        # The usual port is that of the runtime.
        ((serving(), binding()), "warning", f"{SCALING}.target.metricEndpoint"),
        # D-18.
        ((serving(), binding(bounded(**AT_ENGINE, cost=1))), "warning", "spec.optimizerConfiguration"),
    ],
)
def test_of_the_binding(documents: tuple[Object, Object], severity: str, path: str) -> None:
    assert told(*documents, usual()) == [(severity, "AutoscalingPolicyBinding", path)]


def test_a_crash_of_the_controller() -> None:
    """D-18: the threshold of panic is read without a look whether there is one."""
    without: Object = {"scaleUp": {"stablePolicy": {}}, "scaleDown": {}}
    shared = binding(bounded(**AT_ENGINE, cost=1))
    assert ("error", "AutoscalingPolicyBinding", "spec.policyRef.name") in told(serving(), usual(without), shared)
    assert told(serving(), usual(without), binding(**AT_ENGINE)) == []


def changed(way: str, **stable: Any) -> Object:
    if way == "scaleDown":
        return {**WHOLE, "scaleDown": stable}
    return {**WHOLE, "scaleUp": {**PANIC, "stablePolicy": stable}}


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        # D-17: windows latch from more than one tick on.
        ({"behavior": changed("scaleDown", stabilizationWindow="16s")}, "behavior.scaleDown.stabilizationWindow"),
        (
            {"behavior": changed("scaleUp", stabilizationWindow="1m")},
            "behavior.scaleUp.stablePolicy.stabilizationWindow",
        ),
        ({"behavior": changed("scaleDown", stabilizationWindow="15s")}, ""),
        # D-16: the limit is one of each tick.
        ({"behavior": changed("scaleDown", period="1m", percent=50)}, "behavior.scaleDown.period"),
        ({"behavior": changed("scaleDown", period="1m", selectPolicy="And")}, "behavior.scaleDown.period"),
        ({"behavior": changed("scaleDown", period="1m")}, ""),
        ({"behavior": changed("scaleDown", period="15s", percent=50)}, ""),
        ({"behavior": changed("scaleUp", period="1m", percent=50)}, ""),
        # D-15.
        ({"tolerancePercent": 20}, "tolerancePercent"),
        ({"tolerancePercent": 0}, ""),
        # What is absent is filled in by nobody (1.4, M2).
        ({"behavior": {"scaleUp": {"stablePolicy": {}, **PANIC}}}, "behavior.scaleDown"),
        ({"behavior": {"scaleUp": PANIC, "scaleDown": {}}}, "behavior.scaleUp.stablePolicy"),
    ],
)
def test_of_the_policy(spec: Object, path: str) -> None:
    expected = [("warning", "AutoscalingPolicy", f"spec.{path}")] if path else []
    assert told(serving(), usual(**spec), binding(**AT_ENGINE)) == expected


def test_a_policy_without_behavior_limits_nothing() -> None:
    assert told(serving(), policy(), binding(**AT_ENGINE)) == [("warning", "AutoscalingPolicy", "spec.behavior")]


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("kthena:generation_tokens_total", "error"),
        ("vllm:generation_tokens_total", "warning"),
        ("kthena:num_requests_waiting", ""),
        ("kthena:time_to_first_token_seconds", ""),
        ("own_queue", ""),
    ],
)
def test_of_a_metric(name: str, severity: str) -> None:
    """Counters are compared as they are (4.2), and one is documented that there is not (4.6)."""
    asked = policy(metric(), metric(name), behavior=WHOLE)
    expected = [(severity, "AutoscalingPolicy", "spec.metrics[1].metricName")] if severity else []
    assert told(serving(), asked, binding(**AT_ENGINE)) == expected

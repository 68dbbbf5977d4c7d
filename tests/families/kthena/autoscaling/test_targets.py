"""What a binding scales natively, and what of it nothing can scale (Kthena spec 1.3, 4.2, 7)."""

from typing import Any

import pytest

from components.families import objects, parse
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.kthena.autoscaling.bindings import (
    QUEUE,
    binding,
    bounded,
    metric,
    policy,
    rendered,
    said,
    scaler,
    scalers,
    serving,
)
from tests.families.kthena.serving.support import engine, pods, role
from tests.fleets import errors, fleet_of

Object = dict[str, Any]
SCALING = "spec.scalingConfiguration"
TARGET = f"{SCALING}.target"
REFERENCE = f"{TARGET}.targetRef"
TWO_ROLES = (role("chat"), role("embed"))


def test_the_set_of_a_serving_is_scaled_within_the_bounds() -> None:
    """Mapping S (7): one LeaderWorkerSet, whose replicas are the serving groups."""
    hpa = scaler(serving(replicas=2), policy(), binding(minimum=2, maximum=7))
    assert hpa["metadata"] == {"name": "scaling", "namespace": "ns"}
    assert (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"]) == (2, 7)
    assert hpa["spec"]["scaleTargetRef"] == {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "name": "chat",
    }


def test_the_autoscaler_owns_the_replicas_and_nodes_are_there_for_the_most() -> None:
    fleet = rendered(serving(replicas=9), policy(), binding(minimum=2, maximum=7))
    ((_, workload),) = fleet.workloads
    assert "replicas" not in workload.body["spec"]
    assert [(demand.pods, demand.max_pods) for demand in workload.pods] == [(2, 7)]


def test_two_resources_may_be_edited_apart() -> None:
    """Names depend on the resource alone, so that another target or policy leaves them."""
    one = scalers(serving(), serving("other"), policy(), binding())
    other = scalers(serving(), serving("other"), policy(), binding(), binding(name="more", target="other"))
    assert other["scaling"] == one["scaling"]
    assert set(other) == {"scaling", "more"}


@pytest.mark.parametrize(
    ("roles", "template"),
    [
        (TWO_ROLES, {}),
        ((role(replicas=2),), {}),
        ((role(workers=1),), {"gangPolicy": {}}),
        ((role(workers=1),), {"gangPolicy": {}, "networkTopology": {}}),
    ],
    ids=["roles", "instances", "gang", "topology"],
)
def test_several_sets_cannot_be_scaled(roles: tuple[Object, ...], template: Object) -> None:
    fleet = fleet_of(serving("chat", *roles, template=template), policy(), binding())
    (problem,) = errors(fleet)
    assert said((problem,)) == [("error", "AutoscalingPolicyBinding", f"{REFERENCE}.name")]
    # The operator measures pods of a role `leader` alone.
    named = any(each["name"] == "leader" for each in roles)
    assert ("realization 'operator'" in problem.reason) is named


@pytest.mark.parametrize(
    ("own", "template"),
    [(role(workers=1), {}), (role(), {"gangPolicy": {}}), (role(), {"gangPolicy": {}, "networkTopology": {}})],
    ids=["workers", "gang of one", "topology of one"],
)
def test_a_group_that_is_one_instance_can(own: Object, template: Object) -> None:
    assert scaler(serving("chat", own, template=template), policy(), binding()) == scaler(
        serving(), policy(), binding()
    )


@pytest.mark.parametrize(
    ("document", "path", "reason"),
    [
        (binding(target="caht"), f"{REFERENCE}.name", "no ModelServing named 'caht'; did you mean 'chat'?"),
        (binding(target=""), f"{REFERENCE}.name", "no ModelServing named ''"),
        (binding(policy="queu"), "spec.policyRef.name", "no AutoscalingPolicy named 'queu'; did you mean 'queue'?"),
        (binding(policy=""), "spec.policyRef.name", "is required"),
        (
            binding(reference={"namespace": "other"}),
            f"{REFERENCE}.namespace",
            "must be the namespace of the binding, 'ns'",
        ),
        (binding(reference={"apiVersion": "apps/v1"}), f"{REFERENCE}.apiVersion", "found 'apps/v1'"),
        (
            binding(additionalMatchLabels={"modelserving.volcano.sh/role": "laeder"}),
            f"{TARGET}.additionalMatchLabels[modelserving.volcano.sh/role]",
            "did you mean 'leader'?",
        ),
        (
            binding(additionalMatchLabels={"modelserving.volcano.sh/group-name": "chat-0"}),
            f"{TARGET}.additionalMatchLabels[modelserving.volcano.sh/group-name]",
            "natively an autoscaler measures all entry pods of role 'leader'",
        ),
        (
            binding(bounded(), bounded()),
            "spec.optimizerConfiguration.params[1].target.targetRef.name",
            "is also the target of spec.optimizerConfiguration.params[0]",
        ),
    ],
)
def test_what_cannot_be_bound(document: Object, path: str, reason: str) -> None:
    (problem,) = errors(fleet_of(serving(), policy(), document))
    assert said((problem,)) == [("error", "AutoscalingPolicyBinding", path)]
    assert reason in problem.reason


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = errors(fleet_of(serving(), policy(), binding(target="a", policy="b", reference={"namespace": "c"})))
    assert {problem.path for problem in found} == {
        "spec.policyRef.name",
        f"{REFERENCE}.name",
        f"{REFERENCE}.namespace",
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"reference": {"kind": None}},
        {"reference": {"namespace": "ns", "apiVersion": "workload.serving.volcano.sh/v1alpha1"}},
        {
            "additionalMatchLabels": {
                "modelserving.volcano.sh/role": "leader",
                "modelserving.volcano.sh/entry": "true",
            }
        },
        {"additionalMatchLabels": {"modelserving.volcano.sh/name": "chat"}},
        {"metricEndpoint": {}},
        {"metricEndpoint": {"uri": "/metrics", "port": 8000}},
    ],
)
def test_what_says_the_same_again_is_nothing_to_speak_of(fields: Object) -> None:
    document = binding(**fields)
    assert not fleet_of(serving(), policy(), document).problems
    assert scaler(serving(), policy(), document) == scaler(serving(), policy(), binding())


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"metricEndpoint": {"port": 9400}}, f"{TARGET}.metricEndpoint.port"),
        ({"metricEndpoint": {"uri": "/prometheus"}}, f"{TARGET}.metricEndpoint.uri"),
        ({"reference": {"uid": "1"}}, f"{REFERENCE}.uid"),
        ({"reference": {"fieldPath": "spec"}}, f"{REFERENCE}.fieldPath"),
        ({"reference": {"resourceVersion": "1"}}, f"{REFERENCE}.resourceVersion"),
    ],
)
def test_what_has_no_effect_is_said(fields: Object, path: str) -> None:
    fleet = fleet_of(serving(), policy(), binding(**fields))
    assert said(fleet.problems) == [("warning", "AutoscalingPolicyBinding", path)]
    assert "has no effect" in fleet.problems[0].reason


def test_two_bindings_of_one_target() -> None:
    (problem,) = errors(fleet_of(serving(), policy(), binding(), binding(name="second")))
    assert problem.path == f"{REFERENCE}.name"
    assert "already has the autoscaler 'scaling'" in problem.reason


def test_a_target_with_an_error_is_spoken_of_once() -> None:
    broken = serving("chat", role(entryTemplate=pods()))
    (problem,) = errors(fleet_of(broken, policy(), binding()))
    assert problem.kind == "ModelServing"


def test_a_role_that_is_named_is_the_one_whose_engine_counts() -> None:
    leader = role("leader", entryTemplate=pods(engine(image="lmsysorg/sglang:v0.5.4")))
    named = binding(additionalMatchLabels={"modelserving.volcano.sh/role": "leader"})
    (problem,) = errors(fleet_of(serving("chat", leader), policy(metric("kthena:num_requests_waiting")), named))
    assert "sglang does not export" in problem.reason


class TestOptimizer:
    def test_each_target_has_an_autoscaler_of_its_own_and_that_is_said(self) -> None:
        documents = serving("a"), serving("b"), policy(), binding(bounded("a", 1, 5, 30), bounded("b", 2, 4, 20))
        found = scalers(*documents)
        bounds = {name: (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"]) for name, hpa in found.items()}
        assert bounds == {"scaling-a": (1, 5), "scaling-b": (2, 4)}
        (problem,) = fleet_of(*documents).problems
        assert said((problem,)) == [("warning", "AutoscalingPolicyBinding", "spec.optimizerConfiguration")]
        assert "costExpansionRatePercent have no effect" in problem.reason

    def test_another_target_leaves_the_first_one_alone(self) -> None:
        both = serving("a"), serving("b"), policy()
        one = scalers(*both, binding(bounded("a")))
        assert scalers(*both, binding(bounded("b"), bounded("a")))["scaling-a"] == one["scaling-a"]


BOOSTER = """
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: chat, namespace: ns}
spec:
  backends:
    - name: gpu
      type: vLLM
      modelURI: hf://org/name
      cacheURI: hostpath:///cache
      minReplicas: 1
      maxReplicas: 3
      autoscalingPolicy:
        tolerancePercent: 5
        metrics: [{metricName: "kthena:num_requests_waiting", targetValue: "5"}]
      workers:
        - {type: server, image: "vllm/vllm-openai:v0.11.0", replicas: 1, pods: 1, config: {served-model-name: chat}}
"""


class TestBooster:
    def test_a_backend_is_scaled_and_its_policy_is_the_boosters(self) -> None:
        found = plan(parse(BOOSTER, "b.yaml"), Environment())
        assert [str(p) for p in found.problems if p.is_error] == []
        ((_, scaler),) = found.fleet.autoscalers
        assert scaler.target == ("LeaderWorkerSet", "ns", "chat-gpu")
        assert (scaler.minimum, scaler.maximum) == (1, 3)
        assert scaler.hpa["spec"]["metrics"][0]["pods"]["metric"]["name"] == QUEUE
        tolerance = [p for p in found.problems if "HPA of Kubernetes before 1.35" in p.reason]
        assert [(p.kind, p.path) for p in tolerance] == [
            ("ModelBooster", "spec.backends[0].autoscalingPolicy.tolerancePercent")
        ]

    def test_what_is_installed_for_it(self) -> None:
        from components.plan.prerequisites.needed import ClusterFacts

        found = plan(parse(BOOSTER, "b.yaml"), Environment(cluster=ClusterFacts(), install=True))
        charts = {each.chart.name for each in found.prerequisites}
        assert charts == {"leader-worker-set", "prometheus", "prometheus-adapter"}

    @pytest.mark.parametrize("namespace", ["ns", "kthena-system"])
    def test_the_operator_scales_it_in_its_own_namespace(self, namespace: str) -> None:
        """D-14; what the controller makes has every section, so that the contract's defaults hold (2.8)."""
        options = Options(realization=Realization.OPERATOR, tolerates_devices=True)
        text = BOOSTER.replace("namespace: ns", f"namespace: {namespace}")
        found = plan(parse(text, "b.yaml"), Environment(options=options))
        policy = [p for p in found.problems if "autoscalingPolicy" in p.path]
        paths = ["", ".behavior", ".tolerancePercent"][namespace == "kthena-system" :]
        assert sorted(p.path for p in policy) == [f"spec.backends[0].autoscalingPolicy{path}" for path in paths]
        assert [p.is_error for p in sorted(policy, key=lambda p: p.path)] == [not path for path in paths]


AT_8080 = role(entryTemplate=pods(engine("--port", "8080", ports=[{"name": "http", "containerPort": 8080}])))
DECLARED_ONLY = role(entryTemplate=pods(engine("--port", "8080", ports=[{"name": "http", "containerPort": 8000}])))


@pytest.mark.parametrize(
    ("measured", "endpoint", "expected"),
    [
        (AT_8080, {"port": 8080}, ""),
        (AT_8080, {"port": 8000}, "port 8080"),
        (AT_8080, {"port": 8100}, "port 8080"),  # the runtime's, which is not there
        (AT_8080, {}, ""),
        (DECLARED_ONLY, {"port": 8000}, "port 8080"),
        (DECLARED_ONLY, {"port": 8080}, ""),
        (role(), {"port": 8000}, ""),
        (role(), {"port": 8080}, "port 8000"),
    ],
)
def test_the_port_of_metrics_is_that_on_which_the_engine_listens(
    measured: Object, endpoint: Object, expected: str
) -> None:
    documents = (serving("chat", measured), policy(), binding(metricEndpoint=endpoint))
    for realization in Realization:
        planned = plan(objects(documents), Environment(options=Options(realization=realization, namespace="ns")))
        found = [each for each in planned.problems if "metricEndpoint" in each.path]
        if realization is Realization.OPERATOR and not endpoint:
            assert "serves them at 8080" in found[0].reason  # the controller's default is that of the runtime
        else:
            assert [expected.removeprefix("port ") in each.reason for each in found] == [True] * bool(expected)

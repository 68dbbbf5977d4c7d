"""What is read of policies and bindings, and how they are found."""

from fractions import Fraction
from typing import Any

import pytest
import yaml

from components.families import parse, simulators
from components.families.kthena.autoscaling.effective import Panic
from components.families.kthena.autoscaling.targets import scaling_of
from components.families.kthena.simulation.scenario import bound_settings, policy_settings
from components.families.kthena.simulation.settings import UNLIMITED, Bound, Defects, ScaledTarget
from components.families.kthena.types import AutoscalingPolicy, AutoscalingPolicyBinding
from components.performance.simulation.scenario import AutoscalerQuery, Scenario, ScenarioError
from components.performance.simulation.trace import Moment, TargetReading
from tests.families.kthena.simulation.support import pace

API = "workload.serving.volcano.sh/v1alpha1"
METRICS = [{"metricName": "load", "targetValue": "500m"}]


def policy(name: str = "p", namespace: str | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {
        "apiVersion": API,
        "kind": "AutoscalingPolicy",
        "metadata": metadata,
        "spec": {"metrics": METRICS, **spec},
    }


def binding(name: str = "b", refers: str = "p", namespace: str | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    scaled = {"target": target("chat"), "minReplicas": 1, "maxReplicas": 4}
    given = spec or {"scalingConfiguration": scaled}
    return {
        "apiVersion": API,
        "kind": "AutoscalingPolicyBinding",
        "metadata": metadata,
        "spec": {"policyRef": {"name": refers}, **given},
    }


USUAL = AutoscalerQuery("b", "", "default")


def target(name: str) -> dict[str, Any]:
    return {"targetRef": {"kind": "ModelServing", "name": name}, "metricEndpoint": {}}


def scenario(*manifests: dict[str, Any], names: AutoscalerQuery = USUAL) -> Scenario:
    found = parse(yaml.safe_dump_all(manifests))
    assert [problem for problem in found.problems if problem.is_error] == []
    return simulators()[0].scenario(found.resources, names)


class TestPolicy:
    def read(self, *defects: str, **spec: Any):
        resource = parse(yaml.safe_dump(policy(**spec))).resources[0].resource
        assert isinstance(resource, AutoscalingPolicy)
        return policy_settings(resource, Defects.of(defects))

    def test_defaults_of_sections_that_are_there(self) -> None:
        found = self.read(
            behavior={"scaleUp": {"stablePolicy": {}, "panicPolicy": {"period": "0s"}}, "scaleDown": {}}
        )
        assert found.metrics == (("load", Fraction(1, 2)),)
        assert found.tolerance == 10
        assert found.up == found.down == pace(1, 100, 15_000)
        assert found.panic == Panic(percent=1000, period=0, threshold=200, hold=60_000)
        assert not found.crashes

    def test_everything_set(self) -> None:
        stable = {"instances": 3, "percent": 50, "period": "1m", "selectPolicy": "And", "stabilizationWindow": "90s"}
        panic = {"percent": 70, "period": "30s", "panicThresholdPercent": 150, "panicModeHold": "2m"}
        found = self.read(
            tolerancePercent=5,
            behavior={"scaleUp": {"stablePolicy": stable, "panicPolicy": panic}, "scaleDown": stable},
        )
        assert found.up == found.down == pace(3, 50, 60_000, fastest=False, window=90_000)
        assert found.panic == Panic(percent=70, period=30_000, threshold=150, hold=120_000)
        assert found.tolerance == 5

    def test_absent_sections_are_filled_in(self) -> None:
        """Spec 1.4, M2; the controller itself sets no limit then."""
        filled, literal = self.read(), self.read("M2")
        assert (filled.up, filled.down) == (pace(4, 100, 60_000), pace(0, 100, 60_000, window=300_000))
        assert literal.up == literal.down == UNLIMITED
        assert filled.panic is literal.panic is None
        assert filled.crashes

    def test_one_section_is_no_other(self) -> None:
        found = self.read("M2", behavior={"scaleDown": {}})
        assert (found.up, found.down) == (UNLIMITED, pace(1, 100, 15_000))


def test_an_optimizer() -> None:
    params = [
        {"target": target("a"), "cost": 30, "minReplicas": 1, "maxReplicas": 5},
        {"target": target("b"), "minReplicas": 0, "maxReplicas": 4},
    ]
    resource = parse(yaml.safe_dump(binding(optimizerConfiguration={"params": params}))).resources[0].resource
    assert isinstance(resource, AutoscalingPolicyBinding)
    assert bound_settings(scaling_of(resource)) == Bound((ScaledTarget("a", 1, 5, 30), ScaledTarget("b", 0, 4)), 200)


class TestFinding:
    def test_the_policy_of_the_binding(self) -> None:
        found = scenario(policy("other"), policy("p"), binding())
        assert [source.title for source in found.sources] == ["AutoscalingPolicyBinding/b", "AutoscalingPolicy/p"]
        assert (found.namespace, found.notes) == ("default", ())
        assert found.metrics == {"load": Fraction(1, 2)}

    def test_another_policy(self) -> None:
        found = scenario(policy("other"), policy("p"), binding(), names=AutoscalerQuery("b", "other", "default"))
        assert found.sources[1].name == "other"
        assert found.notes == ("the binding names the policy 'p', but is simulated with 'other'",)

    def test_namespaces(self) -> None:
        both = (policy(namespace="one"), policy(namespace="two"), binding(namespace="one"), binding(namespace="two"))
        assert scenario(*both, names=AutoscalerQuery("two/b", "", "default")).namespace == "two"
        assert scenario(*both, names=AutoscalerQuery("b", "", "one")).namespace == "one"
        with pytest.raises(ScenarioError, match=r"several .* are named 'b'; name one of one/b, two/b"):
            scenario(*both)

    def test_replicas_of_the_manifest(self) -> None:
        serving = {
            "apiVersion": API,
            "kind": "ModelServing",
            "metadata": {"name": "chat"},
            "spec": {
                "replicas": 3,
                "schedulerName": "volcano",
                "template": {
                    "roles": [
                        {
                            "name": "leader",
                            "workerReplicas": 0,
                            "entryTemplate": {"spec": {"containers": [{"name": "engine", "image": "vllm:v1"}]}},
                        }
                    ]
                },
            },
        }
        assert scenario(policy(), binding(), serving).targets[0].replicas == 3
        assert scenario(policy(), binding()).targets[0].replicas is None

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (
                AutoscalerQuery("x", "", "default"),
                "no AutoscalingPolicyBinding named 'x' \\(available: b\\); correct the name",
            ),
            (AutoscalerQuery("b", "x", "default"), "no AutoscalingPolicy named 'x' \\(available: p\\)"),
        ],
    )
    def test_nothing_of_that_name(self, names: AutoscalerQuery, message: str) -> None:
        with pytest.raises(ScenarioError, match=message):
            scenario(policy(), binding(), names=names)

    def test_the_same_target_twice(self) -> None:
        params = [{"target": target("a"), "minReplicas": 1, "maxReplicas": 5}] * 2
        with pytest.raises(ScenarioError, match="two targets have the same name"):
            scenario(policy(), binding(optimizerConfiguration={"params": params}))


def booster() -> dict[str, Any]:
    backend = {
        "name": "small",
        "type": "vLLM",
        "modelURI": "hf://Qwen/Qwen2.5-0.5B-Instruct",
        "cacheURI": "hostpath:///tmp/cache",
        "minReplicas": 1,
        "maxReplicas": 6,
        "autoscalingPolicy": {"metrics": METRICS},
        "workers": [{"type": "server", "image": "vllm/vllm-openai:v0.9.2", "replicas": 1, "pods": 1, "config": {}}],
    }
    return {
        "apiVersion": API,
        "kind": "ModelBooster",
        "metadata": {"name": "demo"},
        "spec": {"backends": [backend]},
    }


BOOSTED = AutoscalerQuery("demo-small", "", "default")


def test_what_a_booster_becomes_is_found() -> None:
    """A policy of a backend becomes a policy and a binding of the same name (spec 2.8)."""
    found = scenario(booster(), names=BOOSTED)
    assert [(each.name, each.minimum, each.maximum, each.replicas) for each in found.targets] == [
        ("demo-small", 1, 6, 1)
    ]


@pytest.mark.parametrize(
    ("defects", "expected"),
    [
        # Absent sections as the admission hook would fill them in: 4 or 100 % a minute, no panic, a window of 5 min.
        ((), [5, 6, 6, 6]),
        # As the controller sends them: empty, with the defaults of the CustomResourceDefinition, panic included.
        (("M2",), [6, 6, 6, 6]),
    ],
)
def test_sections_that_a_booster_leaves_out(defects: tuple[str, ...], expected: list[int]) -> None:
    found = scenario(booster(), names=BOOSTED)
    values = [3, 3, 3, 3]
    moments = [
        Moment(number * 61_000, {"demo-small": TargetReading({"load": Fraction(value)})})
        for number, value in enumerate(values)
    ]
    assert [each.total for each in found.run(moments, {"demo-small": 1}, defects).passes] == expected


@pytest.mark.parametrize(("written", "has"), [({}, True), ({"port": 8000}, True), (None, False)])
def test_whether_a_target_says_where_its_metrics_are(written: Any, *, has: bool) -> None:
    where = {} if written is None else {"metricEndpoint": written}
    scaled = {"target": {"targetRef": {"kind": "ModelServing", "name": "chat"}, **where}}
    body = binding(scalingConfiguration={**scaled, "minReplicas": 1, "maxReplicas": 4})
    resource = parse(yaml.safe_dump(body)).resources[0].resource
    assert isinstance(resource, AutoscalingPolicyBinding)
    assert bound_settings(scaling_of(resource)).targets == (ScaledTarget("chat", 1, 4, has_endpoint=has),)


# -- the forms of later releases

BOUNDS = {"minReplicas": 1, "maxReplicas": 4}
CHAT = {"targetRef": {"kind": "ModelServing", "name": "chat"}, "metricSources": {"load": {"pod": {}}}}


def scaling(name: str = "p", **targets: Any) -> dict[str, Any]:
    """A policy that names its targets itself."""
    return policy(name, **{"metrics": [{"name": "load", "targetValue": "500m"}], **targets})


def test_a_policy_with_a_target_is_simulated_like_policy_and_binding() -> None:
    older = scenario(policy(), binding())
    newer = scenario(scaling(homogeneousTarget={"target": CHAT, **BOUNDS}), names=AutoscalerQuery("p", "", "default"))
    assert [source.title for source in newer.sources] == ["AutoscalingPolicy/p"] * 2
    assert (newer.targets, newer.metrics) == (older.targets, older.metrics)
    read = [Moment(number * 60_000, {"chat": TargetReading({"load": Fraction(2)})}) for number in range(3)]
    assert newer.run(read, {"chat": 1}, ()) == older.run(read, {"chat": 1}, ())


@pytest.mark.parametrize("form", ["optimizerConfiguration", "heterogeneousTarget"])
def test_an_optimizer_in_both_forms_of_a_binding(form: str) -> None:
    spec: dict[str, Any] = {form: {"params": [{"target": target("a"), "cost": 30, **BOUNDS}]}}
    found = scenario(policy(), binding(**spec))
    assert [(each.name, each.minimum, each.maximum) for each in found.targets] == [("a", 1, 4)]


def test_a_policy_that_several_targets_share() -> None:
    params = [{"target": {**CHAT, "targetRef": {"name": name}}, "cost": 1, **BOUNDS} for name in ("a", "b")]
    resource = parse(yaml.safe_dump(scaling(heterogeneousTarget={"params": params}))).resources[0].resource
    assert isinstance(resource, AutoscalingPolicy)
    assert bound_settings(scaling_of(resource)) == Bound(
        (ScaledTarget("a", 1, 4, 1), ScaledTarget("b", 1, 4, 1)), 200
    )


def test_one_backend_is_found() -> None:
    body = booster()
    (body["spec"]["backend"],) = body["spec"].pop("backends")
    body["spec"]["autoscalingPolicy"] = body["spec"]["backend"].pop("autoscalingPolicy")
    found = scenario(body, names=BOOSTED)
    assert [(each.name, each.maximum) for each in found.targets] == [("demo-small", 6)]


def test_roles_are_not_simulated() -> None:
    side = {**BOUNDS, "metricSources": {"load": {"pod": {}}}}
    roles = {"targetRef": {"name": "chat"}, "roles": {"leader": side}}
    with pytest.raises(ScenarioError, match="scales no ModelServing as a whole; set homogeneousTarget"):
        scenario(scaling(disaggregatedTarget=roles), names=AutoscalerQuery("p", "", "default"))

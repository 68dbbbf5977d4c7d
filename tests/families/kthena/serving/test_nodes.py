"""What nodes the pods of roles need, and what the environment adds to them."""

from typing import Any

import pytest

from components.fleet.demand import PodDemand
from components.fleet.options import PodOverrides
from tests.families.kthena.serving.support import (
    Object,
    engine,
    group_of,
    made,
    model_serving,
    pods,
    role,
    served,
    told,
    warned,
)

TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ENTRY = "spec.template.roles[0].entryTemplate.spec"


def gpus(count: int, **spec: Any) -> Object:
    return pods(engine(resources={"limits": {"nvidia.com/gpu": count}}), **spec)


def on(*types: str, zone: str = "") -> Object:
    """An affinity with a term for each type."""
    zones = [{"key": ZONE, "operator": "In", "values": [zone]}] if zone else []
    terms = [{"matchExpressions": [{"key": TYPE, "operator": "In", "values": [name]}, *zones]} for name in types]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def preferring(affinity: Object, *wishes: tuple[int, str]) -> Object:
    listed = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": TYPE, "operator": "In", "values": [name]}]}}
        for weight, name in wishes
    ]
    node = {**affinity["nodeAffinity"], "preferredDuringSchedulingIgnoredDuringExecution": listed}
    return {"nodeAffinity": node}


def demands(*roles: Object, **options: Any) -> list[PodDemand]:
    return [demand for w in served(model_serving("ms", *roles), **options).workloads for demand in w.pods]


def types_of(demand: PodDemand) -> list[str | None]:
    return [choice.instance_type for choice in demand.choices]


def test_each_role_has_its_own_nodes() -> None:
    first = role("a", entryTemplate=gpus(8, nodeSelector={TYPE: "p5.48xlarge"}))
    second = role("b", 2, entryTemplate=gpus(1, nodeSelector={TYPE: "g5.xlarge"}))
    found = demands(first, second)
    assert [types_of(each) for each in found] == [["p5.48xlarge"], ["g5.xlarge"], []]
    assert [(each.pods, int(each.requests.get("nvidia.com/gpu", 0))) for each in found] == [(1, 8), (1, 1), (2, 0)]


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({"nodeSelector": {TYPE: "g5.xlarge"}}, ["g5.xlarge"]),
        ({"nodeSelector": {"beta.kubernetes.io/instance-type": "g5.xlarge"}}, ["g5.xlarge"]),
        ({"nodeSelector": {"disk": "fast"}}, [None]),
        ({"affinity": on("p5.48xlarge", "p4d.24xlarge")}, ["p5.48xlarge", "p4d.24xlarge"]),
        ({"affinity": preferring(on("g5.xlarge", "g6.xlarge"), (10, "g6.xlarge"))}, ["g6.xlarge", "g5.xlarge"]),
        ({"nodeSelector": {TYPE: "g5.xlarge"}, "affinity": on("g6.xlarge")}, ["g5.xlarge"]),
        ({}, []),
    ],
)
def test_types_are_read_in_the_order_of_preference(spec: Object, types: list[str | None]) -> None:
    (found,) = demands(role(entryTemplate=gpus(1, **spec)))
    assert types_of(found) == types


def test_several_types_of_one_term_are_several_choices() -> None:
    affinity = on("g5.xlarge", zone="eu-1a")
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    terms[0]["matchExpressions"][0]["values"] = ["g5.xlarge", "g6.xlarge"]
    (found,) = demands(role(entryTemplate=gpus(1, affinity=affinity, nodeSelector={"team": "a"})))
    assert types_of(found) == ["g5.xlarge", "g6.xlarge"]
    assert [dict(choice.node_selector) for choice in found.choices] == [{"team": "a", ZONE: "eu-1a"}] * 2


@pytest.mark.parametrize("spec", [{"nodeSelector": {TYPE: "g5.xlarge"}}, {"affinity": on("g5.xlarge")}])
def test_the_taint_of_the_nodes_is_tolerated(spec: Object) -> None:
    template = group_of(made(model_serving("ms", role(entryTemplate=gpus(1, **spec))))["LeaderWorkerSet", "ms"])
    pod = template["workerTemplate"]["spec"]
    assert pod["tolerations"] == [GPU]
    assert {key: pod[key] for key in spec} == spec, "where they go is written already"


def test_further_types_of_the_environment_may_be_taken() -> None:
    instead = {"g5.xlarge": ("g6.xlarge",)}
    for spec in ({"nodeSelector": {TYPE: "g5.xlarge", "team": "a"}}, {"affinity": on("g5.xlarge")}):
        document = model_serving("ms", role(entryTemplate=gpus(1, **spec)))
        pod = group_of(made(document, alternatives=instead)["LeaderWorkerSet", "ms"])["workerTemplate"]["spec"]
        (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        values = next(each["values"] for each in term["matchExpressions"] if each["key"] == TYPE)
        assert values == ["g5.xlarge", "g6.xlarge"]
        assert TYPE not in pod.get("nodeSelector", {})
        (found,) = demands(role(entryTemplate=gpus(1, **spec)), alternatives=instead)
        assert found.choices[0].alternatives == ("g6.xlarge",)


def test_accelerators_without_a_type_are_told() -> None:
    reason = warned(model_serving("ms", role(entryTemplate=gpus(2))))[f"{ENTRY}.nodeSelector"]
    assert "2 nvidia.com/gpu" in reason
    assert TYPE in reason
    assert not warned(model_serving("ms", role()))


def test_a_node_is_no_smaller_than_its_pod() -> None:
    """The rest of the plan looks at the demand; that it is told of is enough here."""
    (found,) = demands(role(entryTemplate=gpus(4, nodeSelector={TYPE: "g5.12xlarge"})))
    assert found.node_field is not None
    assert found.choices[0].chosen_by is not None
    assert found.choices[0].chosen_by.origin.problem("x").path == f"{ENTRY}.nodeSelector"


def test_groups_that_surge_need_room() -> None:
    rollout = {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": "50%"}}}
    item = served(model_serving("ms", role("a", 3), replicas=3, **rollout))
    assert [(each.pods, each.surge_pods, each.per_replica) for each in item.pods] == [(3, 2, 1), (9, 6, 3)]


def test_what_the_environment_asks_of_every_pod_is_added() -> None:
    overrides = PodOverrides(
        tolerations=({"key": "x", "operator": "Exists"},),
        service_account_name="models",
        image_pull_secrets=("pull",),
        priority_class_name="high",
        annotations={"a": "1", "b": "2"},
        labels={"team": "t"},
        node_selector={"pool": "models"},
    )
    own = pods(engine(), metadata={"annotations": {"b": "own"}}, nodeSelector={"disk": "fast"})
    document = model_serving("ms", role("r", 1, entryTemplate=own, workerTemplate=own))
    group = group_of(made(document, overrides=overrides)["LeaderWorkerSet", "ms"])
    for template in (group["leaderTemplate"], group["workerTemplate"]):
        assert template["metadata"]["annotations"] == {"a": "1", "b": "own"}
        assert template["metadata"]["labels"]["team"] == "t"
        spec = template["spec"]
        assert spec["nodeSelector"] == {"pool": "models", "disk": "fast"}
        assert (spec["serviceAccountName"], spec["priorityClassName"]) == ("models", "high")
        assert (spec["imagePullSecrets"], spec["tolerations"]) == ([{"name": "pull"}], [*overrides.tolerations])
        assert "automountServiceAccountToken" not in spec


def test_annotations_of_templates_reach_the_pods() -> None:
    """Upstream's controller crashes on them (D-10)."""
    annotated = pods(engine(), metadata={"annotations": {"a": "1"}, "labels": {"b": "2"}})
    document = model_serving("ms", role("r", 1, entryTemplate=annotated, workerTemplate=annotated))
    group = group_of(made(document)["LeaderWorkerSet", "ms"])
    for part in ("leaderTemplate", "workerTemplate"):
        assert group[part]["metadata"]["annotations"] == {"a": "1"}
        assert group[part]["metadata"]["labels"]["b"] == "2"


def test_engines_get_no_token_of_the_api() -> None:
    spec = group_of(made(model_serving("ms"))["LeaderWorkerSet", "ms"])["workerTemplate"]["spec"]
    assert spec["automountServiceAccountToken"] is False


def test_a_scheduler_of_the_environment_is_used_unless_a_template_names_one() -> None:
    own = role("b", entryTemplate=pods(engine(), schedulerName="own"))
    found = made(model_serving("ms", role("a"), own), scheduler_name="theirs")
    names = [
        group_of(found["LeaderWorkerSet", f"ms-0-{name}-0"])["workerTemplate"]["spec"]["schedulerName"]
        for name in ("a", "b")
    ]
    assert names == ["theirs", "own"]


def test_a_deployment_cannot_be_asked_for() -> None:
    assert "LeaderWorkerSet" in told(model_serving("ms"), workload="deployment")["spec"]

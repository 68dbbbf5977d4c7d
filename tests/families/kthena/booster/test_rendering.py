"""A booster natively: what it is expanded into goes the way of what is written by hand."""

import gc
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from components.families.kthena.types import ModelRoute, ModelServer, ModelServing
from components.fleet.rendered import Fleet, Rendered
from tests.families.kthena.booster.strategies import boosters
from tests.families.kthena.booster.support import (
    POLICY,
    VLLM,
    Object,
    backend,
    booster,
    expanded,
    pair,
    worker,
)
from tests.fleets import errors, fleet_of

ADAPTER = {"name": "sql", "artifactURL": "hf://org/sql"}
SCALED: Object = {"maxReplicas": 3, "autoscalingPolicy": POLICY}
BOOSTERS = {
    "one pod": booster("m"),
    "several pods": booster("m", backend(workers=[worker(pods=2, config={"pipeline-parallel-size": 2})])),
    "no pods": booster("m", backend(workers=[worker(replicas=0)])),
    "SGLang": booster("m", backend(type="SGLang", workers=[worker(image="lmsysorg/sglang:v0.5.4")])),
    "adapters": booster("m", backend(loraAdapters=[ADAPTER]), backend("c", loraAdapters=[ADAPTER])),
    "scaled": booster("m", backend(**SCALED)),
    "scaled together": booster(
        "m", *(backend(each, maxReplicas=3, scalingCost=2) for each in "bc"), autoscalingPolicy=POLICY
    ),
    "weighted": booster("m", backend(routeWeight=40), backend("c", routeWeight=60)),
    "a pair": booster("m", pair()),
}


def rendered(document: Object, **options: Any) -> Rendered:
    """What the only booster becomes."""
    fleet = fleet_of(document, **options)
    assert not errors(fleet), list(map(str, errors(fleet)))
    (item,) = [item for item in fleet.rendered if item.kind == "ModelBooster"]
    return item


def objects_of(fleet: Fleet) -> dict[tuple[str, str], Object]:
    return {(body["kind"], body["metadata"]["name"]): body for body in fleet.objects}


@pytest.mark.parametrize("name", BOOSTERS)
def test_what_it_is_expanded_into_gives_the_same_objects(name: str) -> None:
    document = BOOSTERS[name]
    itself, parts = fleet_of(document), fleet_of(*expanded(document).values())
    assert not errors(itself)
    assert not errors(parts)
    assert objects_of(itself) == objects_of(parts)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(boosters())
def test_so_does_any_other(document: Object) -> None:
    itself, parts = fleet_of(document), fleet_of(*expanded(document).values())
    if not errors(itself):
        assert objects_of(itself) == objects_of(parts)


def test_a_fleet_does_not_hold_what_boosters_are_expanded_into() -> None:
    """But for a few that were looked at last."""
    before = {id(each) for each in gc.get_objects() if isinstance(each, ModelServing | ModelServer | ModelRoute)}
    fleet = fleet_of(*(booster(f"m{number}") for number in range(40)))
    found = [each for each in gc.get_objects() if isinstance(each, ModelServing | ModelServer | ModelRoute)]
    assert len([item for item in fleet.rendered if item.workloads and item.endpoints]) == 40
    assert len([each for each in found if id(each) not in before]) < 40


@pytest.mark.parametrize("name", BOOSTERS)
def test_it_is_one_thing(name: str) -> None:
    item = rendered(BOOSTERS[name])
    assert (item.name, item.namespace, item.model) == ("m", "ns", "m")
    assert {workload.model for workload in item.workloads} <= {"m"}
    for origin in (workload.origin for workload in item.workloads):
        assert origin.problem("x").kind == "ModelBooster"


def test_an_autoscaler_owns_the_replicas_of_its_backend_alone() -> None:
    item = rendered(booster("m", backend(minReplicas=2, **SCALED), backend("c", minReplicas=2)))
    owned, free = item.workloads
    assert "replicas" not in owned.body["spec"]
    assert (owned.replicas, owned.most) == (2, 3)
    assert (free.body["spec"]["replicas"], free.most) == (2, None)
    (scaler,) = item.autoscalers
    assert scaler.target == ("LeaderWorkerSet", "ns", "m-b")


def test_nodes_are_planned_for_what_the_affinity_names() -> None:
    terms = [
        {"matchExpressions": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g6.xlarge"]}]}
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    server = worker(affinity={"nodeAffinity": required}, resources={"limits": {"nvidia.com/gpu": "1"}})
    (workload,) = rendered(booster("m", backend(minReplicas=2, workers=[server]))).workloads
    (demand,) = workload.pods
    assert [choice.instance_type for choice in demand.choices] == ["g6.xlarge"]
    assert (demand.pods, demand.requests["nvidia.com/gpu"]) == (2, Decimal(1))
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in workload.front["spec"][
        "tolerations"
    ]


def test_the_engine_is_known_whatever_its_image_is_called() -> None:
    (workload,) = rendered(booster("m", backend(workers=[worker(image="example.com/own:1")]))).workloads
    assert (workload.server.line.engine, workload.port) == ("vllm", 8000)


def test_what_is_wrong_with_a_part_is_reported_at_the_booster() -> None:
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    config = {"tensor-parallel-size": "many"}
    found = fleet_of(booster("m", backend(workers=[worker(config=config, resources=resources)]))).problems
    for problem in found:
        assert (problem.kind, problem.name) == ("ModelBooster", "m")
        assert problem.path.startswith("spec.backends[0]")


def test_two_boosters_do_not_touch_one_another() -> None:
    first, second = booster("m"), booster("other", backend("x"))
    together = objects_of(fleet_of(first, second))
    assert together == {**objects_of(fleet_of(first)), **objects_of(fleet_of(second))}


def test_a_child_of_the_name_of_another_resource_is_a_clash() -> None:
    found = errors(fleet_of(booster("m", backend("b-c")), booster("m-b", backend("c"))))
    assert any("m-b-c" in problem.reason for problem in found), list(map(str, found))


def test_the_default_namespace_is_that_of_the_options() -> None:
    document = booster("m")
    del document["metadata"]["namespace"]
    assert {body["metadata"]["namespace"] for body in rendered(document, namespace="other").objects} == {"other"}


@pytest.mark.parametrize(("workload", "wrong"), [("auto", False), ("lws", False), ("deployment", True)])
def test_it_is_never_a_deployment(workload: str, wrong: bool) -> None:
    assert bool(errors(fleet_of(booster("m"), workload=workload))) is wrong


def test_the_image_is_the_workers() -> None:
    (workload,) = rendered(booster("m")).workloads
    assert workload.container["image"] == VLLM

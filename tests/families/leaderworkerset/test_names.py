"""Names that the controller of LeaderWorkerSets could not give, for whoever makes the sets.

StatefulSets put their name with a hash of up to ten characters into a label of pods (Kubernetes
``pkg/controller/history``, issue 64023); the controller names a StatefulSet of workers after the leader's pod
(kubernetes-sigs/lws ``pkg/controllers/pod_controller.go``).
"""

from collections.abc import Callable
from typing import Any

import pytest

from components.fleet.words import Realization, WorkloadChoice
from tests import fleets
from tests.families.leaderworkerset.sets import group

Object = dict[str, Any]
TWO = {"size": 2, "workerTemplate": {"spec": {"containers": [fleets.runner()]}}}
FLAVOR = {
    "name": "f",
    "limits": {"nvidia.com/gpu": 8},
    "params": {"INSTANCE-TYPE": "p4d.24xlarge", "TP": "8", "PP": "2"},
}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def _by_hand(name: str, replicas: int, size: int = 2) -> list[Object]:
    made = group(name, size=size)
    made["spec"]["replicas"] = replicas
    return [made]


def _service(name: str, replicas: int, size: int = 2) -> list[Object]:
    model = f"model-{name[:9]}"
    template = {**TWO, "size": size}
    return [fleets.open_model(model), fleets.service(name, model, replicas=replicas, workloadTemplate=template)]


def _playground(name: str, replicas: int, size: int = 2) -> list[Object]:
    model = f"model-{name[:9]}"
    flavors = [FLAVOR] if size == 2 else None
    return [fleets.open_model(model, flavors=flavors), fleets.playground(name, model, replicas=replicas)]


MAKERS: list[Callable[..., list[Object]]] = [_by_hand, _service, _playground]


def name_problems(*documents: Object, **options: Any) -> list[str]:
    """What is wrong with names."""
    problems = fleets.fleet_of(*documents, **{"workload": WorkloadChoice.LWS, **options}).problems
    return [problem.reason for problem in problems if problem.path == "metadata.name"]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("replicas", "size", "most"),
    [(1, 2, 50), (10, 2, 50), (11, 2, 49), (100, 2, 49), (101, 2, 48), (0, 2, 50), (1, 1, 52), (1000, 1, 52)],
)
def test_a_name_has_room_for_what_is_put_behind_it(
    maker: Callable[..., list[Object]], replicas: int, size: int, most: int
) -> None:
    assert name_problems(*maker("a" * most, replicas, size)) == []
    (reason,) = name_problems(*maker("a" * (most + 1), replicas, size))
    assert reason.startswith(f"must be at most {most} characters, found {most + 1}: ")
    assert ("lower" in reason) == (most < 50)


@pytest.mark.parametrize(("most", "length"), [(5, 50), (11, 49), (None, 46)])
def test_the_groups_that_an_autoscaler_may_add_count(most: int | None, length: int) -> None:
    elastic: Object = {"scaleTrigger": {"hpa": {"metrics": [CPU]}}, **({"maxReplicas": most} if most else {})}
    model = fleets.open_model(flavors=[FLAVOR])
    assert name_problems(model, fleets.playground("a" * length, elasticConfig=elastic)) == []
    (reason,) = name_problems(model, fleets.playground("a" * (length + 1), elasticConfig=elastic))
    assert f"at most {length} characters" in reason


def test_the_groups_that_an_update_adds_count() -> None:
    rollout = {"rollingUpdateConfiguration": {"maxUnavailable": 0, "maxSurge": "10%"}}
    made = [fleets.open_model(), fleets.service("a" * 50, replicas=10, workloadTemplate=TWO, rolloutStrategy=rollout)]
    (reason,) = name_problems(*made)
    assert "at most 49 characters" in reason
    assert "<name>-10-<hash>" in reason


def test_sets_that_an_operator_makes_count() -> None:
    (reason,) = name_problems(
        *_playground("a" * 53, 1, 1), workload=WorkloadChoice.AUTO, realization=Realization.OPERATOR
    )
    assert "at most 52" in reason


def test_a_deployment_has_no_such_limit() -> None:
    assert name_problems(*_playground("a" * 60, 1, 1), workload=WorkloadChoice.AUTO) == []


@pytest.mark.parametrize("first", MAKERS)
@pytest.mark.parametrize("second", MAKERS)
@pytest.mark.parametrize(
    ("name", "replicas", "size", "good"),
    [
        ("same-0", 1, 2, False),
        ("same-0", 1, 1, False),
        ("same-4", 5, 2, False),
        ("same-5", 5, 2, True),
        ("same-00", 1, 2, True),
        ("same-x", 1, 2, True),
        ("other-0", 1, 2, True),
    ],
)
def test_two_sets_do_not_take_each_others_workers(
    first: Callable[..., list[Object]],
    second: Callable[..., list[Object]],
    name: str,
    replicas: int,
    size: int,
    *,
    good: bool,
) -> None:
    found = name_problems(*first("same", replicas), *second(name, 1, size))
    assert len(found) == (not good)
    number = name.rpartition("-")[2]
    assert good or f"StatefulSet '{name}' is also generated for group {number} of " in found[0]


def test_sets_of_one_pod_have_no_workers_to_take() -> None:
    assert name_problems(*_by_hand("same", 2, 1), *_by_hand("same-0", 1)) == []


def test_sets_of_other_namespaces_do_not_count() -> None:
    other = group("same-0", size=2)
    other["metadata"]["namespace"] = "other"
    assert name_problems(*_by_hand("same", 2), other) == []


@pytest.mark.parametrize(("policy", "good"), [("UniquePerReplica", False), ("Shared", True)])
def test_a_service_for_each_group_takes_its_name(policy: str, good: bool) -> None:
    own = group("same", size=1)
    own["spec"] |= {"replicas": 2, "networkConfig": {"subdomainPolicy": policy}}
    found = name_problems(own, *_by_hand("same-1", 1, 1))
    assert len(found) == (not good)
    assert good or "Service 'same-1' is also generated for group 1 of " in found[0]


@pytest.mark.parametrize("realization", Realization)
@pytest.mark.parametrize(("name", "good"), [("chat-lb", False), ("chat-other", True)])
def test_the_service_of_a_set_is_not_the_balancer_of_another(
    realization: Realization, name: str, *, good: bool
) -> None:
    forced = WorkloadChoice.LWS if realization.is_native else WorkloadChoice.AUTO
    documents = [*_playground("chat", 1, 1), *_playground(name, 1, 1)]
    found = name_problems(*documents, realization=realization, workload=forced)
    assert len(found) == (not good)
    assert good or "Service 'chat-lb' is also generated" in found[0]


KEY = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
ZONE = {KEY: "topology.kubernetes.io/zone"}


@pytest.mark.parametrize("policy", [None, {"subGroupSize": 2}])
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_topology_of_subgroups_needs_subgroups(policy: Object | None, by_hand: bool) -> None:
    template = {**TWO, **({"subGroupPolicy": policy} if policy else {})}
    made = group("g", ZONE, **template) if by_hand else fleets.service(annotations=ZONE, workloadTemplate=template)
    found = [(p.path, p.reason) for p in fleets.fleet_of(fleets.open_model(), made).problems]
    if policy:
        assert found == []
        return
    assert found == [
        (f"metadata.annotations[{KEY}]", "requires a subGroupPolicy; add one beside size, or remove the annotation")
    ]

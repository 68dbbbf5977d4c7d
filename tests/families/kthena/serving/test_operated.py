"""ModelServings that are left to Kthena's controller, and what that gets wrong (Kthena spec 10)."""

from typing import Any

import pytest

from components.fleet.options import PodOverrides
from components.fleet.words import Realization
from tests.families.kthena.serving.support import (
    LABEL,
    Object,
    engine,
    model_serving,
    pods,
    role,
    served,
    told,
    warned,
)

OPERATOR: dict[str, Any] = {"realization": Realization.OPERATOR}
ROLE = "spec.template.roles[0]"
ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
WIDE = role("a", 1)
TYPE = {"node.kubernetes.io/instance-type": "g5.xlarge"}


def updated(**configuration: Any) -> Object:
    return {"rolloutStrategy": {"rollingUpdateConfiguration": configuration}}


def on_gpus(**spec: Any) -> Object:
    container = engine(resources={"limits": {"nvidia.com/gpu": 1}})
    return role("a", 1, entryTemplate=pods(container, nodeSelector=TYPE, **spec))


VOLCANO = role("a", 1, workerTemplate=pods(engine(), schedulerName="volcano"))
NO_PODS: Object = {"spec": {"containers": []}}
NOTED = pods(engine(), metadata={"annotations": {"a": "b"}})

# The defect, the ModelServing with it, its field, a word of the way out, and one without it.
REFUSED: list[tuple[str, Object, str, str, Object]] = [
    (
        "D-10",
        model_serving("ms", role("a", 1, workerTemplate=NOTED)),
        f"{ROLE}.workerTemplate.metadata.annotations",
        "remove",
        model_serving("ms", WIDE),
    ),
    (
        "D-11",
        model_serving("ms", VOLCANO, template={"networkTopology": {}}),
        "spec.template.networkTopology",
        "gangPolicy: {}",
        model_serving("ms", VOLCANO, template={"networkTopology": {}, "gangPolicy": {}}),
    ),
    (
        "D-09",
        model_serving("ms", WIDE, template={"gangPolicy": {}}),
        f"{ROLE}.workerTemplate.spec.schedulerName",
        "set volcano",
        model_serving("ms", VOLCANO, template={"gangPolicy": {}}),
    ),
    (
        "D-12",
        model_serving("ms", WIDE, recoveryPolicy="None"),
        "spec.recoveryPolicy",
        "ServingGroupRecreate",
        model_serving("ms", WIDE),
    ),
    (
        "no toleration",
        model_serving("ms", on_gpus()),
        f"{ROLE}.entryTemplate.spec.tolerations",
        "{key: nvidia.com/gpu, operator: Exists}",
        model_serving("ms", on_gpus(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}])),
    ),
]


@pytest.mark.parametrize(("_id", "bad", "path", "word", "good"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(_id: str, bad: Object, path: str, word: str, good: Object) -> None:
    found = told(bad, **OPERATOR)
    assert list(found) == [path]
    assert word in found[path]
    assert "realization 'native'" in found[path]
    assert not told(good, **OPERATOR)
    assert not told(bad), "natively it is right"


WARNED: list[tuple[str, Object, str, str, Object]] = [
    (
        "D-13",
        model_serving("ms", role("a"), WIDE | {"name": "b"}),
        "spec.recoveryPolicy",
        "ServingGroupRecreate",
        model_serving("ms", WIDE),
    ),
    (
        "D-13 of a group",
        model_serving("ms", role("a", workerTemplate=NO_PODS), recoveryPolicy="ServingGroupRecreate"),
        f"{ROLE}.workerTemplate",
        "remove it",
        model_serving("ms", role("a"), recoveryPolicy="ServingGroupRecreate"),
    ),
    (
        "D-21 maxUnavailable",
        model_serving("ms", WIDE, replicas=3, **updated(maxUnavailable=2)),
        f"{ROLLOUT}.maxUnavailable",
        "one serving group at a time",
        model_serving("ms", WIDE, replicas=3, **updated(maxUnavailable=1)),
    ),
    (
        "D-21 maxSurge",
        model_serving("ms", WIDE, replicas=3, **updated(maxSurge="50%")),
        f"{ROLLOUT}.maxSurge",
        "one serving group at a time",
        model_serving("ms", WIDE, replicas=3, **updated(maxSurge=0)),
    ),
    (
        "order of names",
        model_serving("ms", WIDE, replicas=11, **updated(partition=1)),
        f"{ROLLOUT}.partition",
        "10 comes before 2",
        model_serving("ms", WIDE, replicas=10, **updated(partition=1)),
    ),
    (
        "D-21 spread",
        model_serving("ms", WIDE, topologySpreadConstraints=[SPREAD]),
        "spec.topologySpreadConstraints",
        "pod templates",
        model_serving("ms", WIDE),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("_id", "document", "path", "word", "good"), WARNED, ids=[row[0] for row in WARNED])
def test_warned(_id: str, document: Object, path: str, word: str, good: Object) -> None:
    found = warned(document, **OPERATOR)
    assert word in found[path]
    assert path not in warned(good, **OPERATOR)


@pytest.mark.parametrize(
    "option", [{"overrides": PodOverrides(labels={"a": "b"})}, {"scheduler_name": "mine"}], ids=["pods", "scheduler"]
)
def test_options_that_reach_no_pod_are_refused(option: dict[str, Any]) -> None:
    (reason,) = told(model_serving("ms", WIDE), **OPERATOR, **option).values()
    assert "applies only to realization 'native'" in reason


def test_nodes_of_which_the_cluster_knows_are_tolerated() -> None:
    assert not told(model_serving("ms", on_gpus()), tolerates_devices=True, **OPERATOR)


def test_the_object_is_created_as_it_is_written() -> None:
    document = model_serving("ms", WIDE, replicas=2)
    item = served(document, **OPERATOR)
    assert item.objects[0]["kind"] == "Service", "what clients call, which the controller does not make"
    written = next(body for body in item.objects if body["kind"] == "ModelServing")
    assert written == document


def test_entry_pods_are_scheduled_by_volcano_with_and_without_a_gang() -> None:
    """v0.1.0 gives them the scheduler of the ModelServing, which must be volcano (V12)."""
    assert served(model_serving("ms", WIDE), **OPERATOR).requires == {"kthena", "volcano"}


def test_pods_are_known_though_nothing_is_made_here() -> None:
    roles = (role("a", 2, replicas=3), role("b"))
    item = served(model_serving("ms", *roles, replicas=2), **OPERATOR)
    first, second = item.workloads
    assert (first.operated, first.bare, first.kind, first.name) == (True, True, "Pod", "ms-a")
    assert [demand.pods for demand in first.pods] == [6, 12]
    assert [demand.pods for demand in second.pods] == [2]
    assert first.selector == {f"{LABEL}/name": "ms", f"{LABEL}/role": "a", f"{LABEL}/entry": "true"}


def test_the_templates_of_such_pods_are_left_alone() -> None:
    (workload,) = served(model_serving("ms", role("a", entryTemplate=pods(engine()))), **OPERATOR).workloads
    spec = workload.front["spec"]
    assert "automountServiceAccountToken" not in spec
    assert "tolerations" not in spec

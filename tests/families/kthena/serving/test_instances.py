"""A ModelServing of several role instances becomes a LeaderWorkerSet for each of them (Kthena spec 3 and 7)."""

from typing import Any

import pytest

from components.fleet.workloads import Workload
from tests.families.kthena.serving.support import (
    LABEL,
    Object,
    engine,
    env_of,
    group_of,
    made,
    model_serving,
    pods,
    role,
    served,
)
from tests.fleets import errors, fleet_of, warnings

PAIR = (role("reader", replicas=2), role("writer", 1))


def sets(*documents: Object) -> list[str]:
    return [name for kind, name in made(*documents) if kind == "LeaderWorkerSet"]


def test_each_instance_of_each_role_of_each_group_is_a_set() -> None:
    """Group and instance count from 0; a set's leader pod is <name>-0, which is what Kthena calls the entry pod."""
    assert sets(model_serving("ms", *PAIR, replicas=2)) == [
        "ms-0-reader-0",
        "ms-0-reader-1",
        "ms-0-writer-0",
        "ms-1-reader-0",
        "ms-1-reader-1",
        "ms-1-writer-0",
    ]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ((role("a", replicas=2),), ["ms-0-a-0", "ms-0-a-1"]),
        ((role("a"), role("b")), ["ms-0-a-0", "ms-0-b-0"]),
        ((role("a", replicas=0), role("b")), ["ms-0-b-0"]),
        ((role("a", replicas=0),), []),
        ((role("a"),), ["ms"]),
    ],
)
def test_one_instance_alone_needs_no_set_of_its_own(roles: tuple[Object, ...], expected: list[str]) -> None:
    assert sets(model_serving("ms", *roles)) == expected


def test_no_groups_are_no_sets() -> None:
    found = made(model_serving("ms", *PAIR, replicas=0))
    assert [kind for kind, _ in found] == ["Service", "Service"]


def test_labels_tell_group_and_instance() -> None:
    group = group_of(made(model_serving("ms", *PAIR, replicas=2))["LeaderWorkerSet", "ms-1-writer-0"])
    own = {
        f"{LABEL}/name": "ms",
        f"{LABEL}/group-name": "ms-1",
        f"{LABEL}/role": "writer",
        f"{LABEL}/role-id": "writer-0",
    }
    assert group["leaderTemplate"]["metadata"]["labels"] == {**own, f"{LABEL}/entry": "true"}
    assert group["workerTemplate"]["metadata"]["labels"] == own


def test_each_set_is_one_group_that_starts_at_once() -> None:
    spec = made(model_serving("ms", *PAIR))["LeaderWorkerSet", "ms-0-writer-0"]["spec"]
    assert (spec["replicas"], spec["leaderWorkerTemplate"]["size"], spec["startupPolicy"]) == (1, 2, "LeaderCreated")


def test_pods_are_told_the_name_that_kthena_gives_the_entry_pod() -> None:
    """The docs of Kthena say pod.service.namespace, its code service.namespace (Kthena spec 3.2)."""
    group = group_of(made(model_serving("ms", *PAIR, replicas=2))["LeaderWorkerSet", "ms-1-writer-0"])
    for part in ("leaderTemplate", "workerTemplate"):
        env = env_of(group[part]["spec"]["containers"][0])
        assert env["ENTRY_ADDRESS"] == "ms-1-writer-0-0.ns"
        assert (env["GROUP_SIZE"], env["WORKER_INDEX"]) == ("$(LWS_GROUP_SIZE)", "$(LWS_WORKER_INDEX)")


def test_that_name_is_a_headless_service_of_the_entry_pod_alone() -> None:
    service = made(model_serving("ms", *PAIR))["Service", "ms-0-writer-0-0"]
    assert service["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {
            f"{LABEL}/name": "ms",
            f"{LABEL}/role": "writer",
            f"{LABEL}/entry": "true",
            f"{LABEL}/group-name": "ms-0",
            f"{LABEL}/role-id": "writer-0",
        },
    }


def test_there_is_one_wherever_there_is_a_template_of_workers() -> None:
    """Also of none, which is how upstream's samples ask for it; without a template there is none."""
    none = role("reader", 0, workerTemplate={"spec": {"containers": []}})
    names = {name for kind, name in made(model_serving("ms", none, role("writer"))) if kind == "Service"}
    assert names == {"ms-reader", "ms-writer", "ms-0-reader-0-0"}


def test_the_instances_of_a_role_are_looked_at_as_one() -> None:
    found = [w for w in served(model_serving("ms", *PAIR, replicas=2)).workloads if w.role == "reader"]
    assert {w.pod_set.name for w in found} == {"ms-reader"}
    assert found[0].selector == {f"{LABEL}/name": "ms", f"{LABEL}/role": "reader", f"{LABEL}/entry": "true"}
    assert found[0].group == {f"{LABEL}/name": "ms"}, "prefill hands its cache to decode"


def pods_in(workloads: tuple[Workload, ...]) -> int:
    return sum(demand.pods for workload in workloads for demand in workload.pods)


def test_pods_are_those_of_kthena() -> None:
    """Pods of a group: the sum over roles of (1 + workers) times replicas (Kthena spec 3.1)."""
    item = served(model_serving("ms", *PAIR, replicas=3))
    assert pods_in(item.workloads) == 3 * (2 * 1 + 1 * 2)


def problems(document: Object, severity: str) -> dict[str, str]:
    fleet = fleet_of(document)
    found = errors(fleet) if severity == "error" else warnings(fleet)
    return {problem.path: problem.reason for problem in found}


def test_groups_cannot_be_made_again_as_one() -> None:
    reason = problems(model_serving("ms", *PAIR, recoveryPolicy="ServingGroupRecreate"), "error")[
        "spec.recoveryPolicy"
    ]
    assert "realization 'operator'" in reason
    alone = model_serving("ms", role("a", 1), template={"gangPolicy": {}}, recoveryPolicy="ServingGroupRecreate")
    assert sets(alone) == ["ms-0-a-0"]
    assert problems(alone, "error") == {}


@pytest.mark.parametrize(("policy", "restart"), [("RoleRecreate", "RecreateGroupOnPodRestart"), ("None", "None")])
def test_recovery_of_an_instance(policy: str, restart: str) -> None:
    found = made(model_serving("ms", *PAIR, recoveryPolicy=policy))["LeaderWorkerSet", "ms-0-reader-0"]
    assert group_of(found)["restartPolicy"] == restart


def rollout(**configuration: Any) -> Object:
    return model_serving("ms", *PAIR, replicas=3, rolloutStrategy={"rollingUpdateConfiguration": configuration})


def test_what_a_rollout_loses_is_told() -> None:
    path = "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
    assert "realization 'operator'" in problems(rollout(partition=1), "error")[path]
    assert problems(rollout(partition=0), "error") == {}
    assert "all 3 serving groups at once" in problems(rollout(maxUnavailable=2), "warning")["spec.replicas"]
    assert problems(model_serving("ms", *PAIR), "warning").keys() & {"spec.replicas"} == set()


def test_sets_are_no_thousands() -> None:
    most = model_serving("ms", role("a", replicas=500), role("b", replicas=500))
    assert len(sets(most)) == 1000
    more = model_serving("ms", role("a", replicas=1000), role("b"))
    assert "1001 role instances" in problems(more, "error")["spec.replicas"]
    assert problems(model_serving("ms", role("a", replicas=2**31 - 1), replicas=2**31 - 1), "error")


def test_a_name_that_is_too_long_for_pods_is_told_of_the_set() -> None:
    """At most 50 characters: the hash of a StatefulSet's revision and the group's number stand behind it."""
    assert not problems(model_serving("a" * 39, role("r", 1), role("s", 1)), "error")
    name = "a" * 45
    (reason,) = problems(model_serving(name, role("r", 1), role("s", 1)), "error").values()
    assert f"LeaderWorkerSet '{name}-0-r-0'" in reason
    assert "at most 50" in reason


def test_names_that_are_put_together_alike_are_told() -> None:
    """The entry pod of role a and the set of role a-0 are both called ms-0-a-0-0."""
    clash = model_serving("ms", role("a", 1), role("a-0", 1))
    assert any("would be generated twice" in p.reason for p in errors(fleet_of(clash)))


def test_a_role_without_a_known_port_has_no_service() -> None:
    unknown = role("cpu", entryTemplate=pods({"name": "c", "image": "example.com/own:1"}))
    found = made(model_serving("ms", unknown, role("gpu")))
    assert [name for kind, name in found if kind == "Service"] == ["ms-gpu"]
    path = "spec.template.roles[0].entryTemplate.spec.containers[0].ports"
    assert "containerPort" in problems(model_serving("ms", unknown, role("gpu")), "warning")[path]


def test_every_declared_port_is_reached() -> None:
    """What listens for requests first; the runtime of Kthena beside it has a port of its own."""
    runtime = {"name": "runtime", "image": "ghcr.io/volcano-sh/runtime:v0.1.0", "ports": [{"containerPort": 8100}]}
    kv = [{"containerPort": 8000}, {"containerPort": 20001}, {"containerPort": 5, "protocol": "UDP"}]
    entry = pods(runtime, engine(ports=kv))
    service = made(model_serving("ms", role("leader", entryTemplate=entry)))["Service", "ms-leader"]
    assert [(port["name"], port["port"]) for port in service["spec"]["ports"]] == [
        ("http", 8000),
        ("port-8100", 8100),
        ("port-20001", 20001),
    ]

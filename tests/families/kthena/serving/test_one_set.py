"""A ModelServing whose serving groups are one role instance each becomes one LeaderWorkerSet (Kthena spec 7)."""

from typing import Any

import pytest

from tests.families.kthena.serving.support import (
    LABEL,
    engine,
    env_of,
    group_of,
    made,
    model_serving,
    pods,
    role,
    served,
)

SPREAD = role("leader", 3)
ENTRY_LABELS = {f"{LABEL}/name": "ms", f"{LABEL}/role": "leader", f"{LABEL}/entry": "true"}


def test_a_set_of_its_name_has_a_group_for_each_serving_group() -> None:
    body = made(model_serving("ms", SPREAD, replicas=2))["LeaderWorkerSet", "ms"]
    assert (body["spec"]["replicas"], group_of(body)["size"]) == (2, 4)
    assert body["spec"]["startupPolicy"] == "LeaderCreated"


def test_labels_tell_name_role_and_entry() -> None:
    group = group_of(made(model_serving("ms", SPREAD))["LeaderWorkerSet", "ms"])
    assert group["leaderTemplate"]["metadata"]["labels"] == ENTRY_LABELS
    assert group["workerTemplate"]["metadata"]["labels"] == {
        f"{LABEL}/name": "ms",
        f"{LABEL}/role": "leader",
    }


def test_without_workers_the_entry_pod_is_the_whole_group() -> None:
    group = group_of(made(model_serving("ms"))["LeaderWorkerSet", "ms"])
    assert (group["size"], "leaderTemplate" in group) == (1, False)
    assert group["workerTemplate"]["metadata"]["labels"] == ENTRY_LABELS


@pytest.mark.parametrize("part", ["leaderTemplate", "workerTemplate"])
def test_every_container_knows_its_group(part: str) -> None:
    """Also init containers; variables of the same names give way."""
    own = [{"name": "WORKER_INDEX", "value": "7"}, {"name": "RANK", "value": "$(WORKER_INDEX)"}]
    template = pods(engine(env=own), {"name": "other", "image": "b"}, initContainers=[{"name": "i", "image": "a"}])
    spread = role("leader", 1, entryTemplate=template, workerTemplate=template)
    pod = group_of(made(model_serving("ms", spread))["LeaderWorkerSet", "ms"])[part]["spec"]
    expected = {
        "GROUP_SIZE": "$(LWS_GROUP_SIZE)",
        "ENTRY_ADDRESS": "$(LWS_LEADER_ADDRESS)",
        "WORKER_INDEX": "$(LWS_WORKER_INDEX)",
    }
    for container in (*pod["initContainers"], *pod["containers"]):
        assert expected.items() <= env_of(container).items()
    names = [variable["name"] for variable in pod["containers"][0]["env"]]
    assert names == [*expected, "RANK"], "what refers to another variable stands behind it"


@pytest.mark.parametrize(
    ("policy", "restart"),
    [
        ({}, "RecreateGroupOnPodRestart"),
        ({"recoveryPolicy": "RoleRecreate"}, "RecreateGroupOnPodRestart"),
        ({"recoveryPolicy": "ServingGroupRecreate"}, "RecreateGroupOnPodRestart"),
        ({"recoveryPolicy": "None"}, "None"),
    ],
)
def test_recovery(policy: dict[str, Any], restart: str) -> None:
    assert group_of(made(model_serving("ms", SPREAD, **policy))["LeaderWorkerSet", "ms"])["restartPolicy"] == restart


@pytest.mark.parametrize(
    ("written", "bounds"),
    [
        (None, {"maxUnavailable": 1, "maxSurge": 0}),
        ({"maxUnavailable": "50%", "maxSurge": 1}, {"maxUnavailable": "50%", "maxSurge": 1}),
        ({"partition": 1}, {"maxUnavailable": 1, "maxSurge": 0, "partition": 1}),
    ],
)
def test_rollout(written: dict[str, Any] | None, bounds: dict[str, Any]) -> None:
    strategy = {"rolloutStrategy": {"rollingUpdateConfiguration": written}} if written else {}
    body = made(model_serving("ms", replicas=2, **strategy))["LeaderWorkerSet", "ms"]
    assert body["spec"]["rolloutStrategy"] == {"type": "RollingUpdate", "rollingUpdateConfiguration": bounds}


def test_the_service_of_the_role_takes_requests_for_entry_pods() -> None:
    service = made(model_serving("ms", SPREAD))["Service", "ms-leader"]
    assert service["spec"]["selector"] == ENTRY_LABELS
    assert service["spec"]["ports"] == [{"name": "http", "port": 8000, "protocol": "TCP", "targetPort": 8000}]


def test_the_endpoint_is_the_service() -> None:
    (endpoint,) = served(model_serving("ms", SPREAD, replicas=3)).endpoints
    assert endpoint.url == "http://ms-leader.ns.svc.cluster.local:8000/v1"
    assert (endpoint.name, endpoint.model, endpoint.backends[0].share) == ("ms", "org/name", 3)
    assert endpoint.backends[0].workload == "ms"


def test_it_needs_leader_worker_sets_alone() -> None:
    assert served(model_serving("ms", SPREAD)).requires == {"leaderworkerset"}

"""The stand-in for the controller of LeaderWorkerSets, held against what v0.10.0 is written to do."""

import hashlib
from typing import Any

from tests.group_pods import pods_of, service_of
from tests.kubelet import environment

Object = dict[str, Any]
LABEL = "leaderworkerset.sigs.k8s.io"


def group_set(**template: Any) -> Object:
    worker: Object = {
        "metadata": {"labels": {"app": "w"}},
        "spec": {
            "containers": [{"name": "c", "env": [{"name": "SIZE", "value": "$(LWS_GROUP_SIZE)"}]}],
            "initContainers": [{"name": "i"}],
        },
    }
    return {
        "metadata": {"name": "big", "namespace": "models"},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": worker, **template}},
    }


def test_names_and_labels() -> None:
    pods = list(pods_of(group_set()))
    assert [pod["metadata"]["name"] for pod in pods] == ["big-0", "big-0-1", "big-0-2", "big-1", "big-1-1", "big-1-2"]
    assert pods[4]["metadata"]["labels"] == {
        "app": "w",
        f"{LABEL}/name": "big",
        f"{LABEL}/group-index": "1",
        f"{LABEL}/worker-index": "1",
        f"{LABEL}/group-key": hashlib.sha1(b"models/big-1").hexdigest(),
    }
    assert pods[4]["metadata"]["annotations"] == {f"{LABEL}/size": "3", f"{LABEL}/leader-name": "big-1"}
    assert pods[3]["metadata"]["annotations"] == {f"{LABEL}/size": "3"}


def test_variables_come_first_in_every_container() -> None:
    """User-written ones may refer to them: the kubelet knows only what stands before."""
    spec = list(pods_of(group_set()))[4]["spec"]
    for container in (*spec["containers"], *spec["initContainers"]):
        names = [entry["name"] for entry in container["env"]]
        assert names[:3] == ["LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"]
    assert environment(spec["containers"][0], {}) == {
        "LWS_LEADER_ADDRESS": "big-1.big.models",
        "LWS_GROUP_SIZE": "3",
        "LWS_WORKER_INDEX": "1",
        "SIZE": "3",
    }


def test_a_variable_of_such_a_name_is_overridden() -> None:
    spec = {"containers": [{"name": "c", "env": [{"name": "LWS_GROUP_SIZE", "value": "9"}]}]}
    pod = next(pods_of(group_set(workerTemplate={"spec": spec})))
    assert environment(pod["spec"]["containers"][0], {})["LWS_GROUP_SIZE"] == "3"


def test_leaders_have_a_template_of_their_own() -> None:
    leader = {"metadata": {"labels": {"app": "l"}}, "spec": {"containers": [{"name": "l"}]}}
    found = [pod["metadata"]["labels"]["app"] for pod in pods_of(group_set(leaderTemplate=leader))]
    assert found == ["l", "w", "w", "l", "w", "w"]


def test_a_group_of_one_has_a_leader_alone() -> None:
    assert [pod["metadata"]["name"] for pod in pods_of(group_set(size=1))] == ["big-0", "big-1"]


def test_the_pods_have_names_under_one_service() -> None:
    service = service_of(group_set())
    assert service["spec"] == {
        "clusterIP": "None",
        "selector": {f"{LABEL}/name": "big"},
        "publishNotReadyAddresses": True,
    }
    for pod in pods_of(group_set()):
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (pod["metadata"]["name"], "big")
        assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()


def test_what_a_server_has_stored_takes_its_pods_along() -> None:
    stored = group_set()
    stored["metadata"]["uid"] = "u"
    for made in (*pods_of(stored), service_of(stored)):
        (owner,) = made["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("LeaderWorkerSet", "big", "u")

"""LeaderWorkerSets with their real controller, and pods that the process plays."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from livefleet.control_api import LiveFault
from livefleet.fleet import ServedWorkload
from livefleet.pods import kubelet
from tests.group_pods import API, KIND, LABEL, pods_of, service_of
from tests.kubelet import environment
from tests.livefleet.pods.stand import MANAGER, Stand, is_ready, pod_template, slower
from tests.monitoring.programs.daemon import eventually
from toolkit.kube import KubeError

Json = dict[str, Any]
NAME = "big"
pytestmark = pytest.mark.usefixtures("live_groups")


def group_set(stand: Stand, replicas: int, size: int = 2, image: str = "one", **spec: Any) -> Json:
    template = pod_template(NAME, stand.namespace)
    template["spec"]["containers"][0]["image"] = image
    worker = pod_template(NAME, stand.namespace)
    worker["spec"]["containers"] = [{**worker["spec"]["containers"][0], "image": image}]
    del worker["spec"]["containers"][0]["readinessProbe"]
    leaders = {"leaderTemplate": template, "workerTemplate": worker, "size": size}
    policy = {"restartPolicy": "RecreateGroupOnPodRestart"}
    return {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {"name": NAME, "namespace": stand.namespace},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {**leaders, **policy}, **spec},
    }


def served(stand: Stand, **rest: Any) -> ServedWorkload:
    selector = {"app": NAME, f"{LABEL}/worker-index": "0"}
    return stand.workload(name=NAME, kind=KIND, selector=selector, group={f"{LABEL}/name": NAME}, **rest)


def status(stand: Stand) -> Json:
    found: Json = stand.kube.get(API, KIND, NAME, stand.namespace).get("status") or {}
    return found


def statuses_since(stand: Stand, version: str) -> Iterator[Json]:
    """Every status that was written after a resource version: looking at it now and then would miss some."""
    last = stand.kube.get(API, KIND, NAME, stand.namespace)["metadata"]["resourceVersion"]
    for _, found in stand.kube.watch(API, KIND, version):
        if found["metadata"].get("namespace") == stand.namespace:
            yield found["status"]
        if found["metadata"]["resourceVersion"] == last:
            return


def true_conditions(found: Mapping[str, Any]) -> set[str]:
    return {each["type"] for each in found.get("conditions", ()) if each["status"] == "True"}


def ready_groups(stand: Stand, wanted: int) -> bool:
    return bool(status(stand).get("readyReplicas") == wanted)


def names(stand: Stand) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in stand.pods())


def test_groups_come_go_and_take_their_pods_along(stand: Stand) -> None:
    group = stand.group("gpu", nodes=8, least=8)
    with stand.playing(stand.fleet(served(stand), groups=(group,))):
        stand.kube.apply(group_set(stand, 2), manager=MANAGER)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available")
        assert names(stand) == ["big-0", "big-0-1", "big-1", "big-1-1"]
        found = status(stand)
        assert (found["replicas"], found["readyReplicas"], found["updatedReplicas"]) == (2, 2, 2)
        assert found["hpaPodSelector"] == f"{LABEL}/name=big,{LABEL}/worker-index=0"
        reasons = {each["type"]: (each["reason"], each["message"]) for each in found["conditions"]}
        assert reasons["Available"] == ("AllGroupsReady", "All replicas are ready")
        assert stand.kube.get("v1", "Service", NAME, stand.namespace)["spec"]["clusterIP"] == "None"
        model = stand.control.state().models[0]
        assert (model.replicas, model.ready) == (2, 2)
        # Four nodes at a dollar an hour, and all their pods.
        assert model.usd_per_hour == pytest.approx(4.0)
        pods = {pod.name.partition("/")[2]: pod for pod in stand.control.state().pods}
        assert sorted(pods) == ["big-0", "big-0-1", "big-1", "big-1-1"]
        assert len({pod.node for pod in pods.values()}) == 4
        assert all(pod.ready for pod in pods.values())
        assert stand.ask(NAME)[0] == 200
        # Up and down, through the scale subresource as an autoscaler does it.
        path = f"{stand.kube.path(API, KIND, NAME, stand.namespace)}/scale"
        for replicas in (3, 1):
            patch = {"spec": {"replicas": replicas}}
            stand.kube.request("PATCH", path, body=patch, content_type="application/merge-patch+json")
            eventually(partial(ready_groups, stand, replicas), f"{replicas} groups")
        eventually(lambda: names(stand) == ["big-0", "big-0-1"], "one group")
        stand.kube.delete(API, KIND, NAME, stand.namespace)
        # The garbage collector of Kubernetes, which looks for new kinds every thirty seconds.
        eventually(lambda: not stand.pods(), "no pods", 60)


def test_a_changed_template_reaches_one_group_after_the_other(stand: Stand) -> None:
    group = stand.group("gpu", nodes=8, least=8)
    with stand.playing(stand.fleet(served(stand), groups=(group,))):
        stand.kube.apply(group_set(stand, 3), manager=MANAGER)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available")
        before = stand.kube.get(API, KIND, NAME, stand.namespace)["metadata"]["resourceVersion"]

        def updated() -> bool:
            images = {pod["spec"]["containers"][0]["image"] for pod in stand.pods()}
            return images == {"two"} and true_conditions(status(stand)) == {"Available"}

        stand.kube.apply(group_set(stand, 3, image="two"), manager=MANAGER)
        eventually(updated, "every group of the new template")
        assert min(each["readyReplicas"] for each in statuses_since(stand, before)) == 2
        assert status(stand)["updatedReplicas"] == 3


@pytest.mark.parametrize(("victim", "policy", "same"), [
    ("big-0-1", "RecreateGroupOnPodRestart", False),
    ("big-0", "RecreateGroupOnPodRestart", False),
    ("big-0-1", "None", True),
])  # fmt: skip
def test_a_pod_that_ends_takes_its_group_along(stand: Stand, victim: str, policy: str, same: bool) -> None:
    group = stand.group("gpu", nodes=8, least=8)
    wanted = group_set(stand, 2)
    wanted["spec"]["leaderWorkerTemplate"]["restartPolicy"] = policy
    with stand.playing(stand.fleet(served(stand), groups=(group,))):
        stand.kube.apply(wanted, manager=MANAGER)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available")
        before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in stand.pods()}
        path = stand.kube.path("v1", "Pod", victim, stand.namespace)
        stand.kube.request("DELETE", path, body={"gracePeriodSeconds": 0})

        expected = {victim} if same else {"big-0", "big-0-1"}

        def whole() -> bool:
            # The controller may replace the victim before it learns that the old one ended, and the status is that
            # of its last round: both are right only for a moment.
            pods = stand.pods()
            now = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
            replaced = {name for name, uid in now.items() if uid != before.get(name)}
            ready = now.keys() == before.keys() and all(map(is_ready, pods))
            return ready and replaced == expected and true_conditions(status(stand)) == {"Available"}

        eventually(whole, f"{' and '.join(sorted(expected))} replaced, and no other pod")


def test_workers_wait_for_their_leader_where_the_set_says_so(stand: Stand) -> None:
    workload = slower(served(stand), pod=3600.0)
    group = stand.group("gpu", nodes=8, least=8)
    with stand.playing(stand.fleet(workload, groups=(group,)), starts=1.0):
        stand.kube.apply(group_set(stand, 1, startupPolicy="LeaderReady"), manager=MANAGER)
        eventually(lambda: names(stand) == ["big-0", "big-0-1"], "leader and worker")
        stamps = {pod["metadata"]["name"]: pod for pod in stand.pods()}
        leader = next(c for c in stamps["big-0"]["status"]["conditions"] if c["type"] == "Ready")
        assert leader["lastTransitionTime"] <= stamps["big-0-1"]["metadata"]["creationTimestamp"]


def test_a_leader_that_is_killed_is_cold_the_next_time(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that comes again is none of the first; its set is older than that."""
    workload = slower(served(stand), pod=3600.0)
    group = stand.group("gpu", nodes=8, least=8)
    with stand.playing(stand.fleet(workload, groups=(group,)), starts=1.0) as process:
        stand.kube.apply(group_set(stand, 1), manager=MANAGER)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available")
        monkeypatch.setattr(kubelet, "WARM_SECONDS", 0.0)
        stand.control.fault(LiveFault.POD, "big-0")
        eventually(lambda: true_conditions(status(stand)) == {"Progressing"}, "the set without its leader")
        eventually(lambda: stand.control.state().models[0].starting == 1, "a leader that starts")
        process.speed(None, 100_000.0)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available again")


def test_the_webhooks_refuse_and_complete(stand: Stand) -> None:
    subgroups = group_set(stand, 1, size=4)
    subgroups["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": 2}
    stand.kube.apply(group_set(stand, 1), manager=MANAGER)
    with pytest.raises(KubeError, match="cannot enable subGroupSize after the lws is already created"):
        stand.kube.apply(subgroups, manager=MANAGER)
    stored = stand.kube.get(API, KIND, NAME, stand.namespace)
    assert stored["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}


def test_the_pods_are_those_that_other_tests_expect(stand: Stand) -> None:
    """``tests/group_pods.py`` says what the controller creates, for tests without it."""
    wanted = group_set(stand, 2, size=3)
    stand.kube.apply(wanted, manager=MANAGER)
    expected = {pod["metadata"]["name"]: pod for pod in pods_of(wanted)}
    eventually(lambda: names(stand) == sorted(expected), "the pods")
    for pod in stand.pods():
        like = expected[pod["metadata"]["name"]]
        assert like["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
        assert like["metadata"]["annotations"].items() <= pod["metadata"]["annotations"].items()
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (like["spec"]["hostname"], NAME)
        (container,), (other,) = pod["spec"]["containers"], like["spec"]["containers"]
        assert environment(container, {}) == environment(other, {})
    service = stand.kube.get("v1", "Service", NAME, stand.namespace)
    assert service_of(wanted)["spec"].items() <= service["spec"].items()


def test_a_worker_that_is_lost_breaks_what_its_leader_computes(stand: Stand) -> None:
    group = stand.group("gpu", nodes=4, least=4)
    with stand.playing(stand.fleet(served(stand, context=200_000), groups=(group,))), ThreadPoolExecutor(1) as pool:
        stand.kube.apply(group_set(stand, 1), manager=MANAGER)
        eventually(lambda: true_conditions(status(stand)) == {"Available"}, "the set available")
        sent = pool.submit(stand.ask, NAME, 100_000)
        eventually(lambda: stand.control.state().models[0].running == 1, "a request that runs")
        (worker,) = (pod for pod in stand.control.state().pods if pod.name.endswith("/big-0-1"))
        outcome = stand.control.fault(LiveFault.NODE, worker.node)
        assert (outcome.pods, outcome.broken) == ((worker.name,), 1)
        assert isinstance(sent.exception(30), ConnectionError)

        def whole() -> bool:
            nodes = {pod.node for pod in stand.control.state().pods}
            return len(nodes) == 2 and worker.node not in nodes and true_conditions(status(stand)) == {"Available"}

        eventually(whole, "the group whole again, elsewhere")
        assert stand.ask(NAME)[0] == 200

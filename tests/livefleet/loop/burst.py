"""A model under a load that comes and goes, and what is seen of the fleet meanwhile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from components.families import objects
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.resources.serving.simulated_nodes import node_object, simulated_count
from livefleet.control_api import GroupState, ModelState
from livefleet.control_client import ControlClient
from livefleet.folder import LiveFolder
from livefleet.load.arrivals import Lengths, Range
from livefleet.load.client import LoadTarget
from livefleet.load.outcomes import Tally
from livefleet.load.runner import Users, run
from livefleet.pods.kubelet import WARM
from tests.fleets import open_model, playground
from tests.monitoring.programs.daemon import eventually
from tests.monitoring.simulated.workload import MANAGER, apply_namespace, pods_metric
from toolkit.kube import Kube

Json = dict[str, Any]
MOST = 3
BATCH = 4
"""Requests that a replica computes at once; more of them wait."""
QUEUE = "vllm:num_requests_waiting"
_INSTANCE = "g5.2xlarge"
_CONNECTED = 3.0
"""Seconds for which connections are used again."""
_LENGTHS = Lengths(Range(32, 64), Range(48, 64))


def manifests() -> list[Json]:
    """A model with one GPU, which fills its node, and an autoscaler that follows its queue at once."""
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": _INSTANCE}}
    at_once = {direction: {"stabilizationWindowSeconds": 0} for direction in ("scaleUp", "scaleDown")}
    trigger = {"hpa": {"metrics": [pods_metric(QUEUE, "4")], "behavior": at_once}}
    arguments = ["--max-model-len", "8192", "--max-num-seqs", str(BATCH)]
    model = open_model("qwen", "Qwen/Qwen2.5-7B-Instruct", flavors=[flavor])
    chat = playground(
        "chat",
        model="qwen",
        elasticConfig={"minReplicas": 1, "maxReplicas": MOST, "scaleTrigger": trigger},
        backendRuntimeConfig={"backendName": "vllm", "args": arguments},
    )
    return [model, chat]


def planned(namespace: str) -> Plan:
    """Plan the model.

    Raises:
        AssertionError: there is an error.
    """
    found = plan(objects(manifests()), Environment(options=Options(namespace=namespace)))
    assert [str(each) for each in found.problems if each.severity == "error"] == []
    return found


def deploy(kube: Kube, found: Plan, namespace: str) -> None:
    """Do what ``up`` does: nodes in steps of eight, then what the models need.

    Soon after the deployment of a model its pods are warm, and their nodes there at once. Here none is, so that the
    burst need not wait until that is over.
    """
    for group in found.groups:
        for index in range(simulated_count(group)):
            kube.apply(node_object(group, index), manager=MANAGER)
    apply_namespace(kube, namespace)
    for body in found.objects:
        kube.apply(cold(body) if body["kind"] == "Deployment" else body, manager=MANAGER)


def cold(workload: Json) -> Json:
    """Return a workload whose pods all take their time to start."""
    template = workload["spec"]["template"]
    metadata = template["metadata"]
    annotations = {**metadata.get("annotations", {}), WARM: "false"}
    template = {**template, "metadata": {**metadata, "annotations": annotations}}
    return {**workload, "spec": {**workload["spec"], "template": template}}


@dataclass(frozen=True, slots=True)
class Moment:
    """The model and its nodes, as the process behind the pods says."""

    model: ModelState
    group: GroupState


@dataclass
class Observer:
    """Looks at the fleet until it is told to stop."""

    control: ControlClient
    moments: list[Moment] = field(default_factory=list)

    @property
    def last(self) -> Moment:
        """What was seen last."""
        return self.moments[-1]

    def look(self) -> Moment:
        """Look once."""
        state = self.control.state()
        (model,), (group,) = state.models, state.groups
        self.moments.append(Moment(model, group))
        return self.last

    def until(self, condition: Callable[[Moment], bool], what: str, seconds: float = 60.0) -> None:
        """Wait for a condition.

        Raises:
            AssertionError: it never came; the message has what was seen last.
        """
        try:
            eventually(lambda: condition(self.look()), what, seconds, pause=0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.last}") from None


@contextmanager
def asking(target: LoadTarget, users: int, think: float, groups: int = 1) -> Iterator[list[Tally]]:
    """Let users ask one request after the other until the end; what became of all is in the list then.

    Args:
        target: what is asked.
        users: how many there are in a group.
        think: seconds between an answer and the next request.
        groups: of users. Each renews its connections now and then, and others go on meanwhile.
    """
    ended, tallies = threading.Event(), []

    def ask(group: int) -> None:
        number = 0
        while not ended.is_set():
            number += 1
            load = Users(users, think, _CONNECTED + group, _LENGTHS, seed=groups * number + group)
            tallies.append(run(target, load, "", lambda *_: None)[0])

    threads = [threading.Thread(target=ask, args=[group]) for group in range(groups)]
    for thread in threads:
        thread.start()
    try:
        yield tallies
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def chat_at(folder: LiveFolder, title: str, model: str) -> LoadTarget:
    """Return the endpoint of a resource on loopback."""
    return LoadTarget(folder.addresses().endpoints[title].rstrip("/"), model)

"""A resource whose pods are found by labels of their own: several equal sets of one role, or pods without any set."""

import copy
from collections.abc import Callable
from dataclasses import replace

from components.fleet.rendered import Fleet, Rendered
from components.fleet.workloads import PodSet, Workload
from tests.fleets import GPU, fleet_of, open_model, playground

TWO_NODES = [{"name": "two", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
GROUP = {"example.com/set": "p"}
FRONT = {**GROUP, "example.com/role": "lead", "example.com/entry": "true"}
SET = PodSet("p-lead", FRONT, GROUP)


def parts(count: int, pods: PodSet = SET) -> Fleet:
    """A model whose one role is some LeaderWorkerSets of one replica each."""
    return _with(lambda workload: tuple(_part(workload, number, pods) for number in range(count)))


def bare(pods: PodSet = SET) -> Fleet:
    """A model whose pods an operator makes one by one, two of each replica."""
    return _with(lambda workload: (replace(_named(workload, pods.name), operated=True, bare=True, part_of=pods),))


def _with(made: Callable[[Workload], tuple[Workload, ...]]) -> Fleet:
    fleet = fleet_of(open_model(flavors=[GPU]), playground(), workload="lws")
    (item,) = fleet.rendered
    (workload,) = item.workloads
    (endpoint,) = item.endpoints
    backends = tuple(replace(backend, workload=SET.name) for backend in endpoint.backends)
    changed: Rendered = replace(item, workloads=made(workload), endpoints=(replace(endpoint, backends=backends),))
    return replace(fleet, rendered=(changed,))


def _part(workload: Workload, number: int, pods: PodSet) -> Workload:
    return replace(_named(workload, f"p-{number}-lead-0"), part_of=pods)


def _named(workload: Workload, name: str) -> Workload:
    body = copy.deepcopy(workload.body)
    body["metadata"]["name"] = name
    return replace(workload, body=body)

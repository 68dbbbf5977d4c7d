"""A resource whose pods are found by labels of their own: several equal sets of one role, or pods without any set."""

import copy
from collections.abc import Callable
from dataclasses import replace

from components.fleet.endpoints import Backend, Router
from components.fleet.rendered import Fleet, Rendered
from components.fleet.workloads import PodSet, Workload
from tests.fleets import GPU, fleet_of, open_model, playground

TWO_NODES = [{"name": "two", "limits": {"nvidia.com/gpu": 1}, "params": {"TP": "1", "PP": "2"}}]
GROUP = {"example.com/set": "p"}
FRONT = {**GROUP, "example.com/role": "lead", "example.com/entry": "true"}
SET = PodSet("p-lead", FRONT, GROUP)
HELP = {**GROUP, "example.com/role": "help", "example.com/entry": "true"}
HELPERS = PodSet("p-help", HELP, GROUP)
ROUTER = Router("routers", {"app": "router"}, (SET.name,))


def parts(count: int, pods: PodSet = SET) -> Fleet:
    """A model whose one role is some LeaderWorkerSets of one replica each."""
    return _with(lambda workload: tuple(_part(workload, number, pods) for number in range(count)))


def roles() -> Fleet:
    """A model of which one role takes requests, and another one helps it."""
    return _with(lambda workload: (_part(workload, 0, SET), replace(_named(workload, "p-0-help-0"), part_of=HELPERS)))


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


def behind_router(fleet: Fleet, *, also_directly: bool = False) -> Fleet:
    """The same model, asked through a router in a namespace of its own."""
    (item,) = fleet.rendered
    (endpoint,) = item.endpoints
    router = Backend("router", "routers", 80, "", 1, router=ROUTER)
    backends = (router, *(endpoint.backends if also_directly else ()))
    url = "http://router.routers.svc.cluster.local:80/v1"
    changed = replace(endpoint, backends=backends, url=url, body=None)
    return replace(fleet, rendered=(replace(item, endpoints=(changed,)),))

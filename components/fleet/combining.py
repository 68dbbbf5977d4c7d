"""How resources of a fleet interact: shared objects, clashing names, autoscalers for one another's workloads."""

import copy
from collections.abc import Iterable
from dataclasses import replace

from ..api.problems import Problem
from .autoscalers import Autoscaler
from .demand import PodDemand
from .objects import LEADER_WORKER_SET, Key, Object, key_of
from .rendered import Rendered
from .workloads import Workload


def shared_items(rendered: Iterable[Rendered]) -> tuple[Rendered, ...]:
    """Create each object that several resources share once, for the first that needs it."""
    shared: dict[tuple[str, str, str], tuple[Object, Rendered]] = {}
    for item in rendered:
        for body in item.shared:
            kind, namespace, name = key_of(body)
            shared.setdefault((namespace, kind, name), (body, item))
    # A copy of the source: who looks for the item of a resource by its source shall not find these.
    return tuple(
        Rendered(replace(item.source), kind, name, namespace, others=(body,))
        for (namespace, kind, name), (body, item) in sorted(shared.items(), key=lambda entry: entry[0])
    )


def without_clashes(rendered: list[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Report objects that two resources would both create, and return the rest."""
    makers: dict[Key, Rendered] = {}
    problems, unique = [], []
    for item in rendered:
        keys = list(_keys_of(item))
        taken = next((key for key in keys if key in makers), None)
        if taken is None:
            makers.update(dict.fromkeys(keys, item))
            unique.append(item)
            continue
        reason = f"{taken[0]} {taken[2]!r} is also generated for {makers[taken].source.where}; rename one of the two"
        problems.append(item.source.problem("metadata.name", reason))
    return problems, tuple(unique)


def _keys_of(item: Rendered) -> Iterable[Key]:
    """Return what is created for a resource, here or by a controller."""
    keys = [(body["kind"], item.namespace, str(body["metadata"]["name"])) for body in item.objects]
    yield from keys
    # The LeaderWorkerSet controller makes a headless Service of the set's name.
    yield from (("Service", *rest) for kind, *rest in keys if kind == LEADER_WORKER_SET)  # type: ignore[misc]
    # Where an operator makes the Service of an endpoint, it is not among the objects.
    if any(workload.operated for workload in item.workloads):
        yield from (("Service", endpoint.namespace, endpoint.service) for endpoint in item.endpoints)


def with_contributions(rendered: Iterable[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Let an autoscaler that one resource adds to another's workload own the replicas of that workload.

    An autoscaler whose target does not exist, or already has one, is reported.
    """
    items = list(rendered)
    owners = {_identity(workload): item for item in items for workload in item.workloads}
    scalers: dict[Key, tuple[Rendered, Autoscaler]] = {
        scaler.aim: (item, scaler) for item in items for scaler in item.autoscalers if owners.get(scaler.aim) is item
    }
    problems: list[Problem] = []
    added: dict[Key, Autoscaler] = {}
    for item in items:
        for scaler in item.autoscalers:
            if owners.get(scaler.aim) is item:
                continue
            if scaler.aim not in owners:
                problems.append(_aimless(scaler, owners))
            elif scaler.aim in scalers:
                problems.append(_crowded(scaler, *scalers[scaler.aim]))
            else:
                scalers[scaler.aim] = item, scaler
                added[scaler.aim] = scaler
    return problems, tuple(_moved(item, added) for item in items)


def _identity(workload: Workload) -> Key:
    return workload.kind, workload.namespace, workload.name


def _aimless(scaler: Autoscaler, owners: Iterable[Key]) -> Problem:
    kind, namespace, name = scaler.aim
    there = ", ".join(sorted(f"{key[0]} {key[2]!r}" for key in owners if key[1] == namespace)) or "none"
    reason = f"no {kind} named {name!r} in namespace {namespace!r} (available: {there}); correct the name, or add it"
    return scaler.blame("scaleTargetRef").problem(reason)


def _crowded(scaler: Autoscaler, item: Rendered, other: Autoscaler) -> Problem:
    kind, _, name = scaler.aim
    reason = (
        f"{kind} {name!r} already has the autoscaler {other.name!r} of {item.source.where}; remove one of the two"
    )
    return scaler.blame("scaleTargetRef").problem(reason)


def _moved(item: Rendered, added: dict[Key, Autoscaler]) -> Rendered:
    if not any(_identity(workload) in added for workload in item.workloads):
        return item
    return replace(item, workloads=tuple(_owned(w, added.get(_identity(w))) for w in item.workloads))


def _owned(workload: Workload, scaler: Autoscaler | None) -> Workload:
    """Return a workload without replicas of its own, if an autoscaler owns them."""
    if scaler is None:
        return workload
    body = copy.deepcopy(workload.body)
    body["spec"].pop("replicas", None)
    pods = tuple(_bounded(demand, scaler) for demand in workload.pods)
    return replace(workload, body=body, replicas=scaler.minimum, most=scaler.maximum, pods=pods)


def _bounded(demand: PodDemand, scaler: Autoscaler) -> PodDemand:
    return replace(demand, pods=scaler.minimum * demand.per_replica, max_pods=scaler.maximum * demand.per_replica)

"""How resources of a fleet interact: shared objects, clashing names, autoscalers for one another's workloads."""

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..contract.findings.ids import RuleId
from ..contract.names import LABEL_LENGTH
from ..contract.problems import Problem
from ..contract.schema.builtin import is_namespaced
from .autoscalers import Autoscaler
from .demand import PodDemand
from .objects import Key, Object, key_of
from .rendered import Rendered
from .shapes import STATEFUL_SET, shape_of
from .workloads import Workload, by_set

_HASH_LENGTH = len("-4294967295")
"""What stands behind a StatefulSet's name in the label ``controller-revision-hash``: a 32-bit number, re-lettered."""


def shared_items(rendered: Iterable[Rendered]) -> tuple[Rendered, ...]:
    """Create each object that several resources share once, for the first that needs it."""
    shared: dict[tuple[str, str, str], tuple[Object, Rendered]] = {}
    for item in rendered:
        for body in item.shared:
            kind, namespace, name = key_of(body)
            shared.setdefault((namespace, kind, name), (body, item))
    # A copy of the source: who looks for the item of a resource by its source shall not find these.
    return tuple(
        Rendered(replace(item.source), kind, name, namespace, others=(body,), requires=_kind_of(body, item))
        for (namespace, kind, name), (body, item) in sorted(shared.items(), key=lambda entry: entry[0])
    )


def _kind_of(body: Object, item: Rendered) -> frozenset[str]:
    """Return what brings the kind of a shared object: something its resource requires, unless servers have it."""
    built_in = is_namespaced(str(body["apiVersion"]).rpartition("/")[0], body["kind"]) is not None
    return frozenset() if built_in else item.requires


def without_clashes(rendered: list[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Report objects that two resources would both create, and return the rest."""
    makers: dict[Key, Rendered] = {}
    problems: list[Problem] = []
    unique = []
    for item in rendered:
        problems += _twice(item)
        keys = list(_keys_of(item))
        taken = next((key for key in keys if key in makers), None)
        if taken is None:
            makers.update(dict.fromkeys(keys, item))
            unique.append(item)
            continue
        reason = f"{taken[0]} {taken[2]!r} is also generated for {makers[taken].source.where}; rename one of the two"
        problems.append(item.source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN))
    return problems, tuple(unique)


def _twice(item: Rendered) -> Iterator[Problem]:
    """Yield what one resource would have created twice: its parts may have names that are put together alike."""
    keys = list(_created(item))
    counts = Counter(keys if len(keys) > len(set(keys)) else ())
    for kind, _, name in (key for key, count in counts.items() if count > 1):
        yield item.source.problem(
            "metadata.name",
            f"{kind} {name!r} would be generated twice; rename one of its parts",
            rule=RuleId.NAMES_TAKEN,
        )


def _keys_of(item: Rendered) -> Iterable[Key]:
    """Return what is created for a resource, here or by a controller."""
    yield from _created(item)
    yield from (("Endpoint", each.namespace, each.name) for each in item.endpoints)
    # What an operator makes is not among the objects: the Service of an endpoint, and a LeaderWorkerSet.
    operated = [workload for workload in item.workloads if workload.operated]
    if operated:
        yield from (("Service", endpoint.namespace, endpoint.service) for endpoint in item.endpoints)
    yield from (("Service", each.namespace, each.name) for each in operated if each.shape.makes_service)
    # What scrapes, guards and drains the pods of a workload is named like their set.
    yield from (("Workload", *key) for key in by_set(item.workloads))
    # What the gateway has of an endpoint is named like it, and so is the endpoint in the outputs.
    yield from (("Endpoint", endpoint.namespace, endpoint.name) for endpoint in item.endpoints)


def _created(item: Rendered) -> Iterator[Key]:
    keys = [(body["kind"], item.namespace, str(body["metadata"]["name"])) for body in item.objects]
    yield from keys
    yield from (("Service", item.namespace, name) for name in headless_services(item.objects))


def headless_services(objects: Iterable[Object]) -> Iterator[str]:
    """Yield the names of the headless Services that the controllers of some objects make."""
    shapes = ((shape_of(body), body) for body in objects)
    yield from (str(body["metadata"]["name"]) for shape, body in shapes if shape and shape.makes_service)


def check_group_names(rendered: Iterable[Rendered]) -> Iterator[Problem]:
    """Yield what has a name of which a controller could not make the names of its own objects or labels.

    The controller of LeaderWorkerSets makes a StatefulSet of the leaders with the name of the set, and of the workers
    of each group one with the group's number behind it; where every group has a domain of its own, a Service as well.
    That of StatefulSets labels pods with the name of the set.
    """
    items = list(rendered)
    sets = [(item, each) for item in items for each in item.workloads if each.shape.makes_sets]
    yield from (problem for item in items for problem in _overlong(item))
    numbered: dict[Key, tuple[int, Rendered]] = {}
    for item, each in sets:
        for kind in _kinds_of_groups(each):
            numbered[kind, each.namespace, each.name] = _most_groups(each), item
    keys = [(key, item) for item in items for key in _keys_of(item)]
    keys += [((STATEFUL_SET.kind, each.namespace, each.name), item) for item, each in sets]
    for (kind, namespace, name), item in keys:
        set_name, _, number = name.rpartition("-")
        groups, maker = numbered.get((kind, namespace, set_name), (0, item))
        if number.isdecimal() and str(int(number)) == number and int(number) < groups:
            taken = f"{kind} {name!r} is also generated for group {number} of {maker.source.where}"
            yield item.source.problem("metadata.name", f"{taken}; rename one of the two", rule=RuleId.NAMES_TAKEN)


def _kinds_of_groups(workload: Workload) -> Iterator[str]:
    """Yield the kinds of what each group of a set has of its own."""
    if workload.size > 1:
        yield STATEFUL_SET.kind
    network = workload.body["spec"].get("networkConfig") or {}
    if network.get("subdomainPolicy") == "UniquePerReplica":
        yield "Service"


def _most_groups(workload: Workload) -> int:
    """Return the largest number of groups that there can be at once: an update adds some for a while."""
    groups = workload.replicas if workload.most is None else workload.most
    return groups + workload.surge(groups)


def _overlong(item: Rendered) -> Iterator[Problem]:
    """Yield the worst of the sets of a resource whose names are too long."""
    sets = [(len(each.name) - _longest(each), each) for each in item.workloads if each.shape.is_set]
    excess, workload = max(sets, key=lambda each: each[0], default=(0, None))
    if workload is not None and excess > 0:
        number = _group_number(workload)
        remedy = "shorten the name" + ", or lower the most replicas that there can be" * (len(number) > 2)
        part = "" if workload.name == item.name else f"makes {workload.kind} {workload.name!r}, whose name "
        yield item.source.problem(
            "metadata.name",
            f"{part}must be at most {_longest(workload)} characters, found {len(workload.name)}: pods of a "
            f"StatefulSet carry the label <name>{number}-<hash>, which has at most {LABEL_LENGTH}; {remedy}",
            rule=RuleId.NAMES_INVALID,
        )


def _longest(workload: Workload) -> int:
    """Return how long the name of a set may be."""
    return LABEL_LENGTH - _HASH_LENGTH - len(_group_number(workload))


def _group_number(workload: Workload) -> str:
    """Return what stands behind the name of a set in that of the workers of its last group."""
    return f"-{max(_most_groups(workload), 1) - 1}" if workload.size > 1 else ""


def attach_autoscalers(rendered: Iterable[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Let an autoscaler that one resource adds to another's workload own the replicas of that workload.

    An autoscaler whose target does not exist, or already has one, is reported.
    """
    items = list(rendered)
    owners = {_identity(workload): item for item in items for workload in item.workloads}
    scalers: dict[Key, tuple[Rendered, Autoscaler]] = {
        scaler.target: (item, scaler)
        for item in items
        for scaler in item.autoscalers
        if owners.get(scaler.target) is item
    }
    problems: list[Problem] = []
    added: dict[Key, Autoscaler] = {}
    for item in items:
        for scaler in item.autoscalers:
            if owners.get(scaler.target) is item:
                continue
            if scaler.target not in owners:
                problems += [] if scaler.target_known else [_aimless(scaler, owners)]
            elif scaler.target in scalers:
                problems.append(_crowded(scaler, *scalers[scaler.target]))
            else:
                scalers[scaler.target] = item, scaler
                added[scaler.target] = scaler
    return problems, tuple(_moved(item, added) for item in items)


def _identity(workload: Workload) -> Key:
    return workload.kind, workload.namespace, workload.name


def _aimless(scaler: Autoscaler, owners: Iterable[Key]) -> Problem:
    kind, namespace, name = scaler.target
    there = ", ".join(sorted(f"{key[0]} {key[2]!r}" for key in owners if key[1] == namespace)) or "none"
    reason = f"no {kind} named {name!r} in namespace {namespace!r} (available: {there}); correct the name, or add it"
    return scaler.origin_of("scaleTargetRef").problem(reason, rule=RuleId.AUTOSCALING_CONTESTED)


def _crowded(scaler: Autoscaler, item: Rendered, other: Autoscaler) -> Problem:
    kind, _, name = scaler.target
    reason = (
        f"{kind} {name!r} already has the autoscaler {other.name!r} of {item.source.where}; remove one of the two"
    )
    return scaler.origin_of("scaleTargetRef").problem(reason, rule=RuleId.AUTOSCALING_CONTESTED)


def _moved(item: Rendered, added: dict[Key, Autoscaler]) -> Rendered:
    if not any(_identity(workload) in added for workload in item.workloads):
        return item
    return replace(item, workloads=tuple(with_autoscaler(w, added.get(_identity(w))) for w in item.workloads))


def with_autoscaler(workload: Workload, scaler: Autoscaler | None) -> Workload:
    """Return a workload without replicas of its own, if an autoscaler owns them."""
    if scaler is None:
        return workload
    surge = workload.surge(scaler.maximum)
    pods = tuple(_bounded(demand, scaler, surge) for demand in workload.pods)
    return replace(without_replicas(workload), replicas=scaler.minimum, most=scaler.maximum, pods=pods)


def without_replicas(workload: Workload) -> Workload:
    """Return a workload that leaves its replicas to somebody else: two that write them would undo each other."""
    body = copy.deepcopy(workload.body)
    body["spec"].pop("replicas", None)
    return replace(workload, body=body)


def _bounded(demand: PodDemand, scaler: Autoscaler, surge: int) -> PodDemand:
    least, most, added = (count * demand.per_replica for count in (scaler.minimum, scaler.maximum, surge))
    return replace(demand, pods=least, max_pods=most, surge_pods=added)

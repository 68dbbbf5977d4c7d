"""Combine rendered resources into a fleet: shared objects, name clashes, autoscalers across resources."""

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..contract.findings.ids import RuleId
from ..contract.names import LABEL_LENGTH
from ..contract.problems import Problem, Severity
from ..contract.schema.builtin import is_namespaced
from .autoscalers import Autoscaler
from .objects import Key, Object, key_of
from .rendered import Rendered
from .shapes import STATEFUL_SET, shape_of
from .workloads import Workload, by_set

_HASH_LENGTH = len("-4294967295")
"""Suffix of a StatefulSet's name in the label ``controller-revision-hash``: an encoded 32-bit number."""


def shared_items(rendered: Iterable[Rendered]) -> tuple[Rendered, ...]:
    """Return an item for each shared object, once, attributed to the first resource that needs it."""
    shared: dict[tuple[str, str, str], tuple[Object, Rendered]] = {}
    for item in rendered:
        for body in item.shared:
            kind, namespace, name = key_of(body)
            shared.setdefault((namespace, kind, name), (body, item))
    items = []
    for (namespace, kind, name), (body, item) in sorted(shared.items(), key=lambda entry: entry[0]):
        built_in = is_namespaced(str(body["apiVersion"]).rpartition("/")[0], kind) is not None
        # A kind that the API server does not have must be installed, so the resource requires its installer.
        requires = frozenset() if built_in else item.requires
        # Copy the source: looking up the item of a resource by its source must not return a shared object.
        items.append(Rendered(replace(item.source), kind, name, namespace, others=(body,), requires=requires))
    return tuple(items)


def without_clashes(rendered: list[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Reject resources that would create an object that another one creates; return the problems and the rest."""
    creators: dict[Key, Rendered] = {}
    problems: list[Problem] = []
    unique = []
    for item in rendered:
        problems += _internal_clashes(item)
        keys = list(_keys_of(item))
        taken = next((key for key in keys if key in creators), None)
        if taken is None:
            creators.update(dict.fromkeys(keys, item))
            unique.append(item)
            continue
        reason = (
            f"{taken[0]} {taken[2]!r} is also generated for {creators[taken].source.where}; rename one of the two"
        )
        problems.append(item.source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN))
    return problems, tuple(unique)


def _internal_clashes(item: Rendered) -> Iterator[Problem]:
    """Reject a resource whose parts generate the same object name."""
    keys = list(_created(item))
    counts = Counter(keys if len(keys) > len(set(keys)) else ())
    for kind, _, name in (key for key, count in counts.items() if count > 1):
        yield item.source.problem(
            "metadata.name",
            f"{kind} {name!r} would be generated twice; rename one of its parts",
            rule=RuleId.NAMES_TAKEN,
        )


def _keys_of(item: Rendered) -> Iterable[Key]:
    """Return the keys of everything created for a resource, here or by a controller."""
    yield from _created(item)
    # Gateway routes and stack outputs are named like the endpoint.
    yield from (("Endpoint", endpoint.namespace, endpoint.name) for endpoint in item.endpoints)
    # Objects that an operator creates are not in ``item.objects``.
    operated = [workload for workload in item.workloads if workload.operated]
    if operated:
        # The Service of a router is that of all models behind it, in a namespace of its own.
        own = (endpoint for endpoint in item.endpoints if endpoint.backends[0].router is None)
        yield from (("Service", endpoint.namespace, endpoint.service) for endpoint in own)
    yield from (("Service", w.namespace, w.name) for w in operated if w.shape.makes_service)
    # PodMonitors, disruption budgets and network policies are named like the pod set.
    yield from (("Workload", *key) for key in by_set(item.workloads))


def _created(item: Rendered) -> Iterator[Key]:
    keys = [(body["kind"], item.namespace, str(body["metadata"]["name"])) for body in item.objects]
    yield from keys
    yield from (("Service", item.namespace, name) for name in headless_services(item.objects))


def headless_services(objects: Iterable[Object]) -> Iterator[str]:
    """Yield the names of the headless Services that controllers create for workloads."""
    shapes = ((shape_of(body), body) for body in objects)
    yield from (str(body["metadata"]["name"]) for shape, body in shapes if shape and shape.makes_service)


def check_group_names(rendered: Iterable[Rendered]) -> Iterator[Problem]:
    """Reject names from which a controller could not derive valid, unique names of its own objects and labels.

    The LeaderWorkerSet controller creates a StatefulSet of the leaders with the name of the set, and one of the
    workers of each group with the group's number appended; if every group has its own subdomain, a Service as well.
    The StatefulSet controller labels pods with the name of the set.
    """
    items = list(rendered)
    sets = [(item, workload) for item in items for workload in item.workloads if workload.shape.makes_sets]
    yield from (problem for item in items for problem in _check_name_length(item))
    numbered: dict[Key, tuple[int, Rendered]] = {}
    for item, workload in sets:
        kinds = [STATEFUL_SET.kind] if workload.size > 1 else []
        if (workload.body["spec"].get("networkConfig") or {}).get("subdomainPolicy") == "UniquePerReplica":
            kinds.append("Service")
        for kind in kinds:
            numbered[kind, workload.namespace, workload.name] = _max_groups(workload), item
    keys = [(key, item) for item in items for key in _keys_of(item)]
    keys += [((STATEFUL_SET.kind, workload.namespace, workload.name), item) for item, workload in sets]
    for (kind, namespace, name), item in keys:
        set_name, _, number = name.rpartition("-")
        groups, creator = numbered.get((kind, namespace, set_name), (0, item))
        if number.isdecimal() and str(int(number)) == number and int(number) < groups:
            taken = f"{kind} {name!r} is also generated for group {number} of {creator.source.where}"
            yield item.source.problem("metadata.name", f"{taken}; rename one of the two", rule=RuleId.NAMES_TAKEN)


def _max_groups(workload: Workload) -> int:
    """Return the largest number of groups at once, including the surge of an update."""
    groups = workload.replicas if workload.most is None else workload.most
    return groups + workload.surge(groups)


def _check_name_length(item: Rendered) -> Iterator[Problem]:
    """Report the set of a resource whose name exceeds its limit the most."""
    worst: tuple[int, Workload | None, str] = (0, None, "")
    for workload in item.workloads:
        if workload.shape.is_set:
            # The workers of the last group have the longest name.
            number = f"-{max(_max_groups(workload), 1) - 1}" if workload.size > 1 else ""
            limit = LABEL_LENGTH - _HASH_LENGTH - len(number)
            if len(workload.name) - limit > worst[0]:
                worst = len(workload.name) - limit, workload, number
    excess, longest, number = worst
    if longest is not None:
        remedy = "shorten the name" + ", or lower the maximum number of replicas" * (len(number) > 2)
        part = "" if longest.name == item.name else f"makes {longest.kind} {longest.name!r}, whose name "
        yield item.source.problem(
            "metadata.name",
            f"{part}must be at most {len(longest.name) - excess} characters, found {len(longest.name)}: pods of a "
            f"StatefulSet carry the label <name>{number}-<hash>, which has at most {LABEL_LENGTH}; {remedy}",
            rule=RuleId.NAMES_INVALID,
        )


def attach_autoscalers(rendered: Iterable[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Let autoscalers own the replicas of workloads that belong to other resources.

    Returns:
        Problems of autoscalers whose target does not exist or already has an autoscaler, and the updated items.
    """
    items = list(rendered)
    owners = {_key(workload): item for item in items for workload in item.workloads}
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
            kind, namespace, name = scaler.target
            reason = ""
            if owners.get(scaler.target) is item:
                continue
            if scaler.target not in owners and not scaler.target_known:
                known = sorted(f"{key[0]} {key[2]!r}" for key in owners if key[1] == namespace)
                missing = (
                    f"no {kind} named {name!r} in namespace {namespace!r} (available: {', '.join(known) or 'none'}); "
                    "correct the name, or add it"
                )
                if scaler.target_elsewhere:
                    problems.append(
                        scaler.origin_of("scaleTargetRef").problem(
                            f"{missing}, unless it exists in the cluster",
                            Severity.WARNING,
                            RuleId.REFERENCE_ELSEWHERE,
                        )
                    )
                else:
                    reason = missing
            elif scaler.target in scalers:
                other_item, other = scalers[scaler.target]
                reason = (
                    f"{kind} {name!r} already has the autoscaler {other.name!r} of {other_item.source.where}; remove "
                    "one of the two"
                )
            else:
                scalers[scaler.target] = item, scaler
                added[scaler.target] = scaler
            if reason:
                origin = scaler.origin_of("scaleTargetRef")
                problems.append(origin.problem(reason, rule=RuleId.AUTOSCALING_CONTESTED))
    return problems, tuple(_with_added(item, added) for item in items)


def _key(workload: Workload) -> Key:
    return workload.kind, workload.namespace, workload.name


def _with_added(item: Rendered, added: dict[Key, Autoscaler]) -> Rendered:
    if not any(_key(workload) in added for workload in item.workloads):
        return item
    return replace(item, workloads=tuple(with_autoscaler(w, added.get(_key(w))) for w in item.workloads))


def with_autoscaler(workload: Workload, scaler: Autoscaler | None) -> Workload:
    """Return a workload whose replicas the autoscaler owns; the workload itself without an autoscaler."""
    if scaler is None:
        return workload
    surge = workload.surge(scaler.maximum)
    pods = tuple(
        replace(
            demand,
            pods=scaler.minimum * demand.per_replica,
            max_pods=scaler.maximum * demand.per_replica,
            surge_pods=surge * demand.per_replica,
        )
        for demand in workload.pods
    )
    return replace(without_replicas(workload), replicas=scaler.minimum, most=scaler.maximum, pods=pods)


def without_replicas(workload: Workload) -> Workload:
    """Return a workload without ``spec.replicas``, which would overwrite the autoscaler's value."""
    body = copy.deepcopy(workload.body)
    body["spec"].pop("replicas", None)
    return replace(workload, body=body)

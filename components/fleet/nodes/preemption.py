"""Preemption among models: pods with different priorities that may run on the same nodes.

kube-scheduler preempts before a node autoscaler sees a pending pod: if no node has room, it evicts pods of
lower priority from a node where that makes room (Kubernetes, "Pod Priority and Preemption"; kubernetes/kubernetes
pkg/scheduler/framework/preemption). Any pod of a node may be evicted, whichever scheduler placed it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ..objects import Object
from ..origins import Argument, Origin, Reporter
from ..rendered import Fleet, Rendered
from ..workloads import Workload
from .unschedulable import NodeKind, admitted, pods_of

PRIORITY_CLASS = "PriorityClass"
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""PriorityClasses of every cluster (kubernetes/kubernetes pkg/apis/scheduling/types.go and helpers.go)."""
_NEVER = "Never"
_USUAL_SCHEDULER = "default-scheduler"
_NO_PREEMPTION = ("volcano",)
"""Schedulers that do not preempt with their default configuration: Volcano's actions do not include ``preempt``
(volcano-sh/volcano, installer/helm/chart/volcano/config/volcano-scheduler.conf)."""
_MOST_NAMES = 3
"""Maximum models and kinds of nodes in a message."""
_UNNAMED = "nodes that no manifest names"
_SETTING = "hardening.priority"


class Classes(NamedTuple):
    """The known PriorityClasses of a cluster.

    Attributes:
        values: Priority by class name.
        never: Classes whose pods do not preempt others.
        usual: The global default class; empty without one.
    """

    values: Mapping[str, int]
    never: frozenset[str]
    usual: str = ""

    @classmethod
    def of(cls, objects: Iterable[Object]) -> "Classes":
        """Return the classes among objects, and those of every cluster."""
        values: dict[str, int] = {}
        never: set[str] = set()
        usual: list[str] = []
        for body in objects:
            if body["kind"] != PRIORITY_CLASS:
                continue
            name = str(body["metadata"]["name"])
            values[name] = int(body.get("value") or 0)
            if body.get("preemptionPolicy") == _NEVER:
                never.add(name)
            if body.get("globalDefault"):
                usual.append(name)
        # Of several global defaults the lowest applies
        # (kubernetes/kubernetes plugin/pkg/admission/priority/admission.go).
        lowest = min(usual, key=lambda name: (values[name], name), default="")
        return cls(values={**values, **SYSTEM_CLASSES}, never=frozenset(never), usual=lowest)

    def value(self, name: str) -> int | None:
        """Return the priority of pods with a class, or without one if empty; None if it is unknown."""
        return self.values.get(name or self.usual) if name or self.usual else 0


class DefaultClass(NamedTuple):
    """The environment's default PriorityClass, for pods that set none.

    Attributes:
        path: The setting that defines it.
        file: The file of that setting.
    """

    name: str
    path: str
    file: str


class _Ranked(NamedTuple):
    """Identical pods of a resource, with their priority.

    Attributes:
        klass: Their PriorityClass; empty for none.
        value: Their priority; None if unknown.
        is_default: Whether the class is the environment's default.
        is_written: Whether the resource sets a priority, even if it is its family's default.
        is_overridden: Whether it sets one that differs from its family's default.
        is_raised: Whether it sets one above that default.
        node_kinds: Indices of the kinds of nodes that accept them.
    """

    item: Rendered
    workload: Workload
    klass: str
    value: int | None
    preempts: bool
    scheduler: str
    is_default: bool
    is_written: bool
    is_overridden: bool
    is_raised: bool
    node_kinds: frozenset[int]

    @property
    def key(self) -> tuple[str, str]:
        return self.item.title, self.item.namespace

    @property
    def field(self) -> Reporter:
        known = self.workload.priority
        return known.field if known else Origin(self.item.source, "spec")


class _Victims(NamedTuple):
    """The resources that pods of a priority may evict.

    Attributes:
        lowest: The lowest priority of each resource.
        unstated: Resources that do not set that priority explicitly.
        node_kinds: Indices of the kinds of nodes where that may happen.
        summary: The first resources, for messages.
    """

    lowest: Mapping[tuple[str, str], int]
    unstated: frozenset[tuple[str, str]]
    node_kinds: frozenset[int]
    summary: str

    @classmethod
    def of(cls, ranked: Iterable["_Ranked"], kinds: frozenset[int], value: int) -> "_Victims":
        """Collect the resources of lower priority that share kinds of nodes."""
        lowest: dict[tuple[str, str], int] = {}
        shared, unstated = set[int](), set[tuple[str, str]]()
        for pods in ranked:
            common = pods.node_kinds & kinds
            if pods.value is None or pods.value >= value or not common:
                continue
            lowest[pods.key] = min(pods.value, lowest.get(pods.key, pods.value))
            shared |= common
            if not pods.is_overridden:
                unstated.add(pods.key)
        return cls(lowest, frozenset(unstated), frozenset(shared), _summary(lowest))

    @classmethod
    def together(cls, parts: Iterable["_Victims"]) -> "_Victims":
        """Merge several results."""
        lowest: dict[tuple[str, str], int] = {}
        kinds, unstated = frozenset[int](), frozenset[tuple[str, str]]()
        for part in parts:
            for key, value in part.lowest.items():
                lowest[key] = min(value, lowest.get(key, value))
            kinds, unstated = kinds | part.node_kinds, unstated | part.unstated
        return cls(lowest, unstated, kinds, _summary(lowest))


def _summary(lowest: Mapping[tuple[str, str], int]) -> str:
    return _first_of([f"{title} ({value})" for (title, _), value in sorted(lowest.items())])


class _Others:
    """Compares pods with those of other resources, with a cache for pods of equal node kinds and priority."""

    def __init__(self, ranked: Sequence[_Ranked]) -> None:
        self._ranked = ranked
        self._victims: dict[tuple[frozenset[int], int], _Victims] = {}
        self._unknown: dict[tuple[frozenset[int], str], str] = {}
        kinds: dict[tuple[str, str], set[tuple[int | None, str]]] = {}
        for pods in ranked:
            kinds.setdefault(pods.key, set()).add((pods.value, pods.klass))
        self._uneven = {key for key, priorities in kinds.items() if len(priorities) > 1}
        """Resources whose own pods differ in priority; they must not be compared with themselves."""

    def victims(self, pod: _Ranked) -> _Victims:
        """Return the resources that pods of a known priority may evict."""
        value = pod.value or 0
        if pod.key in self._uneven:
            return _Victims.of((other for other in self._ranked if other.key != pod.key), pod.node_kinds, value)
        alike = (pod.node_kinds, value)
        if alike not in self._victims:
            self._victims[alike] = _Victims.of(self._ranked, *alike)
        return self._victims[alike]

    def unknown(self, pod: _Ranked) -> str:
        """Return why the priority of pods cannot be compared; empty if there is nothing to compare it with."""
        if pod.key in self._uneven:
            return _unknown_reason(pod, [other for other in self._ranked if other.key != pod.key])
        alike = (pod.node_kinds, pod.klass)
        if alike not in self._unknown:
            self._unknown[alike] = _unknown_reason(pod, self._ranked)
        return self._unknown[alike]


def preemptions(
    fleet: Fleet,
    kinds: Sequence[NodeKind],
    classes: Iterable[Object],
    *,
    knows_nodes: bool,
    tolerates_devices: bool = False,
    default: DefaultClass | None = None,
) -> Iterator[Problem]:
    """Report resources whose pods may evict those of others, or for which this is unknown.

    This is a warning if the priority is a default of the family, which other families do not share, and a note if the
    resource sets a higher priority or the others set a lower one.

    Args:
        fleet: The rendered fleet.
        kinds: All known kinds of nodes.
        classes: Objects that are created, of which the PriorityClasses are used.
        knows_nodes: Whether ``kinds`` is complete.
        tolerates_devices: Whether the API server adds tolerations for the devices that pods request.
        default: The environment's default class, if any.
    """
    families = (workload.priority.known for _, workload in fleet.workloads if workload.priority)
    known = Classes.of([*classes, *(body for body in families if body)])
    usual = default.name if default else ""
    ranked = list(_ranked(fleet, kinds, known, usual, knows_nodes=knows_nodes, tolerates_devices=tolerates_devices))
    if len({(pod.value, pod.klass if pod.value is None else "") for pod in ranked}) < 2:
        return
    names = [kind.name for kind in kinds]
    by_item: dict[tuple[str, str], list[_Ranked]] = {}
    for pod in ranked:
        by_item.setdefault(pod.key, []).append(pod)
    others = _Others(ranked)
    is_reported = False
    for pods in by_item.values():
        evicting: list[tuple[_Ranked, _Victims]] = []
        for pod in pods:
            if pod.value is None:
                # The environment's default class is reported once, at its setting.
                if not (pod.is_default and is_reported) and (reason := others.unknown(pod)):
                    is_reported = is_reported or pod.is_default
                    field = Argument(default.file, default.path) if pod.is_default and default else pod.field
                    yield field.problem(reason, Severity.NOTE, RuleId.PRIORITY_UNCHECKED)
                continue
            victims = others.victims(pod)
            if not pod.preempts or not victims.lowest:
                continue
            if pod.scheduler != _USUAL_SCHEDULER:
                reason = (
                    f"its pods are placed by {pod.scheduler!r}, whose configuration is unknown: whether they evict "
                    "pods of a lower priority on the same nodes is not checked"
                )
                yield pod.field.problem(reason, Severity.NOTE, RuleId.PRIORITY_UNCHECKED)
            else:
                evicting.append((pod, victims))
        if evicting:
            # Pods of the highest priority may evict all that the others may; only their kinds of nodes can differ.
            leading = max((pod for pod, _ in evicting), key=lambda pod: pod.value or 0)
            victims = evicting[0][1] if len(evicting) == 1 else _Victims.together([merged for _, merged in evicting])
            node_names = [names[index] if index < len(names) else _UNNAMED for index in sorted(victims.node_kinds)]
            is_meant = not victims.unstated
            reason = _eviction_reason(leading, victims, sorted(dict.fromkeys(node_names)), is_meant=is_meant)
            severity = Severity.NOTE if is_meant or leading.is_raised else Severity.WARNING
            yield leading.field.problem(reason, severity, RuleId.PRIORITY_MIXED)


def _ranked(
    fleet: Fleet, kinds: Sequence[NodeKind], known: Classes, usual: str, *, knows_nodes: bool, tolerates_devices: bool
) -> Iterator[_Ranked]:
    unnamed: dict[str, int] = {}
    cache: dict[str, frozenset[int]] = {}
    for item, workload in fleet.workloads:
        for template, demand in pods_of(workload):
            if not demand.most:
                continue
            pod = admitted(template, demand) if tolerates_devices else template
            where = {name: pod[name] for name in ("nodeSelector", "affinity", "tolerations") if name in pod}
            requests = sorted((name, str(amount)) for name, amount in demand.requests.items())
            shape = json.dumps([where, requests], sort_keys=True, default=str)
            if shape not in cache:
                accepting = {index for index, kind in enumerate(kinds) if not kind.obstacle(pod, demand.requests)}
                if not knows_nodes and not any(choice.instance_type for choice in demand.choices):
                    # On existing nodes, pods that select the same labels and devices may share a node.
                    devices = sorted(name for name in demand.requests if "/" in name)
                    labels = pod.get("nodeSelector") or {}
                    other = json.dumps([devices, labels], sort_keys=True, default=str)
                    accepting.add(unnamed.setdefault(other, len(kinds) + len(unnamed)))
                cache[shape] = frozenset(accepting)
            klass = str(pod.get("priorityClassName") or "")
            scheduler = str(pod.get("schedulerName") or _USUAL_SCHEDULER)
            own = workload.priority
            stated = bool(klass) and klass != usual
            yield _Ranked(
                item=item,
                workload=workload,
                klass=klass,
                value=known.value(klass),
                preempts=(klass or known.usual) not in known.never and scheduler not in _NO_PREEMPTION,
                scheduler=scheduler,
                is_default=bool(klass) and klass == usual,
                is_written=own.is_written if own else stated,
                is_overridden=own.is_overridden if own else stated,
                is_raised=own.is_raised if own else stated,
                node_kinds=cache[shape],
            )


def _eviction_reason(leading: _Ranked, victims: _Victims, node_kinds: Sequence[str], *, is_meant: bool) -> str:
    if leading.is_default:
        origin = "the default of this environment"
    elif leading.is_written:
        origin = "set here"
    elif leading.workload.priority:
        origin = f"the default of {leading.item.kind}"
    else:
        origin = "the default of pods without a class"
    own = f"{leading.klass}, " if leading.klass else ""
    if is_meant:
        remedy = "if that is not intended, remove the lower priority of the others"
    elif leading.is_raised:
        remedy = "if that is not intended, remove it"
    elif leading.workload.operated:
        remedy = "set a PriorityClass here that is as low as theirs: its operator has no configurable default"
    elif leading.is_written:
        remedy = f"remove it, and set {_SETTING}, the default of all models that set none"
    else:
        remedy = f"set {_SETTING}, the default of all models that set none (`none` for no class)"
    return (
        f"its pods have priority {leading.value} ({own}{origin}), and those of {victims.summary} a lower one on the "
        f"same nodes ({_first_of(list(node_kinds))}): if no node has room, the scheduler evicts these before a node "
        f"is added; {remedy}"
    )


def _unknown_reason(pod: _Ranked, ranked: Iterable[_Ranked]) -> str:
    """Return why a priority cannot be compared with that of other pods on the same nodes; empty without any."""
    classes = {
        other.key[0]: other.klass or "no class"
        for other in ranked
        if other.klass != pod.klass and other.node_kinds & pod.node_kinds
    }
    if not classes:
        return ""
    others = _first_of([f"{title} ({klass})" for title, klass in sorted(classes.items())])
    return (
        f"PriorityClass {pod.klass!r} is not created here, so its value is unknown: whether its "
        f"pods evict those of {others} on the same nodes, or are evicted by them, is not checked; add the "
        "PriorityClass to the manifests (with otherKinds: apply), or use one class for all"
    )


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

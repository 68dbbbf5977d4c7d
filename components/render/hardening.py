"""What an environment asks of every workload beside serving: few rights, orderly drains, zones, priority.

Everything is off by default: rendered objects stay what they are until an environment asks for more.
"""

import copy
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..api.problems import did_you_mean
from ..catalog.tables import table
from .hardening_pods import Exemption, exemptions, secure
from .types import ZONE_LABEL, Object

POD_SECURITY = ("restricted", "baseline", "none")
_CLASS_PREFIX = "inference-"
_LWS = "leaderworkerset.sigs.k8s.io"
_KINDS = ("Deployment", "LeaderWorkerSet")


@dataclass(frozen=True, slots=True)
class Hardening:
    """What to ask of workloads.

    Attributes:
        pod_security: Profile that pods shall meet as far as images allow: ``restricted``, ``baseline`` or ``none``.
        disruption_budgets: Whether a drain may take only one replica at a time.
        topology_spread: Whether replicas shall be spread over zones, where there is room.
        priority: ``critical``, ``standard`` or ``batch``; None for no class.
    """

    pod_security: str = "none"
    disruption_budgets: bool = False
    topology_spread: bool = False
    priority: str | None = None

    def __post_init__(self) -> None:
        """Refuse words that are not in the vocabulary."""
        known = tuple(_classes())
        for name, value, words in (
            ("pod_security", self.pod_security, POD_SECURITY),
            ("priority", self.priority or known[0], known),
        ):
            if value not in words:
                hint = did_you_mean(value, words)
                raise ValueError(f"{name} must be one of {', '.join(words)}, found {value!r}{hint}")


def harden(objects: Iterable[Object], options: Hardening) -> tuple[Object, ...]:
    """Return the objects of one workload with what the options ask for; the given ones are not changed.

    Objects that are no workload, such as custom resources for an operator, stay what they are.
    """
    hardened = [copy.deepcopy(body) for body in objects]
    body = next((each for each in hardened if each["kind"] in _KINDS), None)
    if body is None:
        return tuple(hardened)
    for template in pod_templates(body):
        _harden_pod(template["spec"], options)
    if most_replicas(hardened) < 2:
        return tuple(hardened)
    if options.topology_spread and body["kind"] == "Deployment":
        _spread(body)
    budgets = [_budget(body)] if options.disruption_budgets else []
    return (*hardened, *budgets)


def restricted_exemptions(objects: Iterable[Object]) -> tuple[Exemption, ...]:
    """Return what the profile ``restricted`` refuses of a hardened workload, each thing once."""
    found = [e for body in objects for template in pod_templates(body) for e in exemptions(template["spec"])]
    return tuple(dict.fromkeys(found))


def priority_classes() -> tuple[Object, ...]:
    """Return the PriorityClasses, which the whole cluster shares."""
    return tuple(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": _CLASS_PREFIX + name},
            "value": facts["value"],
            "preemptionPolicy": facts["preemption"],
            "globalDefault": False,
            "description": facts["description"],
        }
        for name, facts in _classes().items()
    )


def pod_templates(body: Object) -> list[Object]:
    """Return the pod templates of a workload, leader first; none of any other object."""
    if body["kind"] == "Deployment":
        return [body["spec"]["template"]]
    if body["kind"] != "LeaderWorkerSet":
        return []
    group = body["spec"]["leaderWorkerTemplate"]
    return [group[part] for part in ("leaderTemplate", "workerTemplate") if group.get(part)]


def most_replicas(objects: Iterable[Object]) -> int:
    """Count the replicas of a workload when its autoscaler, if any, has added all it may."""
    most = 1
    for body in objects:
        if body["kind"] in _KINDS:
            most = max(most, body["spec"].get("replicas", 1))
        elif body["kind"] == "HorizontalPodAutoscaler":
            most = max(most, body["spec"]["maxReplicas"])
    return most


@functools.cache
def _classes() -> Mapping[str, Object]:
    return MappingProxyType(table("priority_classes.yaml"))


def _harden_pod(spec: Object, options: Hardening) -> None:
    if options.pod_security != "none":
        secure(spec, options.pod_security)
    if options.priority:
        spec.setdefault("priorityClassName", _CLASS_PREFIX + options.priority)


def _spread(body: Object) -> None:
    """Prefer zones with fewer replicas. It is only a preference: accelerators may be had in one zone alone."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE_LABEL,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": copy.deepcopy(body["spec"]["selector"]),
    }
    body["spec"]["template"]["spec"].setdefault("topologySpreadConstraints", [constraint])


def _budget(body: Object) -> Object:
    """Let drains take one replica at a time.

    Of a group the leader counts: a budget over all pods would count pods where replicas are meant. Pods that are
    not ready may go at any time, or a model that never gets ready would block a drain for ever.
    """
    metadata = body["metadata"]
    if body["kind"] == "Deployment":
        labels = body["spec"]["selector"]["matchLabels"]
    else:
        labels = {f"{_LWS}/name": metadata["name"], f"{_LWS}/worker-index": "0"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": dict(labels)},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }

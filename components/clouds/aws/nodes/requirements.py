"""The instance types that the requirements of a Karpenter NodePool allow.

Labels and operators are those of Karpenter (aws/karpenter-provider-aws v1.15.1, website/content/en/docs/concepts/
nodepools.md and scheduling.md, pkg/providers/instancetype/types.go); in EKS Auto Mode, the labels have a domain
of EKS (EKS user guide, "Create a Node Pool for EKS Auto Mode").
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....fleet.demand import INSTANCE_TYPE_LABEL, REGION_LABEL, ZONE_LABEL
from ....fleet.instances import Instance, instances
from ..facts.regions import regions_of
from ..names import KARPENTER_CAPACITY_LABEL
from ..words import Provisioner
from .labels import cloud_labels

NODE_POOL = ("karpenter.sh", "NodePool")
EC2_NODE_CLASS = ("karpenter.k8s.aws", "EC2NodeClass")
AUTO_NODE_CLASS = ("eks.amazonaws.com", "NodeClass")
"""The node class of EKS Auto Mode, which has no EC2NodeClasses."""
_DOMAINS = ("karpenter.k8s.aws/", "eks.amazonaws.com/", "karpenter.sh/", "kubernetes.io/", "node.kubernetes.io/")
_DOMAIN, _AUTO_DOMAIN = "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-"
_COMPUTE_TYPE = "eks.amazonaws.com/compute-type"
_SCHEME = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+)")
"""Category and generation at the begin of a family, such as ``p5en``."""
_MIB = 1024
_PLACES = (KARPENTER_CAPACITY_LABEL, ZONE_LABEL, REGION_LABEL)
Holds = Callable[[str | None], bool]


@dataclass(frozen=True, slots=True)
class PoolRequirements:
    """What the requirements of a NodePool allow.

    Attributes:
        types: Known instance types with accelerators, sorted by name.
        others: Whether they allow known instance types without accelerators.
        capacities: Values of Karpenter's label for the capacity type; empty if none is required.
        zones: Availability zones; empty if none is required.
        labels: Labels that every node has because one value is required.
        unresolved: Requirements whose instance types are not known, each with the reason.
        open: Keys of further labels with several possible values.
    """

    types: tuple[Instance, ...] = ()
    others: bool = False
    capacities: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    unresolved: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def pool_requirements(requirements: Iterable[Mapping[str, Any]], region: str) -> PoolRequirements:
    """Return what the requirements of a NodePool allow in a region.

    Args:
        requirements: ``spec.template.spec.requirements``: key, operator and values.
        region: AWS region.
    """
    labels: dict[str, str] = {}
    unresolved: list[str] = []
    open_keys: list[str] = []
    of_types: list[tuple[str, Holds]] = []
    of_places: dict[str, list[Holds]] = {}
    named: dict[str, list[str]] = {}
    for item in requirements:
        key, operator, values = _parts(item)
        holds = _predicate(operator, values)
        if holds is None:
            unresolved.append(
                f"{key}: the operator {operator or '?'} with {', '.join(values) or 'no values'} is unknown"
            )
        elif key in _PLACES:
            of_places.setdefault(key, []).append(holds)
            named.setdefault(key, []).extend(values)
        elif _own_key(key) in _type_labels():
            of_types.append((_own_key(key), holds))
            if key == INSTANCE_TYPE_LABEL and operator == "In":
                missing = sorted(set(values) - instances().keys())
                unresolved += [f"{key}: unknown instance types {', '.join(missing)}"] if missing else []
        elif key.startswith(_DOMAINS) and key != _COMPUTE_TYPE:
            unresolved.append(f"{key}: the table of instance types does not have this property")
        elif key != _COMPUTE_TYPE and operator == "In" and len(values) == 1:
            labels[key] = values[0]
        elif key != _COMPUTE_TYPE:
            open_keys.append(key)
    allowed = [node for node in instances().values() if _is_allowed(node, of_types) and _is_offered(node, region)]
    capacities = _chosen(of_places.get(KARPENTER_CAPACITY_LABEL), ("on-demand", "reserved", "spot"))
    zones = _chosen(of_places.get(ZONE_LABEL), sorted(set(named.get(ZONE_LABEL, ()))))
    return PoolRequirements(
        types=tuple(sorted((node for node in allowed if node.accelerators), key=lambda node: node.name)),
        others=any(not node.accelerators for node in allowed),
        capacities=capacities,
        zones=zones,
        labels=labels,
        unresolved=tuple(unresolved),
        open=tuple(open_keys),
    )


def _parts(item: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    return str(item.get("key", "")), str(item.get("operator", "")), [str(value) for value in item.get("values") or ()]


def _predicate(operator: str, values: Sequence[str]) -> Holds | None:
    """Return whether an operator holds for a label's value, which is None for a node without the label."""
    named = frozenset(values)
    sets: dict[str, Holds] = {
        "In": lambda value: value in named,
        "NotIn": lambda value: value not in named,
        "Exists": lambda value: value is not None,
        "DoesNotExist": lambda value: value is None,
    }
    if operator in sets:
        return sets[operator]
    if len(values) != 1 or not values[0].isdecimal():
        return None
    limit = int(values[0])
    numbers: dict[str, Callable[[int], bool]] = {
        "Gt": lambda number: number > limit,
        "Gte": lambda number: number >= limit,
        "Lt": lambda number: number < limit,
        "Lte": lambda number: number <= limit,
    }
    compare = numbers.get(operator)
    return (lambda value: value is not None and value.isdecimal() and compare(int(value))) if compare else None


def _own_key(key: str) -> str:
    """Return a key of EKS Auto Mode as Karpenter spells it."""
    return _DOMAIN + key.removeprefix(_AUTO_DOMAIN) if key.startswith(_AUTO_DOMAIN) else key


def _type_labels() -> frozenset[str]:
    """Return the labels that follow from the instance type."""
    return frozenset(key for node in instances().values() for key in labels_of_type(node)) - {REGION_LABEL}


def labels_of_type(node: Instance) -> dict[str, str]:
    """Return the labels that Karpenter derives from an instance type, as far as the table has its properties."""
    labels = cloud_labels(node, "on-demand", None, "", Provisioner.KARPENTER)
    for place in _PLACES:
        labels.pop(place, None)
    scheme = _SCHEME.match(node.family)
    if scheme:
        labels |= {f"{_DOMAIN}category": scheme[1], f"{_DOMAIN}generation": scheme[2]}
    labels[f"{_DOMAIN}memory"] = str(int(node.memory_gib * _MIB))
    if node.accelerator_memory_gib and f"{_DOMAIN}gpu-count" in labels:
        labels[f"{_DOMAIN}gpu-memory"] = str(int(node.accelerator_memory_gib * _MIB))
    if node.local_nvme_gb:
        labels[f"{_DOMAIN}local-nvme"] = str(node.local_nvme_gb)
    return labels


def _is_allowed(node: Instance, requirements: Iterable[tuple[str, Holds]]) -> bool:
    labels = labels_of_type(node)
    return all(holds(labels.get(key)) for key, holds in requirements)


def _is_offered(node: Instance, region: str) -> bool:
    offered = regions_of(node.name)
    return offered is None or not region or region in offered


def _chosen(predicates: Sequence[Holds] | None, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value for value in values if all(holds(value) for holds in predicates)) if predicates else ()


def most_of(node: Instance, limits: Mapping[str, int]) -> int | None:
    """Return the number of nodes of a type that the limits of a pool allow; None if they limit nothing of it.

    Args:
        node: The instance type.
        limits: ``cpu`` in cores, ``memory`` in bytes, ``nodes``, and extended resources.
    """
    per_node: Iterator[tuple[str, int]] = iter(
        [
            ("nodes", 1),
            ("cpu", node.vcpu),
            ("memory", int(node.memory_gib * 2**30)),
            (node.accelerator_resource or "", node.accelerators),
        ]
    )
    bounds = [limits[resource] // amount for resource, amount in per_node if resource in limits and amount]
    return min(bounds, default=None)

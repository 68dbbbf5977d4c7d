"""The environment that a snapshot describes: releases of the APIs, prerequisites, and nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from components.contract.load import LoadedResource
from components.contract.misfits import fitting_releases
from components.contract.quantity import is_quantity, parse_quantity
from components.contract.schema.crds import crd
from components.families import FAMILIES, releases_of
from components.families.family import Family
from components.fleet.cloud_facts import capacity_in, capacity_labels
from components.fleet.demand import REGION_LABEL, TYPE_LABELS, NodeChoice
from components.fleet.instances import is_accelerator
from components.fleet.nodes.unschedulable import NodeKind
from components.fleet.objects import Object
from components.fleet.options import Options
from components.fleet.placement import requests_of
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.prerequisites.charts import EXCLUSIVE, known
from components.plan.prerequisites.needed import ClusterFacts

from .snapshot import ClusterSnapshot

_REPELLING = ("NoSchedule", "NoExecute")
"""Effects of taints that keep pods out; the third one only makes the scheduler prefer other nodes."""
_REGION_LABELS = (REGION_LABEL, "failure-domain.beta.kubernetes.io/region")


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of the cluster.

    Attributes:
        instance_type: Its instance type; empty without the label.
        capacity: Its purchase option, such as ``spot``; empty if no label names one.
        offered: What pods can request, by resource.
        taints: The taints that keep pods without a toleration out.
    """

    name: str
    instance_type: str
    region: str
    capacity: str
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)
    offered: Mapping[str, Decimal] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()

    @property
    def accelerators(self) -> frozenset[str]:
        """Extended resources of the accelerators that pods can request."""
        return frozenset(key for key, amount in self.offered.items() if amount and is_accelerator(key))

    @property
    def is_reserved(self) -> bool:
        """Whether a taint reserves it for pods that request an accelerator."""
        return any(is_accelerator(taint["key"]) for taint in self.taints)

    @property
    def choice(self) -> NodeChoice:
        """The node as a choice of pods."""
        selector = {key: self.labels[key] for key in capacity_labels() if key in self.labels}
        return NodeChoice("node", self.instance_type or None, selector)


def nodes_of(snapshot: ClusterSnapshot) -> dict[str, ClusterNode]:
    """Return the nodes of a snapshot by name."""
    return {node["metadata"]["name"]: _node(node) for node in snapshot.nodes}


def _node(body: Object) -> ClusterNode:
    labels = {str(key): str(value) for key, value in (body["metadata"].get("labels") or {}).items()}
    status = body.get("status") or {}
    offered: Mapping[str, Any] = status.get("allocatable") or status.get("capacity") or {}
    return ClusterNode(
        name=body["metadata"]["name"],
        instance_type=next((labels[label] for label in TYPE_LABELS if label in labels), ""),
        region=next((labels[label] for label in _REGION_LABELS if label in labels), ""),
        capacity=capacity_in(labels),
        labels=labels,
        offered={str(key): parse_quantity(value) for key, value in offered.items() if is_quantity(value)},
        taints=tuple(
            {"key": str(taint.get("key")), "value": str(taint.get("value") or ""), "effect": str(taint.get("effect"))}
            for taint in (body.get("spec") or {}).get("taints") or ()
            if taint.get("effect") in _REPELLING
        ),
    )


def nodes_under(pods: Iterable[Object], nodes: Mapping[str, ClusterNode]) -> tuple[NodeChoice, ...]:
    """Return the nodes that pods run on, the most frequent type first."""
    names = (str((pod.get("spec") or {}).get("nodeName") or "") for pod in pods)
    return _choices(nodes[name] for name in names if name in nodes)


def nodes_for(pod: Object, nodes: Mapping[str, ClusterNode]) -> tuple[NodeChoice, ...]:
    """Return the nodes that accept a pod with accelerators, by labels, taints and allocatable resources.

    Empty for pods without accelerators.

    Args:
        pod: Its spec.
        nodes: The nodes of the cluster.
    """
    requests = requests_of(pod)
    if not any(is_accelerator(key) for key in requests):
        return ()

    def accepts(node: ClusterNode) -> bool:
        # A node that does not report a resource, such as in a file, is not known to lack it.
        known = {key: amount for key, amount in requests.items() if key in node.offered or is_accelerator(key)}
        return not NodeKind(node.name, node.offered, node.labels, node.taints).obstacle(pod, known)

    return _choices(filter(accepts, nodes.values()))


def _choices(used: Iterable[ClusterNode]) -> tuple[NodeChoice, ...]:
    """Return the types and capacities of nodes, those of most nodes first."""
    counts: Counter[tuple[str, str]] = Counter()
    choices: dict[tuple[str, str], NodeChoice] = {}
    for node in used:
        if node.instance_type:
            key = (node.instance_type, node.capacity)
            counts[key] += 1
            choices[key] = node.choice
    order = sorted(counts, key=lambda key: (-counts[key], key))
    return tuple(choices[key] for key in order)


def releases_in(snapshot: ClusterSnapshot, resources: Iterable[LoadedResource]) -> dict[str, tuple[str, ...]]:
    """Return the possible releases of each family's API in a cluster, oldest first.

    They are those whose definitions are most like the ones that the server has; several may have the same fields.
    Without definitions, they are those with all fields of the resources.

    Args:
        snapshot: The snapshot.
        resources: The resources, read in the union of all releases.
    """
    definitions = {body["metadata"]["name"]: body for body in snapshot.definitions}
    by_family: dict[str, list[LoadedResource]] = {}
    for source in resources:
        if source.kind.releases.names:
            by_family.setdefault(source.kind.releases.family, []).append(source)
    releases: dict[str, tuple[str, ...]] = {}
    for family in FAMILIES:
        if not family.releases.names:
            continue
        served = {member.kind.crd_name: member.kind for member in family.members}
        if served.keys() & definitions.keys():
            releases[family.name] = _nearest(family, definitions)
        elif family.name in by_family:
            fitting = [set(fitting_releases(source.resource, source.kind)) for source in by_family[family.name]]
            common = set.intersection(*fitting)
            possible = tuple(name for name in family.releases.names if name in common)
            if possible:
                releases[family.name] = possible
    return releases


def _present(capabilities: frozenset[str]) -> frozenset[str]:
    """Return the charts that a cluster has by what it serves.

    Of several that provide what only one can, it has one: that with most of its definitions, else the first by name.
    """
    matched = {
        name: len(capabilities.intersection((*chart.provides, *chart.crds)))
        for name, chart in known().items()
        if not capabilities.isdisjoint((*chart.provides, *chart.crds))
    }
    for capability in EXCLUSIVE:
        owners = sorted(name for name in matched if capability in known()[name].provides)
        kept = max(owners, key=lambda name: matched[name], default="")
        matched = {name: number for name, number in matched.items() if name == kept or name not in owners}
    return frozenset(matched)


def _nearest(family: Family, definitions: Mapping[str, Object]) -> tuple[str, ...]:
    """Return the releases whose definitions differ the least from those that a server has."""
    live = {
        member.kind: frozenset(_fields_of(definitions[member.kind.crd_name], member.kind.version))
        for member in family.members
        if member.kind.crd_name in definitions
    }
    distance: dict[str, int] = {}
    for release in family.releases.names:
        distance[release] = 0
        for kind, fields in live.items():
            at = kind.at(release)
            own = frozenset(_fields_of(crd(at), kind.version)) if at.exists else frozenset[str]()
            distance[release] += len(fields ^ own)
    least = min(distance.values())
    return tuple(release for release, number in distance.items() if number == least)


def _fields_of(definition: Object, version: str) -> Iterator[str]:
    """Yield the fields of a kind's spec in a definition; embedded core types are left out."""
    versions = (definition.get("spec") or {}).get("versions") or ()
    schema = next((each.get("schema") for each in versions if each.get("name") == version), None) or {}
    root = ((schema.get("openAPIV3Schema") or {}).get("properties") or {}).get("spec") or {}
    yield from _properties(root, "")


def _properties(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, inner in (schema.get("properties") or {}).items():
        yield f"{path}.{name}"
        # Core types differ by the Kubernetes version that a project was built with, not by its release.
        if name not in ("template", "containers", "initContainers", "volumes", "affinity", "tolerations", "env"):
            yield from _properties(inner, f"{path}.{name}")
    if isinstance(schema.get("items"), dict):
        yield from _properties(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _properties(schema["additionalProperties"], f"{path}{{}}")


def environment_of(
    snapshot: ClusterSnapshot, releases: Mapping[str, str], nodes: Iterable[ClusterNode]
) -> Environment:
    """Return the environment to check models in: their operators run there, and nothing is installed.

    Args:
        snapshot: The snapshot.
        releases: Release of the API by family.
        nodes: The nodes.
    """
    nodes = [*nodes]
    facts = None
    if snapshot.api_groups:
        capabilities = snapshot.api_groups.union(*(node.accelerators for node in nodes))
        facts = ClusterFacts(
            version=snapshot.server_version.removeprefix("v"),
            present=_present(capabilities),
            releases={family: releases_of(family).find(release) for family, release in releases.items()},
            file=snapshot.source,
        )
    options = Options(
        realization=Realization.OPERATOR,
        releases=dict(releases),
        # Only nodes that are known to have a taint keep pods without a toleration out.
        tolerates_devices=not any(node.is_reserved for node in nodes),
    )
    return Environment(options=options, cluster=facts, other_kinds=OtherKinds.SKIP, file=snapshot.source)

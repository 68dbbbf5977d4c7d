"""Node pools of Karpenter and of EKS Auto Mode in a cluster, as nodes that settings can describe."""

from collections.abc import Iterable, Iterator, Mapping

from components.clouds.aws.nodes.requirements import (
    AUTO_NODE_CLASS,
    EC2_NODE_CLASS,
    NODE_POOL,
    most_of,
    pool_requirements,
)
from components.contract.quantity import parse_quantity
from components.fleet.instances import Instance
from components.fleet.objects import Object

from ...inspecting.describing import value_at
from ...inspecting.snapshot import ClusterSnapshot
from .inventory import FoundGroup, FoundReservation, Taint

_CAPACITIES = {"spot": "SPOT", "on-demand": "ON_DEMAND"}
"""EKS' spelling of Karpenter's capacity types, in the order in which Karpenter uses them."""
_RESERVED = "reserved"
_IMAGES = {"al2023": "AL2023", "al2": "AL2", "bottlerocket": "BOTTLEROCKET", "windows": "WINDOWS"}
"""EKS image types by the alias or family of an EC2NodeClass; the rest of their names does not matter here."""


def node_pools(snapshot: ClusterSnapshot, region: str, reservations: Iterable[FoundReservation]) -> list[FoundGroup]:
    """Return the nodes that the NodePools of a cluster launch, one for each pool and instance type.

    Args:
        snapshot: The objects of the cluster.
        region: AWS region.
        reservations: Reservations of the account.
    """
    by_id = {item.id: item for item in reservations}
    return [
        group
        for pool in snapshot.of_kind(*NODE_POOL)
        for group in _Pool(pool, _class_of(pool, snapshot), region).groups(by_id)
    ]


def _class_of(pool: Object, snapshot: ClusterSnapshot) -> Object | None:
    reference = value_at(pool, "spec.template.spec.nodeClassRef") or {}
    kind = (str(reference.get("group")), str(reference.get("kind")))
    if kind not in (EC2_NODE_CLASS, AUTO_NODE_CLASS):
        return None
    return snapshot.find(*kind, "", str(reference.get("name")))


class _Pool:
    """A NodePool with its node class."""

    def __init__(self, pool: Object, node_class: Object | None, region: str) -> None:
        self._spec: Object = pool.get("spec") or {}
        self._template: Object = self._spec.get("template") or {}
        self._name = str(pool["metadata"]["name"])
        self._class = node_class
        self._is_auto = value_at(self._template, "spec.nodeClassRef.group") == AUTO_NODE_CLASS[0]
        self._title = "NodePool of EKS Auto Mode" if self._is_auto else "NodePool"
        self._allowed = pool_requirements(value_at(self._template, "spec.requirements") or (), region)

    def groups(self, reservations: Mapping[str, FoundReservation]) -> Iterator[FoundGroup]:
        reason = self._unusable()
        if reason:
            yield FoundGroup(self._name, title=self._title, reason=reason)
            return
        held = [item for item in self._reservations(reservations) if _RESERVED in self._capacities()]
        of_types = {node.name: node for node in self._allowed.types}
        others = [each for each in self._capacities() if each != _RESERVED]
        for item in held if not others else ():
            if item.instance_type in of_types:
                yield self._group(of_types[item.instance_type], "ON_DEMAND", item.id, (item.zone,))
        if not others and not any(item.instance_type in of_types for item in held):
            reason = "launches nodes in reservations only, and none of them is known with a type of the pool"
            yield FoundGroup(self._name, title=self._title, reason=reason)
        for node in self._allowed.types if others else ():
            capacity = next(word for name, word in _CAPACITIES.items() if name in others)
            yield self._group(node, capacity, "", (), [item.id for item in held if item.instance_type == node.name])

    def _capacities(self) -> tuple[str, ...]:
        """Return the capacity types; without a requirement, Karpenter uses all of them."""
        return self._allowed.capacities or (*_CAPACITIES, _RESERVED)

    def _unusable(self) -> str:
        """Return why no setting expresses the pool; empty if one does."""
        allowed = self._allowed
        if allowed.unresolved:
            return f"which instance types it launches is not known: {'; '.join(allowed.unresolved)}"
        if not allowed.types:
            return "has no accelerators" if allowed.others else "no known instance type meets its requirements"
        if not self._limited():
            return "its limits allow no node with accelerators"
        return ""

    def _limited(self) -> list[tuple[Instance, int | None]]:
        limits = {key: int(parse_quantity(value)) for key, value in (self._spec.get("limits") or {}).items()}
        counted = [(node, most_of(node, limits)) for node in self._allowed.types]
        return [(node, most) for node, most in counted if most != 0]

    def _group(
        self, node: Instance, capacity: str, reservation: str, zones: tuple[str, ...], held: list[str] | None = None
    ) -> FoundGroup:
        replicas = self._spec.get("replicas")
        return FoundGroup(
            name=self._name,
            title=self._title,
            instance_types=(node.name,),
            capacity=capacity,
            # The number of nodes of a static pool, which no pod changes.
            maximum=replicas if isinstance(replicas, int) else dict(self._limited()).get(node, 0),
            labels={**(value_at(self._template, "metadata.labels") or {}), **self._allowed.labels},
            taints=tuple(
                Taint(str(taint.get("key")), str(taint.get("value") or ""), str(taint.get("effect")))
                for taint in value_at(self._template, "spec.taints") or ()
            ),
            ami_type=self._image(),
            zones=zones or self._zones(),
            reservation=reservation,
            notes=tuple(self._notes(capacity, held or [])),
        )

    def _notes(self, capacity: str, held: list[str]) -> Iterator[str]:
        if capacity == "SPOT" and "on-demand" in self._capacities():
            yield "launches spot or on-demand nodes; Karpenter prefers spot, which the settings describe"
        if held:
            yield f"uses the reservations {', '.join(held)} first; costs assume other nodes"
        if self._allowed.open:
            keys = ", ".join(self._allowed.open)
            yield f"labels with several possible values ({keys}) follow the pods, and have no setting"
        if self._class is None:
            yield "its node class was not read, so that its image and its subnets are unknown"

    def _zones(self) -> tuple[str, ...]:
        subnets = value_at(self._class or {}, "status.subnets") or ()
        of_class = {str(subnet["zone"]) for subnet in subnets if subnet.get("zone")}
        required = set(self._allowed.zones)
        return tuple(sorted(of_class & required if of_class and required else of_class | required))

    def _image(self) -> str:
        if self._is_auto:
            return "BOTTLEROCKET"  # EKS user guide, "Automate cluster infrastructure with EKS Auto Mode"
        spec: Object = (self._class or {}).get("spec") or {}
        aliases = [str(term.get("alias")) for term in spec.get("amiSelectorTerms") or () if term.get("alias")]
        family = aliases[0].partition("@")[0] if aliases else str(spec.get("amiFamily") or "")
        if not spec:
            return ""
        return next((word for name, word in _IMAGES.items() if family.lower().startswith(name)), "CUSTOM")

    def _reservations(self, known: Mapping[str, FoundReservation]) -> list[FoundReservation]:
        held = value_at(self._class or {}, "status.capacityReservations") or ()
        return [known[id_] for item in held if (id_ := str(item.get("id"))) in known]

"""Checks of nodes against the storage of weights."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.nodes.availability import runs_on
from ....fleet.nodes.fit import amount_needed, amount_of
from ....fleet.nodes.groups import DAEMON_PODS, lands_on, offered_by, room_for
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ....fleet.workloads import Workload
from ..nodes.plan import NodeEnvironment, NodeGroupPlan
from ..words import Provisioner

_MOUNTPOINT_BYTES = Decimal(512 * 2**20)
"""Memory below which Mountpoint does not limit itself."""


def check_cache_zone(groups: Iterable[NodeGroupPlan], zone: str | None, file: str) -> Iterator[Problem]:
    """Warn about nodes outside the zone of a file system, whose reads cross zones.

    This works, but AWS bills the traffic in both directions, and it is slower (FSx for Lustre user guide, "Accessing
    file systems"; EC2 pricing, "Data transfer within the same AWS Region").
    """
    apart = (
        {group.name: [own_zone for own_zone in group.zones if own_zone != zone] for group in groups} if zone else {}
    )
    names = [f"{name} ({', '.join(zones)})" for name, zones in apart.items() if zones]
    if names:
        reason = (
            f"{zone}, but nodes may be in other zones: {', '.join(names)}; reads across zones are slower and billed. "
            f"Set zones: [{zone}] for them"
        )
        yield Problem(
            file=file,
            path="modelCache.fsx.zone",
            reason=reason,
            severity=Severity.WARNING,
            rule=RuleId.STORAGE_CROSS_ZONE,
        )


def check_volume_zones(
    fleet: Fleet, groups: Iterable[NodeGroupPlan], environment: NodeEnvironment, classes: Collection[str | None]
) -> Iterator[Problem]:
    """Warn about pods with a volume in one zone, whose node group may start nodes in another.

    An EBS volume stays in the zone of its first pod. The Cluster Autoscaler asks the Auto Scaling group for a node,
    and the group chooses the zone (kubernetes/autoscaler issues 3845 and 6000; its AWS page: one group per zone for
    pods with EBS volumes). Karpenter launches nodes in the zone of the volume.

    Args:
        fleet: The rendered fleet.
        groups: Its node groups.
        environment: Node settings.
        classes: Storage classes whose volumes are EBS volumes; None is the default class.
    """
    if environment.provisioner == Provisioner.KARPENTER:
        return
    spread = [group for group in groups if len(group.zones) > 1 and not group.existing]
    bodies = {
        (item.namespace, body["metadata"]["name"]): body["spec"]
        for item in fleet.rendered
        for body in item.objects
        if body["kind"] == "PersistentVolumeClaim"
    }
    for item, workload in fleet.workloads:
        claims = dict(workload.claims)
        claims |= {name: bodies.get((item.namespace, name), {"volumeName": name}) for name in _mounted(workload)}
        zonal = sorted(name for name, spec in claims.items() if _is_zonal(spec, classes))
        among = [group for group in spread if zonal and runs_on(workload, group.demand, environment.nodes)]
        if not among:
            continue
        group = among[0]
        zones = environment.place.path("types", group.node.name, "zones")
        reason = (
            f"{workload.kind} {workload.name} mounts {', '.join(zonal)}, an EBS volume that stays in the zone of its "
            f"first pod, but nodes of {', '.join(group.name for group in among)} start in {', '.join(group.zones)}: "
            f"a pod that needs a new node stays Pending if the node starts in another zone. Set {zones}: "
            f"[{group.zones[0]}], provisioner: karpenter, or a cache that all zones share (modelCache.efs)"
        )
        yield item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.STORAGE_ZONAL)


def check_mount_room(
    fleet: Fleet, groups: Sequence[NodeGroupPlan], environment: NodeEnvironment, buckets: Collection[str]
) -> Iterator[Problem]:
    """Warn about pods that leave no room on their node for the pods that mount buckets.

    The driver starts a Mountpoint pod per volume on the node after the pod is scheduled there. It requests no memory
    (awslabs/mountpoint-s3-csi-driver 57c6bed, pkg/podmounter/mppod/creator.go; docs/CONFIGURATION.md advises against
    requests, issue 543) but needs at least 512 MiB (awslabs/mountpoint-s3, MINIMUM_MEM_LIMIT), and it preempts no
    pod (the driver's PriorityClass mount-s3-critical; issue 778: "Too many pods").

    Args:
        fleet: The rendered fleet.
        groups: Its node groups.
        environment: Node settings.
        buckets: Claims whose volumes are buckets.
    """
    for item, workload in fleet.workloads:
        mounts = sorted({*_mounted(workload)}.intersection(buckets))
        found = (_lacking(workload, group, environment, len(mounts)) for group in groups if mounts)
        lacks = next(filter(None, found), "")
        if lacks:
            reason = (
                f"{workload.kind} {workload.name} mounts {', '.join(mounts)}, and on each node the driver starts a "
                f"pod of Mountpoint for each bucket, which requests nothing and is counted by no scheduler: {lacks}"
            )
            yield item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.STORAGE_MOUNT_ROOM)


def _lacking(workload: Workload, group: NodeGroupPlan, environment: NodeEnvironment, mounts: int) -> str:
    """Return what nodes lack for Mountpoint beside as many pods of a workload as they take; empty if nothing."""
    node = group.node.name
    offered = offered_by(node, efa=bool(group.interfaces), pods=group.demand.pods)
    for demand in workload.pods:
        here = (
            lands_on(each, group.demand.labels, group.demand.capacity, environment.nodes) for each in demand.choices
        )
        count = room_for({**demand.requests, "pods": Decimal(1)}, offered) if any(here) else 0
        if not count:
            continue  # ``fit`` reports pods that are too large
        requested = count * demand.requests.get("memory", Decimal(0))
        left, needed = offered["memory"] - requested, mounts * _MOUNTPOINT_BYTES
        if left < needed:
            most = amount_of("memory", (offered["memory"] - needed) / count)
            return (
                f"{node} has {amount_of('memory', left)} left beside the {amount_needed('memory', requested)} that "
                f"{count} of its pods request, and Mountpoint needs at least 512 MiB per bucket. Without, it is "
                f"killed, and pods lose the mount. Request at most {most} "
                "for each pod, or use an instance type with more memory"
            )
        if offered["pods"] - count < mounts + DAEMON_PODS:
            return (
                f"{node} takes {offered['pods']} pods, and beside {count} of these and about {DAEMON_PODS} of "
                "DaemonSets it takes none, so that Mountpoint stays Pending, and pods wait for their volumes. Use an "
                "instance type that takes more pods, or prefix delegation"
            )
    return ""


def _mounted(workload: Workload) -> Iterator[str]:
    """Yield the claims that pods mount by name."""
    for template in workload.templates:
        for volume in template["spec"].get("volumes") or ():
            claim = volume.get("persistentVolumeClaim")
            if claim:
                yield claim["claimName"]


def _is_zonal(spec: Object, classes: Collection[str | None]) -> bool:
    """Whether a claim gets a new volume of a class of EBS, which only pods on one node can mount."""
    own = not spec.get("volumeName") and spec.get("storageClassName") in classes
    return own and "ReadWriteMany" not in (spec.get("accessModes") or ())

"""Resources of nodes besides CPU, memory and devices: ephemeral storage and huge pages.

Kubelet offers pods the file system of its folder less a tenth, at which it evicts pods, and 1 GiB that is reserved
(awslabs/amazon-eks-ami, nodeadm, kubeReserved; Kubernetes, "Reserve Compute Resources": nodefs.available<10%). On
nodes with local NVMe disks the folder is on their RAID 0 array, elsewhere on the disk of the launch template. Huge
pages are allocated when a node starts, which the images do for EFA alone (aws-gpu spec 8).

The Cluster Autoscaler reads both only from tags of an empty group (aws-gpu spec 9). Karpenter knows the disk, and no
huge pages (kubernetes-sigs/karpenter issue 751).
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....contract.quantity import GIB, parse_quantity
from ....fleet.nodes.availability import runs_on
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ....fleet.workloads import Workload
from ..words import Provisioner
from .autoscaler import resource_tag

if TYPE_CHECKING:
    from .plan import NodeEnvironment, NodeGroupPlan

EPHEMERAL, HUGE, HUGE_2MI = "ephemeral-storage", "hugepages-", "hugepages-2Mi"
_GB = 10**9
_LEFT = Decimal("0.9")
"""Share of the file system above which kubelet evicts pods."""
_XFS = Decimal("0.99")
"""Share of local disks that the file system does not take."""


def offered(group: "NodeGroupPlan") -> dict[str, Decimal]:
    """Return what an empty node of a group offers of these resources, in bytes."""
    disk = group.node.local_nvme_gb * _GB * _XFS if group.node.local_nvme_gb else group.disk.gib * GIB
    storage = {EPHEMERAL: disk * _LEFT - GIB}
    huge = {HUGE_2MI: Decimal(group.node.fabric_memory)} if group.interfaces and group.node.fabric_memory else {}
    return {**storage, **huge}


def requested(workload: Workload) -> Mapping[str, Decimal]:
    """Return the largest requests of these resources by any pod of a workload, in bytes."""
    most: dict[str, Decimal] = {}
    for template in workload.templates:
        for key, amount in _pod_requests(template["spec"]).items():
            most[key] = max(most.get(key, Decimal(0)), amount)
    return most


def _pod_requests(spec: Object) -> dict[str, Decimal]:
    """Return the requests of a pod: the sum over its containers, or those of a larger init container."""
    total: dict[str, Decimal] = {}
    for container in spec.get("containers") or ():
        for key, amount in _requests(container).items():
            total[key] = total.get(key, Decimal(0)) + amount
    for container in spec.get("initContainers") or ():
        for key, amount in _requests(container).items():
            total[key] = max(total.get(key, Decimal(0)), amount)
    return total


def _requests(container: Object) -> dict[str, Decimal]:
    """Return the requests of a container; a limit alone is a request too."""
    resources = container.get("resources") or {}
    both = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {
        key: parse_quantity(str(value)) for key, value in both.items() if key == EPHEMERAL or key.startswith(HUGE)
    }


def with_resource_tags(group: "NodeGroupPlan", fleet: Fleet, environment: "NodeEnvironment") -> Mapping[str, str]:
    """Return the tags of a group, with these resources if pods that may run there request them.

    Only then, so that other groups keep the tags that they have.
    """
    wanted = {
        key
        for _, workload in fleet.workloads
        if runs_on(workload, group.demand, environment.nodes)
        for key in requested(workload)
    }
    offers = offered(group)
    return {**group.tags, **{resource_tag(key): str(int(offers[key])) for key in sorted(wanted) if key in offers}}


def check_disks(
    fleet: Fleet, groups: "tuple[NodeGroupPlan, ...]", environment: "NodeEnvironment"
) -> Iterator[Problem]:
    """Report pods that request more ephemeral storage or huge pages than any of their nodes has."""
    for item, workload in fleet.workloads:
        needs = requested(workload)
        # Existing groups and images of one's own may have other disks, and huge pages.
        nodes = [group for group in groups if runs_on(workload, group.demand, environment.nodes)]
        if not nodes or any(group.existing or group.ami_id for group in nodes):
            continue
        for key, amount in sorted(needs.items()):
            by_karpenter = environment.provisioner == Provisioner.KARPENTER and key.startswith(HUGE)
            if key.startswith(HUGE) and environment.boot.user_data and not by_karpenter:
                continue
            best = max(nodes, key=lambda group: offered(group).get(key, Decimal(0)))
            most = Decimal(0) if by_karpenter else offered(best).get(key, Decimal(0))
            if amount <= most:
                continue
            reason = f"its pods request {_size(amount)} of {key}, and "
            if by_karpenter:
                reason += "Karpenter knows no huge pages, so it launches no node for them; remove the request"
            elif key == EPHEMERAL:
                reason += f"nodes of {best.name} have {_size(most)}; request less{_larger_disk(best, environment)}"
            else:
                reason += (
                    f"nodes of {best.name} have {_size(most)}: the images allocate huge pages of 2 MiB on nodes with "
                    f"EFA; remove the request, or allocate them in {environment.place.path('userData')}"
                )
            yield item.source.problem(
                "spec", f"{workload.kind} {workload.name}: {reason}", rule=RuleId.NODES_TOO_SMALL
            )


def _larger_disk(group: "NodeGroupPlan", environment: "NodeEnvironment") -> str:
    if group.node.local_nvme_gb:
        return f", or use a type with more than the {group.node.local_nvme_gb} GB of local disks of {group.node.name}"
    return f", or raise {environment.place.path('diskGib')}, now {group.disk.gib}"


def _size(amount: Decimal) -> str:
    return f"{amount / GIB:.0f} GiB" if amount >= GIB else f"{amount / 2**20:.0f} MiB"

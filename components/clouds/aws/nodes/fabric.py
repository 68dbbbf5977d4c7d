"""Pods that span nodes with EFA ask for it; without the request their engines talk to each other over TCP.

AWS's examples request huge pages too; here nobody does, and libfabric is told to do without, as it does under NCCL
anyway (aws/aws-ofi-nccl, doc/efa-env-var.md; libfabric, fi_efa(7)): each image sets aside another number of them, and
Karpenter never makes a node for a pod that requests any (kubernetes-sigs/karpenter, issue 751).
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.demand import NodeChoice, PodDemand
from ....fleet.instances import instance
from ....fleet.nodes.groups import lands_on, wants_efa
from ....fleet.nodes.policy import NodePolicy
from ....fleet.objects import Object
from ....fleet.rendered import Fleet, Rendered
from ....fleet.workloads import Workload
from ..names import EFA_RESOURCE
from .plan import NodeEnvironment, NodeGroupPlan

_VARIABLES: Mapping[str, str] = {"FI_PROVIDER": "efa", "FI_EFA_USE_HUGE_PAGE": "0"}
_HUGE_PAGES = "hugepages-2Mi"


def with_efa(fleet: Fleet, policy: NodePolicy) -> Fleet:
    """Return the fleet with EFA requested by the pods of groups that run on nodes with ``efa: true``."""
    if not policy.efa_types:
        return fleet
    return replace(fleet, rendered=tuple(_item(item, policy) for item in fleet.rendered))


def _item(item: Rendered, policy: NodePolicy) -> Rendered:
    return replace(item, workloads=tuple(_workload(workload, policy) for workload in item.workloads))


def _workload(workload: Workload, policy: NodePolicy) -> Workload:
    """Let each pod of a group ask for its share; a pod alone has nobody to talk to."""
    counts = [_share(demand, policy) for demand in workload.pods]
    is_alone = workload.size == 1 and (workload.part_of is None or workload.group is None)
    if workload.operated or is_alone or not any(counts):
        return workload
    changed = replace(workload, body=copy.deepcopy(workload.body))
    for template, demand, count in zip(changed.templates, workload.pods, counts, strict=False):
        if count:
            _request(_served_by(template["spec"], demand), count)
    pods = tuple(
        replace(demand, requests={**demand.requests, EFA_RESOURCE: Decimal(count)}) if count else demand
        for demand, count in zip(workload.pods, counts, strict=True)
    )
    return replace(changed, pods=pods)


def _share(demand: PodDemand, policy: NodePolicy) -> int:
    """Count the interfaces for one pod: all of a node for all of its accelerators, and as many on every choice."""
    if wants_efa(demand) or not demand.choices:
        return 0
    return min(_share_on(choice, demand, policy) for choice in demand.choices)


def _share_on(choice: NodeChoice, demand: PodDemand, policy: NodePolicy) -> int:
    if not policy.of(choice.instance_type or "").efa:
        return 0
    shares = []
    for name in (choice.instance_type or "", *choice.alternatives):
        node = instance(name)
        if node is None or node.accelerator_resource is None:
            return 0
        shares.append(
            int(node.fabric_interfaces * demand.requests.get(node.accelerator_resource, 0) / node.accelerators)
        )
    return min(shares)


def _served_by(pod: Object, demand: PodDemand) -> Object:
    """Return the container that has the pod's accelerators."""
    devices = {key for key in demand.requests if "/" in key}
    containers: list[Object] = pod["containers"]
    return next((one for one in containers if devices & _resources(one, "limits").keys()), containers[0])


def _resources(container: Object, part: str) -> Object:
    return (container.get("resources") or {}).get(part) or {}


def _request(container: Object, count: int) -> None:
    """Write the request, and what libfabric has to know; what the manifest says itself stays."""
    amounts = {EFA_RESOURCE: str(count)}
    resources = {**(container.get("resources") or {}), "limits": {**_resources(container, "limits"), **amounts}}
    if resources.get("requests"):
        resources["requests"] = {**resources["requests"], **amounts}
    container["resources"] = resources
    there = {variable["name"] for variable in container.get("env") or ()}
    if _HUGE_PAGES in resources["limits"]:
        there.add("FI_EFA_USE_HUGE_PAGE")
    added = [{"name": name, "value": value} for name, value in _VARIABLES.items() if name not in there]
    container["env"] = [*(container.get("env") or ()), *added]


def unused_efa(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report nodes whose interfaces no pod requests: they tie the nodes to one zone and take memory from the pods."""
    demands = [demand for item in fleet.rendered for demand in item.pods if wants_efa(demand)]
    for group in groups:
        if not group.interfaces or any(_may_use(group, demand, environment.nodes) for demand in demands):
            continue
        reason = (
            f"no pod on the nodes of {group.name} requests their {group.node.fabric_interfaces} EFA interfaces; pods "
            f"of a group that spans nodes do so by themselves if their accelerators are a share with at least one "
            f"interface. Remove efa, or request {EFA_RESOURCE} in the manifest"
        )
        yield environment.place.problem(
            ("types", group.node.name, "efa"), reason, Severity.WARNING, rule=RuleId.NODES_EFA_UNUSED
        )


def _may_use(group: NodeGroupPlan, demand: PodDemand, policy: NodePolicy) -> bool:
    if not demand.choices:
        return True
    there = group.demand
    return any(lands_on(choice, there.labels, there.capacity, policy) for choice in demand.choices)

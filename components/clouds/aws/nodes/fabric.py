"""EFA requests of pods in groups that span nodes; without the request their engines communicate over TCP.

AWS's examples also request huge pages. This package does not, and configures libfabric to work without them, as it
does under NCCL anyway (aws/aws-ofi-nccl, doc/efa-env-var.md; libfabric, fi_efa(7)): images differ in how many they
set aside, and Karpenter never launches a node for a pod that requests any (kubernetes-sigs/karpenter, issue 751).
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.demand import PodDemand
from ....fleet.instances import instance
from ....fleet.nodes.groups import lands_on, wants_efa
from ....fleet.nodes.policy import NodePolicy
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ....fleet.workloads import Workload
from ..names import EFA_RESOURCE
from .plan import NodeEnvironment, NodeGroupPlan

_VARIABLES: Mapping[str, str] = {"FI_PROVIDER": "efa", "FI_EFA_USE_HUGE_PAGE": "0"}
_HUGE_PAGES = "hugepages-2Mi"


def with_efa(fleet: Fleet, policy: NodePolicy) -> Fleet:
    """Return the fleet with EFA requested by the pods of groups that run on nodes with ``efa: true``."""
    if not policy.efa_types:
        return fleet
    rendered = (
        replace(item, workloads=tuple(_workload(workload, policy) for workload in item.workloads))
        for item in fleet.rendered
    )
    return replace(fleet, rendered=tuple(rendered))


def _workload(workload: Workload, policy: NodePolicy) -> Workload:
    """Return a workload whose pods request their interfaces; a pod outside of a group has no peers."""
    counts = [_interfaces(demand, policy) for demand in workload.pods]
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


def _interfaces(demand: PodDemand, policy: NodePolicy) -> int:
    """Return the interfaces for one pod: in proportion to its accelerators, and the least of its node types."""
    if wants_efa(demand) or not demand.choices:
        return 0
    shares = []
    for choice in demand.choices:
        if not policy.of(choice.instance_type or "").efa:
            return 0
        for name in (choice.instance_type or "", *choice.alternatives):
            node = instance(name)
            if node is None or node.accelerator_resource is None:
                return 0
            devices = demand.requests.get(node.accelerator_resource, 0)
            shares.append(int(node.fabric_interfaces * devices / node.accelerators))
    return min(shares)


def _served_by(pod: Object, demand: PodDemand) -> Object:
    """Return the container with the pod's accelerators."""
    devices = {key for key in demand.requests if "/" in key}
    containers: list[Object] = pod["containers"]
    return next((c for c in containers if devices & _resources(c, "limits").keys()), containers[0])


def _resources(container: Object, part: str) -> Object:
    return (container.get("resources") or {}).get(part) or {}


def _request(container: Object, count: int) -> None:
    """Add the request and the variables of libfabric to a container, except variables that the manifest sets."""
    amounts = {EFA_RESOURCE: str(count)}
    resources = {**(container.get("resources") or {}), "limits": {**_resources(container, "limits"), **amounts}}
    if resources.get("requests"):
        resources["requests"] = {**resources["requests"], **amounts}
    container["resources"] = resources
    present = {variable["name"] for variable in container.get("env") or ()}
    if _HUGE_PAGES in resources["limits"]:
        # The manifest requests huge pages, so libfabric may use them.
        present.add("FI_EFA_USE_HUGE_PAGE")
    added = [{"name": name, "value": value} for name, value in _VARIABLES.items() if name not in present]
    container["env"] = [*(container.get("env") or ()), *added]


def unused_efa(fleet: Fleet, groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn about EFA interfaces that no pod requests: they limit the nodes to one zone and set aside memory."""
    demands = [demand for item in fleet.rendered for demand in item.pods if wants_efa(demand)]
    for group in groups:
        nodes = group.demand
        is_used = any(
            not demand.choices
            or any(lands_on(choice, nodes.labels, nodes.capacity, environment.nodes) for choice in demand.choices)
            for demand in demands
        )
        if not group.interfaces or is_used:
            continue
        reason = (
            f"no pod on the nodes of {group.name} requests their {group.node.fabric_interfaces} EFA interfaces; pods "
            f"of a group that spans nodes do so by themselves if their accelerators are a share with at least one "
            f"interface. Remove efa, or request {EFA_RESOURCE} in the manifest"
        )
        yield environment.place.problem(
            ("types", group.node.name, "efa"), reason, Severity.WARNING, rule=RuleId.NODES_EFA_UNUSED
        )

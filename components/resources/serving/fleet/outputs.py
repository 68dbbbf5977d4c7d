"""The outputs endpoints, models and nodes of a fleet."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import pulumi

from ....checks.front_door.door import AddressOf, OutsideEndpoint
from ....checks.memory.verdicts import fit_in_words
from ....fleet.cloud import NodePlan
from ....fleet.endpoints import Endpoint
from ....fleet.instances import instance
from ....fleet.nodes.groups import NodeGroupDemand
from ....fleet.objects import Key, address_in
from ....fleet.rendered import Fleet, Rendered
from ....fleet.workloads import Workload, by_set
from ....plan.plan import Plan
from ..object_set import ObjectSet
from ..workload_component import WorkloadComponent

_PORTS = {"http": 80, "https": 443}


def output_name(planned: Plan, namespace: str, name: str) -> str:
    """Return a key of outputs: the name, with its namespace unless it is the default one."""
    return name if namespace == planned.environment.options.namespace else f"{namespace}/{name}"


def endpoints_of(
    planned: Plan, components: Mapping[Key, WorkloadComponent], door: ObjectSet | None
) -> dict[str, dict[str, Any]]:
    """Return the endpoint of each model.

    Args:
        planned: The fleet.
        components: Components by resource; their load balancers have addresses.
        door: The front door; its objects have addresses.
    """
    outside = {(each.namespace, each.name): each for each in planned.door.endpoints}
    found: dict[str, dict[str, Any]] = {}
    for item, endpoint in planned.fleet.endpoints:
        key = output_name(planned, endpoint.namespace, endpoint.name)
        component = components.get((item.kind, item.namespace, item.name))
        found[key] = _endpoint(endpoint, component, outside.get((endpoint.namespace, endpoint.name)), door)
    return found


def _endpoint(
    inside: Endpoint, component: WorkloadComponent | None, outside: OutsideEndpoint | None, door: ObjectSet | None
) -> dict[str, Any]:
    """Return the endpoint of a model, external if there is a front door or load balancer."""
    if outside is None or door is None:
        own: dict[str, Any] = {"url": inside.url}
        if component and inside.has_own_balancer:
            own = {"url": component.endpoints[inside.name], "clusterUrl": inside.url}
        return {**own, "api": inside.api, "model": inside.model, "port": inside.port}
    parts = urlsplit(outside.url)
    return {
        "url": _url(outside, door),
        "api": outside.api,
        "model": outside.model,
        "port": parts.port or _PORTS[parts.scheme],
        "clusterUrl": inside.url,
    }


def _url(outside: OutsideEndpoint, door: ObjectSet) -> pulumi.Input[str | None]:
    source = outside.address_of
    if source is None:
        return outside.url
    created = door.objects[source.kind, source.namespace, source.name]
    return created.status.apply(lambda status: _addressed(outside, source, status))


def _addressed(outside: OutsideEndpoint, source: AddressOf, status: Mapping[str, Any] | None) -> str | None:
    """Return the URL; None as long as the object has no address, which the next refresh brings."""
    address = address_in(status, source.fields)
    return outside.at(address) if address else None


def models_of(planned: Plan) -> dict[str, dict[str, Any]]:
    """Return the state of each serving resource."""
    served = [item for item in planned.fleet.rendered if item.endpoints]
    options = planned.environment.options
    kept = [claim.name for claim in planned.environment.claims]
    kept += [place for place in (options.cache.claim, options.cache.host_path) if place] if options.cache else []
    judged = {id(each.workload): each for each in planned.verdicts}
    found = {}
    for item in served:
        workloads = _serving_workloads(planned.fleet, item)
        fit = fit_in_words([judged[id(each)] for each in workloads if id(each) in judged])
        shown = output_name(planned, item.namespace, item.name)
        found[shown] = {**_model(item, workloads, kept), **({"fit": fit} if fit else {})}
    return found


def _serving_workloads(fleet: Fleet, item: Rendered) -> Sequence[Workload]:
    """Return the workloads of a resource; if it has only endpoints, the workloads that they select."""
    reached = frozenset[tuple[str, str]]().union(*(each.backend_keys for each in item.endpoints))
    return item.workloads or [each for _, each in fleet.workloads if each.backend_keys & reached]


def _model(item: Rendered, workloads: Sequence[Workload], kept: Collection[str]) -> dict[str, Any]:
    """Return the state of a resource.

    Args:
        item: The resource.
        workloads: Its workloads.
        kept: Claims and folders of the model cache.
    """
    sets = list(by_set(workloads).values())
    parts = sets[0] if sets else []
    weights = sorted({place for place in _mounted(workloads) if place in kept})
    # Objects of all sets, unless they are just the set itself. Bare pods have names of their own.
    is_mixed = len({each.kind for each in workloads}) > 1
    objects = [f"{each.kind}/{each.name}" if is_mixed else each.name for each in workloads if not each.bare]
    return {
        "kind": item.kind,
        "namespace": item.namespace,
        "workload": parts[0].set_name if parts else "",
        "workloadKind": parts[0].kind if parts else "",
        "replicas": sum(each.replicas for each in workloads),
        "model": item.model,
        **({"weights": ", ".join(weights)} if weights else {}),
        **({"workloads": [each[0].set_name for each in sets]} if len(sets) > 1 else {}),
        **({"parts": objects} if objects and objects != [parts[0].set_name] else {}),
    }


def _mounted(workloads: Iterable[Workload]) -> Iterator[str]:
    """Yield the claims and host paths that pods mount."""
    for template in (template for workload in workloads for template in workload.templates):
        for volume in template["spec"].get("volumes") or ():
            yield volume.get("persistentVolumeClaim", {}).get("claimName", "")
            yield volume.get("hostPath", {}).get("path", "")


def nodes_of(planned: Plan) -> dict[str, dict[str, Any]]:
    """Return the nodes that the models require, by group; in a cloud with their bounds."""
    sizes = {group.name: _sizes(group) for group in planned.cloud_groups}
    return {group.name: _group(group) | sizes.get(group.name, {}) for group in planned.groups}


def _group(group: NodeGroupDemand) -> dict[str, Any]:
    facts = instance(group.instance_type)
    return {
        "instanceType": group.instance_type,
        "nodes": group.nodes,
        "accelerators": facts.accelerators if facts else 0,
    }


def _sizes(group: NodePlan) -> dict[str, Any]:
    return {
        "instanceTypes": list(group.instance_types),
        "capacity": group.demand.capacity,
        "zones": list(group.zones),
        "minNodes": group.minimum,
        "maxNodes": group.maximum,
    }

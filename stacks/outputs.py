"""What a stack tells the world: endpoints, models, nodes and what was installed for them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pulumi

from components.catalog.instances import instance
from components.planning.node_plan import NodeGroupPlan
from components.planning.prerequisites import reasons_by_name
from components.render.core_services import address_in, is_balanced
from components.render.front_door import AddressOf, FrontDoorPlan, OutsideEndpoint
from components.render.types import NodeGroupDemand, Rendered
from components.serving.object_set import ObjectSet
from components.serving.workload_component import WorkloadComponent

from .plan import Plan

_PORTS = {"http": 80, "https": 443}


def export(
    planned: Plan, names: Mapping[int, str], components: Mapping[int, WorkloadComponent], door: ObjectSet | None
) -> None:
    """Export everything about the models.

    Args:
        planned: The stack.
        names: Name of each resource, by its identity.
        components: What each became, likewise; their load balancers know addresses.
        door: The registered front door; its objects know addresses.
    """
    served = [item for item in planned.fleet.rendered if item.endpoint]
    outside = _outside(planned.door)
    endpoints = {
        names[id(item)]: _endpoint(item, components[id(item)], outside.get(_key(item)), door) for item in served
    }
    pulumi.export("endpoints", endpoints)
    pulumi.export("models", {names[id(item)]: _model(item) for item in served})
    pulumi.export("prerequisites", reasons_by_name(planned.prerequisites))
    sizes = {group.name: _sizes(group) for group in planned.cloud_groups}
    pulumi.export("nodes", {group.name: _group(group) | sizes.get(group.name, {}) for group in planned.groups})


def _outside(door: FrontDoorPlan) -> dict[tuple[str, str], OutsideEndpoint]:
    return {(each.namespace, each.name): each for each in door.endpoints}


def _key(item: Rendered) -> tuple[str, str]:
    return item.namespace, item.name


def _endpoint(
    item: Rendered, component: WorkloadComponent, outside: OutsideEndpoint | None, door: ObjectSet | None
) -> dict[str, Any]:
    """Return where a model answers: from outside where there is a door, and always from within the cluster."""
    inside = item.endpoint
    assert inside is not None  # noqa: S101  the caller chose those that have one
    if outside is None or door is None:
        own = {"url": component.endpoint, "clusterUrl": inside.url} if _has_own(item) else {"url": inside.url}
        return {**own, "api": inside.api, "model": inside.model, "port": inside.port}
    parts = urlsplit(outside.url)
    return {
        "url": _url(outside, door),
        "api": outside.api,
        "model": outside.model,
        "port": parts.port or _PORTS[parts.scheme],
        "clusterUrl": inside.url,
    }


def _has_own(item: Rendered) -> bool:
    """Tell whether a model has a load balancer of its own."""
    return any(is_balanced(body) for body in item.objects)


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


def _model(item: Rendered) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "namespace": item.namespace,
        "workload": item.workload_name,
        "workloadKind": item.workload_kind,
        "replicas": item.replicas,
        "model": item.model,
    }


def _group(group: NodeGroupDemand) -> dict[str, Any]:
    facts = instance(group.instance_type)
    return {
        "instanceType": group.instance_type,
        "nodes": group.nodes,
        "accelerators": facts.accelerators if facts else 0,
    }


def _sizes(group: NodeGroupPlan) -> dict[str, Any]:
    return {
        "instanceTypes": list(group.instance_types),
        "capacity": group.demand.capacity,
        "zones": list(group.zones),
        "minNodes": group.minimum,
        "maxNodes": group.maximum,
    }

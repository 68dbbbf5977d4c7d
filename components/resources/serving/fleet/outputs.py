"""The outputs endpoints, models and nodes of a fleet."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import pulumi

from ....checks.front_door.door import OutsideEndpoint
from ....checks.memory.verdicts import fit_in_words
from ....checks.metrics.rules import has_rules
from ....checks.metrics.words import Adapter
from ....fleet.endpoints import Endpoint
from ....fleet.instances import instance
from ....fleet.objects import Key, address_in
from ....fleet.rendered import Rendered, ServingIndex
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
    outside = {(external.namespace, external.name): external for external in planned.door.endpoints}
    endpoints: dict[str, dict[str, Any]] = {}
    for item, endpoint in planned.fleet.endpoints:
        key = output_name(planned, endpoint.namespace, endpoint.name)
        component = components.get((item.kind, item.namespace, item.name))
        endpoints[key] = _endpoint(endpoint, component, outside.get((endpoint.namespace, endpoint.name)), door)
    return endpoints


def _endpoint(
    internal: Endpoint, component: WorkloadComponent | None, outside: OutsideEndpoint | None, door: ObjectSet | None
) -> dict[str, Any]:
    """Return the endpoint of a model, external if there is a front door or load balancer."""
    if outside is None or door is None:
        own: dict[str, Any] = {"url": internal.url}
        if component and internal.has_own_balancer:
            own = {"url": component.endpoints[internal.name], "clusterUrl": internal.url}
        return {**own, "api": internal.api, "model": internal.model, "port": internal.port}
    url: pulumi.Input[str | None] = outside.url
    source = outside.address_of
    if source is not None:

        def with_address(status: Mapping[str, Any] | None) -> str | None:
            # As long as the object has no address, the URL is unknown; the next refresh reads it.
            address = address_in(status, source.fields)
            return outside.at(address) if address else None

        url = door.objects[source.kind, source.namespace, source.name].status.apply(with_address)
    parts = urlsplit(outside.url)
    return {
        "url": url,
        "api": outside.api,
        "model": outside.model,
        "port": parts.port or _PORTS[parts.scheme],
        "clusterUrl": internal.url,
    }


def models_of(planned: Plan) -> dict[str, dict[str, Any]]:
    """Return the state of each serving resource."""
    served = [item for item in planned.fleet.rendered if item.endpoints]
    options = planned.environment.options
    kept = [claim.name for claim in planned.environment.claims]
    kept += [source for source in (options.cache.claim, options.cache.host_path) if source] if options.cache else []
    judged = {id(verdict.workload): verdict for verdict in planned.verdicts}
    index = ServingIndex(planned.fleet)
    models = {}
    for item in served:
        workloads = index.of_resource(item)
        fit = fit_in_words([judged[id(workload)] for workload in workloads if id(workload) in judged])
        key = output_name(planned, item.namespace, item.name)
        models[key] = {**_model(item, workloads, kept), **({"fit": fit} if fit else {})}
    return models


def _model(item: Rendered, workloads: Sequence[Workload], kept: Collection[str]) -> dict[str, Any]:
    """Return the state of a resource.

    Args:
        item: The resource.
        workloads: Its workloads.
        kept: Claims and folders of the model cache.
    """
    sets = list(by_set(workloads).values())
    parts = sets[0] if sets else []
    weights = sorted({source for source in _mounted(workloads) if source in kept})
    # Objects of all sets, unless they are just the set itself. Bare pods have names of their own.
    is_mixed = len({workload.kind for workload in workloads}) > 1
    objects = [
        f"{workload.kind}/{workload.name}" if is_mixed else workload.name
        for workload in workloads
        if not workload.bare
    ]
    return {
        "kind": item.kind,
        "namespace": item.namespace,
        "workload": parts[0].set_name if parts else "",
        "workloadKind": parts[0].kind if parts else "",
        "replicas": sum(workload.replicas for workload in workloads),
        "model": item.model,
        **({"weights": ", ".join(weights)} if weights else {}),
        **({"workloads": [parts_of_set[0].set_name for parts_of_set in sets]} if len(sets) > 1 else {}),
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
    nodes: dict[str, dict[str, Any]] = {}
    for group in planned.groups:
        facts = instance(group.instance_type)
        nodes[group.name] = {
            "instanceType": group.instance_type,
            "nodes": group.nodes,
            "accelerators": facts.accelerators if facts else 0,
        }
    for cloud_group in planned.cloud_groups:
        if cloud_group.name in nodes:
            nodes[cloud_group.name] |= {
                "instanceTypes": list(cloud_group.instance_types),
                "capacity": cloud_group.demand.capacity,
                "zones": list(cloud_group.zones),
                "minNodes": cloud_group.minimum,
                "maxNodes": cloud_group.maximum,
            }
    return nodes


def adapter_rules_of(planned: Plan) -> dict[str, Any]:
    """Return the rules that an existing prometheus-adapter needs; empty if it needs none, or does not exist."""
    rules = planned.chain.adapter_rules
    exists = Adapter.PROMETHEUS_ADAPTER in planned.environment.present
    return dict(rules) if exists and has_rules(rules) else {}

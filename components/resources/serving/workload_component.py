"""The base of components that serve a model. They create what rendering computed."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pulumi

from ...contract.load import LoadedResource, Manifests
from ...fleet.combining import without_replicas
from ...fleet.instances import Instance
from ...fleet.objects import BALANCED, HPA, Key, address_in, is_balanced, is_core_service, key_of
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.shapes import shape_of
from ...fleet.timeouts import Waits
from ...fleet.workloads import REPLICAS, with_own_replicas
from ...plan.environment import Environment
from ...plan.plan import plan
from ...plan.timeouts.planned import as_registered
from .arguments import format_problem, load_reference, log_warnings, report_errors
from .objects import KubernetesObject, kubernetes_object, token
from .waiting import custom_timeouts

_DEFAULT_WAITS = Waits()
_NO_TYPES: Mapping[str, Instance] = {}
FormerIdentities = Callable[[Mapping[str, Any]], list[pulumi.Alias | pulumi.Input[str]]]
"""Returns the aliases of an object."""


def _new(_: Mapping[str, Any]) -> list[pulumi.Alias | pulumi.Input[str]]:
    return []


class WorkloadComponent(pulumi.ComponentResource):
    """Outputs and children of all components that serve a model."""

    endpoint: pulumi.Output[str]
    """URL of the model: at its load balancer if it has one, otherwise inside the cluster."""
    model: pulumi.Output[str]
    """Model name in requests."""
    workload_name: pulumi.Output[str]
    """Name of the Deployment or LeaderWorkerSet."""
    namespace: pulumi.Output[str]
    """Namespace of all created objects."""

    @classmethod
    def from_rendered(
        cls,
        name: str,
        rendered: Rendered,
        opts: pulumi.ResourceOptions | None = None,
        former: FormerIdentities = _new,
    ) -> Self:
        """Create the component from a resource that was rendered with its fleet."""
        component = cls.__new__(cls)
        component.register(name, rendered, opts, former=former)
        return component

    def register(
        self,
        name: str,
        rendered: Rendered,
        opts: pulumi.ResourceOptions | None,
        *,
        shared: bool = False,
        former: FormerIdentities = _new,
    ) -> None:
        """Create the component, the rendered objects and the outputs.

        Args:
            name: Logical name of the component.
            rendered: The resource and its objects.
            opts: The component's options.
            shared: Whether to create objects that other resources may share too; a fleet creates them itself.
            former: Returns the aliases of an object.
        """
        pulumi.ComponentResource.__init__(self, token(type(self).__name__), name, {}, opts)
        log_warnings(rendered.warnings, format_problem, lambda _: self)
        before = [
            kubernetes_object(value, f"{name}-{value['kind']}".lower(), pulumi.ResourceOptions(parent=self))
            for value in (rendered.shared if shared else ())
        ]
        self.endpoints: dict[str, pulumi.Input[str]] = {
            endpoint.name: endpoint.url for endpoint in rendered.endpoints
        }
        self._create_objects(name, rendered, before, former)
        first = next(iter(rendered.endpoints), None)
        # Plain values are registered as they are: the SDK spends several tasks of its event loop on each output.
        outputs = {
            "endpoint": self.endpoints[first.name] if first else "",
            "model": first.model if first else "",
            "workloadName": next((workload.name for workload in rendered.workloads), ""),
            "namespace": rendered.namespace,
        }
        self.endpoint = pulumi.Output.from_input(outputs["endpoint"])
        self.model = pulumi.Output.from_input(outputs["model"])
        self.workload_name = pulumi.Output.from_input(outputs["workloadName"])
        self.namespace = pulumi.Output.from_input(outputs["namespace"])
        self.register_outputs({**outputs, **self.further_outputs(rendered)})

    def further_outputs(self, rendered: Rendered) -> dict[str, Any]:  # noqa: ARG002  for subclasses
        """Set and return outputs that only some components have."""
        return {}

    def _create_objects(
        self,
        name: str,
        rendered: Rendered,
        before: list[KubernetesObject],
        former: FormerIdentities,
    ) -> None:
        """Create the objects, autoscalers after their targets, and set the URLs of load balancers."""
        endpoints = {id(endpoint.body): endpoint for endpoint in rendered.endpoints}
        targets = {id(scaler.body): scaler.target for scaler in rendered.autoscalers}
        kept = kept_fields(rendered)
        created: dict[Key, KubernetesObject] = {}
        for value in rendered.objects:
            scaled = [created[target] for target in (targets.get(id(value)),) if target in created]
            # Pods mount shared objects. If an operator creates the pods, its resource is the first object.
            needs = before if not created or shape_of(value) else scaled
            options = pulumi.ResourceOptions(
                parent=self, depends_on=needs or None, ignore_changes=kept.get(id(value)) or None
            )
            options.aliases = former(value)
            options.custom_timeouts = custom_timeouts(rendered.timeouts.get(key_of(value)))
            registered = as_registered(value, rendered.waits, rendered)
            if not options.ignore_changes:
                registered = with_own_replicas(registered, declared_replicas(rendered, value))
            child = kubernetes_object(registered, logical_name(name, rendered.name, value), options)
            created[key_of(value)] = child
            endpoint = endpoints.get(id(value))
            if endpoint and is_balanced(value):
                at_load_balancer = functools.partial(_at_load_balancer, endpoint.url)
                self.endpoints[endpoint.name] = child.status.apply(at_load_balancer)


class ReferencedComponent(WorkloadComponent):
    """A component that serves a model, and whose resource other components refer to."""

    manifest: dict[str, Any]
    """The resource in wire form, for the components that refer to it."""

    def further_outputs(self, rendered: Rendered) -> dict[str, Any]:
        """Return the manifest."""
        self.manifest = rendered.source.resource.wire()
        return {"manifest": self.manifest}


def kept_fields(item: Rendered) -> dict[int, list[str]]:
    """Return the fields of the objects of a resource that updates must leave alone, by their identity in memory."""
    kept = {id(workload.body): list(workload.kept_fields) for workload in item.workloads}
    scaled = item.scaled | {scaler.resource for scaler in item.autoscalers}
    return kept | {id(value): [REPLICAS] for value in item.objects if key_of(value) in scaled}


def declared_replicas(item: Rendered, value: Mapping[str, Any]) -> int | None:
    """Return the replicas of a resource that is created for its operator; None for all other objects."""
    if not item.workloads or key_of(value) != (item.kind, item.namespace, item.name):
        return None
    replicas = getattr(getattr(item.source.resource, "spec", None), "replicas", None)
    return replicas if isinstance(replicas, int) else None


def _at_load_balancer(url: str, status: Mapping[str, Any] | None) -> str:
    """Return the URL at the load balancer's address; inside the cluster while it has none."""
    address = address_in(status, BALANCED)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{address}:{parts.port}")) if address else url


def added_name(value: Mapping[str, Any], resource: str) -> str:
    """Return the part of an object's name after the name of its resource."""
    name = str(value["metadata"]["name"])
    return name.removeprefix(resource) if name.startswith(resource) else f"/{name}"


def logical_name(name: str, resource: str, value: dict[str, Any]) -> str:
    """Return the logical name of a child: the component's name and the suffix of the object's name."""
    added = added_name(value, resource)
    if is_core_service(value):
        return name + (added or "-lb")
    return f"{name}{added}-hpa" if value["kind"] == HPA else name + added


def render_one(
    resource: LoadedResource,
    manifests: Sequence[Mapping[str, Any]],
    options: Options,
    *,
    autoscaled: bool = False,
    waits: Waits = _DEFAULT_WAITS,
    types: Mapping[str, Instance] = _NO_TYPES,
) -> Rendered:
    """Render one resource, with the same checks as a stack.

    Args:
        resource: The resource.
        manifests: Manifests that it refers to.
        options: Rendering options.
        autoscaled: Whether another component scales its workloads.
        waits: What updates wait for.
        types: Instance types that the tables do not have, by name.

    Raises:
        InvalidArguments: the resource is invalid or does not fit; every problem is listed.
    """
    others = tuple(load_reference(manifest, resource.kind) for manifest in manifests)
    release = resource.kind.release
    releases = {resource.kind.releases.family: release} if release else {}
    environment = Environment(options=replace(options, releases=releases), waits=waits, types=types)
    planned = plan(Manifests((resource, *others)), environment)
    report_errors(planned.problems)
    rendered = next(item for item in planned.fleet.rendered if item.source is resource)
    item = replace(rendered, warnings=planned.problems, timeouts=planned.timeouts.planned, waits=waits)
    if not autoscaled:
        return item
    if not options.realization.is_native:
        return replace(item, scaled=frozenset({(item.kind, item.namespace, item.name)}))
    # The other component knows the bounds; here it matters only that there are some.
    workloads = tuple(replace(without_replicas(workload), most=workload.replicas) for workload in item.workloads)
    return replace(item, workloads=workloads)

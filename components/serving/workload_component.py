"""The base of components that serve a model: registers what rendering computed, and decides nothing."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pulumi

from ..api.load import Loaded, Manifests
from ..fleet.objects import BALANCED, HPA, address_in, is_balanced, is_core_service
from ..fleet.options import Options
from ..fleet.rendered import Rendered
from ..plan.environment import Environment
from ..plan.plan import plan
from .arguments import checked_plan, referred
from .objects import KubernetesObject, kubernetes_object, token

_SCALERS = (HPA, "ScaledObject")


class WorkloadComponent(pulumi.ComponentResource):
    """Outputs and children that Playground and Service share."""

    endpoint: pulumi.Output[str]
    """URL under which the model answers: at its load balancer where it has one, else inside the cluster."""
    model: pulumi.Output[str]
    """Name that requests give as their model."""
    workload_name: pulumi.Output[str]
    """Name of the Deployment or LeaderWorkerSet."""
    namespace: pulumi.Output[str]
    """Namespace of everything that was created."""

    @classmethod
    def from_rendered(cls, name: str, rendered: Rendered, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Create the component from a resource that was rendered before, with its whole fleet."""
        component = cls.__new__(cls)
        component.register(name, rendered, opts)
        return component

    def register(
        self, name: str, rendered: Rendered, opts: pulumi.ResourceOptions | None, *, shared: bool = False
    ) -> None:
        """Register the component and what was rendered; the outputs follow from that alone.

        Args:
            name: Logical name of the component.
            rendered: The resource and its objects.
            opts: The component's options.
            shared: Whether to register what other resources may need as well; a stack does that itself.
        """
        pulumi.ComponentResource.__init__(self, token(type(self).__name__), name, {}, opts)
        before = [
            kubernetes_object(value, f"{name}-{value['kind']}".lower(), pulumi.ResourceOptions(parent=self))
            for value in (rendered.shared if shared else ())
        ]
        self.endpoints = {each.name: pulumi.Output.from_input(each.url) for each in rendered.endpoints}
        self._make(name, rendered, before)
        first = next(iter(rendered.endpoints), None)
        self.endpoint = self.endpoints[first.name] if first else pulumi.Output.from_input("")
        self.model = pulumi.Output.from_input(first.model if first else "")
        self.workload_name = pulumi.Output.from_input(next((w.name for w in rendered.workloads), ""))
        self.namespace = pulumi.Output.from_input(rendered.namespace)
        self.register_outputs(
            {
                "endpoint": self.endpoint,
                "model": self.model,
                "workloadName": self.workload_name,
                "namespace": self.namespace,
            }
        )

    def _make(self, name: str, rendered: Rendered, before: list[KubernetesObject]) -> None:
        """Register the objects: the workload first, what scales it after it; load balancers tell their address."""
        bodies = {id(each.body): each for each in rendered.endpoints}
        workload = None
        for value in rendered.objects:
            order = [workload] if workload and value["kind"] in _SCALERS else [] if workload else before
            child = kubernetes_object(
                value,
                _logical(name, rendered.name, value),
                pulumi.ResourceOptions(parent=self, depends_on=order or None),
            )
            workload = workload or child
            if is_balanced(value):
                reached = bodies[id(value)]
                self.endpoints[reached.name] = child.status.apply(functools.partial(_at_load_balancer, reached.url))


def _at_load_balancer(url: str, status: Mapping[str, Any] | None) -> str:
    """Return the URL at the address that the cloud gave; inside the cluster as long as there is none."""
    address = address_in(status, BALANCED)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{address}:{parts.port}")) if address else url


def added_name(value: Mapping[str, Any], resource: str) -> str:
    """Return what an object's name has beside that of the resource that it belongs to."""
    return str(value["metadata"]["name"]).removeprefix(resource)


def _logical(name: str, resource: str, value: dict[str, Any]) -> str:
    """Name a child after the component, and after what its object's name adds to the resource's."""
    added = added_name(value, resource)
    if is_core_service(value):
        return name + (added or "-lb")
    return f"{name}{added}-hpa" if value["kind"] == HPA else name + added


def render_one(resource: Loaded, manifests: Sequence[Mapping[str, Any]], options: Options) -> Rendered:
    """Render one resource with the manifests that it refers to, after every check that a stack does too.

    Raises:
        InvalidArguments: something is wrong with it or does not fit; every problem is listed.
    """
    others = tuple(referred(manifest) for manifest in manifests)
    planned = checked_plan(plan(Manifests((resource, *others)), Environment(options=options)))
    return next(item for item in planned.fleet.rendered if item.source is resource)

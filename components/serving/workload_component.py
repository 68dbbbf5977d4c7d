"""The base of components that serve a model: registers what rendering computed, and decides nothing."""

from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pulumi

from ..api.load import Loaded
from ..api.problems import errors
from ..planning.fit import fit
from ..render.core_services import BALANCED, address_in, is_balanced
from ..render.fleet import render_fleet
from ..render.options import Options
from ..render.types import Rendered
from .arguments import checked, refuse
from .objects import kubernetes_object, token

_SUFFIXES = {"Service": "-lb", "HorizontalPodAutoscaler": "-hpa"}
_SCALERS = ("HorizontalPodAutoscaler", "ScaledObject")
_OPERATOR_GROUPS = ("inference.llmaz.io/", "inference.llmkube.dev/")


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
        url = rendered.endpoint.url if rendered.endpoint else ""
        endpoint = pulumi.Output.from_input(url)
        workload = None
        for value in rendered.objects:
            order = [workload] if workload and value["kind"] in _SCALERS else [] if workload else before
            child = kubernetes_object(
                value, name + _suffix(value), pulumi.ResourceOptions(parent=self, depends_on=order or None)
            )
            workload = workload or child
            if is_balanced(value):
                endpoint = child.status.apply(lambda status: _at_load_balancer(url, status))
        self.endpoint = endpoint
        self.model = pulumi.Output.from_input(rendered.endpoint.model if rendered.endpoint else "")
        self.workload_name = pulumi.Output.from_input(rendered.workload_name)
        self.namespace = pulumi.Output.from_input(rendered.namespace)
        self.register_outputs(
            {
                "endpoint": self.endpoint,
                "model": self.model,
                "workloadName": self.workload_name,
                "namespace": self.namespace,
            }
        )


def _at_load_balancer(url: str, status: Mapping[str, Any] | None) -> str:
    """Return the URL at the address that the cloud gave; inside the cluster as long as there is none."""
    address = address_in(status, BALANCED)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{address}:{parts.port}")) if address else url


def _suffix(value: dict[str, Any]) -> str:
    operated = str(value["apiVersion"]).startswith(_OPERATOR_GROUPS)
    return "" if operated else _SUFFIXES.get(value["kind"], "")


def render_one(resource: Loaded, referred: Sequence[Mapping[str, Any]], options: Options) -> Rendered:
    """Render one resource with the manifests that it refers to.

    Raises:
        InvalidArguments: something is wrong with it or does not fit; every problem is listed.
    """
    others = [checked(value, "a referred manifest") for value in referred]
    fleet = render_fleet([resource, *others], options)
    problems = [*fleet.problems, *fit(fleet)]
    if errors(problems):
        refuse(problems)
    for problem in problems:
        pulumi.log.warn(f"{problem.kind}/{problem.name}: {problem.path}: {problem.reason}")
    return next(item for item in fleet.rendered if item.source is resource)

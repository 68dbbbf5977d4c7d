"""Endpoints: where a model is served inside the cluster, and by which Services and pods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .objects import Object, is_balanced
from .origins import Origin
from .words import HeaderKind, Routing


class WeightsOwner(NamedTuple):
    """The resource that defines a model's weights; two resources of one name may be different models."""

    kind: str
    namespace: str
    name: str


class Router(NamedTuple):
    """A router behind a Service that forwards requests to pods that it selects itself.

    Attributes:
        namespace: Namespace of its pods, which need not be one of the fleet.
        pods: Labels of its pods.
        workloads: Names of the workloads, or of their pod sets, in the namespace of the endpoint.
    """

    namespace: str
    pods: Mapping[str, str]
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Backend:
    """A Service that serves a model.

    Attributes:
        workload: Name of the workload that it routes to, or of its pod set, in its namespace; empty for a router.
        share: Its share of the requests relative to the other backends of the model: its minimum replicas.
        weight: Its configured weight relative to the other backends of the endpoint; either all of them have one,
            or none.
        served_name: Its name for the model, if that differs from the one that clients request.
        router: The router between the Service and the pods, if any.
    """

    service: str
    namespace: str
    port: int
    workload: str
    share: int
    weight: int | None = None
    served_name: str = ""
    router: Router | None = None


class HeaderMatch(NamedTuple):
    """A condition on a request header.

    Attributes:
        value: The text, the prefix, or a regular expression (RE2) that must match somewhere in the header.
        origin: The field that states the condition.
    """

    name: str
    kind: HeaderKind
    value: str
    origin: Origin


class GatewayFeature(NamedTuple):
    """A routing feature of an endpoint that needs a gateway in front of the models."""

    routing: Routing
    origin: Origin


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served inside the cluster.

    Attributes:
        name: Name of the resource, or of this one of its endpoints; unique in the namespace.
        model: The model name that clients request.
        api: The API that clients use, such as ``openai``.
        backends: The Services that serve it; ``url`` names the first.
        body: The Service in ``url``, unless an operator creates it. Of endpoints that share a Service, one has it.
        operators_balancer: The field that makes an operator create a load balancer Service; None if none does.
        headers: Headers that a request must have, all of them. Endpoints of one model with equal headers share the
            requests.
        order: Position among the endpoints of the resource; the first that matches a request serves it.
        gateway_features: Routing features that clients lose without a gateway.
    """

    name: str
    namespace: str
    model: str
    url: str
    api: str
    port: int
    backends: tuple[Backend, ...]
    weights: WeightsOwner
    origin: Origin
    body: Object | None = None
    operators_balancer: Origin | None = None
    headers: tuple[HeaderMatch, ...] = ()
    order: int = 0
    gateway_features: tuple[GatewayFeature, ...] = ()

    @property
    def service(self) -> str:
        """Name of the Service in ``url``."""
        return self.backends[0].service

    @property
    def backend_keys(self) -> frozenset[tuple[str, str]]:
        """Namespace and name of every workload or pod set that serves it, directly or through a router."""
        direct = {(backend.namespace, backend.workload) for backend in self.backends if backend.router is None}
        routers = (backend.router for backend in self.backends if backend.router is not None)
        return frozenset(direct | {(self.namespace, name) for router in routers for name in router.workloads})

    @property
    def path(self) -> str:
        """Path of the API, such as ``/v1``; empty at the root."""
        path = self.url.partition("://")[2].partition("/")[2].rstrip("/")
        return f"/{path}" if path else ""

    @property
    def has_own_balancer(self) -> bool:
        """Whether its Service is rendered here with type LoadBalancer."""
        return self.body is not None and is_balanced(self.body)

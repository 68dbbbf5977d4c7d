"""Endpoints: where a model answers inside the cluster, and what is behind that."""

from collections.abc import Mapping
from dataclasses import dataclass

from .objects import Object, is_balanced
from .origins import Origin
from .words import HeaderKind, Routing


@dataclass(frozen=True, slots=True)
class WeightsOwner:
    """The resource that defines the weights of a model: two resources with one name may be two models."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Router:
    """What is behind a Service and passes requests on to the pods of workloads, which it chooses by itself.

    Attributes:
        namespace: Where its pods run; it need not be one of the fleet's.
        pods: Labels of its pods.
        workloads: Names of the workloads, or of the sets of their pods, in the namespace of the endpoint.
    """

    namespace: str
    pods: Mapping[str, str]
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Backend:
    """A Service that answers for a model.

    Attributes:
        workload: Name of the workload that it routes to, or of the set of its pods, in its namespace; empty for a
            router.
        share: Its share of the requests relative to the other backends of the model: its replicas at rest.
        weight: Its share relative to the other backends of the endpoint, where somebody chose one. All of an endpoint
            have one, or none has.
        served_name: What it calls the model, where that is not what clients ask for.
        router: What stands between the Service and the pods; None without anything.
    """

    service: str
    namespace: str
    port: int
    workload: str
    share: int
    weight: int | None = None
    served_name: str = ""
    router: Router | None = None


@dataclass(frozen=True, slots=True)
class HeaderMatch:
    """What a header of a request must be.

    Attributes:
        value: The text, what it begins with, or a regular expression (RE2) that must be found in it.
        origin: The field that asks for it.
    """

    name: str
    kind: HeaderKind
    value: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class GatewayFeature:
    """Something of an endpoint that a gateway in front of the models provides, and that is lost without one."""

    routing: Routing
    origin: Origin


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers inside the cluster.

    Attributes:
        name: Name of the resource, or of this one of its endpoints; unique in the namespace.
        model: What clients ask for.
        api: The API that clients use, such as ``openai``.
        backends: What answers; the first one's Service is in ``url``.
        body: That Service, if it is created here and not by an operator. Of several endpoints with one Service, one
            has it.
        operators_balancer: The field that asks an operator for a Service with a load balancer; None without one.
        headers: Which requests it is for, beside the model's name: those with all of these headers. Endpoints of one
            model with the same headers answer together.
        order: Its place among the endpoints of the resource, of which the first that a request is for shall answer.
        gateway_features: What clients lose where nothing routes their requests.
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
        """Namespace and name of what is behind it: of workloads or sets of pods, also those that a router chooses."""
        direct = {(each.namespace, each.workload) for each in self.backends if each.router is None}
        routers = (each.router for each in self.backends if each.router is not None)
        return frozenset(direct | {(self.namespace, name) for router in routers for name in router.workloads})

    @property
    def path(self) -> str:
        """Path of the API, such as ``/v1``; empty at the root."""
        path = self.url.partition("://")[2].partition("/")[2].rstrip("/")
        return f"/{path}" if path else ""

    @property
    def has_own_balancer(self) -> bool:
        """Whether its Service, which is created here, asks for a load balancer."""
        return self.body is not None and is_balanced(self.body)

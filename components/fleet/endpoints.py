"""Endpoints: where a model answers inside the cluster, and what is behind that."""

from dataclasses import dataclass

from .objects import Object, is_balanced
from .origins import Origin


@dataclass(frozen=True, slots=True)
class WeightsOwner:
    """The resource that defines the weights of a model: two resources with one name may be two models."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Backend:
    """A Service that answers for a model.

    Attributes:
        workload: Name of the workload that it routes to, in its namespace.
        share: Its share of the requests relative to the other backends of the model: its replicas at rest.
    """

    service: str
    namespace: str
    port: int
    workload: str
    share: int


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers inside the cluster.

    Attributes:
        name: Name of the resource, or of this one of its endpoints; unique in the namespace.
        model: What clients ask for.
        api: The API that clients use, such as ``openai``.
        backends: What answers; the first one's Service is in ``url``.
        body: That Service, if it is created here and not by an operator.
        operators_balancer: The field that asks an operator for a Service with a load balancer; None without one.
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

    @property
    def service(self) -> str:
        """Name of the Service in ``url``."""
        return self.backends[0].service

    @property
    def path(self) -> str:
        """Path of the API, such as ``/v1``; empty at the root."""
        path = self.url.partition("://")[2].partition("/")[2].rstrip("/")
        return f"/{path}" if path else ""

    @property
    def has_own_balancer(self) -> bool:
        """Whether its Service, which is created here, asks for a load balancer."""
        return self.body is not None and is_balanced(self.body)

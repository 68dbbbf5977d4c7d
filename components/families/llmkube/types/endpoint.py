"""LLMKube: how a service or a router is reached."""

from typing import Annotated, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32
from ....contract.releases import Span
from .values import GatewayRef, Port


class GatewaySpec(ApiModel):
    """A route of Envoy AI Gateway to the Service."""

    enabled: bool | None = None
    """Whether there is a route."""
    gateway_ref: GatewayRef
    """The Gateway that the route is attached to."""
    model_name: str | None = None
    """Model name of the requests that it serves. Default: that of modelRef."""


class EndpointSpec(ApiModel):
    """The Service in front of the pods. ``path`` is what clients call."""

    port: Port = 8080
    """Its port."""
    path: str = "/v1/chat/completions"
    """Path that clients call."""
    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    """ClusterIP, NodePort or LoadBalancer."""
    node_port: Annotated[Annotated[Int32, Field(ge=30000, le=32767)] | None, Span(since="v0.8.9")] = None
    """Port on the nodes, 30000 to 32767, for type NodePort."""
    gateway: Annotated[GatewaySpec | None, Span(since="v0.8.8")] = None
    """A route of Envoy AI Gateway to the Service."""

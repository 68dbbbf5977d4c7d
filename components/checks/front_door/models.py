"""The models that clients reach through a front door."""

from itertools import groupby

from ...fleet.endpoints import Endpoint
from ...fleet.rendered import Fleet

Models = dict[str, list[Endpoint]]
"""Endpoints by the model name that clients request."""


def by_model(fleet: Fleet) -> Models:
    """Group the endpoints of a fleet by model, in an order independent of the input."""
    endpoints = [endpoint for _, endpoint in fleet.endpoints]
    endpoints.sort(key=lambda endpoint: (endpoint.model, *place_of(endpoint)))
    return {model: list(group) for model, group in groupby(endpoints, key=lambda endpoint: endpoint.model)}


def place_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return namespace and name of an endpoint."""
    return endpoint.namespace, endpoint.name

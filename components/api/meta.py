"""The parts of ``meta/v1`` that every resource carries."""

from typing import Any

from .base import ApiModel

JsonObject = dict[str, Any]


class ObjectMeta(ApiModel):
    """Metadata that a writer may set; what the server fills in is not for manifests."""

    name: str
    namespace: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Resource(ApiModel):
    """One object in a kind of the contract."""

    api_version: str
    kind: str
    metadata: ObjectMeta

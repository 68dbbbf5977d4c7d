"""The parts of ``meta/v1`` that every resource carries."""

from typing import Any, ClassVar

from pydantic import Field
from pydantic.config import JsonDict

from .base import ApiModel, Int64, Rule
from .names import (
    annotations_broken,
    dns_label,
    finalizers_broken,
    generate_name_broken,
    labels_broken,
    owners_broken,
    time_broken,
)
from .schema.embedded import Conditions as Conditions
from .schema.embedded import JsonObject as JsonObject

_GO_MAP: JsonDict = {"x-null-is-empty": True}
"""The server decodes metadata into Go types, where a null entry of a map of strings is empty text."""


_NAMESPACE = "must be a DNS-1123 label (lower-case letters, digits and '-')"


class OwnerReference(ApiModel):
    """The owner of an object, with which it is deleted."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(ApiModel):
    """Metadata of a resource. Fields that only the API server sets are accepted without effect."""

    name: str
    generate_name: str | None = None
    namespace: str | None = None
    labels: dict[str, str] = Field(default_factory=dict, json_schema_extra=_GO_MAP)
    annotations: dict[str, str] = Field(default_factory=dict, json_schema_extra=_GO_MAP)
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: Int64 | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Int64 | None = None
    self_link: str | None = None
    managed_fields: list[dict[str, Any]] | None = None

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(_NAMESPACE, dns_label("namespace"), "", of="namespace"),
        Rule("", labels_broken, "", of="labels"),
        Rule("", annotations_broken, "", of="annotations"),
        Rule("", finalizers_broken, "", of="finalizers"),
        Rule("", owners_broken, "", of="owner_references"),
        Rule("", generate_name_broken, "", of="generate_name"),
        Rule("", time_broken("creation_timestamp", "creationTimestamp"), "", of="creation_timestamp"),
        Rule("", time_broken("deletion_timestamp", "deletionTimestamp"), "", of="deletion_timestamp"),
    )


class Resource(ApiModel):
    """One object in a kind of the contract."""

    api_version: str
    kind: str
    metadata: ObjectMeta

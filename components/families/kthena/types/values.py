"""Kthena: strings, durations and parts of core types that several kinds have."""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from ....contract.base import INT64_MAX, ApiModel, NaturalInt32, PositiveInt32, combined_error
from ....contract.schema.embedded import CORE, META, Embedded, JsonObject, format_value, ref
from ....contract.texts import go_durations
from ...leaderworkerset.types import IntOrString as IntOrString
from ..rules.policies import MAX_REPLICAS

NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The characters that Go treats as space (``unicode.IsSpace``), for a character class."""
_VISIBLE = re.compile(f"[^{_BLANK}]")


def _text(published: str, is_valid: Callable[[str], object], expected: str) -> tuple[object, ...]:
    """Return the annotations that validate a string, with the RE2 pattern for the API server."""

    def check(text: str) -> str:
        if not is_valid(text):
            raise combined_error([((), f"must be {expected}, found {format_value(text)}")])
        return text

    return (Field(json_schema_extra={"pattern": published}), AfterValidator(check))


def _pattern(published: str, grammar: str, expected: str) -> tuple[object, ...]:
    """Return the annotations that validate a string by its RE2 pattern, and by the same pattern for Python."""
    return _text(published, re.compile(grammar, re.ASCII).match, expected)


def _fits_int64(duration: str) -> str:
    # Go keeps durations as int64 nanoseconds.
    if abs(go_durations.nanoseconds_of(duration)) > INT64_MAX:
        raise combined_error([((), f"must be a duration of less than 292 years, found {format_value(duration)}")])
    return duration


def is_image(text: str) -> bool:
    """Return whether a text is empty, or neither blank nor with a space: all that V3 requires of an image."""
    return not text or (" " not in text and _VISIBLE.search(text) is not None)


Name = Annotated[
    str, *_pattern(NAME_PATTERN, r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z", "lower-case letters, digits and inner '-'")
]
"""Name of a backend or an adapter."""
RoleName = Annotated[
    str,
    Field(max_length=12),
    *_pattern(
        "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\Z",
        "letters, digits and inner '-'",
    ),
]
ADAPTER_PATTERN = "^(hf://|s3://|pvc://).+"
"""The pattern of an adapter's source, and until v0.3.0 of a model's."""
SourceUri = Annotated[
    str,
    *_pattern(
        "^(hf://|s3://|pvc://|ms://).+",
        r"(hf://|s3://|pvc://|ms://)[^\n]",
        "hf://<repository>, ms://<repository>, s3://<bucket>/<path> or pvc://<path>",
    ),
]
"""Source of weights."""
AdapterUri = Annotated[
    str,
    *_pattern(
        ADAPTER_PATTERN,
        r"(hf://|s3://|pvc://)[^\n]",
        "hf://<repository>, s3://<bucket>/<path> or pvc://<path>",
    ),
]
"""Source of a LoRA adapter."""
CacheUri = Annotated[
    str, *_pattern("^(hostpath://|pvc://).+", r"(hostpath://|pvc://)[^\n]", "hostpath://<folder> or pvc://<claim>")
]
"""Cache of weights."""
Duration = Annotated[
    str,
    Field(max_length=go_durations.MAX_LENGTH),
    *_pattern(go_durations.PATTERN, go_durations.GRAMMAR, "a duration such as 30s, 5m or 1h30m"),
    AfterValidator(_fits_int64),
]
"""A duration of Go's time.ParseDuration. Upstream's schema accepts any text, on which its controllers fail."""
Image = Annotated[
    str, *_text(r"^([^ ]*[^\s\x0b\x85\p{Z}][^ ]*)?$", is_image, "an image reference, without a space, or empty")
]
"""An image: not blank and without a space (V3)."""

_LABELS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
SectionName = Annotated[
    str,
    Field(min_length=1, max_length=253),
    *_pattern(f"^{_LABELS}$", rf"{_LABELS}\Z", "lower-case letters, digits, '.' and inner '-'"),
]
"""Name of a listener of a Gateway."""
GroupName = Annotated[
    str,
    Field(max_length=253),
    *_pattern(f"^$|^{_LABELS}$", rf"({_LABELS})?\Z", "the name of an API group, or empty"),
]
KindName = Annotated[
    str,
    Field(min_length=1, max_length=63),
    *_pattern(
        "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", r"[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?\Z", "the name of a kind"
    ),
]
NamespaceName = Annotated[Name, Field(min_length=1, max_length=63)]

Replicas = Annotated[NaturalInt32, Field(le=MAX_REPLICAS)]
MaxReplicas = Annotated[PositiveInt32, Field(le=MAX_REPLICAS)]
Percentage = Annotated[NaturalInt32, Field(le=1000)]
Weight = Annotated[NaturalInt32, Field(le=100)]

AnyObject = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
]
"""Any map. Upstream's schema accepts any JSON, but its controller fails on anything else than a map (D-05)."""

PodSpec = Annotated[JsonObject, Embedded(ref(CORE + "PodSpec"))]
EnvSources = Annotated[
    list[JsonObject],
    Embedded({"type": "array", "items": ref(CORE + "EnvFromSource"), "x-kubernetes-list-type": "atomic"}),
]
ResourceRequirements = Annotated[JsonObject, Embedded(ref(CORE + "ResourceRequirements"))]
Affinity = Annotated[JsonObject, Embedded(ref(CORE + "Affinity"))]
Tolerations = Annotated[
    list[JsonObject],
    Embedded({"type": "array", "items": ref(CORE + "Toleration"), "x-kubernetes-list-type": "atomic"}),
]
LabelSelector = Annotated[JsonObject, Embedded(ref(META + "LabelSelector"))]


_ATOMIC = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})
"""Applied as a whole, like references in the core API."""


class LocalObjectReference(ApiModel):
    """A name in the same namespace."""

    model_config = _ATOMIC

    name: str = ""
    """Name of the object."""


class ObjectReference(ApiModel):
    """A reference to an object."""

    model_config = _ATOMIC

    api_version: str | None = None
    """API version of the object. Default: that of ModelServing."""
    field_path: str | None = None
    """Part of the object; without effect."""
    kind: str | None = None
    """Kind of the object. Default: ModelServing."""
    name: str | None = None
    """Name of the object; a ModelBooster's are named after it and the backend."""
    namespace: str | None = None
    """Namespace of the object; must be that of the binding."""
    resource_version: str | None = None
    """Version of the object; without effect."""
    uid: str | None = None
    """Identity of the object; without effect."""

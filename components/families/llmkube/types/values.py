r"""Strings and numbers of LLMKube with patterns or ranges (LLMKube spec 1.1-1.4).

The API server reads a pattern as RE2: classes are ASCII, ``$`` is the end of the text and ``\s`` has no
vertical tab. Each pattern appears twice: as published, and as the equivalent in Python's syntax.
"""

import math
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from ....contract.base import ApiModel, Int32, Json, NaturalInt32, PositiveInt32, combined_error
from ....contract.schema.embedded import CORE, META, Embedded, JsonObject, format_value, ref


def _text(published: str, grammar: str, description: str) -> tuple[object, ...]:
    """Return the annotations of a string that must match a pattern at its start."""
    compiled = re.compile(grammar, re.ASCII)

    def check(text: str) -> str:
        if compiled.match(text) is None:
            raise combined_error([((), f"must be {description}, found {format_value(text)}")])
        return text

    return (Field(json_schema_extra={"pattern": published}), AfterValidator(check))


def _number(minimum: float = -math.inf, maximum: float = math.inf) -> PlainValidator:
    """Validate a number in a range without converting it: 1 does not become 1.0."""

    def check(value: Json) -> int | float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            hint = "; write it without quotes" if isinstance(value, str) and _DECIMAL.match(value) else ""
            raise combined_error([((), f"must be a number, found {format_value(value)}{hint}")])
        if value < minimum:
            raise combined_error([((), f"must be at least {minimum}, found {format_value(value)}")])
        if value > maximum:
            raise combined_error([((), f"must be at most {maximum}, found {format_value(value)}")])
        return value

    return PlainValidator(check)


_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z", re.ASCII)

Decimals = Annotated[
    str, *_text(r"^[0-9]+(\.[0-9]+)?$", _DECIMAL.pattern, "an unsigned number in quotes, such as '2' or '1.5'")
]
"""A factor written as text."""

Sha256 = Annotated[str, *_text("^[a-fA-F0-9]{64}$", r"[a-fA-F0-9]{64}\Z", "64 hexadecimal digits")]
"""A checksum, in either case."""

Source = Annotated[
    str,
    *_text(
        r"^(https?|file|pvc|hf|s3)://.*|^/[^\s]+$|^[a-zA-Z0-9][\w\-\.\/]+$",
        r"(https?|file|pvc|hf|s3)://|/[^\t\n\f\r ]+\Z|[a-zA-Z0-9][\w\-./]+\Z",
        "an http://, https://, file://, pvc://, hf:// or s3:// URL, an absolute path without whitespace, or a "
        "repository ID such as org/name",
    ),
]
"""Where weights come from."""

ConditionType = Annotated[
    str,
    Field(max_length=316),
    *_text(
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])\Z",
        "CamelCase such as Available, with an optional DNS prefix and '/'",
    ),
]
"""Type of a condition."""

ConditionReason = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    *_text(
        "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?\Z",
        "CamelCase such as InferenceReady",
    ),
]
"""Machine-readable reason of a condition."""

Number = Annotated[float, _number(), WithJsonSchema({"type": "number"})]
"""Any number."""

GpuShare = Annotated[float, _number(0.1, 0.99), WithJsonSchema({"type": "number", "minimum": 0.1, "maximum": 0.99})]
"""Share of a GPU's memory that an engine may take."""

Port = Annotated[PositiveInt32, Field(le=65535)]
GpuCount = Annotated[NaturalInt32, Field(le=8)]
"""GPUs of one pod."""
ContextSize = Annotated[Int32, Field(ge=128, le=2_097_152)]
"""Tokens."""

CacheType = Literal["f16", "f32", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"]
"""Element types of llama.cpp's key-value cache."""

Share = Annotated[float, _number(0, 1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
"""A probability or a threshold."""

StorageAmount = Annotated[
    str,
    *_text(
        r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$",
        r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)\Z",
        "a quantity such as 60Gi",
    ),
]
"""An amount of storage; rendering checks that it is a quantity."""

DeviceResource = Annotated[
    str,
    *_text(
        r"^[a-z0-9.\-]+/[a-z0-9._\-]+$",
        r"[a-z0-9.\-]+/[a-z0-9._\-]+\Z",
        "a domain and a name such as amd.com/gpu",
    ),
]
"""Name of an extended resource, or of the taint of its nodes."""

Window = Annotated[str, *_text("^[0-9]+[mhdw]$", r"[0-9]+[mhdw]\Z", "a duration such as 28d")]
"""A number of minutes, hours, days or weeks."""

ShortName = Annotated[
    str,
    *_text(
        "^[a-z0-9][a-z0-9-]{0,62}$",
        r"[a-z0-9][a-z0-9-]{0,62}\Z",
        "at most 63 lower-case letters, digits and '-', beginning with a letter or digit",
    ),
]
"""Name of a backend, rule or budget of a router."""

AdapterName = Annotated[
    str,
    Field(min_length=1, max_length=63),
    *_text(
        "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        r"[A-Za-z0-9][A-Za-z0-9._-]*\Z",
        "letters, digits, '.', '_' and '-', beginning with a letter or digit",
    ),
]
"""Name under which requests select an adapter."""

Text = Annotated[str, Field(min_length=1)]
"""Text that is not empty."""
ObjectName = Annotated[str, Field(min_length=1, max_length=253)]

# Core types, in wire form.
Affinity = Annotated[JsonObject, Embedded(ref(CORE + "Affinity"))]
SpreadConstraints = Annotated[
    list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "TopologySpreadConstraint")})
]
Volumes = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "Volume")})]
VolumeMounts = Annotated[list[JsonObject], Embedded({"type": "array", "items": ref(CORE + "VolumeMount")})]
ResourceRequirements = Annotated[JsonObject, Embedded(ref(CORE + "ResourceRequirements"))]
LabelSelector = Annotated[JsonObject, Embedded(ref(META + "LabelSelector"))]


class LocalObjectReference(ApiModel):
    """A name in the same namespace."""

    model_config = ConfigDict(json_schema_extra={"x-kubernetes-map-type": "atomic"})

    name: str = ""
    """Name of the object."""


class GatewayRef(ApiModel):
    """The Gateway that routes are attached to."""

    name: str
    """Name of the Gateway."""
    namespace: str | None = None
    """Namespace of the Gateway. Default: that of this object."""

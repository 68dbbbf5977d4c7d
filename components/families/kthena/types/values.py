"""Kthena: strings, durations and parts of core types that several kinds have."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, WithJsonSchema

from ....api.base import INT64_MAX, ApiModel, NaturalInt32, PositiveInt32, several
from ....api.schema.embedded import CORE, INT_OR_STRING, META, Embedded, JsonObject, ref, show

MOST_REPLICAS = 1_000_000
NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


def pattern(published: str, grammar: str, what: str) -> tuple[object, ...]:
    """Return what makes a string one that matches a pattern as a whole; the API server reads it as RE2."""
    compiled = re.compile(grammar, re.ASCII)

    def check(text: str) -> str:
        if compiled.match(text) is None:
            raise several([((), f"must be {what}, found {show(text)}")])
        return text

    return (Field(json_schema_extra={"pattern": published}), AfterValidator(check))


Name = Annotated[
    str, *pattern(NAME_PATTERN, r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z", "lower-case letters, digits and inner '-'")
]
"""Name of a backend or an adapter."""
RoleName = Annotated[
    str,
    Field(max_length=12),
    *pattern(
        "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?\Z",
        "letters, digits and inner '-'",
    ),
]
SourceUri = Annotated[
    str,
    *pattern(
        "^(hf://|s3://|pvc://).+",
        r"(hf://|s3://|pvc://)[^\n]",
        "hf://<repository>, s3://<bucket>/<path> or pvc://<path>",
    ),
]
"""Where weights come from."""
CacheUri = Annotated[
    str, *pattern("^(hostpath://|pvc://).+", r"(hostpath://|pvc://)[^\n]", "hostpath://<folder> or pvc://<claim>")
]
"""Where weights are kept."""
Duration = Annotated[
    str,
    Field(max_length=64),
    *pattern(
        r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$",
        r"[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)\Z",
        "a duration such as 30s, 5m or 1h30m",
    ),
]
"""What Go's time.ParseDuration takes; upstream's own schema takes any text, and its controllers then fail."""

Replicas = Annotated[NaturalInt32, Field(le=MOST_REPLICAS)]
MostReplicas = Annotated[PositiveInt32, Field(le=MOST_REPLICAS)]
Percentage = Annotated[NaturalInt32, Field(le=1000)]
Weight = Annotated[NaturalInt32, Field(le=100)]

IntOrString = Annotated[
    Annotated[int, Field(ge=-INT64_MAX - 1, le=INT64_MAX)] | str,
    WithJsonSchema({"anyOf": INT_OR_STRING, "x-kubernetes-int-or-string": True}),
]
AnyJson = Annotated[Any, WithJsonSchema({"x-kubernetes-preserve-unknown-fields": True})]

PodSpec = Annotated[JsonObject, Embedded(ref(CORE + "PodSpec"))]
EnvSources = Annotated[
    list[JsonObject],
    Embedded({"type": "array", "items": ref(CORE + "EnvFromSource"), "x-kubernetes-list-type": "atomic"}),
]
ResourceRequirements = Annotated[JsonObject, Embedded(ref(CORE + "ResourceRequirements"))]
Affinity = Annotated[JsonObject, Embedded(ref(CORE + "Affinity"))]
LabelSelector = Annotated[JsonObject, Embedded(ref(META + "LabelSelector"))]


class LocalObjectReference(ApiModel):
    """A name in the same namespace."""

    name: str = ""


class ObjectReference(ApiModel):
    """A reference to an object."""

    api_version: str | None = None
    field_path: str | None = None
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


_UNITS: Mapping[str, int] = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9
}  # fmt: skip
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def nanoseconds_of(duration: str) -> int:
    """Return the nanoseconds of a duration that has been checked, as Go counts them: each part rounded down."""
    total = sum(_whole(number, _UNITS[unit]) for number, unit in _PART.findall(duration))
    return -total if duration.startswith("-") else total


def _whole(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    return int(whole or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)


def milliseconds_of(duration: str) -> int:
    """Return the whole milliseconds of a duration that has been checked, cut towards zero as Go does."""
    nanoseconds = nanoseconds_of(duration)
    return nanoseconds // 10**6 if nanoseconds >= 0 else -(-nanoseconds // 10**6)


def seconds_of(duration: str) -> float:
    """Return the seconds of a duration that has been checked."""
    return nanoseconds_of(duration) / 10**9

"""The base class and common types of settings."""

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel


class Section(BaseModel):
    """A section of the settings, with keys in camelCase. Unknown keys are rejected.

    Sections that are not set are created by ``model_construct``: their defaults need no validation. pydantic would
    build the validator of each section, and that of image caches would load all clouds.
    """

    model_config = ConfigDict(  # type: ignore[pydantic-alias]
        alias_generator=to_camel,
        defer_build=True,  # a section is built as a part of the settings that contain it
        extra="forbid",
        frozen=True,
        strict=True,
    )


def _bool_from_text(value: object) -> object:
    # Pulumi's configuration values are strings.
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _timestamp(value: object) -> object:
    return datetime.datetime.fromisoformat(value) if isinstance(value, str) else value


def _with_zone(value: datetime.datetime) -> datetime.datetime:
    if value.tzinfo is None:
        raise ValueError("must have a time zone, such as 2027-01-01T12:00:00Z")
    return value.astimezone(datetime.UTC)


_VERSION = r"^\d+\.\d+$"
_FULL_VERSION = re.compile(r"v?(\d+\.\d+)(?![\d])")


def _minor_version(value: str) -> str:
    if re.fullmatch(_VERSION, value, re.ASCII) is None:
        prefix = _FULL_VERSION.match(value)
        hint = f"; write {prefix[1]!r}" if prefix else ""
        raise ValueError(f"must be a Kubernetes version such as '1.35'{hint}")
    return value


KubernetesVersion = Annotated[
    str,
    AfterValidator(_minor_version),
    WithJsonSchema({"type": "string", "pattern": _VERSION}),
]
"""Major and minor version: an environment cannot choose the patch version."""
_DAY = r"^\d{4}-\d{2}-\d{2}$"


def _day(value: str) -> str:
    reason = f"must be a day such as 2027-12-02, found {value!r}"
    if re.fullmatch(_DAY, value, re.ASCII) is None:
        raise ValueError(reason)
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        raise ValueError(reason) from None
    return value


Day = Annotated[
    str,
    AfterValidator(_day),
    WithJsonSchema({"type": "string", "format": "date", "pattern": _DAY}),
]
"""A day as text, because settings and arguments of components are JSON."""
Flag = Annotated[
    bool,
    BeforeValidator(_bool_from_text),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}),
]
Moment = Annotated[
    datetime.datetime,
    BeforeValidator(_timestamp),
    AfterValidator(_with_zone),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": r"(Z|[+-]\d{2}(:?\d{2})?)$"}),
]

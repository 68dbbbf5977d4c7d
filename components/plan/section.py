"""What every section of settings shares."""

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel


class Section(BaseModel):
    """A part of the settings: keys in camelCase, unknown ones refused.

    Sections that are not set are constructed by ``model_construct``: their defaults need no validation, for which
    pydantic would build the validator of each section, and the section of image caches would load all clouds.
    """

    model_config = ConfigDict(  # type: ignore[pydantic-alias]
        alias_generator=to_camel,
        defer_build=True,  # a section is built as a part of the settings that contain it
        extra="forbid",
        frozen=True,
        strict=True,
    )


def _spoken(value: object) -> object:
    """Configuration arrives as text: true and false are words there."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _moment(value: object) -> object:
    return datetime.datetime.fromisoformat(value) if isinstance(value, str) else value


def _with_zone(value: datetime.datetime) -> datetime.datetime:
    if value.tzinfo is None:
        raise ValueError("must have a time zone, such as 2027-01-01T12:00:00Z")
    return value.astimezone(datetime.UTC)


_VERSION = r"^\d+\.\d+$"
_NEARLY_VERSION = re.compile(r"v?(\d+\.\d+)(?![\d])")


def _minor_version(value: str) -> str:
    if re.fullmatch(_VERSION, value, re.ASCII) is None:
        near = _NEARLY_VERSION.match(value)
        hint = f"; write {near[1]!r}" if near else ""
        raise ValueError(f"must be a Kubernetes version such as '1.35'{hint}")
    return value


KubernetesVersion = Annotated[
    str,
    AfterValidator(_minor_version),
    WithJsonSchema({"type": "string", "pattern": _VERSION}),
]
"""Major and minor version; a patch is nothing that an environment decides about."""
Flag = Annotated[
    bool,
    BeforeValidator(_spoken),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}),
]
Moment = Annotated[
    datetime.datetime,
    BeforeValidator(_moment),
    AfterValidator(_with_zone),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": r"(Z|[+-]\d{2}(:?\d{2})?)$"}),
]

"""The base of all API types: camelCase on the wire, immutable, no unknown fields, rules with their CEL."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from .releases import SPAN, Span

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Json = Any
"""A JSON value, or an object of a type that only the rules know."""

Violation = tuple[tuple[str | int, ...], str]
"""A path relative to the checked object, and the end of the message: what was found there."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule over several fields, checked here and, as CEL, by the API server.

    Attributes:
        message: The requirement and the remedy.
        broken: Yields the violations of an object.
        cel: The same rule for the CustomResourceDefinition.
        of: The only field of the rule, which is checked only if this field is set; empty for several fields.
        span: The only releases with the rule; None if it holds for the union of all releases.
    """

    message: str
    broken: Callable[[Any], Iterable[Violation]]
    cel: str
    of: str = ""
    span: Span | None = None

    def problems(self, checked: Json) -> Iterator[Violation]:
        """Yield the violations of an object with complete messages."""
        for path, detail in self.broken(checked):
            yield self.problem(path, detail)

    def problem(self, path: tuple[str | int, ...], detail: str) -> Violation:
        # Messages follow the path, so a message that begins with the last field of the path drops it.
        first, _, rest = self.message.partition(" ")
        message = rest if path and first.rpartition(".")[2] == path[-1] else self.message
        return path, message + detail


def no_local_check(_checked: Json) -> Iterator[Violation]:
    """Yield nothing: only the API server checks the rule, or a type or another rule does so here."""
    return iter(())


class ApiModel(BaseModel):
    """A type of the contract. Wire names are camelCase, Python names snake_case."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_alias=True,
        validate_by_name=False,
        defer_build=True,
    )

    rules: ClassVar[tuple[Rule, ...]] = ()

    _checked: ClassVar[tuple[Rule, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._checked = tuple(rule for rule in cls.rules if rule.broken is not no_local_check)

    @model_validator(mode="after")
    def _obey_rules(self, info: ValidationInfo) -> Self:
        if self._checked:
            explicit = self.model_fields_set
            kind = info.context  # with the release in which the object is read; None for a part of an object
            rules = [
                rule
                for rule in self._checked
                if (not rule.of or rule.of in explicit)
                and (rule.span is None or (kind is not None and kind.has_rule(rule.span)))
            ]
            violations = [rule.problem(*broken) for rule in rules for broken in rule.broken(self)]
            if violations:
                raise combined_error(violations)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the rules to the JSON schema, as the API server reads them."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        if any(rule.cel for rule in cls.rules):
            schema["x-kubernetes-validations"] = [
                {"rule": rule.cel, "message": rule.message} | ({SPAN: rule.span.as_json()} if rule.span else {})
                for rule in cls.rules
                if rule.cel
            ]
        return schema

    # The pydantic plugin reports the alias generator at the last method; every alias is fixed in effect.
    def wire(self) -> dict[str, Any]:  # type: ignore[pydantic-alias]
        """Return the fields that were set, under their wire names and without defaults."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def combined_error(violations: Iterable[Violation]) -> PydanticCustomError:
    """Combine violations into the one error that a pydantic validator may raise."""
    items = list(violations)
    # PydanticCustomError formats the text with its context, so braces are escaped.
    text = "; ".join(reason for _, reason in items).replace("{", "{{").replace("}", "}}")
    return PydanticCustomError("several", text, {"items": items})


LARGEST_WHOLE_FLOAT = 2.0**53 - 1


def whole_float_to_int(value: object) -> object:
    """Convert 3.0 to 3 as the API server does, up to the largest float that is an exact integer."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_WHOLE_FLOAT:
        return int(value)
    return value


def _int32(minimum: int) -> tuple[object, ...]:
    return (
        Field(ge=minimum, le=INT32_MAX, json_schema_extra={"format": "int32"}),
        BeforeValidator(whole_float_to_int),
    )


# Bounds are part of the type, because pydantic drops a bound that a field declares together with its default.
Int32 = Annotated[int, *_int32(-INT32_MAX - 1)]
NaturalInt32 = Annotated[int, *_int32(0)]
PositiveInt32 = Annotated[int, *_int32(1)]
Int64 = Annotated[
    int,
    Field(ge=-INT64_MAX - 1, le=INT64_MAX, json_schema_extra={"format": "int64"}),
    BeforeValidator(whole_float_to_int),
]
ScaleReplicas = Annotated[
    int, Field(ge=0, le=INT32_MAX, json_schema_extra={"format": "int32", "x-exact-integer": True})
]
"""Replicas of a scale subresource. The API server decodes them itself and rejects both 3.0 and -1."""

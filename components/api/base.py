"""What every API type has in common: camelCase on the wire, frozen, no unknown fields."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


class ApiModel(BaseModel):
    """A type of the contract. Wire names are camelCase, Python names snake_case."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_alias=True,
        validate_by_name=False,
    )

    def wire(self) -> dict[str, Any]:
        """Return what the writer set, in wire names (no defaults added)."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def _whole_float_to_int(value: object) -> object:
    """The API server takes 3.0 for 3 (JSON has one number type) and stores 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Int32 = Annotated[int, BeforeValidator(_whole_float_to_int), Field(ge=-INT32_MAX - 1, le=INT32_MAX)]
Int64 = Annotated[int, BeforeValidator(_whole_float_to_int), Field(ge=-INT64_MAX - 1, le=INT64_MAX)]

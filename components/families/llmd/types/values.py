"""Texts of llm-d with a grammar of their own (WVA spec 2)."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from ....contract.base import combined_error
from ....contract.schema.embedded import format_value

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z", re.ASCII)


def _decimal(text: str) -> str:
    if _DECIMAL.match(text) is None:
        raise combined_error(
            [((), f"must be an unsigned number in quotes, such as '20.58', found {format_value(text)}")]
        )
    return text


DecimalText = Annotated[str, Field(json_schema_extra={"pattern": r"^\d+(\.\d+)?$"}), AfterValidator(_decimal)]
"""A number as text, without sign and exponent."""
Text = Annotated[str, Field(min_length=1)]

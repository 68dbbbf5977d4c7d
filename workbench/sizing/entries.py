"""The schema of profile files, as ``fit-profile --output json`` writes them."""

from typing import Annotated

from pydantic import Field

from components.plan.section import Section

_Whole = Annotated[int, Field(ge=1, lt=10**9)]
_Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ProfileFigures(Section):
    """The profile of a replica on an accelerator."""

    accelerator: str = Field(min_length=1)
    count: _Whole
    alpha: _Number
    beta: _Number
    batch: _Whole


class ProfileEntries(Section):
    """A profile file."""

    profiles: list[ProfileFigures]

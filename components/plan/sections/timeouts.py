"""Settings of timeouts."""

from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from ...contract.texts.durations import DURATION, is_duration
from ..section import Section


def _duration(value: str) -> str:
    if not is_duration(value):
        raise ValueError(f"must be a duration such as 30m or 1h30m, found {value!r}")
    return value


Duration = Annotated[str, AfterValidator(_duration), WithJsonSchema({"type": "string", "pattern": f"^{DURATION}$"})]


class FleetTimeoutSettings(Section):
    """How long an update waits for single resources before it fails, instead of the computed times."""

    models: Duration | None = None
    """Timeout of each object of the models, such as 30m. Default: computed from their cold starts, with a margin."""
    charts: Duration | None = None
    """Timeout of each chart. Default: 15m."""

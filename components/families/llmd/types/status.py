"""llm-d: what the controller observes (WVA spec 3)."""

from typing import Annotated

from pydantic import Field

from ....contract.base import ApiModel, Int64
from ....contract.schema.embedded import Time
from .values import DecimalText, Text

_Natural = Annotated[Int64, Field(ge=0)]


class LoadProfile(ApiModel):
    """What is asked of the variant: requests a minute, and mean tokens of an answer."""

    arrival_rate: str
    avg_length: str


class Allocation(ApiModel):
    """What the variant has."""

    accelerator: Text
    num_replicas: _Natural
    max_batch: _Natural
    variant_cost: DecimalText
    itl_average: DecimalText
    wait_average: DecimalText
    load: LoadProfile


class OptimizedAlloc(ApiModel):
    """What the variant should have."""

    last_run_time: Time | None = None
    accelerator: Annotated[str, Field(min_length=2)]
    num_replicas: _Natural


class ActuationStatus(ApiModel):
    """Whether the wish was published."""

    applied: bool


class VariantAutoscalingStatus(ApiModel):
    """Observed state."""

    current_alloc: Allocation | None = None
    desired_optimized_alloc: OptimizedAlloc | None = None
    actuation: ActuationStatus | None = None

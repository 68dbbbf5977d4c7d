"""llm-d: VariantAutoscaling (``llmd.ai/v1alpha1``; spec: WVA spec 2, status: WVA spec 3)."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from ...contract import rules
from ...contract.base import ApiModel, Int64, Rule, combined_error
from ...contract.meta import Resource
from ...contract.schema.embedded import Time, format_value

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z", re.ASCII)


def _decimal(text: str) -> str:
    if _DECIMAL.match(text) is None:
        raise combined_error(
            [((), f"must be an unsigned number in quotes, such as '20.58', found {format_value(text)}")]
        )
    return text


DecimalText = Annotated[str, Field(json_schema_extra={"pattern": r"^\d+(\.\d+)?$"}), AfterValidator(_decimal)]
"""A number as text, without sign and exponent."""
_Text = Annotated[str, Field(min_length=1)]
_Positive = Annotated[Int64, Field(ge=1)]
_Natural = Annotated[Int64, Field(ge=0)]


class ConfigMapKeyRef(ApiModel):
    """A key of a ConfigMap."""

    name: _Text
    """Name of the ConfigMap."""
    key: _Text
    """Key in the ConfigMap."""


class AcceleratorProfile(ApiModel):
    """Speed of one replica on an accelerator."""

    acc: _Text
    """Name of the accelerator."""
    acc_count: _Positive
    """Accelerators per replica, over all its pods."""
    alpha: DecimalText
    """Base time per output token in milliseconds, such as '20.58'."""
    beta: DecimalText
    """Additional milliseconds per token for each concurrent request, such as '0.41'."""
    max_batch_size: _Positive
    """Concurrent requests of one replica, as configured in the engine; at least 2."""


class ModelProfile(ApiModel):
    """Speed of the model on each accelerator."""

    accelerators: Annotated[list[AcceleratorProfile], Field(min_length=1)]
    """One entry for the accelerator that the workload runs on; further entries are for comparison."""


class VariantAutoscalingSpec(ApiModel):
    """The model to size, its service class and its speed."""

    model_id: Annotated[_Text, Field(alias="modelID")]
    """Model name that clients use in requests."""
    slo_class_ref: ConfigMapKeyRef
    """Key of the service class in the controller's ConfigMap. Informational: nothing reads it. Default: the key of
    service_class."""
    model_profile: ModelProfile
    """Speed of the model."""


class LoadProfile(ApiModel):
    """Observed load: requests per minute and mean output tokens."""

    arrival_rate: str
    avg_length: str


class Allocation(ApiModel):
    """Current allocation of the variant."""

    accelerator: _Text
    num_replicas: _Natural
    max_batch: _Natural
    variant_cost: DecimalText
    itl_average: DecimalText
    wait_average: DecimalText
    load: LoadProfile


class OptimizedAlloc(ApiModel):
    """Allocation that the optimizer found."""

    last_run_time: Time | None = None
    accelerator: Annotated[str, Field(min_length=2)]
    num_replicas: _Natural


class ActuationStatus(ApiModel):
    """Whether the optimized allocation was published."""

    applied: bool


class VariantAutoscalingStatus(ApiModel):
    """Observed state."""

    current_alloc: Allocation | None = None
    desired_optimized_alloc: OptimizedAlloc | None = None
    actuation: ActuationStatus | None = None


class VariantAutoscaling(Resource):
    """Sizes the workload of the same name for a service level."""

    api_version: Literal["llmd.ai/v1alpha1"]
    kind: Literal["VariantAutoscaling"]
    spec: VariantAutoscalingSpec
    status: VariantAutoscalingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)

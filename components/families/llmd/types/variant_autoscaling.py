"""llm-d: VariantAutoscaling (``llmd.ai/v1alpha1``, WVA spec 2)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int64, Rule
from ....contract.meta import Resource
from .status import VariantAutoscalingStatus
from .values import DecimalText, Text

_Positive = Annotated[Int64, Field(ge=1)]


class ConfigMapKeyRef(ApiModel):
    """A key of a ConfigMap."""

    name: Text
    """Name of the ConfigMap."""
    key: Text
    """Its key."""


class AcceleratorProfile(ApiModel):
    """How fast a replica is on an accelerator."""

    acc: Text
    """Name of the accelerator."""
    acc_count: _Positive
    """Accelerators of a replica, over all its pods."""
    alpha: DecimalText
    """Milliseconds for a token, such as '20.58'."""
    beta: DecimalText
    """Milliseconds that each request at once adds, such as '0.41'."""
    max_batch_size: _Positive
    """Requests that a replica works on at once; that of the engine, at least 2."""


class ModelProfile(ApiModel):
    """How fast the model is on each accelerator."""

    accelerators: Annotated[list[AcceleratorProfile], Field(min_length=1)]
    """One entry for the accelerator that the workload runs on; further ones are for comparison."""


class VariantAutoscalingSpec(ApiModel):
    """Which model to size, for which service level, and how fast it is."""

    model_id: Annotated[Text, Field(alias="modelID")]
    """Name under which clients ask for the model."""
    slo_class_ref: ConfigMapKeyRef
    """Where the controller's service class stands; nothing reads it. Default: that of service_class."""
    model_profile: ModelProfile
    """How fast the model is."""


class VariantAutoscaling(Resource):
    """Sizes the workload of its name for a service level."""

    api_version: Literal["llmd.ai/v1alpha1"]
    kind: Literal["VariantAutoscaling"]
    spec: VariantAutoscalingSpec
    status: VariantAutoscalingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)

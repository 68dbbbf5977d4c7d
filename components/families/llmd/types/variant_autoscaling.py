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
    key: Text


class AcceleratorProfile(ApiModel):
    """How fast a replica is on an accelerator."""

    acc: Text
    acc_count: _Positive
    alpha: DecimalText
    beta: DecimalText
    max_batch_size: _Positive


class ModelProfile(ApiModel):
    """How fast the model is on each accelerator."""

    accelerators: Annotated[list[AcceleratorProfile], Field(min_length=1)]


class VariantAutoscalingSpec(ApiModel):
    """Which model to size, for which service level, and how fast it is."""

    model_id: Annotated[Text, Field(alias="modelID")]
    slo_class_ref: ConfigMapKeyRef
    model_profile: ModelProfile


class VariantAutoscaling(Resource):
    """Sizes the workload of its name for a service level."""

    api_version: Literal["llmd.ai/v1alpha1"]
    kind: Literal["VariantAutoscaling"]
    spec: VariantAutoscalingSpec
    status: VariantAutoscalingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)

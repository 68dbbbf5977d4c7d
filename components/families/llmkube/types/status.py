"""LLMKube: the observed status (LLMKube spec 1.2, 1.3), for reading live objects only."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract.base import ApiModel, Int32, Int64, Rule, Violation
from ....contract.schema.embedded import Time
from .values import ConditionReason, ConditionType


class Condition(ApiModel):
    """One condition of an object."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: ConditionReason
    message: Annotated[str, Field(max_length=32768)]
    last_transition_time: Time
    observed_generation: Annotated[Int64, Field(ge=0)] | None = None


class Observed(ApiModel):
    """Fields of both statuses: conditions with unique types, and their last update."""

    conditions: list[Condition] | None = Field(
        default=None,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    )
    last_updated: Time | None = None

    def _same_types(self) -> Iterator[Violation]:
        seen: set[str] = set()
        for index, condition in enumerate(self.conditions or ()):
            if condition.type in seen:
                yield ("conditions", index, "type"), f"{condition.type!r} is used twice; types must be unique"
            seen.add(condition.type)

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _same_types, ""),)


class InferenceServiceStatus(Observed):
    """Observed state of an InferenceService."""

    phase: Literal["Pending", "Creating", "Progressing", "Ready", "WaitingForGPU", "Stopped", "Failed"] | None = None
    ready_replicas: Int32 | None = None
    replicas: Int32 | None = None
    desired_replicas: Int32 | None = None
    endpoint: str | None = None
    model_ready: bool | None = None
    scheduling_status: str | None = None
    scheduling_message: str | None = None
    waiting_for: str | None = None
    queue_position: Int32 | None = None
    effective_priority: Int32 | None = None


class GGUFMetadata(ApiModel):
    """Header of a GGUF file. Lengths are tokens."""

    architecture: str | None = None
    model_name: str | None = None
    quantization: str | None = None
    context_length: Int64 | None = None
    embedding_size: Int64 | None = None
    layer_count: Int64 | None = None
    head_count: Int64 | None = None
    tensor_count: Int64 | None = None
    file_version: Int32 | None = None
    license: str | None = None


class ModelStatus(Observed):
    """Observed state of a Model. ``sourceContentLength`` is bytes."""

    phase: Literal["Pending", "Downloading", "Copying", "Ready", "Failed"] | None = None
    size: str | None = None
    path: str | None = None
    cache_key: str | None = None
    sha256: str | None = None
    source_etag: str | None = Field(default=None, alias="sourceETag")
    source_content_length: Int64 | None = None
    last_revalidated: Time | None = None
    accelerator_ready: bool | None = None
    gguf: GGUFMetadata | None = None

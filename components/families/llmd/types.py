"""llm-d: VariantAutoscaling (``llmd.ai/v1alpha1``) in all its releases (WVA spec 2, 3, 13).

Group, version and kind never changed although the schema did: only the fields tell which release a manifest is for.
"""

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from ...contract import rules
from ...contract.base import (
    INT32_MAX,
    ApiModel,
    Int64,
    Json,
    NaturalInt32,
    PositiveInt32,
    Rule,
    Violation,
    combined_error,
    no_local_check,
)
from ...contract.meta import Conditions, Resource
from ...contract.releases import Span
from ...contract.schema.embedded import Time, format_value

_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z", re.ASCII)
_PATTERN = r"^\d+(\.\d+)?$"


def _decimal(text: str) -> str:
    if _DECIMAL.match(text) is None:
        raise combined_error(
            [((), f"must be an unsigned number in quotes, such as '20.58', found {format_value(text)}")]
        )
    return text


DecimalText = Annotated[str, Field(json_schema_extra={"pattern": _PATTERN}), AfterValidator(_decimal)]
"""A number as text, without sign and exponent."""
_Text = Annotated[str, Field(min_length=1)]
_Positive = Annotated[Int64, Field(ge=1)]
_Natural = Annotated[Int64, Field(ge=0)]
_Parms = Annotated[dict[str, str], Field(min_length=1)]

FIRST, LAST = "c0f645c", "4bbb15fa"
"""The first and the last release with the kind."""
LAST_WITH_CLASS = "v0.0.5"
"""The last release whose variants refer to their service class."""


class ConfigMapKeyRef(ApiModel):
    """A key of a ConfigMap."""

    name: _Text
    """Name of the ConfigMap."""
    key: _Text
    """Key in the ConfigMap."""


class PerfParms(ApiModel):
    """Measured parameters of the decoding and of the prefill, as numbers in text."""

    decode_parms: _Parms
    """``alpha`` and ``beta``: with n concurrent requests, each output token takes alpha + beta * n milliseconds."""
    prefill_parms: _Parms
    """``gamma`` and ``delta``: with n concurrent requests, the prefill takes gamma + delta * prompt tokens * n
    milliseconds."""


def _half_a_line(entry: Json) -> Iterator[Violation]:
    """Reject parts of the two forms of a speed, which the schema of no release accepts."""
    given = {"alpha": entry.alpha, "beta": entry.beta}
    if entry.perf_parms is not None:
        for field, value in given.items():
            if value is not None:
                yield (field,), "is that of perfParms.decodeParms, and no release has both; remove one of the two"
    elif (entry.alpha is None) != (entry.beta is None):
        missing = next(field for field, value in given.items() if value is None)
        yield (missing,), "is required beside the other number of the line; set it"


class AcceleratorProfile(ApiModel):
    """Speed of one replica on an accelerator."""

    acc: _Text
    """Name of the accelerator."""
    acc_count: _Positive
    """Accelerators per replica, over all its pods."""
    alpha: Annotated[DecimalText | None, Span(until=FIRST, required=True)] = None
    """Base time per output token in milliseconds, such as '20.58'."""
    beta: Annotated[DecimalText | None, Span(until=FIRST, required=True)] = None
    """Additional milliseconds per token for each concurrent request, such as '0.41'."""
    max_batch_size: _Positive
    """Concurrent requests of one replica, as configured in the engine; at least 2."""
    perf_parms: Annotated[PerfParms | None, Span("v0.0.1", "v0.0.4", required=True), Span("v0.0.5", "v0.4.2")] = None
    """Measured parameters of the decoding and of the prefill. Replaces alpha and beta."""

    rules: ClassVar[tuple[Rule, ...]] = (Rule("", _half_a_line, ""),)


class ModelProfile(ApiModel):
    """Speed of the model on each accelerator."""

    accelerators: Annotated[list[AcceleratorProfile], Field(min_length=1)]
    """One entry for the accelerator that the workload runs on; further entries are for comparison."""


class ScaleTargetRef(ApiModel):
    """The workload to scale."""

    api_version: str | None = None
    """API version of the workload, such as apps/v1."""
    kind: str
    """Kind of the workload: Deployment or LeaderWorkerSet."""
    name: str
    """Name of the workload, in the namespace of the VariantAutoscaling."""


def _reversed_bounds(spec: Json) -> Iterator[Violation]:
    most = DEFAULT_BOUNDS[1] if spec.max_replicas is None else spec.max_replicas
    if spec.min_replicas is not None and spec.min_replicas > most:
        default = "" if spec.max_replicas is not None else ", the default"
        yield ("minReplicas",), f"must be at most maxReplicas, {most}{default}, found {spec.min_replicas}"


DEFAULT_BOUNDS = (1, 2)
"""Bounds of the replicas from v0.6.0 on, where none are set."""
_SINCE_BOUNDS = Span("v0.6.0", LAST)


class VariantAutoscalingSpec(ApiModel):
    """The model to scale, with its workload, its service class and its speed."""

    model_id: Annotated[_Text, Field(alias="modelID")]
    """Model name that clients use in requests."""
    slo_class_ref: Annotated[
        ConfigMapKeyRef | None, Span(until="v0.0.4", required=True), Span("v0.0.5", LAST_WITH_CLASS)
    ] = None
    """Key of the service class in the controller's ConfigMap. Informational: nothing reads it. Default: the key of
    service_class."""
    model_profile: Annotated[ModelProfile | None, Span(until="v0.0.4", required=True), Span("v0.0.5", "v0.4.2")] = (
        None
    )
    """Speed of the model. Without it, replicas cannot be computed from latency targets."""
    variant_cost: Annotated[DecimalText | None, Span("v0.0.5", LAST, default="10.0")] = None
    """Cost of one replica, as text. Of the variants of a model, the controller scales up the cheapest first. Default,
    for the controller: 10.0."""
    scale_target_ref: Annotated[ScaleTargetRef | None, Span("v0.5.0", LAST, required=True)] = None
    """The workload to scale. Default: the one with the name of the VariantAutoscaling."""
    min_replicas: Annotated[NaturalInt32 | None, Span("v0.6.0", LAST, default=DEFAULT_BOUNDS[0])] = None
    """Lower bound of the replicas; 0 scales to zero without requests."""
    max_replicas: Annotated[PositiveInt32 | None, Span("v0.6.0", LAST, required=True, default=DEFAULT_BOUNDS[1])] = (
        None
    )
    """Upper bound of the replicas."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("", _reversed_bounds, ""),
        Rule(
            "minReplicas must be less than or equal to maxReplicas",
            no_local_check,
            "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
            span=_SINCE_BOUNDS,
        ),
    )


class LoadProfile(ApiModel):
    """Observed load: requests per minute and mean tokens."""

    arrival_rate: str
    avg_length: Annotated[str | None, Span(until=FIRST, required=True)] = None
    avg_input_tokens: Annotated[str | None, Span("v0.0.1", "v0.4.2", required=True)] = None
    avg_output_tokens: Annotated[str | None, Span("v0.0.1", "v0.4.2", required=True)] = None


class Allocation(ApiModel):
    """Current allocation of the variant."""

    accelerator: _Text
    num_replicas: _Natural
    max_batch: _Natural
    variant_cost: DecimalText
    itl_average: DecimalText
    wait_average: Annotated[DecimalText | None, Span(until=FIRST, required=True)] = None
    ttft_average: Annotated[DecimalText | None, Span("v0.0.1", "v0.4.2", required=True)] = None
    load: LoadProfile


class OptimizedAlloc(ApiModel):
    """Allocation that the optimizer found."""

    last_run_time: Time | None = None
    accelerator: Annotated[str | None, Span(until="v0.5.1", required=True, minLength=2), Span(since="v0.6.0")] = None
    num_replicas: Annotated[
        _Natural | None, Span(until="v0.5.1", required=True), Span(since="v0.6.0", format="int32", maximum=INT32_MAX)
    ] = None


class ActuationStatus(ApiModel):
    """Whether the optimized allocation was published."""

    applied: bool


class VariantAutoscalingStatus(ApiModel):
    """Observed state."""

    current_alloc: Annotated[Allocation | None, Span(until="v0.4.2")] = None
    desired_optimized_alloc: OptimizedAlloc | None = None
    actuation: ActuationStatus | None = None
    conditions: Annotated[Conditions | None, Span(since="v0.0.2")] = None


class VariantAutoscaling(Resource):
    """Sizes a workload for a service level."""

    api_version: Literal["llmd.ai/v1alpha1"]
    kind: Literal["VariantAutoscaling"]
    spec: VariantAutoscalingSpec
    status: VariantAutoscalingStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)

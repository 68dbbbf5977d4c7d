"""Kinds of autoscalers that are written by hand, each with the HorizontalPodAutoscaler that says the same.

Sources: kubernetes/kubernetes v1.36.3, pkg/apis/autoscaling; kedacore/keda at 8b4f083,
apis/keda/v1alpha1/scaledobject_types.go; kedacore/http-add-on, operator/apis/http/v1alpha1.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from ..contract.base import ApiModel, Int32, NaturalInt32, PositiveInt32
from ..contract.meta import JsonObject
from ..contract.names import LABEL_LENGTH
from ..contract.schema.embedded import Metrics, ScaleBehavior
from ..fleet.objects import HPA, Object
from ..fleet.shapes import DEPLOYMENT

SCALED_OBJECT, HTTP_SCALED_OBJECT = "ScaledObject", "HTTPScaledObject"
_MOST_REPLICAS = 100
"""Default of ``maxReplicaCount`` (``defaultHPAMaxReplicas``)."""
_HTTP_MOST_REPLICAS = 100
_RESOURCES = ("cpu", "memory")
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "prometheus": ("serverAddress", "query", "threshold"),
    "cpu": ("value",),
    "memory": ("value",),
}
"""Required metadata by type of the trigger."""
_NUMBERS = ("threshold", "activationThreshold")
"""Metadata of a Prometheus trigger that KEDA reads as numbers (pkg/scalers/prometheus_scaler.go)."""
_TRIGGERS = "triggers"
_BEHAVIOR = "advanced.horizontalPodAutoscalerConfig.behavior"


class _Target(ApiModel):
    api_version: str | None = None
    kind: str
    name: str


class _LooseTarget(ApiModel):
    """A target whose kind may be missing: KEDA scales a Deployment then."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    api_version: str | None = None
    kind: str | None = None
    name: Annotated[str, Field(min_length=1)]


class _HpaSpec(ApiModel):
    """The spec of a HorizontalPodAutoscaler."""

    scale_target_ref: _Target
    min_replicas: NaturalInt32 | None = None
    max_replicas: PositiveInt32
    metrics: Metrics | None = None
    behavior: ScaleBehavior | None = None


class _HpaV1Spec(ApiModel):
    scale_target_ref: _Target
    min_replicas: NaturalInt32 | None = None
    max_replicas: PositiveInt32
    target_cpu_utilization_percentage: Annotated[
        Int32 | None, Field(default=None, alias="targetCPUUtilizationPercentage", ge=1)
    ]


class _Trigger(ApiModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    type: Annotated[str, Field(min_length=1)]
    metadata: dict[str, str]
    metric_type: Literal["AverageValue", "Value", "Utilization"] | None = None


class _ScaledObjectSpec(ApiModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    scale_target_ref: _LooseTarget
    min_replica_count: NaturalInt32 | None = None
    max_replica_count: PositiveInt32 | None = None
    idle_replica_count: NaturalInt32 | None = None
    advanced: JsonObject | None = None
    triggers: Annotated[list[_Trigger], Field(min_length=1)]


class _Replicas(ApiModel):
    min: NaturalInt32 | None = None
    max: PositiveInt32 | None = None


class _HttpScaledObjectSpec(ApiModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    scale_target_ref: _LooseTarget
    replicas: _Replicas | None = None


def _hpa(spec: Object) -> Object:
    return spec


def _hpa_v1(spec: Object) -> Object:
    share = spec.get("targetCPUUtilizationPercentage")
    kept = {key: value for key, value in spec.items() if key != "targetCPUUtilizationPercentage"}
    if share is None:
        return kept
    target = {"type": "Utilization", "averageUtilization": share}
    return {**kept, "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]}


def _target_of(spec: Object) -> Object:
    return {
        "apiVersion": DEPLOYMENT.api_version,
        "kind": DEPLOYMENT.kind,
        **{key: value for key, value in spec["scaleTargetRef"].items() if value},
    }


def _scaled_object(spec: Object) -> Object:
    config = (spec.get("advanced") or {}).get("horizontalPodAutoscalerConfig") or {}
    behavior = config.get("behavior") if isinstance(config, dict) else None
    return {
        "scaleTargetRef": _target_of(spec),
        "minReplicas": spec.get("minReplicaCount", 0),
        "maxReplicas": spec.get("maxReplicaCount", _MOST_REPLICAS),
        "metrics": [_metric(position, trigger) for position, trigger in enumerate(spec["triggers"])],
        **({"behavior": behavior} if isinstance(behavior, dict) else {}),
    }


def _metric(position: int, trigger: Object) -> Object:
    """Return the metric that KEDA gives its HorizontalPodAutoscaler for a trigger (controllers/keda/hpa.go)."""
    name, metadata = trigger["type"], trigger["metadata"]
    kind = trigger.get("metricType") or ("Utilization" if name in _RESOURCES else "AverageValue")
    value = metadata.get("value" if name in _RESOURCES else "threshold", "")
    if name in _RESOURCES:
        amount: Any = int(value) if kind == "Utilization" and value.isdecimal() else value
        field = "averageUtilization" if kind == "Utilization" else "averageValue"
        body = {"name": name, "target": {"type": kind, field: amount}}
        container = metadata.get("containerName")
        if container:
            return {"type": "ContainerResource", "containerResource": {**body, "container": container}}
        return {"type": "Resource", "resource": body}
    field = "value" if kind == "Value" else "averageValue"
    metric = {"metric": {"name": f"s{position}-{name}"}, "target": {"type": kind, field: value}}
    return {"type": "External", "external": metric}


def _http_scaled_object(spec: Object) -> Object:
    replicas = spec.get("replicas") or {}
    return {
        "scaleTargetRef": _target_of(spec),
        "minReplicas": replicas.get("min", 0),
        "maxReplicas": replicas.get("max", _HTTP_MOST_REPLICAS),
    }


def _hpa_violations(spec: Object, _name: str) -> Iterator[tuple[str, str]]:
    yield from _bounds(spec.get("minReplicas", 1), spec["maxReplicas"], "maxReplicas", "minReplicas")


def _scaled_object_violations(spec: Object, name: str) -> Iterator[tuple[str, str]]:
    """Yield what KEDA's webhook or its CRD rejects."""
    least, most = spec.get("minReplicaCount", 0), spec.get("maxReplicaCount", _MOST_REPLICAS)
    yield from _bounds(least, most, "maxReplicaCount", "minReplicaCount")
    idle = spec.get("idleReplicaCount")
    if idle is not None and idle >= least:
        yield "idleReplicaCount", f"must be below minReplicaCount ({least}), found {idle}; lower it, or remove it"
    if len(name) > LABEL_LENGTH:
        yield (
            "",
            (f"its name has {len(name)} characters, and KEDA makes it a label of at most {LABEL_LENGTH}; shorten it"),
        )
    for position, trigger in enumerate(spec["triggers"]):
        for key in _REQUIRED.get(trigger["type"], ()):
            if not trigger["metadata"].get(key):
                reason = f"is required for a trigger of type {trigger['type']}; set it"
                yield f"triggers[{position}].metadata.{key}", reason
        for key in _NUMBERS if trigger["type"] == "prometheus" else ():
            value = trigger["metadata"].get(key)
            if value and not _is_number(value):
                yield f"triggers[{position}].metadata.{key}", f"must be a number such as '5', found {value!r}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _http_violations(spec: Object, _name: str) -> Iterator[tuple[str, str]]:
    replicas = spec.get("replicas") or {}
    least, most = replicas.get("min", 0), replicas.get("max", _HTTP_MOST_REPLICAS)
    yield from _bounds(least, most, "replicas.max", "replicas.min")


def _bounds(least: int, most: int, field: str, other: str) -> Iterator[tuple[str, str]]:
    if least > most:
        yield field, f"must be at least {other} ({least}), found {most}; correct one of the two"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerKind:
    """A kind of autoscaler.

    Attributes:
        model: The type of its spec.
        hpa_spec: Returns the spec of the HorizontalPodAutoscaler that says the same.
        violations: Returns what its API server or webhook rejects besides: path below spec, and reason.
        fields: Its fields by those of the HorizontalPodAutoscaler, if they differ.
        is_hpa: Whether it is a HorizontalPodAutoscaler.
        reads_pods: Whether its controller reads no metrics API and no series.
    """

    model: type[ApiModel]
    hpa_spec: Callable[[Object], Object]
    violations: Callable[[Object, str], Iterator[tuple[str, str]]]
    fields: Mapping[str, str]
    is_hpa: bool = False
    reads_pods: bool = False

    def field_of(self, path: str) -> str:
        """Return its field below ``spec`` for a field of the HorizontalPodAutoscaler."""
        first, _, rest = path.partition("[")
        own = self.fields.get(first.partition(".")[0], "")
        if not own:
            return path
        return f"{own}[{rest.partition(']')[0]}]" if rest and own == _TRIGGERS else own


SCALER_KINDS: Mapping[tuple[str, str], ScalerKind] = {
    ("autoscaling/v2", HPA): ScalerKind(
        model=_HpaSpec, hpa_spec=_hpa, violations=_hpa_violations, fields={}, is_hpa=True
    ),
    ("autoscaling/v1", HPA): ScalerKind(
        model=_HpaV1Spec,
        hpa_spec=_hpa_v1,
        violations=_hpa_violations,
        fields={"metrics": "targetCPUUtilizationPercentage"},
        is_hpa=True,
    ),
    ("keda.sh/v1alpha1", SCALED_OBJECT): ScalerKind(
        model=_ScaledObjectSpec,
        hpa_spec=_scaled_object,
        violations=_scaled_object_violations,
        fields={
            "minReplicas": "minReplicaCount",
            "maxReplicas": "maxReplicaCount",
            "metrics": _TRIGGERS,
            "behavior": _BEHAVIOR,
        },
    ),
    ("http.keda.sh/v1alpha1", HTTP_SCALED_OBJECT): ScalerKind(
        model=_HttpScaledObjectSpec,
        hpa_spec=_http_scaled_object,
        violations=_http_violations,
        fields={"minReplicas": "replicas.min", "maxReplicas": "replicas.max"},
        reads_pods=True,
    ),
}
"""By API version and kind."""
REMOVED_HPAS: Mapping[str, str] = {"autoscaling/v2beta1": "1.25", "autoscaling/v2beta2": "1.26"}
"""Versions of HorizontalPodAutoscalers that are no longer served, each with the first Kubernetes release without it
(kubernetes.io, "Deprecated API Migration Guide")."""

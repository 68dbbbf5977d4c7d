"""Autoscalers that stand for a variant of a model by their annotations, as v0.9.0 has them.

v0.9.0 deletes the kind VariantAutoscaling: its controller finds HorizontalPodAutoscalers and ScaledObjects with
``llm-d.ai/managed: "true"`` (internal/annotations/annotations.go and variant_fromannotations.go at v0.9.0).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...contract.schema.embedded import format_value

PREFIX = "llm-d.ai/"
MANAGED, MODEL_ID, VARIANT_COST = f"{PREFIX}managed", f"{PREFIX}model-id", f"{PREFIX}variant-cost"
_READ = (MANAGED, MODEL_ID, VARIANT_COST)
_ENABLED = "true"
_COST = re.compile(r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
"""A number that Go's strconv.ParseFloat reads, without sign, infinity and hexadecimal forms."""
_TARGETS = ("Deployment", "LeaderWorkerSet")
_SIGNAL = "wva_desired_replicas"
_QUERIED = re.compile(_SIGNAL + r'\s*\{[^}]*\bvariant_name\s*=\s*"([^"]*)"')
_FIELDS = {
    ("autoscaling", "HorizontalPodAutoscaler"): ("minReplicas", "maxReplicas"),
    ("keda.sh", "ScaledObject"): ("minReplicaCount", "maxReplicaCount"),
}
"""The fields of the bounds, by API group and kind."""


@dataclass(frozen=True, slots=True)
class ScaledBy:
    """An autoscaler of another API with its workload, and with what its annotations declare.

    Attributes:
        least, most: Its bounds; None where it sets none.
        is_managed: Whether the controller of v0.9.0 manages it.
        model: The model of the variant; empty without the annotation.
        cost: The cost of a replica; None without the annotation.
        read: The annotations that the controller reads.
    """

    title: str
    name: str
    namespace: str
    target: str
    target_kind: str
    target_api: str
    least: int | None
    most: int | None
    is_managed: bool
    model: str
    cost: str | None
    read: tuple[str, ...] = _READ


def scaled_by(value: Mapping[str, Any]) -> ScaledBy | None:
    """Return an autoscaler with its workload; None for an object of another kind, or without a workload."""
    group, kind = str(value.get("apiVersion", "")).rpartition("/")[0], str(value.get("kind", ""))
    fields, metadata, spec = _FIELDS.get((group, kind)), value.get("metadata"), value.get("spec")
    if fields is None or not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
        return None
    reference = spec.get("scaleTargetRef")
    if not isinstance(reference, Mapping) or not reference.get("name"):
        return None
    annotations = _texts(metadata)
    least, most = (number if isinstance(number := spec.get(field), int) else None for field in fields)
    return ScaledBy(
        title=f"{kind}/{metadata.get('name', '')}",
        name=str(metadata.get("name", "")),
        namespace=str(metadata.get("namespace") or ""),
        target=str(reference["name"]),
        # The controller has these defaults too.
        target_kind=str(reference.get("kind") or "Deployment"),
        target_api=str(reference.get("apiVersion") or "apps/v1"),
        least=least,
        most=most,
        is_managed=annotations.get(MANAGED) == _ENABLED,
        model=annotations.get(MODEL_ID, ""),
        cost=annotations.get(VARIANT_COST),
    )


def annotation_problems(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what keeps the controller of v0.9.0 from managing an annotated autoscaler, as path and reason.

    The controller only logs it, so that the autoscaler would never scale.
    """
    group, kind = str(value.get("apiVersion", "")).rpartition("/")[0], str(value.get("kind", ""))
    metadata = value.get("metadata")
    if (group, kind) not in _FIELDS or not isinstance(metadata, Mapping):
        return
    annotations = _texts(metadata)
    if not any(key in annotations for key in _READ):
        return
    managed, model, cost = (annotations.get(key) for key in _READ)
    if managed != _ENABLED:
        found = "is missing" if managed is None else f"is {format_value(managed)}"
        yield _at(MANAGED), f'{found}, so the other llm-d.ai annotations have no effect; set it to "true"'
        return
    if not model:
        yield _at(MODEL_ID), "is required beside llm-d.ai/managed: set it to the model name that clients request"
    if cost and not _COST.fullmatch(cost):
        yield (
            _at(VARIANT_COST),
            f'must be a number of at least 0 in quotes, such as "10.0", found {format_value(cost)}',
        )
    scaler = scaled_by(value)
    if scaler is None:
        yield "spec.scaleTargetRef.name", "is required: the controller takes the variant's workload from it"
        return
    if scaler.target_kind not in _TARGETS:
        yield (
            "spec.scaleTargetRef.kind",
            f"must be {' or '.join(_TARGETS)}, which are all that the controller scales, found "
            f"{format_value(scaler.target_kind)}",
        )
    yield from _wrong_signal(value, scaler)


def _wrong_signal(value: Mapping[str, Any], scaler: ScaledBy) -> Iterator[tuple[str, str]]:
    """Yield selectors of a name other than the autoscaler's, which the controller gives the signal."""
    for path, variant in _selected_variants(value["spec"]):
        if variant != scaler.name:
            yield (
                path,
                f"selects variant_name {format_value(variant)}, but the controller publishes the replicas of this "
                f"variant under the name of the autoscaler, {format_value(scaler.name)}, so there would be no value; "
                "select that",
            )


def _selected_variants(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variants whose signal an autoscaler reads, with the path of each selector."""
    for index, metric in _maps(spec.get("metrics")):
        body = (metric.get("external") or {}).get("metric")
        if isinstance(body, Mapping) and body.get("name") == _SIGNAL:
            labels = (body.get("selector") or {}).get("matchLabels") or {}
            if "variant_name" in labels:
                path = f"spec.metrics[{index}].external.metric.selector.matchLabels.variant_name"
                yield path, str(labels["variant_name"])
    for index, trigger in _maps(spec.get("triggers")):
        query = (trigger.get("metadata") or {}).get("query")
        for variant in _QUERIED.findall(query) if isinstance(query, str) else ():
            yield f"spec.triggers[{index}].metadata.query", variant


def _maps(value: object) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, Mapping):
            yield index, item


def _texts(metadata: Mapping[str, Any]) -> dict[str, str]:
    annotations = metadata.get("annotations")
    found = annotations.items() if isinstance(annotations, Mapping) else ()
    return {str(key): str(text) for key, text in found if text is not None}


def _at(annotation: str) -> str:
    return f"metadata.annotations[{annotation}]"

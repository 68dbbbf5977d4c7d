"""Replace VariantAutoscalings by what v0.9.0 reads: annotated autoscalers, and an InferencePool to wake from zero.

Sources, at v0.9.0: docs/developer-guide/migrating-from-va-crd.md, config/samples/{hpa,keda}/annotations,
internal/annotations/variant_fromannotations.go (what is read), internal/engines/scalefromzero/engine.go (what a pool
is for), config/base/manager/deployment.yaml (the group of pools).
"""

import re
from collections.abc import Mapping
from typing import Any

from ...contract.schema.embedded import format_value
from ...fleet.shapes import shape_of
from ..migration import Batch, Fields, MigratedDocument, inserted, moved, plain
from .annotations import MANAGED, MODEL_ID, VARIANT_COST, ScaledBy, scaled_by
from .names import ACCELERATOR_LABEL, API
from .types import DEFAULT_BOUNDS

_KIND = "VariantAutoscaling"
_RELEASE = "v0.9.0"
_HPA_API, _HPA = "autoscaling/v2", "HorizontalPodAutoscaler"
_SCALED_API, _SCALED = "keda.sh/v1alpha1", "ScaledObject"
_POOL_API, _POOL = "inference.networking.k8s.io/v1", "InferencePool"
_POOL_GROUPS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")
_PICKER_PORT = 9002
"""Port of the endpoint picker (chart inferencepool of the Gateway API Inference Extension, lws-hpa spec)."""
API_VERSIONS = {"Deployment": "apps/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}
_SIGNAL = "wva_desired_replicas"
_VARIANT_IN_QUERY = re.compile(r'(\bvariant_name\s*=\s*)"[^"]*"')
_KEPT = ("name", "namespace", "labels", "annotations")
"""Metadata of an object that is not read from a cluster."""


def scalers_of(batch: Batch, document: MigratedDocument, spec: Fields) -> list[tuple[MigratedDocument, ScaledBy]]:
    """Return the autoscalers of the workload of a VariantAutoscaling among the files."""
    reference = spec.get("scaleTargetRef")
    name = str(reference.get("name", "")) if isinstance(reference, dict) else document.name
    found = ((other, scaled_by(plain(other.value))) for other in batch.others)
    return [
        (other, scaler)
        for other, scaler in found
        if scaler and (scaler.namespace, scaler.target) == (document.namespace, name)
    ]


def to_annotations(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    """Annotate the autoscaler of a VariantAutoscaling, or write one in its place."""
    if "modelID" not in spec or not isinstance(spec.get("scaleTargetRef"), dict):
        return
    annotations = {MANAGED: "true", MODEL_ID: str(spec["modelID"])}
    if "variantCost" in spec:
        annotations[VARIANT_COST] = str(spec["variantCost"])
    _list_losses(batch, document, spec)
    pool = _pool(batch, document, spec)
    existing = scalers_of(batch, document, spec)
    if existing:
        other, scaler = existing[0]
        _annotate(batch, document, other, scaler, annotations)
        successor = other
    else:
        successor = batch.add(_autoscaler(batch, document, spec, annotations), after=document)
    if pool is not None:
        batch.add(pool, after=document if existing else successor)
    batch.loss(
        document,
        "kind",
        f"{_RELEASE} has no kind {_KIND}: the annotations of {successor.title} replace it. Plans apply it as it is "
        f"written (otherKinds: apply): the controller of {_RELEASE} must be in the cluster to serve {_SIGNAL}",
    )
    batch.remove(document, into=successor)


def _list_losses(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    """List what no annotation has."""
    for key in document.value.get("metadata") or {}:
        if key not in _KEPT:
            batch.loss(document, f"metadata.{key}", f"{key} belongs to the object that is replaced")
    for key in spec:
        if key not in ("scaleTargetRef", "modelID", "minReplicas", "maxReplicas", "variantCost"):
            batch.loss(document, f"spec.{key}", "has no annotation")
    for key in document.value.get("status") or {}:
        batch.loss(document, f"status.{key}", f"the controller of {_RELEASE} publishes metrics, and writes no status")


def _annotate(
    batch: Batch, document: MigratedDocument, other: MigratedDocument, scaler: ScaledBy, annotations: dict[str, str]
) -> None:
    """Annotate an autoscaler that is there, and let it follow the variant that it is then."""
    metadata, old = other.value["metadata"], document.value.get("metadata") or {}
    wanted = {
        "annotations": {**plain(old.get("annotations") or {}), **annotations},
        "labels": old.get("labels") or {},
    }
    for field, entries in wanted.items():
        current = metadata.get(field)
        if entries and not isinstance(current, dict):
            current = metadata[field] = type(other.value)()
        for key, text in entries.items():
            decides = key in annotations or key == ACCELERATOR_LABEL
            if key in current and not decides and current[key] != text:
                batch.loss(document, f"metadata.{field}[{key}]", f"{scaler.title} has {format_value(current[key])}")
            elif current.get(key) != text:
                current[key] = text
    _narrow(batch, document, other, scaler)
    if not _follow(other, scaler.name):
        batch.note(
            document,
            "",
            f"{scaler.title} does not read {_SIGNAL}, as before: the controller only publishes its replicas",
        )


def _narrow(batch: Batch, document: MigratedDocument, other: MigratedDocument, scaler: ScaledBy) -> None:
    """Set the bounds within those of both objects, between which the replicas were before."""
    spec, body = document.value["spec"], other.value["spec"]
    fields = ("minReplicas", "maxReplicas")
    if scaler.title.startswith(_SCALED):
        fields = ("minReplicaCount", "maxReplicaCount")
    given = (spec.get("minReplicas", DEFAULT_BOUNDS[0]), spec.get("maxReplicas", DEFAULT_BOUNDS[1]))
    least = given[0] if scaler.least is None else max(given[0], scaler.least)
    most = given[1] if scaler.most is None else min(given[1], scaler.most)
    if least > most:
        reason = f"{given[0]} to {given[1]} replicas are outside those of {scaler.title}, which stay"
        batch.loss(document, "spec.maxReplicas", reason)
        return
    for field, value, current in zip(fields, (least, most), (scaler.least, scaler.most), strict=True):
        if value != (1 if current is None and field == "minReplicas" else current):
            body[field] = value
            batch.note(document, f"spec.{field}", f"{value}, which held before, is in {scaler.title} now")


def _follow(other: MigratedDocument, name: str) -> bool:
    """Let the metrics of an autoscaler select the signal by its own name; whether there are any."""
    found = False
    spec = other.value["spec"]
    for metric in spec.get("metrics") or ():
        body = (metric.get("external") or {}).get("metric") if isinstance(metric, dict) else None
        if isinstance(body, dict) and body.get("name") == _SIGNAL:
            found = True
            labels = (body.get("selector") or {}).get("matchLabels")
            if isinstance(labels, dict) and labels.get("variant_name", name) != name:
                labels["variant_name"] = name
    for trigger in spec.get("triggers") or ():
        metadata = trigger.get("metadata") if isinstance(trigger, dict) else None
        if not isinstance(metadata, dict) or _SIGNAL not in str(metadata.get("query")):
            continue
        found = True
        selected = _VARIANT_IN_QUERY.sub(rf'\g<1>"{name}"', str(metadata["query"]))
        if selected != metadata["query"]:
            metadata["query"] = selected
    return found


def _autoscaler(batch: Batch, document: MigratedDocument, spec: Fields, annotations: dict[str, str]) -> Fields:
    """Return an autoscaler that follows the controller's signal.

    The signal has the autoscaler's name as ``variant_name``; upstream's samples select another one. A
    HorizontalPodAutoscaler cannot have 0 replicas without a feature gate, and is served nothing beside KEDA.
    """
    new = type(document.value)
    metadata, body, value = _metadata(document), new(), new()
    if not isinstance(metadata.get("annotations"), dict):
        metadata["annotations"] = new()
    metadata["annotations"].update(annotations)
    reference = spec["scaleTargetRef"]
    if "apiVersion" not in reference:
        kind = str(reference.setdefault("kind", "Deployment"))
        inserted(reference, 0, "apiVersion", API_VERSIONS.get(kind, "apps/v1"))
    moved(spec, "scaleTargetRef", body)
    least, most = (
        spec.get(f"{key}Replicas", bound) for key, bound in zip(("min", "max"), DEFAULT_BOUNDS, strict=True)
    )
    if batch.stacks.uses_keda or least == 0:
        body.update(minReplicaCount=least, maxReplicaCount=most, triggers=[_trigger(batch, document)])
        value.update(apiVersion=_SCALED_API, kind=_SCALED, metadata=metadata, spec=body)
        return value
    metric = {"name": _SIGNAL, "selector": {"matchLabels": {"variant_name": document.name}}}
    target = {"type": "AverageValue", "averageValue": "1"}
    for key, bound in (("minReplicas", least), ("maxReplicas", most)):
        if key in spec:
            moved(spec, key, body)
        else:
            body[key] = bound
    body["metrics"] = [{"type": "External", "external": {"metric": metric, "target": target}}]
    value.update(apiVersion=_HPA_API, kind=_HPA, metadata=metadata, spec=body)
    return value


def _metadata(document: MigratedDocument) -> Fields:
    old = document.value.get("metadata") or {}
    metadata: Fields = type(document.value)()
    metadata.update({key: old[key] for key in old if key in _KEPT})
    return metadata


def _trigger(batch: Batch, document: MigratedDocument) -> dict[str, Any]:
    """Return KEDA's trigger on the signal; type Value would multiply the current replicas by it (WVA spec 10)."""
    labels = {"variant_name": document.name} | ({"namespace": document.namespace} if document.namespace else {})
    matchers = ",".join(f'{key}="{text}"' for key, text in labels.items())
    batch.note(
        document,
        "",
        f"a {_SCALED} replaces it, which KEDA reads: check the address of Prometheus, {batch.stacks.prometheus}, and "
        f"that {_SIGNAL} has the variant's namespace there (honorLabels of the controller's monitor)",
    )
    # A replaced controller leaves its series behind: the larger one counts, not their sum.
    return {
        "type": "prometheus",
        "metricType": "AverageValue",
        "metadata": {
            "serverAddress": batch.stacks.prometheus,
            "query": f"max({_SIGNAL}{{{matchers}}})",
            "threshold": "1",
        },
    }


def _pool(batch: Batch, document: MigratedDocument, spec: Fields) -> Fields | None:
    """Return the InferencePool whose queue wakes a variant without replicas; None if it needs none, or has one."""
    if spec.get("minReplicas", DEFAULT_BOUNDS[0]) != 0:
        return None
    labels, port = _pods(batch, document, spec)
    if not labels or port is None:
        batch.loss(
            document,
            "spec.minReplicas",
            f"without replicas, only requests that wait at the endpoint picker of an {_POOL} wake the variant, and "
            "the labels and the port of its pods are unknown: write the pool yourself, or set 1",
        )
        return None
    for other in batch.others:
        if (other.kind, other.namespace) == (_POOL, document.namespace) and _selects(other.value, labels):
            return None
    new = type(document.value)
    value, metadata, body = new(), new(), new()
    metadata.update({key: text for key, text in _metadata(document).items() if key in ("name", "namespace")})
    picker = f"{document.name}-epp"
    body.update(selector={"matchLabels": labels}, targetPorts=[{"number": port}])
    body["endpointPickerRef"] = {"name": picker, "port": {"number": _PICKER_PORT}}
    value.update(apiVersion=_POOL_API, kind=_POOL, metadata=metadata, spec=body)
    batch.note(
        document,
        "spec.minReplicas",
        f"0: {_POOL}/{document.name} wakes the variant by the requests that wait at its endpoint picker, Service "
        f"{picker}, which must exist with a port whose name contains metric (chart inferencepool)",
    )
    return value


def _pods(batch: Batch, document: MigratedDocument, spec: Fields) -> tuple[dict[str, str], int | None]:
    """Return labels of the pods that receive requests, which their template has, and their port."""
    name = str(spec["scaleTargetRef"].get("name", ""))
    workloads = [
        plain(other.value)
        for other in batch.others
        if (other.name, other.namespace) == (name, document.namespace) and other.kind in API_VERSIONS
    ]
    planned = batch.stacks.scaling(document) if not workloads else None
    body: dict[str, Any] = workloads[0] if workloads else dict((planned and planned.workload) or {})
    shape = shape_of(body) if body else None
    templates = shape.pod_templates(body) if shape else ()
    if not shape or not templates:
        return {}, None
    template = templates[0].body
    labels = (template.get("metadata") or {}).get("labels") or {}
    if shape.has_selector:
        labels = (body["spec"].get("selector") or {}).get("matchLabels") or labels
    containers = (template.get("spec") or {}).get("containers") or ()
    ports = [port.get("containerPort") for container in containers for port in container.get("ports") or ()]
    return {str(key): str(text) for key, text in labels.items()}, next(iter(ports), None)


def _selects(pool: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a pool selects pods by a part of their labels; in the older group the labels are the selector."""
    if str(pool.get("apiVersion", "")).rpartition("/")[0] not in _POOL_GROUPS:
        return False
    selector = plain((pool.get("spec") or {}).get("selector") or {})
    wanted = selector.get("matchLabels", selector)
    return bool(wanted) and all(labels.get(key) == text for key, text in wanted.items())


def to_variants(batch: Batch) -> None:
    """Write VariantAutoscalings for annotated autoscalers, which stay without the annotations.

    Up to 4bbb15fa, both objects are there: the autoscaler follows the signal of the VariantAutoscaling with its name.
    """
    for document in list(batch.others):
        found = scaled_by(plain(document.value))
        if found is None or not found.is_managed or not found.model:
            continue
        batch.documents.append(MigratedDocument(_variant(document, found), document.file))
        metadata = document.value["metadata"]
        for key in found.read:
            metadata["annotations"].pop(key, None)
        if not metadata["annotations"]:
            del metadata["annotations"]


def _variant(document: MigratedDocument, found: ScaledBy) -> Fields:
    old, new = document.value["metadata"], type(document.value)
    metadata, spec, value = new(), new(), new()
    metadata.update({key: plain(old[key]) for key in old if key in ("name", "namespace", "labels")})
    spec["scaleTargetRef"] = {"apiVersion": found.target_api, "kind": found.target_kind, "name": found.target}
    spec["modelID"] = found.model
    if found.least is not None:
        spec["minReplicas"] = found.least
    if found.most is not None:
        spec["maxReplicas"] = found.most
    if found.cost is not None:
        spec["variantCost"] = found.cost
    value.update(apiVersion=API, kind=_KIND, metadata=metadata, spec=spec)
    return value

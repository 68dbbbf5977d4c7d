"""The declared part of a live object: without what the API server and controllers added."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from components.contract.schema.embedded import format_value
from components.contract.tables import load_table
from components.contract.texts.secrets import masked_at
from components.fleet.objects import Object
from components.fleet.shapes import SHAPES
from components.plan.others import as_written
from components.plan.review.differences import parse_path
from toolkit.kube.managed_fields import Fields, is_controller, owned_fields, select, without

_HEADLESS = "None"
_OF_CONTROLLERS = (
    "deployment.kubernetes.io/",
    "autoscaling.alpha.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
)
"""Prefixes of annotations that controllers write."""
_RESTARTED = "kubectl.kubernetes.io/restartedAt"
"""The note of `kubectl rollout restart`. A manifest with it would restart the pods again after the next one."""
_BUILT_IN = ("apps", "autoscaling", "")
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


def declared(live: Object, *, scaled: bool = False) -> Object:
    """Return the fields of an object that users set.

    Applying the result with server-side apply changes nothing: it is a part of the object.

    Args:
        live: The object as the server returned it.
        scaled: Whether an autoscaler sets the number of its replicas.
    """
    body = _without_restarts(as_written(_without_controllers(live)))
    metadata = {key: value for key, value in body["metadata"].items() if key not in ("finalizers", "ownerReferences")}
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith(_OF_CONTROLLERS)
    }
    metadata = {
        key: value for key, value in {**metadata, "annotations": annotations}.items() if value not in ({}, None)
    }
    spec = body.get("spec")
    if isinstance(spec, dict):
        spec = _without_assigned(live["kind"], spec)
        if scaled:
            spec.pop("replicas", None)
        body = {**body, "spec": _without_defaults(live, spec)}
    ordered: Object = {key: body[key] for key in ("apiVersion", "kind") if key in body}
    return {**ordered, "metadata": metadata, **{key: body[key] for key in body if key not in (*ordered, "metadata")}}


def _without_restarts(value: Any) -> Any:  # noqa: ANN401  JSON in, JSON out
    if isinstance(value, list):
        return [_without_restarts(item) for item in value]
    if not isinstance(value, dict):
        return value
    rest = {key: _without_restarts(inner) for key, inner in value.items() if key != _RESTARTED}
    return {key: inner for key, inner in rest.items() if inner != {} or value[key] == {}}


def controllers_of(live: Object) -> list[str]:
    """Return the controllers that own fields of an object besides its status."""
    entries = live["metadata"].get("managedFields") or ()
    names = (str(entry.get("manager")) for entry in entries if not entry.get("subresource"))
    return sorted({name for name in names if is_controller(name)})


def _without_controllers(live: Object) -> Object:
    """Return an object without the fields that only controllers own."""
    fields = without(
        owned_fields(live, is_controller), owned_fields(live, lambda manager: not is_controller(manager))
    )
    identity: Fields = {"f:apiVersion": {}, "f:kind": {}, "f:metadata": {"f:name": {}, "f:namespace": {}}}
    rest: Object = select(live, without(fields, identity), inverse=True) if fields else live
    return rest


def _without_assigned(kind: str, spec: Object) -> Object:
    assigned = _defaults()["assigned"].get(kind)
    if assigned is None:
        return dict(spec)
    kept = {key: value for key, value in spec.items() if key not in assigned["spec"]}
    if kept.get("clusterIP") != _HEADLESS:
        kept.pop("clusterIP", None)
    if kept.get("ports"):
        kept["ports"] = [
            {key: value for key, value in port.items() if key not in assigned["ports"]} for port in kept["ports"]
        ]
    return kept


def without_defaults(live: Object) -> Object:
    """Return an object without the fields that have the values which the API server sets by default."""
    spec = live.get("spec")
    return {**live, "spec": _without_defaults(live, spec)} if isinstance(spec, dict) else live


def _without_defaults(live: Object, spec: Object) -> Object:
    if live["apiVersion"].rpartition("/")[0] not in _BUILT_IN:
        return spec
    table = _defaults()
    spec = _pruned(spec, table.get(live["kind"], {}).get("spec", {}))
    shape = next((shape for shape in SHAPES if shape.kind == live["kind"]), None)
    if shape is None or not isinstance(spec.get("template"), dict):
        return spec
    return {**spec, "template": _without_template_defaults(spec["template"])}


def _without_template_defaults(template: Object) -> Object:
    table = _defaults()
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value is not None}
    pod = _pruned(template.get("spec") or {}, table["pod"])
    if pod.get("serviceAccount") == pod.get("serviceAccountName"):
        pod.pop("serviceAccount", None)  # the deprecated name of the other field
    for part in ("containers", "initContainers"):
        containers = [_pruned(container, table["container"]) for container in pod.get(part) or ()]
        for container in containers:
            container |= {key: _pruned(container[key], table["probe"]) for key in _PROBES if key in container}
        if containers:
            pod[part] = containers
    return {**({"metadata": metadata} if metadata else {}), "spec": pod}


def _pruned(value: Any, defaults: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON in, JSON out
    """Return a value without the fields that have their defaults."""
    if isinstance(value, list):
        return [_pruned(item, defaults.get("*", {})) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, inner in value.items():
        default = defaults.get(key)
        if key in defaults and inner == default:
            continue
        kept[key] = _pruned(inner, default) if isinstance(default, dict) and default else inner
    return kept


@functools.cache
def _defaults() -> Mapping[str, Any]:
    table: Mapping[str, Any] = load_table(__package__, "defaults.yaml")
    return table


def missing_parts(part: Any, whole: Any, path: str = "") -> Iterable[tuple[str, Any, Any]]:  # noqa: ANN401
    """Yield the path and both values where a part differs from the whole that should contain it."""
    if isinstance(part, dict) and isinstance(whole, dict):
        for key, inner in part.items():
            below = f"{path}.{key}" if path else str(key)
            if key not in whole:
                if inner not in ({}, [], None):
                    yield below, inner, None
            else:
                yield from missing_parts(inner, whole[key], below)
    elif isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        for index, (inner, other) in enumerate(zip(part, whole, strict=True)):
            yield from missing_parts(inner, other, f"{path}[{index}]")
    else:
        from components.plan.conversion.pods import quantity

        if part != whole and quantity(part) != quantity(whole):
            yield path, part, whole


def difference_text(path: str, before: Any, after: Any, *, kind: str = "") -> str:  # noqa: ANN401
    """Describe a field that differs, without values that may be secrets.

    Args:
        path: The field, of :func:`missing_parts`.
        before: Its value before.
        after: Its value after.
        kind: Kind of the object.
    """
    steps = parse_path(path)
    old, new = (format_value(masked_at(value, steps, kind=kind)) for value in (before, after))
    return f"{path}: {old} becomes {new}"

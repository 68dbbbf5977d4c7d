"""What differs between two versions of a resource's inputs, and whether it can change in place."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .values import SEALED, Secret

Path = tuple[str | int, ...]
_MISSING = object()

_WORKLOAD = ("spec.selector",)
_IMMUTABLE: Mapping[str, tuple[str, ...]] = {
    "Deployment": _WORKLOAD,
    "DaemonSet": _WORKLOAD,
    "ReplicaSet": _WORKLOAD,
    "StatefulSet": (*_WORKLOAD, "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"),
    "Job": (*_WORKLOAD, "spec.template", "spec.completionMode"),
    "Service": ("spec.clusterIP", "spec.clusterIPs"),
    "PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.storageClassName",
        "spec.volumeName",
        "spec.selector",
        "spec.volumeMode",
    ),
    "PersistentVolume": ("spec.persistentVolumeSource",),
    "StorageClass": ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
    "PriorityClass": ("value", "preemptionPolicy"),
    "RuntimeClass": ("handler",),
    "IngressClass": ("spec.controller",),
    "RoleBinding": ("roleRef",),
    "ClusterRoleBinding": ("roleRef",),
    "CustomResourceDefinition": ("spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"),
    "Secret": ("type",),
}
"""Fields the API refuses to change, by kind (Kubernetes validation of updates). Others are found out when
the API server answers 422; this table lets the preview say so before."""
_IDENTITY = ("kind", "metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs."""

    path: str
    old: Any
    new: Any
    op: str
    """``+`` added, ``-`` removed, ``~`` changed."""
    replaces: bool = False


def changes(old: Any, new: Any) -> list[Change]:  # noqa: ANN401 - any JSON value
    """Return the fields that differ, in the order of the new value."""
    return [
        Change(
            path_text(path),
            None if before is _MISSING else before,
            None if after is _MISSING else after,
            "+" if before is _MISSING else "-" if after is _MISSING else "~",
        )
        for path, before, after in _differences(old, new, ())
    ]


def _differences(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:  # noqa: ANN401
    sealed = _is_sealed(old) or _is_sealed(new)
    if isinstance(old, dict) and isinstance(new, dict) and not sealed:
        for key in (*new, *(key for key in old if key not in new)):
            yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, after, (*path, index))
    elif old != new or type(old) is not type(new):
        # Beside a secret, the other side is one too: it was there before somebody sealed it.
        yield path, _hidden(old) if sealed else old, _hidden(new) if sealed else new


def _is_sealed(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and SEALED in value


def _hidden(value: Any) -> Any:  # noqa: ANN401
    return value if value is _MISSING or _is_sealed(value) else Secret(value)


def path_text(path: Path) -> str:
    """Write a path as Pulumi does: ``spec.ports[0].name``, ``labels["a.b/c"]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z_$][\w$-]*", part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


_PART = re.compile(r'\.?([^.\[\]"]+)|\[(\d+|\*)\]|\["((?:[^"\\]|\\.)*)"\]')


def parse_path(text: str) -> tuple[str, ...]:
    """Split a property path of Pulumi into its parts; ``*`` matches any key or index."""
    return tuple(next(part for part in found if part) for found in _PART.findall(text))


def ignored(old: Any, new: Any, paths: Sequence[str]) -> Any:  # noqa: ANN401
    """Return ``new`` with the fields of ``ignore_changes`` set to what they were."""
    for text in paths:
        new = _keep(old, new, parse_path(text))
    return new


def _keep(old: Any, new: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401
    if not path:
        return old
    head, rest = path[0], path[1:]
    if isinstance(new, dict) and isinstance(old, dict | _Absent):
        before = old if isinstance(old, dict) else {}
        merged = dict(new)
        for key in {**new, **before} if head == "*" else (head,):
            kept = _keep(before.get(key, ABSENT), merged.get(key, ABSENT), rest)
            if kept is ABSENT:
                merged.pop(key, None)
            else:
                merged[key] = kept
        return merged
    if isinstance(new, list) and isinstance(old, list):
        return [
            _keep(old[index], item, rest) if index < len(old) and head in ("*", str(index)) else item
            for index, item in enumerate(new)
        ]
    if new is ABSENT and isinstance(old, dict) and (head in old or head == "*"):
        return old if not rest else _keep(old, {}, path)
    return new


class _Absent:
    """No value at all, which is not the same as null."""


ABSENT = _Absent()


def replacing(found: Iterable[Change], inputs: Mapping[str, Any], on_changes: Sequence[str]) -> list[Change]:
    """Mark the changes that only a new object can have."""
    kind = str(inputs.get("kind", ""))
    fixed = [parse_path(path) for path in (*_IDENTITY, *_IMMUTABLE.get(kind, ()), *on_changes)]
    if "immutable" in inputs and inputs.get("immutable") is True and kind in ("ConfigMap", "Secret"):
        fixed += [("data",), ("binaryData",), ("stringData",), ("immutable",)]
    return [
        Change(change.path, change.old, change.new, change.op, _within(parse_path(change.path), fixed))
        for change in found
    ]


def _within(path: tuple[str, ...], fixed: Iterable[tuple[str, ...]]) -> bool:
    return any(
        all(a in (b, "*") for a, b in zip(prefix, path, strict=False)) and len(path) >= 1
        for prefix in fixed
        if prefix
    )

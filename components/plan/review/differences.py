"""Differences between two versions of a resource's inputs, and whether they require replacement."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from ...contract.tables import load_table
from ...fleet.shapes import SHAPES


class Item(str):
    """A step of a path into a list of named items, such as containers."""

    __slots__ = ()


Path = tuple[str | int, ...]
MISSING = object()
"""Marks a missing value, as opposed to null."""

_IMMUTABLE: Mapping[str, tuple[str, ...]] = {
    **{shape.kind: shape.fixed for shape in SHAPES},
    "DaemonSet": ("spec.selector",),
    "ReplicaSet": ("spec.selector",),
    "Job": ("spec.selector", "spec.template", "spec.completionMode"),
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
"""Immutable fields by kind, according to Kubernetes' validation of updates. The API server would reject changes with
422; this table reports them before."""
_IDENTITY = ("kind", "metadata.name", "metadata.namespace")

_DATA = {"ConfigMap": ("data", "binaryData"), "Secret": ("type", "stringData", "data")}
_MUTABLE = {"ConfigMap": "enableConfigMapMutable", "Secret": "enableSecretMutable"}


class Difference(NamedTuple):
    """Two values of a field; ``MISSING`` if it is not set."""

    path: Path
    before: Any
    after: Any


def differences(
    old: Any,  # noqa: ANN401 - any JSON value
    new: Any,  # noqa: ANN401
    is_whole: Callable[[Any], bool] = lambda _: False,
    path: Path = (),
) -> Iterator[Difference]:
    """Yield the differences, in the order of the new value.

    Args:
        old: The value before.
        new: The value after.
        is_whole: Whether a map is compared as one value, not by key.
        path: Path of the values.
    """
    compares_parts = not (is_whole(old) or is_whole(new))
    if compares_parts and isinstance(old, dict) and isinstance(new, dict):
        pairs = [((*path, key), old.get(key, MISSING), new.get(key, MISSING)) for key in _keys(old, new)]
    elif (
        compares_parts
        and isinstance(old, list)
        and isinstance(new, list)
        and (aligned := _aligned(old, new)) is not None
    ):
        pairs = [((*path, step), before, after) for step, before, after in aligned]
    else:
        if old != new or type(old) is not type(new):
            yield Difference(path, old, new)
        return
    for step, before, after in pairs:
        yield from differences(before, after, is_whole, step)


def _keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    yield from new
    yield from (key for key in old if key not in new)


def _aligned(old: list[Any], new: list[Any]) -> list[tuple[str | int, Any, Any]] | None:
    """Match the items of two lists; None if they cannot be matched."""
    before, after = _by_name(old), _by_name(new)
    common = [name for name in after if name in before]
    # The order of containers and variables has a meaning: a new one is a difference, which names would hide.
    if common and common == [name for name in before if name in after]:
        return [(Item(name), before.get(name, MISSING), after.get(name, MISSING)) for name in _keys(before, after)]
    if old and new and all(isinstance(item, str) for item in (*old, *new)):
        return list(_words(old, new))
    if len(old) == len(new):
        return [(index, *pair) for index, pair in enumerate(zip(old, new, strict=True))]
    return None


def _by_name(items: list[Any]) -> dict[str, Any]:
    """Return items by name; empty if names are missing or not unique."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    known = {name: item for name, item in zip(names, items, strict=True) if isinstance(name, str)}
    return known if len(known) == len(items) else {}


def _words(old: list[str], new: list[str]) -> Iterator[tuple[int, Any, Any]]:
    """Yield the differing words of two command lines, at their new position, or the old one if removed."""
    for _, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        kept = min(last - first, end - begin)
        yield from ((begin + n, old[first + n], new[begin + n]) for n in range(kept))
        yield from ((n, old[n], MISSING) for n in range(first + kept, last))
        yield from ((n, MISSING, new[n]) for n in range(begin + kept, end))


def value_text(value: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Format a value; None if it is missing."""
    if value is MISSING:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def path_text(path: Path) -> str:
    """Format a path as Pulumi does, with named items by name.

    Such as ``spec.ports[0].name``, ``labels["a.b/c"]``, ``containers[main].image``.
    """
    text = ""
    for part in path:
        if isinstance(part, int | Item):
            text += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z_$][\w$-]*", part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


_PART = re.compile(r'\.?([^.\[\]"]+)|\["((?:[^"\\]|\\.)*)"\]|\[([^\]]+)\]')


def parse_path(text: str) -> tuple[str, ...]:
    """Split a property path of Pulumi into its parts; ``*`` matches any key or index."""
    return tuple(next(part for part in groups if part) for groups in _PART.findall(text) if any(groups))


def fixed_fields(inputs: Mapping[str, Any], on_changes: Iterable[str] = ()) -> list[tuple[str, ...]]:
    """Return the immutable fields of an object."""
    kind = str(inputs.get("kind", ""))
    fixed = [parse_path(path) for path in (*_IDENTITY, *_IMMUTABLE.get(kind, ()), *on_changes)]
    if "immutable" in inputs and inputs.get("immutable") is True and kind in ("ConfigMap", "Secret"):
        fixed += [("data",), ("binaryData",), ("stringData",), ("immutable",)]
    return fixed


def replacing_fields(
    inputs: Mapping[str, Any], on_changes: Iterable[str] = (), provider: Mapping[str, Any] | None = None
) -> list[tuple[str, ...]]:
    """Return the fields for which the Kubernetes provider replaces an object.

    Args:
        inputs: The object.
        on_changes: Further fields, of ``replace_on_changes``.
        provider: Inputs of the provider; None if unknown, with its defaults.
    """
    kind, group = str(inputs.get("kind", "")), _group(inputs)
    fields = [*_IDENTITY, *_replaced().get(f"{group}/{kind}", ()), *on_changes]
    if not group and kind in _DATA:
        is_mutable = str((provider or {}).get(_MUTABLE[kind], "")).lower() == "true"
        if not is_mutable or inputs.get("immutable") is True:
            fields += _DATA[kind]
    return [parse_path(path) for path in fields]


@functools.cache
def _replaced() -> Mapping[str, Sequence[str]]:
    table: dict[str, list[str]] = load_table(__package__, "replaced.yaml")
    return table


def _group(inputs: Mapping[str, Any]) -> str:
    """Return the API group of an object; empty for the core group."""
    return str(inputs.get("apiVersion", "")).rpartition("/")[0]


def is_within(path: Iterable[str], fields: Iterable[tuple[str, ...]]) -> bool:
    """Whether a path is one of some fields, or an ancestor or descendant of one; ``*`` matches any step."""
    steps = tuple(path)
    return any(
        all(a in (b, "*") for a, b in zip(prefix, steps, strict=False)) and len(steps) >= 1
        for prefix in fields
        if prefix
    )

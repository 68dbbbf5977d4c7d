"""Compares planned objects with live ones: the fields that the plan sets, and those that were added by hand.

Fields that the plan does not set are defaults of the API server or belong to controllers, unless the managed fields
of the object name another client for them. Which fields are defaults, and what becomes of a map or a ``false``, is
known from dry runs of the API server (:class:`ServerView`), or else from tables.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from components.contract.findings.annotations import PREFIX
from components.contract.problems import field_path
from components.contract.quantity import is_quantity, parse_quantity
from components.contract.texts.secrets import masked_at
from components.fleet.objects import Object
from toolkit.kube.managed_fields import APPLY, Fields, is_controller, union, without

from ..adopting.declared import without_defaults

Path = tuple[str | int, ...]
"""Keys and indexes of a field."""
_PLANNERS = ("inference-platform", "pulumi")
"""Beginnings of the names of the field managers that apply plans."""
_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "ports": ("containerPort", "port"),
    "topologySpreadConstraints": ("topologyKey",),
    "hostAliases": ("ip",),
}
"""Fields that identify the items of a list (kubernetes/kubernetes v1.36.3, api/openapi-spec:
x-kubernetes-list-map-keys)."""
_QUANTITIES = ("limits", "requests", "sizeLimit", "averageValue", "storage", "hard", "target")
"""Fields at or below which numbers have units, so that ``1`` and ``1000m`` are equal."""
_WHOLE_MAPS = ("selector", "matchLabels", "nodeSelector")
"""Maps that one client sets as a whole (x-kubernetes-map-type: atomic): a further key is a change."""
_FREE_MAPS = (*_WHOLE_MAPS, "labels", "annotations", "data", "stringData", "binaryData")
"""Maps whose keys people choose, and whose values may be empty."""
_OPTIONAL_FLAGS = (
    "allocateLoadBalancerNodePorts",
    "allowPrivilegeEscalation",
    "automountServiceAccountToken",
    "enableServiceLinks",
    "hostUsers",
    "immutable",
    "optional",
    "privileged",
    "readOnlyRootFilesystem",
    "runAsNonRoot",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
)
"""Fields of which the API server keeps ``false`` (kubernetes/kubernetes v1.36.3, staging/src/k8s.io/api: ``*bool``);
it drops ``false`` of all others."""
OWN_METADATA = ("labels", "annotations")
_DIRECTIVES = "pulumi.com/"
"""Domain of annotations for the Kubernetes provider of Pulumi, which need not reach the cluster."""
_BOOKKEEPING = ("kubectl.kubernetes.io/", "deployment.kubernetes.io/", PREFIX)
"""Domains of annotations in which kubectl and controllers keep notes, and of those that no plan applies."""


_UNDECIDED = (_DIRECTIVES, *_BOOKKEEPING)
_REPLICAS: Path = ("spec", "replicas")
_NOWHERE = -1
"""Index of an item that a list does not have."""


class Absent:
    """The absence of a field, which differs from null."""

    def __repr__(self) -> str:
        return "(none)"


ABSENT = Absent()


class Writer(NamedTuple):
    """Who wrote a field, and when; empty if the managed fields do not tell."""

    manager: str = ""
    time: str = ""


@dataclass(frozen=True, slots=True)
class FieldDrift:
    """A field that differs; values that may be secrets are hidden.

    Attributes:
        planned: The value in the plan; ``ABSENT`` if the plan does not set the field.
        live: The value in the cluster; ``ABSENT`` if the field was removed.
        owner: The autoscaler, controller or webhook that sets the field as the plan means it to; empty for drift.
    """

    path: str
    planned: Any
    live: Any
    writer: Writer
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ServerView:
    """What the API server says about an object in dry runs; None if it could not be asked.

    Attributes:
        applied: What it would make of the object if the plan were applied now.
        defaulted: What it would make of the object without the fields of other clients.
    """

    applied: Object | None = None
    defaulted: Object | None = None


_ACCOUNT = ("serviceAccountName", "serviceAccount")
WEBHOOK = "the API server or an admission webhook"
NOT_ASKED = ServerView()


def drift_of(planned: Object, live: Object) -> tuple[FieldDrift, ...]:
    """Return the fields of an object that differ from the plan, without asking the API server."""
    return tuple(field for field in differences_of(planned, live) if not field.owner)


def differences_of(
    planned: Object, live: Object, view: ServerView = NOT_ASKED, scaler: str = ""
) -> tuple[FieldDrift, ...]:
    """Return the fields of an object that differ from the plan, sorted by path.

    Args:
        planned: The object as it is rendered.
        live: The object as the server returned it, with its managed fields.
        view: What the API server would make of it.
        scaler: The planned autoscaler that sets the number of replicas; empty without one.
    """
    planned = _as_stored(planned)
    entries = [entry for entry in live["metadata"].get("managedFields") or () if isinstance(entry, dict)]
    stored = {key: value for key, value in live.items() if key != "status"}
    written = {
        change[0]: change
        for change in _changed(_comparable(planned), _comparable(stored), ())
        if not _is_note(change[0])
    }
    changes = written
    if view.applied:
        applied, compared = _comparable(view.applied), _comparable(stored)
        changes = {}
        for path, before, after in (*_changed(applied, compared, ()), *_removed(compared, applied, ())):
            if _is_note(path):
                continue
            if after is ABSENT:
                place = _planned_path(path, applied, planned)
                # What the server would assign because of another change, such as a port of nodes, is not a change of
                # its own.
                if _at(planned, place) is ABSENT:
                    continue
                # An item that is missing has its place in the plan: an apply appends it to the items of others.
                path = (*path[:-1], place[-1])
            changes[path] = (path, before, after)
    owners = dict.fromkeys(written.keys() - changes.keys(), WEBHOOK)
    added: dict[Path, _Changed] = {}
    if any(_is_planner(entry) for entry in entries):
        added = {change[0]: change for change in _added(planned, stored, entries, view)}
        owners |= {
            path: writer.manager
            for path in added.keys() - changes.keys() - written.keys()
            if is_controller((writer := _writer(path, stored, entries)).manager)
        }
    missing = written | changes
    changes = added | missing
    for path in added.keys() & missing.keys():
        if missing[path][2] is ABSENT:  # another item is in its place
            changes[path] = (path, missing[path][1], added[path][2])
    for path in [path for path in changes if path[-1:] == _ACCOUNT[1:]]:
        if (*path[:-1], *_ACCOUNT[:1]) in changes:
            del changes[path]  # the deprecated name of the other field
    if scaler and (_REPLICAS in changes or stored.get("spec", {}).get("replicas") is not None):
        before, after = _at(planned, _REPLICAS), _at(stored, _REPLICAS)
        if before != after:
            changes[_REPLICAS], owners[_REPLICAS] = (_REPLICAS, before, after), scaler
    return tuple(
        FieldDrift(
            field_path(path),
            _masked(path, before, stored, kind=planned["kind"]),
            _masked(path, after, stored, kind=planned["kind"]),
            _writer(path, stored, entries),
            owners.get(path, ""),
        )
        for path, before, after in sorted(changes.values(), key=lambda change: [str(step) for step in change[0]])
    )


def planner_of(live: Object) -> str:
    """Return the field manager that applied a plan to an object; empty without one."""
    entries = live["metadata"].get("managedFields") or ()
    appliers = (
        str(entry.get("manager")) for entry in entries if _is_planner(entry) and entry.get("operation") == APPLY
    )
    return next(appliers, "")


def fields_of_others(live: Object) -> Fields:
    """Return the fields that other clients own, and that no plan has set."""
    own: Fields = {}
    others: Fields = {}
    for entry in live["metadata"].get("managedFields") or ():
        fields = entry.get("fieldsV1") or {}
        if _is_planner(entry):
            own = union(own, fields)
        elif not entry.get("subresource") and not is_controller(str(entry.get("manager") or "")):
            others = union(others, fields)
    return without(others, own)


def is_secret(body: Object) -> bool:
    """Return whether an object is a Secret, whose values are compared and never shown."""
    return (body["apiVersion"], body["kind"]) == ("v1", "Secret")


def _as_stored(body: Object) -> Object:
    """Return an object as the API server stores it: a Secret without ``stringData``, which it encodes."""
    if not is_secret(body) or not isinstance(body.get("stringData"), dict):
        return body
    encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in body["stringData"].items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return {**rest, "data": {**(body.get("data") or {}), **encoded}}


def _comparable(body: Object) -> Object:
    """Return the part of an object that a plan decides about."""
    metadata = {}
    for field in OWN_METADATA:
        values = body["metadata"].get(field) or {}
        metadata[field] = {key: value for key, value in values.items() if not key.startswith(_UNDECIDED)}
    rest = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return {"metadata": metadata, **rest}


_Changed = tuple[Path, Any, Any]
"""A path with its planned and its live value."""


def _changed(planned: Any, live: Any, path: Path) -> Iterator[_Changed]:  # noqa: ANN401  any field
    """Yield the fields that the plan sets to another value."""
    if isinstance(planned, dict) and isinstance(live, dict):
        for key, value in planned.items():
            if key in live:
                yield from _changed(value, live[key], (*path, key))
            elif not _is_none((*path, key), value):
                yield (*path, key), value, ABSENT
        if path and path[-1] in _WHOLE_MAPS:
            yield from (((*path, key), ABSENT, value) for key, value in live.items() if key not in planned)
    elif isinstance(planned, list) and isinstance(live, list):
        yield from _changed_items(planned, live, path)
    elif not _equal(planned, live, path):
        yield path, planned, live


def _removed(live: Any, applied: Any, path: Path) -> Iterator[_Changed]:  # noqa: ANN401
    """Yield the fields that applying the plan would remove: of whole maps and lists, and formerly planned ones."""
    if isinstance(live, dict) and isinstance(applied, dict):
        for key, value in live.items():
            if key in applied:
                yield from _removed(value, applied[key], (*path, key))
            elif not _is_none((*path, key), value):
                yield (*path, key), ABSENT, value
    elif isinstance(live, list) and isinstance(applied, list):
        keys = _KEYS.get(str(path[-1])) if path else None
        if keys and all(isinstance(item, dict) for item in (*live, *applied)):
            others = {_identity(item, keys): item for item in applied}
            for index, item in enumerate(live):
                other = others.get(_identity(item, keys))
                if other is None:
                    yield (*path, index), ABSENT, item
                else:
                    yield from _removed(item, other, (*path, index))
        elif len(live) == len(applied):
            for index, (item, other) in enumerate(zip(live, applied, strict=True)):
                yield from _removed(item, other, (*path, index))


def _changed_items(planned: Sequence[Any], live: Sequence[Any], path: Path) -> Iterator[_Changed]:
    keys = _KEYS.get(str(path[-1])) if path else None
    if keys and all(isinstance(item, dict) for item in (*planned, *live)):
        places = {_identity(item, keys): index for index, item in enumerate(live)}
        for index, item in enumerate(planned):
            place = places.get(_identity(item, keys))
            if place is None:
                yield (*path, index), item, ABSENT
            else:
                # Paths name the items of the live list, which messages and managed fields refer to.
                yield from _changed(item, live[place], (*path, place))
    elif len(planned) == len(live) and all(isinstance(item, dict) for item in (*planned, *live)):
        for index, (item, other) in enumerate(zip(planned, live, strict=True)):
            yield from _changed(item, other, (*path, index))
    elif not _equal(planned, live, path):
        yield path, planned, live


def _identity(item: Mapping[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return next(((key, item[key]) for key in keys if key in item), ())


def _equal(planned: Any, live: Any, path: Path) -> bool:  # noqa: ANN401
    if planned == live or (_is_empty(planned) and _is_empty(live)):
        return True
    has_units = any(step in _QUANTITIES for step in path)
    if has_units and is_quantity(planned) and is_quantity(live):
        return bool(parse_quantity(planned) == parse_quantity(live))
    return False


def _is_empty(value: Any) -> bool:  # noqa: ANN401
    """Return whether a value may mean the same as none."""
    return value is None or value == {} or value == [] or value is False or value == ""


def _is_none(path: Path, value: Any) -> bool:  # noqa: ANN401
    """Return whether a value means the same as none: the API server drops it."""
    if value is False:
        return path[-1] not in _OPTIONAL_FLAGS
    if value == "":
        return len(path) < 2 or path[-2] not in _FREE_MAPS
    return _is_empty(value)


# Fields of other clients


def _added(
    planned: Object, live: Object, entries: Sequence[Mapping[str, Any]], view: ServerView
) -> Iterator[_Changed]:
    """Yield the fields that other clients than planners wrote, and that are neither planned nor defaults."""
    for entry in entries:
        manager = str(entry.get("manager") or "")
        if _is_planner(entry) or entry.get("subresource"):
            continue
        for path in _owned(entry.get("fieldsV1") or {}, live, ()):
            if path[:1] == ("metadata",) and (len(path) < 3 or path[1] not in OWN_METADATA):
                continue
            if _is_note(path):
                continue
            found = _planned_path(path, live, planned)
            if _at(planned, found) is not ABSENT:
                continue
            if _NOWHERE in found:
                path = path[: found.index(_NOWHERE) + 1]
            value = _at(live, path)
            if value is ABSENT or _is_none(path, value):
                continue
            if is_controller(manager) or not _is_default(path, value, live, view):
                yield path, ABSENT, value


def _is_default(path: Path, value: Any, live: Object, view: ServerView) -> bool:  # noqa: ANN401
    if view.defaulted:
        return bool(_at(view.defaulted, _planned_path(path, live, view.defaulted)) == value)
    rest = without_defaults(live)
    return _at(rest, _planned_path(path, live, rest)) is ABSENT


def _owned(fields: Mapping[str, Any], value: Any, path: Path) -> Iterator[Path]:  # noqa: ANN401
    """Yield the paths of the leaves in managed fields, as far as they exist."""
    inner = {key: below for key, below in fields.items() if key != "."}
    if not inner:
        yield path
        return
    for key, below in inner.items():
        step = _step(key, value)
        if step is not None:
            yield from _owned(below, _at(value, (step,)), (*path, step))


def _step(key: str, value: Any) -> str | int | None:  # noqa: ANN401
    """Return the step into a value that a key of managed fields stands for; None if it does not exist."""
    kind, _, name = key.partition(":")
    if kind == "f":
        return name if isinstance(value, dict) and name in value else None
    if not isinstance(value, list):
        return None
    try:
        wanted = json.loads(name)
    except ValueError:
        return None
    if kind == "k":
        places = (
            index
            for index, item in enumerate(value)
            if isinstance(item, dict) and all(item.get(field) == part for field, part in wanted.items())
        )
        return next(places, None)
    return value.index(wanted) if kind == "v" and wanted in value else None


def _planned_path(path: Path, live: Object, planned: Object) -> Path:
    """Return the path of a live field in the planned object, whose lists may be in another order."""
    result: Path = ()
    for place, step in enumerate(path):
        others, item = _at(planned, result), _at(live, path[: place + 1])
        keys = _KEYS.get(str(result[-1])) if result else None
        if isinstance(step, int) and keys and isinstance(others, list) and isinstance(item, dict):
            wanted = _identity(item, keys)
            places = (index for index, other in enumerate(others) if _identity(other, keys) == wanted)
            result = (*result, next(places, _NOWHERE))
        else:
            result = (*result, step)
    return result


def _writer(path: Path, live: Object, entries: Sequence[Mapping[str, Any]]) -> Writer:
    """Return the client that wrote a field last; empty for a field that is gone."""
    writers = []
    for entry in entries:
        for owned in _owned(entry.get("fieldsV1") or {}, live, ()):
            if owned[: len(path)] == path or path[: len(owned)] == owned:
                writers.append(Writer(str(entry.get("manager") or ""), str(entry.get("time") or "")))
                break
    others = [writer for writer in writers if not writer.manager.startswith(_PLANNERS)]
    return max(others or writers, key=lambda writer: writer.time, default=Writer())


def _masked(path: Path, value: Any, live: Object, *, kind: str) -> Any:  # noqa: ANN401
    """Return a value for readers: the name of a variable beside it tells whether it is harmless."""
    if value is ABSENT:
        return value
    siblings = _at(live, path[:-1])
    name = siblings.get("name") if isinstance(siblings, dict) and path[-1] == "value" else ""
    return masked_at(value, path, kind=kind, name=str(name or ""))


def is_bookkeeping(annotation: str) -> bool:
    """Whether kubectl or a controller keeps notes in an annotation."""
    return annotation.startswith(_BOOKKEEPING)


def _is_note(path: Path) -> bool:
    """Whether a field is such an annotation, of an object or of its pods (`kubectl rollout restart`)."""
    return len(path) > 1 and path[-2] == "annotations" and is_bookkeeping(str(path[-1]))


def _is_planner(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("manager") or "").startswith(_PLANNERS)


def _at(body: Any, path: Path) -> Any:  # noqa: ANN401
    """Return the value at a path; ``ABSENT`` if there is none."""
    for step in path:
        try:
            if step == _NOWHERE:
                return ABSENT
            body = body[step]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return body

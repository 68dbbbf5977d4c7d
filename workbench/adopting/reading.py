"""Reads what is adopted, and looks up what the resulting plan creates."""

import functools
import http
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from components.contract.problems import Problem
from components.fleet.objects import Object
from toolkit.kube import Kube, KubeError, MalformedObject, NoSuchKindError

from ..errors import WorkbenchError
from ..inspecting.parts import secret_names
from ..inspecting.snapshot import ClusterSnapshot, identity_of
from .candidates import candidates, left_out, pod_templates, title_of
from .decisions import Adoption, Becomes, Wanted, decide
from .front_door import door_charts, door_differences, door_settings, other_routes, without_door
from .neighbours import read_neighbours
from .settings import fleet_values, present_charts, releases_to_set

_NO_VALUES: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ReadAdoption:
    """The decisions about a cluster.

    Attributes:
        values: The settings of the stack, by key, except how the cluster is reached.
        notes: What a reader of the report should know.
    """

    adoption: Adoption
    values: Mapping[str, Any]
    snapshot: ClusterSnapshot
    notes: tuple[str, ...] = ()


def read_adoption(
    kube: Kube, snapshot: ClusterSnapshot, family: str = "", cloud: Mapping[str, Any] = _NO_VALUES
) -> ReadAdoption:
    """Decide about everything that serves models in a cluster; only GET requests are sent.

    Args:
        kube: The client.
        snapshot: The objects of the cluster, or of the namespaces to adopt.
        family: The family that plain workloads become resources of, where that restarts no pod.
        cloud: Settings of the stack that describe the cluster on its cloud.
    """
    known = cloud.get("prerequisites", {}).get("present", ())
    notes = [f"not read: {missing.title} ({missing.reason})" for missing in snapshot.missing]
    notes += [
        f"not read, and left out: {problem.kind} {problem.namespace}/{problem.name}: {problem.path} {problem.reason}"
        for problem in snapshot.unread
    ]
    controllers: list[Object] = []
    if snapshot.namespaces:
        # Controllers run in namespaces of their own; their Deployments show which charts the cluster has.
        try:
            unread: list[MalformedObject] = []
            deployments = kube.list("apps/v1", "Deployment", unread=unread)
            known_unread = {(problem.kind, problem.namespace, problem.name) for problem in snapshot.unread}
            notes += [f"not read, and left out: {each}" for each in unread if each[:3] not in known_unread]
            controllers = [{"apiVersion": "apps/v1", "kind": "Deployment", **body} for body in deployments]
        except KubeError as error:
            notes.append(
                "not read: the Deployments of other namespaces, so that charts may be missing in "
                f"prerequisites.present ({error.message})"
            )
    whole = replace(snapshot, objects=(*snapshot.objects, *controllers))
    present = sorted({*present_charts(whole), *known})
    read, door_notes = _with_front_door(kube, snapshot, present, family, cloud)
    notes += [*door_notes, *other_routes(kube, read.adoption, read.snapshot)]
    notes += read_neighbours(kube, read.adoption, read.snapshot)
    notes += left_out(read.snapshot, {decision.candidate.identity for decision in read.adoption.decisions})
    if read.adoption.omitted:
        notes.append(
            "the stack would add these objects, and leaves them out until their names are removed from "
            f"adopted.omitted: {', '.join(read.adoption.omitted)}"
        )
    return replace(read, notes=tuple(notes))


def read_rendered_adoption(snapshot: ClusterSnapshot, problems: Sequence[Problem], family: str = "") -> ReadAdoption:
    """Decide about rendered objects, such as the output of `helm template`, which a stack then creates.

    Args:
        snapshot: The objects.
        problems: Problems of what could not be read.
        family: The family that plain workloads become resources of, where that restarts no pod.

    Raises:
        WorkbenchError: there are problems.
    """
    if problems:
        raise WorkbenchError("\n".join(map(str, problems)))
    typed = [candidate.live for candidate in candidates(snapshot) if candidate.kind]
    values = fleet_values(typed, (), releases_to_set(snapshot, typed))
    absent: frozenset[Wanted] = frozenset()
    while (adoption := decide(snapshot, values, absent, family, rendered=True)).unknown:
        absent |= adoption.unknown
    # Without a cluster, nothing is known to exist: the stack creates everything.
    return ReadAdoption(
        replace(adoption, imports=(), omitted=()), values, snapshot, tuple(_requirements(adoption, snapshot))
    )


def _requirements(adoption: Adoption, snapshot: ClusterSnapshot) -> Iterator[str]:
    """Yield what the stack needs and does not create, and what of the objects is not in the project."""
    kept = [decision.candidate.live for decision in adoption.having(Becomes.VERBATIM)]
    own = {body["metadata"]["name"] for body in kept if body["kind"] == "Namespace"}
    spaces = sorted({body["metadata"].get("namespace") or "" for body in kept} - own - {""})
    if spaces:
        yield f"these namespaces must exist: {', '.join(spaces)}"
    secrets = sorted(
        {
            f"{body['metadata'].get('namespace')}/{name}"
            for body in kept
            for template in pod_templates(body)
            for name in secret_names(template.get("spec") or {})
        }
    )
    if secrets:
        yield f"Secrets are never written; these must exist: {', '.join(secrets)}"
    adopted = {decision.candidate.identity for decision in adoption.decisions}
    yield from left_out(snapshot, adopted)
    left = [title_of(identity) for body in snapshot.objects if (identity := identity_of(body)) not in adopted]
    if left:
        reasons = "hooks, definitions of kinds, in system namespaces, or exported from a cluster"
        yield f"not in the project, because they are {reasons}: {', '.join(left)}"


def _with_front_door(
    kube: Kube, snapshot: ClusterSnapshot, present: Sequence[str], family: str, cloud: Mapping[str, Any]
) -> tuple[ReadAdoption, list[str]]:
    """Return the decisions, with the front door if a stack would create the same, and notes about it."""
    read = _decided(kube, snapshot, present, family, cloud)
    lookup = functools.partial(look_up, kube)
    reasons: tuple[str, ...] = ()
    try:
        door = door_settings(lookup)
        if door is None:
            return read, []
        charts = sorted({*present, *door_charts(door)})
        # Only the annotations of the cloud tell whether the address is private.
        for access in ({}, {"internal": True}):
            values = {**cloud, "frontDoor": {**door, **access}}
            exposed = _decided(kube, read.snapshot, charts, family, values)
            reasons = door_differences(exposed.adoption, exposed.values, lookup)
            if not reasons:
                return exposed, []
    except WorkbenchError as error:
        return read, [f"not read: the front door ({error})"]
    return read, [without_door(door, reasons)]


def _decided(
    kube: Kube,
    snapshot: ClusterSnapshot,
    present: Sequence[str],
    family: str,
    others: Mapping[str, Any],
) -> ReadAdoption:
    typed = [candidate.live for candidate in candidates(snapshot) if candidate.kind and not candidate.owner]
    releases = releases_to_set(snapshot, typed)
    values = {**others, **fleet_values(typed, present, releases)}
    absent: set[Wanted] = set()
    while True:
        adoption = decide(snapshot, values, absent, family)
        if not adoption.unknown:
            break
        for wanted in sorted(adoption.unknown):
            live = look_up(kube, *wanted)
            if live is None:
                absent.add(wanted)
            else:
                snapshot = replace(snapshot, objects=(*snapshot.objects, live))
    kept = [decision.candidate.live for decision in adoption.having(Becomes.TYPED)]
    return ReadAdoption(adoption, {**others, **fleet_values(kept, present, releases)}, snapshot)


def look_up(kube: Kube, api_version: str, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
    """Return an object; None if it does not exist.

    Raises:
        WorkbenchError: it cannot be read.
    """
    try:
        return kube.get(api_version, kind, name, namespace or None)
    except NoSuchKindError:
        return None
    except KubeError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            return None
        title = f"{kind} {f'{namespace}/' if namespace else ''}{name}"
        raise WorkbenchError(
            f"{title} cannot be read, so that it is unknown whether the stack would create it: {error.message}"
        ) from None

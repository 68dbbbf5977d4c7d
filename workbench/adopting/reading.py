"""Reads what is adopted, and looks up what the resulting plan creates."""

import http
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolkit.kube import Kube, KubeError, NoSuchKindError

from ..errors import WorkbenchError
from ..inspecting.reading import read_cluster
from ..inspecting.snapshot import Snapshot
from .candidates import candidates
from .decisions import Adoption, Becomes, decide
from .settings import fleet_values, present_charts


@dataclass(frozen=True, slots=True)
class ReadAdoption:
    """The decisions about a cluster.

    Attributes:
        values: The settings of the stack, by key, except how the cluster is reached.
        notes: What a reader of the report should know.
    """

    adoption: Adoption
    values: Mapping[str, Any]
    snapshot: Snapshot
    notes: tuple[str, ...] = ()


def read_adoption(kube: Kube, namespaces: Sequence[str]) -> ReadAdoption:
    """Decide about everything that serves models in a cluster; only GET requests are sent.

    Args:
        kube: The client.
        namespaces: The namespaces to adopt; all if empty.
    """
    snapshot = read_cluster(kube, namespaces)
    present = present_charts(served_groups(kube), snapshot)
    notes = [f"not read: {missing.title} ({missing.reason})" for missing in snapshot.missing]
    read = _decided(kube, snapshot, present)
    if read.adoption.omitted:
        notes.append(
            "the stack would add these objects, and leaves them out until their names are removed from "
            f"adopted.omitted: {', '.join(read.adoption.omitted)}"
        )
    return replace(read, notes=tuple(notes))


def _decided(kube: Kube, snapshot: Snapshot, present: Sequence[str]) -> ReadAdoption:
    typed = [candidate.live for candidate in candidates(snapshot) if candidate.kind and not candidate.owner]
    values = fleet_values(typed, present)
    absent: set[tuple[str, str, str, str]] = set()
    while True:
        adoption = decide(snapshot, values, absent)
        if not adoption.unknown:
            break
        for wanted in sorted(adoption.unknown):
            live = look_up(kube, *wanted)
            if live is None:
                absent.add(wanted)
            else:
                snapshot = replace(snapshot, objects=(*snapshot.objects, live))
    kept = [decision.candidate.live for decision in adoption.having(Becomes.TYPED)]
    return ReadAdoption(adoption, fleet_values(kept, present), snapshot)


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


def served_groups(kube: Kube) -> list[str]:
    """Return the API groups that a server serves."""
    return [str(group.get("name")) for group in kube.request("GET", "/apis").get("groups") or ()]

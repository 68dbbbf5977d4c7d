"""Reads what is adopted, and looks up what the resulting plan creates."""

import http
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolkit.kube import Kube, KubeError, NoSuchKindError

from ..errors import WorkbenchError
from ..inspecting.reading import read_cluster, read_files
from ..inspecting.snapshot import ClusterSnapshot
from .candidates import candidates
from .decisions import Adoption, Becomes, Wanted, decide
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
    snapshot: ClusterSnapshot
    notes: tuple[str, ...] = ()


def read_adoption(kube: Kube, namespaces: Sequence[str], family: str = "") -> ReadAdoption:
    """Decide about everything that serves models in a cluster; only GET requests are sent.

    Args:
        kube: The client.
        namespaces: The namespaces to adopt; all if empty.
        family: The family that plain workloads become resources of, where that restarts no pod.
    """
    snapshot = read_cluster(kube, namespaces)
    present = present_charts(snapshot)
    notes = [f"not read: {missing.title} ({missing.reason})" for missing in snapshot.missing]
    read = _decided(kube, snapshot, present, family)
    if read.adoption.omitted:
        notes.append(
            "the stack would add these objects, and leaves them out until their names are removed from "
            f"adopted.omitted: {', '.join(read.adoption.omitted)}"
        )
    return replace(read, notes=tuple(notes))


def read_files_adoption(paths: Sequence[Path], family: str = "") -> ReadAdoption:
    """Decide about the objects in files, such as the output of `helm template`, which a stack then creates.

    Raises:
        WorkbenchError: a file cannot be read.
    """
    snapshot, problems = read_files(paths)
    if problems:
        raise WorkbenchError("\n".join(map(str, problems)))
    typed = [candidate.live for candidate in candidates(snapshot) if candidate.kind]
    values = fleet_values(typed, ())
    absent: frozenset[Wanted] = frozenset()
    while (adoption := decide(snapshot, values, absent, family)).unknown:
        absent |= adoption.unknown
    # Without a cluster, nothing is known to exist: the stack creates everything.
    kept = [decision.candidate.live for decision in adoption.having(Becomes.VERBATIM)]
    spaces = sorted({namespace for body in kept if (namespace := body["metadata"].get("namespace"))})
    notes = (f"these namespaces must exist: {', '.join(spaces)}",) if spaces else ()
    return ReadAdoption(replace(adoption, imports=(), omitted=()), values, snapshot, notes)


def _decided(kube: Kube, snapshot: ClusterSnapshot, present: Sequence[str], family: str) -> ReadAdoption:
    typed = [candidate.live for candidate in candidates(snapshot) if candidate.kind and not candidate.owner]
    values = fleet_values(typed, present)
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

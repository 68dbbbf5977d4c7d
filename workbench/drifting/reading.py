"""Reads the live counterparts of planned objects, with GET requests only."""

import http
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from components.fleet.objects import Object
from components.plan.plan import Plan
from toolkit.kube import Kube, KubeError

from ..errors import WorkbenchError
from .drift import FieldDrift, drift_of, is_secret

Key = tuple[str, str, str, str]
"""API version, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class ObjectDrift:
    """A planned object that differs from the cluster.

    Attributes:
        model: ``Kind/name`` of the resource that it belongs to; empty for an object of the whole fleet.
        absent: Whether the cluster does not have it.
        unread: Why it could not be compared; empty if it was.
        right: The missing right, if the object is a Secret, which the documented users of this command cannot read.
        fields: The fields that differ.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    model: str = ""
    absent: bool = False
    unread: str = ""
    right: str = ""
    fields: tuple[FieldDrift, ...] = ()

    @property
    def title(self) -> str:
        """``Kind namespace/name``."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def differs(self) -> bool:
        """Whether the cluster is known to differ from the plan."""
        return self.absent or bool(self.fields)


def drifts_of(planned: Iterable[Object], models: Mapping[Key, str], kube: Kube) -> tuple[ObjectDrift, ...]:
    """Compare objects with a cluster; only those that differ or could not be read are returned, sorted.

    Args:
        planned: The objects of a plan.
        models: The resource that each belongs to.
        kube: The client.

    Raises:
        WorkbenchError: the server does not answer, or rejects the credentials.
    """
    results = []
    for body in {key_of(body): body for body in planned}.values():
        key = key_of(body)
        at = ObjectDrift(*key, model=models.get(key, ""))
        result = _compared(body, at, kube)
        if result.differs or result.unread:
            results.append(result)
    return tuple(sorted(results, key=lambda drift: (drift.namespace, drift.model, drift.kind, drift.name)))


def _compared(body: Object, at: ObjectDrift, kube: Kube) -> ObjectDrift:
    try:
        live = kube.get(at.api_version, at.kind, at.name, at.namespace or None)
    except KubeError as error:
        if error.unreachable or error.status == http.HTTPStatus.UNAUTHORIZED:
            raise WorkbenchError(f"the cluster cannot be read: {error.message}") from None
        if error.status == http.HTTPStatus.NOT_FOUND:
            return replace(at, absent=True)
        if error.status == http.HTTPStatus.FORBIDDEN and is_secret(body):
            right = f"get secrets in namespace {at.namespace}"
            return replace(at, unread=f"needs the right to {right}", right=right)
        return replace(at, unread=error.message)
    return replace(at, fields=drift_of(body, live))


def key_of(body: Object) -> Key:
    """Return the key of an object."""
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], str(metadata.get("namespace") or ""), str(metadata["name"])


def models_of(plan: Plan) -> dict[Key, str]:
    """Return the resource that each object of a plan belongs to."""
    return {key_of(body): item.title for item in plan.fleet.rendered for body in item.objects}


def models_in(drifts: Sequence[ObjectDrift]) -> dict[str, list[ObjectDrift]]:
    """Group objects by their resource, in order."""
    groups: dict[str, list[ObjectDrift]] = {}
    for drift in drifts:
        groups.setdefault(f"{drift.namespace}/{drift.model}" if drift.model else "", []).append(drift)
    return groups

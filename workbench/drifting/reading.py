"""Reads the live counterparts of planned objects, and asks the API server for dry runs."""

import http
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from components.fleet.objects import Object
from components.plan.plan import Plan
from toolkit.kube import Kube, KubeError

from ..engine.apply.accounts import without_account
from ..engine.apply.objects import MANAGER
from ..engine.apply.ownership import defaulted
from ..errors import WorkbenchError
from .drift import FieldDrift, ServerView, differences_of, fields_of_others, is_secret, planner_of

Key = tuple[str, str, str, str]
"""API version, kind, namespace and name."""
_SCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


@dataclass(frozen=True, slots=True)
class ObjectDrift:
    """A planned object that differs from the cluster.

    Attributes:
        model: ``Kind/name`` of the resource that it belongs to; empty for an object of the whole fleet.
        absent: Whether the cluster does not have it.
        unread: Why it could not be compared; empty if it was.
        right: The missing right, if the object is a Secret, which the documented users of this command cannot read.
        fields: The fields that differ.
        explained: Fields that autoscalers, controllers or webhooks set, which is no difference.
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
    explained: tuple[FieldDrift, ...] = ()

    @property
    def title(self) -> str:
        """``Kind namespace/name``."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def differs(self) -> bool:
        """Whether the cluster is known to differ from the plan."""
        return self.absent or bool(self.fields)


def drifts_of(planned: Iterable[Object], models: Mapping[Key, str], kube: Kube) -> tuple[ObjectDrift, ...]:
    """Compare objects with a cluster; those that are exactly as planned are left out, the others are sorted.

    Args:
        planned: The objects of a plan.
        models: The resource that each belongs to.
        kube: The client.

    Raises:
        WorkbenchError: the server does not answer, or rejects the credentials.
    """
    results = []
    bodies = {key_of(body): body for body in planned}
    scalers = scalers_of(bodies.values())
    for key, body in bodies.items():
        at = ObjectDrift(*key, model=models.get(key, ""))
        result = _compared(body, at, kube, scalers.get(key[1:], ""))
        if result.differs or result.unread or result.explained:
            results.append(result)
    return tuple(sorted(results, key=lambda drift: (drift.namespace, drift.model, drift.kind, drift.name)))


def scalers_of(planned: Iterable[Object]) -> dict[tuple[str, str, str], str]:
    """Return the autoscaler of each workload: by kind, namespace and name."""
    scalers = {}
    for body in planned:
        spec = body.get("spec")
        target = spec.get("scaleTargetRef") if isinstance(spec, dict) else None
        if isinstance(target, dict) and body["kind"] in _SCALERS:
            _, kind, namespace, name = key_of(body)
            scalers[str(target.get("kind") or "Deployment"), namespace, str(target.get("name"))] = f"{kind} {name}"
    return scalers


def server_view(kube: Kube, body: Object, live: Object) -> ServerView:
    """Ask the API server for dry runs; what it refuses, such as a user who may not patch, is left open."""
    theirs = fields_of_others(live)
    # What the plan does not declare is no part of what it means, although an apply would keep the service account.
    meant = without_account(body, live)
    applied = _answer(lambda: kube.apply(meant, manager=planner_of(live) or MANAGER, dry_run=True))
    return ServerView(applied, _answer(lambda: defaulted(kube, live, theirs)) if theirs else live)


def _answer(ask: Callable[[], Object]) -> Object | None:
    try:
        return ask()
    except KubeError as error:
        if error.unreachable:
            raise
        return None


def _compared(body: Object, at: ObjectDrift, kube: Kube, scaler: str) -> ObjectDrift:
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
    found = differences_of(body, live, server_view(kube, body, live), scaler)
    return replace(
        at,
        fields=tuple(field for field in found if not field.owner),
        explained=tuple(field for field in found if field.owner),
    )


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

"""Objects beside the adopted ones that bound or select them, and stay outside of the project.

Budgets and policies select pods, quotas and ranges hold for a namespace, and claims belong to pods.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from components.fleet.objects import Object
from toolkit.kube import Kube, KubeError, MalformedObject, NoSuchKindError

from ..inspecting.describing import value_at
from ..inspecting.endpoints import labels_of_pods
from ..inspecting.snapshot import ClusterSnapshot, identity_of
from .candidates import pod_templates
from .decisions import Adoption

_SELECTING = {"PodDisruptionBudget": "spec.selector", "NetworkPolicy": "spec.podSelector"}
"""Fields that select pods; those of NetworkPolicies select all if they are empty, as those of budgets do."""
_OF_NAMESPACES = ("ResourceQuota", "LimitRange")
KINDS = (
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("v1", "ResourceQuota"),
    ("v1", "LimitRange"),
)


def read_neighbours(kube: Kube, adoption: Adoption, snapshot: ClusterSnapshot) -> Iterator[str]:
    """Yield notes about what bounds or selects the adopted pods, and stays outside of the project.

    Args:
        kube: The client; only GET requests are sent.
        adoption: The decisions.
        snapshot: What was read.
    """
    bodies: list[Object] = []
    for api_version, kind in KINDS:
        unread: list[MalformedObject] = []
        try:
            items = [
                body
                for space in snapshot.namespaces or (None,)
                for body in kube.list(api_version, kind, space, unread=unread)
            ]
        except NoSuchKindError:
            continue
        except KubeError as error:
            yield f"not read: {kind}s, so that those of the models are not listed ({error.message})"
            continue
        yield from (f"not read, so that what it selects is not listed: {each}" for each in unread)
        bodies += [{**body, "apiVersion": api_version, "kind": kind} for body in items]
    yield from neighbours(adoption, bodies)


def neighbours(adoption: Adoption, bodies: Sequence[Object]) -> Iterator[str]:
    """Yield a note for each object that bounds or selects adopted pods, and for each claim that they mount.

    Args:
        adoption: The decisions.
        bodies: Budgets, policies, quotas and ranges.
    """
    written = {decision.candidate.identity for decision in adoption.decisions if decision.manifest}
    adopted = [decision.candidate.live for decision in adoption.decisions if decision.manifest]
    spaces = {str(body["metadata"].get("namespace") or "") for body in adopted if pod_templates(body)}
    for body in sorted(bodies, key=identity_of):
        _, kind, namespace, name = identity_of(body)
        if identity_of(body) in written or namespace not in spaces:
            continue
        if kind in _OF_NAMESPACES:
            yield f"{kind} {namespace}/{name} also holds for the adopted pods, and stays outside of the project"
            continue
        selector = value_at(body, _SELECTING[kind])
        names = [
            str(each["metadata"]["name"])
            for each in adopted
            if str(each["metadata"].get("namespace") or "") == namespace and _selects_pods_of(selector, each)
        ]
        if names:
            yield (
                f"{kind} {namespace}/{name} selects the pods of {', '.join(sorted(names))}, and stays outside of the "
                "project"
            )
    claims = {
        (str(body["metadata"].get("namespace") or ""), str(value_at(volume, "persistentVolumeClaim.claimName")))
        for body in adopted
        for template in pod_templates(body)
        for volume in (template.get("spec") or {}).get("volumes") or ()
        if value_at(volume, "persistentVolumeClaim.claimName")
    }
    outside = sorted(
        f"{namespace}/{name}"
        for namespace, name in claims
        if ("", "PersistentVolumeClaim", namespace, name) not in written
    )
    if outside:
        yield f"the adopted pods mount claims that stay outside of the project: {', '.join(outside)}"


def _selects_pods_of(selector: Any, body: Object) -> bool:  # noqa: ANN401  any field
    """Return whether a selector selects the pods of a workload; expressions count as selecting."""
    if not isinstance(selector, dict):
        return False
    wanted = selector.get("matchLabels") or {}
    return any(wanted.items() <= labels.items() for labels in labels_of_pods(body))

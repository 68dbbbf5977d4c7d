"""Operations on one object of a cluster: apply with retries, wait, delete."""

import http
import time
from collections.abc import Callable, Mapping
from typing import Any

from components.fleet.shapes import SHAPES
from components.plan.review.differences import parse_path
from toolkit.kube import Kube, KubeError, NoSuchKindError
from toolkit.kube.managed_fields import has_field, owned_fields

from ...errors import WorkbenchError
from ..diff import ignored
from ..targets import identity
from ..values import reveal
from .conflicts import Applied, apply_over

MANAGER = "inference-platform-workbench"
CRD = "CustomResourceDefinition"
PAUSE = 0.1
"""Seconds between polls."""
_PATIENCE, _LIMIT = 30.0, 600.0
"""Timeouts in seconds for eventually consistent states: without progress of other steps, and in total."""
_CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kubelet", "kwok", "before-first-apply")
"""Field managers of controllers, which also write to objects of others. ``before-first-apply`` appears on objects
without a manager, such as a namespace with nothing but a name."""
_BUILT_IN = tuple(shape.kind for shape in SHAPES if not shape.requires)
_FOREGROUND = (*_BUILT_IN, "DaemonSet", "ReplicaSet", "Job", "CronJob")
_PROPAGATION = "pulumi.com/deletionPropagationPolicy"


class LateError(WorkbenchError):
    """A timeout while waiting for an eventually consistent state; a retry may succeed."""


class Patience:
    """A timeout that is extended whenever another step makes progress."""

    def __init__(self) -> None:
        self._progress = 0.0

    def progress(self) -> None:
        """Record the progress of a step."""
        self._progress = time.monotonic()

    def ends(self, since: float) -> bool:
        """Whether a wait that began at ``since`` has timed out."""
        now = time.monotonic()
        return now - max(since, self._progress) > _PATIENCE or now - since > _LIMIT


def put(kube: Kube, obj: dict[str, Any], is_transient: Callable[[KubeError], bool], patience: Patience) -> Applied:
    """Apply an object, retrying transient errors."""
    since = time.monotonic()
    pause = 0.05
    while True:
        try:
            applied = apply_over(kube, obj, MANAGER)
            if not applied.live["metadata"].get("deletionTimestamp"):
                if "status" in obj and not applied.created:
                    _put_status(kube, obj)
                return applied
            await_gone(kube, obj, uid=kube.uid_of(applied.live, obj["kind"]))
            continue
        except KubeError as error:
            if not is_transient(error) or patience.ends(since):
                raise
        time.sleep(pause)
        pause = min(pause * 1.6, 1.0)


def _put_status(kube: Kube, obj: dict[str, Any]) -> None:
    """Set the status from the program (of simulated nodes), which updates of an object ignore."""
    try:
        kube.server_side_apply(obj, manager=MANAGER, subresource="status")
    except KubeError as error:
        if error.status not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.METHOD_NOT_ALLOWED):
            raise


def with_live(kube: Kube, obj: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Make the object keep the live values at ignored paths, as the provider does.

    A field that only others own is left out, so that this engine does not become one of its owners and conflict with
    their next change. Any other gets its live value, because leaving out a field that this engine owns resets it.
    """
    live = look_up(kube, obj)
    if live is None:
        return obj
    own = owned_fields(live, lambda manager: manager == MANAGER)
    others = owned_fields(live, lambda manager: manager != MANAGER)
    for path in paths:
        left_out = has_field(others, parse_path(path)) and not has_field(own, parse_path(path))
        obj = ignored({} if left_out else live, obj, [path])
    return obj


def delete_object(kube: Kube, inputs: Mapping[str, Any], uid: str | None) -> bool:
    """Request a deletion; return whether finalizers delay it."""
    api_version, kind, namespace, name = identity(inputs)
    annotations = reveal(inputs["metadata"]).get("annotations") or {}
    propagation = str(annotations.get(_PROPAGATION, "")).capitalize()
    if not propagation:
        propagation = "Foreground" if kind in _FOREGROUND else "Background"
    try:
        deleted = kube.delete(api_version, kind, name, namespace or None, propagation=propagation, uid=uid or None)
    except NoSuchKindError:
        return False
    return deleted is not None and "deletionTimestamp" in deleted.get("metadata", {})


def await_gone(kube: Kube, inputs: Mapping[str, Any], seconds: float = 120.0, uid: str = "") -> None:
    """Wait until an object is gone; with ``uid``, ignore a new object with the same name.

    Raises:
        WorkbenchError: the timeout has passed; the message names the finalizers.
    """
    _, kind, _, name = identity(inputs)
    deadline = time.monotonic() + seconds
    while True:
        live = look_up(kube, inputs)
        if live is None or (uid and kube.uid_of(live, kind) != uid):
            return
        if time.monotonic() > deadline:
            finalizers = ", ".join(live["metadata"].get("finalizers") or ()) or "its deletion has not finished"
            raise WorkbenchError(f"{kind} {name} still exists after {seconds:.0f} s: {finalizers}")
        end_mounting_pods(kube, live)
        time.sleep(PAUSE)


def look_up(kube: Kube, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the live object; None without one."""
    api_version, kind, namespace, name = identity(inputs)
    try:
        return kube.get(api_version, kind, name, namespace or None)
    except KubeError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            return None
        raise


def is_created_here(kube: Kube, inputs: Mapping[str, Any]) -> bool:
    """Whether this stack created the live object."""
    live = look_up(kube, inputs)
    return live is not None and not foreign(live)


def await_established(kube: Kube, name: str, patience: Patience) -> None:
    """Wait until a CustomResourceDefinition is established.

    Raises:
        WorkbenchError: its names conflict with another one.
        LateError: the wait timed out.
    """
    since = time.monotonic()
    while not patience.ends(since):
        live = kube.get("apiextensions.k8s.io/v1", CRD, name)
        conditions = {c["type"]: c for c in live.get("status", {}).get("conditions") or ()}
        refused = conditions.get("NamesAccepted", {})
        if refused.get("status") == "False":
            raise WorkbenchError(f"the names of CRD {name} are already in use: {refused.get('message')}")
        if conditions.get("Established", {}).get("status") == "True":
            for version in live["spec"]["versions"]:
                kube.forget(f"{live['spec']['group']}/{version['name']}")
            return
        time.sleep(0.05)
    raise LateError(
        f"CRD {name} was not established within {time.monotonic() - since:.0f} s, and no other step made progress "
        f"for {_PATIENCE:.0f} s"
    )


def foreign(live: Mapping[str, Any]) -> bool:
    """Whether anyone else than this stack and controllers wrote to the object."""
    return any(
        entry.get("manager") != MANAGER
        and not entry.get("subresource")
        and not str(entry.get("manager", "")).startswith(_CONTROLLERS)
        for entry in live["metadata"].get("managedFields") or ()
    )


_CLAIM = ("v1", "PersistentVolumeClaim")
_ENDED = ("Succeeded", "Failed")


def mounting_pods(kube: Kube, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the running pods that mount a PersistentVolumeClaim; none for objects of other kinds.

    A claim that is being deleted remains while a running pod mounts it (finalizer ``kubernetes.io/pvc-protection``),
    and no new pod is scheduled onto it.
    """
    api_version, kind, namespace, name = identity(claim)
    if (api_version, kind) != _CLAIM:
        return []
    return [pod for pod in kube.list("v1", "Pod", namespace or "default") if _mounts(pod, name)]


def _mounts(pod: Mapping[str, Any], claim: str) -> bool:
    spec = pod.get("spec", {})
    volumes = spec.get("volumes") or ()
    on_node = spec.get("nodeName") and pod.get("status", {}).get("phase") not in _ENDED
    return bool(on_node) and any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim for volume in volumes
    )


def refuse_strangers(kube: Kube, claim: Mapping[str, Any]) -> None:
    """Reject the replacement of a claim that is mounted by a pod without a controller.

    Raises:
        WorkbenchError: there is such a pod.
    """
    unmanaged = [pod["metadata"]["name"] for pod in mounting_pods(kube, claim) if not _controlled(pod)]
    if unmanaged:
        raise WorkbenchError(
            f"the claim must be replaced, but pod {', '.join(unmanaged)} mounts it and has no controller that would "
            "recreate it; delete the pod, then run `up` again. Nothing was deleted."
        )


def end_mounting_pods(kube: Kube, live: Mapping[str, Any]) -> None:
    """Delete the pods that mount a terminating claim; their successors wait for the new claim."""
    if not live["metadata"].get("deletionTimestamp"):
        return
    for pod in mounting_pods(kube, live):
        if _controlled(pod) and not pod["metadata"].get("deletionTimestamp"):
            meta = pod["metadata"]
            kube.delete("v1", "Pod", meta["name"], meta.get("namespace"), uid=kube.uid_of(pod, "Pod"))


def _controlled(pod: Mapping[str, Any]) -> bool:
    return any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences") or ())

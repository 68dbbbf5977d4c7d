"""What is done to one object of a cluster: applied with patience, waited for, deleted."""

import http
import time
from collections.abc import Callable, Mapping
from typing import Any

from components.fleet.shapes import SHAPES
from toolkit.kube import Kube, KubeError, NoSuchKindError

from ...errors import WorkbenchError
from ..diff import ignored
from ..targets import identity
from ..values import reveal

MANAGER = "inference-platform-workbench"
CRD = "CustomResourceDefinition"
PAUSE = 0.1
"""Seconds between two looks at something that is on its way."""
_PATIENCE, _LIMIT = 30.0, 600.0
"""Timeouts in seconds, without progress and in total, of states that the API server reaches eventually."""
_CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kubelet", "kwok", "before-first-apply")
"""Managers that write to what others made. The last stands for no manager at all: a namespace of which we
set nothing but the name has none."""
_BUILT_IN = tuple(shape.kind for shape in SHAPES if not shape.requires)
_FOREGROUND = (*_BUILT_IN, "DaemonSet", "ReplicaSet", "Job", "CronJob")
_PROPAGATION = "pulumi.com/deletionPropagationPolicy"


class LateError(WorkbenchError):
    """A state that the API server reaches eventually timed out; a retry may succeed."""


class Patience:
    """Timeout of waits for the API server, which restarts whenever another step makes progress."""

    def __init__(self) -> None:
        """Begin without any progress."""
        self._progress = 0.0

    def progress(self) -> None:
        """Record progress, which extends the waits of other steps."""
        self._progress = time.monotonic()

    def ends(self, since: float) -> bool:
        """Whether a wait that began at a moment has timed out."""
        now = time.monotonic()
        return now - max(since, self._progress) > _PATIENCE or now - since > _LIMIT


def put(
    kube: Kube, obj: dict[str, Any], passes: Callable[[KubeError], bool], patience: Patience
) -> tuple[dict[str, Any], bool]:
    """Apply an object, with patience for what passes by itself; also return whether it was created just now."""
    since = time.monotonic()
    pause = 0.05
    while True:
        try:
            live, created = kube.server_side_apply(obj, manager=MANAGER)
            if not live["metadata"].get("deletionTimestamp"):
                if "status" in obj and not created:
                    _put_status(kube, obj)
                return live, created
            await_gone(kube, obj, uid=live["metadata"]["uid"])
            continue
        except KubeError as error:
            if not passes(error) or patience.ends(since):
                raise
        time.sleep(pause)
        pause = min(pause * 1.6, 1.0)


def _put_status(kube: Kube, obj: dict[str, Any]) -> None:
    """Set a status that the program gives (simulated nodes); updates of the object do not carry it."""
    try:
        kube.server_side_apply(obj, manager=MANAGER, subresource="status")
    except KubeError as error:
        if error.status not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.METHOD_NOT_ALLOWED):
            raise


def with_live(kube: Kube, obj: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Put what lives at the ignored paths into the object, so that applying it leaves them alone."""
    try:
        live = kube.request("GET", kube.path_of(obj))
    except KubeError:
        return obj
    merged: dict[str, Any] = ignored(live, obj, paths)
    return merged


def delete_object(kube: Kube, inputs: Mapping[str, Any], uid: str | None) -> bool:
    """Ask for the deletion; return whether the object lingers on finalizers."""
    api_version, kind, namespace, name = identity(inputs)
    annotations = reveal(inputs["metadata"]).get("annotations") or {}
    given = str(annotations.get(_PROPAGATION, "")).capitalize()
    usual = "Foreground" if kind in _FOREGROUND else "Background"
    try:
        answer = kube.delete(api_version, kind, name, namespace or None, propagation=given or usual, uid=uid or None)
    except NoSuchKindError:
        return False
    return answer is not None and "deletionTimestamp" in answer.get("metadata", {})


def await_gone(kube: Kube, inputs: Mapping[str, Any], seconds: float = 120.0, uid: str = "") -> None:
    """Wait until an object is gone; with ``uid``, another one under its name does not count.

    Raises:
        WorkbenchError: it is still there; names the finalizers that hold it.
    """
    _, kind, _, name = identity(inputs)
    deadline = time.monotonic() + seconds
    while True:
        live = look_up(kube, inputs)
        if live is None or (uid and live["metadata"]["uid"] != uid):
            return
        if time.monotonic() > deadline:
            held = ", ".join(live["metadata"].get("finalizers") or ()) or "its deletion has not finished"
            raise WorkbenchError(f"{kind} {name} still exists after {seconds:.0f} s: {held}")
        end_mounting_pods(kube, live)
        time.sleep(PAUSE)


def look_up(kube: Kube, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object that is there, None if there is none."""
    api_version, kind, namespace, name = identity(inputs)
    try:
        return kube.get(api_version, kind, name, namespace or None)
    except KubeError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            return None
        raise


def ours(kube: Kube, inputs: Mapping[str, Any]) -> bool:
    """Whether an interrupted step has made the object; one that was there before is not touched."""
    live = look_up(kube, inputs)
    return live is not None and not foreign(live)


def await_established(kube: Kube, name: str, patience: Patience) -> None:
    """Wait until the kind of a CustomResourceDefinition is served.

    Raises:
        WorkbenchError: its names are taken.
        LateError: it takes too long.
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
        f"CRD {name} was not established within {time.monotonic() - since:.0f} s, and nothing else went on for "
        f"{_PATIENCE:.0f} s"
    )


def foreign(live: Mapping[str, Any]) -> bool:
    """Whether somebody else wrote the object: a person, another tool, another stack."""
    return any(
        entry.get("manager") != MANAGER
        and not entry.get("subresource")
        and not str(entry.get("manager", "")).startswith(_CONTROLLERS)
        for entry in live["metadata"].get("managedFields") or ()
    )


_CLAIM = ("v1", "PersistentVolumeClaim")
_ENDED = ("Succeeded", "Failed")


def mounting_pods(kube: Kube, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pods that keep a claim from going; none for objects of other kinds."""
    api_version, kind, namespace, name = identity(claim)
    if (api_version, kind) != _CLAIM:
        return []
    return [pod for pod in kube.list("v1", "Pod", namespace or "default") if _mounts(pod, name)]


def _mounts(pod: Mapping[str, Any], claim: str) -> bool:
    volumes = pod["spec"].get("volumes") or ()
    on_node = pod["spec"].get("nodeName") and pod.get("status", {}).get("phase") not in _ENDED
    return bool(on_node) and any(
        (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim for volume in volumes
    )


def refuse_strangers(kube: Kube, claim: Mapping[str, Any]) -> None:
    """Stop before a claim is deleted that a pod mounts which nothing would make again.

    Raises:
        WorkbenchError: names the pods.
    """
    alone = [pod["metadata"]["name"] for pod in mounting_pods(kube, claim) if not _controlled(pod)]
    if alone:
        raise WorkbenchError(
            f"the claim has to be made anew, but pod {', '.join(alone)} mounts it and no controller would make that "
            "pod again; delete the pod yourself, then run `up` again. Nothing was deleted."
        )


def end_mounting_pods(kube: Kube, live: Mapping[str, Any]) -> None:
    """End the pods that mount a claim on its way out; those that follow them wait for the new claim."""
    if not live["metadata"].get("deletionTimestamp"):
        return
    for pod in mounting_pods(kube, live):
        if _controlled(pod) and not pod["metadata"].get("deletionTimestamp"):
            meta = pod["metadata"]
            kube.delete("v1", "Pod", meta["name"], meta["namespace"], uid=meta["uid"])


def _controlled(pod: Mapping[str, Any]) -> bool:
    return any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences") or ())

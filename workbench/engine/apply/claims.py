"""Claims that go while pods mount them: the API server waits for the pods, and the pods for nobody.

A claim that is being deleted stays until no pod that runs mounts it (finalizer ``kubernetes.io/pvc-protection``), and
no new pod is scheduled onto it.
"""

from collections.abc import Mapping
from typing import Any

from toolkit.kube import Kube

from ...errors import WorkbenchError
from ..targets import identity

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

"""LeaderWorkerSets that are scaled: one round of their controller after the other, played by a stand-in.

What the stand-in makes of a set stands in ``tests/leader_worker_sets.py``. The API server, its scale subresource and
the autoscaler are real.
"""

from collections.abc import Mapping
from typing import Any

from components.api.schema.crds import crd
from components.prerequisites.custom_resources import installable
from tests.leader_worker_sets import API, LABEL, pods_of
from tests.monitoring.programs.daemon import eventually
from workbench.kube import Kube
from workbench.kube.errors import NoSuchKindError

KIND = "LeaderWorkerSet"
_MANAGER = "test-lws"


def install_kind(kube: Kube) -> None:
    """Give the API server the kind."""
    kube.apply(crd(installable().one(KIND)), manager=_MANAGER)
    kube.forget()
    eventually(lambda: _is_served(kube), "the kind LeaderWorkerSet")


def _is_served(kube: Kube) -> bool:
    try:
        return bool(kube.resource(API, KIND))
    except NoSuchKindError:
        return False


def play(kube: Kube, group_set: Mapping[str, Any]) -> None:
    """Make the pods that a set asks for now, take away all others, and say how many groups there are."""
    name, namespace = group_set["metadata"]["name"], group_set["metadata"]["namespace"]
    stored = kube.get(API, KIND, name, namespace)
    asked = {pod["metadata"]["name"]: pod for pod in pods_of(stored)}
    there = {pod["metadata"]["name"] for pod in kube.list("v1", "Pod", namespace, labels=f"{LABEL}/name={name}")}
    for extra in sorted(there - asked.keys()):
        kube.delete("v1", "Pod", extra, namespace)
    for missing in sorted(asked.keys() - there):
        kube.apply(asked[missing], manager=_MANAGER)
    status = {
        "replicas": stored["spec"].get("replicas", 1),
        # Leaders alone, as its controller has it (lws-hpa spec 1.1, 1.3).
        "hpaPodSelector": f"{LABEL}/name={name},{LABEL}/worker-index=0",
    }
    body = {"apiVersion": API, "kind": KIND, "metadata": {"name": name, "namespace": namespace}, "status": status}
    kube.apply(body, manager=_MANAGER, subresource="status")

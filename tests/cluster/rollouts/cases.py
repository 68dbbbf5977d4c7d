"""Generated changes of template and replicas, by kind of workload."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
KINDS = ("Deployment", "StatefulSet", "LeaderWorkerSet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A change.

    Attributes:
        spec: Fields of the spec besides replicas and templates before the change, such as the strategy of updates.
        edited: Those after it.
        edit: What else changes: the image, the size of the groups, or nothing.
        room: Replicas that have room at the same time; None for more than enough.
    """

    kind: str
    before: int
    after: int
    spec: Json = field(default_factory=dict)
    edited: Json = field(default_factory=dict)
    edit: str = "image"
    room: int | None = None

    @property
    def size(self) -> int:
        """The pods of a group after the change."""
        return 3 if self.edit == "size" else 2

    def body(self, namespace: str, *, changed: bool) -> Json:
        """Return the workload in a namespace whose node has a label of the same name."""
        replicas, spec = (self.after, self.edited) if changed else (self.before, self.spec)
        image = "two" if changed and self.edit == "image" else "one"
        if self.kind == "LeaderWorkerSet":
            # A node has room for leaders only, so that a group has room or not as a whole.
            leader, worker = (_template(namespace, image, gpus=gpus) for gpus in (1, 0))
            del worker["spec"]["containers"][0]["readinessProbe"]
            size = self.size if changed else 2
            groups = {"size": size, "leaderTemplate": leader, "workerTemplate": worker}
            api, pods = "leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": groups}
        else:
            api = "apps/v1"
            pods = {"selector": {"matchLabels": {"app": "x"}}, "template": _template(namespace, image, gpus=1)}
        metadata = {"name": "x", "namespace": namespace}
        return {
            "apiVersion": api,
            "kind": self.kind,
            "metadata": metadata,
            "spec": {"replicas": replicas, **pods, **spec},
        }

    def is_new(self, pod: Json) -> bool:
        """Whether a pod is as it should be after the change."""
        if self.edit == "size":
            return bool(pod["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/size"] == str(self.size))
        return bool(pod["spec"]["containers"][0]["image"] == ("two" if self.edit == "image" else "one"))

    @property
    def kept(self) -> int:
        """Replicas that the strategy keeps as they are."""
        strategy = self.edited.get("updateStrategy") or self.edited.get("rolloutStrategy") or {}
        if strategy.get("type") == "OnDelete" or self.edited.get("paused"):
            return self.after
        rolling = strategy.get("rollingUpdate") or strategy.get("rollingUpdateConfiguration") or {}
        return int(rolling.get("partition", 0))


def _template(namespace: str, image: str, *, gpus: int) -> Json:
    container: Json = {"name": "c", "image": image, "readinessProbe": {"tcpSocket": {"port": 1}}}
    if gpus:
        container["resources"] = {"limits": {GPU: str(gpus)}}
    pod = {"nodeSelector": {"pool": namespace}, "containers": [container], "terminationGracePeriodSeconds": 0}
    return {"metadata": {"labels": {"app": "x"}}, "spec": pod}


def generated(kind: str, count: int, seed: int = 41) -> Iterator[Case]:
    """Yield changes of one kind; the same number gives the same changes."""
    rng = random.Random(f"{kind} {seed}")
    for _ in range(count):
        before, after = _replicas(rng)
        edits = ["image"] * 6 + ["nothing"] * 2 + ["size"] * (kind == "LeaderWorkerSet")
        edit = rng.choice(edits)
        spec = _SPECS[kind](rng, before, after)
        # The strategy and other fields that are part of no revision change in the same edit, or alone.
        edited = _SPECS[kind](rng, before, after) if rng.random() < 0.4 else spec
        edited = {**edited, **{name: spec[name] for name in _FIXED if name in spec}}
        if kind == "Deployment" and rng.random() < 0.05:
            edited = {**edited, "paused": True}
        if edited.get("strategy") == RECREATE and "strategy" not in spec:
            # The API server refuses to change a strategy that it has set itself: tests/cluster/test_left_out.py.
            spec = {**spec, "strategy": _USUAL}
        # Which pod gets the last place is a race between added replicas and those of a surge.
        room = None if rng.random() < 0.5 or after > before else before + rng.randint(0, 1)
        yield Case(kind=kind, before=before, after=after, spec=spec, edited=edited, edit=edit, room=room)


RECREATE = {"type": "Recreate"}
_USUAL = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
_FIXED = ("podManagementPolicy", "serviceName")


def _replicas(rng: random.Random) -> tuple[int, int]:
    before = rng.randint(1, 5)
    after = before if rng.random() < 0.5 else rng.randint(1, 6)
    end = rng.random()
    if end < 0.08:
        return 0, after
    return (before, 0) if end < 0.16 else (before, after)


def _bound(rng: random.Random) -> int | str:
    choices: list[int | str] = [0, 1, 1, 2, 3, "25%", "50%", "100%"]
    return rng.choice(choices)


def _deployment(rng: random.Random, _before: int, _after: int) -> Json:
    # The shortest deadline passes while the pods of a wave start, and changes nothing.
    ready = _ready(rng)
    further = {"progressDeadlineSeconds": ready.get("minReadySeconds", 0) + 1} if rng.random() < 0.2 else {}
    return {**_deployment_strategy(rng), **ready, **further}


def _ready(rng: random.Random) -> Json:
    return {"minReadySeconds": rng.randint(1, 2)} if rng.random() < 0.25 else {}


def _deployment_strategy(rng: random.Random) -> Json:
    if rng.random() < 0.1:
        return {"strategy": RECREATE}
    if rng.random() < 0.2:
        return {}
    bounds = {"maxSurge": _bound(rng), "maxUnavailable": _bound(rng)}
    if not any(str(bound).strip("0%") for bound in bounds.values()):
        bounds["maxSurge"] = 1
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": bounds}}


def _stateful_set(rng: random.Random, _before: int, after: int) -> Json:
    policy = {"podManagementPolicy": rng.choice(["Parallel", "OrderedReady"]), "serviceName": "x", **_ready(rng)}
    if rng.random() < 0.1:
        return {**policy, "updateStrategy": {"type": "OnDelete"}}
    rolling: Json = {}
    if rng.random() < 0.5:
        rolling["maxUnavailable"] = rng.choice([1, 2, "50%"])
    if rng.random() < 0.3:
        rolling["partition"] = rng.randint(0, after)
    return {**policy, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}


def _leader_worker_set(rng: random.Random, before: int, after: int) -> Json:
    startup = {"startupPolicy": "LeaderReady"} if rng.random() < 0.3 else {}
    return {**startup, **_groups_strategy(rng, before, after)}


def _groups_strategy(rng: random.Random, before: int, after: int) -> Json:
    if rng.random() < 0.2:
        return {}
    bounds: Json = {"maxSurge": _bound(rng), "maxUnavailable": _bound(rng)}
    # Percentages of maxUnavailable round down, before the change and after it, and both at 0 are refused.
    unavailable = bounds["maxUnavailable"]
    if isinstance(unavailable, str):
        unavailable = int(unavailable.removesuffix("%")) * min(before, after) // 100
    if not unavailable and not str(bounds["maxSurge"]).strip("0%"):
        bounds["maxUnavailable"] = 1
    if rng.random() < 0.3:
        bounds["partition"] = rng.randint(0, after)
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": bounds}}


_SPECS = {"Deployment": _deployment, "StatefulSet": _stateful_set, "LeaderWorkerSet": _leader_worker_set}

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
        strategy: The field with the strategy of updates, and its value.
        room: Replicas that have room at the same time; None for more than enough.
    """

    kind: str
    before: int
    after: int
    strategy: Json = field(default_factory=dict)
    room: int | None = None

    def body(self, namespace: str, *, changed: bool) -> Json:
        """Return the workload in a namespace whose node has a label of the same name."""
        replicas, image = (self.after, "two") if changed else (self.before, "one")
        if self.kind == "LeaderWorkerSet":
            # A node has room for leaders only, so that a group has room or not as a whole.
            leader, worker = (_template(namespace, image, gpus=gpus) for gpus in (1, 0))
            del worker["spec"]["containers"][0]["readinessProbe"]
            groups = {"size": 2, "leaderTemplate": leader, "workerTemplate": worker}
            api, spec = "leaderworkerset.x-k8s.io/v1", {"leaderWorkerTemplate": groups}
        else:
            api = "apps/v1"
            spec = {"selector": {"matchLabels": {"app": "x"}}, "template": _template(namespace, image, gpus=1)}
        metadata = {"name": "x", "namespace": namespace}
        return {
            "apiVersion": api,
            "kind": self.kind,
            "metadata": metadata,
            "spec": {"replicas": replicas, **spec, **self.strategy},
        }


def _template(namespace: str, image: str, *, gpus: int) -> Json:
    container: Json = {"name": "c", "image": image, "readinessProbe": {"tcpSocket": {"port": 1}}}
    if gpus:
        container["resources"] = {"limits": {GPU: str(gpus)}}
    pod = {"nodeSelector": {"pool": namespace}, "containers": [container], "terminationGracePeriodSeconds": 0}
    return {"metadata": {"labels": {"app": "x"}}, "spec": pod}


def generated(kind: str, count: int, seed: int = 41) -> Iterator[Case]:
    """Yield changes of one kind; the same number gives the same changes."""
    rng = random.Random(f"{kind} {seed}")
    while count:
        before = rng.randint(1, 5)
        after = before if rng.random() < 0.6 else rng.randint(1, 6)
        strategy = _STRATEGIES[kind](rng, after)
        # Which pod gets the last place is a race between added replicas and those of a surge.
        room = None if rng.random() < 0.5 or after > before else before + rng.randint(0, 1)
        count -= 1
        yield Case(kind=kind, before=before, after=after, strategy=strategy, room=room)


def _bound(rng: random.Random) -> int | str:
    choices: list[int | str] = [0, 1, 1, 2, 3, "25%", "50%", "100%"]
    return rng.choice(choices)


def _deployment(rng: random.Random, _: int) -> Json:
    if rng.random() < 0.1:
        return {"strategy": {"type": "Recreate"}}
    if rng.random() < 0.2:
        return {}
    bounds = {"maxSurge": _bound(rng), "maxUnavailable": _bound(rng)}
    if not any(str(bound).strip("0%") for bound in bounds.values()):
        bounds["maxSurge"] = 1
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": bounds}}


def _stateful_set(rng: random.Random, after: int) -> Json:
    policy = {"podManagementPolicy": rng.choice(["Parallel", "OrderedReady"]), "serviceName": "x"}
    if rng.random() < 0.1:
        return {**policy, "updateStrategy": {"type": "OnDelete"}}
    rolling: Json = {}
    if rng.random() < 0.5:
        rolling["maxUnavailable"] = rng.choice([1, 2, "50%"])
    if rng.random() < 0.3:
        rolling["partition"] = rng.randint(0, after)
    return {**policy, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}


def _leader_worker_set(rng: random.Random, after: int) -> Json:
    if rng.random() < 0.2:
        return {}
    bounds: Json = {"maxSurge": _bound(rng), "maxUnavailable": _bound(rng)}
    # Percentages of maxUnavailable round down, and the webhook refuses both at 0.
    unavailable = bounds["maxUnavailable"]
    if isinstance(unavailable, str):
        unavailable = int(unavailable.removesuffix("%")) * after // 100
    if not unavailable and not str(bounds["maxSurge"]).strip("0%"):
        bounds["maxUnavailable"] = 1
    if rng.random() < 0.3:
        bounds["partition"] = rng.randint(0, after)
    return {"rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": bounds}}


_STRATEGIES = {"Deployment": _deployment, "StatefulSet": _stateful_set, "LeaderWorkerSet": _leader_worker_set}

"""Puts right, in random documents, the fields that must fit others (Kthena spec 1.4)."""

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.families.kthena.random.core import Object

_WORKERS = {
    "vLLMDisaggregated": ("prefill", "decode"),
    "MindIEDisaggregated": ("prefill", "decode", "controller", "coordinator"),
}
METRICS: list[Object] = [{"metricName": "waiting", "targetValue": 10}]


def fit(document: Object, random: Random, mode: str) -> None:
    """Make a document of fields that are each valid one that is valid as a whole."""
    spec = document["spec"]
    for match in matches(spec):
        _keep_one(match, random)
    match document["kind"]:
        case "ModelBooster":
            _booster(document, random, mode)
        case "ModelServing":
            _serving(spec, random)
        case "AutoscalingPolicy":
            _policy(spec)
        case "AutoscalingPolicyBinding":
            _binding(spec, random)
        case "ModelRoute":
            _route(spec, random)


def matches(value: Any) -> Iterator[Object]:
    """Yield every text that requests are matched by."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key == "modelMatch":
            yield from (inner["uri"],) if "uri" in inner else ()
            yield from inner.get("headers", {}).values()
        elif key == "rules":
            for rule in inner:
                yield from matches(rule)


def _keep_one(match: Object, random: Random) -> None:
    for key in random.sample(sorted(match), max(len(match) - 1, 0)):
        del match[key]


def _unique(items: list[Object], key: str) -> None:
    for index, item in enumerate(items):
        item[key] = f"{item[key][: 12 - len(str(index))]}{index}" if key == "name" else f"{item[key]}{index}"


def _bounds(bounded: Object, random: Random) -> None:
    low = random.choice((0, 1, 3))
    bounded |= {"minReplicas": low, "maxReplicas": max(1, low + random.choice((0, 1, 100)))}


# -- ModelBoosters


def _booster(document: Object, random: Random, mode: str) -> None:
    spec = document["spec"]
    backends = spec["backends"]
    _unique(backends, "name")
    for backend in backends:
        _workers(backend, random)
        _bounds(backend, random)
        _unique(backend.get("loraAdapters", []), "name")
    _scaled(spec, random, mode)
    for scaled in (spec, *backends):
        if "autoscalingPolicy" in scaled:
            _policy(scaled["autoscalingPolicy"])
    if random.random() < 0.1:
        backends[0]["maxReplicas"] = 1_000_000 - sum(backend["maxReplicas"] for backend in backends[1:])
        if mode == "none":
            backends[0]["minReplicas"] = backends[0]["maxReplicas"]


def _workers(backend: Object, random: Random) -> None:
    workers = backend["workers"]
    types = _WORKERS.get(backend["type"])
    if types is None:
        del workers[1:]
        workers[0].pop("type", None)
        workers[0] |= {"type": "server"} if random.random() < 0.5 else {}
        return
    if backend["type"] == "vLLMDisaggregated":
        workers[:] = [*workers, {}][:2]
        types = tuple(random.sample(types, 2))
    for index, worker in enumerate(workers):
        worker["type"] = types[index % len(types)]


def _scaled(spec: Object, random: Random, mode: str) -> None:
    backends = spec["backends"]
    if mode == "model":
        spec.setdefault("autoscalingPolicy", {"metrics": METRICS})
        for backend in backends:
            backend.pop("autoscalingPolicy", None)
            backend["scalingCost"] = random.choice((1, 30, 2**31 - 1))
        backends[-1] |= {"minReplicas": 1, "maxReplicas": max(1, backends[-1]["maxReplicas"])}
        return
    for unread in ("autoscalingPolicy", "costExpansionRatePercent"):
        spec.pop(unread, None)
    for backend in backends:
        backend.pop("scaleToZeroGracePeriod", None)
        if "scalingCost" in backend:
            backend["scalingCost"] = 0
        if mode == "none":
            backend.pop("autoscalingPolicy", None)
            backend["minReplicas"] = backend["maxReplicas"]
    if mode == "backend":
        backends[0].setdefault("autoscalingPolicy", {"metrics": METRICS})
        for backend in backends:
            if "autoscalingPolicy" in backend:
                backend["minReplicas"] = max(1, backend["minReplicas"])


def _policy(policy: Object) -> None:
    policy["metrics"] = [dict(metric) for metric in policy["metrics"]]
    _unique(policy["metrics"], "metricName")


# -- the others


def _serving(spec: Object, random: Random) -> None:
    group = spec["template"]
    _unique(group["roles"], "name")
    for counted in (spec, *group["roles"]):
        if counted.get("replicas", 0) > 1000:
            counted["replicas"] = 1000
    for role in group["roles"]:
        role["workerReplicas"] = min(role["workerReplicas"], 1000)
    pods = {role["name"]: role.get("replicas", 1) + role["workerReplicas"] for role in group["roles"]}
    if "minRoleReplicas" in group.get("gangPolicy", {}):
        names = random.sample(sorted(pods), random.randint(0, len(pods)))
        group["gangPolicy"]["minRoleReplicas"] = {name: random.choice((0, pods[name])) for name in names}
    _rollout(spec, random)


def _rollout(spec: Object, random: Random) -> None:
    rollout = spec.get("rolloutStrategy", {}).get("rollingUpdateConfiguration", {})
    groups = spec.get("replicas", 1)
    if "partition" in rollout:
        if groups:
            rollout["partition"] = random.choice((0, groups - 1))
        else:
            del rollout["partition"]
    if rollout:
        # Either moves something by itself.
        rollout[random.choice(("maxUnavailable", "maxSurge"))] = random.choice((1, 2**31, "100%" if groups else 3))


def _binding(spec: Object, random: Random) -> None:
    target = {"targetRef": {"name": "groups"}}
    one = spec.pop("scalingConfiguration", None) or {"target": target}
    several = spec.pop("optimizerConfiguration", None) or {"params": [{"target": target}]}
    for bounded in (one, *several["params"]):
        _bounds(bounded, random)
    spec |= random.choice(({"scalingConfiguration": one}, {"optimizerConfiguration": several}))


def _route(spec: Object, random: Random) -> None:
    if not spec.get("loraAdapters"):
        spec["modelName"] = random.choice(("chat", "a b", "é"))

"""Small fleets in virtual time, whose figures can be computed by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from livefleet.fleet import PaceSource, ServedEndpoint, ServedWorkload, Speaks, Startup, TokenPace
from livefleet.virtual.demand import RequestColumns
from livefleet.virtual.fleet import Gauge, VirtualFleet, VirtualGroup, VirtualPod, VirtualScaler, VirtualWorkload
from livefleet.virtual.run import VirtualOptions, VirtualRun

QUEUE, RUNNING = "vllm:num_requests_waiting", "vllm:num_requests_running"
KEY = "models/chat"
GPU = "nvidia.com/gpu"
A_SECOND = TokenPace(1.0, 0.0, 0.0, 1, source=PaceSource.ESTIMATE)
"""One request at a time, a second for each token, and none for the prompt."""


def served(name: str = "chat", pace: TokenPace = A_SECOND, **fields: Any) -> ServedWorkload:
    values: dict[str, Any] = {
        "namespace": "models",
        "kind": "Deployment",
        "name": name,
        "title": name,
        "selector": {"app": name},
        "container": "server",
        "engine": "vllm",
        "version": "0.20.0",
        "speaks": Speaks.OPENAI,
        "port": 8000,
        "models": (name,),
        "loaded": name,
        "paces": {"": pace},
        "startup": Startup(pod=100.0, node=200.0),
    }
    return ServedWorkload(**{**values, **fields})


def scaler(target: int, most: int, metric: str = QUEUE, **behavior: Any) -> VirtualScaler:
    spec: dict[str, Any] = {
        "minReplicas": 1,
        "maxReplicas": most,
        "metrics": [
            {
                "type": "Pods",
                "pods": {"metric": {"name": metric}, "target": {"type": "AverageValue", "averageValue": str(target)}},
            }
        ],
    }
    if behavior:
        spec["behavior"] = behavior
    return VirtualScaler(spec, {metric: Gauge.QUEUE if metric == QUEUE else Gauge.RUNNING})


def workload(
    replicas: int = 1, *, groups: Sequence[str] = ("gpu",), grace: float = 30.0, **fields: Any
) -> VirtualWorkload:
    own = {key: fields.pop(key) for key in ("scaler",) if key in fields}
    pod = VirtualPod(1, {GPU: 1.0}, tuple(groups), 1)
    return VirtualWorkload(served(**fields), replicas, (pod,), grace, **own)


def group(name: str = "gpu", least: int = 1, most: int = 4, start: int | None = None, **fields: Any) -> VirtualGroup:
    return VirtualGroup(
        name,
        "g5.2xlarge",
        {GPU: 1.0},
        least if start is None else start,
        least,
        most,
        accelerators=1,
        usd_per_hour=2.0,
        **fields,
    )


def fleet(*workloads: VirtualWorkload, groups: Sequence[VirtualGroup] = (), **fields: Any) -> VirtualFleet:
    found = workloads or (workload(),)
    endpoints = tuple(
        ServedEndpoint(w.served.title, w.served.title, "openai", f"http://{w.served.title}", {w.served.key: 1.0})
        for w in found
    )
    return VirtualFleet("small", found, endpoints, tuple(groups) or (group(),), **fields)


def arrivals(*rows: tuple[float, int, int]) -> RequestColumns:
    found = RequestColumns()
    for row in rows:
        found.add(*row)
    return found


def run(small: VirtualFleet, demand: Mapping[str, RequestColumns], **options: Any) -> VirtualRun:
    found = VirtualRun(small, demand, VirtualOptions(**options))
    found.run()
    return found

"""The live fleet under load: 200 simulated pods at 500 requests a second, beside a server that only streams.

``python -m tests.bench.live send URL`` is the client of both, in a process of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livefleet.fleet import LiveFleet, ServedEndpoint, ServedWorkload, Speaks, Startup, TokenPace
from livefleet.folder import LiveFolder
from livefleet.load.arrivals import Arrivals, Lengths, Range, planned
from livefleet.load.client import LoadTarget
from livefleet.load.runner import run
from livefleet.pods.part import PodsPart
from toolkit.kube import Kube
from workbench.cluster.binaries import find
from workbench.cluster.cluster import SimulatedCluster

ROOT = Path(__file__).parents[2]
PODS, RATE, SECONDS, TOKENS = 200, 500, 20, 20
STEP = 0.02
_NAME, _NAMESPACE = "bench", "default"
_TICKS = os.sysconf("SC_CLK_TCK")
_READY_SECONDS = 120.0
_EXPLAINED = f"""\
{PODS} pods in one simulated cluster, {RATE} requests a second at one endpoint for {SECONDS} seconds, each answered
with a stream of {TOKENS} tokens in {TOKENS * STEP:.1f} seconds. **plain** is a server with the same HTTP library
that writes as many events, without a model or a queue. CPU is that of the server alone; the client
beside it needs about as much again. Overshoot is how much later than computed the last token came, for the median
request and for one in a hundred."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a server took, and what its clients saw."""

    cpu: float
    mebibytes: float
    answered: int
    failed: int
    late: tuple[float, float]


def measure() -> dict[str, Figures]:
    """Return the figures of both servers."""
    with _live() as (pid, url):
        ours = _under_load(pid, url)
    with _plain() as (pid, url):
        return {"ours": ours, "plain": _under_load(pid, url)}


def table(taken: dict[str, Figures] | None = None) -> str:
    """Return the table."""
    found = taken or measure()
    ours, plain = found["ours"], found["plain"]
    head = "| | CPU, share of a core | ratio | MiB | answered | failed | overshoot, median and p99 in ms |"
    rows = [
        f"| {name} | {each.cpu / SECONDS:.2f} | {each.cpu / plain.cpu:.2f} | {each.mebibytes:.0f} "
        f"| {each.answered:,} | {each.failed} | {each.late[0] * 1000:.0f}, {each.late[1] * 1000:.0f} |"
        for name, each in (("simulated engines", ours), ("plain", plain))
    ]
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|--:|", *rows, "", _EXPLAINED])


def _under_load(pid: int, url: str) -> Figures:
    before = _cpu(pid)
    command = [sys.executable, "-m", "tests.bench.live", "send", url]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    used, sent = _cpu(pid) - before, json.loads(done.stdout)
    return Figures(used, _mebibytes(pid), sent["answered"], sent["failed"], tuple(sent["late"]))


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _mebibytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))


def _send(url: str) -> dict[str, Any]:
    """Send the load, and return what its clients saw."""
    lengths = Lengths(Range(100, 100), Range(TOKENS, TOKENS))
    load = planned(Range(RATE, RATE), SECONDS, Arrivals.POISSON, 1, lengths, seed=1)
    tally, _ = run(LoadTarget(url, "demo", whole=True), load, "", lambda _seconds, _tally: None)
    late = sorted(each.took - TOKENS * STEP for each in tally.outcomes if not each.error)
    return {
        "answered": len(late),
        "failed": len(tally.outcomes) - len(late),
        "late": [late[len(late) // 2], late[len(late) * 99 // 100]],
    }


@contextmanager
def _plain() -> Iterator[tuple[int, str]]:
    command = [sys.executable, "-m", "tests.bench.plain_stream", str(TOKENS), str(STEP)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            yield child.pid, f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
        finally:
            child.terminate()


@contextmanager
def _live() -> Iterator[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        cluster, folder, part = SimulatedCluster(Path(scratch)), LiveFolder(Path(scratch)), PodsPart()
        try:
            cluster.start(find, live=True)
            folder.make()
            folder.write_fleet(_fleet())
            part.start(folder, _fleet(), lambda _: None)
            with Kube.from_kubeconfig(folder.kubeconfig) as kube:
                for obj in _objects():
                    kube.apply(obj, manager="bench")
                _await_ready(kube)
            pid = json.loads(folder.pid_file(part.name).read_text())["pid"]
            yield pid, folder.addresses().endpoints[_NAME]
        finally:
            part.stop(folder)
            cluster.stop()


def _fleet() -> LiveFleet:
    pace = TokenPace(alpha=STEP, beta=0.0, prefill=0.0, batch=64)
    workload = ServedWorkload(
        namespace=_NAMESPACE,
        kind="Deployment",
        name=_NAME,
        title=_NAME,
        selector={"app": _NAME},
        container="server",
        engine="vllm",
        version="0.20.0",
        speaks=Speaks.OPENAI,
        port=8000,
        models=("demo",),
        loaded="example/demo",
        paces={"": pace},
        startup=Startup(pod=0.0, node=0.0),
    )
    url = f"http://{_NAME}.{_NAMESPACE}.svc.cluster.local:8000/v1"
    endpoint = ServedEndpoint(_NAME, "demo", "openai", url, {f"{_NAMESPACE}/{_NAME}": 1.0})
    return LiveFleet("bench", (workload,), (endpoint,))


def _objects() -> Iterator[dict[str, Any]]:
    offered = {"cpu": "1k", "memory": "16Ti", "pods": str(2 * PODS)}
    yield {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": _NAME, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": offered, "allocatable": offered},
    }
    probe = {"httpGet": {"path": "/health", "port": 8000}}
    server = {"name": "server", "image": "vllm/vllm-openai:v0.20.0", "readinessProbe": probe}
    yield {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": _NAME, "namespace": _NAMESPACE},
        "spec": {
            "replicas": PODS,
            "selector": {"matchLabels": {"app": _NAME}},
            "template": {"metadata": {"labels": {"app": _NAME}}, "spec": {"containers": [server]}},
        },
    }


def _await_ready(kube: Kube) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        status = kube.get("apps/v1", "Deployment", _NAME, _NAMESPACE).get("status", {})
        if status.get("readyReplicas") == PODS:
            return
        time.sleep(0.5)
    raise RuntimeError(f"{status.get('readyReplicas', 0)} of {PODS} pods are ready after {_READY_SECONDS:.0f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["send"]:
        print(json.dumps(_send(sys.argv[2])))  # noqa: T201
    else:
        print(table())  # noqa: T201

"""Pods of the live fleet without a cluster: made by hand, and served on loopback.

>>> pod = pod_by_hand("vllm", models=("mistral",), speed=60.0)
>>> with serving(pod) as (url,):
...     requests.post(f"{url}/v1/chat/completions", ...)
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiohttp import web

from workbench.live.apis.answering import answer
from workbench.live.pace.replica import EngineReplica
from workbench.live.pods.clock import SimulatedClock
from workbench.live.pods.pod import LivePod
from workbench.live.served import ServedWorkload, Speaks, Startup, TokenPace

LOOPBACK = "127.0.0.1"
PACE = TokenPace(alpha=0.010, beta=0.0001, prefill=0.00005, batch=64, cache_tokens=100_000)
"""A step of ten milliseconds and a bit: a model of a few billion parameters."""
SPEAKS = {"ollama": Speaks.OLLAMA, "tgi": Speaks.TGI, "llamacpp": Speaks.LLAMACPP}


def workload_by_hand(engine: str = "vllm", *, pace: TokenPace = PACE, **rest: Any) -> ServedWorkload:
    """Return a workload of an engine, the newest version; any field may be said."""
    fields: dict[str, Any] = {
        "namespace": "default",
        "kind": "Deployment",
        "name": f"{engine or 'unknown'}-by-hand",
        "title": "by-hand",
        "selector": {"app": "by-hand"},
        "container": "server",
        "engine": engine,
        "version": "",
        "speaks": SPEAKS.get(engine, Speaks.OPENAI),
        "port": 8000,
        "models": ("demo",),
        "loaded": "example/demo-7b",
        "paces": {"": pace},
        "startup": Startup(pod=60.0, node=60.0),
        "context": 4096,
    }
    return ServedWorkload(**(fields | rest))


def pod_by_hand(
    engine: str = "vllm",
    *,
    speed: float = 1.0,
    clock: SimulatedClock | None = None,
    name: str = "pod-0",
    pace: TokenPace = PACE,
    **rest: Any,
) -> LivePod:
    """Return a pod that has just started.

    Args:
        engine: Whose API it speaks, as in ``components/engines``; empty for one that is not known.
        speed: How much faster than life it is, without a clock.
        clock: Its time.
        name: Its name.
        pace: How fast it is.
        rest: Fields of its workload.
    """
    return pod_of(workload_by_hand(engine, pace=pace, **rest), clock or SimulatedClock(speed), name)


def pod_of(workload: ServedWorkload, clock: SimulatedClock, name: str = "pod-0", instance_type: str = "") -> LivePod:
    """Return a pod of a workload that has just started."""
    pace = workload.pace_on(instance_type)
    return LivePod(
        workload=workload,
        name=name,
        uid=f"uid-of-{name}",
        ip="10.0.0.1",
        node="node-0",
        instance_type=instance_type,
        pace=pace,
        replica=EngineReplica(pace, workload.queue, clock()),
        clock=clock,
    )


@asynccontextmanager
async def served(pod: LivePod) -> AsyncIterator[str]:
    """Serve a pod in the loop that runs, and yield its address."""
    runner = web.ServerRunner(web.Server(lambda request: answer(pod, request), access_log=None), shutdown_timeout=1.0)  # type: ignore[arg-type]
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        yield f"http://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def serving(*pods: LivePod) -> Iterator[list[str]]:
    """Serve pods from a thread of their own, and yield their addresses."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    urls, ends = [], []

    def run(awaitable: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(awaitable, loop).result(30)

    try:
        for pod in pods:
            place = served(pod)
            urls.append(run(place.__aenter__()))
            ends.append(place)
        yield urls
    finally:
        for place in ends:
            run(place.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()

"""Pods of the live fleet without a cluster: made by hand, and served on loopback.

>>> pod = pod_by_hand("vllm", models=("mistral",), speed=60.0)
>>> with serving(pod) as (url,):
...     requests.post(f"{url}/v1/chat/completions", ...)
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from livefleet.fleet import ServedWorkload, Speaks, Startup, TokenPace
from livefleet.pods.pod import LivePod, SimulatedClock
from livefleet.standalone import replica_of, serve_pod

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
    return replica_of(workload_by_hand(engine, pace=pace, **rest), clock or SimulatedClock(speed), name)


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
            place = serve_pod(pod)
            urls.append(run(place.__aenter__()))
            ends.append(place)
        yield urls
    finally:
        for place in ends:
            run(place.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()

"""One simulated engine on loopback, without a cluster."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from aiohttp import web

from toolkit.errors import UserError
from toolkit.ports import LOOPBACK

from .apis.answering import answer
from .pace.replica import EngineReplica
from .pods.clock import SimulatedClock
from .pods.pod import LivePod
from .reach import listed_names
from .served import LiveFleet, ServedWorkload

Result = TypeVar("Result")
_SECONDS = 30.0
_SHUTDOWN_SECONDS = 1.0


@contextmanager
def simulated_engine(
    fleet: LiveFleet, title: str, *, speed: float = 1.0, instance_type: str = ""
) -> Iterator[tuple[str, str]]:
    """Serve one replica of a model on loopback, as its engine would answer; yield its address and what to ask it for.

    It is ready at once. Texts are made up; times are those of one replica with its queue and its cache. It runs in a
    thread of its own, and ends with the context.

    Args:
        fleet: What is played of a plan.
        title: The model, as the outputs name its endpoint.
        speed: How much faster than life it answers.
        instance_type: Of the node that it is on; any other name means the first that its pods may run on.

    Raises:
        UserError: nothing of the fleet answers for that name; the message lists what there is.
    """
    endpoint = next((each for each in fleet.endpoints if each.title == title), None)
    if endpoint is None:
        there = listed_names([each.title for each in fleet.endpoints])
        raise UserError(f"stack {fleet.stack!r} has no endpoint {title!r}{there}")
    if not endpoint.workloads:
        raise UserError(f"nothing answers for {title!r}: {endpoint.why}")
    workload = next(each for each in fleet.workloads if each.key == next(iter(endpoint.workloads)))
    with _thread() as loop:
        place = served(replica_of(workload, SimulatedClock(speed), instance_type=instance_type))
        address = _awaited(loop, place.__aenter__())
        try:
            yield address, endpoint.model
        finally:
            _awaited(loop, place.__aexit__(None, None, None))


def replica_of(
    workload: ServedWorkload, clock: SimulatedClock, name: str = "pod-0", instance_type: str = ""
) -> LivePod:
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
    server = web.Server(lambda request: answer(pod, request), access_log=None)  # type: ignore[arg-type]
    runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        yield f"http://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def _thread() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a thread: the caller may have one of its own, or none."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="simulated-engine")
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SECONDS)
        loop.close()


def _awaited(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result(_SECONDS)

"""One simulated engine on loopback, without a cluster."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from aiohttp import web

from toolkit.errors import UserError
from toolkit.ports import LOOPBACK

from .apis.dispatch import answer
from .control_client import available
from .fleet import LiveFleet, ServedWorkload
from .pace.replica import EngineReplica
from .pods.pod import LivePod, SimulatedClock

Result = TypeVar("Result")
_SECONDS = 30.0
_SHUTDOWN_SECONDS = 1.0


@contextmanager
def simulated_engine(
    fleet: LiveFleet, title: str, *, speed: float = 1.0, instance_type: str = ""
) -> Iterator[tuple[str, str]]:
    """Serve one replica of a model on loopback as its engine would; yield its address and the name of the model.

    The replica is ready at once. Its answers are generated text; its times are those of one replica with its queue
    and its KV cache. It runs in a thread of its own until the context ends.

    Args:
        fleet: The simulated fleet of a plan.
        title: Name of the endpoint in the outputs.
        speed: How much faster than real time it answers.
        instance_type: Type of its node. For an unknown type, the pace is that of an unknown node.

    Raises:
        UserError: the fleet has no such endpoint (the message lists the names), or no workload behind it.
    """
    endpoint = next((endpoint for endpoint in fleet.endpoints if endpoint.title == title), None)
    if endpoint is None:
        names = available([endpoint.title for endpoint in fleet.endpoints])
        raise UserError(f"stack {fleet.stack!r} has no endpoint {title!r}{names}")
    if not endpoint.workloads:
        raise UserError(f"no workload answers at endpoint {title!r}: {endpoint.why}")
    workload = next(workload for workload in fleet.workloads if workload.key == next(iter(endpoint.workloads)))
    with _event_loop() as loop:

        def run(work: Coroutine[Any, Any, Result]) -> Result:
            return asyncio.run_coroutine_threadsafe(work, loop).result(_SECONDS)

        server = serve_pod(replica_of(workload, SimulatedClock(speed), instance_type=instance_type))
        address = run(server.__aenter__())
        try:
            yield address, endpoint.model
        finally:
            run(server.__aexit__(None, None, None))


def replica_of(
    workload: ServedWorkload, clock: SimulatedClock, name: str = "pod-0", instance_type: str = ""
) -> LivePod:
    """Return a new pod of a workload."""
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
async def serve_pod(pod: LivePod) -> AsyncIterator[str]:
    """Serve a pod in the running event loop, and yield its address."""
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
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    # In a thread, because the caller may run an event loop of its own.
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="simulated-engine")
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SECONDS)
        loop.close()

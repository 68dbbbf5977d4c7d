"""The gateway process: configures Envoy from the cluster, and runs the AI gateway's external processor."""

import asyncio
import logging
import os
from collections import defaultdict
from pathlib import Path

from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.ports import LOOPBACK
from toolkit.private import write_private

from ..control_client import ControlClient, UnreachableError
from ..fleet import LiveFleet, Object
from ..folder import LiveFolder
from ..informer import Informer
from .ai.translation import ai_routes
from .envoy import RequestLog
from .keys import secret_object, secret_places
from .references import door_objects, service_places, stand_ins
from .status import STATUS, DoorStatus, digest_of
from .xds.configurator import DoorBackends, EnvoyConfigurator, plain_secret
from .xds.services import SERVICE_NAME, PodPort

_PAUSE = 0.05
"""Pause that merges a burst of changes."""
_LOOK_EVERY = 1.0
"""Interval of polling what has no watch: the fleet, Secrets, and the ports of pods."""
_LOOK_AGAIN = 0.1
"""Interval while a Ready pod does not listen yet."""
_LOG = logging.getLogger(__name__)
_Place = tuple[str, str]


class DoorProcess:
    """Reconciles Envoy's configuration with the cluster.

    Args:
        folder: Folder of the live fleet; the process writes to ``door``, Envoy to ``envoy``.
        kube: A client with the rights of the identity ``door``.
        egctl: Envoy Gateway's program.
        ports: Ports of the gateway and of the external processor.
        version: Version of the process, for its status.
    """

    def __init__(
        self, folder: LiveFolder, kube: Kube, egctl: Path, ports: tuple[int, int], version: str = ""
    ) -> None:
        self._folder, self._kube, self._version = folder, kube, version
        self._first, self._processor = ports
        self._own = folder.path / "door"
        self._ports: dict[str, int] = {}
        logs = folder.path / "logs"
        self._files = EnvoyConfigurator(folder.path / "envoy", logs, egctl, self._port, (LOOPBACK, self._processor))
        self._requests = RequestLog(logs)
        self._changed = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._seen: Object = {}
        self._backends: dict[str, str] = {}

    async def run(self) -> None:
        """Run until the task is cancelled."""
        slices = Informer(self._kube, "discovery.k8s.io/v1", "EndpointSlice")
        services = Informer(self._kube, "v1", "Service")
        for each in (slices, services):
            each.handlers.append(self._note)
            each.start()
            await each.synced.wait()
        self._files.server.start()
        try:
            await self._follow(services, slices)
        finally:
            self._files.server.stop()

    async def _follow(self, services: Informer, slices: Informer) -> None:
        waiting: list[PodPort] = []
        while True:
            self._changed.clear()
            try:
                waiting = await self._step(services, slices)
            except (KubeError, UserError) as error:
                _LOG.warning("%s", error)
            try:
                # Not asyncio.wait_for, which may swallow a cancellation before Python 3.12 (python/cpython#86296).
                async with asyncio.timeout(_LOOK_AGAIN if waiting else _LOOK_EVERY):
                    await self._changed.wait()
                await asyncio.sleep(_PAUSE)
            except TimeoutError:
                self._requests.shorten()

    def _note(self, _was: Object | None, _is: Object | None) -> None:
        self._changed.set()

    def _port(self, listener: str) -> int:
        """Return the port of a listener: the given one for the first, and the next ones for others."""
        return self._ports.setdefault(listener, self._first + len(self._ports))

    async def _step(self, services: Informer, slices: Informer) -> list[PodPort]:
        """Update the configuration once; return the pods that do not listen yet."""
        fleet = await asyncio.to_thread(self._folder.read_fleet)
        if fleet is None:
            return []
        behind = await asyncio.to_thread(self._behind, fleet, dict(slices.objects))
        await self._configure(door_objects(fleet), dict(services.objects), behind)
        return await asyncio.to_thread(self._files.follow, behind)

    async def _configure(
        self, objects: tuple[Object, ...], services: dict[str, Object], behind: DoorBackends
    ) -> None:
        """Translate changed objects. A failed translation is not retried before the next change."""
        names = {"/".join(place) for place in service_places(objects)}
        wanted = [body for key, body in sorted(services.items()) if key in names]
        secrets = await asyncio.to_thread(self._secrets, objects)
        seen = {
            "objects": objects,
            "services": [(each["metadata"]["uid"], each["spec"]) for each in wanted],
            "secrets": secrets,
        }
        if seen == self._seen:
            return
        self._seen = seen
        status = DoorStatus(digest_of(objects, self._version), self._ports)
        try:
            if ai_routes(objects):
                self._process_ai(objects)
            await asyncio.to_thread(self._files.configure, objects, wanted, secrets, behind)
            status = DoorStatus(status.of, self._ports, self._files.problems)
        except UserError as error:
            status = DoorStatus(status.of, self._ports, error=str(error))
            _LOG.warning("%s", error)
        status.write(self._own / STATUS)

    def _process_ai(self, objects: tuple[Object, ...]) -> None:
        """Write the configuration of the external processor, and start it."""
        from .ai.config import processor_config, written
        from .ai.server import serve

        file = self._own / "processor.json"
        write_private(file, written(processor_config(objects)))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.ensure_future(serve(file, LOOPBACK, self._processor))
            self._serving.add_done_callback(_ended)

    def _secrets(self, objects: tuple[Object, ...]) -> list[Object]:
        found = (secret_object(self._kube, place) for place in secret_places(objects))
        return [plain_secret(each) for each in found if each is not None]

    def _behind(self, fleet: LiveFleet, slices: dict[str, Object]) -> DoorBackends:
        by_service: dict[_Place, list[Object]] = defaultdict(list)
        for _, each in sorted(slices.items()):
            name = (each["metadata"].get("labels") or {}).get(SERVICE_NAME)
            if name:
                by_service[each["metadata"]["namespace"], name].append(each)
        found = {place: tuple(parts) for place, parts in by_service.items()}
        addresses = self._folder.addresses()
        try:
            if addresses.control:
                self._backends = ControlClient(addresses.control, addresses.token).backends()
        except UnreachableError as error:  # the last known ports are the best guess
            _LOG.warning("%s", error)
        return DoorBackends(found, self._backends, stand_ins(fleet, addresses))


def _ended(task: "asyncio.Task[None]") -> None:
    """Exit with the external processor, without which the gateway fails; the next ``up`` restarts both."""
    if not task.cancelled() and task.exception():
        _LOG.error("the external processor ended", exc_info=task.exception())
        os._exit(1)

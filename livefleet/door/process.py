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

_BURST_PAUSE = 0.05
"""Seconds after a change, so that a burst of changes is handled once."""
_POLL_INTERVAL = 1.0
"""Seconds between polls of what has no watch: the fleet, Secrets, and the ports of pods."""
_SHORT_POLL_INTERVAL = 0.1
"""The same while a Ready pod does not listen yet."""
_LOG = logging.getLogger(__name__)
_Place = tuple[str, str]


class DoorProcess:
    """Reconciles Envoy's configuration with the cluster.

    Args:
        folder: Folder of the live fleet; the process writes to ``door``, Envoy to ``envoy``.
        kube: A client with the rights of the identity ``door``.
        translator: Envoy Gateway's program.
        ports: Ports of the gateway and of the external processor.
        version: Version of the process, for its status.
    """

    def __init__(
        self, folder: LiveFolder, kube: Kube, translator: Path, ports: tuple[int, int], version: str = ""
    ) -> None:
        self._folder, self._kube, self._version = folder, kube, version
        self._first_port, self._processor_port = ports
        self._own_folder = folder.path / "door"
        self._ports: dict[str, int] = {}
        logs = folder.path / "logs"
        self._configurator = EnvoyConfigurator(
            folder.path / "envoy", logs, translator, self._port, (LOOPBACK, self._processor_port)
        )
        self._request_log = RequestLog(logs)
        self._changed = asyncio.Event()
        self._processor_task: asyncio.Task[None] | None = None
        self._translated: Object = {}
        self._pod_addresses: dict[str, str] = {}

    async def run(self) -> None:
        """Run until the task is cancelled."""
        slices = Informer(self._kube, "discovery.k8s.io/v1", "EndpointSlice")
        services = Informer(self._kube, "v1", "Service")
        for informer in (slices, services):
            informer.handlers.append(lambda _old, _new: self._changed.set())
            informer.start()
            await informer.synced.wait()
        self._configurator.server.start()
        try:
            missing: list[PodPort] = []
            while True:
                self._changed.clear()
                try:
                    missing = await self._reconcile(services, slices)
                except (KubeError, UserError) as error:
                    _LOG.warning("%s", error)
                try:
                    # Not asyncio.wait_for: before Python 3.12, it may swallow a cancellation (python/cpython#86296).
                    async with asyncio.timeout(_SHORT_POLL_INTERVAL if missing else _POLL_INTERVAL):
                        await self._changed.wait()
                    await asyncio.sleep(_BURST_PAUSE)
                except TimeoutError:
                    self._request_log.rotate()
        finally:
            self._configurator.server.stop()

    def _port(self, listener: str) -> int:
        """Return the port of a listener: the given one for the first, and the next ones for others."""
        return self._ports.setdefault(listener, self._first_port + len(self._ports))

    async def _reconcile(self, services: Informer, slices: Informer) -> list[PodPort]:
        """Update Envoy's configuration; return the Ready pods that do not listen yet."""
        fleet = await asyncio.to_thread(self._folder.read_fleet)
        if fleet is None:
            return []
        backends = await asyncio.to_thread(self._read_backends, fleet, dict(slices.objects))
        await self._configure(door_objects(fleet), dict(services.objects), backends)
        return await asyncio.to_thread(self._configurator.follow, backends)

    async def _configure(
        self, objects: tuple[Object, ...], services: dict[str, Object], backends: DoorBackends
    ) -> None:
        """Translate changed objects. A failed translation is not retried before the next change."""
        names = {"/".join(place) for place in service_places(objects)}
        referenced = [body for key, body in sorted(services.items()) if key in names]
        secrets = await asyncio.to_thread(self._read_secrets, objects)
        inputs = {
            "objects": objects,
            "services": [(body["metadata"]["uid"], body["spec"]) for body in referenced],
            "secrets": secrets,
        }
        if inputs == self._translated:
            return
        self._translated = inputs
        status = DoorStatus(digest_of(objects, self._version), self._ports)
        try:
            if ai_routes(objects):
                self._start_processor(objects)
            await asyncio.to_thread(self._configurator.configure, objects, referenced, secrets, backends)
            status = DoorStatus(status.of, self._ports, self._configurator.problems)
        except UserError as error:
            status = DoorStatus(status.of, self._ports, error=str(error))
            _LOG.warning("%s", error)
        status.write(self._own_folder / STATUS)

    def _start_processor(self, objects: tuple[Object, ...]) -> None:
        """Write the configuration of the external processor, and start it if it does not run."""
        from .ai.config import processor_config, written
        from .ai.server import serve

        file = self._own_folder / "processor.json"
        write_private(file, written(processor_config(objects)))
        if self._processor_task is None or self._processor_task.done():
            self._processor_task = asyncio.ensure_future(serve(file, LOOPBACK, self._processor_port))
            self._processor_task.add_done_callback(_exit_on_error)

    def _read_secrets(self, objects: tuple[Object, ...]) -> list[Object]:
        bodies = (secret_object(self._kube, place) for place in secret_places(objects))
        return [plain_secret(body) for body in bodies if body is not None]

    def _read_backends(self, fleet: LiveFleet, slices: dict[str, Object]) -> DoorBackends:
        by_service: dict[_Place, list[Object]] = defaultdict(list)
        for _, endpoint_slice in sorted(slices.items()):
            metadata = endpoint_slice["metadata"]
            name = (metadata.get("labels") or {}).get(SERVICE_NAME)
            if name:
                by_service[metadata["namespace"], name].append(endpoint_slice)
        addresses = self._folder.addresses()
        try:
            if addresses.control:
                self._pod_addresses = ControlClient(addresses.control, addresses.token).backends()
        except UnreachableError as error:  # the last known addresses are the best guess
            _LOG.warning("%s", error)
        slices_by_service = {place: tuple(parts) for place, parts in by_service.items()}
        return DoorBackends(slices_by_service, self._pod_addresses, stand_ins(fleet, addresses))


def _exit_on_error(task: "asyncio.Task[None]") -> None:
    """Exit with the external processor, without which the gateway fails; the next ``up`` restarts both."""
    if not task.cancelled() and task.exception():
        _LOG.error("the external processor ended", exc_info=task.exception())
        os._exit(1)

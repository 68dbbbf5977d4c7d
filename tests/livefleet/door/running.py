"""A real Envoy on loopback that runs what Envoy Gateway's own code makes of objects, for the length of a test."""

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from livefleet.door.envoy import envoy_command
from livefleet.door.programs import DoorPrograms
from livefleet.door.xds.configurator import DoorBackends, EnvoyConfigurator
from livefleet.door.xds.services import SERVICE_NAME, Address
from tests.monitoring.programs.daemon import running
from toolkit.ports import free_ports

Object = dict[str, Any]
HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that no connection is given before a program listens there, seconds later."""
    (port,) = free_ports(1)
    return port


class DoorInTest:
    """The files of a door in a test's folder, and its address once Envoy runs."""

    def __init__(self, folder: Path, programs: DoorPrograms, processor: Address = (HOST, 1)) -> None:
        self.folder, self._programs = folder, programs
        self.ports: dict[str, int] = {}
        self.files = EnvoyConfigurator(folder, folder / "logs", programs.translator, self._port, processor)
        (folder / "logs").mkdir(parents=True, exist_ok=True)

    def _port(self, listener: str) -> int:
        return self.ports.setdefault(listener, free_port())

    def configure(
        self,
        objects: Iterable[Object],
        services: Iterable[Object] = (),
        secrets: Iterable[Object] = (),
        behind: DoorBackends | None = None,
    ) -> None:
        self.files.configure(objects, services, secrets, behind or DoorBackends())

    @property
    def address(self) -> Address:
        """Of the gateway's only listener."""
        (port,) = self.ports.values()
        return HOST, port

    @contextmanager
    def running(self) -> Iterator[str]:
        """Run Envoy with what is configured; yields the gateway's URL."""
        host, port = self.address
        command = envoy_command(self._programs.envoy, self.folder)
        self.files.server.start()
        try:
            with running(command, self.folder / "logs" / "envoy.log", lambda: listens(port)):
                yield f"http://{host}:{port}"
        finally:
            self.files.server.stop()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def service(name: str, port: int = 80, namespace: str = "models", **spec: Any) -> Object:
    """A Service as the API server shows it; a headless one with ``clusterIP="None"``."""
    address = spec.pop("clusterIP", f"10.96.1.{sum(name.encode()) % 250 + 1}")
    addresses = [] if address == "None" else [address]
    ports = [{"name": "http", "port": port, "protocol": "TCP", "targetPort": 8080}]
    full = {"clusterIP": address, "clusterIPs": addresses, "ports": ports, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": full}


def endpoint_slice(name: str, *pods: str, namespace: str = "models", port: int = 8080, **conditions: bool) -> Object:
    """An EndpointSlice with pods by their addresses, Ready unless the conditions say otherwise."""
    found = {"ready": True, "serving": True, "terminating": False, **conditions}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{name}-1", "namespace": namespace, "labels": {SERVICE_NAME: name}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [pod], "conditions": dict(found)} for pod in pods],
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
    }


def behind(slices: Iterable[Object] = (), backends: dict[str, str] | None = None) -> DoorBackends:
    """What is behind a door, by the Services that the slices name."""
    found: dict[tuple[str, str], tuple[Object, ...]] = {}
    for each in slices:
        key = (each["metadata"]["namespace"], each["metadata"]["labels"][SERVICE_NAME])
        found[key] = (*found.get(key, ()), each)
    return DoorBackends(found, backends or {})

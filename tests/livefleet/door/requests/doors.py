"""A front door of a fleet, stood up on loopback.

The rendered objects, the real translator, the real Envoy, the stand-in for the AI gateway, and engines that remember
what reached them.
"""

import base64
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from livefleet.door.ai.alteration import Xds, altered
from livefleet.door.ai.config import processor_config, written
from livefleet.door.envoy import ACCESS, SOCKET, EnvoyAdmin
from livefleet.door.programs import DoorPrograms
from livefleet.door.xds.configurator import DoorBackends
from livefleet.door.xds.services import Address, ServicePort, service_at
from tests.livefleet.door.requests.engines import Engines, engines_of
from tests.livefleet.door.running import HOST, DoorInTest, free_port, listens
from tests.monitoring.programs.daemon import eventually, running

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoodDoor:
    """A front door that takes requests.

    Attributes:
        url: Of the gateway's listener.
        admin: Envoy's own pages.
        log: File that the access log goes to.
    """

    url: str
    admin: EnvoyAdmin
    engines: Engines
    log: Path

    def client(self, key: str = "", **more: Any) -> httpx.Client:
        """Return a client, with a key where one is given."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, **{"timeout": 60, **more})

    @contextmanager
    def logging(self) -> Iterator[list[Object]]:
        """Collect the lines of the access log about the requests of the block; they are there after it."""
        before, lines = len(self.logged()), list[Object]()
        yield lines
        lines += self.logged()[before:]

    def logged(self) -> list[Object]:
        """Return the access log once it has a line for every request; none is under way then.

        Envoy logs a request when it has ended, which may be after its client has the answer. It writes buffered lines
        to the file every ten seconds, and not at once when told to reopen it.
        """

        def complete() -> tuple[list[Object]] | None:
            # A line may be about a request that comes now, so that requests are counted before lines.
            requests = self.admin.stats(r"^http\.https?-.*\.downstream_rq_(active|total)$") or {}
            active, total = (
                sum(int(value) for name, value in requests.items() if name.endswith(end))
                for end in ("active", "total")
            )
            self.admin.request("POST", "/reopen_logs")
            lines = self._whole_lines()
            return (lines,) if requests and active == 0 and len(lines) == total else None

        (lines,) = eventually(complete, "a line in the log for each request")
        return list(lines)

    def _whole_lines(self) -> list[Object]:
        """Return the lines of the access log up to the last line feed: Envoy may be in the middle of a line."""
        text = self.log.read_text() if self.log.exists() else ""
        whole, _, _ = text.rpartition("\n")
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]


def secret(
    name: str, entries: Mapping[str, str], namespace: str = "envoy-gateway-system", kind: str = "Opaque"
) -> Object:
    """A Secret."""
    data = {key: base64.b64encode(value.encode()).decode() for key, value in entries.items()}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "data": data}


def chat(model: str | None, **more: Any) -> Object:
    """The body of a chat with a model."""
    named = {} if model is None else {"model": model}
    return {**named, "messages": [{"role": "user", "content": "Hello"}], **more}


def services_of(objects: Sequence[Object]) -> list[ServicePort]:
    """The Services that the Backends among objects lead to."""
    addresses = [each["fqdn"] for body in objects if body["kind"] == "Backend" for each in body["spec"]["endpoints"]]
    found = {service_at(each["hostname"], each["port"]) for each in addresses}
    assert None not in found, "a Backend that is no Service"
    return sorted(each for each in found if each)


@dataclass(frozen=True, slots=True)
class DoorFactory:
    """Stands doors up.

    Attributes:
        programs: Envoy and the translator.
        folder: Makes a folder by a name.
    """

    programs: DoorPrograms
    folder: Any

    @contextmanager
    def __call__(
        self,
        objects: Sequence[Object],
        secrets: Sequence[Object] = (),
        authority: Path | None = None,
        instead: Mapping[str, Address] | None = None,
    ) -> Iterator[StoodDoor]:
        """Stand a door up on loopback, with an engine behind each Service.

        Args:
            objects: What is rendered for it.
            secrets: What its namespace has.
            authority: Whom the proxy trusts for addresses outside the cluster.
            instead: What is behind Services, by their name, in place of engines that remember.
        """
        folder, processor, services = self.folder("door"), (HOST, free_port()), services_of(objects)
        names = [each.host for each in services if each.name not in (instead or {})]
        door = DoorInTest(folder, self.programs, processor)
        (folder / "config.json").write_bytes(written(processor_config(objects)))
        command = [sys.executable, "-m", "livefleet.door.ai", str(folder / "config.json"), str(processor[1])]
        with engines_of(names) as engines:
            places = {**{name: (HOST, port) for name, port in engines.ports.items()}}
            behind = {each: (instead or {}).get(each.name) or places[each.host] for each in services}
            with patch("livefleet.door.xds.configurator.altered", _trusting(authority)):
                door.configure(objects, [], secrets, DoorBackends(stand_ins=behind))
            assert not door.files.problems, door.files.problems
            with (
                running(command, folder / "logs" / "processor.log", lambda: listens(processor[1])),
                door.running() as url,
            ):
                yield StoodDoor(
                    url if not _has_tls(objects) else url.replace("http", "https", 1),
                    EnvoyAdmin(folder / "logs" / SOCKET),
                    engines,
                    folder / "logs" / ACCESS,
                )


def _has_tls(objects: Sequence[Object]) -> bool:
    (gateway,) = [body for body in objects if body["kind"] == "Gateway"]
    return any("tls" in listener for listener in gateway["spec"]["listeners"])


def _trusting(authority: Path | None) -> Any:
    """Return ``altered``, with another authority in place of the machine's."""

    def changed(xds: Xds, objects: Sequence[Object], processor: Address) -> Xds:
        text = json.dumps(altered(xds, objects, processor))
        if authority:
            text = text.replace("/etc/ssl/certs/ca-certificates.crt", str(authority))
        found: Xds = json.loads(text)
        return found

    return changed

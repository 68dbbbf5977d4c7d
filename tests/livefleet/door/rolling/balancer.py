"""A stand-in for a Network Load Balancer, on loopback: it passes bytes on, and is as slow as the real one.

What it does, by whom it is reported:

- A target that is registered gets connections minutes later, once a health check by TCP succeeds (AWS Load Balancer
  Controller, issue 1834: 90 to 180 s for the registration alone, up to 5 minutes in all; issue 1786: 4 to 5 minutes).
- A target that is deregistered still gets new connections for about two minutes (its issue 2366,
  aws/containers-roadmap issue 470), and keeps those that it has (Elastic Load Balancing, "Deregistration delay").
- A connection stays with its target. What a target refuses is refused to the client.
- A connection without data for the idle timeout of its listener is reset (``tcp.idle_timeout.seconds``, 350 s unless
  it is set); TCP keepalives of either side are not looked at, which makes this stand-in stricter.
- It sends the client's address ahead where ``proxy_protocol_v2.enabled`` says so.

Times are divided by :data:`FASTER`.
"""

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from livefleet.door.xds.services import Address

FASTER = 30
"""How many times as fast as in reality everything is that takes time."""
REGISTRATION = 240 / FASTER
NEW_CONNECTIONS = 120 / FASTER
IDLE = 350
NLB = "service.beta.kubernetes.io/aws-load-balancer"
_HOST = "127.0.0.1"
_PAUSE = 0.02


@dataclass(slots=True)
class Target:
    """One address behind the load balancer.

    Attributes:
        healthy: Since when it gets new connections.
        deregistered: Since when it is to get none.
    """

    address: Address
    registered: float
    healthy: float | None = None
    deregistered: float | None = None

    def gets_connections(self, now: float) -> bool:
        """Tell whether new connections go there."""
        return self.healthy is not None and (self.deregistered is None or now < self.deregistered + NEW_CONNECTIONS)


@dataclass(slots=True)
class Balancer:
    """A load balancer with one listener.

    Attributes:
        idle: Seconds, as they pass here, after which a silent connection is reset.
        tells_clients: Whether it sends the client's address ahead.
        refused: Times at which a connection found no target, or one that refused it.
        silent: Connections that were reset after the idle timeout.
        without: Seconds, as they pass here, without a target that is healthy and not deregistered, since there was
            one.
    """

    idle: float
    tells_clients: bool
    port: int = 0
    targets: list[Target] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    silent: int = 0
    without: float = 0.0
    _turn: int = 0

    def register(self, address: Address, *, at_once: bool = False) -> Target:
        """Register a target; ``at_once`` for those that were there before."""
        now = time.monotonic()
        target = Target(address, now, now if at_once else None)
        self.targets.append(target)
        return target

    def deregister(self, target: Target) -> None:
        """Have a target get no more connections, some time later."""
        target.deregistered = time.monotonic()

    async def check_health(self) -> None:
        """Find targets healthy in due time, and count the time without any."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(_PAUSE)
            now = time.monotonic()
            served = any(each.healthy is not None for each in self.targets)
            if served and not any(each.healthy is not None and each.deregistered is None for each in self.targets):
                self.without += now - last
            last = now
            for each in self.targets:
                if each.healthy is None and now >= each.registered + REGISTRATION and await _accepts(each.address):
                    each.healthy = time.monotonic()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to a target, to the end."""
        now = time.monotonic()
        open_to = [each for each in self.targets if each.gets_connections(now)]
        if not open_to:
            self.refused.append(now)
            return _reset(writer)
        self._turn += 1
        target = open_to[self._turn % len(open_to)]
        try:
            onward, back = await asyncio.open_connection(*target.address)
        except OSError:
            self.refused.append(now)
            return _reset(writer)
        if self.tells_clients:
            back.write(_proxy_header(writer))
        quiet = asyncio.get_running_loop().time
        last = [quiet()]

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                last[0] = quiet()
                sink.write(data)
                await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()

        both = asyncio.gather(pump(reader, back), pump(onward, writer))
        try:
            while not both.done():
                await asyncio.wait([both], timeout=max(0.01, last[0] + self.idle - quiet()))
                if not both.done() and quiet() >= last[0] + self.idle:
                    self.silent += 1
                    both.cancel()
                    break
            await both
        except (OSError, asyncio.CancelledError):
            _reset(writer)
            _reset(back)
        else:
            writer.close()
            back.close()
        return None


def _reset(writer: asyncio.StreamWriter) -> None:
    found: socket.socket | None = writer.get_extra_info("socket")
    if found is not None and found.fileno() >= 0:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _proxy_header(writer: asyncio.StreamWriter) -> bytes:
    """Return the header of version 2 for TCP over IPv4 (haproxy, proxy-protocol.txt, 2.2)."""
    (client, client_port), (own, own_port) = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
    addresses = socket.inet_aton(client) + socket.inet_aton(own) + struct.pack("!HH", client_port, own_port)
    return b"\r\n\r\n\x00\r\nQUIT\n" + b"\x21\x11" + struct.pack("!H", len(addresses)) + addresses


async def _accepts(address: Address) -> bool:
    try:
        _, writer = await asyncio.open_connection(*address)
    except OSError:
        return False
    writer.close()
    return True


@contextmanager
def balancer_of(annotations: Mapping[str, str], listener: int) -> Iterator[Balancer]:
    """Run the load balancer that the controller would make of a Service's annotations, in a thread of its own."""
    attributes = _pairs(annotations.get(f"{NLB}-target-group-attributes", ""))
    listening = _pairs(annotations.get(f"{NLB}-listener-attributes.TCP-{listener}", ""))
    balancer = Balancer(
        idle=int(listening.get("tcp.idle_timeout.seconds", IDLE)) / FASTER,
        tells_clients=attributes.get("proxy_protocol_v2.enabled") == "true",
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncio.Server:
        checking.append(asyncio.create_task(balancer.check_health()))
        return await asyncio.start_server(balancer.carry, _HOST, 0, backlog=512)

    async def stop() -> None:
        server.close()
        for each in asyncio.all_tasks():
            if each is not asyncio.current_task():
                each.cancel()
        await asyncio.sleep(0)

    checking: list[asyncio.Task[None]] = []
    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        yield balancer
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)

"""Proxies of a gateway as pods, and who replaces them: real Envoys, and stand-ins for what Kubernetes does.

Stand-ins are the Deployment controller (``roll``), kubelet's readiness, and Envoy Gateway's shutdown manager
(``Proxy.end``); all of them do what the documents and the code of the real ones say.
"""

import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from livefleet.door.envoy import SOCKET, EnvoyAdmin, envoy_command
from livefleet.door.programs import DoorPrograms
from livefleet.door.xds.configurator import DoorBackends
from livefleet.door.xds.services import Address
from livefleet.door.xds.translator import Translation, translate
from tests.livefleet.door.rolling.balancer import FASTER, Balancer, Target
from tests.livefleet.door.running import DoorInTest, listens
from tests.monitoring.programs.daemon import eventually
from toolkit.process import Process, start

Object = dict[str, Any]
_PATIENCE = 120.0
"""For what takes as long as the machine needs, and is not measured."""
_UNITS = {"h": 3600, "m": 60, "s": 1}


def seconds(duration: str) -> float:
    """Return a duration such as 12m30s in seconds, as they pass in reality."""
    total, number = 0, ""
    for each in duration:
        if each.isdigit():
            number += each
        else:
            total, number = total + int(number) * _UNITS[each], ""
    return total


@dataclass(slots=True)
class Proxy:
    """A pod with one Envoy.

    Attributes:
        door: Its configuration.
        generation: Which template it is of.
        ended: When Kubernetes began to end it.
        gone: When its process had ended.
    """

    door: DoorInTest
    programs: DoorPrograms
    generation: int
    drain: float
    least: float
    process: Process | None = None
    target: Target | None = None
    ended: float | None = None
    gone: float | None = None
    _ending: threading.Thread | None = field(default=None, repr=False)

    @property
    def address(self) -> Address:
        return self.door.address

    @property
    def admin(self) -> EnvoyAdmin:
        return EnvoyAdmin(self.door.folder / "logs" / SOCKET)

    def start(self) -> None:
        """Start Envoy with the flags of Envoy Gateway (internal/infrastructure/common/proxy_args.go)."""
        command = envoy_command(self.programs.envoy, self.door.folder)
        command += ["--drain-time-s", f"{math.ceil(self.drain)}", "--drain-strategy", "immediate"]
        self.door.files.server.start()
        self.process = start(command, self.door.folder / "logs" / "envoy.log")

    @property
    def runs(self) -> bool:
        """Whether its containers are ready: Envoy answers /ready, and listens."""
        return self.ended is None and (self.admin.request("GET", "/ready") or "").strip() == "LIVE" and self._listens

    @property
    def _listens(self) -> bool:
        return listens(self.address[1])

    def end(self) -> None:
        """Begin to end it, as Kubernetes does with a pod whose preStop hooks are those of Envoy Gateway.

        The hook fails health checks, then waits for the connections to end: for ``minDrainDuration`` at least, for
        ``drainTimeout`` at most (internal/cmd/envoy/shutdown_manager.go). It looks every second.
        """
        self.ended = time.monotonic()
        self._ending = threading.Thread(target=self._shut_down, args=(self.ended,), daemon=True)
        self._ending.start()

    def _shut_down(self, began: float) -> None:
        self.admin.request("POST", "/healthcheck/fail")
        while (passed := time.monotonic() - began) <= self.drain:
            if passed > self.least and self._connections() == 0:
                break
            time.sleep(max(0.1, 1 / FASTER))
        self.stop()
        self.gone = time.monotonic()

    def _connections(self) -> int:
        """Count what is connected to the gateway's listener: its other listeners are inside the proxy here.

        Where Envoy does not say it, as on a busy machine, somebody may be.
        """
        found = self.admin.stats(rf"^listener\..*_{self.address[1]}\.downstream_cx_active$")
        return sum(map(int, found.values())) if found else 1

    def stop(self) -> None:
        """End the process now."""
        if self.process:
            self.process.stop()
        self.door.files.server.stop()

    def await_end(self) -> None:
        """Return when it has ended."""
        if self._ending:
            self._ending.join(_PATIENCE + self.drain)
        assert self.gone is not None, "a proxy did not end"


@dataclass(slots=True)
class Proxies:
    """The proxies of a Gateway.

    Args:
        objects: Those of the gateway, with their times divided by :data:`FASTER`.
        gated: Whether pods have the readiness gates of their load balancer.
    """

    objects: Sequence[Object]
    secrets: Sequence[Object]
    behind: DoorBackends
    programs: DoorPrograms
    folder: Path
    processor: Address
    balancer: Balancer
    gated: bool
    every: list[Proxy] = field(default_factory=list)
    _translation: Translation | None = None

    @property
    def _spec(self) -> Object:
        (found,) = [each["spec"] for each in self.objects if each["kind"] == "EnvoyProxy"]
        return dict(found)

    @property
    def _deployment(self) -> Object:
        return dict(self._spec["provider"]["kubernetes"]["envoyDeployment"])

    @property
    def drain(self) -> float:
        """How long a proxy may drain; 60 s unless it is set (``ShutdownConfig``)."""
        return seconds(self._spec.get("shutdown", {}).get("drainTimeout", "60s")) / FASTER

    @property
    def least(self) -> float:
        """How long it takes connections; 10 s unless it is set."""
        return seconds(self._spec.get("shutdown", {}).get("minDrainDuration", "10s")) / FASTER

    @property
    def replicas(self) -> int:
        found: int = self._deployment["replicas"]
        return found

    def prepare(self, generation: int) -> list[Proxy]:
        """Configure proxies that are not started yet: translating takes Envoy Gateway its time, which is no part."""
        with patch("livefleet.door.xds.configurator.translate", self._translated):
            return [self._prepared(generation, number) for number in range(self.replicas)]

    def _translated(self, *arguments: Any) -> Translation:
        """Translate once: the proxies of a gateway have the same configuration, but for their ports."""
        self._translation = self._translation or translate(*arguments)
        return deepcopy(self._translation)

    def _prepared(self, generation: int, number: int) -> Proxy:
        door = DoorInTest(self.folder / f"{generation}-{number}", self.programs, self.processor)
        door.configure(self.objects, [], self.secrets, self.behind)
        assert not door.files.problems, door.files.problems
        return Proxy(door, self.programs, generation, self.drain, self.least)

    def run(self, proxies: Sequence[Proxy]) -> None:
        """Start proxies that the load balancer knows since long."""
        for each in proxies:
            self.every.append(each)
            each.start()
        for each in proxies:
            eventually(lambda proxy=each: proxy.runs, "a proxy runs", seconds=_PATIENCE)  # type: ignore[misc]
            each.target = self.balancer.register(each.address, at_once=True)

    def roll(self, replacements: Sequence[Proxy]) -> None:
        """Replace all proxies, as the Deployment controller does; return when the new ones are Ready.

        At most ``maxSurge`` (rounded up) more pods than replicas that are not ending, and at most ``maxUnavailable``
        (rounded down) fewer that are Ready; both are 25 % by default (Kubernetes, Deployment, ``rollingUpdate``).
        """
        settings = self._deployment.get("strategy", {}).get("rollingUpdate", {})
        surge = _share(settings.get("maxSurge", "25%"), self.replicas, math.ceil)
        missing = _share(settings.get("maxUnavailable", "25%"), self.replicas, math.floor)
        old, coming = [each for each in self.every if each.ended is None], list(replacements)
        started: list[Proxy] = []
        deadline = time.monotonic() + 4 * _PATIENCE
        while old or not all(each.target and self.is_ready(each) for each in started):
            assert time.monotonic() < deadline, "the rolling update does not come to its end"
            if coming and len(old) + len(started) < self.replicas + surge:
                proxy = coming.pop(0)
                proxy.start()
                started.append(proxy)
                self.every.append(proxy)
            self._register(started)
            ready = sum(map(self.is_ready, (*old, *started)))
            if old and ready - 1 >= self.replicas - missing:
                self.end(old.pop(0))
            time.sleep(0.05)

    def _register(self, proxies: Sequence[Proxy]) -> None:
        """Register pods whose containers are ready, as the load balancer controller does for its endpoints."""
        for each in proxies:
            if each.target is None and each.runs:
                each.target = self.balancer.register(each.address)

    def is_ready(self, proxy: Proxy) -> bool:
        """Tell whether a pod is Ready: its containers are, and its gates are open."""
        if not proxy.runs:
            return False
        return not self.gated or (proxy.target is not None and proxy.target.healthy is not None)

    def end(self, proxy: Proxy) -> None:
        """Delete a pod: Envoy drains, and the load balancer controller deregisters it."""
        # In this order, so that a pause between the two takes nothing from the time for which connections still come.
        if proxy.target:
            self.balancer.deregister(proxy.target)
        proxy.end()


def _share(value: int | str, replicas: int, rounded: Any) -> int:
    if isinstance(value, int):
        return value
    found: int = rounded(int(value.removesuffix("%")) * replicas / 100)
    return found


@contextmanager
def ended(proxies: Proxies) -> Iterator[Proxies]:
    """Yield proxies of which none is left behind."""
    try:
        yield proxies
    finally:
        for each in proxies.every:
            each.stop()


def faster(objects: Sequence[Mapping[str, Any]]) -> list[Object]:
    """Return objects whose timeouts of requests and connections are divided by :data:`FASTER`.

    Drain durations are unchanged: the stand-in for the shutdown manager divides them.
    """
    return [_faster(dict(each)) for each in objects]


def _faster(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _faster(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_faster(each) for each in value]
    if key in {"request", "streamIdleTimeout", "idleTimeout"} and isinstance(value, str):
        return f"{math.ceil(seconds(value) / FASTER)}s"
    return value

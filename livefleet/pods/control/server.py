"""The HTTP server of the control API (:mod:`livefleet.control_api`)."""

import dataclasses
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web
from pydantic import TypeAdapter

from toolkit.ports import LOOPBACK
from toolkit.private import write_private

from ...control_api import FaultOutcome, LiveFault, LiveState


@dataclass(frozen=True, slots=True)
class ControlCredentials:
    """Port and token of the control address."""

    file: Path
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def read(cls, file: Path) -> "ControlCredentials":
        """Return what a file holds; a new token where there is none."""
        try:
            found = json.loads(file.read_text())
            return cls(file, int(found["port"]), str(found["token"]))
        except (OSError, ValueError, TypeError, KeyError):
            return cls(file)

    def listening(self, port: int) -> "ControlCredentials":
        """Remember the port."""
        kept = replace(self, port=port)
        write_private(self.file, json.dumps({"port": port, "token": self.token}).encode())
        return kept

    @property
    def url(self) -> str:
        """Where the process listens."""
        return f"http://{LOOPBACK}:{self.port}"


_FASTEST, _SLOWEST = 1_000_000.0, 0.001
_STATE = TypeAdapter(LiveState)


@dataclasses.dataclass(frozen=True, slots=True)
class NotThereError(Exception):
    """Something was asked for that is not there.

    Attributes:
        reason: What is not there.
        there: What is.
    """

    reason: str
    there: tuple[str, ...] = ()


class Controlled(Protocol):
    """What is controlled."""

    def state(self) -> LiveState:
        """Return the fleet as it is."""

    def targets(self, job: str) -> list[dict[str, Any]]:
        """Return the targets of a PodMonitor.

        Raises:
            NotThereError: there is none of that name.
        """

    def backends(self) -> dict[str, str]:
        """Return where pods listen, by their address in the cluster."""

    def speed(self, answers: float | None, starts: float | None) -> dict[str, float]:
        """Change speeds, and return both."""

    async def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Make something happen.

        Raises:
            NotThereError: there is nothing of that name.
        """


class ControlAddress:
    """Serves what is controlled, to those who have the token."""

    def __init__(self, controlled: Controlled, token: str) -> None:
        self._controlled = controlled
        app = web.Application(middlewares=[_guard(token)])
        app.router.add_get("/state", self._state)
        app.router.add_get("/targets/{job}", self._targets)
        app.router.add_get("/backends", self._backends)
        app.router.add_post("/speed", self._speed)
        app.router.add_post("/fault", self._fault)
        self._runner = web.AppRunner(app, access_log=None)

    async def open(self, port: int) -> int:
        """Listen, and return the port: the one asked for, unless somebody else has it."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, port)
        try:
            await site.start()
        except OSError:
            site = web.TCPSite(self._runner, LOOPBACK, 0)
            await site.start()
        number: int = self._runner.addresses[-1][1]
        return number

    async def close(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _state(self, _: web.Request) -> web.Response:
        return web.Response(body=_STATE.dump_json(self._controlled.state()), content_type="application/json")

    async def _targets(self, request: web.Request) -> web.Response:
        return web.json_response(self._controlled.targets(request.match_info["job"]))

    async def _backends(self, _: web.Request) -> web.Response:
        return web.json_response(self._controlled.backends())

    async def _speed(self, request: web.Request) -> web.Response:
        body = await _body(request, {"answers", "starts"})
        speeds = {name: _speed_in(body[name], name) for name in body}
        return web.json_response(self._controlled.speed(speeds.get("answers"), speeds.get("starts")))

    async def _fault(self, request: web.Request) -> web.Response:
        body = await _body(request, {"fault", "name"})
        try:
            fault = LiveFault(str(body.get("fault")))
        except ValueError:
            reason = f"fault must be one of those that there are, found {body.get('fault')!r}"
            raise _refused(reason, list(LiveFault)) from None
        name = body.get("name")
        if not isinstance(name, str) or not name:
            raise _refused(f"name must be that of a {_named(fault)}, found {name!r}")
        outcome = await self._controlled.fault(fault, name)
        return web.json_response(dataclasses.asdict(outcome))


def _named(fault: LiveFault) -> str:
    return "node" if fault is LiveFault.SPOT else fault.value


def _guard(token: str) -> Callable[..., Awaitable[web.StreamResponse]]:
    wanted = f"Bearer {token}".encode()

    @web.middleware
    async def guard(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="replace")
        if not hmac.compare_digest(given, wanted):
            return _answer(401, "the bearer token is missing or wrong; it is in the state folder", ())
        try:
            return await handler(request)
        except NotThereError as error:
            return _answer(404, error.reason, error.there)
        except web.HTTPNotFound:
            return _answer(404, f"there is no {request.path!r} here", ("/state", "/targets/<job>", "/backends"))

    return guard


async def _body(request: web.Request, known: set[str]) -> Mapping[str, Any]:
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        raise _refused("the body is not JSON") from None
    if not isinstance(body, dict):
        raise _refused(f"the body must be a JSON object with {' and '.join(sorted(known))}")
    if unknown := sorted(map(str, body.keys() - known)):
        raise _refused(f"the body has the unknown key {unknown[0]!r}", sorted(known))
    return body


def _speed_in(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _SLOWEST <= value <= _FASTEST:
        raise _refused(f"{name} must be a number from {_SLOWEST} to {_FASTEST:.0f}, found {value!r}")
    return float(value)


def _refused(reason: str, there: Sequence[str] = ()) -> web.HTTPBadRequest:
    return web.HTTPBadRequest(
        text=json.dumps({"error": reason, "there": list(there)}), content_type="application/json"
    )


def _answer(status: int, reason: str, there: Sequence[str]) -> web.Response:
    return web.json_response({"error": reason, "there": list(there)}, status=status)

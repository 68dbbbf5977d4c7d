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

_FASTEST, _SLOWEST = 1_000_000.0, 0.001
_STATE = TypeAdapter(LiveState)


@dataclass(frozen=True, slots=True)
class ControlCredentials:
    """Port and bearer token of the control API, kept in a file so that clients find the process after a restart."""

    file: Path
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def read(cls, file: Path) -> "ControlCredentials":
        """Return the contents of a file; a new token if it is missing or invalid."""
        try:
            stored = json.loads(file.read_text())
            return cls(file, int(stored["port"]), str(stored["token"]))
        except (OSError, ValueError, TypeError, KeyError):
            return cls(file)

    def listening(self, port: int) -> "ControlCredentials":
        """Save the port, and return the new credentials."""
        write_private(self.file, json.dumps({"port": port, "token": self.token}).encode())
        return replace(self, port=port)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"


@dataclass(frozen=True, slots=True)
class UnknownObjectError(Exception):
    """A request names an object that does not exist.

    Attributes:
        reason: Message without the valid names.
        valid_names: Names of the objects that exist.
    """

    reason: str
    valid_names: tuple[str, ...] = ()


class Controlled(Protocol):
    """The process as the control API sees it."""

    def state(self) -> LiveState:
        """Return a snapshot of the fleet."""

    def targets(self, job: str) -> list[dict[str, Any]]:
        """Return the targets of a PodMonitor.

        Raises:
            UnknownObjectError: there is no such PodMonitor.
        """

    def backends(self) -> dict[str, str]:
        """Return the loopback address of each listening pod, by its address and name in the cluster."""

    def speed(self, answers: float | None, starts: float | None) -> dict[str, float]:
        """Set the speeds that are not None, and return both."""

    async def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Inject a fault.

        Raises:
            UnknownObjectError: there is no such node, pod or zone.
        """


class ControlAddress:
    """An HTTP server for clients that have the token."""

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
        """Listen, and return the port: the given one, or a free one if another process has it."""
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
        await self._runner.cleanup()

    async def _state(self, _: web.Request) -> web.Response:
        return web.Response(body=_STATE.dump_json(self._controlled.state()), content_type="application/json")

    async def _targets(self, request: web.Request) -> web.Response:
        return web.json_response(self._controlled.targets(request.match_info["job"]))

    async def _backends(self, _: web.Request) -> web.Response:
        return web.json_response(self._controlled.backends())

    async def _speed(self, request: web.Request) -> web.Response:
        body = await _body(request, {"answers", "starts"})
        for name, value in body.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not _SLOWEST <= value <= _FASTEST:
                raise _bad_request(f"{name} must be a number from {_SLOWEST} to {_FASTEST:.0f}, found {value!r}")
        speeds = {name: float(value) for name, value in body.items()}
        return web.json_response(self._controlled.speed(speeds.get("answers"), speeds.get("starts")))

    async def _fault(self, request: web.Request) -> web.Response:
        body = await _body(request, {"fault", "name"})
        try:
            fault = LiveFault(str(body.get("fault")))
        except ValueError:
            reason = f"fault must be one of those listed, found {body.get('fault')!r}"
            raise _bad_request(reason, list(LiveFault)) from None
        name = body.get("name")
        if not isinstance(name, str) or not name:
            kind = "node" if fault is LiveFault.SPOT else fault.value
            raise _bad_request(f"name must be that of a {kind}, found {name!r}")
        outcome = await self._controlled.fault(fault, name)
        return web.json_response(dataclasses.asdict(outcome))


def _guard(token: str) -> Callable[..., Awaitable[web.StreamResponse]]:
    expected = f"Bearer {token}".encode()

    @web.middleware
    async def guard(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        authorization = request.headers.get("Authorization", "").encode(errors="replace")
        if not hmac.compare_digest(authorization, expected):
            return _error(401, "the bearer token is missing or wrong; it is in the state folder", ())
        try:
            return await handler(request)
        except UnknownObjectError as error:
            return _error(404, error.reason, error.valid_names)
        except web.HTTPNotFound:
            return _error(404, f"unknown path {request.path!r}", ("/state", "/targets/<job>", "/backends"))

    return guard


async def _body(request: web.Request, keys: set[str]) -> Mapping[str, Any]:
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        raise _bad_request("the body is not JSON") from None
    if not isinstance(body, dict):
        raise _bad_request(f"the body must be a JSON object with {' and '.join(sorted(keys))}")
    if unknown := sorted(map(str, body.keys() - keys)):
        raise _bad_request(f"the body has the unknown key {unknown[0]!r}", sorted(keys))
    return body


def _bad_request(reason: str, valid: Sequence[str] = ()) -> web.HTTPBadRequest:
    return web.HTTPBadRequest(
        text=json.dumps({"error": reason, "there": list(valid)}), content_type="application/json"
    )


def _error(status: int, reason: str, valid: Sequence[str]) -> web.Response:
    return web.json_response({"error": reason, "there": list(valid)}, status=status)

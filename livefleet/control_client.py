"""The commands' client of the control API (:mod:`.control_api`)."""

import functools
import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from components.contract.texts.printable import printable
from toolkit.errors import UserError

from .control_api import FaultOutcome, LiveFault, LiveState
from .folder import LiveFolder

START = "start it with `make up` (workbench up --start-cluster)"
_SECONDS = 5.0
_FAULT_SECONDS = 60.0
"""The process answers a fault at once, but may be busy with the load whose requests it aborts."""
_MAX_NAMES = 20


class UnreachableError(UserError):
    """The process does not answer at the moment. A retry may succeed."""


@dataclass(frozen=True, slots=True)
class ControlClient:
    """A client of one running fleet.

    Attributes:
        address: Such as ``http://127.0.0.1:40000``.
        token: Bearer token.
    """

    address: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, folder: LiveFolder) -> "ControlClient":
        """Return the client of a project's fleet.

        Raises:
            UserError: no fleet runs there.
        """
        addresses = folder.addresses()
        if not addresses.control:
            raise UserError(f"no live fleet runs in {folder.state_dir}; {START}")
        return cls(addresses.control, addresses.token)

    def state(self) -> LiveState:
        """Return the current state of the fleet.

        Raises:
            UserError: the process does not answer, or answers in another format.
        """
        content = self._request("GET", "/state")
        try:
            return _state_adapter().validate_json(content)
        except ValidationError:
            raise self._unknown_format() from None

    def backends(self) -> dict[str, str]:
        """Return the loopback address of each pod that listens, by its address and by its name in the cluster."""
        content = self._request("GET", "/backends")
        try:
            return TypeAdapter(dict[str, str]).validate_json(content)
        except ValidationError:
            raise self._unknown_format() from None

    def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Inject a fault.

        Raises:
            UserError: there is no object with that name; the message lists the names.
        """
        content = self._request("POST", "/fault", {"fault": fault.value, "name": name}, _FAULT_SECONDS)
        try:
            return TypeAdapter(FaultOutcome).validate_json(content)
        except ValidationError:
            raise self._unknown_format() from None

    def speed(self, answers: float | None, starts: float | None) -> tuple[float, float]:
        """Set the speeds that are not None, and return both."""
        speeds = {"answers": answers, "starts": starts}
        content = self._request(
            "POST", "/speed", {name: value for name, value in speeds.items() if value is not None}
        )
        try:
            current = TypeAdapter(dict[str, float]).validate_json(content)
            return current["answers"], current["starts"]
        except (ValidationError, KeyError):
            raise self._unknown_format() from None

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> bytes:
        seconds = _SECONDS if seconds is None else seconds
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            parts = urlsplit(self.address)
            # http.client ignores the proxies of the environment: the address is on this machine.
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
        except (ValueError, http.client.HTTPException):  # the file with the address is damaged
            raise UnreachableError(f"the live fleet does not answer at {self.address}; {START}") from None
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
        except TimeoutError:
            # The process listens, so starting it again would not help.
            uncertain = "; the request may have taken effect nevertheless" if method == "POST" else ""
            raise UnreachableError(
                f"the live fleet at {self.address} did not answer within {seconds:g} s{uncertain}: this machine is "
                "busy, or the process hangs; see `workbench live watch`, and live/logs/pods.log in the state folder"
            ) from None
        except (OSError, ValueError, http.client.HTTPException):  # a damaged token is no value of a header
            raise UnreachableError(f"the live fleet does not answer at {self.address}; {START}") from None
        finally:
            connection.close()
        if response.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise UserError(f"the live fleet failed at {path}; see live/logs/pods.log in the state folder")
        if response.status != http.HTTPStatus.OK:
            raise _rejection(response.status, content) or self._unknown_format()
        return content

    def _unknown_format(self) -> UserError:
        return UserError(
            f"the server at {self.address} is not the live fleet of this version; stop it with `make down`, "
            f"and {START}"
        )


@functools.cache
def _state_adapter() -> "TypeAdapter[LiveState]":
    # Building the validator takes longer than a request.
    return TypeAdapter(LiveState)


def _rejection(status: int, content: bytes) -> UserError | None:
    """Return the error in the process's answer; None if the answer has another format."""
    try:
        body = json.loads(content)
        text, names = str(body["error"]), [str(name) for name in body.get("there", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return UserError(printable(text + available(names)), 2 if status == http.HTTPStatus.BAD_REQUEST else 1)


def available(names: Sequence[str]) -> str:
    """Return the end of a message that lists the valid names; empty without any."""
    if not names:
        return ""
    more = len(names) - _MAX_NAMES
    return f"; available: {', '.join(names[:_MAX_NAMES])}" + (f" and {more} more" if more > 0 else "")

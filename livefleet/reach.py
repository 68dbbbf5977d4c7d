"""Asks the process behind the pods what it says, and tells it what to do: for the commands."""

import functools
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from components.contract.texts.printable import printable
from toolkit.errors import UserError

from .control import FaultOutcome, LiveFault, LiveState
from .folder import LiveFolder

START = "start it with `make up` (workbench up --start-cluster)"
_SECONDS = 5.0
_FAULT_SECONDS = 60.0
"""A fault is answered at once, but the process may be busy with the load that it breaks."""
_LISTED = 20


class UnreachableError(UserError):
    """The process does not answer. It may do so again."""


@dataclass(frozen=True, slots=True)
class LiveControl:
    """The control address of a fleet that runs.

    Attributes:
        address: Such as ``http://127.0.0.1:40000``.
        token: Goes with every request.
    """

    address: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, folder: LiveFolder) -> "LiveControl":
        """Return that of a project.

        Raises:
            UserError: nothing runs there.
        """
        found = folder.addresses()
        if not found.control:
            raise UserError(f"no live fleet runs in {folder.state_dir}; {START}")
        return cls(found.control, found.token)

    def state(self) -> LiveState:
        """Return the fleet as it is now.

        Raises:
            UserError: it does not answer, or not as it should.
        """
        content = self._asked("GET", "/state")
        try:
            return _states().validate_json(content)
        except ValidationError:
            raise self._strange() from None

    def backends(self) -> dict[str, str]:
        """Return the loopback address by address of each pod that listens."""
        content = self._asked("GET", "/backends")
        try:
            return TypeAdapter(dict[str, str]).validate_json(content)
        except ValidationError:
            raise self._strange() from None

    def fault(self, fault: LiveFault, name: str) -> FaultOutcome:
        """Make something happen, and return what it did.

        Raises:
            UserError: there is nothing with that name; the message has what there is.
        """
        content = self._asked("POST", "/fault", {"fault": fault.value, "name": name}, _FAULT_SECONDS)
        try:
            return TypeAdapter(FaultOutcome).validate_json(content)
        except ValidationError:
            raise self._strange() from None

    def speed(self, answers: float | None, starts: float | None) -> tuple[float, float]:
        """Change how much faster than life answers and starts are, where given; return both as they are then."""
        given = {"answers": answers, "starts": starts}
        content = self._asked("POST", "/speed", {name: value for name, value in given.items() if value is not None})
        try:
            found = TypeAdapter(dict[str, float]).validate_json(content)
            return found["answers"], found["starts"]
        except (ValidationError, KeyError):
            raise self._strange() from None

    def _asked(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, seconds: float | None = None
    ) -> bytes:
        seconds = _SECONDS if seconds is None else seconds
        parts = urlsplit(self.address)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        # Not through a proxy of the environment: the address is of this machine.
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
        except TimeoutError:
            # It listens, so starting it again would not help.
            asked = "; what was asked may have happened all the same" if method == "POST" else ""
            raise UnreachableError(
                f"the live fleet at {self.address} did not answer within {seconds:g} s{asked}: this machine is busy, "
                "or the process hangs; `workbench watch` shows how the fleet is, live/logs/pods.log in the state "
                "folder what the process does"
            ) from None
        except (OSError, http.client.HTTPException):
            raise UnreachableError(f"the live fleet does not answer at {self.address}; {START}") from None
        finally:
            connection.close()
        if response.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise UserError(f"the live fleet failed at {path}; live/logs/pods.log in the state folder says why")
        if response.status != http.HTTPStatus.OK:
            raise _refusal(response.status, content) or self._strange()
        return content

    def _strange(self) -> UserError:
        return UserError(
            f"what answers at {self.address} is not the live fleet of this version; stop it with `make down`, "
            f"and {START}"
        )


@functools.cache
def _states() -> "TypeAdapter[LiveState]":
    return TypeAdapter(LiveState)


def _refusal(status: int, content: bytes) -> UserError | None:
    """Return what the process says against a request; None where it says nothing that is understood."""
    try:
        found = json.loads(content)
        text, there = str(found["error"]), [str(each) for each in found.get("there", ())]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return UserError(printable(text + listed_names(there)), 2 if status == http.HTTPStatus.BAD_REQUEST else 1)


def listed_names(there: list[str]) -> str:
    """Return what there is instead, as the end of a message."""
    if not there:
        return ""
    more = len(there) - _LISTED
    return f"; there is {', '.join(there[:_LISTED])}" + (f" and {more} more" if more > 0 else "")

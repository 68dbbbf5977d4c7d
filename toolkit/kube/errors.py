"""Errors of the API server and of the client."""

import http
import json
from collections.abc import Sequence
from typing import NamedTuple

_IMMUTABLE = ("immutable", "updates to", "may not change once set")
"""Phrases in Kubernetes' validation errors of updates. Searched only in causes, since names may contain them too."""


class KubeError(Exception):
    """The API server rejected a request, or could not be reached.

    Attributes:
        status: HTTP status; 0 when the server could not be reached.
        reason: machine-readable reason of the Status object, such as ``Invalid`` or ``NotFound``.
        message: message of the server.
        causes: ``(field path, message)`` of every invalid field.
    """

    def __init__(self, status: int, reason: str, message: str, causes: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)

    @property
    def immutable(self) -> bool:
        """Whether a change of an immutable field was rejected; only a new object can have the value."""
        messages = [message for _, message in self.causes] or [self.message]
        return self.status == http.HTTPStatus.UNPROCESSABLE_ENTITY and any(
            phrase in message for message in messages for phrase in _IMMUTABLE
        )

    @property
    def unreachable(self) -> bool:
        """Whether no server responded."""
        return self.status == 0


class ClosedError(Exception):
    """The client was closed during a watch."""


class NoSuchKindError(KubeError):
    """The API server does not serve the kind (yet: its CRD may be created later)."""


class MalformedResponseError(KubeError):
    """A response that no API server sends: that of a proxy, or of another server."""

    def __init__(self, server: str, found: str) -> None:
        super().__init__(
            0, "Malformed", f"{server} responded with {found}; check that it is the address of an API server"
        )


class MalformedObject(NamedTuple):
    """A live object whose fields have other types than those of its kind.

    Attributes:
        name: Its name; its position in the list if it has none.
        path: The field; empty if it is not even an object with a name.
        reason: What is wrong with the field.
    """

    kind: str
    namespace: str
    name: str
    path: str
    reason: str

    @property
    def title(self) -> str:
        """``Kind namespace/name``."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def __str__(self) -> str:
        return ": ".join((self.title, " ".join(filter(None, (self.path, self.reason)))))


class MalformedObjectError(KubeError):
    """The API server returned an object that cannot be read; others of the same server may be read."""

    def __init__(self, server: str, malformed: MalformedObject) -> None:
        super().__init__(0, "Malformed", f"{server} responded with something else than the {malformed}")
        self.malformed = malformed

    @property
    def unreachable(self) -> bool:
        """The server did respond."""
        return False


def error_in(status: int, data: bytes) -> KubeError:
    """Convert a response to an error: a Status object with reason and causes, or text."""
    try:
        response = json.loads(data)
    except (ValueError, RecursionError):
        response = None
    if not isinstance(response, dict):
        return KubeError(status, f"HTTP {status}", data.decode(errors="replace").strip()[:500])
    details = response.get("details")
    items = details.get("causes") if isinstance(details, dict) else None
    causes = [
        (str(cause.get("field", "")), str(cause.get("message", "")))
        for cause in (items if isinstance(items, list) else ())
        if isinstance(cause, dict)
    ]
    return KubeError(
        status, str(response.get("reason") or f"HTTP {status}"), str(response.get("message", "")), causes
    )

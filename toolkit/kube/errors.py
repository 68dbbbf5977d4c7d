"""What the API server answers when it refuses a request."""

import http
import json
from collections.abc import Sequence

_IMMUTABLE = ("immutable", "updates to", "may not change once set")
"""How Kubernetes' validation of updates words it. Causes alone are read: names may hold such words, too."""


class KubeError(Exception):
    """What the API server answered when it refused a request.

    Attributes:
        status: HTTP status; 0 when the server could not be reached.
        reason: machine-readable reason of the Status object, such as ``Invalid`` or ``NotFound``.
        message: the server's words.
        causes: ``(field path, message)`` of every field that is wrong.
    """

    def __init__(self, status: int, reason: str, message: str, causes: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)

    @property
    def immutable(self) -> bool:
        """Whether a field was refused because it cannot change; only a new object can have the value."""
        messages = [message for _, message in self.causes] or [self.message]
        return self.status == http.HTTPStatus.UNPROCESSABLE_ENTITY and any(
            words in message for message in messages for words in _IMMUTABLE
        )

    @property
    def unreachable(self) -> bool:
        """Whether no server answered."""
        return self.status == 0


class ClosedError(Exception):
    """The client was closed while it waited for more."""


class NoSuchKindError(KubeError):
    """The API server does not serve the kind (yet: a CRD may be on its way)."""


def error_in(status: int, data: bytes) -> KubeError:
    """Turn an answer into an error; a Status object carries reasons and causes, anything else is text."""
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return KubeError(status, f"HTTP {status}", data.decode(errors="replace").strip()[:500])
    details = answer.get("details") or {}
    causes = [(cause.get("field", ""), cause.get("message", "")) for cause in details.get("causes") or ()]
    return KubeError(status, answer.get("reason") or f"HTTP {status}", answer.get("message", ""), causes)

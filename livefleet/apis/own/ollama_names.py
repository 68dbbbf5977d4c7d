"""Names of models as ollama takes them."""

from typing import TYPE_CHECKING

from .. import bodies
from ..bodies import ApiError, Body

if TYPE_CHECKING:
    from ...pods.pod import LivePod


def model_called(pod: "LivePod", body: Body) -> str:
    """Return the model that a request names, as it names it; a name without a tag is that of the tag ``latest``.

    Raises:
        ApiError: there is none of that name.
    """
    name = bodies.text(body, "model") or bodies.text(body, "name") or ""
    if not name:
        raise ApiError(400, "model is required", "model")
    if _tagged(name) not in map(_tagged, pod.workload.models):
        raise ApiError(404, f"model '{name}' not found", "model", "model")
    return name


def _tagged(name: str) -> str:
    """Return a name with its tag; names are the same in capitals (``types/model/name.go``)."""
    name = name.casefold()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"

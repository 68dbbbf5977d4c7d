"""Following the objects of a kind: all that are there, then what changes, for as long as somebody asks."""

import http
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .client import Kube
from .errors import ClosedError, KubeError, NoSuchKindError

Json = dict[str, Any]
_PAUSE = 0.5
_PAUSE_UNSERVED = 2.0


@dataclass(frozen=True, slots=True)
class WatchStep:
    """One step of what is followed.

    Attributes:
        there: Objects that were added or changed; at a new start all that there are.
        gone: An object that was deleted, as it was last.
        anew: Whether whatever is not in ``there`` does not exist.
    """

    there: tuple[Json, ...] = ()
    gone: Json | None = None
    anew: bool = False


def follow(
    kube: Kube, api_version: str, kind: str, pause: Callable[[float], None] = time.sleep, fields: str = ""
) -> Iterator[WatchStep]:
    """Yield all objects of a kind, then each change, for ever.

    What is missed is made up for by looking at everything again: when the server does not know the last version any
    more (410), or was away. A kind that is not served has no objects until it is.

    Args:
        kube: A client.
        api_version: Of the kind.
        kind: What is followed.
        pause: Waits before the server is asked again.
        fields: A field selector; empty for all objects.

    Raises:
        ClosedError: the client was closed.
    """
    while not kube.closed:
        try:
            params = {"fieldSelector": fields} if fields else None
            answer = kube.request("GET", kube.path(api_version, kind), params=params)
            # The items of a list do not say what they are; those of a watch do.
            typed = {"apiVersion": api_version, "kind": kind}
            yield WatchStep(tuple({**typed, **item} for item in answer.get("items") or ()), anew=True)
            yield from _changes(kube, api_version, kind, answer["metadata"]["resourceVersion"], fields)
        except NoSuchKindError:
            yield WatchStep(anew=True)
            pause(_PAUSE_UNSERVED)
        except KubeError as error:
            if error.status == http.HTTPStatus.NOT_FOUND:  # its CRD was deleted a moment ago
                kube.forget(api_version)
            pause(_PAUSE if error.status != http.HTTPStatus.GONE else 0)
    raise ClosedError(f"the client of {kube.server} was closed")


def _changes(kube: Kube, api_version: str, kind: str, version: str, fields: str) -> Iterator[WatchStep]:
    """Yield what changes after a version; a watch that ends is begun again where it was."""
    while True:
        for what, obj in kube.watch(api_version, kind, version, fields):
            version = obj["metadata"]["resourceVersion"]
            if what == "DELETED":
                yield WatchStep(gone=obj)
            elif what != "BOOKMARK":
                yield WatchStep((obj,))

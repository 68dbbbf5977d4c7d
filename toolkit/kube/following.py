"""An informer without a cache: list the objects of a kind, then watch them, for as long as the client is open."""

import http
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .client import Kube
from .errors import ClosedError, KubeError, NoSuchKindError

Json = dict[str, Any]
_RETRY_SECONDS = 0.5
_UNSERVED_RETRY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class WatchStep:
    """What one list or one watch event reports.

    Attributes:
        objects: Objects that were added or changed; after a list, all objects.
        deleted: The last state of an object that was deleted.
        relisted: Whether `objects` is complete: any other object known before is gone.
    """

    objects: tuple[Json, ...] = ()
    deleted: Json | None = None
    relisted: bool = False


def follow(
    kube: Kube, api_version: str, kind: str, pause: Callable[[float], None] = time.sleep, fields: str = ""
) -> Iterator[WatchStep]:
    """Yield all objects of a kind, then each change, until the client is closed.

    Lists again when the server no longer knows the last version (410) or was away, so that no change is missed. A
    kind that is not served has no objects until it is.

    Args:
        kube: A client.
        api_version: API version of the kind.
        kind: The kind, in all namespaces.
        pause: Waits this many seconds before the next attempt.
        fields: A field selector; empty for all objects.

    Raises:
        ClosedError: the client was closed.
    """
    while not kube.closed:
        try:
            items, version = kube.collection(api_version, kind, fields)
            # The items of a list have no apiVersion and kind; those of a watch do.
            typed = {"apiVersion": api_version, "kind": kind}
            yield WatchStep(tuple({**typed, **item} for item in items), relisted=True)
            while True:  # the server ends a watch after some minutes; the next one resumes at the last version
                for event, obj in kube.watch(api_version, kind, version, fields):
                    version = obj["metadata"]["resourceVersion"]
                    if event == "DELETED":
                        yield WatchStep(deleted=obj)
                    elif event != "BOOKMARK":
                        yield WatchStep((obj,))
        except NoSuchKindError:
            yield WatchStep(relisted=True)
            pause(_UNSERVED_RETRY_SECONDS)
        except KubeError as error:
            if error.status == http.HTTPStatus.NOT_FOUND:  # its CRD was deleted since discovery
                kube.forget(api_version)
            pause(_RETRY_SECONDS if error.status != http.HTTPStatus.GONE else 0)
    raise ClosedError(f"the client of {kube.server} was closed")

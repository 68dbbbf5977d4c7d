"""What the cluster holds, as an event loop sees it: kept up to date by a thread for each kind."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

from toolkit.kube import Kube
from toolkit.kube.errors import ClosedError
from toolkit.kube.following import WatchStep, follow

Json = dict[str, Any]
Changed = Callable[[Json | None, Json | None], None]
"""Told what an object was and what it is; None where it was not, or is not any more."""
_LOG = logging.getLogger(__name__)


class Followed:
    """The objects of a kind. Reading them costs nothing; they must not be changed.

    Args:
        kube: A client of its own or a shared one.
        api_version: Of the kind.
        kind: What is followed, in all namespaces.
        fields: A field selector; empty for all objects.
    """

    def __init__(self, kube: Kube, api_version: str, kind: str, fields: str = "") -> None:
        self.objects: dict[str, Json] = {}
        """By ``namespace/name``, or name where the kind has no namespaces."""
        self.complete = asyncio.Event()
        """Set once everything that was there at the start is known."""
        self.changed: list[Changed] = []
        """Called in the event loop after each change."""
        self._what = (kube, api_version, kind)
        self._fields = fields
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin. It ends when the client is closed."""
        threading.Thread(target=self._run, name=f"follow-{self._what[2]}", daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(ClosedError):
            for change in follow(*self._what, fields=self._fields):
                for obj in change.objects:
                    obj["metadata"].pop("managedFields", None)  # a third of the memory, and nobody reads them
                if self._loop.is_closed():
                    return
                self._loop.call_soon_threadsafe(self._take, change)

    def _take(self, change: WatchStep) -> None:
        there = {key_of(obj): obj for obj in change.objects}
        gone = [key_of(change.deleted)] if change.deleted else []
        if change.relisted:
            gone = [key for key in self.objects if key not in there]
        for key in gone:
            self._tell(self.objects.pop(key, None), None)
        for key, obj in there.items():
            before = self.objects.get(key)
            if before is None or before["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
                self.objects[key] = obj
                self._tell(before, obj)
        if change.relisted:
            self.complete.set()

    def _tell(self, before: Json | None, after: Json | None) -> None:
        if before is None and after is None:
            return
        for changed in self.changed:
            try:
                changed(before, after)
            except Exception:
                _LOG.exception("following %s", self._what[2])


def key_of(obj: Json) -> str:
    """Return what an object is found by."""
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])

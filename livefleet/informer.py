"""A local cache of the objects of a kind for an event loop, kept up to date by a thread."""

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
ChangeHandler = Callable[[Json | None, Json | None], None]
"""Receives the old and the new state of an object: None before its creation and after its deletion."""
_LOG = logging.getLogger(__name__)


class Informer:
    """The objects of a kind in all namespaces. Callers must not modify them.

    Args:
        kube: A client, which may be shared.
        api_version: API version of the kind.
        kind: The kind.
        fields: A field selector; empty for all objects.
    """

    def __init__(self, kube: Kube, api_version: str, kind: str, fields: str = "") -> None:
        self.objects: dict[str, Json] = {}
        """By ``namespace/name``, or by name if the kind is not namespaced."""
        self.synced = asyncio.Event()
        """Set after the initial list."""
        self.relisting = False
        """Whether the changes that handlers receive were found by comparing lists, instead of watched."""
        self.handlers: list[ChangeHandler] = []
        """Called in the event loop after each change."""
        self._resource = (kube, api_version, kind)
        self._fields = fields
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Start the thread, which ends when the client is closed."""
        threading.Thread(target=self._run, name=f"informer-{self._resource[2]}", daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(ClosedError):
            for step in follow(*self._resource, fields=self._fields):
                for obj in step.objects:
                    obj["metadata"].pop("managedFields", None)  # unused, and a third of the memory
                try:
                    self._loop.call_soon_threadsafe(self._apply, step)
                except RuntimeError:  # the loop is closed
                    return

    def _apply(self, step: WatchStep) -> None:
        self.relisting = step.relisted
        current = {key_of(obj): obj for obj in step.objects}
        deleted = [key_of(step.deleted)] if step.deleted else []
        if step.relisted:
            deleted = [key for key in self.objects if key not in current]
        for key in deleted:
            self._notify(self.objects.pop(key, None), None)
        for key, obj in current.items():
            before = self.objects.get(key)
            # After a gap in the watch, most objects of the new list are unchanged.
            if before is None or before["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
                self.objects[key] = obj
                self._notify(before, obj)
        if step.relisted:
            self.synced.set()

    def _notify(self, before: Json | None, after: Json | None) -> None:
        if before is None and after is None:
            return
        for handler in self.handlers:
            try:
                handler(before, after)
            except Exception:
                _LOG.exception("handling a change of a %s", self._resource[2])


def key_of(obj: Json) -> str:
    """Return ``namespace/name`` of an object, or its name if it has no namespace."""
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])

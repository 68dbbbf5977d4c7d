"""When a LeaderWorkerSet gets its next round: when it changes, or one of its pods does."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from toolkit.kube import KubeError

from ...informer import key_of
from ..kubelet import is_ending
from .pods import LABEL
from .rounds import GROUP

Json = dict[str, Any]
Round = Callable[[Json, Collection[str]], Awaitable[None]]
_PAUSE, _PAUSE_REFUSED = 0.05, 1.0
_LOG = logging.getLogger(__name__)


class GroupController:
    """Gives every set its rounds, one after the other.

    Args:
        play: Does one round for a set, told which makings of its groups have lost a pod.
    """

    def __init__(self, play: Round) -> None:
        self._play = play
        self._ended: dict[str, set[str]] = {}
        """Sets that want a round, with the makings of groups that lost a pod."""
        self._playing: dict[str, asyncio.Task[None]] = {}

    def changed(self, _: Json | None, after: Json | None) -> None:
        """Follow a set."""
        if after:
            self._want(key_of(after))

    def pod_changed(self, before: Json | None, after: Json | None) -> None:
        """Follow a pod."""
        # After a gap in the watch, a pod of the same name may be another one: its predecessor has ended.
        if before and after and before["metadata"]["uid"] != after["metadata"]["uid"]:
            self.pod_changed(before, None)
        pod = after or before or {}
        name = (pod["metadata"].get("labels") or {}).get(f"{LABEL}/name")
        if name:
            ended = after is None or is_ending(after)
            making = (pod["metadata"].get("annotations") or {}).get(GROUP, "")
            self._want(f"{pod['metadata']['namespace']}/{name}", {making} if ended and making else set())

    def _want(self, key: str, ended: Collection[str] = ()) -> None:
        self._ended.setdefault(key, set()).update(ended)
        if key not in self._playing:
            self._playing[key] = asyncio.ensure_future(self._rounds(key))

    async def _rounds(self, key: str) -> None:
        namespace, _, name = key.partition("/")
        try:
            while key in self._ended:
                await asyncio.sleep(_PAUSE)  # changes come several at a time
                ended = self._ended.pop(key)
                try:
                    await self._play({"metadata": {"name": name, "namespace": namespace}}, ended)
                except KubeError as error:
                    _LOG.warning("LeaderWorkerSet %s: %s", key, error)
                    self._ended.setdefault(key, set()).update(ended)
                    await asyncio.sleep(_PAUSE_REFUSED)
        finally:
            del self._playing[key]

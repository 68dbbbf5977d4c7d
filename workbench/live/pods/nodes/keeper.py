"""Which simulated nodes are there."""

import asyncio
import datetime
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ....cluster.stages import SEEN
from ....kube import KubeError
from .marks import SINCE, NodeStage, stage_of

Json = dict[str, Any]
Patch = Callable[[str, Json], Awaitable[None]]
_LOG = logging.getLogger(__name__)


class NodeKeeper:
    """Gives every node a state.

    Args:
        nodes: All that the cluster has.
        patch: Changes a node, by name.
    """

    def __init__(self, patch: Patch) -> None:
        self._patch = patch
        self._tasks: set[asyncio.Task[None]] = set()

    def changed(self, _: Json | None, after: Json | None) -> None:
        """Follow a node."""
        if after and stage_of(after) is None:
            task = asyncio.ensure_future(self._mark(after["metadata"]["name"], NodeStage.THERE))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _mark(self, name: str, stage: NodeStage) -> None:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        cordoned = None if stage is NodeStage.THERE else True
        patch = {
            "metadata": {"annotations": {SEEN: stage.value, SINCE: now}},
            "spec": {"unschedulable": cordoned},
        }
        try:
            await self._patch(name, patch)
        except KubeError as error:
            _LOG.info("node %s: %s", name, error)

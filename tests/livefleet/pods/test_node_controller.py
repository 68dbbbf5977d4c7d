"""The loop over the nodes ends when it is cancelled, whatever happens at that moment."""

import asyncio
from unittest.mock import Mock

import pytest

from livefleet.pods.nodes.controller import NodeController


@pytest.mark.parametrize("ticks", range(5))
def test_a_cancellation_that_comes_with_a_change_ends_the_loop(ticks: int) -> None:
    async def cancelled() -> bool:
        node_controller = NodeController(Mock(), Mock(), (Mock(), Mock()), Mock(), Mock())
        running = asyncio.ensure_future(node_controller.run())
        await asyncio.sleep(0.01)
        node_controller.changed()
        for _ in range(ticks):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running], timeout=1)
        return running.cancelled()

    assert asyncio.run(cancelled())

"""The loop over the nodes ends when it is cancelled, whatever happens at that moment."""

import asyncio
from unittest.mock import Mock

import pytest

from livefleet.pods.nodes.keeper import NodeKeeper


@pytest.mark.parametrize("ticks", range(5))
def test_a_cancellation_that_comes_with_a_change_ends_the_loop(ticks: int) -> None:
    async def cancelled() -> bool:
        keeper = NodeKeeper(Mock(), Mock(), (Mock(), Mock()), Mock(), Mock())
        running = asyncio.ensure_future(keeper.run())
        await asyncio.sleep(0.01)
        keeper.changed()
        for _ in range(ticks):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running], timeout=1)
        return running.cancelled()

    assert asyncio.run(cancelled())

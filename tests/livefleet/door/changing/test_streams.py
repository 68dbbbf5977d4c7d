"""Streams of every family's models while their pods end: none is lost that ends within the grace.

INFERENCE_PLATFORM_STREAMS says how many streams each family gets during each change. The figures are
shown with ``--log-cli-level=INFO``.
"""

import logging

import pytest

from tests.livefleet.door.changing.figures import Figures, streamed, table
from tests.livefleet.door.changing.stage import Change, Stage

_LOG = logging.getLogger(__name__)


def under_load(stage: Stage, change: Change, *, drains: bool = True) -> dict[str, Figures]:
    stage.rest(drains=drains)
    figures = streamed(stage, change)
    _LOG.info("%s%s\n%s", change, "" if drains else ", without hooks and timeouts", table(figures))
    return figures


@pytest.mark.parametrize("change", Change)
def test_no_stream_is_lost_that_ends_within_the_grace(stage: Stage, change: Change) -> None:
    figures = under_load(stage, change)
    assert not {family: each.lost for family, each in figures.items() if each.lost}


def test_without_hooks_and_timeouts_streams_are_cut(stage: Stage) -> None:
    figures = under_load(stage, Change.ROLLOUT, drains=False)
    assert all(each.lost for each in figures.values()), table(figures)

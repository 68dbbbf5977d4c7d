"""The models of all families in the live cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.door.programs import DoorPrograms
from livefleet.folder import LiveFolder
from tests.livefleet.door.changing.figures import SPEED
from tests.livefleet.door.changing.stage import Stage, staged
from toolkit.kube import Kube


@pytest.fixture(scope="module")
def stage(live_state: Path, live_kube: Kube, live_groups: None, door_tools: DoorPrograms) -> Iterator[Stage]:
    """The models of all families, behind a gateway."""
    with staged(live_kube, LiveFolder(live_state), SPEED) as stage:
        yield stage

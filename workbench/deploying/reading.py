"""What the live fleet plays of a stack, read from the plan of its program."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.contract.problems import errors
from livefleet import fleet_of

from ..planning.recording import recorded

if TYPE_CHECKING:
    from livefleet import LiveFleet


def read_fleet(folder: Path, stack: str) -> "LiveFleet | None":
    """Plan a stack without its cluster; nothing of it is played where something is wrong, which deploying says.

    Raises:
        WorkbenchError: there is no such stack, or its settings cannot be read.
    """
    from ..engine.project import load_project

    found = recorded(load_project(folder, stack, sealed=True)).planned
    if found is None or errors(found[1].problems):
        return None
    settings, planned = found
    return fleet_of(stack, planned) if settings.simulated_nodes else None

"""What the next ``up`` must build on this machine first, and how long that takes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from livefleet import LiveFolder, LivePlay, Speeds, fleet_of

from ..cluster import binaries
from .call import STATE_DIR

if TYPE_CHECKING:
    from components.plan.plan import Plan
    from stacks.settings import Settings

    from ..engine.project import Project

_CONTROL_PLANE_MINUTES = 4
_FURTHER_MINUTES = ((frozenset({"translator"}), 1), (frozenset({"prometheus", "adapter", "lws-controller"}), 1))
"""Minutes of what is built together, measured with empty caches on two cores with nothing else to do
(``tools/measure_start.py``): first the control plane, then the others, whose packages are mostly compiled by then."""


def build_minutes(programs: Iterable[str]) -> int:
    """Return about how many minutes the build of programs takes on two cores."""
    control_plane = set(programs)
    total = 0
    for group, minutes in _FURTHER_MINUTES:
        if control_plane & group:
            total += minutes
            control_plane -= group
    return total + _CONTROL_PLANE_MINUTES if control_plane else total


def described(programs: Iterable[str]) -> str:
    """Return ``etcd, kwok, once for all clones: about 6 min on two cores``."""
    names = list(programs)
    return f"{', '.join(names)}, once for all clones: about {build_minutes(names)} min on two cores"


def missing_programs(project: "Project", settings: "Settings", plan: "Plan") -> list[str]:
    """Return the programs that an ``up`` of a planned stack builds; none unless it targets the simulated cluster."""
    from .starting import is_playable

    state_dir = project.folder / STATE_DIR
    if not settings.simulated_nodes or not is_playable(project, state_dir):
        return []
    play = LivePlay(LiveFolder(state_dir), lambda: None, Speeds(), lambda _: None)
    play.fleet = fleet_of(project.stack, plan)
    return [*binaries.unbuilt(), *play.unbuilt_first(), *play.unbuilt()]

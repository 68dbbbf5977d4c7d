"""The live fleet of one ``up``: planned while the cluster starts, and started around the deployment."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from ..live.folder import LiveFolder
from ..live.part import Progress
from ..live.parts import Speeds, later_parts, pods_part, start_part, stop_live
from ..live.served import LiveFleet

if TYPE_CHECKING:
    from ..engine.project import Project

KUBECONFIG = "kubeconfig"


def is_playable(project: "Project", state_dir: Path) -> bool:
    """Tell whether a stack is deployed to the workbench's own simulated cluster, and has simulated nodes."""
    own = (project.folder / project.kubeconfig).resolve() == (state_dir / KUBECONFIG).resolve()
    simulated = project.config.get(f"{project.name}:simulatedNodes", "")
    return bool(project.kubeconfig) and own and simulated.lower() == "true"


@dataclass(slots=True)
class LivePlay:
    """What is played of a stack.

    Attributes:
        folder: Where the live fleet keeps its files.
        project: The folder of the project.
        tell: Told in one sentence what cannot be had.
        fleet: What is played; None before :meth:`begin`, and where something is wrong with the stack.
    """

    folder: LiveFolder
    project: Path
    stack: str
    speeds: Speeds
    tell: Callable[[str], None]
    fleet: LiveFleet | None = None
    _plan: "Future[LiveFleet | None] | None" = field(default=None, repr=False)

    def plan(self) -> None:
        """Begin to plan, beside what else is done meanwhile."""
        threads = ThreadPoolExecutor(1, thread_name_prefix="plan")
        self._plan = threads.submit(_read, self.project, self.stack)
        threads.shutdown(wait=False)

    def begin(self, progress: Progress) -> bool:
        """Stand behind the pods, before any is made; return whether somebody does."""
        self.fleet = self._plan.result() if self._plan else _read(self.project, self.stack)
        if self.fleet is None:
            return False
        self.folder.make()
        if self.folder.read_fleet() != self.fleet:
            self.folder.write_fleet(self.fleet)
        problem = start_part(pods_part(self.speeds), self.folder, self.fleet, progress)
        if problem:
            self.tell(f"nobody stands behind the pods, and no model answers: {problem}")
            self.fleet = None
        return not problem

    def unbuilt(self) -> tuple[str, ...]:
        """Return the programs that have to be built before :meth:`finish` can start what this fleet needs."""
        fleet = self.fleet
        if fleet is None:
            return ()
        return tuple(name for part in later_parts() if part.is_wanted(fleet) for name in part.unbuilt())

    def finish(self, progress: Progress) -> None:
        """Start what leads to the pods, once they are there."""
        if self.fleet is None:
            return
        for part in later_parts():
            problem = start_part(part, self.folder, self.fleet, progress)
            if problem:
                self.tell(problem)
        for sentence in self.fleet.at_rest:
            self.tell(sentence)

    def end(self) -> None:
        """Stop what runs: nobody shall stand behind the pods."""
        stop_live(self.folder)


def _read(project: Path, stack: str) -> LiveFleet | None:
    """Return what is played of a stack; None where something is wrong, which deploying says."""
    from ..live.reading.fleet import read_fleet

    try:
        return read_fleet(project, stack)
    except WorkbenchError:
        return None

"""The live fleet of one ``up``: planned while the cluster starts, and started around the deployment."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from toolkit.errors import UserError

from .folder import LiveFolder
from .part import Progress
from .parts import later_parts, pods_part, start_part, stop_live
from .served import LiveFleet
from .speeds import Speeds


@dataclass(slots=True)
class LivePlay:
    """What is played of a stack.

    Attributes:
        folder: Where the live fleet keeps its files.
        read: Returns what is played of the stack, or None where nothing of it is; may take seconds. A ``UserError``
            from it means that something is wrong with the stack, which deploying it says.
        tell: Told in one sentence what cannot be had.
        fleet: What is played; None before :meth:`begin`, and where something is wrong with the stack.
    """

    folder: LiveFolder
    read: Callable[[], LiveFleet | None]
    speeds: Speeds
    tell: Callable[[str], None]
    fleet: LiveFleet | None = None
    _plan: "Future[LiveFleet | None] | None" = field(default=None, repr=False)

    def plan(self) -> None:
        """Begin to plan, beside what else is done meanwhile."""
        threads = ThreadPoolExecutor(1, thread_name_prefix="plan")
        self._plan = threads.submit(self._read)
        threads.shutdown(wait=False)

    def begin(self, progress: Progress) -> bool:
        """Stand behind the pods, before any is made; return whether somebody does."""
        self.fleet = self._plan.result() if self._plan else self._read()
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

    def _read(self) -> LiveFleet | None:
        try:
            return self.read()
        except UserError:
            return None

"""Start and stop the live fleet: the process behind the pods first, then controllers, gateway and autoscaling."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from toolkit.errors import UserError
from toolkit.process import saved
from toolkit.toolchain import Progress

from .fleet import LiveFleet
from .folder import LiveFolder
from .option_values import Speeds


class LivePart(Protocol):
    """One process, or several that start and stop together."""

    @property
    def name(self) -> str:
        """Name of its files and its log."""

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether a stack needs the part."""

    def unbuilt(self) -> tuple[str, ...]:
        """Return the programs that :meth:`prepare` must build first, which takes minutes."""

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:
        """Build or install the programs of the part, once per user.

        Raises:
            UserError: a program is not available here; the message says why. The stack works without the part.
        """

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start the part, or update it if it runs; return when it is ready. Idempotent.

        Raises:
            UserError: it did not start; the message ends with its log.
        """

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Stop the part and delete its addresses; return the names of the processes that ran."""


def pods_part(speeds: Speeds) -> LivePart:
    """Return the process behind the pods."""
    from .pods.part import PodsPart

    return PodsPart(speeds.answers, speeds.starts)


def groups_part() -> LivePart:
    """Return the controller of LeaderWorkerSets."""
    from .groups.part import GroupsPart

    return GroupsPart()


def later_parts() -> tuple[LivePart, ...]:
    """Return the parts that send requests to the pods, in start order."""
    from .door.part import DoorPart
    from .loop.part import LoopPart

    return DoorPart(), LoopPart()


def start_part(part: LivePart, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> str:
    """Start a part, or stop it if the stack does not need it.

    Returns:
        Why the part is unavailable; empty if it runs or is not needed.
    """
    if not part.is_wanted(fleet):
        part.stop(folder)
        return ""
    try:
        part.prepare(fleet, progress)
        part.start(folder, fleet, progress)
    except UserError as error:
        return f"{part.name}: {error}"
    return ""


@dataclass(slots=True)
class LivePlay:
    """The live fleet of one deployment: planned while the cluster starts, started before and after the deployment.

    Attributes:
        folder: Files of the live fleet.
        read: Returns the fleet of the stack, or None if it has none; may take seconds. Its ``UserError`` is ignored,
            because the deployment reports the same error.
        tell: Receives a sentence about each part that is unavailable.
        fleet: The fleet; None before :meth:`begin`, and if :attr:`read` failed.
    """

    folder: LiveFolder
    read: Callable[[], LiveFleet | None]
    speeds: Speeds
    tell: Callable[[str], None]
    fleet: LiveFleet | None = None
    _plan: "Future[LiveFleet | None] | None" = field(default=None, repr=False)

    def plan(self) -> None:
        """Start planning in the background."""
        executor = ThreadPoolExecutor(1, thread_name_prefix="plan")
        self._plan = executor.submit(self._read)
        executor.shutdown(wait=False)

    def begin(self, progress: Progress) -> bool:
        """Start the process behind the pods, before the first pod is created; return whether it runs.

        Where there are LeaderWorkerSets, their controller starts, too, and is built before if it is missing.
        """
        self.fleet = self._plan.result() if self._plan else self._read()
        if self.fleet is None:
            return False
        self.folder.make()
        if self.folder.read_fleet() != self.fleet:
            self.folder.write_fleet(self.fleet)
        problem = start_part(pods_part(self.speeds), self.folder, self.fleet, progress)
        if problem:
            self.tell(f"no model answers: {problem}")
            self.fleet = None
            return False
        # Before the first LeaderWorkerSet is applied: the webhooks set its defaults.
        if problem := start_part(groups_part(), self.folder, self.fleet, progress):
            self.tell(problem)
        return True

    def unbuilt(self) -> tuple[str, ...]:
        """Return the programs that must be built before :meth:`finish` can start what this fleet needs."""
        return self._unbuilt(later_parts())

    def unbuilt_first(self) -> tuple[str, ...]:
        """Return the programs that :meth:`begin` must build, or could not build."""
        return self._unbuilt((groups_part(),))

    def _unbuilt(self, parts: tuple[LivePart, ...]) -> tuple[str, ...]:
        fleet = self.fleet
        if fleet is None:
            return ()
        return tuple(name for part in parts if part.is_wanted(fleet) for name in part.unbuilt())

    def finish(self, progress: Progress) -> None:
        """Start the gateway and the autoscaling loop, once the pods exist."""
        if self.fleet is None:
            return
        for part in later_parts():
            problem = start_part(part, self.folder, self.fleet, progress)
            if problem:
                self.tell(problem)
        for sentence in self.fleet.at_rest:
            self.tell(sentence)

    def end(self) -> None:
        """Stop all processes, for a deployment without the live fleet."""
        stop_live(self.folder)

    def _read(self) -> LiveFleet | None:
        try:
            return self.read()
        except UserError:
            return None


def recover(folder: LiveFolder) -> None:
    """Delete the objects that a killed process left in the cluster and that would disturb other commands."""
    from .groups.part import GroupsPart
    from .loop.part import LoopPart

    if folder.path.exists():
        GroupsPart().recover(folder)
        LoopPart().recover(folder)


def stop_live(folder: LiveFolder) -> tuple[str, ...]:
    """Stop every part in reverse start order; return the names of the processes that ran."""
    if not folder.path.exists():
        return ()
    parts = (pods_part(Speeds()), groups_part(), *later_parts())
    return tuple(name for part in reversed(parts) for name in part.stop(folder))


def withdraw(folder: LiveFolder, stack: str) -> None:
    """Stop simulating a stack: its endpoints close, and the objects that the live fleet created for it are deleted.

    The process behind the pods keeps running, for the next stack.
    """
    fleet = folder.read_fleet() if folder.path.exists() else None
    if fleet is None or fleet.stack != stack:
        return
    from .door.keys import delete_created
    from .door.references import door_objects

    folder.write_fleet(LiveFleet(stack))
    for part in reversed((groups_part(), *later_parts())):
        part.stop(folder)
    delete_created(folder, door_objects(fleet))


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A process of the live fleet, as ``cluster status`` shows it.

    Attributes:
        pid: None if it exited by itself.
    """

    name: str
    pid: int | None


def live_processes(folder: LiveFolder) -> Iterator[LiveProcess]:
    """Yield the processes that were started and not stopped."""
    for file in sorted(folder.path.glob("*.pid")):
        process = saved(file)
        yield LiveProcess(file.stem, process.pid if process and process.alive() else None)

"""The parts of the live fleet in their order: what stands behind the pods first, then what leads to them."""

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.errors import UserError
from toolkit.process import saved

from .folder import LiveFolder
from .part import LivePart, Progress
from .served import LiveFleet
from .speeds import Speeds


def pods_part(speeds: Speeds) -> LivePart:
    """Return what stands behind the pods."""
    from .pods.part import PodsPart

    return PodsPart(speeds.answers, speeds.starts)


def later_parts() -> tuple[LivePart, ...]:
    """Return what leads to the pods, in the order in which it is started."""
    from .door.part import DoorPart
    from .loop.part import LoopPart

    return DoorPart(), LoopPart()


def start_part(part: LivePart, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> str:
    """Start a part, or stop it where a stack does not need it; return why it cannot be had, empty if it can."""
    if not part.is_wanted(fleet):
        part.stop(folder)
        return ""
    try:
        part.prepare(fleet, progress)
        part.start(folder, fleet, progress)
    except UserError as error:
        return f"{part.name}: {error}"
    return ""


def recover(folder: LiveFolder) -> None:
    """Take out of the cluster what a part that was ended by force left there, and what would be in others' way."""
    from .loop.part import LoopPart

    if folder.path.exists():
        LoopPart().recover(folder)


def stop_live(folder: LiveFolder) -> tuple[str, ...]:
    """Stop every part, last ones first; return the names of the processes that ran."""
    if not folder.path.exists():
        return ()
    parts = (pods_part(Speeds()), *later_parts())
    return tuple(name for part in reversed(parts) for name in part.stop(folder))


def withdraw(folder: LiveFolder, stack: str) -> None:
    """Play nothing of a stack any more: its endpoints are gone, and what stands behind pods waits for new ones.

    Nothing that the live fleet created for it stays in the cluster.
    """
    fleet = folder.read_fleet() if folder.path.exists() else None
    if fleet is None or fleet.stack != stack:
        return
    from .door.keys import delete_created
    from .door.references import door_objects

    folder.write_fleet(LiveFleet(stack))
    for part in reversed(later_parts()):
        part.stop(folder)
    delete_created(folder, door_objects(fleet))


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A process of the live fleet, as ``cluster status`` shows it."""

    name: str
    pid: int | None


def live_processes(folder: LiveFolder) -> Iterator[LiveProcess]:
    """Yield the processes that were started and not stopped; one that ended by itself has no pid."""
    for file in sorted(folder.path.glob("*.pid")):
        process = saved(file)
        yield LiveProcess(file.stem, process.pid if process and process.alive() else None)

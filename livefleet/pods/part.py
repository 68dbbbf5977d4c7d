"""``up`` starts the process behind the pods, and ``down`` stops it."""

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from components import engines
from toolkit import kube
from toolkit.errors import UserError
from toolkit.private import write_private
from toolkit.process import Process, save, saved, start
from toolkit.toolchain import Progress, tail
from toolkit.waiting import wait_until

from ..control_client import ControlClient
from ..fleet import LiveFleet
from ..folder import LiveFolder

_NAME = "pods"
_SECONDS = 30.0
_CODE = (Path(__file__).parents[1], *(Path(str(package.__file__)).parent for package in (kube, engines)))
"""What the process runs, wherever it is installed: with another version of it, the process is started anew."""


@dataclass(frozen=True, slots=True)
class PodsPart:
    """The process behind the pods.

    Attributes:
        answers: How much faster than life answers are; None leaves it as it is, or at 1.
        starts: How much faster than life nodes and pods start; None leaves it as it is, or at 60.
    """

    answers: float | None = None
    starts: float | None = None
    name: str = _NAME

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether a stack needs it: one that serves nothing has nodes all the same."""
        return bool(fleet.workloads or fleet.groups)

    def unbuilt(self) -> tuple[str, ...]:
        """Return nothing: it is Python."""
        return ()

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:
        """Do nothing: it is Python."""

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start it, or start it anew where its code has changed; return when it listens for the fleet.

        Raises:
            UserError: it did not start; the message holds the end of its log.
        """
        folder.make()
        version, note = _version(folder), folder.path / "pods.version"
        process = _running(folder)
        if process and note.exists() and note.read_text() == version:
            self._change_speed(folder)
        else:
            progress("starting the simulated engines")
            self.stop(folder)
            process = start(self._command(folder), folder.log(self.name))
            save(process, folder.pid_file(self.name))
            write_private(note, version.encode())
        self._await(folder, fleet, process)

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Stop it; return its name if it ran."""
        process = _running(folder)
        if process:
            process.stop()
        folder.pid_file(self.name).unlink(missing_ok=True)
        folder.forget_addresses(self.name)
        return (self.name,) if process else ()

    def _command(self, folder: LiveFolder) -> list[str]:
        speeds = {"answers": self.answers, "starts": self.starts}
        given = [f"--{name}={speed}" for name, speed in speeds.items() if speed is not None]
        package = __name__.rpartition(".")[0]
        return [sys.executable, "-m", package, str(folder.state_dir.resolve()), *given]

    def _change_speed(self, folder: LiveFolder) -> None:
        if self.answers is not None or self.starts is not None:
            ControlClient.of(folder).speed(self.answers, self.starts)

    def _await(self, folder: LiveFolder, fleet: LiveFleet, process: Process) -> None:
        titles = {endpoint.title for endpoint in fleet.endpoints}

        def listens() -> bool:
            return folder.addresses().endpoints.keys() == titles and _answers(folder)

        if wait_until(lambda: not process.alive() or listens(), _SECONDS) and process.alive():
            return
        log = folder.log(self.name)
        ended = "ended right after its start" if not process.alive() else f"did not answer within {_SECONDS:.0f} s"
        raise UserError(
            f"the process behind the simulated pods {ended}; end of {log}:\n{tail(log.read_text(errors='replace'))}"
        )


def _running(folder: LiveFolder) -> Process | None:
    process = saved(folder.pid_file(_NAME))
    return process if process and process.alive() else None


def _answers(folder: LiveFolder) -> bool:
    try:
        return bool(ControlClient.of(folder).state())
    except UserError:
        return False


def _version(folder: LiveFolder) -> str:
    """Return what changes with the code that it runs, and with the cluster's certificates."""
    digest = hashlib.sha256((folder.state_dir / "cluster" / "fleet.kubeconfig").read_bytes())
    for file in _sources():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterable[Path]:
    for folder in _CODE:
        yield from (file for file in sorted(folder.rglob("*")) if file.suffix in (".py", ".yaml"))

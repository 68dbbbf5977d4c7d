"""``up`` starts the process behind the pods, and ``down`` stops it."""

import hashlib
import sys
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
_READY_SECONDS = 30.0
_CODE = (Path(__file__).parents[1], *(Path(str(package.__file__)).parent for package in (kube, engines)))
"""Folders of the code and tables that the process loads; it is restarted when they change."""


@dataclass(frozen=True, slots=True)
class PodsPart:
    """The process behind the pods.

    Attributes:
        answers: How much faster than real time answers are; None keeps the current speed, initially 1.
        starts: How much faster than real time nodes and pods start; None keeps the current speed, initially 60.
    """

    answers: float | None = None
    starts: float | None = None
    name: str = _NAME

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether a stack needs the process: also one that serves nothing, if it has nodes."""
        return bool(fleet.workloads or fleet.groups)

    def unbuilt(self) -> tuple[str, ...]:
        """Return nothing: the process is Python."""
        return ()

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:
        """Do nothing: the process is Python."""

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start the process, or restart it if its code has changed; return when it listens for the fleet.

        Raises:
            UserError: it did not start; the message ends with its log.
        """
        folder.make()
        version, version_file = _version(folder), folder.path / "pods.version"
        speeds = {"answers": self.answers, "starts": self.starts}
        running = _running(folder)
        if running and version_file.exists() and version_file.read_text() == version:
            process = running
            if any(speed is not None for speed in speeds.values()):
                ControlClient.of(folder).speed(self.answers, self.starts)
        else:
            progress("starting the simulated engines")
            self.stop(folder)
            package = __name__.rpartition(".")[0]
            options = [f"--{name}={speed}" for name, speed in speeds.items() if speed is not None]
            command = [sys.executable, "-m", package, str(folder.state_dir.resolve()), *options]
            process = start(command, folder.log(self.name))
            save(process, folder.pid_file(self.name))
            write_private(version_file, version.encode())
        titles = {endpoint.title for endpoint in fleet.endpoints}

        def listens() -> bool:
            try:
                return folder.addresses().endpoints.keys() == titles and bool(ControlClient.of(folder).state())
            except UserError:
                return False

        if wait_until(lambda: not process.alive() or listens(), _READY_SECONDS) and process.alive():
            return
        log = folder.log(self.name)
        failure = f"was not ready after {_READY_SECONDS:.0f} s" if process.alive() else "exited right after its start"
        raise UserError(
            f"the process behind the simulated pods {failure}; end of {log}:\n{tail(log.read_text(errors='replace'))}"
        )

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Stop the process; return its name if it ran."""
        process = _running(folder)
        if process:
            process.stop()
        folder.pid_file(self.name).unlink(missing_ok=True)
        folder.forget_addresses(self.name)
        return (self.name,) if process else ()


def _running(folder: LiveFolder) -> Process | None:
    process = saved(folder.pid_file(_NAME))
    return process if process and process.alive() else None


def _version(folder: LiveFolder) -> str:
    """Return a hash of the process's code and of its kubeconfig, which has the cluster's certificates."""
    digest = hashlib.sha256((folder.state_dir / "cluster" / "fleet.kubeconfig").read_bytes())
    for code in _CODE:
        for file in sorted(code.rglob("*")):
            if file.suffix in (".py", ".yaml"):
                digest.update(file.read_bytes())
    return digest.hexdigest()

"""The gateway as a part of the live fleet."""

import hashlib
import sys
from pathlib import Path

from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.ports import LOOPBACK
from toolkit.private import private_folder
from toolkit.toolchain import Progress, tail
from toolkit.waiting import wait_until

from ..daemons import keep_running, kept_port, listens, running_daemon, stop_daemon
from ..fleet import LiveFleet, Object
from ..folder import LiveFolder
from ..go_tools import unbuilt
from .envoy import envoy_command
from .keys import KEY, ensure_certificates, ensure_keys
from .messages import check_messages
from .programs import GATEWAY, door_programs
from .references import door_objects
from .status import IDENTITY, STATUS, DoorStatus, digest_of

_PROCESS, _ENVOY = "door", "envoy"
_SECONDS = 60.0


class DoorPart:
    """Envoy, and the process that configures it."""

    name = "door"

    def is_wanted(self, fleet: LiveFleet) -> bool:
        return bool(door_objects(fleet))

    def unbuilt(self) -> tuple[str, ...]:
        """Return the translator, if it must be built."""
        return unbuilt(GATEWAY)

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:  # noqa: ARG002 - as parts are called
        """Install Envoy and build the translator.

        Raises:
            UserError: a program is not available on this machine.
        """
        try:
            check_messages()
            door_programs(progress)
        except UserError as error:
            raise UserError(
                f"the gateway is not available, models are served at their own addresses: {error}"
            ) from None

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start or update both processes; return when the gateway accepts requests.

        Raises:
            UserError: a process did not start, or Envoy Gateway rejected objects.
        """
        programs = door_programs(progress)
        objects = door_objects(fleet)
        for name in (_PROCESS, _ENVOY):
            private_folder(folder.path / name)
        try:
            with Kube.from_kubeconfig(folder.kubeconfig) as kube:
                ensure_keys(kube, folder, objects)
                ensure_certificates(kube, folder, objects)
        except KubeError as error:
            raise UserError(f"the gateway is not available, creating its Secrets failed: {error}") from None
        ports = {name: kept_port(folder, name) for name in (_ENVOY, _PROCESS)}
        status = self._translated(folder, programs.translator, ports, objects, progress)
        if not status.ports:
            reasons = status.error or "\n".join(status.problems) or "it has no listener"
            raise UserError(f"the gateway is not available: {reasons}")
        port = min(status.ports.values())
        if keep_running(
            folder, _ENVOY, envoy_command(programs.envoy, folder.path.resolve() / _ENVOY), lambda: listens(port)
        ):
            progress("started Envoy")
        gateways = [body for body in fleet.door if body["kind"] == "Gateway"]
        has_tls = any("tls" in listener for gateway in gateways for listener in gateway["spec"]["listeners"])
        scheme = "https" if has_tls else "http"
        folder.write_addresses(self.name, door=f"{scheme}://{LOOPBACK}:{port}")
        if status.error:
            raise UserError(f"the gateway is as it was before: {status.error}")
        if status.problems:
            raise UserError("\n".join(("Envoy Gateway rejected some objects of the gateway:", *status.problems)))

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Stop both processes; return the names of those that ran."""
        folder.forget_addresses(self.name)
        stopped = tuple(name for name in (_ENVOY, _PROCESS) if stop_daemon(folder, name))
        (folder.path / _PROCESS / STATUS).unlink(missing_ok=True)
        (folder.path / KEY).unlink(missing_ok=True)
        return stopped

    def _translated(
        self,
        folder: LiveFolder,
        translator: Path,
        ports: dict[str, int],
        objects: tuple[Object, ...],
        progress: Progress,
    ) -> DoorStatus:
        """Start the process, and return the status that it writes after its translation."""
        process_folder = folder.path.resolve() / _PROCESS
        command = [sys.executable, "-m", __name__.rpartition(".")[0], f"{process_folder}/"]
        command += [f"--translator={translator}", f"--listen={ports[_ENVOY]}", f"--processor={ports[_PROCESS]}"]
        file, version = process_folder / STATUS, _version(folder)
        digest = digest_of(objects, version)

        def status() -> DoorStatus | None:
            written = DoorStatus.read(file)
            return written if written and written.of == digest else None

        if running_daemon(folder, _PROCESS) is None:
            file.unlink(missing_ok=True)
        if keep_running(folder, _PROCESS, [*command, f"--version={version}"], lambda: True):
            progress("translating the gateway")
        wait_until(lambda: status() is not None or running_daemon(folder, _PROCESS) is None, _SECONDS)
        current = status()
        if current is None:
            log = folder.log(_PROCESS)
            raise UserError(
                f"the gateway was not translated within {_SECONDS:.0f} s; end of {log}:\n"
                f"{tail(log.read_text(errors='replace'))}"
            )
        return current


def _version(folder: LiveFolder) -> str:
    """Return a digest of the process's code and of the cluster's certificates: a change restarts it."""
    digest = hashlib.sha256((folder.state_dir / "cluster" / f"{IDENTITY}.kubeconfig").read_bytes())
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]

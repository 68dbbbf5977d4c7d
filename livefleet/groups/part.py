"""The controller of LeaderWorkerSets as a part of the live fleet."""

from collections.abc import Mapping
from pathlib import Path

from components.fleet.shapes import shape_named
from toolkit.certificates import self_signed
from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.ports import LOOPBACK
from toolkit.private import private_folder
from toolkit.process import flags
from toolkit.toolchain import Progress

from ..daemons import keep_running, kept_port, listens, running_daemon, stop_daemon
from ..fleet import LiveFleet
from ..folder import LiveFolder
from ..go_tools import Tool, ensure_built, unbuilt
from .registration import HOST, register, withdraw

CONTROLLER = Tool("lws-controller", ("inference-platform/livefleet/tools/lws-controller",))
NAME = "lws-controller"
IDENTITY = "lws-controller"
"""Its identity in the cluster (``pki.IDENTITIES``); its rights are in ``workbench/cluster/access.py``."""
_WITHOUT = "LeaderWorkerSets stay Pending, without pods"


class GroupsPart:
    """The controller of LeaderWorkerSets with its webhooks, for stacks that have any.

    It starts before the sets are applied, because its webhooks complete them and their pods.
    """

    name = "groups"

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether a stack has a LeaderWorkerSet."""
        shapes = (shape_named(workload.kind) for workload in fleet.workloads)
        return any(shape is not None and shape.has_groups for shape in shapes)

    def unbuilt(self) -> tuple[str, ...]:
        """Return the missing program."""
        return unbuilt(CONTROLLER)

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:  # noqa: ARG002 - as parts are called
        """Build the program.

        Raises:
            UserError: it cannot be built on this machine.
        """
        try:
            ensure_built(CONTROLLER, progress)
        except UserError as error:
            raise UserError(f"{_WITHOUT}, since their controller cannot be built: {error}") from None

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:  # noqa: ARG002
        """Start the program and register its webhooks.

        Raises:
            UserError: it did not start, or the cluster refused its webhooks.
        """
        program = ensure_built(CONTROLLER, progress)[NAME]
        identity = folder.state_dir / "cluster" / f"{IDENTITY}.kubeconfig"
        try:
            with Kube.from_kubeconfig(folder.kubeconfig) as kube:
                if start_controller(folder, program, identity, kube):
                    progress("started the controller of LeaderWorkerSets")
        except (UserError, KubeError) as error:
            self.stop(folder)
            raise UserError(f"{_WITHOUT}: {error}") from None

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Withdraw the webhooks, stop the program, and return its name if it ran."""
        self._withdraw(folder)
        return (NAME,) if stop_daemon(folder, NAME) else ()

    def recover(self, folder: LiveFolder) -> None:
        """Withdraw the webhooks if the program was killed: the cluster would refuse every pod of a set."""
        if (folder.path / NAME).exists() and running_daemon(folder, NAME) is None:
            self._withdraw(folder)

    def _withdraw(self, folder: LiveFolder) -> None:
        # If the cluster does not run, ``recover`` of the next command does this.
        if not (folder.path / NAME).exists():
            return
        try:
            with Kube.from_kubeconfig(folder.kubeconfig) as kube:
                withdraw(kube)
        except (OSError, KubeError):
            return


def start_controller(folder: LiveFolder, program: Path, identity: Path, kube: Kube) -> bool:
    """Start the controller unless it runs, and register its webhooks; return whether it was started.

    Args:
        folder: Where its files are.
        program: The program.
        identity: Kubeconfig of the program.
        kube: A client with all rights.

    Raises:
        UserError: it did not start; the message ends with its log.
    """
    certificates = folder.path / NAME
    private_folder(certificates)
    port = kept_port(folder, NAME)
    certificate = certificates / "tls.crt"
    if not certificate.exists():
        self_signed(certificates, "tls", HOST)
    settings: Mapping[str, object] = {
        "kubeconfig": identity,
        "webhook-host": LOOPBACK,
        "webhook-port": port,
        "cert-dir": certificates,
    }
    started = keep_running(folder, NAME, [str(program), *flags(settings)], lambda: listens(port))
    register(kube, port, certificate)
    return started

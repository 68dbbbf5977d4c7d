"""The autoscaling loop as a part of the live fleet."""

from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.private import private_folder
from toolkit.toolchain import Progress

from ..daemons import running_daemon, stop_daemon
from ..fleet import LiveFleet
from ..folder import LiveFolder
from ..go_tools import ensure_built, unbuilt
from . import adapter, prometheus
from .programs import ADAPTER, PROMETHEUS
from .registration import withdraw

_PROGRAMS = (adapter.NAME, prometheus.NAME)


class LoopPart:
    """Prometheus and prometheus-adapter; the autoscalers themselves run in the cluster."""

    name = "loop"

    def is_wanted(self, fleet: LiveFleet) -> bool:
        """Tell whether an autoscaler reads a serving metric."""
        return bool(fleet.autoscalers)

    def unbuilt(self) -> tuple[str, ...]:
        """Return the missing programs."""
        return unbuilt(PROMETHEUS, ADAPTER)

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:  # noqa: ARG002 - as parts are called
        """Build both programs.

        Raises:
            UserError: they cannot be built on this machine.
        """
        try:
            for tool in (PROMETHEUS, ADAPTER):
                ensure_built(tool, progress)
        except UserError as error:
            raise UserError(f"autoscalers will not scale, since their metrics need a program: {error}") from None

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        """Start both programs, or restart them if their configuration changed; return when metrics are available.

        Raises:
            UserError: a program did not start, or the cluster does not reach the adapter.
        """
        for name in _PROGRAMS:
            private_folder(folder.path / name)
        programs = {**ensure_built(PROMETHEUS, progress), **ensure_built(ADAPTER, progress)}
        url = prometheus.start_prometheus(programs["prometheus"], folder, fleet.monitors, progress)
        folder.write_addresses(self.name, prometheus=url)
        with Kube.from_kubeconfig(folder.kubeconfig) as kube:
            try:
                adapter.start_adapter(
                    programs["adapter"], folder, kube=kube, rules=fleet.rules, prometheus=url, progress=progress
                )
            except (UserError, KubeError) as error:
                self._withdraw(folder)
                raise UserError(f"autoscalers will not scale: {error}") from None

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        """Unregister the metrics APIs, stop both programs, and return the names of those that ran."""
        self._withdraw(folder)
        folder.forget_addresses(self.name)
        return tuple(name for name in _PROGRAMS if stop_daemon(folder, name))

    def recover(self, folder: LiveFolder) -> None:
        """Unregister the metrics APIs if the adapter was killed."""
        # Before anything is deployed: Kubernetes does not delete a namespace while a registered API has no server.
        if (folder.path / adapter.NAME).exists() and running_daemon(folder, adapter.NAME) is None:
            self._withdraw(folder)

    def _withdraw(self, folder: LiveFolder) -> None:
        # If the cluster does not run, ``recover`` of the next command does this.
        if not folder.kubeconfig.exists():
            return
        try:
            with Kube.from_kubeconfig(folder.kubeconfig) as kube:
                withdraw(kube)
        except KubeError:
            return

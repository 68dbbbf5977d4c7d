"""The simulated cluster and the live fleet of one ``up``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from livefleet import LiveFolder, LivePlay, Speeds, recover

from ..errors import WorkbenchError
from .builds import described
from .call import StackCall

if TYPE_CHECKING:
    from rich.console import Console

    from livefleet import LiveFleet

    from ..engine.project import Project


def read_fleet(folder: Path, stack: str) -> "LiveFleet | None":
    """Return the live fleet of a stack, planned without its cluster.

    None if the stack has no simulated nodes, or if its plan has errors: the deployment reports those.

    Raises:
        WorkbenchError: the stack does not exist, or its settings cannot be read.
    """
    from components.contract.problems import errors
    from livefleet import fleet_of

    from ..engine.project import load_project
    from ..planning.recording import recorded

    planned = recorded(load_project(folder, stack, sealed=True)).planned
    if planned is None:
        return None
    settings, plan = planned
    return fleet_of(stack, plan) if settings.simulated_nodes and not errors(plan.problems) else None


KUBECONFIG = "kubeconfig"


def is_playable(project: "Project", state_dir: Path) -> bool:
    """Whether a stack targets the workbench's simulated cluster, and has simulated nodes."""
    own = (project.folder / project.kubeconfig).resolve() == (state_dir / KUBECONFIG).resolve()
    simulated = project.config.get(project.key("simulatedNodes"), "")
    return bool(project.kubeconfig) and own and simulated.lower() == "true"


class StackStart:
    """The simulated cluster and the live fleet around one deployment.

    Args:
        call: The arguments of ``up``.
        starts: Whether to start the cluster.
        live: Whether simulated model servers answer; False stops a running live fleet.
        speeds: Speed-up of answers and starts.
    """

    def __init__(self, call: StackCall, *, starts: bool, live: bool, speeds: Speeds) -> None:
        self._call, self._starts = call, starts and not call.kubeconfig
        project = None if call.kubeconfig else call.sealed_project()
        self._own = project is not None and is_playable(project, call.state_dir)
        self._console = _console()
        self._play = LivePlay(
            LiveFolder(call.state_dir), lambda: read_fleet(call.cwd, call.stack), speeds, self._print
        )
        self._live = live and self._own and (self._starts or self._is_live)
        self._silenced = not live and self._own and self._is_live

    @property
    def _is_live(self) -> bool:
        """Whether the live fleet, and not kwok, decides which pods are Ready."""
        from ..cluster.cluster import KwokStages

        return KwokStages(self._call.state_dir.resolve() / "cluster").live

    def before(self) -> None:
        """Start the cluster, and the simulated model servers of its pods.

        Raises:
            WorkbenchError: no control plane is available on this machine.
        """
        if self._silenced:
            self._play.end()
        if self._starts:
            self._start_cluster(live=True if self._live else False if self._own else None)
        elif self._silenced:
            self._restart_kwok(live=False)
        if self._own:
            recover(LiveFolder(self._call.state_dir))
        if self._live:
            with self._progress() as progress:
                has_begun = self._play.begin(progress)
            if not has_begun and not LiveFolder(self._call.state_dir).addresses().control:
                self._restart_kwok(live=False)
            if missing := self._play.unbuilt():
                self._print(f"after the deployment, programs are built: {described(missing)}")

    def after(self, show: Callable[[], None]) -> bool:
        """Start the gateway and the autoscaling programs.

        Args:
            show: Prints the models; called before programs are built, which takes minutes.

        Returns:
            Whether the models were printed.
        """
        if not self._live:
            return False
        missing = self._play.unbuilt()
        if missing:
            show()
            self._print(
                "\nThe models answer already. Next, the programs of the gateway and of autoscaling are built: "
                f"{described(missing)}. Ctrl-C skips this step and leaves the deployment as it is.\n"
            )
        with self._progress() as progress:
            self._play.finish(progress)
        return bool(missing)

    def _print(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    @contextmanager
    def _progress(self) -> Iterator[Callable[[str], None]]:
        from ..cluster.commands import shown_progress

        with shown_progress(self._console, "starting the live fleet") as progress:
            yield progress

    def _restart_kwok(self, *, live: bool) -> None:
        """Restart kwok so that it marks pods as Ready by itself again."""
        from ..cluster.cluster import SimulatedCluster

        SimulatedCluster(self._call.state_dir).start(live=live)

    def _start_cluster(self, *, live: bool | None) -> None:
        """Start the simulated cluster; if its programs must be built first, show the plan before."""
        from ..cluster.binaries import NoControlPlaneError, unbuilt
        from ..cluster.cluster import SimulatedCluster
        from ..cluster.commands import shown_progress
        from .tables import StackReport, show_headline, show_stack

        if missing := unbuilt():
            # Models, nodes and endpoints as planned; the program logs its errors and warnings.
            planned = replace(self._call, options={"offline": True}).local().record(preview=True).exports
            report = StackReport.of(self._call, planned, asks=False)
            show_headline(report, "planned")
            show_stack(report, self._call.findings, details=False)
            self._print(
                f"\nThis is the plan of stack {self._call.stack!r}. Next, the control plane is built: "
                f"{described(missing)}; the remaining time is shown."
            )
        elif self._live:
            self._play.plan()
        try:
            with shown_progress(self._console) as progress:
                running = SimulatedCluster(self._call.state_dir).start(progress=progress, live=live)
        except NoControlPlaneError as error:
            raise WorkbenchError(
                "\n"
                "Nothing was deployed, because no control plane is available here.\n"
                f"{error}\n"
                "\n"
                "The stack was validated, planned and rendered."
            ) from None
        status = f"started {', '.join(running.started)}" if running.started else "already running"
        self._print(f"simulated cluster: {status}; {running.server}")


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False)

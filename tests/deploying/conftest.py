"""A project whose parts and cluster are stubs, which note what they are asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from livefleet import lifecycle
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from livefleet.option_values import Speeds
from tests.livefleet.reading.test_edits import model, written
from toolkit.toolchain import Progress
from workbench.cluster import cluster as clusters
from workbench.cluster.cluster import KwokStages, Running
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.starting import StackStart
from workbench.errors import WorkbenchError

_USUAL = Speeds()


@dataclass
class StubPart:
    """Notes what it is asked for."""

    name: str
    log: list[str]
    wanted: Callable[[LiveFleet], bool] = lambda fleet: bool(fleet.workloads)
    absent: str = ""
    broken: str = ""
    running: bool = False
    lacks: tuple[str, ...] = ()

    def unbuilt(self) -> tuple[str, ...]:
        return self.lacks

    def is_wanted(self, fleet: LiveFleet) -> bool:
        return self.wanted(fleet)

    def prepare(self, fleet: LiveFleet, progress: Progress) -> None:
        del fleet, progress
        if self.absent:
            raise WorkbenchError(self.absent)

    def start(self, folder: LiveFolder, fleet: LiveFleet, progress: Progress) -> None:
        del progress
        if self.broken:
            raise WorkbenchError(self.broken)
        self.log.append(f"{self.name} {' '.join(each.name for each in fleet.workloads)}".strip())
        self.running = True
        if self.name == "pods":
            folder.write_addresses("pods", control="http://127.0.0.1:1", token="t")

    def stop(self, folder: LiveFolder) -> tuple[str, ...]:
        folder.forget_addresses(self.name)
        stopped = (self.name,) if self.running else ()
        self.log.extend(f"stop {name}" for name in stopped)
        self.running = False
        return stopped


@dataclass
class Stage:
    """A project on a cluster that is not there."""

    folder: Path
    log: list[str] = field(default_factory=list)
    speeds: list[Speeds] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pods, self.door, self.loop = (StubPart(name, self.log) for name in ("pods", "door", "loop"))
        self.groups = StubPart("groups", self.log, wanted=lambda _: False)
        self.loop.wanted = lambda fleet: bool(fleet.autoscalers)

    @property
    def live(self) -> LiveFolder:
        return LiveFolder(self.folder / ".workbench")

    def part(self, speeds: Speeds) -> StubPart:
        self.speeds.append(speeds)
        return self.pods

    def up(
        self, *, starts: bool = True, live: bool = True, kubeconfig: str = "", speeds: Speeds = _USUAL
    ) -> StackStart:
        call = StackCall("dev", Deployer.LOCAL, kubeconfig, self.folder)
        start = StackStart(call, starts=starts, live=live, speeds=speeds)
        start.before()
        self.log.append("deploy")
        start.after(lambda: self.log.append("show"))
        return start


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(written(tmp_path, model("one")))

    def start(self: clusters.SimulatedCluster, *_: object, live: bool | None = None, **__: object) -> Running:
        self.folder.mkdir(parents=True, exist_ok=True)
        if live is not None:
            KwokStages(self.folder).live = live
        stage.log.append({True: "cluster, live", False: "cluster, plain", None: "cluster"}[live])
        return Running(self.kubeconfig, "https://127.0.0.1:1", ())

    monkeypatch.setattr(clusters.SimulatedCluster, "start", start)
    monkeypatch.setattr("workbench.cluster.binaries.unbuilt", list)
    monkeypatch.setattr("workbench.deploying.starting.recover", lambda _: None)
    monkeypatch.setattr(lifecycle, "pods_part", stage.part)
    monkeypatch.setattr(lifecycle, "groups_part", lambda: stage.groups)
    monkeypatch.setattr(lifecycle, "later_parts", lambda: (stage.door, stage.loop))
    return stage

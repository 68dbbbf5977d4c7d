"""What every command on a stack is given, and the engine that it asks for."""

import enum
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.private import private_folder

from ..errors import WorkbenchError

if TYPE_CHECKING:
    from ..engine.local import LocalEngine
    from ..engine.project import Project
    from ..engine.pulumi_cli import PulumiCli

STATE_DIR = ".workbench"


class Deployer(enum.StrEnum):
    """Who deploys."""

    AUTO = "auto"
    PULUMI = "pulumi"
    LOCAL = "local"


@dataclass(slots=True)
class StackCall:
    """What every command is given."""

    stack: str
    engine: Deployer
    kubeconfig: str
    cwd: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def state_dir(self) -> Path:
        """Where the workbench keeps its files."""
        return self.cwd / STATE_DIR

    def cli(self) -> "PulumiCli | None":
        """Return the Pulumi CLI when it is what shall deploy."""
        from ..engine.pulumi_cli import PulumiCli, installed

        if self.engine is Deployer.LOCAL:
            return None
        if installed():
            return PulumiCli(self.cwd, self.stack, self.state_dir, self.kubeconfig)
        if self.engine is Deployer.PULUMI:
            raise WorkbenchError("pulumi is not on the PATH; install the Pulumi CLI, or use --engine local")
        return None

    def local(self, status: Callable[[str], None] = lambda _: None, *, as_json: bool = False) -> "LocalEngine":
        """Return the local engine."""
        from ..engine.display import Display, JsonDisplay
        from ..engine.local import LocalEngine, RunOptions
        from ..engine.project import load_project

        given = str(Path(self.kubeconfig).resolve()) if self.kubeconfig else ""
        if given and not Path(given).is_file():
            raise WorkbenchError(f"--kubeconfig: file {self.kubeconfig} does not exist")
        project = load_project(self.cwd, self.stack, {"kubeconfig": given} if given else None)
        options: RunOptions = RunOptions(kubeconfig=given, status=status, **self.options)
        named = project.kubeconfig  # a stack that makes its cluster has none
        # Path's own raises where the name is too long.
        if options.offline and named and not os.path.isfile(self.cwd / named):  # noqa: PTH113
            stand_in = {"kubeconfig": str(_stand_in(self.state_dir))}
            project = load_project(self.cwd, self.stack, stand_in)
        display = JsonDisplay() if as_json else Display()
        return LocalEngine(project, self.state_dir / "stacks", display, options)

    def sealed_project(self) -> "Project | None":
        """Return the project with its secrets as they are kept; None where it cannot be read."""
        from ..engine.project import load_project

        try:
            return load_project(self.cwd, self.stack, sealed=True)
        except WorkbenchError:
            return None


def _stand_in(folder: Path) -> Path:
    """Return a kubeconfig that leads nowhere, for programs that insist on one when only a plan is made."""
    private_folder(folder)
    path = folder / "offline.kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
    return path

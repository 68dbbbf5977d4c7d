"""The arguments of a command on a stack, and the engine that runs it."""

import enum
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.contract.texts.printable import printable
from components.contract.texts.secrets import SECRET_TEXT
from toolkit.printing import print_to_stderr
from toolkit.private import private_folder

from ..errors import WorkbenchError
from .findings import ProgramFindings

if TYPE_CHECKING:
    from ..engine.local import LocalEngine
    from ..engine.project import Project
    from ..engine.pulumi_cli import PulumiCli

STATE_DIR = ".workbench"


class Deployer(enum.StrEnum):
    AUTO = "auto"
    PULUMI = "pulumi"
    LOCAL = "local"


@dataclass(slots=True)
class StackCall:
    """The arguments of a command on a stack.

    Attributes:
        options: Arguments of ``RunOptions`` for the local engine.
        findings: What was found in the manifests of the program.
    """

    stack: str
    engine: Deployer
    kubeconfig: str
    cwd: Path
    options: dict[str, Any] = field(default_factory=dict)
    findings: ProgramFindings = field(default_factory=ProgramFindings)

    @property
    def state_dir(self) -> Path:
        return self.cwd / STATE_DIR

    def cli(self) -> "PulumiCli | None":
        """Return the Pulumi CLI, or None for the local engine.

        Raises:
            WorkbenchError: the Pulumi CLI is asked for, and neither installed nor built.
        """
        from ..engine.programs import built
        from ..engine.pulumi_cli import PulumiCli, installed

        if self.engine is Deployer.LOCAL:
            return None
        if installed() or (self.engine is Deployer.PULUMI and built()):
            return PulumiCli(self.cwd, self.stack, self.state_dir, self.kubeconfig)
        if self.engine is Deployer.PULUMI:
            raise WorkbenchError(
                "pulumi is not on the PATH; install the Pulumi CLI, build it with `workbench dev build-pulumi`, or "
                "use --engine local"
            )
        return None

    def local(
        self,
        status: Callable[[str], None] = lambda _: None,
        *,
        as_json: bool = False,
        details: bool = False,
        deployed: bool = False,
    ) -> "LocalEngine":
        """Return the local engine.

        Args:
            status: Shows the progress.
            as_json: Whether previews are JSON.
            details: Whether each resource and field is shown.
            deployed: Whether the headline tells which models are ready, because they are deployed by this command.

        Raises:
            WorkbenchError: the stack cannot be read.
        """
        from ..engine.display import Display, JsonDisplay
        from ..engine.local import LocalEngine, RunOptions
        from ..engine.project import load_project
        from .tables import StackReport

        override = str(Path(self.kubeconfig).resolve()) if self.kubeconfig else ""
        if override and not Path(override).is_file():
            raise WorkbenchError(f"--kubeconfig: file {self.kubeconfig} does not exist")
        options: RunOptions = RunOptions(kubeconfig=override, status=status, **self.options)
        given = {"kubeconfig": override} if override else None
        project = load_project(self.cwd, self.stack, given, offline=options.offline)
        encrypted = [key for key in project.secret_keys if SECRET_TEXT in project.config.get(key, "")]
        if encrypted:
            names = ", ".join(map(printable, encrypted))
            print_to_stderr([f"note: {names}: encrypted values are not compared; set PULUMI_CONFIG_PASSPHRASE"])
        configured = project.kubeconfig  # empty for a stack that creates its cluster
        # Path.is_file raises if the name is too long.
        if options.offline and configured and not os.path.isfile(self.cwd / configured):  # noqa: PTH113
            # The program reads its kubeconfig even if it is only planned.
            private_folder(self.state_dir)
            placeholder = self.state_dir / "offline.kubeconfig"
            placeholder.write_text("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
            project = load_project(self.cwd, self.stack, {"kubeconfig": str(placeholder)}, offline=True)

        def facts(exports: Mapping[str, Any]) -> Iterable[str]:
            return StackReport.of(self, exports, asks=deployed).facts()

        display = (
            JsonDisplay()
            if as_json
            else Display(details=details, facts=facts, findings=lambda: self.findings.messages)
        )
        return LocalEngine(project, self.state_dir / "stacks", display, options)

    def sealed_project(self) -> "Project | None":
        """Return the project with encrypted values left encrypted; None if it cannot be read."""
        from ..engine.project import load_project

        try:
            return load_project(self.cwd, self.stack, sealed=True)
        except WorkbenchError:
            return None

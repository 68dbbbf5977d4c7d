"""Where manifests come from without a cluster: files, or what Helm and Kustomize render."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from components.contract.problems import Problem
from components.contract.texts.outputs import shell_line
from components.contract.texts.printable import printable

from ..errors import WorkbenchError
from ..inspecting.reading import read_files, read_texts
from ..inspecting.snapshot import ClusterSnapshot

_SECONDS = 300
_MOST_CHARACTERS = 2000
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class HelmChart:
    """A chart to render.

    Attributes:
        chart: What `helm template` accepts: a folder, an archive, ``<repository>/<name>``, or a URL.
        values: Files of values; later ones override earlier ones.
        release: Name of the release, which is part of the names of most objects.
    """

    chart: str
    values: tuple[Path, ...] = ()
    version: str = ""
    release: str = ""

    @property
    def release_name(self) -> str:
        """Name of the release; the name of the chart unless one is given."""
        name = self.chart.rstrip("/").rpartition("/")[2].partition(":")[0].removesuffix(".tgz").lower()
        return self.release or _NOT_IN_NAMES.sub("-", name).strip("-") or "release"

    def command(self, namespace: str) -> list[str]:
        """Return the command that renders the chart."""
        return [
            *("helm", "template", "--no-hooks", "--namespace", namespace),
            *(("--version", self.version) if self.version else ()),
            *(word for file in self.values for word in ("--values", str(file))),
            *("--", self.release_name, self.chart),
        ]


def read_chart(chart: HelmChart, namespace: str) -> tuple[ClusterSnapshot, list[Problem]]:
    """Render a chart with the `helm` on the PATH; hooks are left out, because Helm alone runs them.

    Raises:
        WorkbenchError: helm is not on the PATH, or fails.
    """
    command = chart.command(namespace)
    if shutil.which("helm") is None:
        raise _absent("helm", "--chart", command)
    return read_texts([(printable(chart.chart), _output(command))], namespace)


def read_kustomization(folder: Path, namespace: str) -> tuple[ClusterSnapshot, list[Problem]]:
    """Build a kustomization with the `kustomize` on the PATH, otherwise with `kubectl kustomize`.

    Raises:
        WorkbenchError: neither is on the PATH, or it fails.
    """
    if not folder.is_dir():
        raise WorkbenchError(f"--kustomize: {printable(str(folder))} is not a folder with a kustomization", 2)
    commands = (["kustomize", "build", "--", str(folder)], ["kubectl", "kustomize", "--", str(folder)])
    command = next((command for command in commands if shutil.which(command[0])), None)
    if command is None:
        raise _absent("neither kustomize nor kubectl", "--kustomize", commands[0])
    return read_texts([(printable(str(folder)), _output(command))], namespace)


def read_origins(
    paths: Sequence[Path], chart: HelmChart | None, kustomization: Path | None, namespace: str
) -> tuple[ClusterSnapshot, list[Problem]]:
    """Read the one origin that is given.

    Args:
        paths: Files and folders; ``-`` reads stdin.
        chart: A chart to render.
        kustomization: Folder of a kustomization.
        namespace: Namespace of namespaced objects that set none.

    Raises:
        WorkbenchError: a program is missing or fails.
    """
    if chart:
        return read_chart(chart, namespace)
    if kustomization:
        return read_kustomization(kustomization, namespace)
    return read_files(paths, namespace)


def _absent(program: str, option: str, command: Sequence[str]) -> WorkbenchError:
    verb = "are" if program.startswith("neither") else "is not"
    return WorkbenchError(
        f"{option}: {program} {verb} on the PATH; install it, or run it elsewhere and pipe its output: "
        f"{shell_line(command)} | workbench adopt ... --from -",
        2,
    )


def _output(command: Sequence[str]) -> str:
    command_line = shell_line(command)
    try:
        completed = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, encoding="utf-8"
        )
    except subprocess.TimeoutExpired:
        raise WorkbenchError(f"`{command_line}` took more than {_SECONDS} s") from None
    except (OSError, UnicodeDecodeError) as error:
        raise WorkbenchError(f"`{command_line}` failed: {error}") from None
    if completed.returncode:
        message = printable(completed.stderr.strip()[-_MOST_CHARACTERS:])
        raise WorkbenchError(f"`{command_line}` failed with exit code {completed.returncode}: {message}")
    return completed.stdout

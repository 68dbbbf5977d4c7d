"""Prometheus and prometheus-adapter as programs: built from the pinned modules in tests/tools, once per user."""

import fcntl
import hashlib
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from workbench.cluster.binaries import cache_folder
from workbench.cluster.toolchain import Go, choose_go, tail
from workbench.errors import WorkbenchError

TOOLS = Path(__file__).parents[2] / "tools"
_LD_FLAGS = "-s -w"
_PARALLEL = "2"
"""Packages compiled at a time: the linker of either program alone takes a gigabyte."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A Go module in tests/tools, and the programs that are built from it."""

    module: str
    packages: Sequence[str]
    tags: str = ""

    @property
    def folder(self) -> Path:
        """Where its go.mod and go.sum lie."""
        return TOOLS / self.module

    @property
    def programs(self) -> dict[str, str]:
        """Package by program name."""
        return {package.rpartition("/")[2]: package for package in self.packages}


PROMETHEUS = Tool(
    "prometheus",
    ("github.com/prometheus/prometheus/cmd/prometheus", "github.com/prometheus/prometheus/cmd/promtool"),
    # Clouds' service discovery is three quarters of the program; files and static targets stay.
    tags="remove_all_sd",
)
ADAPTER = Tool("adapter", ("sigs.k8s.io/prometheus-adapter/cmd/adapter",))


def ensure_built(tool: Tool) -> dict[str, Path]:
    """Return the programs of ``tool``, built where the user's cache lacks them.

    Raises:
        WorkbenchError: there is no Go, or it could not build; the message holds the end of what it said.
    """
    base = cache_folder().parent
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return build_missing(choose_go(base, lambda _: None), tool, base)


def built_or_skip(tool: Tool) -> dict[str, Path]:
    """Return the programs of ``tool``; only where they cannot be built are the tests that need them skipped."""
    try:
        return ensure_built(tool)
    except WorkbenchError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"{tool.module} cannot be built here: {error}")


def build_missing(go: Go, tool: Tool, base: Path) -> dict[str, Path]:
    """Return the programs of ``tool`` below ``base``, built with ``go`` where they are not there.

    Raises:
        WorkbenchError: one could not be built.
    """
    folder = base / f"{tool.module}-{_key(tool, go)}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with _locked(folder / "lock"):
        for name, package in tool.programs.items():
            if not (folder / name).exists():
                _build(go, tool, package, folder / name)
    return {name: folder / name for name in tool.programs}


def _key(tool: Tool, go: Go) -> str:
    """Everything that goes into a build; another Go makes another program."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((tool.folder / name).read_bytes())
    version = go.run("env", "GOVERSION").stdout.strip()
    digest.update(repr((version, tool.packages, tool.tags, _LD_FLAGS)).encode())
    return f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()


def _build(go: Go, tool: Tool, package: str, target: Path) -> None:
    """Finished programs appear whole: the next session must not find half of one that was interrupted."""
    unfinished = target.with_name(f".{target.name}")
    command = [str(go.program), "build", "-p", _PARALLEL, "-trimpath", "-ldflags", _LD_FLAGS, "-tags", tool.tags]
    done = subprocess.run(
        [*command, "-o", str(unfinished), package],
        cwd=tool.folder,
        env=go.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise WorkbenchError(f"{target.name} could not be built with {go.program}:\n{tail(done.stderr)}")
    unfinished.rename(target)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One build at a time: test processes that run side by side build once."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""Programs of the live fleet that are built from pinned Go modules, once per user."""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.compiling import Progress, Sources, build_lock, compile_missing
from toolkit.toolchain import Go, choose_go, user_cache

TOOLS = Path(__file__).with_name("tools")
"""A go.mod and go.sum pin the programs of each folder; envoy.lock pins the wheel of Envoy."""
_LD_FLAGS = "-s -w"
_PARALLEL = "2"
"""Packages that are compiled in parallel. More would exhaust the memory: linking one program takes a gigabyte."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A Go module and the programs that are built from it.

    Attributes:
        module: Folder of its ``go.mod`` in ``modules``.
        packages: Packages of the programs; a program is named after the last part of its package.
        tags: Build tags.
        modules: Parent folder of the modules.
    """

    module: str
    packages: Sequence[str]
    tags: str = ""
    modules: Path = TOOLS

    @property
    def sources(self) -> Sources:
        return Sources(
            self.module,
            self.modules / self.module,
            {package.rpartition("/")[2]: package for package in self.packages},
            settings=("-tags", self.tags),
            flags=("-p", _PARALLEL, "-ldflags", _LD_FLAGS),
        )


def unbuilt(*tools: Tool) -> tuple[str, ...]:
    """Return the programs that the user's cache lacks in any version, without running Go."""
    base = user_cache()
    return tuple(
        name for tool in tools for name in tool.sources.packages if not any(base.glob(f"{tool.module}-*/{name}"))
    )


def ensure_built(tool: Tool, progress: Progress = lambda _: None) -> dict[str, Path]:
    """Return the paths of the programs by name, building those that the user's cache lacks.

    Raises:
        UserError: Go is missing or failed; the message ends with its output.
    """
    base = user_cache()
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return build_missing(choose_go(base, progress, tool.sources.folder), tool, base, progress)


def build_missing(go: Go, tool: Tool, base: Path, progress: Progress = lambda _: None) -> dict[str, Path]:
    """Return the paths of the programs below ``base``, building missing ones with ``go``.

    Raises:
        UserError: a build failed.
    """
    folder = base / f"{tool.module}-{_key(tool, go)}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with build_lock(folder, progress):
        compile_missing(go, tool.sources, folder, progress)
    return {name: folder / name for name in tool.sources.packages}


def _key(tool: Tool, go: Go) -> str:
    # Everything that a build depends on.
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((tool.sources.folder / name).read_bytes())
    version = go.run("env", "GOVERSION").stdout.strip()
    digest.update(repr((version, tool.packages, tool.tags, _LD_FLAGS)).encode())
    return f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()

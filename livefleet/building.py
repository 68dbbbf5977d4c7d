"""Programs of the live fleet, built from pinned Go modules once per user, as the control plane is."""

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
"""Packages compiled at a time: the linker of one of these programs alone takes a gigabyte."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A Go module, and the programs that are built from it.

    Attributes:
        module: Its folder in ``modules``.
        packages: What is built; a program is named after the last part of its package.
        tags: Build tags.
        modules: The folder of the modules.
    """

    module: str
    packages: Sequence[str]
    tags: str = ""
    modules: Path = TOOLS

    @property
    def sources(self) -> Sources:
        """What is compiled, and how."""
        return Sources(
            self.module,
            self.modules / self.module,
            {package.rpartition("/")[2]: package for package in self.packages},
            settings=("-tags", self.tags),
            flags=("-p", _PARALLEL, "-ldflags", _LD_FLAGS),
        )


def unbuilt(*tools: Tool) -> tuple[str, ...]:
    """Return the programs of which the user's cache has no version; asks neither Go nor an index."""
    base = user_cache()
    return tuple(
        name for tool in tools for name in tool.sources.packages if not any(base.glob(f"{tool.module}-*/{name}"))
    )


def ensure_built(tool: Tool, progress: Progress = lambda _: None) -> dict[str, Path]:
    """Return the programs of ``tool`` by name, built where the user's cache lacks them.

    Raises:
        UserError: there is no Go, or it could not build; the message holds the end of what it said.
    """
    base = user_cache()
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return build_missing(choose_go(base, progress, tool.sources.folder), tool, base, progress)


def build_missing(go: Go, tool: Tool, base: Path, progress: Progress = lambda _: None) -> dict[str, Path]:
    """Return the programs of ``tool`` below ``base``, built with ``go`` where they are not there.

    Raises:
        UserError: one could not be built.
    """
    folder = base / f"{tool.module}-{_key(tool, go)}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with build_lock(folder, progress):
        compile_missing(go, tool.sources, folder, progress)
    return {name: folder / name for name in tool.sources.packages}


def _key(tool: Tool, go: Go) -> str:
    """Everything that goes into a build; another Go makes another program."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((tool.sources.folder / name).read_bytes())
    made_with = go.run("env", "GOVERSION").stdout.strip()
    digest.update(repr((made_with, tool.packages, tool.tags, _LD_FLAGS)).encode())
    return f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()

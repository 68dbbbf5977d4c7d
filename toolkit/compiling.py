"""Compiles the programs of a pinned Go module, and reports progress."""

import fcntl
import os
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolkit.errors import UserError

from .estimate import Estimate
from .toolchain import Go, tail

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sources:
    """A Go module that pins programs.

    Attributes:
        title: Name of the programs in progress messages.
        folder: Folder of go.mod and go.sum.
        packages: Package by program.
        settings: Options of ``go list`` and ``go build``, such as build tags.
        flags: Further options of ``go build``.
    """

    title: str
    folder: Path
    packages: Mapping[str, str]
    settings: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def compile_missing(go: Go, sources: Sources, target: Path, progress: Progress) -> None:
    """Compile the programs that are missing in ``target``. The caller must hold its ``build_lock``.

    Raises:
        UserError: a build failed; the message contains the end of Go's output.
    """
    missing = [name for name in sources.packages if not (target / name).exists()]
    if not missing:
        return
    progress(f"{sources.title}: fetching its sources")
    packages = [sources.packages[name] for name in missing]
    parts = go.run("list", *sources.settings, "-deps", *packages, folder=sources.folder)
    estimate = Estimate(len(parts.stdout.splitlines()))
    for position, name in enumerate(missing, start=1):
        title = f"building {name} ({position} of {len(missing)})"
        for partial in target.glob(f".{name}.*"):  # of a killed build: the caller holds the lock
            partial.unlink()
        unfinished = target / f".{name}.{os.getpid()}"
        command = [str(go.program), "build", "-v", "-trimpath", *sources.settings, *sources.flags]
        progress(title)
        output: deque[str] = deque(maxlen=50)
        with subprocess.Popen(
            [*command, "-o", str(unfinished), sources.packages[name]],
            cwd=sources.folder,
            env=go.environment(),
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            for line in child.stderr or ():  # with -v, Go prints one line per compiled package
                output.append(line)
                estimate.step()
                if estimate.new_tenth():
                    progress(f"{sources.title}: {estimate}")
                progress(f"{title}: {estimate}, {line.strip()}")
        if child.returncode != 0:
            unfinished.unlink(missing_ok=True)
            raise UserError(f"{name} could not be built with {go.program}:\n{tail(''.join(output))}")
        unfinished.rename(target / name)


@contextmanager
def build_lock(folder: Path, progress: Progress) -> Iterator[None]:
    """Let one process at a time build into a folder; others wait, and then find the programs there."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another build of the same programs")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""Compiles the programs of a pinned Go module, and reports progress."""

import fcntl
import os
import re
import shutil
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


_PARALLEL = ("-p", "2")
"""Packages that are compiled in parallel. More would exhaust the memory: linking one program takes a gigabyte."""
_COMPILER = ("-gcflags=all=-dwarf=false",)
"""No information for debuggers, which takes a seventh of the time, and which the linker drops anyway (``-s -w``).

Paths are not trimmed: with ``-trimpath``, Go caches a package by the version that a go.mod selects, not by the one
that replaces it there, and would compile again for each module what all of them use in the same version."""


def compile_missing(go: Go, sources: Sources, target: Path, progress: Progress) -> None:
    """Compile the programs that are missing in ``target``, in one build. The caller must hold its ``build_lock``.

    Raises:
        UserError: the build failed; the message contains the end of Go's output.
    """
    missing = [name for name in sources.packages if not (target / name).exists()]
    if not missing:
        return
    progress(f"{sources.title}: fetching its sources")
    packages = [sources.packages[name] for name in missing]
    parts = go.run("list", *sources.settings, "-deps", *packages, folder=sources.folder)
    estimate = Estimate(len(parts.stdout.splitlines()))
    names = ", ".join(missing)
    title = f"building {names}"
    for leftover in target.glob(".build.*"):  # of a killed build: the caller holds the lock
        shutil.rmtree(leftover)
    unfinished = target / f".build.{os.getpid()}"
    unfinished.mkdir()
    # One command for all programs: while the linker works on one of them, which takes one core, others are compiled.
    command = [str(go.program), "build", "-v", *_PARALLEL, *_COMPILER, *sources.settings, *sources.flags]
    progress(title)
    output: deque[str] = deque(maxlen=50)
    try:
        with subprocess.Popen(
            [*command, "-o", f"{unfinished}/", *packages],
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
            raise UserError(f"{names} could not be built with {go.program}:\n{tail(''.join(output))}")
        for name in missing:
            (unfinished / executable(sources.packages[name])).rename(target / name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def executable(package: str) -> str:
    """Return the file name that ``go build`` gives the program of a package: its last part that is no version."""
    parts = package.split("/")
    return parts[-2] if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


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

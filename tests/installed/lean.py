"""An environment with what ``pip install inference-platform`` installs, made of the packages of this one."""

import importlib.metadata
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.installed.building import ROOT, unpack

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def required(*extras: str) -> list[Requirement]:
    """What the project requires by itself, with extras; an extra may name others."""
    found = [Requirement(text) for text in PROJECT["dependencies"]]
    pending = [Requirement(text) for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    while pending:
        requirement = pending.pop()
        if requirement.name == PROJECT["name"]:
            names = requirement.extras
            pending += [Requirement(text) for name in names for text in PROJECT["optional-dependencies"][name]]
        else:
            found.append(requirement)
    return found


def closure(*extras: str) -> set[str]:
    """The packages that are installed beside the project, by their canonical names."""
    pending = required(*extras)
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while pending:
        requirement = pending.pop()
        step = (canonicalize_name(requirement.name), tuple(sorted(requirement.extras)))
        if step in seen:
            continue
        seen.add(step)
        for text in importlib.metadata.requires(requirement.name) or ():
            needed = Requirement(text)
            extra_names = ("", *requirement.extras)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extra_names):
                pending.append(needed)
    return {name for name, _ in seen}


def files(package: str) -> Iterator[tuple[Path, Path]]:
    """The files of a package, each with its place in ``site-packages``; without compiled modules and scripts."""
    for entry in importlib.metadata.files(package) or ():
        if ".." not in entry.parts and entry.suffix != ".pyc":
            yield Path(entry), Path(str(entry.locate()))


def megabytes(packages: set[str]) -> float:
    """What packages take on disk: a compiled module is about as large as its source, and pip compiles each."""
    sizes = [
        (source.stat().st_size, source.suffix == ".py")
        for package in packages
        for _, source in files(package)
        if source.exists()
    ]
    return sum(size * (1 + is_source) for size, is_source in sizes) / 1e6


def lean_site(wheel: Path, folder: Path) -> Path:
    """Return a ``site-packages`` with the wheel and links to what it requires."""
    unpack(wheel, folder)
    for package in closure():
        for place, source in files(package):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).symlink_to(source)
    return folder

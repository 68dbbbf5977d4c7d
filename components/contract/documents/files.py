"""Finds manifest files and reads their text."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..problems import Problem

SUFFIXES = (".yaml", ".yml")


def manifest_files(paths: Iterable[Path | str], problems: list[Problem]) -> Iterator[Path]:
    """Yield files, and the manifests below folders, in order and each once; what cannot be used is a problem."""
    seen = set()
    for given in paths:
        for file in _below(Path(given), problems):
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _below(path: Path, problems: list[Problem]) -> list[Path]:
    """Return a file, or the manifests of a folder."""
    try:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
            if not found:
                reason = "no *.yaml or *.yml file in this folder; check the path"
                problems.append(_file_problem(path, reason))
            return found
        if path.is_file():
            return [path]
        there = path.exists()
    except OSError as error:
        problems.append(_file_problem(path, f"cannot be read: {error.strerror}"))
        return []
    reason = "is neither a file nor a folder; pass a manifest file" if there else "no such file or folder"
    problems.append(_file_problem(path, reason if there else f"{reason}; check the path"))
    return []


def read_text(read: Callable[[], bytes], file: Path | str, problems: list[Problem]) -> str | None:
    """Return the text of a file; None, and a problem, where it cannot be read."""
    try:
        return read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_file_problem(file, "not UTF-8 text; save the file as UTF-8", line))
    except OSError as error:
        problems.append(_file_problem(file, f"cannot be read: {error.strerror}"))
    except ValueError:  # U+0000 in the name
        problems.append(_file_problem(file, "cannot be read: no file has such a name; correct it"))
    return None


def _file_problem(path: Path | str, reason: str, line: int = 1) -> Problem:
    return Problem(str(path), line, "", "", "", reason)

"""Finds manifest files and reads their text."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..problems import Problem

SUFFIXES = (".yaml", ".yml")


def manifest_files(paths: Iterable[Path | str], problems: list[Problem]) -> Iterator[Path]:
    """Yield files, and recursively the manifests in folders, in order and without duplicates.

    Paths that cannot be read become problems.
    """
    seen = set()
    for path in paths:
        for file in _expand(Path(path), problems):
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _expand(path: Path, problems: list[Problem]) -> list[Path]:
    try:
        if path.is_dir():
            files = sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES and p.is_file())
            if not files:
                reason = "no *.yaml or *.yml file in this folder; check the path"
                problems.append(_file_problem(path, reason))
            return files
        if path.is_file():
            return [path]
        if path.exists():
            reason = "is neither a file nor a folder; pass a manifest file"
        else:
            reason = "no such file or folder; check the path"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    problems.append(_file_problem(path, reason))
    return []


def read_text(read: Callable[[], bytes], file: Path | str, problems: list[Problem]) -> str | None:
    """Return the text of a file; None if it cannot be read, which becomes a problem."""
    try:
        return read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_file_problem(file, "not UTF-8 text; save the file as UTF-8", line))
    except OSError as error:
        problems.append(_file_problem(file, f"cannot be read: {error.strerror}"))
    except ValueError:  # U+0000 in the name
        problems.append(_file_problem(file, "cannot be read: is not a valid file name; correct it"))
    return None


def _file_problem(path: Path | str, reason: str, line: int = 1) -> Problem:
    return Problem(str(path), line, "", "", "", reason)

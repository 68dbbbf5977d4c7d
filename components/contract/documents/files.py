"""Finds manifest files and reads their text."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..problems import Problem, nearest

SUFFIXES = (".yaml", ".yml")
_INVALID_NAME = "cannot be read: is not a valid file name; correct it"
_START = 8192
"""Bytes that are read first."""
_MOST_ENTRIES = 1000
"""Entries of a folder that are compared with the name of a missing file."""


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
            reason = f"no such file or folder{_near(path)}"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    problems.append(_file_problem(path, reason))
    return []


def _near(path: Path) -> str:
    """Return the nearest name in the folder of a missing file, as the end of a message."""
    folder = path.parent
    try:
        entries = [entry.name for entry in itertools.islice(folder.iterdir(), _MOST_ENTRIES)]
    except OSError:
        return "; check the path"
    names = [name for name in entries if name.endswith(SUFFIXES) or (folder / name).is_dir()]
    near = nearest(path.name, names) or nearest(path.stem, [name for name in names if Path(name).stem == path.stem])
    return f"; did you mean {str(folder / near)!r}?" if near else "; check the path"


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
        problems.append(_file_problem(file, _INVALID_NAME))
    return None


def read_manifest(file: Path, problems: list[Problem]) -> str | None:
    """Return the text of a manifest file; None if it cannot be read, which becomes a problem."""
    try:
        with file.open("rb") as stream:
            return read_stream(stream, file, problems)
    except OSError as error:
        problems.append(_file_problem(file, f"cannot be read: {error.strerror}"))
    except ValueError:  # U+0000 in the name
        problems.append(_file_problem(file, _INVALID_NAME))
    return None


def read_stream(stream: BinaryIO, file: Path | str, problems: list[Problem]) -> str | None:
    """Return the text of an open manifest; None if it is no text, which becomes a problem.

    A file that starts like binary data is not read to its end: weights have many gigabytes.
    """
    start = stream.read(_START)
    if not start.isascii() or b"\0" in start or start.startswith(b"GGUF"):
        # Imported here, because most manifests are plain text.
        from ..foreign import binary_reason

        reason = binary_reason(start, str(file))
        if reason:
            problems.append(_file_problem(file, reason))
            return None
    return read_text(lambda: start + stream.read(), file, problems)


def _file_problem(path: Path | str, reason: str, line: int = 0) -> Problem:
    return Problem(file=str(path), line=line, path="", reason=reason)

"""Archives whose bytes depend on their content and a date alone."""

import gzip
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

_FILE, _PROGRAM = 0o644, 0o755


def write_archive(path: Path, files: Mapping[str, bytes], epoch: int, programs: frozenset[str] = frozenset()) -> None:
    """Write a ``.tar.gz`` with sorted entries that belong to root and have the date of the release.

    Args:
        path: The archive.
        files: Content by name.
        epoch: Date of the entries and of the archive.
        programs: Names of the files that are executable.
    """
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(files[name]), epoch
            entry.mode = _PROGRAM if name in programs else _FILE
            archive.addfile(entry, BytesIO(files[name]))
    # Without a name, which gzip would take from the file, and with the date instead of the current time.
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as compressed:
        compressed.write(buffer.getvalue())


def rewrite_archive(path: Path, epoch: int) -> None:
    """Give the entries of a ``.tar.gz`` the form of :func:`write_archive`."""
    files: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.isfile() else None
            if content:
                files[entry.name] = content.read()
    write_archive(path, files, epoch)

"""Another revision of a folder, out of git: read, and never written to.

Only commands that read are run, without the settings and secrets of the caller; nothing is checked out, so the work
tree, the index and the references stay as they are.
"""

import os
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from components.contract.texts.printable import printable

from ..errors import WorkbenchError

_KEPT = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TMPDIR", "TZ")
_READING = {
    "GIT_OPTIONAL_LOCKS": "0",  # not even the index is refreshed
    "GIT_NO_LAZY_FETCH": "1",  # nothing is downloaded into a partial clone
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_SUBMODULE = "160000"
_SHORT = 12
_CHUNK = 1 << 20


def bare_environment() -> dict[str, str]:
    """Return the environment of a process that needs nothing of the caller's, and no secret above all."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit to compare with.

    Attributes:
        id: Its hash.
        ref: What it was asked for as.
        notes: What a reader must know of the choice.
    """

    id: str
    ref: str
    notes: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """Its hash, as short as people write it."""
        return self.id[:_SHORT]


@dataclass(frozen=True, slots=True)
class WorkTree:
    """The work tree that a folder is in.

    Attributes:
        root: Where it begins.
        prefix: The folder, relative to that.
    """

    root: Path
    prefix: Path

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Find it.

        Raises:
            WorkbenchError: there is no git, or the folder is in no repository.
        """
        found = _git(folder, "rev-parse", "--show-toplevel")
        if found.returncode:
            raise WorkbenchError(
                f"--base: {folder} is in no git repository that can be read: there is nothing to compare it with: "
                f"{_complaint(found)}"
            )
        prefix = _line(_git(folder, "rev-parse", "--show-prefix").stdout)
        return cls(Path(os.fsdecode(_line(found.stdout))), Path(os.fsdecode(prefix)))

    def base(self, ref: str) -> Commit:
        """Return where the work tree's branch left another one: what changed there since is not this change's.

        Raises:
            WorkbenchError: there is no such commit here.
        """
        found = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if not ref or found.returncode:
            raise WorkbenchError(
                f"--base: {printable(ref)!r} names no commit of {self.root}; fetch it first, or name another branch, "
                "tag or commit",
                2,
            )
        commit = os.fsdecode(_line(found.stdout))
        left = _git(self.root, "merge-base", "HEAD", commit)
        if not left.returncode:
            return Commit(os.fsdecode(_line(left.stdout)), ref)
        note = (
            f"git knows no common ancestor of HEAD and {ref} here, as in a shallow clone, so {ref} itself is what it "
            "is compared with: what others changed there shows up as well; fetch the whole history to avoid that"
        )
        return Commit(commit, ref, (note,))

    def extract(self, commit: str, folder: Path) -> None:
        """Write the files of a commit into a folder, with those of submodules that are here.

        Raises:
            WorkbenchError: git does not hand them out.
        """
        _extract(self.root, commit, folder)
        if (folder / ".gitmodules").is_file():
            for path, of_module in self._submodules(commit):
                if (self.root / path / ".git").exists():
                    _extract(self.root / path, of_module, folder / path)

    def _submodules(self, commit: str) -> Iterator[tuple[str, str]]:
        entries = _git(self.root, "ls-tree", "-r", "-z", commit).stdout
        for entry in os.fsdecode(entries).split("\0"):
            facts, _, path = entry.partition("\t")
            if facts.startswith(_SUBMODULE):
                yield path, facts.split(" ")[2]


def prefix_of(folder: Path) -> str:
    """Return a folder relative to the work tree that it is in; empty at its top, and where there is none."""
    try:
        return os.fsdecode(_line(_git(folder, "rev-parse", "--show-prefix").stdout))
    except WorkbenchError:
        return ""


def _extract(root: Path, commit: str, folder: Path) -> None:
    command = _command(root, "archive", "--format=tar", commit)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
    ) as running:
        unpacked = _unpack(running.stdout, folder)
        complaint = os.fsdecode(running.stderr.read() if running.stderr else b"").strip()
    if running.returncode or not unpacked:
        raise WorkbenchError(f"--base: git archive of {commit} failed: {printable(complaint) or 'no reason given'}")


def _unpack(stream: IO[bytes] | None, folder: Path) -> bool:
    """Write the files of an archive; tells whether it was one. One without files is none to Python."""
    try:
        with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as archive:
            archive.extractall(folder, filter=_inside)  # noqa: S202  the filter keeps everything inside
    except tarfile.TarError:
        while stream and stream.read(_CHUNK):  # git would wait for somebody to read it
            pass
        return not any(folder.iterdir())
    return True


def _inside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Leave out what would lead out of the folder, such as a link to a file of the machine: it is of no revision."""
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(_command(folder, *arguments), capture_output=True, check=False, env=_environment())
    except FileNotFoundError:
        raise WorkbenchError("--base: git is not on the PATH; it has the revision to compare with") from None


def _command(folder: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(folder), *arguments]


def _environment() -> dict[str, str]:
    return {**bare_environment(), **_READING}


def _line(output: bytes) -> bytes:
    return output.removesuffix(b"\n")


def _complaint(process: subprocess.CompletedProcess[bytes]) -> str:
    return printable(os.fsdecode(process.stderr).strip()) or "git gives no reason"

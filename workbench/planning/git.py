"""Read-only access to another revision of a folder in git.

Only read commands run, without the caller's environment; nothing is checked out, so the work tree, the index and the
references do not change.
"""

import os
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from components.contract.texts.printable import printable

from ..errors import WorkbenchError

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TMPDIR", "TZ")
_READ_ONLY = {
    "GIT_OPTIONAL_LOCKS": "0",  # do not refresh the index
    "GIT_NO_LAZY_FETCH": "1",  # do not download objects into a partial clone
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_SUBMODULE = "160000"
"""File mode of a submodule in a tree."""
_SHORT = 12
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A commit, by SHA-1 or SHA-256."""
_CHUNK = 1 << 20


def bare_environment() -> dict[str, str]:
    """Return an environment without the caller's variables, which may hold secrets."""
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit to compare with.

    Attributes:
        id: Its hash.
        ref: The revision that the user passed.
        notes: Caveats of the comparison.
    """

    id: str
    ref: str
    notes: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The abbreviated hash."""
        return self.id[:_SHORT]


@dataclass(frozen=True, slots=True)
class WorkTree:
    """The git work tree of a folder.

    Attributes:
        root: Top-level folder of the work tree.
        prefix: The folder relative to the root.
    """

    root: Path
    prefix: Path

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Find the work tree of a folder.

        Raises:
            WorkbenchError: git is not installed, or the folder is not in a repository that it can read.
        """
        toplevel = _git(folder, "rev-parse", "--show-toplevel")
        if toplevel.returncode:
            reason = printable(os.fsdecode(toplevel.stderr).strip()) or "git gives no reason"
            raise WorkbenchError(f"--base: {folder} is not in a readable git repository: {reason}")
        prefix = _inside(_git(folder, "rev-parse", "--show-prefix").stdout)
        root = Path(os.fsdecode(_line(toplevel.stdout)))
        if prefix is None or not os.path.isdir(root):  # noqa: PTH112  Path raises an error for names that are too long
            raise WorkbenchError(f"--base: git rev-parse in {folder} returned something else than a folder")
        return cls(root, prefix)

    def base(self, ref: str) -> Commit:
        """Return the merge base of HEAD and a revision, so that later changes on the other branch do not show up.

        Raises:
            WorkbenchError: the revision does not exist.
        """
        resolved = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if not ref or resolved.returncode:
            raise WorkbenchError(
                f"--base: {printable(ref)!r} is not a commit in {self.root}; fetch it first, or pass another branch, "
                "tag or commit",
                2,
            )
        commit = _id(resolved.stdout, "rev-parse")
        merge_base = _git(self.root, "merge-base", "HEAD", commit)
        if not merge_base.returncode:
            return Commit(_id(merge_base.stdout, "merge-base"), ref)
        note = (
            f"HEAD and {ref} have no common ancestor in this clone, which may be shallow; the comparison is with "
            f"{ref} itself and includes changes that others made there. Fetch the whole history to avoid this"
        )
        return Commit(commit, ref, (note,))

    def extract(self, commit: str, folder: Path) -> None:
        """Extract the files of a commit to a folder, with those of submodules that are checked out.

        Raises:
            WorkbenchError: git archive fails.
        """
        _extract(self.root, commit, folder)
        if not (folder / ".gitmodules").is_file():
            return
        entries = _git(self.root, "ls-tree", "-r", "-z", commit).stdout
        for entry in entries.split(b"\0"):
            metadata, _, name = entry.partition(b"\t")  # mode, type and object id, separated by blanks
            mode, _, module = os.fsdecode(metadata).partition(" commit ")
            path = _inside(name)
            # Path raises an error for names that are too long.
            if mode == _SUBMODULE and path and os.path.exists(self.root / path / ".git"):  # noqa: PTH110
                _extract(self.root / path, module, folder / path)


def prefix_of(folder: Path) -> str:
    """Return a folder relative to its work tree; empty at the root and outside of a work tree."""
    try:
        prefix = _git(folder, "rev-parse", "--show-prefix").stdout
        return os.fsdecode(_line(prefix)) if _inside(prefix) else ""
    except WorkbenchError:
        return ""


def _extract(root: Path, commit: str, folder: Path) -> None:
    command = _command(root, "archive", "--format=tar", commit)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
    ) as process:
        is_valid, reason = True, ""
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|", errors="surrogateescape") as archive:
                archive.extractall(folder, filter=_skip_outside)  # noqa: S202  the filter rejects paths outside
        except tarfile.TarError:
            while process.stdout and process.stdout.read(_CHUNK):  # git blocks until its output is read
                pass
            is_valid = not any(folder.iterdir())  # Python also rejects the archive of a commit without files
        except (OSError, ValueError) as error:
            # Names and sizes that no file of this system can have.
            process.kill()
            is_valid, reason = False, str(error)
        stderr = os.fsdecode(process.stderr.read() if process.stderr else b"").strip()
    if process.returncode or not is_valid:
        reason = printable(stderr or reason) or "no reason given"
        raise WorkbenchError(f"--base: git archive of {commit} failed: {reason}")


def _skip_outside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Skip members that lead out of the folder, such as links to files of this machine."""
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(_command(folder, *arguments), capture_output=True, check=False, env=_environment())
    except FileNotFoundError:
        raise WorkbenchError("--base: git is not on the PATH; install git") from None
    except OSError as error:
        raise WorkbenchError(f"--base: git cannot be run: {error.strerror}") from None


def _command(folder: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(folder), *arguments]


def _environment() -> dict[str, str]:
    return {**bare_environment(), **_READ_ONLY}


def _line(output: bytes) -> bytes:
    return output.removesuffix(b"\n")


def _id(output: bytes, command: str) -> str:
    if not _ID.fullmatch(_line(output)):
        raise WorkbenchError(f"--base: git {command} returned something else than a commit")
    return os.fsdecode(_line(output))


def _inside(output: bytes) -> Path | None:
    """Return a path inside of a work tree; None if the output is another one."""
    path = Path(os.fsdecode(_line(output)))
    return None if b"\0" in output or path.is_absolute() or ".." in path.parts else path

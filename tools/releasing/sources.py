"""What a release is built from: the last commit and its date."""

import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path


class ReleaseError(Exception):
    """A release cannot be built or does not pass its checks."""


@dataclass(frozen=True)
class ReleaseSource:
    """The last commit of a repository."""

    root: Path
    name: str
    version: str
    epoch: int
    """Date of the commit in seconds (SOURCE_DATE_EPOCH)."""
    changed: bool
    """Whether there are uncommitted changes."""

    @classmethod
    def of(cls, root: Path) -> "ReleaseSource":
        """Read the project at the last commit."""
        project = tomllib.loads(_git(root, "show", "HEAD:pyproject.toml").decode())["project"]
        epoch = int(_git(root, "log", "-1", "--format=%ct"))
        return cls(root, project["name"], project["version"], epoch, bool(_git(root, "status", "--porcelain")))

    @property
    def stem(self) -> str:
        """The start of the names of wheels and sdists."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    def read(self, path: str) -> str:
        """Return a file of the commit."""
        return _git(self.root, "show", f"HEAD:{path}").decode()

    def export(self, folder: Path) -> Path:
        """Write the files of the commit into a folder, with its date and modes that depend on no umask."""
        tree = _git(self.root, "-c", "tar.umask=0022", "archive", "--format=tar", "HEAD")
        with tarfile.open(fileobj=BytesIO(tree)) as archive:
            archive.extractall(folder, filter="tar")
        return folder


def _git(root: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {' '.join(words)}: {done.stderr.decode().strip()}")
    return done.stdout

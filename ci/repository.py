"""Read-only queries to git: changed files, and the content of earlier revisions."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import PipelineError


@dataclass(frozen=True, slots=True)
class Repository:
    """A project in a git repository, or in a folder of one.

    Attributes:
        folder: Folder of Pulumi.yaml.
    """

    folder: Path

    @property
    def prefix(self) -> str:
        """Path of the folder below the repository's root, with a trailing slash; empty for the root."""
        return self._git("rev-parse", "--show-prefix").decode().removesuffix("\n")

    def commit(self, revision: str) -> str:
        """Return the full id of a commit.

        The revision may start with a dash, as branch names can: git never parses it as an option.

        Raises:
            PipelineError: there is no such commit.
        """
        try:
            commit = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except PipelineError:
            raise PipelineError(
                f"git knows no commit {revision!r}; fetch it first (in a workflow: checkout with fetch-depth: 0)"
            ) from None
        return commit.decode().strip()

    def fork_point(self, base: str) -> str:
        """Return the merge base of HEAD and ``base``, so that later commits of ``base`` do not count as changes."""
        commit = self.commit(base)
        try:
            return self._git("merge-base", commit, "HEAD").decode().strip()
        except PipelineError:
            raise PipelineError(
                f"{base!r} and HEAD have no commit in common; fetch the whole history (fetch-depth: 0)"
            ) from None

    def changed(self, since: str) -> list[str]:
        """Return the paths that differ between a commit and HEAD, from the root of the repository.

        A moved file counts as two paths.
        """
        names = self._git("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", since, "HEAD", "--")
        return sorted(name for name in names.decode("utf-8", "surrogateescape").split("\0") if name)

    def files(self, revision: str) -> list[str]:
        """Return the names of the files next to Pulumi.yaml in a revision."""
        tree = f"{revision}:{self.prefix}".removesuffix("/")
        try:
            names = self._git("ls-tree", "--full-tree", "--name-only", "-z", tree)
        except PipelineError:  # the folder is new
            return []
        return names.decode("utf-8", "surrogateescape").split("\0")

    def read(self, revision: str, name: str) -> str:
        """Return the content of a file next to Pulumi.yaml in a revision."""
        return self._git("show", f"{revision}:{self.prefix}{name}").decode("utf-8", "replace")

    def _git(self, *arguments: str) -> bytes:
        completed = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, check=False)
        if completed.returncode != 0:
            reason = completed.stderr.decode("utf-8", "replace").strip()
            raise PipelineError(f"git {arguments[0]} failed in {self.folder}: {reason}")
        return completed.stdout

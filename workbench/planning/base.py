"""The revision to compare with, planned in a process of its own, while this one plans the work tree."""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from components.contract.texts.printable import printable_lines
from components.plan.review.snapshot import Snapshot
from components.plan.review.wire import read

from . import ability
from .git import Commit, WorkTree, bare_environment

_ABILITY = Path("workbench", "planning", "ability.py")
_FORMAT = re.compile(r"^SNAPSHOT_FORMAT = (\d+)$", re.MULTILINE)
_MANIFEST = "Pulumi.yaml"


@dataclass(slots=True)
class Base:
    """A revision that is being planned.

    Attributes:
        stack: The stack.
        commit: The revision.
        head: The project folder of the work tree, whose code plans where the revision's own cannot.
        scratch: A folder of ours, which has the files of the revision.
    """

    stack: str
    commit: Commit
    head: Path
    scratch: Path
    project: Path
    notes: list[str] = field(default_factory=list)
    _running: "subprocess.Popen[bytes] | None" = None
    _by_present: bool = False

    def start(self) -> None:
        """Begin to plan it, by its own code if that can."""
        if not (self.project / _MANIFEST).is_file():
            return
        if _format_in(self.project) == ability.SNAPSHOT_FORMAT:
            share_compiled(self.head, self.project)
            self._running = self._plan([], self.project)
        else:
            self._start_present()

    def snapshot(self) -> Snapshot:
        """Return it, when it is there."""
        found = Snapshot(self.stack, absent=True) if self._running is None else self._found() or self._again()
        notes = (*self.commit.notes, *self.notes, *found.notes)
        return replace(found, revision=self.commit.short, ref=self.commit.ref, notes=notes)

    def stop(self) -> None:
        """End the process, and remove the files; may be called at any time, and again."""
        if self._running and self._running.poll() is None:
            self._running.kill()
            self._running.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _found(self) -> Snapshot | None:
        """Return what the process wrote; nothing where that is no snapshot."""
        if self._running is None or self._running.wait():
            return None
        try:
            return read((self.scratch / "snapshot.json").read_bytes())
        except (OSError, ValueError):
            return None

    def _again(self) -> Snapshot:
        """Plan with the code of the work tree what the revision's own code could not."""
        if not self._by_present:
            self._start_present()
            if found := self._found():
                return found
        complaint = (self.scratch / "complaint").read_text(encoding="utf-8", errors="replace").strip()
        return Snapshot(self.stack, failed=printable_lines(complaint) or "its plan ended without a reason")

    def _start_present(self) -> None:
        self._by_present = True
        if _format_in(self.head) is not None:  # otherwise the code is in neither revision, but installed
            self.notes.append(
                f"{self.commit.short} is planned by the code of the work tree, because its own cannot: manifests and "
                "settings are compared, and not what the code makes of them"
            )
        _declare(self.project / _MANIFEST, self.head / _MANIFEST)
        known = [str(Path(entry).resolve()) for entry in sys.path]
        self._running = self._plan([str(self.head)], *map(Path, known))

    def _plan(self, arguments: list[str], *paths: Path) -> "subprocess.Popen[bytes]":
        package = str(__package__) if arguments else "workbench.planning"
        # Whatever it leaves behind is in our folder.
        own = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "TMPDIR": str(self.scratch)}
        with (self.scratch / "snapshot.json").open("wb") as out, (self.scratch / "complaint").open("wb") as complaint:
            return subprocess.Popen(
                # Without -P the files of the revision would come before the code that shall plan them.
                [sys.executable, "-P", "-m", package, self.stack, *arguments],
                cwd=self.project,
                env={**bare_environment(), **own},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=complaint,
                start_new_session=True,  # Ctrl-C is for this process alone, which ends the other one
            )


@contextlib.contextmanager
def planning_base(folder: Path, stack: str, ref: str, begun: Callable[[Base], None]) -> Iterator[Base]:
    """Plan another revision of a folder beside what is done meanwhile.

    Args:
        folder: The project folder of the work tree.
        stack: The stack.
        ref: What to compare with, in the words of git.
        begun: Told of it before anything is written, so that a signal can end it.

    Raises:
        WorkbenchError: git has no such revision.
    """
    tree = WorkTree.of(folder)
    commit = tree.base(ref)
    scratch = Path(tempfile.mkdtemp(prefix="workbench-base-"))
    base = Base(stack, commit, folder, scratch, scratch / "files" / tree.prefix)
    begun(base)
    try:
        (scratch / "files").mkdir()
        tree.extract(commit.id, scratch / "files")
        base.start()
        yield base
    finally:
        base.stop()


@contextlib.contextmanager
def files_of(folder: Path, ref: str) -> Iterator[tuple[Commit, Path]]:
    """Write the files of another revision to a temporary folder; yields the commit and the folder in it.

    Raises:
        WorkbenchError: git has no such revision.
    """
    tree = WorkTree.of(folder)
    commit = tree.base(ref)
    with tempfile.TemporaryDirectory(prefix="workbench-base-") as scratch:
        tree.extract(commit.id, Path(scratch))
        project = Path(scratch) / tree.prefix
        project.mkdir(parents=True, exist_ok=True)
        yield commit, project


def _format_in(project: Path) -> int | None:
    """Return the form of the snapshots that a revision's own code writes; None where it writes none."""
    try:
        found = _FORMAT.search((project / _ABILITY).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return int(found[1]) if found else None


def _declare(manifest: Path, present: Path) -> None:
    """Let the settings of a revision have the defaults that the present code declares, where it has none itself.

    A key that the present code does not know any more is left out, unless a stack sets it: then that is reported.
    """
    with contextlib.suppress(OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError):
        own = yaml.safe_load(manifest.read_text(encoding="utf-8"))
        declared = yaml.safe_load(present.read_text(encoding="utf-8")).get("config") or {}
        stated = own.get("config") or {}
        own["config"] = {key: stated.get(key, value) for key, value in declared.items()}
        manifest.write_text(yaml.safe_dump(own), encoding="utf-8")


_CODE = ("components", "stacks", "toolkit", "livefleet", "workbench")


def share_compiled(project: Path, other: Path) -> None:
    """Give modules of another copy of a project what was compiled of their equals in this one.

    Python takes what it has compiled by time and size of the module (PEP 3147), so equal ones get the same time.
    """
    for module in (path for folder in _CODE for path in (other / folder).rglob("*.py")):
        own = project / module.relative_to(other)
        # Whatever cannot be shared is compiled again: that is slower, and nothing else.
        with contextlib.suppress(OSError):
            _share(own, module)


def _share(own: Path, module: Path) -> None:
    compiled = Path(importlib.util.cache_from_source(str(own)))
    if not compiled.is_file() or own.read_bytes() != module.read_bytes():
        return
    place = Path(importlib.util.cache_from_source(str(module)))
    place.parent.mkdir(exist_ok=True)
    times = own.stat()
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    shutil.copyfile(compiled, place)

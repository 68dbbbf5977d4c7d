"""The base revision of a comparison, planned in a separate process while this one plans the work tree."""

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
from typing import TYPE_CHECKING

import yaml

from components.contract.texts.printable import printable_lines
from components.plan.review.snapshot import Snapshot
from components.plan.review.wire import read

from . import ability
from .git import Commit, WorkTree, bare_environment
from .traffic import VARIABLE

if TYPE_CHECKING:
    from livefleet import VirtualFleet

_ABILITY = Path("workbench", "planning", "ability.py")
_FORMAT = re.compile(r"^SNAPSHOT_FORMAT = (\d+)$", re.MULTILINE)
_MANIFEST = "Pulumi.yaml"


@dataclass(slots=True)
class Base:
    """The base revision, which is planned in the background.

    Attributes:
        head: The project folder of the work tree, whose code plans the base if the base's own code cannot.
        scratch: A temporary folder with the files of the revision.
        simulated: Whether its process also writes what is simulated in virtual time.
    """

    stack: str
    commit: Commit
    head: Path
    scratch: Path
    project: Path
    notes: list[str] = field(default_factory=list)
    simulated: bool = False
    _running: "subprocess.Popen[bytes] | None" = None
    _uses_head_code: bool = False

    def start(self) -> None:
        """Start the planning process, with the revision's own code if that writes the same snapshot format."""
        if not (self.project / _MANIFEST).is_file():
            return
        if _format_in(self.project) == ability.SNAPSHOT_FORMAT:
            share_compiled(self.head, self.project)
            self._running = self._plan([], self.project)
        else:
            self._start_with_head_code()

    def snapshot(self) -> Snapshot:
        """Wait for the snapshot; if the revision's own code fails, plan it with the code of the work tree."""
        snapshot = Snapshot(self.stack, absent=True) if self._running is None else self._result() or self._retry()
        notes = (*self.commit.notes, *self.notes, *snapshot.notes)
        return replace(snapshot, revision=self.commit.short, ref=self.commit.ref, notes=notes)

    def virtual_fleet(self) -> "VirtualFleet | None":
        """Return what is simulated, after :meth:`snapshot`; None if the revision has no plan without errors."""
        from livefleet import VirtualFleet

        text = self._virtual_file.read_bytes() if self._virtual_file.is_file() else b""
        return VirtualFleet.from_json(text) if text else None

    @property
    def _virtual_file(self) -> Path:
        return self.scratch / "virtual.json"

    def stop(self) -> None:
        """Kill the process, and remove the files. Idempotent."""
        if self._running and self._running.poll() is None:
            self._running.kill()
            self._running.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _result(self) -> Snapshot | None:
        if self._running is None or self._running.wait():
            return None
        if self.simulated and not self._virtual_file.is_file():
            return None  # its code is older than the simulation
        try:
            return read((self.scratch / "snapshot.json").read_bytes())
        except (OSError, ValueError):
            return None

    def _retry(self) -> Snapshot:
        if not self._uses_head_code:
            self._start_with_head_code()
            if snapshot := self._result():
                return snapshot
        stderr = (self.scratch / "stderr").read_text(encoding="utf-8", errors="replace").strip()
        return Snapshot(self.stack, failed=printable_lines(stderr) or "its plan failed without a message")

    def _start_with_head_code(self) -> None:
        self._uses_head_code = True
        if _format_in(self.head) is not None:  # otherwise the code is installed, and part of neither revision
            self.notes.append(
                f"{self.commit.short} is planned with the code of the work tree, because its own code cannot: the "
                "comparison covers manifests and settings, but not changes of the code"
            )
        _add_new_settings(self.project / _MANIFEST, self.head / _MANIFEST)
        self._running = self._plan([str(self.head)], *(Path(entry).resolve() for entry in sys.path))

    def _plan(self, arguments: list[str], *paths: Path) -> "subprocess.Popen[bytes]":
        package = str(__package__) if arguments else "workbench.planning"
        # Temporary files of the process are removed together with the folder.
        variables = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "TMPDIR": str(self.scratch)}
        if self.simulated:
            variables[VARIABLE] = str(self._virtual_file)
        with (self.scratch / "snapshot.json").open("wb") as out, (self.scratch / "stderr").open("wb") as stderr:
            return subprocess.Popen(
                # Without -P, the modules of the revision would shadow the code that plans it.
                [sys.executable, "-P", "-m", package, self.stack, *arguments],
                cwd=self.project,
                env={**bare_environment(), **variables},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C must only reach this process, which then stops the other one
            )


@contextlib.contextmanager
def planning_base(
    folder: Path, stack: str, ref: str, begun: Callable[[Base], None], *, simulated: bool = False
) -> Iterator[Base]:
    """Plan another revision of a folder in the background.

    Args:
        folder: The project folder of the work tree.
        stack: The stack.
        ref: The git revision to compare with.
        begun: Called before anything is written, so that a signal handler can stop the process.
        simulated: Whether the base is simulated in virtual time, too.

    Raises:
        WorkbenchError: the revision does not exist.
    """
    tree = WorkTree.of(folder)
    commit = tree.base(ref)
    scratch = Path(tempfile.mkdtemp(prefix="workbench-base-"))
    base = Base(stack, commit, folder, scratch, scratch / "files" / tree.prefix, simulated=simulated)
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
    """Extract another revision to a temporary folder; yields the commit and the project folder.

    Raises:
        WorkbenchError: the revision does not exist.
    """
    tree = WorkTree.of(folder)
    commit = tree.base(ref)
    with tempfile.TemporaryDirectory(prefix="workbench-base-") as scratch:
        tree.extract(commit.id, Path(scratch))
        project = Path(scratch) / tree.prefix
        project.mkdir(parents=True, exist_ok=True)
        yield commit, project


def _format_in(project: Path) -> int | None:
    """Return the snapshot format of a revision's own code; None if it has none."""
    try:
        match = _FORMAT.search((project / _ABILITY).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return int(match[1]) if match else None


def _add_new_settings(manifest: Path, head_manifest: Path) -> None:
    """Declare in the Pulumi.yaml of a revision the settings that the code of the work tree expects.

    Settings that the code no longer knows are removed; a stack that sets one gets an error from its plan.
    """
    with contextlib.suppress(OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError):
        project = yaml.safe_load(manifest.read_text(encoding="utf-8"))
        expected = yaml.safe_load(head_manifest.read_text(encoding="utf-8")).get("config") or {}
        declared = project.get("config") or {}
        project["config"] = {key: declared.get(key, value) for key, value in expected.items()}
        manifest.write_text(yaml.safe_dump(project), encoding="utf-8")


_CODE = ("components", "stacks", "toolkit", "livefleet", "workbench")


def share_compiled(project: Path, other: Path) -> None:
    """Copy the bytecode of identical modules to another copy of the project: compiling takes longer than planning.

    Python validates bytecode by the size and modification time of the module (PEP 3147), so the time is copied, too.
    """
    for copy in (path for folder in _CODE for path in (other / folder).rglob("*.py")):
        module = project / copy.relative_to(other)
        with contextlib.suppress(OSError):  # Python compiles what cannot be copied
            compiled = Path(importlib.util.cache_from_source(str(module)))
            if not compiled.is_file() or module.read_bytes() != copy.read_bytes():
                continue
            target = Path(importlib.util.cache_from_source(str(copy)))
            target.parent.mkdir(exist_ok=True)
            times = module.stat()
            os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
            shutil.copyfile(compiled, target)

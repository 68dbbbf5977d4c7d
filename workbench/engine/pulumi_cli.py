"""The real Pulumi CLI, with a file backend, settings and a generated passphrase under the state folder."""

import json
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import WorkbenchError
from .project import ProjectFiles
from .pulumi_files import StackFiles
from .pulumi_leftovers import Remains, begun_in
from .pulumi_locks import Lock, locks_of

_INCOMPLETE = 1
"""Exit code of a destroy that left something."""
_ADVICE = (
    "What a killed run had begun to create is in no state, so nothing deletes it; other objects are held by a "
    "finalizer. Delete them by hand; or, in a cluster of the stack's own, run `workbench up`, which takes them over. "
    "Then run `workbench destroy` again: it ends with 0 once they are gone."
)
_ONCE = (
    "A killed run had begun to create these; whether they exist is not recorded. Look for them where they would be, "
    "and delete what this stack does not use. This is not reported again:"
)


def installed() -> str | None:
    """Return the path of the ``pulumi`` program, None when there is none."""
    return shutil.which("pulumi")


@dataclass(frozen=True, slots=True)
class PulumiCli:
    """Runs one stack of the project with the real engine."""

    folder: Path
    stack: str
    state_folder: Path
    kubeconfig: str = ""

    def up(self, *, yes: bool) -> int:
        """Run ``pulumi up``."""
        config = self._prepare()
        self._unlock()
        # The caller shows tables of them.
        code = self._run("up", *_answer(yes), "--suppress-outputs")
        if code == 0:
            after = self.export()
            remains = Remains(after, self._cluster(config))
            unclaimed = remains.unclaimed()
            if unclaimed:
                _warn("A killed run created these objects, and the program no longer has them:", unclaimed, _ADVICE)
            else:
                if unseen := remains.unseen():
                    _warn(_ONCE, unseen)
                self._clear_begun(after)
        return code

    def preview(self, *, as_json: bool = False) -> int:
        """Run ``pulumi preview``."""
        self._prepare()
        return self._run("preview", "--json" if as_json else "--diff")

    def destroy(self, *, yes: bool) -> int:
        """Run ``pulumi destroy``; what is still there afterwards is told, and is a failure."""
        config = self._prepare()
        self._unlock()
        remains = Remains(self.export(), self._cluster(config))
        code = self._run("destroy", *_answer(yes))
        if code:
            return code
        seen, unseen = remains.seen(), remains.unseen()
        if seen:
            _warn(f"\n{len(seen)} of the stack's resources may still be there:", seen, _ADVICE)
        if unseen:
            _warn(_ONCE, unseen)
        if not seen:
            self._clear_begun(self.export())
        return _INCOMPLETE if seen or unseen else code

    def outputs(self) -> dict[str, Any]:
        """Return the stack outputs, secrets masked."""
        self._prepare()
        found: dict[str, Any] = json.loads(self._quiet("stack", "output", "--json", "--stack", self.stack) or "{}")
        return found

    def export(self) -> dict[str, Any]:
        """Return the state of the stack, secrets encrypted."""
        found: dict[str, Any] = json.loads(self._quiet("stack", "export", "--stack", self.stack) or "{}")
        return found

    def _clear_begun(self, exported: Mapping[str, Any]) -> None:
        """Clear interrupted creations from the state, once their outcome is known.

        The engine never does; ``pulumi stack import`` drops pending operations. ``pulumi refresh
        --clear-pending-creates`` would as well, but also replaces inputs by what it reads from the cluster.
        """
        if not begun_in(exported):
            return
        deployment = {**exported["deployment"], "pending_operations": []}
        try:
            self._quiet(
                "stack", "import", "--stack", self.stack, given=json.dumps({**exported, "deployment": deployment})
            )
        except WorkbenchError as error:
            _warn("Creations that a killed run had begun are still in the state:", [str(error)])

    @property
    def _files(self) -> StackFiles:
        return StackFiles(ProjectFiles(self.folder, self.stack), self.state_folder)

    def _prepare(self) -> dict[str, Any]:
        """Write the settings that the CLI reads, and make the stack where it does not exist yet."""
        name = self._files.project.name
        given = {f"{name}:kubeconfig": str(Path(self.kubeconfig).resolve())} if self.kubeconfig else {}
        config = self._files.write(given)
        self._quiet("stack", "select", self.stack, "--create", "--non-interactive")
        return config

    def _cluster(self, config: Mapping[str, Any]) -> tuple[Path, str] | None:
        """Return kubeconfig and context of the cluster that the settings name; None for one that the stack makes."""
        name = self._files.project.name
        kubeconfig = config.get(f"{name}:kubeconfig")
        return (self.folder / str(kubeconfig), str(config.get(f"{name}:context") or "")) if kubeconfig else None

    def _unlock(self) -> None:
        """Free the stack of runs that have ended without doing so.

        Raises:
            WorkbenchError: a run that may be at work holds the stack.
        """
        files = self._files
        locks = locks_of(files.backend, files.project.name, self.stack)
        if not locks:
            return
        for lock in locks:
            if not lock.is_dead:
                raise WorkbenchError(self._held(lock))
        print(  # noqa: T201
            f"stack {self.stack!r} was locked by {locks[0]}; that process has ended: unlocking with `pulumi cancel`",
            file=sys.stderr,
        )
        self._quiet("cancel", self.stack, "--yes", "--non-interactive")

    def _held(self, lock: Lock) -> str:
        if not lock.is_elsewhere:
            return (
                f"stack {self.stack!r} is locked by {lock}, which is running; wait for it, or end it and run this "
                "command again"
            )
        env = self._files.environment()
        names = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE_FILE")
        settings = " ".join(f"{name}={shlex.quote(env[name])}" for name in names if name in env)
        return (
            f"stack {self.stack!r} is locked by {lock}; if that process has ended, unlock the stack in "
            f"{shlex.quote(str(self._files.folder))} with:\n  {settings} pulumi cancel {self.stack} --yes"
        )

    def _run(self, *arguments: str) -> int:
        """Run a command that the user sees and may interrupt; return its exit code."""
        options = ("--config-file", str(self._files.settings), "--stack", self.stack)
        command = [installed() or "pulumi", *arguments, *options]
        with subprocess.Popen(command, cwd=self.folder, env=self._files.environment()) as child, _left_to(child):
            return child.wait()

    def _quiet(self, *arguments: str, given: str = "") -> str:
        """Run a command beside the settings, and return what it prints.

        Args:
            arguments: The command.
            given: Its standard input.

        Raises:
            WorkbenchError: it failed; with its own words.
        """
        done = subprocess.run(
            [installed() or "pulumi", *arguments],
            cwd=self._files.folder,
            env=self._files.environment(),
            check=False,
            capture_output=True,
            input=given,
            text=True,
        )
        if done.returncode:
            raise WorkbenchError(f"`pulumi {' '.join(arguments)}` failed:\n{done.stderr.strip()}")
        return done.stdout


def _warn(title: str, names: Iterable[str], advice: str = "") -> None:
    lines = "".join(f"  {name}\n" for name in names)
    print(f"{title}\n{lines}{advice}".rstrip(), file=sys.stderr)  # noqa: T201


def _answer(yes: object) -> tuple[str, ...]:
    """Return the options of a command that need not ask: without a preview the CLI never asks."""
    return ("--yes", "--skip-preview") if yes else ()


@contextmanager
def _left_to(child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Leave interruptions to a program that ends in order: killed, it would leave its lock and half a state."""
    # A terminal interrupts the program as well; a function, unlike SIG_IGN, is not inherited by it.
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

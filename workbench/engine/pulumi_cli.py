"""The Pulumi CLI, with its file backend, settings and a generated passphrase in the state folder."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.contract.texts.outputs import shell_line, shell_word

from ..errors import WorkbenchError
from . import programs
from .apply.conflicts import writers_in
from .language_program import write_host
from .project import ProjectFiles, load_project
from .pulumi_failures import PAGE, unready
from .pulumi_files import StackFiles
from .pulumi_leftovers import Leftovers, begun_in, retained_in
from .pulumi_locks import locks_of

_INCOMPLETE = 1
"""Exit code of a destroy that left resources."""
_ADVICE = (
    "Objects whose creation was interrupted are not in the state, so they are not deleted automatically; others are "
    "held by a finalizer. Delete them manually; or, in a cluster that belongs to the stack, run `workbench up`, "
    "which adopts them. Then run `workbench destroy` again, which exits with 0 once they are gone."
)
_ONE_TIME_ADVICE = (
    "An interrupted run had begun to create these resources; the state does not record whether they exist. Check, "
    "and delete those that this stack does not use. This is not reported again:"
)


def installed() -> str | None:
    """Return the path of the ``pulumi`` program; None if it is not installed."""
    return shutil.which("pulumi")


@dataclass(frozen=True, slots=True)
class PulumiCli:
    """Runs the Pulumi CLI for one stack: the one on the PATH, or the one that was built here."""

    folder: Path
    stack: str
    state_folder: Path
    kubeconfig: str = ""

    def up(self, *, yes: bool) -> int:
        """Run ``pulumi up``."""
        config = self._prepare()
        self._unlock()
        self._refuse(config)
        # The caller prints tables of the outputs.
        code = self._run("up", *_prompt_options(yes), "--suppress-outputs")
        if code == 0:
            after = self.export()
            leftovers = Leftovers(after, self._cluster(config))
            unclaimed = leftovers.unclaimed()
            if unclaimed:
                _warn(
                    "An interrupted run created these objects, which the program no longer contains:",
                    unclaimed,
                    _ADVICE,
                )
            else:
                if unseen := leftovers.unseen():
                    _warn(_ONE_TIME_ADVICE, unseen)
                self._clear_begun(after)
        else:
            self._explain(config)
        return code

    def _explain(self, config: Mapping[str, Any]) -> None:
        """Print why workloads are not ready after a failed update."""
        try:
            with self._kubeconfig(config) as cluster:
                lines = unready(self.export(), *cluster) if cluster else []
        except WorkbenchError:
            return  # the command has failed already, with its own message
        if lines:
            _warn("\nNot ready:", lines, f"{PAGE} describes how to continue")

    @contextmanager
    def _kubeconfig(self, config: Mapping[str, Any]) -> Iterator[tuple[Path, str] | None]:
        """Yield kubeconfig and context of the cluster, which a stack that creates it has in its last outputs."""
        cluster = self._cluster(config)
        if cluster:
            yield cluster
            return
        try:
            content = self._capture("stack", "output", "kubeconfig", "--show-secrets", "--stack", self.stack)
        except WorkbenchError:
            yield None  # before the first successful update
            return
        with tempfile.NamedTemporaryFile("w", dir=self.state_folder, prefix="kubeconfig-") as file:
            file.write(content)
            file.flush()
            yield Path(file.name), ""

    def preview(self, *, as_json: bool = False) -> int:
        """Run ``pulumi preview``."""
        config = self._prepare()
        code = self._run("preview", "--json" if as_json else "--diff")
        if code == 0:
            self._refuse(config)
        return code

    def destroy(self, *, yes: bool) -> int:
        """Run ``pulumi destroy``; fail if resources remain, and list them."""
        config = self._prepare()
        self._unlock()
        before = self.export()
        leftovers = Leftovers(before, self._cluster(config))
        code = self._run("destroy", *_prompt_options(yes))
        if code:
            return code
        if kept := retained_in(before):
            _warn("\nThe stack left these resources on purpose:", kept)
        seen, unseen = leftovers.seen(), leftovers.unseen()
        if seen:
            _warn(f"\n{len(seen)} resources of the stack may still exist:", seen, _ADVICE)
        if unseen:
            _warn(_ONE_TIME_ADVICE, unseen)
        if not seen:
            self._clear_begun(self.export())
        return _INCOMPLETE if seen or unseen else code

    def outputs(self) -> dict[str, Any]:
        """Return the stack outputs, secrets masked."""
        self._prepare()
        return self._json("stack", "output", "--json", "--stack", self.stack)

    def export(self) -> dict[str, Any]:
        """Return the state of the stack, secrets encrypted."""
        return self._json("stack", "export", "--stack", self.stack)

    def field_managers(self) -> dict[str, str]:
        """Return by URN the field managers with which the provider applies the objects in the state."""
        self._prepare()
        resources = (self.export().get("deployment") or {}).get("resources") or []
        managers = {each["urn"]: (each.get("outputs") or {}).get("__fieldManager") for each in resources}
        return {urn: str(manager) for urn, manager in managers.items() if manager}

    def deployed(self) -> frozenset[str]:
        """Return the URNs of the resources in the state."""
        self._prepare()
        return frozenset(str(each["urn"]) for each in (self.export().get("deployment") or {}).get("resources") or [])

    def import_resources(self, text: str, *, protected: bool = False) -> None:
        """Import resources; none of them is changed.

        Args:
            text: Content of a file for ``pulumi import``.
            protected: Whether the CLI refuses to delete them until the next update.
        """
        self._prepare()
        self._unlock()
        options = (
            f"--protect={'true' if protected else 'false'}",
            "--generate-code=false",
            "--skip-preview",
            "--yes",
        )
        with tempfile.TemporaryDirectory(dir=self.state_folder, prefix="import-") as folder:
            file = Path(folder) / "import.json"
            file.write_text(text, encoding="utf-8")
            # It loads the language host, although it runs no program.
            hosts = Path(folder) if self._built else None
            if hosts:
                write_host(hosts)
            self._capture("import", "--stack", self.stack, "--file", str(file), *options, programs_in=hosts)

    def forget(self) -> None:
        """Remove the stack and its state; the resources stay."""
        self._prepare()
        self._unlock()
        self._capture("stack", "rm", self.stack, "--force", "--preserve-config", "--yes", "--non-interactive")

    def settings_line(self) -> str:
        """Return the variables with which a shell reaches the backend of the stack."""
        env = self._files.environment()
        names = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE_FILE")
        return " ".join(f"{name}={shell_word(env[name])}" for name in names if name in env)

    def _json(self, *arguments: str) -> dict[str, Any]:
        """Return the map that a command of the Pulumi CLI prints.

        Raises:
            WorkbenchError: It prints something else.
        """
        printed = self._capture(*arguments)
        try:
            found = json.loads(printed or "{}")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise WorkbenchError(
                f"`pulumi {shell_line(arguments)}` did not print a JSON object, but {printed[:80]!r}; run it by hand"
            )
        return found

    def _refuse(self, config: Mapping[str, Any]) -> None:
        """Reject an update that a cloud refuses half-way, or that destroys what is in use; name deleted contents.

        Raises:
            WorkbenchError: there is such a change, with each finding; or the changes are not known.
        """
        from components.contract.problems import Severity
        from components.plan.review.previewed import findings_in_preview, has_resources
        from components.plan.review.snapshot import Snapshot

        exported = self.export()
        if not has_resources(exported):
            return
        previewed = self._previewed()
        ignored = config.get(self._key("ignore")) or {}
        rules = json.loads(ignored) if isinstance(ignored, str) else ignored
        file = self._files.project.settings.name
        found = findings_in_preview(exported, previewed, Snapshot(self.stack, file=file, ignore=rules))
        lines: dict[bool, list[str]] = {True: [], False: []}
        for item in found:
            if not item.ignored:
                lines[item.severity == Severity.ERROR].append(_line(item.file, item.path, item.reason, item.rule))
        if lines[True]:
            raise WorkbenchError("\n".join(["this must not be deployed, and nothing was changed:", *lines[True]]))
        if lines[False]:
            _warn("This update deletes contents:", lines[False])

    def _previewed(self) -> dict[str, Any]:
        """Return a preview as data.

        Raises:
            WorkbenchError: the preview fails; the message contains its errors.
        """
        options = ("--config-file", str(self._files.settings), "--stack", self.stack, "--non-interactive")
        with self._language_host() as host:
            completed = subprocess.run(
                ["pulumi", "preview", "--json", *options, *host],
                cwd=self.folder,
                env=self._environment(),
                check=False,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
            )
        try:
            previewed: dict[str, Any] = json.loads(completed.stdout)
        except (ValueError, RecursionError):
            previewed = {}
        if completed.returncode or not isinstance(previewed, dict) or "steps" not in previewed:
            diagnostics = previewed.get("diagnostics") if isinstance(previewed, dict) else ()
            errors = [each["message"] for each in diagnostics or () if each["severity"] == "error"]
            reason = "\n".join(errors) or completed.stderr or completed.stdout
            reason = "\n".join([reason.strip(), *writers_in(reason)])
            raise WorkbenchError(
                "the changes could not be checked, so nothing was changed: `pulumi preview --json` "
                f"{f'exited with {completed.returncode}' if completed.returncode else 'printed no steps'}:\n"
                f"{reason.strip()}"
            )
        return previewed

    def _clear_begun(self, exported: Mapping[str, Any]) -> None:
        """Clear interrupted creations from the state once their outcome is known.

        The engine keeps them forever; ``pulumi stack import`` drops pending operations. ``pulumi refresh
        --clear-pending-creates`` would, too, but it also replaces inputs by values from the cluster.
        """
        if not begun_in(exported):
            return
        deployment = {**exported["deployment"], "pending_operations": []}
        try:
            content = json.dumps({**exported, "deployment": deployment})
            self._capture("stack", "import", "--stack", self.stack, stdin=content)
        except WorkbenchError as error:
            _warn("Interrupted creations are still in the state:", [str(error)])

    @property
    def _files(self) -> StackFiles:
        return StackFiles(ProjectFiles(self.folder, self.stack), self.state_folder)

    def _prepare(self) -> dict[str, Any]:
        """Write the settings for the CLI, and create the stack if it does not exist."""
        overrides = {self._key("kubeconfig"): str(Path(self.kubeconfig).resolve())} if self.kubeconfig else {}
        config = self._files.write(overrides)
        self._capture("stack", "select", self.stack, "--create", "--non-interactive")
        return config

    def _cluster(self, config: Mapping[str, Any]) -> tuple[Path, str] | None:
        """Return kubeconfig and context from the settings; None for a stack that creates its cluster."""
        kubeconfig = config.get(self._key("kubeconfig"))
        context = str(config.get(self._key("context")) or "")
        return (self.folder / str(kubeconfig), context) if kubeconfig else None

    def _key(self, setting: str) -> str:
        return load_project(self.folder, self.stack, sealed=True).key(setting)

    def _unlock(self) -> None:
        """Remove the locks of processes that have exited.

        Raises:
            WorkbenchError: a process that may still be running holds a lock.
        """
        files = self._files
        locks = locks_of(files.backend, files.project.name, self.stack)
        if not locks:
            return
        for lock in locks:
            if lock.is_dead:
                continue
            if not lock.is_elsewhere:
                raise WorkbenchError(
                    f"stack {self.stack!r} is locked by {lock}, which is still running; wait for it, or stop it and "
                    "run this command again"
                )
            command = f"{self.settings_line()} pulumi cancel {shell_word(self.stack)} --yes"
            raise WorkbenchError(
                f"stack {self.stack!r} is locked by {lock}; if that process has exited, unlock the stack in "
                f"{shell_word(str(files.folder))} with:\n  {command}"
            )
        print(  # noqa: T201
            f"stack {self.stack!r} was locked by {locks[0]}, which has exited; unlocking with `pulumi cancel`",
            file=sys.stderr,
        )
        self._capture("cancel", self.stack, "--yes", "--non-interactive")

    @property
    def _built(self) -> Path | None:
        """Folder of the programs that were built here; None if the CLI is installed."""
        return None if installed() else programs.built()

    def _environment(self) -> dict[str, str]:
        environment = self._files.environment()
        return programs.with_built(environment, self._built) if self._built else environment

    @contextmanager
    def _language_host(self) -> Iterator[tuple[str, ...]]:
        """Yield the options with which a CLI that was built here runs the program; an installed one has a host."""
        if not self._built:
            yield ()
            return
        from .language_host import serving
        from .program.adapter import program_at

        main = str(self._files.project.content.get("main") or "")
        with serving(program_at(self.folder, main)) as address:
            yield ("--client", address)

    def _run(self, *arguments: str) -> int:
        """Run a command with the user's terminal; return its exit code."""
        options = ("--config-file", str(self._files.settings), "--stack", self.stack)
        environment = self._environment()
        with self._language_host() as host:
            command = ["pulumi", *arguments, *options, *host]
            with (
                subprocess.Popen(command, cwd=self.folder, env=environment) as child,
                _forward_signals(child),
            ):
                return child.wait()

    def _capture(self, *arguments: str, stdin: str = "", programs_in: Path | None = None) -> str:
        """Run a command in the folder of the settings, and return its output.

        Args:
            arguments: The command.
            stdin: Its standard input.
            programs_in: A folder whose programs come first.

        Raises:
            WorkbenchError: the command failed; with its stderr.
        """
        environment = self._environment()
        completed = subprocess.run(
            ["pulumi", *arguments],
            cwd=self._files.folder,
            env=programs.with_built(environment, programs_in) if programs_in else environment,
            check=False,
            capture_output=True,
            input=stdin,
            encoding="utf-8",
            errors="replace",
        )
        if completed.returncode:
            # `pulumi import` prints its errors to stdout.
            reason = completed.stderr.strip() or completed.stdout.strip()
            raise WorkbenchError(f"`pulumi {shell_line(arguments)}` failed:\n{reason}")
        return completed.stdout


def _line(file: str, path: str, reason: str, rule: str) -> str:
    place = f"{file}: {path}" if path else file
    return f"{place}: {reason} [{rule}]"


def _warn(title: str, names: Iterable[str], advice: str = "") -> None:
    lines = "".join(f"  {name}\n" for name in names)
    print(f"{title}\n{lines}{advice}".rstrip(), file=sys.stderr)  # noqa: T201


def _prompt_options(yes: object) -> tuple[str, ...]:
    """Return the options for a command without prompts. The CLI prompts only after a preview."""
    return ("--yes", "--skip-preview") if yes else ()


@contextmanager
def _forward_signals(child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Let the child handle signals: if it were killed, it would leave its lock and an incomplete state."""
    # On Ctrl-C the terminal signals the child, too. The child would inherit SIG_IGN, but not a handler function.
    previous_handlers = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)

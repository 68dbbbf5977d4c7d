"""The real Pulumi CLI, with a file backend and a generated passphrase under the state folder."""

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import WorkbenchError

_PASSPHRASE_BYTES = 32


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
        self._select()
        return self._run("up", *self._config_file(), *self._answer(yes), "--skip-preview")

    def preview(self, *, as_json: bool = False) -> int:
        """Run ``pulumi preview``."""
        self._select()
        return self._run("preview", *self._config_file(), "--json" if as_json else "--diff")

    def destroy(self, *, yes: bool) -> int:
        """Run ``pulumi destroy``."""
        self._select()
        return self._run("destroy", *self._config_file(), *self._answer(yes), "--skip-preview")

    def outputs(self) -> dict[str, Any]:
        """Return the stack outputs, secrets masked."""
        self._select()
        done = self._quiet("stack", "output", "--json", "--stack", self.stack)
        if done.returncode:
            raise WorkbenchError(done.stderr.strip())
        found: dict[str, Any] = json.loads(done.stdout or "{}")
        return found

    @staticmethod
    def _answer(yes: object) -> tuple[str, ...]:
        return ("--yes",) if yes else ()

    def _select(self) -> None:
        """Make the stack where it does not exist yet."""
        command = ("stack", "select", self.stack, "--create", "--non-interactive")
        done = self._quiet(*command)
        if done.returncode:
            raise WorkbenchError(f"`pulumi {' '.join(command)}` failed:\n{done.stderr.strip()}")

    def _config_file(self) -> tuple[str, ...]:
        """Return the option for a copy of the settings with the given kubeconfig; the original stays."""
        if not self.kubeconfig:
            return ()
        settings = self.folder / f"Pulumi.{self.stack}.yaml"
        content = yaml.safe_load(settings.read_text()) if settings.is_file() else None
        stored = content if isinstance(content, dict) else {}
        name = yaml.safe_load((self.folder / "Pulumi.yaml").read_text())["name"]
        stored.setdefault("config", {})[f"{name}:kubeconfig"] = str(Path(self.kubeconfig).resolve())
        copy = self.state_folder / f"Pulumi.{self.stack}.yaml"
        _write_private(copy, yaml.safe_dump(stored, sort_keys=False))
        return ("--config-file", str(copy))

    def _run(self, *arguments: str) -> int:
        command = [installed() or "pulumi", *arguments, "--stack", self.stack]
        return subprocess.run(command, cwd=self.folder, env=self._env(), check=False).returncode

    def _quiet(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [installed() or "pulumi", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self._env(), check=False, capture_output=True, text=True)

    def _env(self) -> Mapping[str, str]:
        """Return an environment with the file backend; a backend or passphrase of the user's own wins."""
        env = dict(os.environ)
        backend = self.state_folder / "pulumi"
        backend.mkdir(mode=0o700, parents=True, exist_ok=True)
        env.setdefault("PULUMI_BACKEND_URL", backend.resolve().as_uri())
        env.setdefault("PULUMI_SKIP_UPDATE_CHECK", "true")
        if not {"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"} & set(env):
            env["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(self._passphrase())
        return env

    def _passphrase(self) -> Path:
        path = (self.state_folder / "pulumi" / "passphrase").resolve()
        if not path.exists():
            _write_private(path, secrets.token_urlsafe(_PASSPHRASE_BYTES))
        return path


def _write_private(path: Path, text: str) -> None:
    """Write a file whole, readable by its owner only."""
    draft = path.with_name(path.name + ".new")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    draft.rename(path)

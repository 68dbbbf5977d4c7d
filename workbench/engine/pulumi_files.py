"""What the Pulumi CLI reads and writes for a stack: a folder of the workbench's own, so that no tracked file changes.

    <state folder>/pulumi/passphrase                     what secrets are encrypted with
    <state folder>/pulumi/.pulumi/                       the file backend
    <state folder>/pulumi/settings/Pulumi.<stack>.yaml   a copy of the stack's settings

The CLI writes the key of a stack's secrets into its settings, and all settings anew with it. That happens to the
copy, which is made again for every command and keeps the key.
"""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from toolkit.private import private_folder, write_private

from ..errors import WorkbenchError
from .passphrase import opens
from .project import ProjectFiles, section

_PASSPHRASE_BYTES = 32
_SALT = "encryptionsalt"
_PROVIDER = "secretsprovider"
_KEYS = (_PROVIDER, "encryptedkey", _SALT)
"""What the CLI stores of the secrets provider beside the settings."""
_BACKEND = "PULUMI_BACKEND_URL"
_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_SET_UNLESS_GIVEN = {
    "PULUMI_SKIP_UPDATE_CHECK": "true",
    # Plugins are installed when something registers their resources; otherwise that of AWS is, for every stack.
    "PULUMI_OPTION_SKIP_PLUGIN_PRE_INSTALL": "true",
}


@dataclass(frozen=True, slots=True)
class StackFiles:
    """The files of one stack."""

    project: ProjectFiles
    state_folder: Path

    @property
    def home(self) -> Path:
        """The folder of everything that the CLI writes; also that of the file backend."""
        return self.state_folder.resolve() / "pulumi"

    @property
    def folder(self) -> Path:
        """A project without a program: where a stack is made, its settings are written beside Pulumi.yaml."""
        return self.home / "settings"

    @property
    def settings(self) -> Path:
        """The copy of the stack's settings."""
        return self.folder / self.project.settings.name

    @property
    def backend(self) -> str:
        """Where the state is: the user's own backend, or the file backend."""
        return os.environ.get(_BACKEND) or self.home.as_uri()

    def environment(self) -> dict[str, str]:
        """Return the environment of the CLI; a backend or passphrase of the user's own wins."""
        env = {**_SET_UNLESS_GIVEN, **os.environ, _BACKEND: self.backend}
        if not _passphrase_is_given():
            env.pop(_PASSPHRASES[1], None)  # it is empty
            env[_PASSPHRASES[1]] = str(self._passphrase())
        return env

    def write(self, overrides: Mapping[str, str]) -> dict[str, Any]:
        """Write the copy: the settings as they are now, and the key of the secrets as it was. Return its ``config``.

        Args:
            overrides: Settings by key that take the place of those in the file.

        Raises:
            WorkbenchError: a file is absent or wrong, or there are secrets and no passphrase for them.
        """
        for folder in (self.state_folder, self.home, self.folder):
            private_folder(folder)
        stored = dict(self.project.stored())
        if self._is_left_over(stored):
            del stored[_SALT]
        last = self._keys()
        if stored.get(_PROVIDER) == last.get(_PROVIDER):
            stored = {**last, **stored}
        config = {**section(stored, self.project.settings), **overrides}
        stored["config"] = config
        _write(self.folder / "Pulumi.yaml", {"name": self.project.name, "runtime": "python"})
        _write(self.settings, stored)
        return config

    def _keys(self) -> dict[str, Any]:
        """Return the key of the secrets that the last copy had."""
        try:
            last = yaml.safe_load(self.settings.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            return {}  # without it the CLI makes a new one, with the same passphrase
        return {key: last[key] for key in _KEYS if key in last} if isinstance(last, dict) else {}

    def _is_left_over(self, stored: Mapping[str, Any]) -> bool:
        """Say whether the key beside the settings is of a state that is gone: nothing is encrypted with it.

        Raises:
            WorkbenchError: something is, and no passphrase is given that opens it.
        """
        salt = stored.get(_SALT)
        if not isinstance(salt, str) or _passphrase_is_given() or opens(salt, self._passphrase().read_text()):
            return False
        if _has_secrets(stored.get("config")) or os.environ.get(_BACKEND):
            raise WorkbenchError(
                f"{self.project.settings.name}: {_SALT}: values are encrypted with a passphrase of your own; set "
                f"{_PASSPHRASES[0]}, or {_PASSPHRASES[1]} to a file that holds it"
            )
        return True

    def _passphrase(self) -> Path:
        path = self.home / "passphrase"
        if path.exists():
            return path
        if any((self.home / ".pulumi" / "stacks").rglob("*.json*")):
            raise WorkbenchError(
                f"{path} is missing, and the state in {self.home} is encrypted with it; restore the file, or delete "
                "the folder to start anew (what the stack created then stays where it is)"
            )
        write_private(path, secrets.token_urlsafe(_PASSPHRASE_BYTES).encode())
        return path


def _passphrase_is_given() -> bool:
    """Say whether the user has a passphrase, as the CLI does: an empty passphrase is one, an empty path is none."""
    return _PASSPHRASES[0] in os.environ or bool(os.environ.get(_PASSPHRASES[1]))


def _has_secrets(value: object) -> bool:
    if isinstance(value, dict):
        return set(value) == {"secure"} or any(map(_has_secrets, value.values()))
    return isinstance(value, list) and any(map(_has_secrets, value))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_private(path, yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True).encode())

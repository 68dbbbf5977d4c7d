"""The files of the Pulumi CLI for a stack, in a folder of the workbench, so that no tracked file changes.

    <state folder>/pulumi/passphrase                     the generated passphrase for secrets
    <state folder>/pulumi/.pulumi/                       the file backend
    <state folder>/pulumi/settings/Pulumi.<stack>.yaml   a copy of the stack's settings

The CLI stores the encryption key of a stack in its settings file, and rewrites the whole file. It works on the copy,
which is recreated for every command and keeps the key.
"""

import json
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
"""Keys of the secrets provider in a stack file."""
_BACKEND = "PULUMI_BACKEND_URL"
_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_DEFAULT_ENVIRONMENT = {
    "PULUMI_SKIP_UPDATE_CHECK": "true",
    # Install plugins on demand: otherwise the CLI installs the AWS plugin for every stack.
    "PULUMI_OPTION_SKIP_PLUGIN_PRE_INSTALL": "true",
}


@dataclass(frozen=True, slots=True)
class StackFiles:
    """The files of one stack."""

    project: ProjectFiles
    state_folder: Path

    @property
    def home(self) -> Path:
        """The folder of the file backend and of all other files that the CLI writes."""
        return self.state_folder.resolve() / "pulumi"

    @property
    def folder(self) -> Path:
        """A project folder without a program: `pulumi stack select --create` writes settings next to Pulumi.yaml."""
        return self.home / "settings"

    @property
    def settings(self) -> Path:
        """The copy of the stack's settings."""
        return self.folder / self.project.settings.name

    @property
    def backend(self) -> str:
        """URL of the user's own backend, or of the file backend."""
        return os.environ.get(_BACKEND) or self.home.as_uri()

    def environment(self) -> dict[str, str]:
        """Return the environment of the CLI; the user's own backend and passphrase take precedence."""
        env = {**_DEFAULT_ENVIRONMENT, **os.environ, _BACKEND: self.backend}
        if not _passphrase_is_given():
            env.pop(_PASSPHRASES[1], None)  # set, but empty
            env[_PASSPHRASES[1]] = str(self._passphrase())
        return env

    def write(self, overrides: Mapping[str, str]) -> dict[str, Any]:
        """Write the copy with the current settings and the previous encryption key, and return its ``config``.

        Args:
            overrides: Settings that replace those in the stack file, by key.

        Raises:
            WorkbenchError: a file is missing or invalid, or there is no passphrase for its secrets.
        """
        for folder in (self.state_folder, self.home, self.folder):
            private_folder(folder)
        self._delete_cut_attributes()
        stored = dict(self.project.stored())
        if self._has_obsolete_key(stored):
            del stored[_SALT]
        keys = self._previous_keys()
        if stored.get(_PROVIDER) == keys.get(_PROVIDER):
            stored = {**keys, **stored}
        config = {**section(stored, self.project.settings), **overrides}
        stored["config"] = config
        _write(self.folder / "Pulumi.yaml", {"name": self.project.name, "runtime": "python"})
        _write(self.settings, stored)
        return config

    def _delete_cut_attributes(self) -> None:
        """Delete empty files of attributes, which a killed CLI leaves beside a state that is whole.

        The file backend replaces a state at once, but writes its optional attributes in place (gocloud.dev,
        blob/fileblob/attrs.go). An empty file of them makes the state unreadable: `failed to load checkpoint: EOF`.
        """
        for path in (self.home / ".pulumi").rglob("*.attrs"):
            if path.stat().st_size == 0:
                path.unlink(missing_ok=True)

    def _previous_keys(self) -> dict[str, Any]:
        """Return the encryption key of the previous copy."""
        try:
            previous = yaml.safe_load(self.settings.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            return {}  # the CLI creates a new one from the same passphrase
        return {key: previous[key] for key in _KEYS if key in previous} if isinstance(previous, dict) else {}

    def _has_obsolete_key(self, stored: Mapping[str, Any]) -> bool:
        """Whether the key in the stack file belongs to a deleted state, so that nothing is encrypted with it.

        Raises:
            WorkbenchError: there are secrets, and no passphrase for them.
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
                "the folder to start over (the resources of the stack are then not deleted)"
            )
        write_private(path, secrets.token_urlsafe(_PASSPHRASE_BYTES).encode())
        return path


def deployed_by_cli(folder: Path, stack: str, state_folder: Path) -> bool:
    """Whether the file backend of the workbench has objects of a stack; a backend of the user's own is not read."""
    if os.environ.get(_BACKEND):
        return False
    files = StackFiles(ProjectFiles(folder, stack), state_folder)
    path = files.home / ".pulumi" / "stacks" / files.project.name / f"{stack}.json"
    try:
        checkpoint = json.loads(path.read_bytes())["checkpoint"]["latest"] or {}
        resources = checkpoint.get("resources") or []
        return any(str(resource["type"]).startswith("kubernetes:") for resource in resources)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False  # no such stack, or a file that the CLI reports itself


def _passphrase_is_given() -> bool:
    """Whether the user has set a passphrase. Like the CLI, accept an empty passphrase, but not an empty path."""
    return _PASSPHRASES[0] in os.environ or bool(os.environ.get(_PASSPHRASES[1]))


def _has_secrets(value: object) -> bool:
    if isinstance(value, dict):
        return set(value) == {"secure"} or any(map(_has_secrets, value.values()))
    return isinstance(value, list) and any(map(_has_secrets, value))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_private(path, yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True).encode())

"""The Pulumi project and the configuration of its stacks."""

import datetime
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from components.contract.problems import did_you_mean, some_of
from components.contract.texts.printable import printable
from components.contract.texts.secrets import SECRET_TEXT, masked_text
from stacks import PROJECT
from stacks.stack_file import StackFile, located_document

from ..errors import WorkbenchError

if TYPE_CHECKING:
    from components.plan.settings import FleetSettings
    from stacks.settings import Settings


_STACK_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_DISABLED = "pulumi:disable-default-providers"


@dataclass(frozen=True, slots=True)
class Project:
    """A Pulumi project with the configuration of one stack."""

    folder: Path
    name: str
    stack: str
    main: str = ""
    config: Mapping[str, str] = field(default_factory=dict)
    """Values by fully qualified key, as the program receives them: strings, with structures as JSON."""
    secret_keys: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Decrypted secrets of the configuration, to mask them in messages."""

    @property
    def kubeconfig(self) -> str:
        """The setting ``kubeconfig``, by which a stack names its cluster; empty if it is a list or a map."""
        text = self.config.get(self.key("kubeconfig"), "")
        return "" if text[:1] in ("[", "{") else text

    @property
    def has_settings(self) -> bool:
        """Whether the configuration has settings of the stack program, ``inference-platform:...``."""
        return self.name == PROJECT or any(key.startswith(f"{PROJECT}:") for key in self.config)

    def key(self, setting: str) -> str:
        """Return the full key of a setting; in a project with a program of its own, a key of that project."""
        if ":" in setting:
            return setting
        return f"{PROJECT if self.has_settings else self.name}:{setting}"

    @property
    def disabled_providers(self) -> frozenset[str]:
        """Packages whose default provider is disabled."""
        packages = _disabled(self.config)
        return frozenset(packages if isinstance(packages, list) else [packages])


class ProjectFiles:
    """Pulumi.yaml and Pulumi.<stack>.yaml of one stack."""

    def __init__(self, folder: Path, stack: str) -> None:
        """Read Pulumi.yaml.

        Raises:
            WorkbenchError: the file is missing or invalid, or the stack name is invalid.
        """
        if not _STACK_NAME.fullmatch(stack):
            raise WorkbenchError(f"{stack!r} is not a valid stack name; use letters, digits, '-', '_' and '.'", 2)
        self.manifest = folder / "Pulumi.yaml"
        absent = f"{self.manifest} does not exist; run this in the project folder, or use --cwd"
        self.content = _read(self.manifest, absent)
        name = self.content.get("name")
        if not isinstance(name, str):
            raise WorkbenchError(f"{self.manifest}: name: is required; set it")
        self.name = name
        self.settings = folder / str(self.content.get("stackConfigDir") or "") / f"Pulumi.{stack}.yaml"

    @property
    def absent(self) -> str:
        """The error message for a stack without settings."""
        stacks = sorted(path.name[7:-5] for path in self.settings.parent.glob("Pulumi.*.yaml"))
        stack = self.settings.name.removeprefix("Pulumi.").removesuffix(".yaml")
        hint = did_you_mean(stack, stacks)
        known = f"; stacks with settings: {some_of(stacks)}"
        if not stacks:
            known = "; no stack has settings yet: write the file, or start from one of `workbench init`"
        return f"stack {stack!r} has no {self.settings.name}{hint or known}"

    def stored(self) -> dict[str, Any]:
        """Return the content of the stack file.

        Raises:
            WorkbenchError: the file is missing or invalid.
        """
        return _read(self.settings, self.absent)


def load_project(
    folder: Path,
    stack: str,
    overrides: Mapping[str, str] | None = None,
    *,
    sealed: bool = False,
    offline: bool = False,
) -> Project:
    """Read Pulumi.yaml and Pulumi.<stack>.yaml.

    Args:
        folder: The project folder.
        stack: Name of the stack.
        overrides: Settings that replace those in the stack file, by key.
        sealed: Whether to leave secrets encrypted and return a placeholder for each.
        offline: Whether nothing is deployed, so that secrets stay encrypted if no passphrase is set. With one, those
            that it does not decrypt are an error, also of sealed ones.

    Raises:
        WorkbenchError: a file is missing or invalid, or a value does not have the type that Pulumi.yaml declares.
    """
    files = ProjectFiles(folder, stack)
    manifest, stored, name = files.content, files.stored(), files.name
    reader = _Config(name, files, sealed=sealed, offline=offline)
    reader.declare(section(manifest, files.manifest))
    reader.read(section(stored, files.settings), stored.get("encryptionsalt"))
    project = Project(folder, name, stack, str(manifest.get("main") or ""), reader.values)
    reader.values.update({project.key(key): value for key, value in (overrides or {}).items()})
    reader.check()
    return replace(
        project,
        config={key: _text(value) for key, value in reader.values.items()},
        secret_keys=tuple(sorted(reader.secret_keys)),
        secrets=frozenset(reader.secrets),
    )


class _Config:
    """Values and declared types by fully qualified key."""

    def __init__(self, project: str, files: ProjectFiles, *, sealed: bool, offline: bool) -> None:
        self._project = project
        self._file = StackFile(files.settings.name, files.manifest.parent)
        self._sealed = sealed
        self._offline = offline
        self._types: dict[str, Mapping[str, Any]] = {}
        self.values: dict[str, Any] = {}
        self.secret_keys: set[str] = set()
        self.secrets: set[str] = set()

    def declare(self, declared: Mapping[str, Any]) -> None:
        """Add types and defaults from Pulumi.yaml; an entry that is not a map is a value."""
        for key, entry in declared.items():
            full_key = _full_key(self._project, key)
            if not isinstance(entry, dict):
                self.values[full_key] = entry
                continue
            if "type" in entry or "value" not in entry:
                self._types[full_key] = entry  # otherwise any value, such as pulumi:tags, which `pulumi new` writes
            value = entry.get("value", entry.get("default"))
            if value is not None:
                self.values[full_key] = value
            if entry.get("secret"):
                self.secret_keys.add(full_key)

    def read(self, stored: Mapping[str, Any], salt: object) -> None:
        """Add the values of the stack file."""
        for key, value in stored.items():
            full_key = _full_key(self._project, key)
            self.values[full_key] = self._decrypted(value, (full_key,), str(salt or ""))

    def _decrypted(self, value: Any, path: tuple[str, ...], salt: str) -> Any:  # noqa: ANN401  JSON in, JSON out
        """Decrypt secrets at any depth of a value; one secret makes the whole key secret."""
        if isinstance(value, list):
            return [self._decrypted(item, (*path, str(index)), salt) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if set(value) != {"secure"}:
            return {name: self._decrypted(inner, (*path, str(name)), salt) for name, inner in value.items()}
        from .passphrase import EncryptedError, can_decrypt, decrypt

        self.secret_keys.add(path[0])
        # Checks need no passphrase, but a secret that it does not decrypt is wrong for every command.
        if not can_decrypt(salt) if self._offline else self._sealed:
            return SECRET_TEXT
        try:
            clear_text = decrypt(str(value["secure"]), salt)
        except EncryptedError as error:
            raise WorkbenchError(self._file.at(".".join(path), str(error))) from None
        if self._sealed:
            return SECRET_TEXT
        self.secrets.add(clear_text)
        return clear_text

    def check(self) -> None:
        """Check values against their declared types.

        Raises:
            WorkbenchError: values are missing or have the wrong type; the message lists all of them.
        """
        problems = []
        for key, entry in self._types.items():
            if key.startswith(f"{PROJECT}:"):
                continue  # The settings check their types themselves, so that every command reports the same.
            kind, value = entry.get("type", "string"), self.values.get(key)
            if value is None:
                problems.append(self._file.at(key, "is required, because Pulumi.yaml has no default; set it"))
            elif not _has_type(value, str(kind)):
                reason = f"must be of type {kind}, as Pulumi.yaml declares, found {_json(value)}"
                problems.append(self._file.at(key, reason))
        packages = _disabled(self.values)
        if not all(isinstance(name, str) for name in (packages if isinstance(packages, list) else [packages])):
            reason = f"must be a list of packages, found {_json(self.values[_DISABLED])}"
            problems.append(self._file.at(_DISABLED, reason))
        if problems:
            raise WorkbenchError(masked_text("\n".join(problems), self.secrets))


def _disabled(values: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON
    """Return the packages with disabled default providers: a list or a single name."""
    packages = values.get(_DISABLED, [])
    try:
        return json.loads(packages) if isinstance(packages, str) else packages
    except ValueError:
        return packages


def _has_type(value: object, kind: str) -> bool:
    if isinstance(value, str) and kind != "string":
        try:
            value = json.loads(value)  # `pulumi config set` writes every value as a string
        except ValueError:
            return False
    if kind == "string":
        return isinstance(value, str | int | float) and not isinstance(value, bool)
    if kind == "integer" and isinstance(value, bool):
        return False
    return isinstance(value, _TYPES.get(kind, (object,)))


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that appears twice in a map, as the YAML library of the Pulumi CLI does (gopkg.in/yaml.v3)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """Return the map of a node; the signature is PyYAML's."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name = str(key.value)
            if name in lines:
                problem = f"key {name!r} appears twice in the same map, first in line {lines[name]}; keep one of them"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[name] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002
        """Return the value of a node, or say where a date or a number is that Python does not represent."""
        try:
            return super().construct_object(node, deep)
        except ValueError:
            problem = "a date or a number that cannot be read; quote it if it is a text"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None


class _WithLibyaml(_UniqueKeys):
    """Takes events from libyaml, which is four times as fast; composing in Python limits the nesting."""

    def __init__(self, text: str) -> None:
        from yaml._yaml import CParser  # absent where PyYAML is built without libyaml

        super().__init__("")
        events = CParser(text)
        self.__dict__.update({name: getattr(events, name) for name in ("check_event", "peek_event", "get_event")})


def _load(text: str) -> Any:  # noqa: ANN401  YAML has values of any type
    """Return the only document of a text.

    Raises:
        YAMLError: The text is not YAML.
        RecursionError: It is nested too deeply.
    """
    if yaml.__with_libyaml__:
        try:
            return yaml.load(text, _WithLibyaml)  # noqa: S506  a safe loader
        except yaml.YAMLError:
            pass  # PyYAML's own parser accepts escaped surrogates, and says more about errors
    return yaml.load(text, _UniqueKeys)  # noqa: S506  a safe loader


def _read(path: Path, absent: str) -> dict[str, Any]:
    """Read a YAML map; errors name line and column."""
    if not path.is_file():
        raise WorkbenchError(absent, 2)
    data = b""
    try:
        data = path.read_bytes()
        content = _load(data.decode("utf-8-sig")) or {}
    except OSError as error:
        raise WorkbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        place = _place(path, data[: error.start].decode("utf-8-sig"))
        raise WorkbenchError(f"{place}: not UTF-8 text; save the file as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise WorkbenchError(printable(f"{place}: not valid YAML: {error.problem or error.context}")) from None
    except yaml.reader.ReaderError as error:
        place = _place(path, data.decode("utf-8-sig")[: error.position])
        reason = f"the character U+{error.character:04X} is not allowed; remove it"
        raise WorkbenchError(f"{place}: not valid YAML: {reason}") from None
    except RecursionError:
        raise WorkbenchError(f"{path}: nested too deeply to be read; flatten its maps and lists") from None
    if not isinstance(content, dict):
        raise WorkbenchError(f"{path}:1: must be a YAML map, found {type(content).__name__}")
    return content


def _place(path: Path, before: str) -> str:
    """Return the file with the line and the column after a text."""
    lines = before.split("\n")
    return f"{path}:{len(lines)}:{len(lines[-1]) + 1}"


def section(content: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the ``config`` section of a file."""
    config = content.get("config")
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise WorkbenchError(_at(path, "config", f"config: must be a map of keys and values, found {_json(config)}"))
    non_strings = [key for key in config if not isinstance(key, str)]
    if non_strings:
        reason = f"config: keys must be strings, found {_json(non_strings[0])}; quote it"
        raise WorkbenchError(_at(path, f"config.{non_strings[0]}", reason))
    for key, value in config.items():
        try:
            f"{key}{json.dumps(value, ensure_ascii=False, default=str)}".encode()
        except UnicodeEncodeError:  # YAML escapes can produce lone surrogates
            reason = f"{printable(key)}: contains an unpaired surrogate character; remove it"
            raise WorkbenchError(_at(path, f"config.{key}", reason)) from None
    return config


def _at(file: Path, path: str, reason: str) -> str:
    """Return a message about a place in a file."""
    document = located_document(file)
    place = f"{file}:{document.line_at(path)}" if document else str(file)
    return f"{place}: {reason}"


def _json(value: object) -> str:
    return printable(json.dumps(value, default=str))


def _full_key(project: str, key: str) -> str:
    return key if ":" in key else f"{project}:{key}"


def _text(value: object) -> str:
    if value is None:
        return ""  # as in the Pulumi CLI
    # YAML has dates, JSON does not.
    return str(value) if isinstance(value, str | datetime.date) else json.dumps(value, default=str)


def own_program(project: Project, alternative: str) -> WorkbenchError:
    """Return the error for a command that reads settings, in a project with a program of its own.

    Args:
        project: The project.
        alternative: What to do without settings.
    """
    return WorkbenchError(
        f"{project.folder / 'Pulumi.yaml'}: the project {printable(project.name)!r} has a program of its own: "
        f"neither this file nor Pulumi.{project.stack}.yaml sets a key that starts with {PROJECT}:; {alternative}",
        2,
    )


def stack_settings(folder: Path, stack: str, overrides: Mapping[str, Any]) -> "FleetSettings":
    """Read the settings of a stack of this project.

    Raises:
        WorkbenchError: the stack has no settings, or invalid ones; the message lists every error.
    """
    import pulumi  # takes 0.2 s, which other readers of a project do not need

    from stacks.settings import from_config

    # Settings decide nothing by the text of a secret: checks need no passphrase.
    project = load_project(folder, stack, sealed=True, offline=True)
    if not project.has_settings:
        raise own_program(project, "use --stack none to check manifests on their own")
    try:
        return from_config(project.config, stack, overrides, folder=folder)
    except pulumi.RunError as error:
        raise WorkbenchError(str(error)) from None


def new_settings(values: Mapping[str, Any], stack: str) -> "Settings":
    """Return settings of a stack that are about to be written.

    Raises:
        WorkbenchError: they are invalid; the message lists every error.
    """
    import pulumi  # see stack_settings

    from stacks.settings import parse

    try:
        return parse(values, f"Pulumi.{stack}.yaml")
    except pulumi.RunError as error:
        raise WorkbenchError(str(error)) from None


def check_new_settings(values: Mapping[str, Any], stack: str) -> None:
    """Check settings of a stack that are about to be written, as its preview will.

    Raises:
        WorkbenchError: they are invalid; the message lists every error.
    """
    from components.contract.problems import errors
    from components.families import objects
    from components.plan.plan import plan
    from stacks.settings_problems import with_settings_problems

    settings = new_settings(values, stack)
    # The settings are not in a file yet.
    planned = with_settings_problems(plan(objects(()), settings.environment()), settings, None)
    wrong = [str(problem) for problem in errors(planned.problems)]
    if wrong:
        raise WorkbenchError("\n".join(wrong))

"""Configuration files of engines: their keys are flags, which come before those of the command line.

Sources: ``load_config_file`` and ``_pull_args_from_config`` of vLLM's FlexibleArgumentParser and ConfigArgumentMerger
of SGLang at the releases in ``features`` of their ``engine.yaml``. Both read a file only if the flag and its path are
two arguments, and both let the command line take precedence.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..contract.documents.reader import YamlError, read_documents
from ..contract.findings.ids import RuleId
from ..contract.problems import Severity
from .command_line import CommandLine
from .flags.rows import BOOL, SWITCH, Flag
from .flags.tables import EngineFlags
from .lint import Finding, lint
from .registry import engines
from .scripts.commands import engine_line
from .settings import Feature, Setting
from .versions import engine_title

_SUFFIXES = (".yaml", ".yml")


class ConfigWord(NamedTuple):
    """An argument from a configuration file, and the key that it comes from."""

    text: str
    key: str


class ConfigFault(NamedTuple):
    """A problem of a configuration file.

    Attributes:
        key: The key; empty for the file.
        reason: The problem and the next step.
        severity: ``error`` if the engine does not start.
    """

    key: str
    reason: str
    severity: Severity = Severity.ERROR
    rule: RuleId = RuleId.FLAGS_MALFORMED


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file as an engine reads it."""

    words: tuple[ConfigWord, ...] = ()
    faults: tuple[ConfigFault, ...] = ()


def config_path(line: CommandLine) -> str | None:
    """Return the path of the configuration file of a server; None without one."""
    own = engine_line(line)
    if own is None or own.reading is None or Setting.CONFIG_FILE not in _settings(own):
        return None
    return own.value_of(Setting.CONFIG_FILE)


def is_ignored(line: CommandLine) -> bool:
    """Return whether the configuration file has no effect, because flag and path are one argument."""
    own = engine_line(line)
    flags = _settings(own).get(Setting.CONFIG_FILE, ()) if own else ()
    words = own.words if own else ()
    return not any(flag in words for flag in flags)


def read_config(line: CommandLine, path: str, text: str) -> ConfigFile:
    """Return the arguments in a configuration file, as the version of the engine reads them.

    Args:
        line: The command line of the server.
        path: The path of the file.
        text: Its content.
    """
    title = engine_title(line.engine, line.tag)
    if PurePosixPath(path).suffix not in _SUFFIXES:
        return _unusable(f"{path} must end with .yaml or .yml: {title} refuses other files; rename it")
    try:
        documents = [document.value for document in read_documents(text)]
    except YamlError as error:
        return _unusable(f"is not YAML, so that {title} does not start: line {error.line}: {error.reason}")
    engine = engines()[line.engine]
    if len(documents) > 1:
        return _unusable(f"has {len(documents)} YAML documents, of which {title} accepts one; remove the others")
    value = documents[0] if documents else None
    if value is None and engine.has(Feature.CONFIG_EMPTY, line.tag):
        return ConfigFile()
    if not isinstance(value, Mapping):
        return _unusable(f"must be a map from flags to values, without which {title} does not start")
    own = engine_line(line)
    assert own is not None  # noqa: S101  the caller has its path
    assert own.reading is not None  # noqa: S101  as above
    words: list[ConfigWord] = []
    faults: list[ConfigFault] = []
    for key, setting in value.items():
        flag = own.reading.table.find(f"--{key}", own.reading.version)
        words += (ConfigWord(word, key) for word in _words(own, key, setting, flag))
        faults += _faults(own, own.reading.table, key, setting, flag)
    return ConfigFile(tuple(words), tuple(faults))


def config_findings(line: CommandLine, expanded: CommandLine) -> list[Finding]:
    """Return the problems that the arguments of a configuration file have or cause.

    Values that the command line overrides are none: several servers may share the file.

    Args:
        line: The command line of the server.
        expanded: The same with the arguments of the file.
    """
    plain, own = engine_line(line), engine_line(expanded)
    if plain is None or own is None:
        return []
    moved = own.config.moved if own.config else 0
    known = {(finding.position, finding.reason) for finding in lint(plain)}
    return [
        finding
        for finding in lint(own, -len(own.command))
        if finding.rule != RuleId.FLAGS_REPEATED
        and (own.config_index(finding.position) is not None or finding.position >= 0)
        and (finding.position + moved, finding.reason) not in known
    ]


def _settings(line: CommandLine) -> Mapping[Setting, tuple[str, ...]]:
    engine = engines().get(line.engine)
    return engine.settings if engine else {}


def _unusable(reason: str) -> ConfigFile:
    return ConfigFile(faults=(ConfigFault("", reason, rule=RuleId.START_REFUSED),))


def _words(line: CommandLine, key: str, value: Any, flag: Flag | None) -> tuple[str, ...]:  # noqa: ANN401  of YAML
    """Return the arguments for one key; texts are those of Python's str, as the engines write them."""
    engine, name = engines()[line.engine], f"--{key}"
    version = engine.version(line.tag)
    if isinstance(value, bool):
        form = flag.form_in(version) if flag else None
        if engine.has(Feature.CONFIG_TRUTHS, line.tag) and (form is None or form.type != SWITCH):
            return (name, str(value).lower())
        # Before 0.11, vLLM knew some flags that take a truth, by their names with underscores.
        if form and form.nargs == "?" and "_" in key:
            return (name, str(value))
        if value:
            return (name,)
        negative = f"--no-{key}"
        has_negative = flag is not None and flag.form_in(version).type == BOOL
        return (negative,) if has_negative and engine.has(Feature.CONFIG_OFF, line.tag) else ()
    if isinstance(value, list) and engine.has(Feature.CONFIG_LISTS, line.tag):
        return (name, *map(str, value)) if value else ()
    if isinstance(value, dict) and engine.has(Feature.CONFIG_OBJECTS, line.tag):
        return (name, json.dumps(value))
    return (name, str(value))


def _faults(
    line: CommandLine,
    table: EngineFlags,
    key: str,
    value: Any,  # noqa: ANN401  of YAML
    flag: Flag | None,
) -> list[ConfigFault]:
    engine, title = engines()[line.engine], engine_title(line.engine, line.tag)
    form = flag.form_in(table.version(line.tag)) if flag else None
    if form is None or form.type != BOOL:
        return []
    if engine.has(Feature.CONFIG_TRUTHS, line.tag):
        reason = f"{title} refuses {key} in a configuration file; write --{key} as an argument"
        return [ConfigFault(key, reason, rule=RuleId.START_REFUSED)]
    if value is False and not engine.has(Feature.CONFIG_OFF, line.tag):
        reason = (
            f"{title} ignores false in a configuration file, so that {key} keeps its default; write no-{key}: true"
        )
        return [ConfigFault(key, reason, Severity.WARNING, RuleId.FIELD_NO_EFFECT)]
    return []

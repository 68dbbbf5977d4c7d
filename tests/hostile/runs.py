"""Runs commands in this process and looks at what they print: located, on one line each, nothing invisible."""

import functools
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import typer.main
import yaml
from typer.testing import CliRunner

from components.contract.texts.printable import printable, printable_lines
from components.contract.texts.secrets import masked_text
from workbench.cli import app
from workbench.edge import _system_error
from workbench.errors import WorkbenchError

ROOT = Path(__file__).parents[2]
MODELS = "models.yaml"
_LOCATED = re.compile(r"(?:warning: |error: |info: )?[^:\n]*\.yaml:[1-9][0-9]*(?::[1-9][0-9]*)?: .")
_OF_FILE = re.compile(
    r"(?:warning: )?.+?: (?:cannot be read|no such file or folder|no \*\.yaml|is neither a file|is empty; "
    r"|contains only comments; |is [^;]+, no manifest; |is UTF-16 text; )"
)
_OURS = (
    re.compile(r"\Astack: [\w.-]+\Z"),  # the default stack
    re.compile(r"\Anote: .*: encrypted values are not compared; set PULUMI_CONFIG_PASSPHRASE\Z"),
    re.compile(r"\A[0-9]+ problems? found; nothing was created\Z"),
    re.compile(r"\A[0-9]+ resources? in [0-9]+ files?[:,] "),
    re.compile(r"\A    (inference-platform|pulumi):"),  # the YAML to write instead
    re.compile(r"\A(resource .* not found[;,] |--literal: no upstream operator converts )"),
    re.compile(r"\Awarning: [0-9]+ values? that may be (?:a secret is|secrets are) hidden"),
    re.compile(r"\Amemory (not checked|estimated) for [0-9]+ of [0-9]+ models?"),
    re.compile(r"\A  [A-Z][A-Za-z]+/\S.*: "),  # the models of which that is true, and why
)

_built = functools.cache(typer.main.get_command)
"""Typer builds its commands anew for each run, which takes longer than most commands."""


@dataclass(frozen=True)
class Printed:
    """What a command printed, and how it ended."""

    code: int
    stdout: str
    stderr: str


class TrespassError(AssertionError):
    """A command did what none may."""


def run(*arguments: str) -> Printed:
    """Run a command as the console does.

    Raises:
        TrespassError: it raised something that is no message.
    """
    with patch("typer.testing._get_command", _built):
        result = CliRunner().invoke(app, list(arguments))
    error = result.exception
    message = str(error) if isinstance(error, WorkbenchError) else ""
    if isinstance(error, OSError):
        message = _system_error(error)
    if message:
        code = error.exit_code if isinstance(error, WorkbenchError) else 1
        return Printed(code, result.stdout, f"{result.stderr}{printable_lines(masked_text(message))}\n")
    if error is not None and not isinstance(error, SystemExit):
        raise TrespassError(f"{' '.join(arguments)}: {type(error).__name__}: {error}") from error
    return Printed(result.exit_code, result.stdout, result.stderr)


def checked(*arguments: str, lines: int | None = None) -> Printed:
    """Run a command, and check every line that it prints.

    Args:
        arguments: The command.
        lines: How many lines the manifests have; no message may name a later one.

    Raises:
        TrespassError: there is something invisible, or a message without a place.
    """
    if arguments[0] == "validate" and "--output" not in arguments:
        arguments = (*arguments, "--output", "lines")  # one place per line
    printed = run(*arguments)
    for line in (printed.stdout + printed.stderr).split("\n"):
        if printable(line.replace("\t", "")) != line.replace("\t", ""):
            raise TrespassError(f"{' '.join(arguments)}: something invisible in {line!r}")
    messages = printed.stdout if arguments[0] == "validate" else ""
    for line in (messages + printed.stderr).splitlines():
        if not any(pattern.match(line) for pattern in (_LOCATED, _OF_FILE, *_OURS)):
            raise TrespassError(f"{' '.join(arguments)}: no place in {line!r}")
        named = re.match(rf"(?:warning: |info: )?[^:\n]*{MODELS}:([0-9]+): ", line)
        if named and lines is not None and int(named[1]) > lines:
            raise TrespassError(f"{' '.join(arguments)}: line {named[1]} of {lines}: {line!r}")
    return printed


def project(folder: Path, settings: str | None = None, models: str | None = None) -> None:
    """Make a project of a folder, with a stack file or with manifests of its own."""
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder / name)
    if not (folder / "stacks").exists():
        (folder / "stacks").symlink_to(ROOT / "stacks")
    if settings is None:
        local = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
        local["config"]["inference-platform:models"] = [MODELS]
        settings = yaml.safe_dump(local)
    (folder / "Pulumi.local.yaml").write_text(settings, errors="surrogateescape")
    if models is not None:
        write(folder / MODELS, models)


def write(file: Path, text: str) -> int:
    """Write manifests; return how many lines an editor shows."""
    file.write_text(text, errors="surrogateescape", newline="")
    return len(re.findall("\r\n?|\n", text)) + 1

"""A command line imports the module of its command, and no other."""

import subprocess
import sys

import pytest
import typer

from tests.layers.modules import ROOT
from workbench.cli import MODULES, app, command_line


def names(line: typer.Typer) -> list[str]:
    commands = [command.name or str(command.callback.__name__) for command in line.registered_commands]  # type: ignore[union-attr]
    return [
        *commands,
        *(str(group.typer_instance.info.name) for group in line.registered_groups if group.typer_instance),
    ]


@pytest.mark.parametrize("module", MODULES)
def test_the_commands_of_a_module_are_listed(module: str) -> None:
    for name in MODULES[module]:
        assert names(command_line(name)) == list(MODULES[module])


@pytest.mark.parametrize("word", ["", "--help", "validat"])
def test_anything_else_has_every_command(word: str) -> None:
    every = sorted(name for commands in MODULES.values() for name in commands)
    assert sorted(names(command_line(word))) == sorted(names(app)) == every


@pytest.mark.parametrize(
    ("words", "own"),
    [(["validate", "stacks/models/qwen-chat.yaml"], {"workbench.manifests"}), (["--version"], set())],
)
def test_other_modules_are_not_imported(words: list[str], own: set[str]) -> None:
    modules = [f"workbench.{module}" for module in MODULES]
    script = (
        f"import sys\nfrom workbench.cli import main\nsys.argv = ['workbench', *{words}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print('loaded', *(name for name in {modules} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()[-1].split()[1:]) == own

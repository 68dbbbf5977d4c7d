"""A command line imports the module of its command, and no other; validation only the checks that it needs."""

import subprocess
import sys

import pytest
import typer

from components.plan.environment import Environment
from tests.layers.modules import ROOT
from workbench.cli import MODULES, app, command_line
from workbench.helping import GROUPS
from workbench.subject import fleet_settings

UNUSED = (
    "components.checks.front_door.gateway",
    "components.checks.front_door.rate_limits",
    "components.checks.front_door.routes",
    "components.checks.front_door.rules",
    "components.checks.hardening.network_policies",
    "components.checks.hardening.pods",
    "components.checks.hardening.workloads",
    "components.checks.memory.config",
    "components.checks.memory.naming",
    "components.clouds.aws.environment",
    "components.clouds.aws.provider",
    "components.contract.texts.secrets",
    "components.engines.pairs",
    "components.families.llmaz.operator",
    "components.fleet.cloud",
    "components.fleet.cloud_providers",
    "components.fleet.images",
    "components.fleet.prices",
    "components.performance",
    "components.plan.costs",
    "components.plan.faults",
    "components.plan.images",
    "components.plan.prerequisites.charts",
    "components.plan.prerequisites.needed",
    "components.plan.review",
    "components.plan.sections",
    "components.plan.settings",
    "components.plan.view",
    "rich",
    "stacks",
)
"""What one manifest of a model in the catalog does not need without settings: clouds, settings, prerequisites, front
door, hardening, cache transfer, masking of messages, and reading the size of a model from its name or config.json."""


def names(line: typer.Typer) -> list[str]:
    commands = [command.name or str(command.callback.__name__) for command in line.registered_commands]  # type: ignore[union-attr]
    groups = [str(group.typer_instance.info.name) for group in line.registered_groups if group.typer_instance]
    return [*commands, *(name for name in groups if name not in GROUPS)]


@pytest.mark.parametrize("module", MODULES)
def test_the_commands_of_a_module_are_listed(module: str) -> None:
    for name in MODULES[module]:
        assert names(command_line(name)) == list(MODULES[module])


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_has_its_commands_only(group: str) -> None:
    groups = {
        str(each.typer_instance.info.name): each.typer_instance
        for each in command_line(group).registered_groups
        if each.typer_instance
    }
    assert sorted(names(groups[group])) == sorted(GROUPS[group][1])


@pytest.mark.parametrize("word", ["", "--help", "validat"])
def test_anything_else_has_every_command(word: str) -> None:
    every = sorted(name for commands in MODULES.values() for name in commands)
    assert sorted(names(command_line(word))) == sorted(names(app)) == every


@pytest.mark.parametrize(
    ("words", "own"),
    [
        (["validate", "--stack", "none", "stacks/models/qwen-chat.yaml"], {"workbench.manifests"}),
        (["--version"], set()),
    ],
)
def test_other_modules_are_not_imported(words: list[str], own: set[str]) -> None:
    modules = {f"workbench.{module}" for module in MODULES}
    assert modules & imported(*words) == own


def test_validating_one_manifest_imports_nothing_that_it_does_not_need() -> None:
    modules = imported("validate", "--stack", "none", "stacks/models/gemma-elastic.yaml")
    assert {"components.checks.memory.verdicts", "components.plan.plan"} <= modules
    assert [name for name in UNUSED if name in modules] == []


@pytest.mark.parametrize(
    ("option", "needed"),
    [
        (["--namespace", "models"], "components.plan.settings"),
        (["--stack", "local"], "components.checks.front_door.gateway"),
    ],
)
def test_options_import_what_they_need(option: list[str], needed: str) -> None:
    assert needed in UNUSED
    assert needed in imported("validate", "--stack", "none", "stacks/models/gemma-elastic.yaml", *option)


def test_the_defaults_of_settings_are_those_of_the_environment() -> None:
    """Without a stack and options, the settings are not read."""
    settings, environment = fleet_settings({"namespace": "default"}), Environment()
    assert settings.options() == environment.options
    assert settings.other_kinds == environment.other_kinds


def imported(*words: str) -> set[str]:
    """Return the modules that a command imports."""
    script = (
        f"import sys\nfrom workbench.cli import main\nsys.argv = ['workbench', *{words}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('loaded', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])

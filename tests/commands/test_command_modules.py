"""A command line imports the module of its command, and no other; validation only the checks that it needs."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
import typer

from components.fleet.instances import instances
from components.plan.environment import Environment
from tests.layers.modules import ROOT
from workbench.cli import MODULES, app, command_line
from workbench.helping import GROUPS
from workbench.subject import fleet_settings

UNUSED = (
    "components.checks.front_door.engine_keys",
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
    "components.contract.documents.faults",
    "components.contract.foreign",
    "components.contract.texts.outputs",
    "components.engines.pairs",
    "components.engines.served.behavior",
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
    "components.plan.rollouts",
    "components.plan.sections",
    "components.plan.settings",
    "components.plan.starts.estimate",
    "components.plan.timeouts",
    "components.plan.view",
    "html",
    "pulumi",
    "rich",
    "stacks",
)
"""What one manifest of a model in the catalog does not need without settings: clouds, settings, prerequisites, front
door, hardening, cache transfer, waiting, and reading the size of a model from its name or config.json."""
UNUSED_BY_LLMAZ = (
    "components.checks.memory.misspelling",
    "components.contract.texts.harmless",
    "components.contract.texts.secrets",
    "components.engines.serving",
    "components.engines.signs",
)
"""What one of llmaz does not need either: masking of messages, and recognizing engines in scripts and images."""
UNUSED_WITHOUT_AUTOSCALER = (
    "components.checks.metrics.keda",
    "components.checks.metrics.promql",
    "components.checks.metrics.scaled_objects",
)
MODELS = {
    "stacks/models/gemma-elastic.yaml": ("llmaz", UNUSED_BY_LLMAZ),
    "stacks/models/qwen-chat.yaml": ("llmaz", UNUSED_BY_LLMAZ + UNUSED_WITHOUT_AUTOSCALER),
    "stacks/models/llmkube-vllm-qwen32b.yaml": ("llmkube", UNUSED_WITHOUT_AUTOSCALER),
    "stacks/models/kthena-vllm.yaml": ("kthena", UNUSED_WITHOUT_AUTOSCALER),
    "stacks/models/kthena-serving-gang.yaml": ("kthena", UNUSED_WITHOUT_AUTOSCALER),
}
"""Manifests with their families, and what they do not need beside ``UNUSED``."""
NEEDED = {"kthena": {"components.engines.pairs", "components.performance"}}
"""What every manifest of a family needs of ``UNUSED``: its autoscaler, and its engines in pairs."""
FAMILIES = ("kthena", "llmaz", "llmd", "llmkube")


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


@pytest.mark.parametrize("manifest", MODELS)
def test_validating_one_manifest_imports_nothing_that_it_does_not_need(manifest: str) -> None:
    family, unused = MODELS[manifest]
    modules = imported("validate", "--stack", "none", manifest)
    assert {"components.checks.memory.verdicts", "components.plan.plan", f"components.families.{family}"} <= modules
    others = [f"components.families.{name}" for name in FAMILIES if name != family]
    unneeded = {*UNUSED, *unused, *others} - NEEDED.get(family, set())
    assert sorted(unneeded & modules) == []


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


def test_an_autoscaler_imports_its_checks() -> None:
    modules = imported("validate", "--stack", "none", "stacks/models/gemma-elastic.yaml")
    assert modules >= {*UNUSED_WITHOUT_AUTOSCALER}


def test_validating_one_manifest_describes_no_type_without_accelerators() -> None:
    """There are more than a thousand of them."""
    report = "from components.clouds.aws import instances\nprint('loaded', instances._instance.calls)"
    counting = (
        "from components.clouds.aws import instances\n"
        "def counted(row, build=instances._instance, **further):\n"
        "    counted.calls += 1\n"
        "    return build(row, **further)\n"
        "counted.calls = 0\ninstances._instance = counted\n"
    )
    done = run(("validate", "--stack", "none", "stacks/models/qwen-chat.yaml"), before=counting, after=report)
    with_accelerators = sum(1 for node in instances().values() if node.accelerators)
    assert with_accelerators < len(instances())
    assert done == [str(with_accelerators)]


def test_the_defaults_of_settings_are_those_of_the_environment() -> None:
    """Without a stack and options, the settings are not read."""
    settings, environment = fleet_settings({"namespace": "default"}), Environment()
    assert settings.options() == environment.options
    assert settings.other_kinds == environment.other_kinds


def imported(*words: str) -> set[str]:
    """Return the modules that a command imports."""
    return set(run(words, after="print('loaded', *sys.modules)"))


def run(words: Sequence[str], *, before: str = "", after: str) -> list[str]:
    """Run a command in a process of its own, and return the words behind ``loaded`` in its last line.

    Args:
        words: The command.
        before: Statements before it.
        after: Statements after it.
    """
    script = (
        f"{before}import sys\nfrom workbench.cli import main\nsys.argv = ['workbench', *{list(words)}]\n"
        f"try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n{after}"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()[1:]

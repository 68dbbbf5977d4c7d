"""Every command of the documentation exists with its options; what is shown of its output is what it prints."""

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import pytest
import typer
import yaml
from botocore import xform_name

from tests import preloaded
from tests.documentation.blocks import ROOT, Block, blocks, commands, file_name, inline_commands
from workbench.cli import app

TYPED = [(str(block), command) for block in blocks("console") for command in commands(block.text)]
ALL = [*TYPED, *(("text", command) for command in inline_commands())]
FILES = {*(file_name(block) or "" for block in blocks("yaml")), *(path.name for path in ROOT.glob("Pulumi.*.yaml"))}
IMPORT_OPTIONS = ("--protect=false", "--generate-code=false")
STACKS = {name.split(".")[1] for name in FILES if name.startswith("Pulumi.")}
"""Stacks of the project, and those whose settings a page shows."""


def of(program: str) -> list[str]:
    return sorted({command for _, command in ALL if command.startswith(f"{program} ")})


def test_every_command_is_of_a_program_that_is_checked() -> None:
    assert {command.split()[0] for _, command in ALL} == {
        "make",
        "git",  # tests/documentation/test_first_block.py runs it
        "workbench",
        "pulumi",
        "kubectl",
        "aws",
        "curl",
        "export",
        "cd",  # into a folder that a command before it creates
        *("pipx", "uv"),  # tests/installed/test_installation.py runs them
        "python",  # tests/clouds/aws/test_refresh_instances.py runs the tool
        "pip",  # downloads what the tool reads
    }


@pytest.mark.parametrize("command", of("make"))
def test_make_has_the_target(command: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    _, *words = command.split()
    assert words
    assert set(words) <= targets


def unknown(command: str) -> list[str]:
    """Words of a command line that the program has no command or option for."""
    found: Any = typer.main.get_command(app)
    _, *words = shlex.split(command)
    while words and words[0] in getattr(found, "commands", {}):
        found, words = found.commands[words[0]], words[1:]
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    if hasattr(found, "commands"):
        return [word for word in words[:1] or ["nothing"] if word not in known]
    takes_words = any(not option.startswith("-") for option in known)
    values = {o for p in found.params for o in p.opts if not getattr(p, "is_flag", False)}
    wrong, rest = [], iter(words)
    for word in rest:
        if word.startswith("-"):
            wrong += [] if word in known else [word]
            if word in values:
                assert next(rest, None), f"{command}: {word} has no value"
        elif not takes_words:
            wrong.append(word)
    return wrong


@pytest.mark.parametrize("command", of("workbench"))
def test_the_workbench_has_the_command_and_its_options(command: str) -> None:
    assert unknown(command) == []


@pytest.mark.parametrize(
    ("command", "wrong"),
    [("workbench deploy", "deploy"), ("workbench up --stak prod", "--stak"), ("workbench cluster", "nothing")],
)
def test_a_command_that_is_none_is_found(command: str, wrong: str) -> None:
    assert unknown(command)[0] == wrong


@pytest.mark.parametrize("command", of("pulumi"))
def test_pulumi_is_asked_for_what_there_is(command: str) -> None:
    words = shlex.split(command)
    if words[1:3] == ["package", "add"]:
        folder = ROOT / Path(words[3]).relative_to("../inference-platform")
        assert (folder / "PulumiPlugin.yaml").is_file()
    elif words[1:3] == ["stack", "output"]:
        golden = (ROOT / "components/schema.json").read_text()
        assert f'"{words[3]}"' in golden
    elif words[1:3] == ["stack", "init"]:
        (stack,) = words[3:]
        assert stack in STACKS
    elif words[1:2] == ["import"]:
        # tests/acceptance/test_adopted.py runs it.
        assert words[2:6] == ["--stack", "prod", "--file", ".workbench/import.prod.json"]
        assert tuple(words[6:]) in (IMPORT_OPTIONS, IMPORT_OPTIONS[1:])  # imported node groups stay protected
    elif words[1:] != ["login"]:
        assert words[1] in ("up", "preview", "destroy")
        if words[2:] == ["--exclude", "**kubernetes:**", "--exclude-dependents"]:
            return
        assert words[2:3] in ([], ["--stack"])
        assert set(words[3:]) <= STACKS


@pytest.mark.parametrize("command", of("curl"))
def test_a_request_is_one_that_an_engine_takes(command: str) -> None:
    _, *words = shlex.split(command)
    (url,) = [word for word in words if word.startswith("http")]
    assert url.endswith("/v1/chat/completions")
    sent = json.loads(words[words.index("-d") + 1])
    assert sent["model"] == "qwen2-7b"  # of stacks/models/qwen-chat.yaml
    assert sent["messages"]


@pytest.mark.parametrize("command", of("pipx"))
def test_the_wheel_is_the_project(command: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, extras = re.fullmatch(r"pipx install '?(?:\./)?([\w-]+)(?:\[(.*)\])?'?", command).groups()  # type: ignore[union-attr]
    assert name == project["name"]
    assert set((extras or "all").split(",")) <= project["optional-dependencies"].keys()


@pytest.mark.parametrize("command", of("aws"))
def test_aws_has_the_operation_and_its_options(command: str) -> None:
    _, service, operation, *words = shlex.split(command)
    model = botocore.session.get_session().get_service_model(service)
    names = {xform_name(name, "-"): name for name in model.operation_names}
    taken = model.operation_model(names[operation]).input_shape.members
    known = {f"--{xform_name(name, '-')}" for name in taken} | {"--query", "--output"}
    assert {word for word in words if word.startswith("--")} <= known


def shown(start: str) -> str:
    """The block whose command starts so, without the command."""
    (found,) = [block for block in blocks("console") if block.text.startswith(f"$ {start}")]
    return found.text.partition("\n")[2]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PYTHONPATH": str(ROOT), "PATH": "/nowhere", "HOME": str(folder)}
    return preloaded.run(*words, cwd=folder, env=env)


def test_two_gpus_instead_of_one_is_the_error_that_is_shown(tmp_path: Path) -> None:
    models = tmp_path / "stacks" / "models"
    shutil.copytree(ROOT / "stacks" / "models", models)
    sample = models / "qwen-chat.yaml"
    one, two = "nvidia.com/gpu: 1", "nvidia.com/gpu: 2"
    assert sample.read_text().count(one) == 1
    sample.write_text(sample.read_text().replace(one, two))
    done = run(tmp_path, "validate", "stacks/models/qwen-chat.yaml")
    assert done.returncode == 1
    # The page has narrower lines.
    assert "".join(shown("workbench validate stacks/").split()) in "".join((done.stdout + done.stderr).split())


def test_what_explain_shows_is_what_is_shown() -> None:
    done = run(ROOT, "explain", "InferenceService/qwen-moe-offload")
    printed = iter(" ".join(line.split()) for line in done.stdout.splitlines())
    lines = [" ".join(line.split()) for line in shown("workbench explain InferenceService/").splitlines()]
    assert len(lines) > 1
    for line in lines:
        assert line == "..." or line in printed, line  # in this order


def test_kubectl_is_given_the_file_that_the_cluster_writes() -> None:
    simulated, written = of("export")
    assert simulated == "export KUBECONFIG=$PWD/.workbench/kubeconfig"
    file = written.removeprefix("export KUBECONFIG=$PWD/")
    assert any(command.endswith(f"kubeconfig --show-secrets > {file}") for command in of("pulumi"))
    local = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
    assert local["config"]["inference-platform:kubeconfig"] == ".workbench/kubeconfig"


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_a_block_is_in_a_language_whose_blocks_are_checked(block: Block) -> None:
    """Those without a language are drawings and listings."""
    assert block.language in {"", "console", "python", "typescript", "yaml"}

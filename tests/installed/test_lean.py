"""``pip install inference-platform`` without extras: its size, what runs, and what names the extra that it needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.version import __version__
from tests.installed.lean import PROJECT, closure, lean_site, megabytes
from tests.layers.modules import ROOT

LIMIT = 250
"""Megabytes of the command line, with compiled modules (docs/decisions/0050)."""
LARGE = {
    "boto3": "aws",
    "matplotlib": "plot",
    "pulumi-aws": "aws",
    "pulumi-kubernetes": "kubernetes",
    "scipy": "fit",
    "xds-protos": "gateway",
}
CHAT = str(ROOT / "stacks/models/qwen-chat.yaml")
COMMANDS = [
    ("--help",),
    ("validate", CHAT),
    ("plan", CHAT),
    ("plan", CHAT, "--cluster", "eks", "--save", "plan.html"),
    ("render", CHAT),
    ("explain", "Playground/qwen-chat", CHAT),
    ("defaults", CHAT),
    ("migrate", "--to-family", "llmkube", "--lossy", CHAT),
    ("fit", "Qwen/Qwen2-7B-Instruct"),
    ("size", "--model", "llama-7b", "--rate", "480", "--output-tokens", "512", "--slo-itl", "30"),
    ("crds",),
    ("schema", "Playground"),
]
RUN = """\
import sys
from inference_platform.workbench.__main__ import main

sys.argv[0] = "workbench"
main()
"""


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lean_site(wheel, tmp_path_factory.mktemp("lean") / "site")


def run(site: Path, folder: Path, *words: str, script: str = RUN) -> subprocess.CompletedProcess[str]:
    """A command in the lean environment: ``-S`` leaves out the packages of this one."""
    env = {"PATH": os.environ["PATH"], "HOME": str(site.parent), "PYTHONPATH": str(site)}
    command = [sys.executable, "-S", "-W", "ignore", "-c", script, *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def initialized(site: Path, folder: Path, *words: str) -> Path:
    done = run(site, folder, "init", "fleet", *words)
    assert done.returncode == 0, done.stderr
    return folder / "fleet"


def test_the_command_line_is_within_its_limit(wheel: Path, site: Path) -> None:
    own = sum(path.stat().st_size for path in (site / "inference_platform").rglob("*.py")) / 1e6
    assert megabytes(closure()) + 2 * own < LIMIT


def test_the_limit_is_exceeded_with_any_of_the_sdks() -> None:
    """Otherwise this test would not notice that one has become a dependency again."""
    assert megabytes(closure("aws")) > LIMIT
    assert megabytes(closure("kubernetes")) > LIMIT


@pytest.mark.parametrize(("package", "extra"), LARGE.items())
def test_large_packages_are_in_their_extras_alone(package: str, extra: str) -> None:
    assert package not in closure()
    assert package in closure(extra)
    assert package in closure("all")


def test_all_has_every_extra_but_that_of_contributors() -> None:
    every = {name for name in PROJECT["optional-dependencies"] if name not in ("all", "dev")}
    assert closure("all") == set().union(*(closure(name) for name in every))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_runs(words: tuple[str, ...], site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("words", [("validate",), ("plan",), ("preview", "--engine", "local", "--offline")])
def test_a_stack_of_ones_own_cluster_runs(words: tuple[str, ...], site: Path, tmp_path: Path) -> None:
    fleet = initialized(site, tmp_path, "--cluster", "existing")
    done = run(site, fleet, *words, "--stack", "local")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stack_on_aws_is_validated_and_a_plan_of_it_names_the_extra(site: Path, tmp_path: Path) -> None:
    fleet = initialized(site, tmp_path, "--cluster", "eks")
    assert (fleet / "requirements.txt").read_text() == f"inference-platform[aws]=={__version__}\n"
    assert run(site, fleet, "validate", "--stack", "dev").returncode == 0
    for words in (("plan",), ("preview", "--engine", "local", "--offline")):
        done = run(site, fleet, *words, "--stack", "dev")
        assert done.returncode == 1
        said = " ".join((done.stdout + done.stderr).split())
        reason = "inference-platform:cloud: aws needs pulumi-aws: pip install 'inference-platform[aws]'"
        assert "Pulumi.dev.yaml" in said
        assert said.count(reason) == said.count("pulumi-aws") == 1, said
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--cluster", "existing", "--no-gateway"), "inference-platform"),
        (("--cluster", "existing", "--gateway"), "inference-platform[gateway]"),
        (("--cluster", "eks", "--gateway"), "inference-platform[aws,gateway]"),
    ],
    ids=str,
)
def test_a_new_project_requires_the_extras_that_it_uses(
    words: tuple[str, ...], line: str, site: Path, tmp_path: Path
) -> None:
    fleet = initialized(site, tmp_path, *words)
    assert (fleet / "requirements.txt").read_text() == f"{line}=={__version__}\n"


def test_a_component_of_aws_names_the_extra(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, script="from inference_platform import GpuNodeGroups")
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: GpuNodeGroups needs pulumi-aws: pip install 'inference-platform[aws]'"
    )
    done = run(site, tmp_path, script="from inference_platform import ModelFleet")
    assert done.returncode == 0, done.stderr


def test_a_gateway_on_this_machine_names_the_extra(site: Path, tmp_path: Path) -> None:
    script = "from inference_platform.livefleet.door.messages import check_messages; check_messages()"
    done = run(site, tmp_path, script=script)
    assert done.stderr.rstrip().endswith("it needs xds-protos: pip install 'inference-platform[gateway]'")

"""``workbench init``: what it writes is valid for all answers, and it never overwrites a file by itself."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.facts.regions import regions
from tests.commands.support import ROOT, workbench
from workbench.creating.answers import ACCELERATORS, Answers, CiChoice, ClusterChoice, FamilyChoice, project_name
from workbench.creating.command import DEFAULTS
from workbench.creating.repository import repository
from workbench.errors import WorkbenchError
from workbench.planning.snapshot import take
from workbench.subject import Subject, planned

EXISTING, EKS = ClusterChoice
COMBINATIONS = [
    Answers(*cluster, family, gateway, CiChoice.NONE)
    for cluster, family, gateway in itertools.product(
        ((EXISTING, "us-east-1"), (EKS, "us-east-1")), FamilyChoice, (False, True)
    )
]
WARNINGS = {"release-old"}
"""Findings about the age of pinned releases appear with time."""


def written(answers: Answers, folder: Path, project: str = "fleet") -> Path:
    for path, text in repository(answers, project).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def named(answers: Answers) -> str:
    return f"{answers.cluster}-{answers.family}{'-gateway' * answers.gateway}"


@pytest.mark.parametrize("simulated", [True, False])
@pytest.mark.parametrize("answers", COMBINATIONS, ids=named)
def test_every_combination_is_valid_and_planned(
    answers: Answers, *, simulated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = "local" if simulated else answers.stack
    folder = written(answers, tmp_path)
    monkeypatch.chdir(folder)
    manifests, plan = planned(Subject(stack, folder), None)
    assert manifests.resources
    assert {str(p.rule) for p in plan.problems if p.severity != "note"} <= WARNINGS
    snapshot = take(folder, stack)
    assert snapshot.failed == ""
    assert [model.title.rpartition("/")[2] for model in snapshot.models] == ["chat"]
    assert "chat" in snapshot.endpoints
    kinds = {resource.type for resource in snapshot.resources}
    on_aws = answers.cluster is EKS and not simulated
    assert ("aws:eks/cluster:Cluster" in kinds) is on_aws
    assert ("kubernetes:gateway.networking.k8s.io/v1:Gateway" in kinds) is answers.gateway
    assert ("kubernetes:core/v1:Node" in kinds) is simulated


@pytest.mark.parametrize("family", FamilyChoice)
def test_each_region_gets_a_type_that_it_offers_or_a_message(family: FamilyChoice) -> None:
    chosen: dict[str, str] = {}
    refused: dict[str, str] = {}
    for region in sorted(regions()):
        try:
            chosen[region] = Answers(EKS, region, family, gateway=False, ci=CiChoice.NONE).instance_type
        except WorkbenchError as error:
            refused[region] = str(error)
    assert set(chosen.values()) <= set(ACCELERATORS)
    assert chosen["us-east-1"] == ("g6e.2xlarge" if family is FamilyChoice.LLMD else "g5.2xlarge")
    assert len(chosen) >= 12
    for region, message in refused.items():
        assert message.startswith(f"--region: no region '{region}' is known to offer g")
        offered = re.findall(r"[a-z]{2}(?:-[a-z]+)+-[0-9]", message.partition("choose one of ")[2])
        assert len(offered) == 5
        assert set(offered) <= set(chosen)


@pytest.mark.parametrize("region", ["ap-southeast-3", "eu-west-1"])
def test_other_regions_are_valid(region: str, tmp_path: Path) -> None:
    """One offers only g5, and one only g6."""
    folder = written(Answers(EKS, region, FamilyChoice.LLMAZ, gateway=False, ci=CiChoice.NONE), tmp_path)
    _, plan = planned(Subject("dev", folder), None)
    assert {str(p.rule) for p in plan.problems} <= WARNINGS


@given(st.text(max_size=120))
def test_a_project_name_is_valid_for_pulumi_and_eks(folder: str) -> None:
    name = project_name(folder)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,99}", name)
    assert project_name(name) == name


@pytest.mark.parametrize(
    "folder", ["a b", "a.b", "--help", "né", "1e5", "null", "x: y", "$(id)", "'", "日本", "a\nb", "yes"]
)
def test_hostile_folder_names(folder: str, tmp_path: Path) -> None:
    done = workbench("init", "--cluster", "eks", "--ci", "none", "--", folder, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    name = yaml.safe_load((tmp_path / folder / "Pulumi.yaml").read_text())["name"]
    assert name == project_name(folder)
    checked = workbench("validate", "--stack", "dev", cwd=tmp_path / folder)
    assert checked.returncode == 0, checked.stderr


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_output_is_deterministic_and_stated_defaults_reproduce_it(tmp_path: Path) -> None:
    first = workbench("init", "one/fleet", cwd=tmp_path)
    assert first.returncode == 0
    words = first.stdout.splitlines()[0].removeprefix("answers: ").split()
    assert words == ["--cluster", "existing", "--family", "llmaz", "--no-gateway", "--ci", "github"]
    workbench("init", "two/fleet", *words, cwd=tmp_path)
    assert files(tmp_path / "one") == files(tmp_path / "two") != {}
    assert first.stdout.splitlines()[-2:] == ["  cd one/fleet && workbench plan", "  workbench up --start-cluster"]


def test_existing_files_are_named_and_kept(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "other.txt").write_text("mine")
    done = workbench("init", cwd=tmp_path)
    assert done.returncode == 1
    assert "nothing was written, because these exist: README.md;" in done.stderr
    assert files(tmp_path) == {"README.md": b"mine", "other.txt": b"mine"}
    forced = workbench("init", "--force", cwd=tmp_path)
    assert forced.returncode == 0, forced.stderr
    assert (tmp_path / "README.md").read_text().startswith("# ")
    assert (tmp_path / "other.txt").read_text() == "mine"


def test_force_follows_no_link_and_replaces_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    (folder / "README.md").mkdir(parents=True)
    (tmp_path / "target").write_text("mine")
    (folder / "Pulumi.yaml").symlink_to(tmp_path / "target")
    (folder / ".gitignore").symlink_to(tmp_path / "nowhere")
    done = workbench("init", "fleet", "--force", cwd=tmp_path)
    assert done.returncode == 1
    assert "these exist: .gitignore, Pulumi.yaml, README.md; move them away" in done.stderr
    assert (tmp_path / "target").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--region", "eu-west-1"), 2, "--region needs --cluster eks"),
        (("--cluster", "existing", "--region", "eu-west-1"), 2, "--region needs --cluster eks"),
        (("--cluster", "eks", "--region", "mars"), 2, "no region 'mars' is known to offer g5.2xlarge or g6.2xlarge"),
        (("--cluster", "eks", "--region", "a: {b"), 2, "no region 'a: {b' is known"),
        (("--family", "ray"), 2, "--family: must be one of llmaz, llmkube, kthena, llmd, found 'ray'"),
        (("--ci", "jenkins"), 2, "--ci: must be one of github, gitlab, none, found 'jenkins'"),
        (("file",), 1, "cannot be written: Not a directory"),
        (("models-is-a-file",), 1, "cannot be written: "),
    ],
)
def test_wrong_options(words: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "models-is-a-file").mkdir()
    (tmp_path / "models-is-a-file/models").write_text("")
    done = workbench("init", *words, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "Pulumi.yaml").exists()


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    controller, device = os.openpty()
    yield controller, device
    os.close(controller)
    os.close(device)


TYPED = Answers(EKS, "eu-west-1", FamilyChoice.KTHENA, gateway=True, ci=CiChoice.GITLAB)
MIXED = Answers(EKS, "us-east-1", FamilyChoice.LLMD, gateway=True, ci=CiChoice.NONE)


@pytest.mark.parametrize(
    ("words", "typed", "expected"),
    [
        ((), "\n\n\n\n", DEFAULTS),
        ((), "eks\neu-west-1\nkthena\ny\ngitlab\n", TYPED),
        (("--cluster", "eks", "--gateway"), "\nwrong\nllmd\nnone\n", MIXED),
    ],
    ids=["defaults", "answers", "options and answers"],
)
def test_a_terminal_is_asked_for_the_rest(
    words: tuple[str, ...], typed: str, expected: Answers, tmp_path: Path, terminal: tuple[int, int]
) -> None:
    controller, device = terminal
    os.write(controller, typed.encode())
    command = [sys.executable, "-m", "workbench", "init", "fleet", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, stdin=device, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "answers:" not in done.stdout
    assert {path: text.decode() for path, text in files(tmp_path / "fleet").items()} == repository(expected, "fleet")


@pytest.mark.parametrize(
    ("ci", "path", "schema"),
    [
        (CiChoice.GITHUB, ".github/workflows/plan.yml", "vendor.github-workflows"),
        (CiChoice.GITHUB, ".github/workflows/drift.yml", "vendor.github-workflows"),
        (CiChoice.GITLAB, ".gitlab-ci.yml", "vendor.gitlab-ci"),
    ],
)
def test_pipelines_follow_the_published_schemas(ci: CiChoice, path: str, schema: str, tmp_path: Path) -> None:
    folder = written(Answers(EXISTING, "us-east-1", FamilyChoice.LLMAZ, gateway=False, ci=ci), tmp_path)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(folder / path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    commands = re.findall(r"workbench .*", (folder / path).read_text())
    assert commands
    drift, plan = "workbench diff --details --stack", "workbench plan --stack shared --base"
    expected = (drift, plan) if ci is CiChoice.GITLAB else (drift,) if path.endswith("drift.yml") else (plan,)
    assert all(any(command.startswith(each) for command in commands) for each in expected)
    assert all(command.startswith(expected) for command in commands)
    pinned = re.findall(r"uses: [\w/-]+@(\S+)", (folder / path).read_text())
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in pinned)
    assert bool(pinned) is (ci is CiChoice.GITHUB)
    used = (ROOT / ".github/workflows/preview.yml").read_text()
    assert all(commit in used for commit in pinned)

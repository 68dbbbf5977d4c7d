"""``workbench plan PATH...``: manifests without a stack, and what a plan of a stack needs."""

import json
from pathlib import Path

import pytest

from tests.commands.planning.repositories import commit, git, write_model, write_project
from tests.commands.support import workbench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one manifest of one model and nothing else."""
    write_model(tmp_path / "chat.yaml", replicas=2)
    return tmp_path


def document(folder: Path, *words: str | Path) -> dict[str, object]:
    done = workbench("plan", *words, "--format", "json", cwd=folder)
    assert done.stderr == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_manifests_are_planned_for_a_new_cluster_with_its_costs(folder: Path) -> None:
    done = workbench("plan", "chat.yaml", "--cluster", "eks", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    first, *_ = done.stdout.splitlines()
    assert first.startswith("manifests (eks): ")
    assert "1 model fits" in first
    # Two nodes of g6.2xlarge at $0.9776 an hour (EC2 on demand, us-east-1) for 730 hours, and their disks.
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("chat ")]
    assert "1,427" in row.split()
    detailed = workbench("plan", "chat.yaml", "--cluster", "eks", "--details", cwd=folder).stdout
    assert "a new EKS cluster in us-east-1 with default settings" in " ".join(detailed.split())


def test_the_region_decides_about_prices(folder: Path) -> None:
    near, far = (
        workbench("plan", "chat.yaml", "--cluster", "eks", "--region", region, cwd=folder).stdout
        for region in ("us-east-1", "eu-west-1")
    )
    assert "in eu-west-1" in far
    assert near.splitlines()[0] != far.splitlines()[0]


@pytest.mark.parametrize(
    ("cluster", "priced", "free"), [("simulated", True, True), ("none", False, False), ("eks", True, False)]
)
def test_each_kind_of_cluster(folder: Path, cluster: str, *, priced: bool, free: bool) -> None:
    found = document(folder, "chat.yaml", "--cluster", cluster)
    assert (found["stack"], found["passes"]) == (f"manifests ({cluster})", True)
    assert ("a month" in str(found["verdict"])) == priced
    assert ("free, because its nodes are simulated" in str(found["verdict"])) == free


def test_nothing_is_known_of_the_cluster_where_none_is_named(folder: Path) -> None:
    assert document(folder, "chat.yaml")["stack"] == "manifests (none)"


def test_a_folder_and_stdin(folder: Path) -> None:
    whole = workbench("plan", ".", cwd=folder).stdout
    piped = workbench("plan", "-", cwd=folder, text=(folder / "chat.yaml").read_text()).stdout
    assert "\nchat " in whole
    assert whole == piped


def test_resources_are_in_the_namespace_that_is_given(folder: Path) -> None:
    found = workbench("plan", "chat.yaml", "--namespace", "team-a", "--format", "json", cwd=folder).stdout
    assert "Deployment team-a/chat" in found


def test_what_is_wrong_is_at_its_line(folder: Path) -> None:
    (folder / "chat.yaml").write_text("kind: Playgruond\n")
    done = workbench("plan", "chat.yaml", "--cluster", "eks", cwd=folder)
    assert done.returncode == 1
    assert "chat.yaml:1" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_file_that_does_not_exist(folder: Path) -> None:
    done = workbench("plan", "missing.yaml", "--cluster", "eks", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "missing.yaml: no such file or folder\n"


def test_another_revision_of_the_files(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    write_model(folder / "chat.yaml", replicas=3)
    done = workbench("plan", "chat.yaml", "--cluster", "eks", "--base", "main", "--details", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 replica is added" in done.stdout
    assert "replicas 2 -> 3" in done.stdout
    assert "Compared with main at " in done.stdout


def test_a_file_that_the_other_revision_does_not_have(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    write_model(folder / "new.yaml", name="more")
    done = workbench("plan", "new.yaml", "--cluster", "eks", "--base", "main", cwd=folder)
    assert done.returncode == 0
    assert "a new environment, " in done.stdout
    both = workbench("plan", ".", "--cluster", "eks", "--base", "main", cwd=folder)
    assert "more (new)" in both.stdout


def test_paths_are_relative_to_the_current_folder(folder: Path) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    write_model(folder / "models/chat.yaml", name="-broken")
    (folder / "trace.csv").write_text("time,input_tokens,output_tokens\n0,10,10\n")
    words = ("--base", "main", "--trace", "trace.csv", "--save", "report.md")
    for current, path, project in ((folder, "models/chat.yaml", "."), (folder, "models", "models")):
        done = workbench("plan", path, "--cwd", project, *words, cwd=current)
        assert done.returncode == 1, done.stderr
        label = "chat.yaml" if project == "models" else "models/chat.yaml"  # relative to the project, for links
        assert f" {label}:" in done.stdout
        assert (folder / "report.md").is_file()
    piped = workbench("plan", "-", "--cwd", "models", cwd=folder, text=(folder / "chat.yaml").read_text())
    assert "\nchat " in piped.stdout
    missing = workbench("plan", "chat.yaml", "--cwd", "..", cwd=folder / "models")
    assert "models/chat.yaml" in missing.stdout
    outside = workbench("plan", "chat.yaml", "--cwd", "models", "--base", "main", cwd=folder)
    assert (outside.returncode, "--base: every PATH must be a file or folder in" in outside.stderr) == (2, True)


def test_a_revision_is_not_compared_with_files_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "chat.yaml"
    write_model(elsewhere)
    for path in (elsewhere, "-"):
        done = workbench("plan", path, "--base", "main", cwd=folder, text=elsewhere.read_text())
        assert (done.returncode, done.stdout) == (2, "")
        assert "--base: every PATH must be a file or folder in" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cluster", "eks"), "--cluster can only be used with PATH"),
        (("--namespace", "team-a"), "--namespace can only be used with PATH"),
        (("chat.yaml", "--stack", "dev", "--cluster", "eks"), "--cluster is for PATH without a stack"),
        (("chat.yaml", "--region", "us-east-1"), "--region needs --cluster eks"),
        (("chat.yaml", "--cluster", "eks", "--region", "Ireland"), "must be an AWS region such as us-east-1"),
        (("chat.yaml", "--namespace", "Team A"), "namespace: "),
    ],
)
def test_options_that_contradict_each_other(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = workbench("plan", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_stack_needs_a_project(folder: Path) -> None:
    done = workbench("plan", "--stack", "dev", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    for word in ("Pulumi.yaml does not exist", "workbench init", "__main__.py", "Pulumi.dev.yaml"):
        assert word in done.stderr
    assert "workbench plan PATH... --cluster eks" in done.stderr


def test_a_project_with_a_program_of_its_own_has_no_stack_to_plan(folder: Path) -> None:
    (folder / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text("config: {}\n")
    done = workbench("plan", "--stack", "dev", cwd=folder)
    assert done.returncode == 2
    assert "the project 'shop' has a program of its own" in done.stderr


def test_a_project_needs_none_of_the_keys_of_the_shipped_one(folder: Path) -> None:
    """The settings have their defaults without a ``config`` in Pulumi.yaml."""
    project = write_project(folder / "project")
    (project / "Pulumi.yaml").write_text("name: inference-platform\nruntime: python\n")
    done = workbench("plan", "--stack", "dev", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nchat " in done.stdout


def test_a_secret_of_a_manifest_is_not_shown(folder: Path) -> None:
    text = (folder / "chat.yaml").read_text()
    text += "  backendRuntimeConfig:\n    envs: [{name: API_TOKEN, value: hunter2-hunter2}]\n"
    (folder / "chat.yaml").write_text(text)
    for form in ("json", "text", "markdown", "html", "sarif"):
        done = workbench("plan", "chat.yaml", "--cluster", "eks", "--format", form, cwd=folder)
        assert "hunter2" not in done.stdout + done.stderr

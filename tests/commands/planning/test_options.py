"""``workbench plan`` by itself: formats, files, thresholds, exit codes, and what cannot be planned."""

import json
from pathlib import Path

import pytest

from tests.commands.planning.repositories import fingerprint, plan, write_model, write_project
from tests.commands.support import ROOT, workbench


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one model of one GPU at 3 replicas, on simulated nodes."""
    folder = write_project(tmp_path_factory.mktemp("options") / "project")
    write_model(folder / "models" / "chat.yaml", replicas=3)
    return folder


def test_a_plan_needs_no_repository_and_writes_nothing(project: Path) -> None:
    before = fingerprint(project)
    done = plan(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nchat " in done.stdout
    assert fingerprint(project) == before


def test_files_are_written_in_the_format_of_their_suffix(project: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"plan{suffix}" for suffix in (".txt", ".md", ".html", ".json", ".sarif")]
    done = plan(project, *(part for file in files for part in ("--save", file)))
    assert (done.returncode, done.stderr) == (0, "")
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert all(texts)
    assert texts[2].lstrip().lower().startswith("<!doctype html>")
    assert isinstance(json.loads(texts[3]), dict)
    assert json.loads(texts[4])["version"] == "2.1.0"


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("plan.pdf", 2, "must end in one of .txt, .md, .html, .json, .sarif"),
        ("plan", 2, "must end in one of"),
        ("missing/plan.md", 1, "folder"),
        ("folder.md", 1, "is a folder"),
    ],
)
def test_files_that_cannot_be_written(project: Path, tmp_path: Path, name: str, code: int, message: str) -> None:
    (tmp_path / "folder.md").mkdir()
    done = plan(project, "--save", tmp_path / name)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("--save: ")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--max-gpus", "3"], 0, ""),
        (["--max-gpus", "2"], 1, "3 accelerators"),
        (["--max-monthly-usd", "0"], 0, ""),  # nobody pays for simulated nodes
        (["--max-monthly-usd", "12.50"], 0, ""),
        (["--fail-on", "error"], 0, ""),
    ],
)
def test_thresholds(project: Path, options: list[str], code: int, words: str) -> None:
    done = plan(project, *options)
    assert done.returncode == code
    assert words in done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--max-gpus", "-1"],
        ["--max-gpus", "many"],
        ["--max-gpus", "1.5"],
        ["--max-monthly-usd", "-1"],
        ["--max-monthly-usd", "NaN"],
        ["--max-monthly-usd", "inf"],
        ["--max-monthly-usd", "a lot"],
        ["--max-monthly-usd", "1e999999999"],
        ["--max-monthly-usd", ""],
        ["--fail-on", "note"],
        ["--format", "pdf"],
    ],
    ids=" ".join,
)
def test_wrong_usage(project: Path, options: list[str]) -> None:
    done = plan(project, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_costs_without_a_price_do_not_pass(tmp_path: Path) -> None:
    """In a region of which no prices are shipped."""
    project = write_project(tmp_path / "project")
    text = (ROOT / "Pulumi.dev.yaml").read_text().replace("us-east-1", "eu-west-3")
    models = "\n".join(line for line in text.splitlines() if not line.strip().startswith("- stacks/"))
    (project / "Pulumi.dev.yaml").write_text(models.replace("models:", "models: [models]"))
    done = plan(project, "--max-monthly-usd", "1000000")
    assert done.returncode == 1
    assert "control plane: no dated price" in done.stdout
    assert "--max-monthly-usd" in done.stdout


def test_what_a_cluster_costs_that_is_there_is_not_known(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    settings = project / "Pulumi.dev.yaml"
    settings.write_text(settings.read_text().replace("simulatedNodes: true", "simulatedNodes: false"))
    done = plan(project, "--max-monthly-usd", "1000000")
    assert done.returncode == 1
    assert "the costs are unknown" in done.stdout


def test_an_error_ends_with_one_and_is_told(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    path = project / "models" / "chat.yaml"
    path.write_text(path.read_text().replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"))
    done = plan(project)
    assert done.returncode == 1
    assert "g6.2xlarge has only 1" in done.stdout
    assert "chat.yaml" in done.stdout


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("config: [", "Pulumi.dev.yaml:1:"),
        ("config: {inference-platform:modls: [models]}", "modls"),
        ("config: {inference-platform:models: [nowhere], inference-platform:kubeconfig: x}", "nowhere"),
        ("config: {inference-platform:models: [models]}", "kubeconfig"),
    ],
)
def test_settings_that_cannot_be_planned(tmp_path: Path, settings: str, words: str) -> None:
    project = write_project(tmp_path / "project")
    (project / "Pulumi.dev.yaml").write_text(settings)
    done = plan(project)
    assert (done.returncode, done.stderr) == (1, "")
    assert words in done.stdout
    assert str(project) not in done.stdout


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ("no project", 2, "does not exist"),
        ("another project", 2, "the project 'other' has a program of its own"),
        ("no stack", 2, "stack 'dev' has no Pulumi.dev.yaml"),
    ],
)
def test_what_is_no_project(tmp_path: Path, change: str, code: int, words: str) -> None:
    project = write_project(tmp_path / "project")
    if change == "no project":
        (project / "Pulumi.yaml").unlink()
    elif change == "another project":
        (project / "Pulumi.yaml").write_text("name: other\nruntime: python\n")
        (project / "Pulumi.dev.yaml").write_text("config: {other:region: us-east-1}\n")
    else:
        (project / "Pulumi.dev.yaml").unlink()
    done = plan(project)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr


def test_encrypted_settings_need_no_passphrase(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    settings = project / "Pulumi.dev.yaml"
    sealed = '  inference-platform:tags: {owner: {secure: "v1:abc:def"}}\n'
    settings.write_text("encryptionsalt: v1:x:v1:y\n" + settings.read_text() + sealed)
    done = plan(project)
    assert (done.returncode, done.stderr) == (0, "")


def test_secrets_of_manifests_are_not_shown(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    path = project / "models" / "chat.yaml"
    secret = "hf_" + "aB3" * 8
    config = f"  backendRuntimeConfig: {{envs: [{{name: HF_TOKEN, value: {secret}}}]}}\n"
    path.write_text(path.read_text() + config)
    for form in ("text", "json", "markdown", "html", "sarif"):
        done = plan(project, "--format", form)
        assert done.returncode == 0
        assert secret not in done.stdout


def test_every_shipped_stack_is_planned_the_same_each_time() -> None:
    """Once each; the largest again, in another process with another order of sets."""
    stacks = [path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml")]
    done = {stack: workbench("plan", "--stack", stack, "--format", "json") for stack in stacks}
    assert {stack: (each.returncode, each.stderr) for stack, each in done.items()} == dict.fromkeys(stacks, (0, ""))
    assert done["prod"].stdout == workbench("plan", "--stack", "prod", "--format", "json").stdout

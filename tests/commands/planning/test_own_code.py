"""Which code plans the base: its own where that can, in a process that is given nothing of the caller's."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.commands.planning.repositories import commit, git, plan, write_model, write_project
from tests.commands.support import ROOT
from workbench.planning.ability import SNAPSHOT_FORMAT
from workbench.planning.base import _format_in

ABILITY = Path("workbench/planning/ability.py")
BY_PRESENT = "is planned with the code of the work tree"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with all of the code in it."""
    folder = write_project(tmp_path_factory.mktemp("own") / "project")
    for name in ("components", "stacks", "toolkit", "livefleet", "workbench"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "models", "*.pyc"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    return folder


@pytest.fixture
def project(checkout: Path) -> Path:
    """The same, as it was at first."""
    git(
        checkout, "checkout", "--quiet", "--force", "-B", "main", git(checkout, "rev-list", "--max-parents=0", "HEAD")
    )
    return checkout


def committed(project: Path, path: str | Path, text: str) -> None:
    """Commit another text of a file, and put the file in the work tree back."""
    before = (project / path).read_bytes()
    (project / path).write_text(text)
    commit(project)
    (project / path).write_bytes(before)


def test_its_own_code_plans_the_base(project: Path) -> None:
    write_model(project / "models" / "chat.yaml", replicas=3)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0
    assert "spec.replicas: 1 → 3" in done.stdout
    assert BY_PRESENT not in done.stdout


def test_what_the_code_makes_of_manifests_is_compared(project: Path) -> None:
    path = Path("components/checks/hardening/priority_classes.yaml")
    settings = project / "Pulumi.dev.yaml"
    settings.write_text(settings.read_text() + "  inference-platform:hardening: {priority: standard}\n")
    text = (project / path).read_text()
    assert "description: " in text
    committed(project, path, text.replace("description: ", "description: formerly ", 1))
    done = plan(project, "--base", "HEAD")
    assert "description: formerly" in done.stdout
    assert BY_PRESENT not in done.stdout


def test_the_process_is_given_nothing_of_the_caller(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = "import json, os, pulumi\nraise pulumi.RunError('seen ' + json.dumps(sorted(os.environ)) + ' end')\n"
    committed(project, "__main__.py", shown)
    for name in ("AWS_SECRET_ACCESS_KEY", "PULUMI_CONFIG_PASSPHRASE", "GITHUB_TOKEN", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "wJalrXUtnFEMI")
    monkeypatch.setenv("GIT_DIR", os.devnull)  # as git sets it for its hooks
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    done = plan(project, "--base", "HEAD", "--format", "json")
    assert done.returncode == 0, done.stderr
    text = json.loads(done.stdout)["review"]["base"]["failed"]
    names = set(json.loads(text.partition("seen ")[2].partition(" end")[0]))
    assert names <= {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "TMPDIR",
        "TZ",
        "PYTHONPATH",
    }
    assert "PATH" in names


@pytest.mark.parametrize(
    "text",
    ["SNAPSHOT_FORMAT = 999\n", "", f"SNAPSHOT_FORMAT = {SNAPSHOT_FORMAT}\nraise RuntimeError('broken')\n"],
    ids=["another form", "no ability", "broken code"],
)
def test_where_its_own_code_cannot_that_of_the_work_tree_does(project: Path, text: str) -> None:
    committed(project, ABILITY, text)
    if "broken" in text:
        committed(project, "workbench/planning/snapshot.py", "raise RuntimeError('broken')\n")
    write_model(project / "models" / "chat.yaml", replicas=3)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0, done.stderr
    assert "spec.replicas: 1 → 3" in done.stdout
    assert BY_PRESENT in done.stdout


def test_settings_that_the_base_did_not_declare_have_their_defaults(project: Path) -> None:
    text = (project / "Pulumi.yaml").read_text()
    lines = text.splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if "inference-platform:hardening:" in line)
    end = next(number for number in range(start + 1, len(lines)) if not lines[number].startswith("    "))
    committed(project, "Pulumi.yaml", "".join([*lines[:start], *lines[end:]]))
    committed(project, ABILITY, "")
    git(project, "reset", "--quiet", "--soft", "HEAD~2")
    (project / "Pulumi.yaml").write_text("".join([*lines[:start], *lines[end:]]))
    (project / ABILITY).write_text("")
    commit(project)
    (project / "Pulumi.yaml").write_text(text)
    shutil.copy(ROOT / ABILITY, project / ABILITY)
    done = plan(project, "--base", "HEAD")
    assert done.returncode == 0, done.stderr
    assert "program fails for the base" not in done.stdout
    assert BY_PRESENT in done.stdout


def test_the_ability_is_read_as_text() -> None:
    assert _format_in(ROOT) == SNAPSHOT_FORMAT

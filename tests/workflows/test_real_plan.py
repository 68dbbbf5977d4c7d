"""A pull request to a copy of this very project, with the real plan, as the runner would."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ci.findings import code_quality, read_sarif
from ci.plans import SAVED
from tests.workflows.projects import ROOT, Project, step

_KEPT = (
    "Pulumi.yaml",
    "Pulumi.dev.yaml",
    "Pulumi.prod.yaml",
    "__main__.py",
    "components",
    "stacks",
    "toolkit",
    "livefleet",
    "workbench",
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A repository with the project as its first commit, on a branch."""
    root = tmp_path_factory.mktemp("clone")
    for name in _KEPT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    (root / ".gitignore").write_text("__pycache__/\n*.egg-info/\n")
    made = Project(root, root)
    made.git("init", "--quiet", "--initial-branch", "main")
    made.commit({}, "start")
    made.git("checkout", "--quiet", "-b", "change")
    return made


def plan(project: Project, out: Path) -> subprocess.CompletedProcess[str]:
    return step(["plan", "--base", "main", "--pull", "7", "--out", str(out)], cwd=project.folder)


def test_a_broken_flag_is_an_error_in_every_report(clone: Project, tmp_path: Path) -> None:
    """A flag that vLLM removed, in a model of dev and prod: both are planned, and both say it on its line."""
    path = "stacks/models/qwen-oss.yaml"
    text = (clone.root / path).read_text()
    assert "kind: Playground" in text
    broken = f"{text}  backendRuntimeConfig:\n    args: [--use-v2-block-manager=perhaps]\n"
    clone.commit({path: broken})
    try:
        done = plan(clone, tmp_path / "plans")
    finally:
        clone.git("reset", "--quiet", "--hard", "main")
    made = json.loads((tmp_path / "plans" / "plans.json").read_text())
    assert {each["stack"]: each["because"] for each in made["stacks"]} == {"dev": path, "prod": path}, done
    for each in made["stacks"]:
        for name in SAVED:
            assert (tmp_path / "plans" / each["stack"] / name).stat().st_size, (each, done.stdout)
    log = read_sarif((tmp_path / "plans" / "dev" / "plan.sarif").read_bytes())
    assert path in {entry["location"]["path"] for entry in code_quality([log])}
    assert clone.git("status", "--porcelain") == ""

"""The action for other repositories: its steps as a runner runs them, on manifests without a stack."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflows.hosts import BOT, TOKEN, Host
from tests.workflows.projects import ROOT, Project, project_at, step
from tests.workflows.test_documented import one
from tests.workflows.workflows import expressions

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
PULL = 7
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec: {familyName: opt, source: {modelHub: {modelID: facebook/opt-125m}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {replicas: 1, modelClaim: {modelName: opt}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = project_at(tmp_path / "repository", files={"models/chat.yaml": MODEL})
    made.commit({"models/chat.yaml": MODEL.replace("replicas: 1", "replicas: 2")})
    return made


def planned(project: Project, out: Path, *words: str, paths: str = "models") -> subprocess.CompletedProcess[str]:
    return step(
        ["plan", "--paths", paths, "--base", "main", "--pull", str(PULL), "--out", str(out), *words],
        cwd=project.folder,
    )


def commented(out: Path, host: Host, folder: Path, pull: int = PULL) -> subprocess.CompletedProcess[str]:
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": pull}}))
    return step(
        ["comment", str(out)],
        {
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": host.url,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "acme/models",
            "GITHUB_RUN_ID": "3",
            "GITHUB_TOKEN": TOKEN,
        },
    )


def test_manifests_are_planned_and_the_comment_is_updated_in_place(
    project: Project, tmp_path: Path, host: Host
) -> None:
    host.pulls[PULL] = {"number": PULL, "state": "open"}
    done = planned(project, tmp_path / "first", "--option=--fail-on=error")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "manifests: fine (planned because of 'models')\n"
    saved = {path.name for path in (tmp_path / "first/manifests").iterdir()}
    assert saved == {"plan.md", "plan.html", "plan.json", "plan.sarif", "log.txt"}
    assert commented(tmp_path / "first", host, tmp_path).stdout == "comment created\n"
    (comment,) = host.comments[PULL]
    assert comment["user"] == BOT
    assert "spec.replicas" in comment["body"]
    assert "https://github.example/acme/models/actions/runs/3" in comment["body"]
    project.commit({"models/chat.yaml": MODEL.replace("replicas: 1", "replicas: 3")})
    planned(project, tmp_path / "second")
    assert commented(tmp_path / "second", host, tmp_path).stdout == "comment updated\n"
    assert len(host.comments[PULL]) == 1


def test_a_plan_with_errors_fails(project: Project, tmp_path: Path) -> None:
    project.commit({"models/chat.yaml": MODEL.replace("replicas", "replcas")})
    done = planned(project, tmp_path / "out")
    assert done.returncode == 1
    assert done.stdout.startswith("manifests: errors")


def test_paths_that_are_not_there_are_no_plan(project: Project, tmp_path: Path) -> None:
    done = planned(project, tmp_path / "out", paths="absent")
    assert done.returncode == 1
    assert "absent" in (tmp_path / "out/manifests/log.txt").read_text()


def test_reports_of_another_pull_request_are_refused(project: Project, tmp_path: Path, host: Host) -> None:
    planned(project, tmp_path / "out")
    done = commented(tmp_path / "out", host, tmp_path, pull=8)
    assert (done.returncode, done.stderr) == (2, "error: plans.json is of pull request 7, and the run is of 8\n")
    assert host.requests == []


def test_a_run_without_a_pull_request_is_refused(project: Project, tmp_path: Path, host: Host) -> None:
    planned(project, tmp_path / "out")
    event = tmp_path / "push.json"
    event.write_text("{}")
    done = step(
        ["comment", str(tmp_path / "out")], {"GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "acme/models"}
    )
    assert (done.returncode, done.stderr) == (2, "error: this runs on pull_request\n")


def test_python_imports_nothing_of_the_pull_request(project: Project, tmp_path: Path) -> None:
    """With -P, as the action runs it; without, the folder of the pull request comes first."""
    project.commit({"ci/__init__.py": "", "ci/__main__.py": "print('stolen')\n", "yaml.py": "print('stolen')\n"})
    words = ["-m", "ci", "plan", "--paths", "models", "--base", "main", "--out"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def run(*options: str, out: str) -> str:
        command = [sys.executable, *options, *words, str(tmp_path / out)]
        return subprocess.run(
            command, cwd=project.folder, env=env, capture_output=True, text=True, check=False
        ).stdout

    assert "stolen" in run(out="without")
    assert run("-P", out="with") == "manifests: fine (planned because of 'models')\n"
    scripts = [each["run"] for each in STEPS if "-m ci" in each.get("run", "")]
    assert len(scripts) == 2
    assert all("-P -m ci" in script for script in scripts)


def test_scripts_hold_no_expressions_and_actions_are_pinned() -> None:
    for each in STEPS:
        assert not [*expressions(each.get("run", ""))]
        if "uses" in each:
            assert re.search(r"@[0-9a-f]{40}\Z", each["uses"])
    pinned = re.findall(r"uses: (\S+ # \S+)", (ROOT / "action.yml").read_text())
    ours = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert pinned
    assert all(each in ours for each in pinned)


def test_inputs_are_used_and_those_that_are_used_are_declared() -> None:
    used = {found[1] for each in expressions(ACTION["runs"]) if (found := re.search(r"inputs\.([\w-]+)", each))}
    conditions = {found for each in STEPS for found in re.findall(r"inputs\.([\w-]+)", each.get("if", ""))}
    assert used | conditions == ACTION["inputs"].keys()


def test_the_comment_is_written_only_for_branches_of_the_repository() -> None:
    (condition,) = [each["if"] for each in STEPS if "-m ci comment" in each.get("run", "")]
    assert "github.event.pull_request.head.repo.full_name == github.repository" in condition


def test_the_scripts_pass_shellcheck(tmp_path: Path) -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    for at, text in enumerate(each["run"] for each in STEPS if "run" in each):
        path = tmp_path / f"{at}.sh"
        path.write_text(f"#!/usr/bin/env bash\n{text}")
        done = subprocess.run([str(shellcheck), str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")


def test_the_page_uses_inputs_and_rights_that_there_are() -> None:
    (job,) = yaml.safe_load(one("example/inference-platform@").text)["jobs"].values()
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    (given,) = [each["with"] for each in job["steps"] if "inference-platform@" in each["uses"]]
    assert given.keys() <= ACTION["inputs"].keys()
    required = {name for name, facts in ACTION["inputs"].items() if facts.get("required")}
    assert required <= given.keys()


def test_what_it_installs_is_what_the_project_is_tested_with() -> None:
    tested = "\n" + (ROOT / "requirements.lock").read_text()
    for lock in ("ci/workbench.lock", "components/requirements.lock"):
        pins = re.findall(r"^[\w.-]+==[^ ;\\]+", (ROOT / lock).read_text(), re.MULTILINE)
        assert len(pins) > 30
        assert [pin for pin in pins if f"\n{pin}" not in tested] == [], lock

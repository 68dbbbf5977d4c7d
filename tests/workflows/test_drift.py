"""The workflow of ``workbench init`` that keeps an issue with the drift of a cluster, step by step with stand-ins."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.workflows.workflows import Workflow, expressions
from workbench.creating.answers import CiChoice, ClusterChoice
from workbench.creating.command import DEFAULTS
from workbench.creating.repository import repository

TITLE = "Drift of stack prod"
GH = """
import json, os, pathlib, sys
file = pathlib.Path(os.environ["ISSUES"])
issues = json.loads(file.read_text())
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1]
assert words[0] == "issue" and os.environ["GH_TOKEN"] and os.environ["GH_REPO"] == "acme/models", words
if words[1] == "list":
    # What the filter of the workflow selects: GitHub CLI manual, gh issue list.
    assert option("--jq") == "map(select(.title == env.TITLE)) | first | .number // empty"
    assert (option("--state"), option("--app"), option("--json")) == ("open", "github-actions", "number,title")
    own = [each for each in issues if each["state"] == "open" and each["app"] == "github-actions"]
    print(next((each["number"] for each in own if each["title"] == os.environ["TITLE"]), ""))
elif words[1] == "create":
    body = pathlib.Path(option("--body-file")).read_text()
    issues.append({"number": len(issues) + 1, "title": option("--title"), "body": body, "state": "open",
                   "app": "github-actions"})
else:
    (issue,) = [each for each in issues if each["number"] == int(words[2])]
    if words[1] == "edit":
        issue["body"] = pathlib.Path(option("--body-file")).read_text()
    elif words[1] == "close":
        issue |= {"state": "closed", "comment": option("--comment")}
    else:
        raise SystemExit(f"unknown: {words}")
file.write_text(json.dumps(issues))
"""


def drift_workflow(cluster: ClusterChoice = DEFAULTS.cluster) -> Workflow:
    answers = replace(DEFAULTS, ci=CiChoice.GITHUB, cluster=cluster)
    return Workflow("drift.yml", repository(answers, "fleet")[".github/workflows/drift.yml"])


class Runner:
    """Runs the steps with scripts: their expressions become variables, as on a runner."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.issues = folder, folder / "issues.json"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.issues.write_text("[]")
        self._program("gh", f"#!{sys.executable}\n{GH}")

    def _program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run(self, report: str, code: int, run: int = 1) -> int:
        """Run the workflow with a report of `workbench diff`; return the exit code of the step that ended it."""
        (self.folder / "diff").write_text(report)
        self._program(
            "workbench", f'#!/bin/sh\necho "$@" > {self.folder}/words\ncat {self.folder}/diff\nexit {code}\n'
        )
        output = self.folder / "output"
        output.write_text("")
        known = {
            "vars.DRIFT_STACK": "prod",
            "secrets.DRIFT_KUBECONFIG": "kubeconfig",
            "github.server_url": "https://github.example",
            "github.repository": "acme/models",
            "github.run_id": str(run),
            "github.token": "token",
        }
        steps = [step for step in drift_workflow().steps if "run" in step and "pip install" not in step["run"]]
        assert len(steps) == 3
        for step in steps:
            known["steps.diff.outputs.code"] = output.read_text().removeprefix("code=").strip()
            env = {
                name: re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: known[found[1]], text)
                for name, text in {**drift_workflow().jobs["drift"]["env"], **step.get("env", {})}.items()
            }
            runner = {"RUNNER_TEMP": str(self.folder), "GITHUB_OUTPUT": str(output), "ISSUES": str(self.issues)}
            env |= {**runner, "PATH": f"{self.bin}:{os.environ['PATH']}"}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env, check=False
            )
            if done.returncode:
                return done.returncode
        return 0

    @property
    def found(self) -> list[dict[str, Any]]:
        issues: list[dict[str, Any]] = json.loads(self.issues.read_text())
        return issues

    def add(self, **issue: str) -> None:
        self.issues.write_text(json.dumps([*self.found, {"number": len(self.found) + 1, **issue}]))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_an_issue_is_opened_updated_and_closed(runner: Runner) -> None:
    assert runner.run("models/chat\n  Deployment: spec.replicas: planned 1, is 2\n", 1) == 0
    (issue,) = runner.found
    assert (issue["title"], issue["state"]) == (TITLE, "open")
    assert "    models/chat\n      Deployment: spec.replicas: planned 1, is 2\n" in issue["body"]
    assert "https://github.example/acme/models/actions/runs/1" in issue["body"]
    words = (runner.folder / "words").read_text()
    assert words == f"diff --details --stack prod --kubeconfig {runner.folder}/kubeconfig\n"
    assert (runner.folder / "kubeconfig").stat().st_mode & 0o777 == 0o600

    assert runner.run("models/chat\n  Service: is not in the cluster\n", 1, 2) == 0
    (issue,) = runner.found
    assert "is not in the cluster" in issue["body"]
    assert "planned 1" not in issue["body"]

    assert runner.run("The cluster is as planned.\n", 0, 3) == 0
    (issue,) = runner.found
    assert issue["state"] == "closed"
    assert issue["comment"].endswith("/runs/3")

    assert runner.run("models/chat\n  Service: is not in the cluster\n", 1, 4) == 0
    assert [each["state"] for each in runner.found] == ["closed", "open"]


def test_without_drift_nothing_is_opened(runner: Runner) -> None:
    assert runner.run("The cluster is as planned.\n", 0) == 0
    assert runner.found == []


@pytest.mark.parametrize(
    ("report", "code"), [("", 2), ("models/chat\n  Service: not compared: forbidden\n", 2), ("Traceback\n", 70)]
)
def test_an_error_is_no_drift(runner: Runner, report: str, code: int) -> None:
    runner.add(title=TITLE, state="open", app="github-actions", body="as before")
    assert runner.run(report, code) == code
    assert [each["body"] for each in runner.found] == ["as before"]


def test_issues_of_others_are_never_touched(runner: Runner) -> None:
    runner.add(title=TITLE, state="open", app="", body="mine")
    runner.add(title="Drift of stack dev", state="open", app="github-actions", body="another stack")
    assert runner.run("models/chat\n", 1) == 0
    assert [each["body"] for each in runner.found[:2]] == ["mine", "another stack"]
    assert len(runner.found) == 3


def test_a_long_report_stays_below_the_limit_of_an_issue(runner: Runner) -> None:
    """GitHub rejects bodies of more than 65,536 characters."""
    assert runner.run("models/chat " + "x" * 200_000 + "\n", 1) == 0
    assert len(runner.found[0]["body"]) < 65_536


@pytest.mark.parametrize("cluster", ClusterChoice)
def test_rights_are_these_and_no_others(cluster: ClusterChoice) -> None:
    workflow = drift_workflow(cluster)
    rights = {"contents": "read", "issues": "write"}
    oidc = {"id-token": "write"} if cluster is ClusterChoice.EKS else {}
    assert workflow.content["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow.jobs.items()} == {"drift": {**rights, **oidc}}
    assert workflow.triggers == {"schedule", "workflow_dispatch"}
    assert [list(expressions(step.get("run", ""))) for step in workflow.steps] == [[]] * len(list(workflow.steps))
    secrets = [each for each in expressions(workflow.content) if each.startswith("secrets.")]
    assert secrets == ([] if cluster is ClusterChoice.EKS else ["secrets.DRIFT_KUBECONFIG"])

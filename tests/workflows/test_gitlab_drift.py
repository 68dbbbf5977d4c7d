"""The scheduled job of ``workbench init`` that keeps an issue on GitLab with the drift of a cluster."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from workbench.creating.answers import CiChoice, ClusterChoice
from workbench.creating.command import DEFAULTS
from workbench.creating.repository import repository

TITLE, BOT, TOKEN = "Drift of stack prod", "project_7_bot", "glpat-test"
ISSUES = "/api/v4/projects/7/issues"


def pipeline(cluster: ClusterChoice = DEFAULTS.cluster) -> dict[str, Any]:
    answers = replace(DEFAULTS, ci=CiChoice.GITLAB, cluster=cluster, region="us-east-1")
    content: dict[str, Any] = yaml.safe_load(repository(answers, "fleet")[".gitlab-ci.yml"])
    return content


class GitLab(http.server.ThreadingHTTPServer):
    """The issues API of one project (GitLab documentation, "Issues API" and "Notes API")."""

    issues: list[dict[str, Any]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issues = []

    def add(self, title: str, author: str) -> dict[str, Any]:
        issue = {
            "iid": len(self.issues) + 1,
            "title": title,
            "description": "as before",
            "state": "opened",
            "notes": [],
        }
        self.issues.append({**issue, "author": author})
        return self.issues[-1]


class _Handler(http.server.BaseHTTPRequestHandler):
    server: GitLab

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {key: value for key, (value,) in parse_qs(parts.query).items()}
        assert (parts.path, query["scope"], query["state"], query["in"]) == (
            ISSUES,
            "created_by_me",
            "opened",
            "title",
        )
        found = [each for each in self.server.issues if (each["author"], each["state"]) == (BOT, "opened")]
        self._answer(200, [each for each in found if query["search"] in each["title"]])

    def do_POST(self) -> None:
        body = self._body()
        if self.path == ISSUES:
            self._answer(201, {**self.server.add(body["title"], BOT), **self._set(self.server.issues[-1], body)})
        else:
            number, _, rest = self.path.removeprefix(f"{ISSUES}/").partition("/")
            assert rest == "notes"
            self.server.issues[int(number) - 1]["notes"].append(body["body"])
            self._answer(201, {})

    def do_PUT(self) -> None:
        issue = self.server.issues[int(self.path.removeprefix(f"{ISSUES}/")) - 1]
        self._answer(200, self._set(issue, self._body()))

    def _set(self, issue: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if body.get("state_event") == "close":
            issue["state"] = "closed"
        issue["description"] = body.get("description", issue["description"])
        return issue

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, code: int, body: Any) -> None:
        assert self.headers["PRIVATE-TOKEN"] == TOKEN
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def gitlab() -> Iterator[GitLab]:
    with GitLab() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run(gitlab: GitLab, folder: Path, report: str, code: int, number: int = 1) -> int:
    """Run the job with a report of `workbench diff`; return its exit code."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (folder / "diff").write_text(report)
    (folder / "kubeconfig").write_text("kubeconfig")
    command = programs / "workbench"
    command.write_text(
        f'#!/bin/sh\necho "${{DRIFT_TOKEN:-no token}}" "$@" > {folder}/words\ncat {folder}/diff\nexit {code}\n'
    )
    command.chmod(0o755)
    (programs / "python").unlink(missing_ok=True)
    (programs / "python").symlink_to(sys.executable)
    env = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "TMPDIR": str(folder),
        "DRIFT_STACK": "prod",
        "DRIFT_KUBECONFIG": str(folder / "kubeconfig"),
        "DRIFT_TOKEN": TOKEN,
        "CI_API_V4_URL": f"http://127.0.0.1:{gitlab.server_address[1]}/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_JOB_URL": f"https://gitlab.example/acme/models/-/jobs/{number}",
    }
    script = "\n".join(pipeline()["drift"]["script"])
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], env=env, check=False)
    return done.returncode


def test_an_issue_is_opened_updated_and_closed(gitlab: GitLab, tmp_path: Path) -> None:
    assert run(gitlab, tmp_path, "models/chat\n  Deployment: spec.replicas: planned 1, is 2\n", 1) == 0
    (issue,) = gitlab.issues
    assert (issue["title"], issue["state"]) == (TITLE, "opened")
    assert "    models/chat\n      Deployment: spec.replicas: planned 1, is 2\n" in issue["description"]
    assert "https://gitlab.example/acme/models/-/jobs/1" in issue["description"]
    words = (tmp_path / "words").read_text().split()
    assert words[:7] == ["no", "token", "diff", "--details", "--stack", "prod", "--kubeconfig"]
    assert Path(words[7]).stat().st_mode & 0o777 == 0o600

    assert run(gitlab, tmp_path, "models/chat\n  Service: is not in the cluster\n", 1, 2) == 0
    (issue,) = gitlab.issues
    assert "is not in the cluster" in issue["description"]
    assert "planned 1" not in issue["description"]

    assert run(gitlab, tmp_path, "The cluster is as planned.\n", 0, 3) == 0
    (issue,) = gitlab.issues
    assert issue["state"] == "closed"
    assert issue["notes"][-1].endswith("/jobs/3")

    assert run(gitlab, tmp_path, "models/chat\n  Service: is not in the cluster\n", 1, 4) == 0
    assert [each["state"] for each in gitlab.issues] == ["closed", "opened"]


def test_without_drift_nothing_is_opened(gitlab: GitLab, tmp_path: Path) -> None:
    assert run(gitlab, tmp_path, "The cluster is as planned.\n", 0) == 0
    assert gitlab.issues == []


@pytest.mark.parametrize(("report", "code"), [("", 2), ("some objects could not be read\n", 2), ("Traceback\n", 3)])
def test_an_error_is_no_drift(gitlab: GitLab, tmp_path: Path, report: str, code: int) -> None:
    gitlab.add(TITLE, BOT)
    assert run(gitlab, tmp_path, report, code) == code
    assert [each["description"] for each in gitlab.issues] == ["as before"]


def test_issues_of_others_are_never_touched(gitlab: GitLab, tmp_path: Path) -> None:
    gitlab.add(TITLE, "somebody")
    gitlab.add(f"{TITLE} in general", BOT)
    assert run(gitlab, tmp_path, "models/chat\n", 1) == 0
    assert [each["description"] for each in gitlab.issues[:2]] == ["as before", "as before"]
    assert len(gitlab.issues) == 3


def test_a_long_report_is_cut(gitlab: GitLab, tmp_path: Path) -> None:
    assert run(gitlab, tmp_path, "models/chat " + "x" * 200_000 + "\n", 1) == 0
    assert len(gitlab.issues[0]["description"]) < 65_536


@pytest.mark.parametrize("cluster", ClusterChoice)
def test_the_job_runs_in_scheduled_pipelines_alone(cluster: ClusterChoice) -> None:
    job = pipeline(cluster)["drift"]
    assert job["rules"] == [{"if": "$CI_PIPELINE_SOURCE == 'schedule' && $DRIFT_STACK"}]
    assert pipeline(cluster)["plan"]["rules"] == [{"if": "$CI_PIPELINE_SOURCE == 'merge_request_event'"}]
    # With EKS, a token of the job for one role; elsewhere, a kubeconfig of the user that reads.
    on_eks = cluster is ClusterChoice.EKS
    assert job.get("id_tokens") == ({"AWS_ID_TOKEN": {"aud": "sts.amazonaws.com"}} if on_eks else None)
    assert ("DRIFT_KUBECONFIG" in json.dumps(job)) is not on_eks

"""From a push to a comment: two workflows, one after the other, as the runner runs their steps."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ci.comment import MARKER
from tests.workflows.hosts import BOT, TOKEN, Host
from tests.workflows.projects import FILES, Project, project_at, stand_in, step

REPOSITORY = 11
FORK = 12
PULL = 7
SERVER = "https://github.example"


class Runner:
    """What GitHub does around the steps: events, artifacts, variables."""

    def __init__(self, host: Host, project: Project, folder: Path, source: int = REPOSITORY) -> None:
        self.host, self.project, self.folder, self.source = host, project, folder, source
        self.runs = 0

    def push(self, pull: int = PULL) -> Path:
        """Run the step of preview.yml for the head of the pull request, and return the artifact."""
        self.runs += 1
        head = self.project.git("rev-parse", "HEAD")
        repo = {"id": self.source} if self.source else None
        self.host.pulls[pull] = {"number": pull, "state": "open", "head": {"sha": head, "repo": repo}}
        out = self.folder / f"plans-{self.runs}"
        words = ["plan", "--base", "main", "--pull", str(pull), "--out", str(out)]
        self.planned = step(
            [*words, "--previews", "dev other", "--command", *stand_in(self.folder)], self.files, self.project.folder
        )
        return out

    @property
    def files(self) -> dict[str, str]:
        return {name: str(self.folder / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}

    def publish(self, artifact: Path, *words: str, **run: Any) -> subprocess.CompletedProcess[str]:
        """Run the step of preview-publish.yml."""
        told = {
            "event": "pull_request",
            "head_sha": self.project.git("rev-parse", "HEAD"),
            "head_repository": {"id": self.source},
            "html_url": f"{SERVER}/acme/models/actions/runs/{self.runs}",
            **run,
        }
        event = self.folder / "event.json"
        event.write_text(json.dumps({"workflow_run": told}))
        variables = {
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_API_URL": self.host.url,
            "GITHUB_SERVER_URL": SERVER,
            "GITHUB_REPOSITORY": "acme/models",
            "GITHUB_TOKEN": TOKEN,
        }
        return step(["publish", str(artifact), *words], {**self.files, **variables})

    def comments(self, pull: int = PULL) -> list[str]:
        return [each["body"] for each in self.host.comments.get(pull, [])]


@pytest.fixture
def runner(host: Host, tmp_path: Path) -> Runner:
    folder = tmp_path / "runner"
    folder.mkdir()
    return Runner(host, project_at(tmp_path / "repository"), folder)


def test_two_pushes_make_one_comment(runner: Runner) -> None:
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    first = runner.publish(runner.push())
    assert (first.returncode, first.stdout) == (0, "comment created\n")
    base = runner.project.git("merge-base", "main", "HEAD")
    (text,) = runner.comments()
    assert text.startswith(MARKER)
    assert f"# Plan of dev against {base}" in text
    assert f"({SERVER}/acme/models/actions/runs/1)" in text
    runner.project.commit({"models/shared/chat.yaml": "kind: C\n"})
    assert runner.publish(runner.push()).stdout == "comment updated\n"
    (text,) = runner.comments()
    assert "# Plan of prod" in text
    assert "# Plan of dev" in text
    assert runner.publish(runner.folder / "plans-2").stdout == "comment unchanged\n"
    assert len(runner.comments()) == 1


def test_a_comment_of_somebody_else_is_never_touched(runner: Runner) -> None:
    """Anybody can write the marker, and call themselves what they like; only the bot of workflows is the bot."""
    others = [
        runner.host.add(PULL, f"{MARKER}\nmine", user={"login": "mallory", "type": "User"}),
        runner.host.add(PULL, f"{MARKER}\nmine", user={"login": "github-actions[bot]", "type": "User"}),
        runner.host.add(PULL, "a comment of the bot about something else", user=BOT),
        runner.host.add(PULL, f"quoted: {MARKER}", user=BOT),
        runner.host.add(PULL, f"{MARKER}\nmine", user=None),
    ]
    before = [dict(each) for each in others]
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    assert runner.publish(runner.push()).stdout == "comment created\n"
    runner.project.commit({"models/dev.yaml": "kind: D\n"})
    assert runner.publish(runner.push()).stdout == "comment updated\n"
    assert runner.host.comments[PULL][:5] == before
    assert len(runner.comments()) == 6


def test_two_comments_become_one(runner: Runner) -> None:
    for _ in range(3):
        runner.host.add(PULL, f"{MARKER}\nold", user=BOT)
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    assert runner.publish(runner.push()).stdout == "comment updated\n"
    assert len(runner.comments()) == 1
    assert "# Plan of dev" in runner.comments()[0]


def test_a_stack_is_removed(runner: Runner) -> None:
    runner.project.commit({"Pulumi.prod.yaml": None})
    assert runner.publish(runner.push()).stdout == "comment created\n"
    assert "`prod` | removed" in runner.comments()[0]


def test_nothing_touched_says_nothing_until_something_was_said(runner: Runner) -> None:
    runner.project.commit({"docs/page.md": "another\n"})
    assert "nothing to do" in runner.publish(runner.push()).stdout
    assert runner.host.writes == []
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    runner.publish(runner.push())
    runner.project.commit({"models/dev.yaml": FILES["models/dev.yaml"]})
    assert runner.publish(runner.push()).stdout == "comment updated\n"
    assert "No stack is affected." in runner.comments()[0]


def test_errors_and_crashes_end_the_first_workflow_and_are_told_by_the_second(runner: Runner) -> None:
    changes = {name: FILES[name] + f"  fleet:a: {word}\n" for name, word in _WRONG.items()}
    runner.project.commit(changes)
    artifact = runner.push()
    assert runner.planned.returncode == 1
    assert runner.publish(artifact).returncode == 0
    (text,) = runner.comments()
    assert "| `dev` | errors, or a limit is exceeded | `Pulumi.dev.yaml` |" in text
    assert "| `prod` | no plan | `Pulumi.prod.yaml` |" in text
    assert "```text\nTraceback: no plan of prod\n```" in text


_WRONG = {"Pulumi.dev.yaml": "broken", "Pulumi.prod.yaml": "crash"}


def test_the_runner_is_told_what_to_preview_and_people_what_was_found(runner: Runner) -> None:
    runner.project.commit({"__main__.py": "print('x')\n"})
    runner.push()
    assert Path(runner.files["GITHUB_OUTPUT"]).read_text() == 'previews=["dev"]\n'
    assert "# Plan of prod" in Path(runner.files["GITHUB_STEP_SUMMARY"]).read_text()


def test_a_new_stack_has_nothing_to_be_compared_with(runner: Runner) -> None:
    runner.project.commit({"Pulumi.test.yaml": "config: {}\n"})
    runner.publish(runner.push())
    assert "# Plan of test against\n" in runner.comments()[0]


def test_findings_are_made_fit_for_an_upload(runner: Runner) -> None:
    runner.project.commit({"__main__.py": "print('x')\n"})
    artifact, sarif = runner.push(), runner.folder / "sarif"
    Path(runner.files["GITHUB_OUTPUT"]).unlink()
    assert runner.publish(artifact, "--findings", str(sarif)).returncode == 0
    head = runner.project.git("rev-parse", "HEAD")
    assert Path(runner.files["GITHUB_OUTPUT"]).read_text() == f"count=2\npull={PULL}\nsha={head}\n"
    runs = [json.loads((sarif / f"{stack}.sarif").read_text())["runs"][0] for stack in ("dev", "prod")]
    assert [run["automationDetails"]["id"] for run in runs] == ["plan/dev/", "plan/prod/"]
    assert {run["tool"]["driver"]["name"] for run in runs} == {"inference-platform"}
    assert runner.host.writes == []


def test_a_fork_gets_its_comment_too(host: Host, tmp_path: Path) -> None:
    runner = Runner(host, project_at(tmp_path / "fork"), tmp_path, source=FORK)
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    assert runner.publish(runner.push()).stdout == "comment created\n"

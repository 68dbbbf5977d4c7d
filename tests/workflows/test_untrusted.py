"""What the second workflow downloads is from anybody: wrong numbers, other commits, links, floods, poison."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ci.comment import MARKER, MOST
from ci.errors import PipelineError
from ci.findings import read_sarif
from ci.plans import Plans, StackPlan, read_plans
from ci.received import MOST_BYTES, read_bytes, read_text
from tests.workflows.hosts import Host
from tests.workflows.projects import project_at
from tests.workflows.test_github import FORK, PULL, REPOSITORY, Runner


@pytest.fixture
def runner(host: Host, tmp_path: Path) -> Runner:
    """A fork whose pull request has one changed model."""
    folder = tmp_path / "runner"
    folder.mkdir()
    runner = Runner(host, project_at(tmp_path / "repository"), folder, source=FORK)
    runner.project.commit({"models/dev.yaml": "kind: C\n"})
    return runner


def changed(artifact: Path, **summary: Any) -> None:
    path = artifact / "plans.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **summary}))


def test_another_pull_request_is_not_written_to(runner: Runner) -> None:
    """Its number is in the artifact, and its head is another commit, in another repository."""
    artifact = runner.push()
    runner.host.pulls[8] = {"number": 8, "state": "open", "head": {"sha": "f" * 40, "repo": {"id": REPOSITORY}}}
    changed(artifact, pull=8)
    done = runner.publish(artifact)
    assert done.returncode == 2
    assert "another repository than the run" in done.stderr
    assert runner.host.writes == []


def test_another_pull_request_of_the_same_fork_is_not_either(runner: Runner) -> None:
    artifact = runner.push()
    runner.host.pulls[8] = {"number": 8, "state": "open", "head": {"sha": "f" * 40, "repo": {"id": FORK}}}
    changed(artifact, pull=8)
    done = runner.publish(artifact)
    assert (done.returncode, runner.host.writes) == (0, [])
    assert "the head of pull request 8 is not" in done.stdout


def test_a_report_that_a_newer_push_made_old_is_left(runner: Runner) -> None:
    artifact, old = runner.push(), runner.project.git("rev-parse", "HEAD")
    runner.project.commit({"models/dev.yaml": "kind: D\n"})
    runner.push()
    done = runner.publish(artifact, head_sha=old)
    assert (done.returncode, runner.host.writes) == (0, [])


def test_a_closed_pull_request_is_left(runner: Runner) -> None:
    artifact = runner.push()
    runner.host.pulls[PULL]["state"] = "closed"
    done = runner.publish(artifact)
    assert (done.returncode, done.stdout, runner.host.writes) == (0, "pull request 7 is closed\n", [])


def test_a_fork_that_is_gone_is_nobodys(runner: Runner) -> None:
    artifact = runner.push()
    runner.host.pulls[PULL]["head"]["repo"] = None
    assert runner.publish(artifact, head_repository=None).returncode == 2
    assert runner.host.writes == []


def test_a_report_about_another_commit_is_refused(runner: Runner) -> None:
    artifact = runner.push()
    changed(artifact, head="0" * 40)
    done = runner.publish(artifact)
    assert (done.returncode, runner.host.writes) == (2, [])
    assert "the artifact is of commit '0000" in done.stderr


def test_runs_of_other_events_are_refused(runner: Runner) -> None:
    artifact = runner.push()
    for event in ("push", "pull_request_target", "workflow_dispatch", None):
        assert runner.publish(artifact, event=event).returncode == 2
    assert runner.host.requests == []


WRONG: dict[str, Any] = {
    "no JSON": "{",
    "nothing": "",
    "a list": "[]",
    "deep": "[" * 100_000,
    "another version": {"version": 2},
    "a number as text": {"pull": "7"},
    "a fraction": {"pull": 7.5},
    "true": {"pull": True},
    "a huge number": {"pull": 10**30},
    "no number": {"pull": 0},
    "a negative one": {"pull": -7},
    "NaN": {"pull": float("nan")},
    "a path as stack": {"stacks": [{"stack": "../../etc", "because": "x", "exit": 0}]},
    "a dot as stack": {"stacks": [{"stack": "..", "because": "x", "exit": 0}]},
    "a script as stack": {"stacks": [{"stack": "<script>", "because": "x", "exit": 0}]},
    "a stack without a reason": {"stacks": [{"stack": "dev", "exit": 0}]},
    "an exit code as text": {"stacks": [{"stack": "dev", "because": "x", "exit": "0"}]},
    "very many stacks": {"stacks": [{"stack": f"s{n}", "because": "x", "exit": 0} for n in range(101)]},
    "stacks that are none": {"stacks": 3},
    "removed by a path": {"removed": ["a/b"]},
    "a commit that is none": {"head": None},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_summary_that_is_none_is_refused_without_a_traceback(runner: Runner, case: str) -> None:
    artifact, wrong = runner.push(), WRONG[case]
    if isinstance(wrong, str):
        (artifact / "plans.json").write_text(wrong)
    else:
        changed(artifact, **wrong)
    done = runner.publish(artifact)
    assert done.returncode == 2, done
    assert done.stderr.startswith("error: plans.json ")
    assert "Traceback" not in done.stderr
    assert runner.host.writes == []


def test_what_is_written_can_be_read() -> None:
    plans = Plans(7, "0" * 40, (StackPlan("dev", "a b|c", 1), StackPlan("prod", "", -1)), ("old",))
    assert read_plans(json.dumps(plans.as_dict())) == plans


def _link(artifact: Path) -> None:
    (artifact / "dev" / "plan.md").unlink()
    (artifact / "dev" / "plan.md").symlink_to("/etc/passwd")


def _linked_folder(artifact: Path) -> None:
    for path in (artifact / "dev").iterdir():
        path.unlink()
    (artifact / "dev").rmdir()
    (artifact / "dev").symlink_to("/etc")


def _flood(artifact: Path) -> None:
    with (artifact / "dev" / "plan.md").open("wb") as file:
        file.truncate(MOST_BYTES + 1)


def _pipe(artifact: Path) -> None:
    (artifact / "dev" / "plan.md").unlink()
    os.mkfifo(artifact / "dev" / "plan.md")


def _folder(artifact: Path) -> None:
    (artifact / "dev" / "plan.md").unlink()
    (artifact / "dev" / "plan.md").mkdir()


@pytest.mark.parametrize(
    "poison", [_link, _linked_folder, _flood, _pipe, _folder], ids=lambda poison: poison.__name__
)
def test_no_file_is_followed_or_read_without_end(runner: Runner, poison: Callable[[Path], None]) -> None:
    artifact = runner.push()
    poison(artifact)
    assert runner.publish(artifact).returncode == 0
    (text,) = runner.comments()
    assert "root:" not in text
    assert "# Plan" not in text
    assert "The plan printed no output." in text


def test_the_comment_holds_whatever_a_report_says_without_obeying_it(runner: Runner) -> None:
    artifact = runner.push()
    poisoned = (
        f"{MARKER}\n@acme/everybody ![x](https://evil.example/x.png) <img src=y>\n</details>\n```\n" + "\xe9" * 10**6
    )
    (artifact / "dev" / "plan.md").write_text(poisoned)
    assert runner.publish(artifact).returncode == 0
    (text,) = runner.comments()
    assert text.count("<!--") == 1
    assert "@acme" not in text
    assert "<img" not in text
    assert text.rstrip().endswith("</details>")
    assert text.count("</details>") == 1
    assert len(text) <= MOST


def test_bytes_that_are_no_text(runner: Runner) -> None:
    artifact = runner.push()
    (artifact / "dev" / "plan.md").write_bytes(b"a report \xff\xfe\x00 with bytes")
    assert runner.publish(artifact).returncode == 0
    assert "a report \ufffd\ufffd with bytes" in runner.comments()[0]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b"])
def test_names_are_no_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(PipelineError, match="not the name of a file"):
        read_text(tmp_path, name)


def test_what_is_as_large_as_it_may_be_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * MOST_BYTES)
    assert len(read_bytes(tmp_path, "a") or b"") == MOST_BYTES


HOSTILE_SARIF = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {
                "driver": {"name": "CodeQL", "rules": [{"id": "r", "secret": 1}], "x": 1},
                "extensions": [{"name": "y"}],
            },
            "automationDetails": {"id": "/language:python"},
            "results": [
                {
                    "ruleId": "r",
                    "ruleIndex": 5,
                    "message": {"text": "m"},
                    "locations": [],
                    "fixes": [],
                    "level": "error",
                },
                "no result",
            ],
            "originalUriBaseIds": {"SRCROOT": {"uri": "file:///etc/"}},
        },
        {"tool": {"driver": {"name": "Another"}}, "results": []},
    ],
}


def test_findings_speak_for_this_tool_and_this_stack_alone(runner: Runner) -> None:
    """With another's name and category they would close another tool's findings."""
    artifact, out = runner.push(), runner.folder / "sarif"
    (artifact / "dev" / "plan.sarif").write_text(json.dumps(HOSTILE_SARIF))
    assert runner.publish(artifact, "--findings", str(out)).returncode == 0
    (run,) = json.loads((out / "dev.sarif").read_text())["runs"]
    assert run == {
        "tool": {"driver": {"name": "inference-platform", "rules": [{"id": "r"}]}},
        "automationDetails": {"id": "plan/dev/"},
        "results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [], "level": "error"}],
    }


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"version": "2.0.0", "runs": []}', '{"version": "2.1.0", "runs": 3}']
)
def test_what_is_no_sarif_is_refused(runner: Runner, text: str) -> None:
    artifact = runner.push()
    (artifact / "dev" / "plan.sarif").write_text(text)
    done = runner.publish(artifact, "--findings", str(runner.folder / "sarif"))
    assert (done.returncode, done.stderr) == (2, "error: a report of findings is not SARIF 2.1.0\n")
    with pytest.raises(PipelineError, match="not SARIF"):
        read_sarif(text.encode())


def test_odd_parts_of_sarif_do_not_end_in_a_traceback(runner: Runner) -> None:
    artifact = runner.push()
    oddities: tuple[Any, ...] = (
        3,
        "x",
        None,
        [],
        {"driver": 3},
        {"driver": {"rules": 3}},
        {"driver": {"rules": [3]}},
    )
    for number, odd in enumerate(oddities):
        log = {"version": "2.1.0", "runs": [{"tool": odd, "results": odd}, odd]}
        (artifact / "dev" / "plan.sarif").write_text(json.dumps(log))
        done = runner.publish(artifact, "--findings", str(runner.folder / f"sarif-{number}"))
        assert done.returncode == 0, (odd, done.stderr)


@pytest.mark.parametrize("variable", ["GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_EVENT_PATH"])
def test_a_variable_that_is_missing_is_named(runner: Runner, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ci.__main__ import main

    for name in ("GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_REPOSITORY"):
        monkeypatch.setenv(name, "x")
    event = runner.folder / "event.json"
    event.write_text('{"workflow_run": {"event": "pull_request", "head_sha": "x", "html_url": "x"}}')
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))
    monkeypatch.delenv(variable)
    assert main(["publish", str(runner.folder)]) == 2

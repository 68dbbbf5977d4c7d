"""GitLab: one note under a merge request, its Code Quality report, and the file that others include."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.comment import MARKER
from ci.findings import code_quality
from tests.workflows.hosts import TOKEN, Host
from tests.workflows.projects import ROOT, Project, project_at, stand_in, step

INCLUDE = ROOT / "ci" / "gitlab" / "preview.gitlab-ci.yml"
JOB = "https://gitlab.example/acme/models/-/jobs/9"


class GitLab:
    """What GitLab does around the jobs."""

    def __init__(self, host: Host, project: Project, folder: Path) -> None:
        self.host, self.project, self.folder = host, project, folder
        self.runs = 0

    def push(self) -> Path:
        self.runs += 1
        out = self.folder / f"plans-{self.runs}"
        words = ["plan", "--base", "main", "--pull", "3", "--out", str(out), "--command", *stand_in(self.folder)]
        assert step(words, cwd=self.project.folder).returncode == 0
        return out

    def note(self, folder: Path, token: str = TOKEN) -> Any:
        variables = {
            "CI_API_V4_URL": self.host.url,
            "CI_PROJECT_ID": "5",
            "CI_PROJECT_URL": "https://gitlab.example/acme/models",
            "PREVIEW_TOKEN": token,
        }
        return step(["note", str(folder), "--where", JOB], variables)


@pytest.fixture
def gitlab(host: Host, tmp_path: Path) -> GitLab:
    folder = tmp_path / "runner"
    folder.mkdir()
    return GitLab(host, project_at(tmp_path / "repository"), folder)


def test_two_pushes_make_one_note(gitlab: GitLab) -> None:
    others = [
        gitlab.host.add(3, f"{MARKER}\nmine", author={"id": 1, "username": "mallory"}, system=False),
        gitlab.host.add(3, "changed the title", author=gitlab.host.me, system=True),
    ]
    gitlab.project.commit({"models/dev.yaml": "kind: C\n"})
    assert gitlab.note(gitlab.push()).stdout == "note created\n"
    gitlab.project.commit({"models/shared/chat.yaml": "kind: C\n"})
    assert gitlab.note(gitlab.push()).stdout == "note updated\n"
    assert gitlab.host.comments[3][:2] == others
    (note,) = gitlab.host.comments[3][2:]
    assert "# Plan of prod" in note["body"]
    assert f"[in the artifacts of the job]({JOB})" in note["body"]
    assert gitlab.host.writes == ["POST", "PUT"]


def test_nothing_touched_is_no_note(gitlab: GitLab) -> None:
    gitlab.project.commit({"docs/page.md": "x\n"})
    assert "no earlier note" in gitlab.note(gitlab.push()).stdout
    assert gitlab.host.writes == []


def test_a_token_that_is_wrong_or_missing_is_told(gitlab: GitLab) -> None:
    gitlab.project.commit({"models/dev.yaml": "kind: C\n"})
    folder = gitlab.push()
    assert "answers 401" in gitlab.note(folder, "wrong").stderr
    assert gitlab.note(folder, "").stderr == "error: the variable PREVIEW_TOKEN is not set\n"


def result(rule: str, path: str, line: int | None, text: str, level: str = "error", **more: Any) -> dict[str, Any]:
    region = {} if line is None else {"region": {"startLine": line}}
    place = {"physicalLocation": {"artifactLocation": {"uri": path}, **region}}
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [place], **more}


def log(*results: dict[str, Any]) -> dict[str, Any]:
    return {"version": "2.1.0", "runs": [{"results": list(results)}]}


def test_findings_in_the_words_of_gitlab() -> None:
    (entry,) = code_quality([log(result("memory-exceeded", "./models/a.yaml", 12, "does not fit"))])
    mark = entry.pop("fingerprint")
    assert entry == {
        "check_name": "memory-exceeded",
        "description": "does not fit",
        "severity": "major",
        "location": {"path": "models/a.yaml", "lines": {"begin": 12}},
    }
    assert len(mark) == 64


@pytest.mark.parametrize(
    ("level", "severity"),
    [("error", "major"), ("warning", "minor"), ("note", "info"), ("none", "info"), ("?", "minor")],
)
def test_severities(level: str, severity: str) -> None:
    assert code_quality([log(result("r", "a", 1, "x", level))])[0]["severity"] == severity


def test_a_finding_of_two_stacks_is_one_and_marks_outlast_lines() -> None:
    before = code_quality([log(result("r", "a", 5, "x"), result("r", "a", 9, "y")), log(result("r", "a", 5, "x"))])
    after = code_quality([log(result("r", "a", 6, "x too"), result("r", "a", 10, "y"))])
    assert len(before) == 2
    assert [each["fingerprint"] for each in before] == [each["fingerprint"] for each in after]
    assert len({each["fingerprint"] for each in before}) == 2


def test_a_finding_keeps_its_mark_when_the_one_before_it_is_fixed() -> None:
    marked = [
        result("r", "a", line, "x", partialFingerprints={"primaryLocationLineHash": f"m{line}:1"}) for line in (5, 9)
    ]
    _, second = code_quality([log(*marked)])
    (alone,) = code_quality([log(marked[1])])
    assert alone == second


def test_a_path_in_sarif_is_a_uri() -> None:
    odd = result("r", "models/a%20b%231.yaml", 3, "x")
    outside = result("r", "file:///etc/passwd", 1, "x")
    (entry,) = code_quality([log(odd, outside)])
    assert entry["location"]["path"] == "models/a b#1.yaml"


def test_what_has_no_place_or_is_ignored_is_left_out() -> None:
    odd: list[Any] = [
        {"ruleId": "r"},
        {"ruleId": "r", "locations": [3]},
        result("r", "", 1, "x"),
        result("r", "a", 0, "x"),
    ]
    ignored = result("r", "b", 1, "x", suppressions=[{"kind": "external"}])
    found = code_quality([log(*odd, ignored, result("r", "c", None, "x"))])
    assert [(each["location"]["path"], each["location"]["lines"]["begin"]) for each in found] == [("a", 1), ("c", 1)]


def test_the_report_is_written(gitlab: GitLab, tmp_path: Path) -> None:
    gitlab.project.commit({"models/dev.yaml": "kind: C\n"})
    folder = gitlab.push()
    (folder / "dev" / "plan.sarif").write_text(json.dumps(log(result("r", "models/dev.yaml", 1, "x"))))
    out = tmp_path / "quality.json"
    assert step(["quality", str(folder), "--out", str(out)]).returncode == 0
    assert [each["check_name"] for each in json.loads(out.read_text())] == ["r"]


def test_the_include_runs_steps_that_there_are() -> None:
    jobs = yaml.safe_load(INCLUDE.read_text())
    scripts = [line for job in jobs.values() for line in job.get("script", ())]
    assert [line.split("-m ci ")[1].split()[0] for line in scripts if "-m ci " in line] == ["plan", "quality", "note"]


def test_the_include_runs_for_merge_requests_alone_and_keeps_its_reports() -> None:
    jobs = {name: job for name, job in yaml.safe_load(INCLUDE.read_text()).items() if not name.startswith(".")}
    assert sorted(jobs) == ["inference-platform:note", "inference-platform:plan"]
    for job in jobs.values():
        assert all("$CI_PIPELINE_SOURCE == 'merge_request_event'" in rule["if"] for rule in job["rules"])
        assert job["timeout"]
    plan, note = jobs["inference-platform:plan"], jobs["inference-platform:note"]
    assert plan["artifacts"]["reports"] == {"codequality": "plans/quality.json"}
    assert plan["artifacts"]["when"] == "always"
    assert plan["variables"]["GIT_DEPTH"] == "0"
    assert "PREVIEW_TOKEN" not in str(plan)
    assert "$PREVIEW_TOKEN" in note["rules"][0]["if"]

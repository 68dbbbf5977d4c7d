"""Workflows as data: what they are triggered by, what each job may do, and what its scripts see."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)

Json = dict[str, Any]


@dataclass(frozen=True)
class Workflow:
    """A workflow file."""

    name: str
    text: str

    @property
    def content(self) -> Json:
        read: dict[object, Any] = yaml.safe_load(self.text)
        return {("on" if key is True else str(key)): value for key, value in read.items()}  # YAML 1.1 reads "on" so

    @property
    def triggers(self) -> set[str]:
        found = self.content["on"]
        return {found} if isinstance(found, str) else set(found)

    @property
    def jobs(self) -> dict[str, Json]:
        found: dict[str, Json] = self.content["jobs"]
        return found

    @property
    def steps(self) -> Iterator[Json]:
        for job in self.jobs.values():
            yield from job.get("steps", ())


def workflows() -> list[Workflow]:
    return [Workflow(path.name, path.read_text()) for path in sorted(FOLDER.glob("*.y*ml"))]


def expressions(value: object) -> Iterator[str]:
    """Yield what stands between the braces, anywhere in a value."""
    if isinstance(value, str):
        yield from (found.strip() for found in _EXPRESSION.findall(value))
    elif isinstance(value, dict):
        for each in value.values():
            yield from expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from expressions(each)


def faults(workflow: Workflow) -> Iterator[str]:
    """Yield what no workflow may do."""
    if "pull_request_target" in workflow.triggers:
        yield "runs on pull_request_target"
    if workflow.content.get("permissions") != {}:
        yield "gives rights to all jobs"
    if workflow.triggers - {"workflow_call"} and "group" not in workflow.content.get("concurrency", {}):
        yield "has no concurrency group"
    for action, comment in re.findall(r"uses: (\S+)(.*)", workflow.text):
        if not action.startswith("./") and not (
            re.search(r"@[0-9a-f]{40}\Z", action) and re.fullmatch(r" # v\d+\.\d+\.\d+", comment)
        ):
            yield f"{action} is not pinned by a digest with its version beside it"
    for name, job in workflow.jobs.items():
        yield from (f"{name}: {fault}" for fault in _faults_of_job(workflow, job))


def _faults_of_job(workflow: Workflow, job: Json) -> Iterator[str]:
    if "permissions" not in job:
        yield "says nothing about its rights"
    if "uses" not in job and not isinstance(job.get("timeout-minutes"), int):
        yield "has no timeout"
    if workflow.triggers & {"pull_request"}:
        yield from _faults_for_anybody(job)
    if "workflow_run" in workflow.triggers:
        yield from _faults_of_publishers(job)
    for step in job.get("steps", ()):
        if any(True for _ in expressions(step.get("run", ""))):
            yield f"a script holds an expression: {step['run']!r}"
        if (
            step.get("uses", "").startswith("actions/checkout@")
            and step["with"].get("persist-credentials") is not False
        ):
            yield "checkout leaves the token behind"


SAME_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"


def _faults_for_anybody(job: Json) -> Iterator[str]:
    """Yield what a job that runs the code of pull requests may not do, unless they are of the repository's own."""
    rights = job.get("permissions") or {}
    writes = {key for key, value in rights.items() if value != "read"}
    own = SAME_REPOSITORY in job.get("if", "")
    if writes - ({"id-token"} if own else set()):
        yield f"anybody's code gets {', '.join(sorted(writes))}"
    if any("secrets." in each or "github.token" in each for each in expressions(job)):
        yield "anybody's code sees a secret"


def _faults_of_publishers(job: Json) -> Iterator[str]:
    """Yield what a job with rights may not do with what it downloads."""
    for step in job.get("steps", ()):
        options = step.get("with", {})
        if step.get("uses", "").startswith("actions/checkout@") and {"ref", "repository"} & options.keys():
            yield "checks out something else than the default branch"
        if "download-artifact" in step.get("uses", "") and not options["path"].startswith("${{ runner.temp }}/"):
            yield "downloads among its own files"

"""Plans each affected stack, and writes reports and a summary to one folder."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import PipelineError
from .touched import Touched, stack_name

SUMMARY = "plans.json"
REPORT, FINDINGS, LOG = "plan.md", "plan.sarif", "log.txt"
SAVED = (REPORT, FINDINGS, "plan.html", "plan.json")
VERSION = 1
MANIFESTS = "manifests"
"""Name in place of a stack's, where manifests are planned without one."""
MOST_STACKS = 100
_SECONDS = 900.0
_LOG_LINES = 40
_NO_PLAN = -1
"""Exit code if there is no report."""


@dataclass(frozen=True, slots=True)
class StackPlan:
    """Result of the plan of one stack.

    Attributes:
        because: The changed file that affects it.
        exit_code: 0 is success, 1 is errors or an exceeded limit, anything else is no plan.
    """

    stack: str
    because: str
    exit_code: int

    @property
    def verdict(self) -> str:
        """The result in words."""
        return {0: "fine", 1: "errors, or a limit is exceeded"}.get(self.exit_code, "no plan")


@dataclass(frozen=True, slots=True)
class Plans:
    """Summary of all plans.

    Attributes:
        pull: Number of the pull or merge request; 0 without one.
        head: The planned commit.
        removed: Deleted stacks.
    """

    pull: int
    head: str
    stacks: tuple[StackPlan, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether all plans succeeded."""
        return all(plan.exit_code == 0 for plan in self.stacks)

    def as_dict(self) -> dict[str, Any]:
        stacks = [{"stack": plan.stack, "because": plan.because, "exit": plan.exit_code} for plan in self.stacks]
        return {
            "version": VERSION,
            "pull": self.pull,
            "head": self.head,
            "stacks": stacks,
            "removed": list(self.removed),
        }


def read_plans(text: str) -> Plans:
    """Parse the output of ``as_dict``; the text is untrusted.

    Raises:
        PipelineError: the text is something else.
    """
    try:
        read = json.loads(text)
        wrong = read["version"] != VERSION or max(len(read["stacks"]), len(read["removed"])) > MOST_STACKS
        stacks = tuple(
            StackPlan(stack_name(plan["stack"]), _string(plan["because"]), _integer(plan["exit"]))
            for plan in read["stacks"]
        )
        removed = tuple(map(stack_name, read["removed"]))
        plans = Plans(_integer(read["pull"]), _string(read["head"]), stacks, removed)
    except (PipelineError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        wrong = True
    if wrong:
        raise PipelineError(f"{SUMMARY} is not the output of `python -m ci plan`")
    return plans


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
        return value
    raise TypeError(value)


def _string(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


@dataclass(frozen=True, slots=True)
class Revisions:
    """The compared commits.

    Attributes:
        head: The checked-out commit.
        base: The merge base.
    """

    head: str
    base: str

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of plans. Reports link to lines of the head, not of a merge commit with the base."""
        commit = {"GITHUB_SHA": self.head} if "GITHUB_SHA" in os.environ else {}
        return {**os.environ, **commit}


def make_plans(
    project: Path, affected: Touched, revisions: Revisions, out: Path, command: Sequence[str]
) -> Iterator[StackPlan]:
    """Plan each affected stack, sequentially: a plan uses two cores.

    Args:
        project: Folder of Pulumi.yaml.
        affected: The affected stacks.
        revisions: The compared commits.
        out: Folder in which each stack gets a folder.
        command: Command that plans, such as ``workbench plan``.
    """
    for stack, because in affected.stacks.items():
        base = [] if stack in affected.new else ["--base", revisions.base]
        code = _planned([*command, "--stack", stack, *base], project, revisions, out / stack)
        yield StackPlan(stack, because, code)


def plan_manifests(
    project: Path, paths: Sequence[str], revisions: Revisions, out: Path, command: Sequence[str]
) -> StackPlan:
    """Plan manifests without a stack."""
    code = _planned([*command, *paths, "--base", revisions.base], project, revisions, out / MANIFESTS)
    return StackPlan(MANIFESTS, " ".join(paths), code)


def _planned(command: Sequence[str], project: Path, revisions: Revisions, folder: Path) -> int:
    """Run a plan that saves its reports to a new folder, and return its exit code."""
    folder.mkdir(parents=True)
    saved = [argument for name in SAVED for argument in ("--save", str(folder / name))]
    code = _run([*command, *saved], project, revisions.environment, folder / LOG)
    return code if (folder / REPORT).exists() else _NO_PLAN


def _run(command: Sequence[str], project: Path, environment: Mapping[str, str], log: Path) -> int:
    """Run a plan, and save the end of its output."""
    try:
        completed = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        log.write_text(f"the plan took longer than {_SECONDS:.0f} seconds\n", encoding="utf-8")
        return _NO_PLAN
    lines = (completed.stderr or completed.stdout).decode("utf-8", "replace").splitlines()[-_LOG_LINES:]
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return completed.returncode

"""Publishes the results of a pull request on GitHub, after its code ran in a workflow without permissions.

Runs in a separate workflow on ``workflow_run``, with permission to comment, and with the code of the default branch.
The artifact of the first workflow is untrusted data: GitHub Security Lab, "Keeping your GitHub Actions and workflows
secure Part 1: Preventing pwn requests"; CodeQL's help on actions/artifact-poisoning (extract to a temporary folder,
verify what is in it, numbers above all); GitHub Docs, "Secure use reference".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .comment import comment, reports
from .errors import PipelineError
from .plans import SUMMARY, Plans, read_plans
from .received import read_text
from .rest import Rest
from .sticky import place, remains

BOT = "github-actions[bot]"
"""Author of comments with a workflow's token."""
_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class OutdatedError(Exception):
    """The run's commit is no longer the head of its pull request, so that a newer run publishes the results."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The run of the first workflow, from GitHub's trusted event.

    Attributes:
        sha: Commit of the run.
        source: ID of the commit's repository, possibly a fork.
        url: URL of the run's page.
    """

    sha: str
    source: int
    url: str


def finished_run(event: Mapping[str, Any]) -> FinishedRun:
    """Read the event of a ``workflow_run``.

    Raises:
        PipelineError: the event is another one.
    """
    run = event.get("workflow_run")
    if not isinstance(run, dict) or run.get("event") != "pull_request":
        raise PipelineError("this runs on workflow_run, after a workflow that ran on pull_request")
    source = run.get("head_repository") or {}
    return FinishedRun(str(run["head_sha"]), int(source.get("id", 0)), str(run["html_url"]))


def pull_request(event: Mapping[str, Any]) -> int:
    """Return the number of the pull request of a run on ``pull_request``.

    Raises:
        PipelineError: the event is another one.
    """
    found = event.get("pull_request")
    if not isinstance(found, dict):
        raise PipelineError("this runs on pull_request")
    return int(found["number"])


def github(url: str, token: str) -> Rest:
    """Return a client (GitHub Docs, "Getting started with the REST API": media type, version)."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "inference-platform",
    }
    return Rest(url, headers)


def verified(rest: Rest, repository: str, run: FinishedRun, folder: Path) -> Plans:
    """Return the plans, after verifying that they belong to the pull request of the run.

    GitHub does not provide the number of pull requests from forks, so it comes from the untrusted artifact. It is
    accepted only if the head of that pull request is the commit and repository of the run.

    Raises:
        PipelineError: the artifact names another pull request, or none.
        OutdatedError: the pull request was closed or has a newer head.
    """
    plans = read_plans(read_text(folder, SUMMARY))
    if plans.pull <= 0 or not _SHA.fullmatch(run.sha):
        raise PipelineError(f"{SUMMARY} contains no number of a pull request")
    pull = rest.get(f"repos/{repository}/pulls/{plans.pull}")
    source = (pull["head"].get("repo") or {}).get("id", -1)
    if source != run.source:
        raise PipelineError(
            f"the artifact names pull request {plans.pull}, whose commits are in another repository than the run's; "
            "nothing was published"
        )
    if pull["state"] != "open":
        raise OutdatedError(f"pull request {plans.pull} is closed")
    if pull["head"]["sha"] != run.sha:
        raise OutdatedError(f"the head of pull request {plans.pull} is not {run.sha[:12]}, the planned commit")
    if plans.head != run.sha:
        raise PipelineError(f"the artifact is of commit {plans.head[:40]!r}, and the run was of {run.sha}")
    return plans


def publish(rest: Rest, repository: str, plans: Plans, folder: Path, where: str, links: str) -> str:
    """Create or update the comment on the pull request, and return a summary.

    Args:
        rest: GitHub.
        repository: ``owner/name``.
        plans: Verified plans.
        folder: The artifact.
        where: URL of the run with the artifacts.
        links: Allowed prefix of links in reports.
    """
    path = f"repos/{repository}/issues/{plans.pull}/comments"
    if not plans.stacks and not plans.removed and not remains(rest, path, is_own=_by_workflow):
        return "no stack is affected, and there is no earlier comment: nothing to do"
    text = comment(plans, reports(plans, folder, links), f"[in the artifacts of the run]({where})")
    comments = f"repos/{repository}/issues/comments/"
    done = place(rest, path, lambda number: f"{comments}{number}", text, is_own=_by_workflow, change="PATCH")
    return f"comment {done}"


def _by_workflow(entry: Mapping[str, Any]) -> bool:
    user = entry.get("user") or {}
    return user.get("login") == BOT and user.get("type") == "Bot"

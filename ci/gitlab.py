"""Publishes results on GitLab: one note on a merge request, updated in place."""

import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .comment import comment, reports
from .plans import Plans
from .rest import Rest
from .sticky import place, remains

MOST = 1_000_000
"""Maximum length of a note (GitLab Docs, "GitLab application limits": size of comments)."""


def gitlab(url: str, token: str) -> Rest:
    """Return a client for a project access token with the scope api."""
    return Rest(url, {"PRIVATE-TOKEN": token, "User-Agent": "inference-platform"})


def publish(rest: Rest, project: str, plans: Plans, folder: Path, where: str, links: str) -> str:
    """Create or update the note on the merge request, and return a summary.

    Args:
        rest: GitLab.
        project: ID of the project.
        plans: The plans.
        folder: Folder of the reports.
        where: URL of the job with the artifacts.
        links: Allowed prefix of links in reports.
    """
    me = rest.get("user")["id"]

    def is_own(entry: Mapping[str, Any]) -> bool:
        return not entry.get("system") and (entry.get("author") or {}).get("id") == me

    path = f"projects/{urllib.parse.quote(project, safe='')}/merge_requests/{plans.pull}/notes"
    if not plans.stacks and not plans.removed and not remains(rest, path, is_own=is_own):
        return "no stack is affected, and there is no earlier note: nothing to do"
    text = comment(plans, reports(plans, folder, links), f"[in the artifacts of the job]({where})", MOST)
    return f"note {place(rest, path, lambda number: f'{path}/{number}', text, is_own=is_own, change='PUT')}"

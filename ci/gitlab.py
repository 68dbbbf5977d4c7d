"""What GitLab needs to be told: one note under a merge request, changed in place."""

import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .comment import comment, reports
from .plans import Plans
from .rest import Rest
from .sticky import place, remains

MOST = 1_000_000
"""Characters of a note (GitLab Docs, "GitLab application limits": size of comments)."""


def gitlab(url: str, token: str) -> Rest:
    """Return a client; the token is that of a project, with the scope api."""
    return Rest(url, {"PRIVATE-TOKEN": token, "User-Agent": "inference-platform"})


def publish(rest: Rest, project: str, plans: Plans, folder: Path, where: str, links: str) -> str:
    """Write the note under the merge request, and say what was done.

    Args:
        rest: GitLab.
        project: Its id.
        plans: What was planned.
        folder: Where the reports are.
        where: URL of the job that made the plans.
        links: What links in reports may start with.
    """
    me = rest.get("user")["id"]

    def ours(found: Mapping[str, Any]) -> bool:
        return not found.get("system") and (found.get("author") or {}).get("id") == me

    path = f"projects/{urllib.parse.quote(project, safe='')}/merge_requests/{plans.pull}/notes"
    if not plans.stacks and not plans.removed and not remains(rest, path, ours=ours):
        return "no stack is touched, and nothing was said before: no note"
    text = comment(plans, reports(plans, folder, links), f"[in the artifacts of the job]({where})", MOST)
    return f"note {place(rest, path, lambda number: f'{path}/{number}', text, ours=ours, change='PUT')}"

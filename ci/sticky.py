"""A comment that is created once and then updated in place."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .comment import MARKER
from .rest import Rest

Author = Callable[[Mapping[str, Any]], bool]
"""Returns whether a comment is ours; the marker alone proves nothing, since anyone can write it."""


def place(rest: Rest, path: str, one: Callable[[int], str], text: str, *, ours: Author, change: str) -> str:
    """Create or update the comment, and return which was done.

    Args:
        rest: The code host.
        path: Path of the list of comments.
        one: Returns the path of a comment by ID.
        text: Text of the comment.
        ours: Returns whether a comment is ours.
        change: HTTP method for updates: PATCH for GitHub, PUT for GitLab.
    """
    comments = _own_comments(rest.pages(f"{path}?per_page=100"), ours)
    for duplicate in comments[1:]:  # concurrent runs created several
        rest.send("DELETE", one(duplicate["id"]))
    if not comments:
        rest.send("POST", path, {"body": text})
        return "created"
    if comments[0]["body"] == text:
        return "unchanged"
    rest.send(change, one(comments[0]["id"]), {"body": text})
    return "updated"


def remains(rest: Rest, path: str, *, ours: Author) -> bool:
    """Return whether there already is a comment of ours."""
    return bool(_own_comments(rest.pages(f"{path}?per_page=100"), ours))


def _own_comments(comments: Iterable[Mapping[str, Any]], ours: Author) -> list[Mapping[str, Any]]:
    """Return the comments with the marker that are ours, the oldest first."""
    marked = [comment for comment in comments if str(comment.get("body") or "").startswith(MARKER)]
    return sorted(filter(ours, marked), key=lambda comment: int(comment["id"]))

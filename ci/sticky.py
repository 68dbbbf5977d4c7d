"""A comment that is created once and then updated in place."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .comment import MARKER
from .rest import Rest

Author = Callable[[Mapping[str, Any]], bool]
"""Returns whether this bot wrote a comment; the marker alone proves nothing, since anyone can write it."""


def place(rest: Rest, path: str, one: Callable[[int], str], text: str, *, is_own: Author, change: str) -> str:
    """Create or update the comment, and return which was done.

    Args:
        rest: The code host.
        path: Path of the list of comments.
        one: Returns the path of a comment by ID.
        text: Text of the comment.
        is_own: Returns whether this bot wrote a comment.
        change: HTTP method for updates: PATCH for GitHub, PUT for GitLab.
    """
    comments = _own_comments(rest.pages(f"{path}?per_page=100"), is_own)
    for duplicate in comments[1:]:  # concurrent runs created several
        rest.send("DELETE", one(duplicate["id"]))
    if not comments:
        rest.send("POST", path, {"body": text})
        return "created"
    if comments[0]["body"] == text:
        return "unchanged"
    rest.send(change, one(comments[0]["id"]), {"body": text})
    return "updated"


def remains(rest: Rest, path: str, *, is_own: Author) -> bool:
    """Return whether the comment exists already."""
    return bool(_own_comments(rest.pages(f"{path}?per_page=100"), is_own))


def _own_comments(comments: Iterable[Mapping[str, Any]], is_own: Author) -> list[Mapping[str, Any]]:
    """Return the marked comments that this bot wrote, the oldest first."""
    marked = [comment for comment in comments if str(comment.get("body") or "").startswith(MARKER)]
    return sorted(filter(is_own, marked), key=lambda comment: int(comment["id"]))

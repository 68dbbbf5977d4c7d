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
    found = _mine(rest.pages(f"{path}?per_page=100"), ours)
    for further in found[1:]:  # concurrent runs created several
        rest.send("DELETE", one(further["id"]))
    if not found:
        rest.send("POST", path, {"body": text})
        return "created"
    if found[0]["body"] == text:
        return "unchanged"
    rest.send(change, one(found[0]["id"]), {"body": text})
    return "updated"


def remains(rest: Rest, path: str, *, ours: Author) -> bool:
    """Return whether there already is a comment of ours."""
    return bool(_mine(rest.pages(f"{path}?per_page=100"), ours))


def _mine(comments: Iterable[Mapping[str, Any]], ours: Author) -> list[Mapping[str, Any]]:
    """Return the comments with the marker that are ours, the oldest first."""
    found = [each for each in comments if str(each.get("body") or "").startswith(MARKER) and ours(each)]
    return sorted(found, key=lambda each: int(each["id"]))

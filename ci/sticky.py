"""A comment that is made once and then changed in place."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .comment import MARKER
from .rest import Rest

Author = Callable[[Mapping[str, Any]], bool]
"""Tells whether a comment is ours: anybody can write the marker."""


def place(rest: Rest, path: str, one: Callable[[int], str], text: str, *, ours: Author, change: str) -> str:
    """Create the comment or change it, and say which.

    Args:
        rest: The code host.
        path: The list of comments.
        one: The path of a comment by its id.
        text: What it shall say.
        ours: Tells whether we wrote a comment.
        change: The method that changes one: PATCH with GitHub, PUT with GitLab.
    """
    found = _mine(rest.pages(f"{path}?per_page=100"), ours)
    for further in found[1:]:  # two runs at once made two
        rest.send("DELETE", one(further["id"]))
    if not found:
        rest.send("POST", path, {"body": text})
        return "created"
    if found[0]["body"] == text:
        return "unchanged"
    rest.send(change, one(found[0]["id"]), {"body": text})
    return "updated"


def remains(rest: Rest, path: str, *, ours: Author) -> bool:
    """Tell whether there is a comment of ours already."""
    return bool(_mine(rest.pages(f"{path}?per_page=100"), ours))


def _mine(comments: Iterable[Mapping[str, Any]], ours: Author) -> list[Mapping[str, Any]]:
    """Return the comments with the marker that are ours, the oldest first."""
    found = [each for each in comments if str(each.get("body") or "").startswith(MARKER) and ours(each)]
    return sorted(found, key=lambda each: int(each["id"]))

"""Valid documents with something changed, and what is found wrong with them."""

import copy
from typing import Any

from components.contract.checking import check
from components.contract.kinds import Kind

REMOVED = object()


def changed(original: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return a document with values replaced or removed; a path is ``spec/models/0/name``."""
    document = copy.deepcopy(original)
    for path, value in changes.items():
        *way, last = (int(part) if part.isdecimal() else part for part in path.split("/"))
        owner: Any = document
        for part in way:
            owner = owner[part] if isinstance(part, int) else owner.setdefault(part, {})
        if value is REMOVED:
            del owner[last]
        else:
            owner[last] = value
    return document


def problems_of(document: dict[str, Any], kind: Kind) -> list[tuple[str, str]]:
    """Return path and reason of everything that is wrong with a document."""
    _, found = check(document, kind)
    return [("/".join(map(str, path)), reason) for path, reason in found]

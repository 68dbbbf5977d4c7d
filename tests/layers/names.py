"""Names of classes and variables."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from components.families import kinds
from tests.layers.modules import Module

EMPTY = ("said", "told", "made", "listed", "cut")
"""What a name must not be: it says how something came about, and not what it is."""


def shared_names(modules: Sequence[Module]) -> Iterator[str]:
    """Yield class names that two modules define.

    Types of a contract have the contract's names, whatever other families call theirs. A component is named after the
    kind that it creates, and so is the kind's type: those two are one thing.
    """
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append((module.path, node.lineno))
    known = {kind.kind for kind in kinds()}
    for name, found in sorted(places.items()):
        paths = [path for path, _ in found]
        if len(paths) > 1 and not _are_types_of_contracts(paths) and not (name in known and _are_one_kind(paths)):
            others = ", ".join(f"{path}:{line}" for path, line in found[1:])
            yield f"{found[0][0]}:{found[0][1]}: {name} is a class of {others} too"


def empty_names(module: Module) -> Iterator[str]:
    """Yield variables, arguments and functions whose name says nothing of what they are."""
    for node in module.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                if name.strip("_") in EMPTY:
                    yield f"{module.path}:{node.lineno}: the name {name!r}"


def _are_types_of_contracts(paths: list[str]) -> bool:
    families = [family for family, room in map(_family_and_room, paths) if room == "types"]
    return len(families) == len(paths) == len(set(families))


def _are_one_kind(paths: list[str]) -> bool:
    families, rooms = zip(*map(_family_and_room, paths), strict=True)
    return sorted(rooms) == ["resources", "types"] and len(set(families)) == 1


def _family_and_room(path: str) -> tuple[str, str]:
    if match := re.match(r"components/resources/(\w+)/", path):
        return match[1], "resources"
    match = re.match(r"components/families/(\w+)/(\w+)", path)
    return (match[1], match[2]) if match else (path, "")

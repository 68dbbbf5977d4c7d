"""One class name means one thing: in messages of types, in search results, in a reader's head."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from components.families import kinds
from tests.layers.modules import Module, modules

PROJECT = modules("components", "stacks", "workbench", "__main__.py")


def shared_names(project: Iterable[Module]) -> Iterator[str]:
    """Yield class names that two modules define.

    A component is named after the kind that it creates, and so is the kind's type: those two are one thing.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for module in project:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and not _is_kind(name, paths):
            yield f"{name} is a class in {', '.join(paths)}"


def _is_kind(name: str, paths: list[str]) -> bool:
    if len(paths) > 2 or name not in {kind.kind for kind in kinds()}:
        return False
    families = {path.split("/")[2] for path in paths if path.startswith("components/families/")}
    rooms = sorted(path.split("/")[3].removesuffix(".py") for path in paths if path.count("/") > 2)
    return len(families) == 1 and rooms == ["components", "types"]


def test_one_class_name_means_one_thing() -> None:
    assert list(shared_names(PROJECT)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/metrics/planted.py", "class Plan: ..."),
        ("workbench/planted.py", "def f():\n    class Options: ..."),
        ("components/families/llmkube/planted.py", "class Playground: ..."),
        ("components/families/llmkube/types/planted.py", "class Playground: ..."),
        ("components/families/llmaz/components/planted.py", "class OpenModelSpec: ..."),
    ],
)
def test_a_planted_name_is_found(path: str, text: str) -> None:
    assert len(list(shared_names([*PROJECT, Module(path, text)]))) == 1

"""One class name means one thing, and names are words of the domain."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from components.families import kinds
from tests.layers.modules import Module, modules

EMPTY = ("said", "told", "made", "listed", "cut")
"""What a name must not be: it says how something came about, and not what it is."""
PROJECT = modules("ci", "policy/guardrails", "components", "stacks", "workbench", "__main__.py")


def shared_names(project: Iterable[Module]) -> Iterator[str]:
    """Yield class names that two modules define.

    Types of a contract have the contract's names, whatever other families call theirs. A component is named after the
    kind that it creates, and so is the kind's type: those two are one thing.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for module in project:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and not _is_of_contracts(paths) and not _is_kind(name, paths):
            yield f"{name} is a class in {', '.join(paths)}"


def _is_of_contracts(paths: list[str]) -> bool:
    families = [family for family, room in map(_family_and_room, paths) if room == "types"]
    return len(families) == len(paths) == len(set(families))


def _is_kind(name: str, paths: list[str]) -> bool:
    families, rooms = zip(*map(_family_and_room, paths), strict=True)
    known = {kind.kind for kind in kinds()}
    return name in known and sorted(rooms) == ["components", "types"] and len(set(families)) == 1


def _family_and_room(path: str) -> tuple[str, str]:
    match = re.match(r"components/families/(\w+)/(\w+)", path)
    return (match[1], match[2]) if match else (path, "")


def test_one_class_name_means_one_thing() -> None:
    assert list(shared_names(PROJECT)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/checks/metrics/planted.py", "class Plan: ..."),
        ("workbench/planted.py", "def f():\n    class Options: ..."),
        ("components/families/llmkube/planted.py", "class Playground: ..."),
        ("components/families/llmkube/types/planted.py", "class Playground: ..."),
        ("components/resources/llmaz/planted.py", "class OpenModelSpec: ...\n\nclass OpenModelSpec: ..."),
        ("components/families/llmaz/workload/planted.py", "class ModelSpec: ..."),
        ("components/families/llmkube/types/planted.py", "class ModelSpec: ..."),
    ],
)
def test_a_planted_name_is_found(path: str, text: str) -> None:
    assert len(list(shared_names([*PROJECT, Module(path, text)]))) == 1


def empty_words(module: Module) -> Iterator[str]:
    """Yield variables, arguments and functions whose name says nothing of what they are."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                if name.strip("_") in EMPTY:
                    yield f"{module.path}:{node.lineno} names something {name!r}"


@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_names_are_words_of_the_domain(module: Module) -> None:
    assert list(empty_words(module)) == []


@pytest.mark.parametrize(
    "text", ["said = 1", "def f(told): ...", "def _cut(): ...", "[made for made in ()]", "(listed := 1)"]
)
def test_a_planted_word_is_found(text: str) -> None:
    assert len(list(empty_words(Module("components/plan/planted.py", text)))) == 1

"""Modules of the project as the rules of its layout see them: what they import, and which words they use."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("components", "toolkit", "livefleet", "stacks", "__main__.py", "workbench"),
    *("ci", "tools", "policy/guardrails"),
)
"""Everything that is installed, deployed or run by a pipeline; the tests are not held to these rules."""


class Word(NamedTuple):
    """A name or a string constant."""

    line: int
    text: str
    quoted: bool
    """Whether it is a string constant."""


class Import(NamedTuple):
    """An imported name."""

    line: int
    name: str
    """The absolute dotted name; with ``from a import b`` it is ``a.b``, whether ``b`` is a module or not."""
    typing_only: bool
    """Whether only type checkers see it, because it is below ``if TYPE_CHECKING``."""


@dataclass(frozen=True)
class Module:
    """A module: a file of the project, or a text that is planted to see a rule fail."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of its tree, walked once for all rules."""
        return tuple(ast.walk(self.tree))

    @property
    def name(self) -> str:
        """Its dotted name; that of the package for an ``__init__.py``."""
        return ".".join(Path(self.path).with_suffix("").parts).removesuffix(".__init__")

    def is_in(self, *folders: str) -> bool:
        """Tell whether it is below one of some folders."""
        return any(self.path.startswith(f"{folder}/") for folder in folders)

    @cached_property
    def all_imports(self) -> tuple[Import, ...]:
        """Everything that it imports, wherever in its text, with what only type checkers see."""
        package = Path(self.path).parts[:-1]
        found: list[Import] = []
        for node, typing_only in _with_conditions(self.tree, typing_only=False):
            if isinstance(node, ast.Import):
                found.extend(Import(node.lineno, alias.name, typing_only) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                parent = ".".join([*base, *filter(None, (node.module,))])
                found.extend(Import(node.lineno, f"{parent}.{alias.name}", typing_only) for alias in node.names)
        return tuple(found)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Absolute dotted names of everything that it imports when it runs."""
        return frozenset(each.name for each in self.all_imports if not each.typing_only)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Every name and string constant of its code; docstrings, which explain, are none."""
        docstrings = {
            id(node.value)
            for node in self.nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        return tuple(word for node in self.nodes if id(node) not in docstrings for word in _words(node))


def within(name: str, *prefixes: str) -> bool:
    """Tell whether a dotted name is one of some packages, or below."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


@functools.cache
def project() -> tuple[Module, ...]:
    """Return every module that the rules hold for, each read and parsed once for all of them."""
    return tuple(modules(*(place for place in SOURCES if (ROOT / place).exists())))


def modules(*places: str) -> list[Module]:
    """Read files, and folders with everything below them."""
    paths = [path for place in places for path in _files(ROOT / place)]
    assert paths, places
    return [_module(path) for path in paths]


@functools.cache
def _module(path: Path) -> Module:
    return Module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _with_conditions(node: ast.AST, *, typing_only: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node below one, and whether it is below ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            branches = (child.body, True), (child.orelse, typing_only)
            for branch, seen_by_checkers_alone in branches:
                for statement in branch:
                    yield statement, seen_by_checkers_alone
                    yield from _with_conditions(statement, typing_only=seen_by_checkers_alone)
        else:
            yield child, typing_only
            yield from _with_conditions(child, typing_only=typing_only)


def _words(node: ast.AST) -> Iterator[Word]:
    line = getattr(node, "lineno", 0)
    match node:
        case ast.Constant(value=str(text)):
            yield Word(line, text, quoted=True)
        case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text):
            yield Word(line, text, quoted=False)
        case ast.keyword(arg=str(text)):
            yield Word(line, text, quoted=False)
        case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text) | ast.ClassDef(name=text):
            yield Word(line, text, quoted=False)
        case ast.alias(name=text, asname=other):
            yield from (Word(line, each, quoted=False) for each in (*text.split("."), other) if each)
        case ast.ImportFrom(module=str(text)):
            yield from (Word(line, each, quoted=False) for each in text.split("."))
        case _:
            return

"""Modules of the project as the rules of its layout see them: what they import, and which words they use."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Word(NamedTuple):
    """A name or a string constant."""

    line: int
    text: str
    quoted: bool
    """Whether it is a string constant."""


@dataclass(frozen=True)
class Module:
    """A module: a file of the project, or a text that is planted to see a rule fail."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """Its dotted name; that of the package for an ``__init__.py``."""
        return ".".join(Path(self.path).with_suffix("").parts).removesuffix(".__init__")

    def is_in(self, *folders: str) -> bool:
        """Tell whether it is below one of some folders."""
        return any(self.path.startswith(f"{folder}/") for folder in folders)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Absolute dotted names of everything that it imports when it runs, wherever in its text."""
        package = Path(self.path).parts[:-1]
        names: set[str] = set()
        for node in _running(self.tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                parent = ".".join([*base, *filter(None, (node.module,))])
                names.update(f"{parent}.{alias.name}" for alias in node.names)
        return frozenset(names)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Every name and string constant of its code; docstrings, which explain, are none."""
        told = set(_docstrings(self.tree))
        return tuple(word for node in ast.walk(self.tree) if id(node) not in told for word in _words(node))


def modules(*places: str) -> list[Module]:
    """Read files, and folders with everything below them."""
    paths = [path for place in places for path in _files(ROOT / place)]
    assert paths, places
    return [Module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: not what stands under ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            yield from (found for other in child.orelse for found in (other, *_running(other)))
        else:
            yield child
            yield from _running(child)


def _docstrings(tree: ast.Module) -> Iterator[int]:
    """Yield the strings that stand alone as a statement: of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


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

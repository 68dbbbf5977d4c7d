"""How large things may be: what is larger is two things, and each has a name."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.layers.modules import Module

FUNCTION = 40
MODULE = 300
FOLDER = 15
"""Lines of a function and of a module, and modules of a folder, at most."""


def long_functions(module: Module) -> Iterator[str]:
    """Yield functions with too many lines, docstring included and decorators not."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION:
                yield f"{module.path}:{node.lineno}: {node.name} has {lines} lines, more than {FUNCTION}"


def long_modules(module: Module) -> Iterator[str]:
    """Yield the module if it has too many lines."""
    lines = len(module.text.splitlines())
    if lines > MODULE:
        yield f"{module.path} has {lines} lines, more than {MODULE}"


def full_folders(modules: Iterable[Module]) -> Iterator[str]:
    """Yield folders with too many modules."""
    counts = Counter(Path(module.path).parent.as_posix() for module in modules)
    for folder, count in sorted(counts.items()):
        if count > FOLDER:
            yield f"{folder} has {count} modules, more than {FOLDER}"

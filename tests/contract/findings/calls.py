"""Every place in the code that says what is wrong, with the rule that it names."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tests.layers.modules import Module

RULES = "RuleId"
_SAYING = {"warn": "WARNING", "note": "NOTE"}
_SEVERITIES = ("WARNING", "NOTE")
_WITH_SEVERITY = ("record", "problem", "Problem")
_OTHERS = ("pulumi", "logging", "warnings", "batch")
"""Modules with a function ``warn`` of their own, and the batch of a migration, whose notes are no findings."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A call that says of something that it works, but hardly as meant, or what was decided.

    Attributes:
        rule: The rule that it names, or how it is come by; empty without one.
    """

    place: str
    rule: str


def sayings(module: Module) -> Iterator[Saying]:
    """Yield the calls of a module that make a warning or a note, or may make one."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _may_be_mild(node):
            yield Saying(f"{module.path}:{node.lineno}", next(_rules(node), ""))


def named_rules(code: ast.AST) -> Iterator[str]:
    """Yield the rules that some code names as ``RuleId.X``."""
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == RULES:
            yield node.attr


def _may_be_mild(call: ast.Call) -> bool:
    name = _name(call.func)
    if name in _SAYING:
        return not (isinstance(call.func, ast.Attribute) and _root(call.func) in _OTHERS)
    return name in _WITH_SEVERITY and any(map(_is_severity, _arguments(call)))


def _is_severity(node: ast.expr) -> bool:
    """Tell whether an argument is a severity that is milder than an error, or one that is found elsewhere."""
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Attribute) and part.attr in _SEVERITIES for part in parts):
        return True
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return last == "severity"


def _rules(call: ast.Call) -> Iterator[str]:
    """Yield what an argument says of the rule: one by its name, or one that came with what was found."""
    for node in _arguments(call):
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == RULES:
                yield part.attr
            elif isinstance(part, ast.Attribute | ast.Name) and _name(part).endswith("rule"):
                yield _name(part)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

"""Comparisons with kinds of workloads, which belong into ``fleet/shapes.py``."""

import ast
import functools
from collections.abc import Iterator, Mapping

from components.fleet.shapes import SHAPES
from tests.layers.modules import Module

HOME = "components/fleet/shapes.py"
_KINDS = frozenset(shape.kind for shape in SHAPES)
_CONSTANTS = frozenset({"DEPLOYMENT", "STATEFUL_SET", "LEADER_WORKER_SET", "WORKLOADS", "SHAPES"})
"""Names of the shapes: a comparison with one of them is a comparison of kinds in other words."""
_SETTINGS = frozenset({"WorkloadChoice"})
"""What has members of these names that a user writes as a setting."""
EXCEPTIONS: Mapping[str, str] = {
    "llmaz/workload.py": "creates the Deployment or the LeaderWorkerSet that it chose",
    "llmd/rendering.py": "upstream's controller scales Deployments alone (WVA spec 2)",
    "llmd/annotations.py": "upstream's controller of v0.9 scales some kinds alone",
    "llmd/successors.py": "a reference to a workload has the API version of its kind",
    "prerequisites/needed.py": "names the chart of each capability, one of which is called like the kind",
}
"""Modules that may compare, by the end of their path, each with the reason."""


def kinds_compared(module: Module) -> Iterator[str]:
    """Yield comparisons, memberships, patterns and keys of maps with kinds of workloads outside their table."""
    if module.path != HOME and not module.path.endswith(tuple(EXCEPTIONS)):
        yield from comparisons(module)


def comparisons(module: Module) -> Iterator[str]:
    """Yield them wherever they are."""
    constants = functools.partial(_is_kind, constants=_assigned(module))
    for node in ast.walk(module.tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                compared = [left, *others]
            case ast.Dict(keys=keys):
                compared = [key for key in keys if key is not None]
            case ast.MatchValue(value=value):
                compared = [value]
            case ast.Subscript(value=owner, slice=key) if not (isinstance(owner, ast.Name) and owner.id == "Literal"):
                compared = [key]
            case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault" | "index" | "count"), args=[key, *_]):
                compared = [key]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" | "removeprefix"), args=[key, *_]):
                compared = [key]
            case _:
                continue
        if any(constants(inner) for value in compared for inner in _parts(value)):
            yield f"{module.path}:{getattr(node, 'lineno', 0)} compares the kind of a workload"


def _assigned(module: Module) -> frozenset[str]:
    """Return the names of constants of a module that have a kind in them, such as ``_KINDS``."""
    found = set()
    for node in module.tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        if value is not None and any(_is_kind(inner, frozenset()) for inner in _parts(value)):
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """Yield what a value is or consists of: the items of tuples, lists, sets and f-strings too."""
    yield value
    match value:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from _parts(item)
        case ast.Dict(keys=keys):
            yield from (key for key in keys if key is not None)
        case ast.Attribute(attr="kind", value=owner):
            yield owner
        case ast.Starred(value=inner):
            yield from _parts(inner)


def _is_kind(value: ast.expr, constants: frozenset[str]) -> bool:
    match value:
        case ast.Constant(value=str(text)):
            return text in _KINDS
        case ast.Attribute(value=ast.Name(id=owner)) if owner in _SETTINGS:
            return False
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _CONSTANTS or name in constants
    return False

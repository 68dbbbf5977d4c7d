"""The sources of a package: definitions, constants and type hints, read without running anything."""

import ast
import copy
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Scope = dict[str, Any]


class UnreadableError(Exception):
    """An expression whose value is only known when the package runs."""


class Module:
    """A parsed module and its top-level definitions, those below ``if`` and ``try`` included."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.tree = ast.parse(path.read_text(encoding="utf-8-sig"))
        self.definitions: dict[str, list[ast.AST]] = {}
        self.checked: dict[str, list[ast.AST]] = {}
        """Definitions that only type checkers see."""
        self._define(self.tree.body, self.definitions)

    def _define(self, body: Sequence[ast.stmt], definitions: dict[str, list[ast.AST]]) -> None:
        for node in body:
            match node:
                case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=checked, orelse=others):
                    self._define(checked, self.checked)
                    self._define(others, definitions)
                case ast.If(body=inner, orelse=others):
                    self._define([*inner, *others], definitions)
                case ast.Try(body=inner, handlers=handlers):
                    self._define([*inner, *(node for handler in handlers for node in handler.body)], definitions)
                case ast.ImportFrom(names=names):
                    for alias in names:
                        definitions.setdefault(alias.asname or alias.name, []).append(node)
                case ast.ClassDef(name=defined) | ast.FunctionDef(name=defined):
                    definitions.setdefault(defined, []).append(node)
                case ast.Assign(targets=[ast.Name(id=defined)], value=value):
                    definitions.setdefault(defined, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=defined), value=ast.expr() as value):
                    definitions.setdefault(defined, []).append(value)


class PackageSources:
    """The modules of an unpacked package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        if name not in self._modules:
            base = self.folder.joinpath(*name.split("."))
            paths = (base.with_suffix(".py"), base / "__init__.py")
            path = next((path for path in paths if path.is_file()), None)
            self._modules[name] = Module(name, path) if path else None
        return self._modules[name]

    def definitions(self, module: Module, name: str, *, checked: bool = False) -> list[tuple[Module, ast.AST]]:
        """Return the definitions of a name, following imports within the package.

        Args:
            module: Where the name is used.
            name: The name.
            checked: Whether to return those that only type checkers see.
        """
        resolved: list[tuple[Module, ast.AST]] = []
        known = module.checked if checked else module.definitions
        for node in known.get(name, known.get("*", [])):
            if not isinstance(node, ast.ImportFrom):
                resolved.append((module, node))
                continue
            parts = module.package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            imported = self.module(".".join([*base, *([node.module] if node.module else [])]))
            original = next((alias.name for alias in node.names if name in (alias.asname, alias.name)), name)
            if imported is not None and imported is not module:
                resolved += self.definitions(imported, original)
        return resolved

    def definition(self, module: Module, node: ast.AST) -> tuple[Module, ast.AST]:
        """Return the one definition that a name, or an attribute of a class, refers to."""
        match node:
            case ast.Name(id=name):
                candidates = self.definitions(module, name)
            case ast.Attribute(value=owner, attr=name):
                home, cls = self.definition(module, owner)
                body = cls.body if isinstance(cls, ast.ClassDef) else []
                assignments = [n for n in body if isinstance(n, ast.Assign | ast.AnnAssign) and target(n) == name]
                assigned = [n.value for n in assignments if n.value is not None]
                candidates = [(home, value) for value in assigned]
            case _:
                candidates = []
        if len(candidates) != 1:
            raise UnreadableError(ast.unparse(node))
        return candidates[0]

    def class_of(self, module: Module, name: str) -> tuple[Module, ast.ClassDef]:
        """Return a class.

        Raises:
            UnreadableError: The package has none of this name there.
        """
        classes = [(home, node) for home, node in self.definitions(module, name) if isinstance(node, ast.ClassDef)]
        if len(classes) != 1:
            raise UnreadableError(name)
        return classes[0]

    def lineage(self, module: Module, cls: ast.ClassDef) -> list[tuple[Module, ast.ClassDef]]:
        """Return a class and its bases within the package, the class first."""
        found = [(module, cls)]
        for base in cls.bases:
            try:
                home, node = self.definition(module, base)
            except UnreadableError:
                continue
            if isinstance(node, ast.ClassDef):
                found += self.lineage(home, node)
        return found

    def constant(self, module: Module, node: ast.AST, scope: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        """Evaluate an expression of constants.

        Raises:
            UnreadableError: Its value depends on anything else.
        """
        scope = scope or {}

        def read(inner: ast.AST) -> Any:  # noqa: ANN401
            return self.constant(module, inner, scope)

        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                values: list[Any] = []
                for item in items:
                    values += read(item.value) if isinstance(item, ast.Starred) else [read(item)]
                return values
            case ast.Dict(keys=[_, *_] as keys) if None not in keys:  # an empty one is filled at run time
                return [read(key) for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
                return read(inner)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -read(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not read(operand)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return read(left) + read(right)
            case ast.Call(func=ast.Name(id="list" | "tuple" | "set" | "sorted" | "frozenset"), args=[inner]):
                return list(read(inner))
            case ast.Call(func=ast.Name(id="get_args"), args=[inner]):
                return [value for hint in self.hints(module, inner) if hint[0] == "literal" for value in hint[1]]
            case ast.ListComp(
                elt=ast.Attribute(value=ast.Name(id=variable), attr="value"),
                generators=[ast.comprehension(target=ast.Name(id=member), iter=members, ifs=[])],
            ) if variable == member:
                home, enum = self.definition(module, members)
                body = enum.body if isinstance(enum, ast.ClassDef) else []
                assigned = [node.value for node in body if isinstance(node, ast.Assign)]
                return [self.constant(home, value) for value in assigned]
            case ast.ListComp(
                elt=ast.Call(func=ast.Attribute(value=joint, attr="join"), args=[ast.Name(id=variable)]),
                generators=[
                    ast.comprehension(
                        target=ast.Name(id=member),
                        iter=ast.Call(func=ast.Name(id="permutations"), args=[inner], keywords=[length]),
                        ifs=[],
                    )
                ],
            ) if variable == member:
                return [read(joint).join(items) for items in itertools.permutations(read(inner), read(length.value))]
            case ast.Call(func=ast.Name(), args=[], keywords=[]):
                return self._returned(*self.definition(module, node.func))
            case ast.Name(id=name) if name in scope:
                if isinstance(scope[name], ast.AST):
                    return self.constant(module, scope[name], {k: v for k, v in scope.items() if k != name})
                raise UnreadableError(name)
            case ast.Name() | ast.Attribute():
                home, value = self.definition(module, node)
                if isinstance(value, ast.ClassDef):
                    raise UnreadableError(ast.unparse(node))
                inside = {} if isinstance(node, ast.Name) else self._attributes(module, node.value)
                return self.constant(home, value, inside)
        raise UnreadableError(ast.unparse(node))

    def _returned(self, module: Module, function: ast.AST) -> Any:  # noqa: ANN401
        """Evaluate what a function without parameters returns at its end, with the names that it imports itself."""
        if not isinstance(function, ast.FunctionDef) or not isinstance(function.body[-1], ast.Return):
            raise UnreadableError(getattr(function, "name", ""))
        inside = copy.copy(module)
        imports = (node for node in function.body if isinstance(node, ast.ImportFrom))
        inside.definitions = module.definitions | {alias.name: [node] for node in imports for alias in node.names}
        return self.constant(inside, function.body[-1].value or ast.Constant(None))

    def _attributes(self, module: Module, owner: ast.expr) -> Scope:
        """Return the attributes of a class, which its own body may refer to by name."""
        _, cls = self.definition(module, owner)
        body = cls.body if isinstance(cls, ast.ClassDef) else []
        assignments = [node for node in body if isinstance(node, ast.Assign | ast.AnnAssign)]
        return {target(node): node.value for node in assignments if target(node)}

    def hints(self, module: Module, node: ast.AST) -> list[tuple[str, Any]]:
        """Split a type hint into its alternatives, each a kind with what it consists of."""
        match node:
            case ast.Constant(value=None):
                return [("none", None)]
            case ast.Constant(value=str(text)):
                return self.hints(module, ast.parse(text, mode="eval").body)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.hints(module, left) + self.hints(module, right)
            case ast.Subscript(value=base, slice=inner):
                return self._generic(module, last_name(base), inner.elts if isinstance(inner, ast.Tuple) else [inner])
            case ast.Name(id="bool" | "int" | "float" | "str" as builtin):
                return [(builtin, None)]
            case ast.Name(id="dict" | "Dict"):
                return [("dict", None)]
            case ast.Name(id=name):
                resolved = self.definitions(module, name)
                hints = [hint for home, found in resolved for hint in self._defined(home, name, found)]
                # At run time the type may be plain `str`; the values for type checkers are those that are known then.
                for home, found in self.definitions(module, name, checked=True):
                    known = [values for kind, values in self._defined(home, name, found) if kind == "literal"]
                    hints += [("known", values) for values in known]
                return hints or [("other", name)]
        return [("other", ast.unparse(node))]

    def elements(self, content: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
        """Return the type hints of the elements of a collection."""
        home, arguments = content
        return self.hints(home, arguments[0])

    def _generic(self, module: Module, base: str, arguments: Sequence[ast.expr]) -> list[tuple[str, Any]]:
        match base:
            case "Union" | "Optional":
                hints = [hint for argument in arguments for hint in self.hints(module, argument)]
                return hints + ([("none", None)] if base == "Optional" else [])
            case "Annotated" | "A" | "SkipValidation":
                return self.hints(module, arguments[0])
            case "Literal":
                values: list[Any] = []
                for argument in arguments:
                    if isinstance(argument, ast.Constant):
                        values.append(argument.value)
                    else:
                        values += [v for kind, vs in self.hints(module, argument) if kind == "literal" for v in vs]
                return [("literal", values)]
            case "list" | "List" | "set" | "Set" | "tuple" | "Tuple":
                return [(base.lower(), (module, arguments))]
            case "dict" | "Dict":
                return [("dict", None)]
        return [("other", base)]

    def _defined(self, home: Module, name: str, node: ast.AST) -> list[tuple[str, Any]]:
        if not isinstance(node, ast.ClassDef):
            return self.hints(home, node)
        lineage = [cls for _, cls in self.lineage(home, node)]
        bases = {last_name(base) for cls in lineage for base in cls.bases}
        if bases & {"Enum", "StrEnum"}:
            return [("enum", [target(n) for n in node.body if isinstance(n, ast.Assign)])]
        if any(
            last_name(d) == "config" or last_name(d).endswith("dataclass")
            for cls in lineage
            for d in cls.decorator_list
        ):
            return [("dataclass", name)]
        return [("dict", None)] if "dict" in bases else [("other", name)]


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name; that of the function of a call, and of the class of a generic type."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return last_name(inner)
    return ""


def target(node: ast.stmt) -> str:
    """Return the variable that a statement assigns; empty for any other statement."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def method_of(lineage: Sequence[tuple[Module, ast.ClassDef]], name: str) -> tuple[Module, ast.FunctionDef] | None:
    """Return the first definition of a method along the bases of a class."""
    for module, cls in lineage:
        for node in cls.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return module, node
    return None


def text_of(node: ast.AST) -> str:
    """Return the text of a constant; empty for any other expression."""
    return str(node.value) if isinstance(node, ast.Constant) else ""

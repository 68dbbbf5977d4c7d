"""The arguments that a release registers, followed in the order in which it builds its parser."""

import abc
import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .sources import Module, PackageSources, Scope, UnreadableError, last_name, method_of, text_of

CONVERTERS = {
    "int": "int",
    "float": "float",
    "str": "string",
    "bool": "string",
    "nullable_kvs": "string",
    "nullable_str": "string",
    "human_readable_int": "human",
    "human_readable_int_or_auto": "human",
    "loads": "json",
    "json_list_type": "json",
    "union_dict_and_str": "json_or_string",
}
"""Types of the tables by the function that converts a value. ``bool`` converts any string: only "" is false."""
DEPRECATED = re.compile(r"\W*(--[\w-]+ is )?deprecated", re.IGNORECASE)


@dataclass
class Option:
    """What one registered argument accepts.

    Attributes:
        negated: Negative spellings beside those with ``--no-``.
        type: A type of the tables; None where it cannot be read.
        values: Choices, or values that are suggested where any string is accepted.
        closed: Whether only these values are accepted.
        members: Whether the argument is a string, and code behind the parser accepts these values alone.
        bounds: Columns of a range that the release states; the tables may state more, from other sources.
        unread: What could not be read.
    """

    names: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    type: str | None = "string"
    values: list[str] = field(default_factory=list)
    closed: bool = False
    members: bool = False
    fold: bool = False
    words: tuple[str, ...] = ()
    nargs: int | str | None = None
    repeat: bool = False
    bounds: dict[str, float] = field(default_factory=dict)
    deprecated: bool = False
    unread: list[str] = field(default_factory=list)

    def form(self) -> dict[str, Any]:
        """Return the columns of a new row; a type that cannot be read accepts every string."""
        kind = "enum" if (self.closed or self.members) and self.type is not None else self.type or "string"
        row: dict[str, Any] = {"type": kind}
        if kind == "enum" or self.values:
            row["values"] = list(dict.fromkeys(self.values))
        if kind == "enum" and self.fold:
            row["fold"] = True
        if self.words:
            row["words"] = list(self.words)
        if self.nargs is not None:
            row["nargs"] = self.nargs
        if self.repeat:
            row["repeat"] = True
        return row | self.bounds


@dataclass
class EngineRelease:
    """The options of a release, and what could not be read.

    Attributes:
        unread: Details that could not be read: types, choices, hooks of plugins.
        complete: Whether the spelling of every flag was read.
    """

    options: list[Option] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    complete: bool = True


class Reader(abc.ABC):
    """Follows the functions that register the arguments of a server."""

    def __init__(self, sources: PackageSources) -> None:
        self.sources = sources
        self.release = EngineRelease()

    @abc.abstractmethod
    def read(self) -> EngineRelease:
        """Return what the server's parser accepts."""

    def note(self, module: Module, node: ast.AST, text: str) -> None:
        place = f"{module.name.replace('.', '/')}.py:{getattr(node, 'lineno', 0)}"
        self.release.unread.append(f"{place}: {text}")

    def follow(self, module: Module, function: ast.FunctionDef, scope: Scope) -> None:
        """Read a function as it runs with the defaults of its other parameters."""
        arguments = function.args
        positional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
        for argument, default in zip(positional, arguments.defaults, strict=True):
            scope.setdefault(argument.arg, default)
        self.body(module, function.body, scope)

    def body(self, module: Module, body: Sequence[ast.stmt], scope: Scope) -> None:
        for node in body:
            try:
                self.statement(module, node, scope)
            except UnreadableError:
                self.note(module, node, ast.unparse(node))

    def statement(self, module: Module, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.If(test=test, body=inner, orelse=others):
                try:
                    self.body(module, inner if self.sources.constant(module, test, scope) else others, scope)
                except UnreadableError:
                    before = len(self.release.options)
                    for name in _mutated(inner) | _mutated(others):
                        if isinstance(scope.get(name), ast.AST):
                            scope[name] = None  # its value depends on the condition
                    self.body(module, inner, scope)
                    self.body(module, others, scope)
                    for option in self.release.options[before:]:
                        self.note(module, node, f"{option.names[0]} is registered if {ast.unparse(test)}")
            case ast.Expr(value=ast.Call() as call) | ast.Return(value=ast.Call() as call):
                self.call(module, call, scope)
            case ast.Assign(targets=[target], value=value):
                self.assign(module, target, value, scope)
            case ast.For():
                self.loop(module, node, scope)
            case ast.AugAssign(target=ast.Subscript(value=owner, slice=key), op=ast.Add()) if (
                text_of(key) == "choices"
            ):
                self.option(module, owner, scope).values += self.sources.constant(module, node.value, scope)
            case ast.Delete(targets=[ast.Subscript() as target]):
                self.keyword(module, self.option(module, target.value, scope), text_of(target.slice), None, scope)
            case _:
                self.unknown_names(module, node)

    def call(self, module: Module, call: ast.Call, scope: Scope) -> None:
        match call.func:
            case ast.Attribute(attr="add_argument"):
                self.add_argument(module, call, scope)
            case ast.Attribute(attr="add_cli_args", value=ast.Name(id=owner)):
                self.add_class(module, call, owner)
            case ast.Name(id=name) if _takes_parser(call):
                self.add_function(module, call, name)
            case ast.Attribute(attr="remove", value=ast.Subscript(value=target, slice=key)) if (
                text_of(key) == "choices"
            ):
                option = self.option(module, target, scope)
                try:
                    option.values.remove(str(self.sources.constant(module, call.args[0], scope)))
                except (UnreadableError, ValueError):
                    self.note(module, call, ast.unparse(call))
            case _ if _takes_parser(call):  # a hook of the platform, or of plugins
                self.note(module, call, f"{ast.unparse(call)} may register more")

    def assign(self, module: Module, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        match target, value:
            case ast.Name(), ast.Call() if _takes_parser(value):
                self.call(module, value, scope)
            case ast.Name(id=name), _:
                scope[name] = value
            case ast.Subscript(value=owner, slice=key), _:
                self.keyword(module, self.option(module, owner, scope), text_of(key), value, scope)

    def option(self, module: Module, node: ast.AST, scope: Scope) -> Option:  # noqa: ARG002
        """Return the option that an expression such as ``kwargs["name"]`` refers to, where an engine has such."""
        raise UnreadableError(ast.unparse(node))

    def loop(self, module: Module, node: ast.For, scope: Scope) -> None:
        """Read ``for name, kind in [("--flag", str), ...]`` once per item."""
        match node:
            case ast.For(target=ast.Tuple(elts=names), iter=ast.List(elts=items)) if all(
                isinstance(item, ast.Tuple) and len(item.elts) == len(names) for item in items
            ):
                for item in items:
                    values = item.elts if isinstance(item, ast.Tuple) else []
                    self.body(module, node.body, scope | dict(zip(map(last_name, names), values, strict=True)))
            case _:
                self.unknown_names(module, node)

    def unknown_names(self, module: Module, node: ast.AST) -> None:
        """Note arguments whose spelling cannot be read: the release cannot be listed as complete."""
        if any(isinstance(inner, ast.Call) and last_name(inner) == "add_argument" for inner in ast.walk(node)):
            self.note(module, node, f"the spelling of {ast.unparse(node)[:80]!r}")
            self.release.complete = False

    def add_class(self, module: Module, call: ast.Call, owner: str) -> None:
        """Follow ``Owner.add_cli_args(parser)``."""
        try:
            home, cls = self.sources.class_of(module, owner)
        except UnreadableError:
            self.note(module, call, f"{ast.unparse(call)} may register more")
            self.release.complete = False
            return
        lineage = self.sources.lineage(home, cls)
        method = method_of(lineage, "add_cli_args")
        if method is not None:
            self.follow(*method, {"cls": lineage, "parser": None})

    def add_function(self, module: Module, call: ast.Call, name: str) -> None:
        """Follow ``function(parser)``."""
        functions = self.sources.definitions(module, name)
        if len(functions) == 1 and isinstance(functions[0][1], ast.FunctionDef):
            self.follow(functions[0][0], functions[0][1], {})
        else:
            self.note(module, call, f"{ast.unparse(call)} may register more")
            self.release.complete = False

    def add_argument(self, module: Module, call: ast.Call, scope: Scope) -> None:
        try:
            names = tuple(str(self.sources.constant(module, argument, scope)) for argument in call.args)
        except UnreadableError:
            self.unknown_names(module, call)
            return
        if not all(name.startswith("-") for name in names):
            return
        option = Option()
        for keyword in call.keywords:
            if keyword.arg is None:
                try:
                    option = self.option(module, keyword.value, scope)
                except UnreadableError:
                    option = Option(type=None, unread=[ast.unparse(keyword.value)])
        option = replace(option, names=names, unread=list(option.unread), values=list(option.values))
        # An action's default number of values gives way to `nargs` of the call.
        for keyword in sorted(call.keywords, key=lambda keyword: keyword.arg != "action"):
            if keyword.arg is not None:
                self.keyword(module, option, keyword.arg, keyword.value, scope)
        self.add(module, call, option)

    def add(self, module: Module, node: ast.AST, option: Option) -> None:
        for text in option.unread:
            self.note(module, node, f"{option.names[0]}: {text}")
        self.release.options.append(option)

    def keyword(self, module: Module, option: Option, key: str, value: ast.expr | None, scope: Scope) -> None:
        """Apply a keyword argument of ``add_argument``; None removes it."""
        try:
            match key, value:
                case "nargs", None:
                    option.nargs = None
                case "nargs", ast.expr():
                    option.nargs = self.sources.constant(module, value, scope)
                    if option.type == "switch":
                        option.type = "string"
                case "type", ast.expr():
                    self.set_type(
                        module, option, scope.get(value.id, value) if isinstance(value, ast.Name) else value
                    )
                case "choices", ast.expr():
                    option.closed = True
                    values = self.sources.constant(module, value, scope)
                    option.values = [str(item) for item in values if item is not None]
                case "action", ast.expr():
                    self.set_action(module, option, value)
                case "deprecated", ast.expr():
                    option.deprecated = bool(self.sources.constant(module, value, scope))
                case "help", ast.expr():
                    if DEPRECATED.match(str(self.sources.constant(module, value, scope))):
                        option.deprecated = True
        except UnreadableError:
            if key != "help" and value is not None:
                option.unread.append(f"{key} {ast.unparse(value)}")
                option.type = None

    def set_type(self, module: Module, option: Option, node: ast.expr) -> None:
        """Read what converts the value."""
        match node:
            case ast.Call(func=ast.Name(id="optional_type" | "parse_type"), args=[inner]):
                self.set_type(module, option, inner)
            case ast.Lambda() if ".lower()" in ast.unparse(node) or ".upper()" in ast.unparse(node):
                option.fold = True
            case _:
                converted = CONVERTERS.get(last_name(node)) if isinstance(node, ast.Name | ast.Attribute) else None
                if converted is None:
                    converted = self.converter(module, node)
                option.type = converted
                option.words = ("auto",) if last_name(node) == "human_readable_int_or_auto" else ()

    def converter(self, module: Module, node: ast.expr) -> str:
        """Return the type that a function of the package reads: a string if it returns one."""
        _, function = self.sources.definition(module, node)
        if (
            isinstance(function, ast.FunctionDef)
            and function.returns is not None
            and last_name(function.returns) == "str"
        ):
            return "string"
        raise UnreadableError(ast.unparse(node))

    def set_action(self, module: Module, option: Option, node: ast.expr) -> None:
        name = node.value if isinstance(node, ast.Constant) else last_name(node)
        if name in ("store_true", "store_false", "store_const", "count", "help", "version"):
            option.type = "switch"
        elif name == "BooleanOptionalAction":
            option.type = "bool"
        elif name == "append":
            option.repeat = True
        elif name == "StoreBoolean":  # an action of vLLM's that reads these words, in any case
            option.values, option.members, option.fold = ["true", "false"], True, True
        elif name not in ("store", "extend"):
            home, cls = self.sources.definition(module, node)
            init = method_of(self.sources.lineage(home, cls), "__init__") if isinstance(cls, ast.ClassDef) else None
            arguments = init[1].args if init else ast.arguments([], [], None, [], [], None, [])
            defaults = arguments.args[len(arguments.args) - len(arguments.defaults) :]
            for argument, default in zip(defaults, arguments.defaults, strict=True):
                if argument.arg == "nargs" and isinstance(default, ast.Constant) and default.value == 0:
                    option.type = "switch"
            option.deprecated = option.deprecated or str(name).startswith("Deprecated")


def _takes_parser(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Name) and argument.id in ("parser", "group") for argument in call.args)


def _mutated(body: Sequence[ast.stmt]) -> set[str]:
    """Return the variables that statements assign, or call a method of."""
    names: set[str] = set()
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                names.add(name)
    return names

"""Reads the arguments of vLLM's server."""

import ast
from dataclasses import replace

from .options import EngineRelease, Option, Reader
from .sources import Module, Scope, UnreadableError, last_name, method_of, text_of

BOUNDS = {"ge": "min", "le": "max", "gt": "above", "lt": "below"}
"""Keyword arguments of Pydantic's ``Field``, and the columns that state them."""
SUBCOMMANDS = ("vllm.scripts", "vllm.entrypoints.cli.serve")
"""Where releases before 0.10 define the subcommand ``serve``."""
INVERSES = {"--enable-": "--disable-", "--disable-": "--enable-"}
"""What ``EnableDisableAction`` of the release's parser, where it has one, adds for every flag that is a bool."""


class VllmReader(Reader):
    """Reads the fields of vLLM's configuration classes as its ``get_kwargs`` does."""

    def read(self) -> EngineRelease:
        paths = sorted((self.sources.folder / "vllm" / "entrypoints").rglob("cli_args.py"))
        for path in paths:  # the front end's module moved several times
            module = self.sources.module(".".join(path.relative_to(self.sources.folder).with_suffix("").parts))
            function = module.definitions.get("make_arg_parser", [None])[0] if module else None
            if module and isinstance(function, ast.FunctionDef):
                self.humans = self.human_fields()
                self.follow(module, function, {"parser": None})
                self.add_subcommand()
                self.add_inverses()
                return self.release
        raise SystemExit("no make_arg_parser below vllm/entrypoints: is this the folder of an unpacked vLLM?")

    def add_subcommand(self) -> None:
        """Read what ``vllm serve`` itself registers; the parsers of other subcommands are beside its own."""
        for module in filter(None, map(self.sources.module, SUBCOMMANDS)):
            for node in ast.walk(module.tree):
                match node:
                    case ast.Call(func=ast.Attribute(attr="add_argument", value=ast.Name(id="serve_parser"))):
                        self.add_argument(module, node, {})

    def add_inverses(self) -> None:
        module = self.sources.module("vllm.utils.argparse_utils")
        if module is None or "EnableDisableAction" not in module.definitions:
            return
        for option in self.release.options:
            if option.type == "bool":
                option.negated = tuple(
                    inverse + name.removeprefix(prefix)
                    for name in option.names
                    for prefix, inverse in INVERSES.items()
                    if name.startswith(prefix)
                )

    def human_fields(self) -> dict[str, str]:
        """Return the fields that accept numbers such as 1k, each with the function that converts them."""
        module = self.sources.module("vllm.engine.arg_utils")
        fields: dict[str, str] = {}
        named: Scope = {}
        for node in ast.walk(module.tree) if module else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Set() as value):
                    named[name] = value
                case ast.If(test=ast.Compare(left=ast.Name(id="name"), comparators=[compared]), body=body):
                    types = [last_name(n.value) for n in body if isinstance(n, ast.Assign) and _is_type(n.targets[0])]
                    if module and types and types[0].startswith("human_readable"):
                        try:
                            names = self.sources.constant(module, compared, named)
                        except UnreadableError as error:
                            self.note(module, node, f"fields with human-readable numbers: {error}")
                            continue
                        fields |= dict.fromkeys(names if isinstance(names, list) else [names], types[0])
        return fields

    def call(self, module: Module, call: ast.Call, scope: Scope) -> None:
        if last_name(call) == "_customize_cli_kwargs":
            self.customize(call, scope)
        else:
            super().call(module, call, scope)

    def assign(self, module: Module, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        match target, value:
            case ast.Name(id=name), ast.Call(func=ast.Name(id="get_kwargs"), args=[ast.Name(id=owner)]):
                scope[name] = self.kwargs(module, owner, scope)
            case ast.Name(), ast.Call() if last_name(value) == "_customize_cli_kwargs":
                self.customize(value, scope)
            case ast.Name(id=name), ast.Subscript():
                try:
                    scope[name] = self.option(module, value, scope)
                except UnreadableError:
                    scope[name] = value
            case _:
                super().assign(module, target, value, scope)

    def customize(self, call: ast.Call, scope: Scope) -> None:
        """Follow ``_customize_cli_kwargs`` of the class, or of its bases where it is called by ``super()``."""
        lineage = scope["cls"]
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            lineage = lineage[1:]
        method = method_of(lineage, "_customize_cli_kwargs")
        if method is not None:
            kwargs = next(value for value in scope.values() if isinstance(value, dict))
            self.follow(*method, {"cls": lineage, method[1].args.args[-1].arg: kwargs})

    def loop(self, module: Module, node: ast.For, scope: Scope) -> None:
        """Read ``for key, value in kwargs.items(): add_argument(f"--{key...}", **value)``."""
        match node.iter:
            case ast.Call(func=ast.Attribute(attr="items", value=ast.Name(id=name))) if isinstance(scope[name], dict):
                for key, option in scope[name].items():
                    self.add(module, node, replace(option, names=(f"--{key.replace('_', '-')}",)))
            case _:
                super().loop(module, node, scope)

    def option(self, module: Module, node: ast.AST, scope: Scope) -> Option:
        match node:
            case ast.Name(id=name) if isinstance(scope.get(name), Option):
                found = scope[name]
            case ast.Subscript(value=ast.Name(id=name), slice=key) if isinstance(scope.get(name), dict):
                found = scope[name].get(text_of(key))
            case ast.Subscript(value=ast.Call(func=ast.Name(id="get_kwargs"), args=[ast.Name(id=owner)]), slice=key):
                found = self.kwargs(module, owner, scope).get(text_of(key))
            case ast.Dict(keys=[None, *_], values=[inner, *_]):  # {**kwargs["name"], "default": None}
                found = replace(self.option(module, inner, scope))
                for keyword, value in list(zip(node.keys, node.values, strict=True))[1:]:
                    self.keyword(module, found, text_of(keyword) if keyword else "", value, scope)
            case _:
                found = None
        if not isinstance(found, Option):
            raise UnreadableError(ast.unparse(node))
        return found

    def kwargs(self, module: Module, owner: str, scope: Scope) -> dict[str, Option]:
        """Return the options of the fields of a class."""
        try:
            lineage = scope["cls"] if owner == "cls" else self.sources.lineage(*self.sources.class_of(module, owner))
        except UnreadableError:
            return {}
        options: dict[str, Option] = {}
        for home, cls in reversed(lineage):
            for node in cls.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    name = node.target.id
                    if last_name(getattr(node.annotation, "value", node.annotation)) not in ("ClassVar", "InitVar"):
                        options[name] = self.field_option(home, cls, name, node)
        return options

    def field_option(self, module: Module, cls: ast.ClassDef, name: str, node: ast.AnnAssign) -> Option:
        """Read one field in the order of vLLM's ``_compute_kwargs``: the first kind that matches decides."""
        hints = self.sources.hints(module, node.annotation)
        kinds = {kind for kind, _ in hints}
        option = Option()
        literals = [value for kind, values in hints if kind == "literal" for value in values]
        members = next((names for kind, names in hints if kind == "enum"), None)
        option.values = [str(value) for kind, values in hints if kind == "known" for value in values]
        kinds.discard("known")
        collection = next((hint for hint in hints if hint[0] in ("tuple", "list", "set")), None)
        if "dataclass" in kinds:
            option.type = "json"
        elif kinds == {"bool", "str", "none"}:
            option.nargs = "?"
        elif "bool" in kinds:
            option.type = "bool"
        elif literals:
            option.values = [str(value) for value in literals]
            option.closed = "str" not in kinds
        elif collection is not None:
            elements, (_, arguments) = self.sources.elements(collection[1]), collection[1]
            unbounded = collection[0] != "tuple" or text_of(arguments[-1]) == "Ellipsis"
            option.nargs = "+" if unbounded else len(arguments)
            values = [value for kind, found in elements if kind == "literal" for value in found]
            option.values, option.closed = [str(value) for value in values], bool(values)
            if len(elements) == 1 and elements[0][0] in ("int", "float"):
                option.type = elements[0][0]
        elif "int" in kinds:
            human = self.humans.get(name)
            option.type = "human" if human else "int"
            option.words = ("auto",) if human == "human_readable_int_or_auto" else ()
        elif "float" in kinds:
            option.type = "float"
        elif "dict" in kinds:
            option.type = "json_or_string" if kinds - {"dict", "none"} else "json"
        elif members is not None:
            words, option.fold = _accepted_words(cls, name)
            option.values, option.members = [*words, *members], True
        self.set_bounds(module, option, node)
        return option

    def set_bounds(self, module: Module, option: Option, node: ast.AnnAssign) -> None:
        """Read the range of a number from Pydantic's ``Field``."""
        if option.type not in ("int", "human", "float") or not isinstance(node.value, ast.Call):
            return
        for keyword in node.value.keywords if last_name(node.value) == "Field" else ():
            if keyword.arg in BOUNDS:
                try:
                    option.bounds[BOUNDS[keyword.arg]] = self.sources.constant(module, keyword.value)
                except UnreadableError as error:
                    option.unread.append(f"{keyword.arg} {error}")


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and text_of(node.slice) == "type"


def _accepted_words(cls: ast.ClassDef, name: str) -> tuple[list[str], bool]:
    """Return the words that an enum's validator accepts beside its members, and whether it folds case."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(call, ast.Call) and name in map(text_of, call.args) for call in node.decorator_list
        ):
            branches = [inner for inner in ast.walk(node) if isinstance(inner, ast.If)]
            compared = [
                inner
                for branch in branches
                if not isinstance(branch.body[0], ast.Raise)  # a word that the validator names to refuse it
                for inner in ast.walk(branch.test)
                if isinstance(inner, ast.Compare)
            ]
            words = [text_of(inner.comparators[0]) for inner in compared if isinstance(inner.ops[0], ast.Eq)]
            return [word for word in words if word], ".upper()" in ast.unparse(node)
    return [], False

"""Reads the arguments of SGLang's server."""

import ast
from collections.abc import Mapping
from typing import Any

from .options import EngineRelease, Option, Reader
from .sources import Module, Scope, UnreadableError, last_name, text_of


class SglangReader(Reader):
    """Reads SGLang's annotated fields as its ``add_cli_args_from_dataclass`` does."""

    def read(self) -> EngineRelease:
        module = self.sources.module("sglang.srt.server_args")
        if module is None:
            raise SystemExit("no sglang/srt/server_args.py: is this the folder of an unpacked SGLang?")
        call = ast.parse("ServerArgs.add_cli_args(parser)", mode="eval").body
        self.call(module, call, {}) if isinstance(call, ast.Call) else None
        return self.release

    def call(self, module: Module, call: ast.Call, scope: Scope) -> None:
        if last_name(call) != "add_cli_args_from_dataclass":
            super().call(module, call, scope)
            return
        # ServerArgs has fields of its own, or is assembled from the classes of a list.
        collected = [
            n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and last_name(n) == "collect_input_fields"
        ]
        classes = collected[0].args[0] if collected else ast.List([ast.Name(last_name(call.args[1]))])
        if isinstance(classes, ast.Name):
            classes = next((n for n in module.definitions.get(classes.id, ()) if isinstance(n, ast.expr)), classes)
        names = [last_name(item) for item in classes.elts] if isinstance(classes, ast.List | ast.Tuple) else []
        if not names:
            self.note(module, call, ast.unparse(call))
            self.release.complete = False
        for name in names:
            try:
                home, cls = self.sources.class_of(module, name)
            except UnreadableError:
                self.note(module, call, f"the fields of {name}")
                self.release.complete = False
                continue
            for node in cls.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    self.field(home, node, node.target.id)

    def field(self, module: Module, node: ast.AnnAssign, name: str) -> None:
        match node.annotation:
            case ast.Subscript(value=ast.Name(id="A" | "Annotated"), slice=ast.Tuple(elts=[hint, *rest])):
                texts = [item for item in rest if last_name(item) == "Arg" or not isinstance(item, ast.Call)]
            case _:
                return  # registered by a call, or not at all
        if not texts:
            return
        keywords = {k.arg: k.value for k in texts[0].keywords if k.arg} if isinstance(texts[0], ast.Call) else {}
        keywords = {key: value for key, value in keywords.items() if text_of(value) != "None"}
        if "no_cli" in keywords and text_of(keywords["no_cli"]) == "True":
            return
        option = Option(names=(f"--{name.replace('_', '-')}",))
        try:
            if "cli_name" in keywords:
                option.names = (self.sources.constant(module, keywords["cli_name"]),)
            if "aliases" in keywords:
                option.names += tuple(self.sources.constant(module, keywords["aliases"]))
        except UnreadableError as error:
            self.note(module, node, f"the spelling of {name}: {error}")
            self.release.complete = False
            return
        if not option.names[0].startswith("-"):
            return
        if "help" in keywords or isinstance(texts[0], ast.expr):
            self.keyword(module, option, "help", keywords.get("help", texts[0]), {})
        if "action" in keywords:
            self.keyword(module, option, "action", keywords["action"], {})
            extra = keywords.get("action_kwargs")
            if isinstance(extra, ast.Dict):
                for key, value in zip(extra.keys, extra.values, strict=True):
                    self.keyword(module, option, text_of(key) if key else "", value, {})
        else:
            self.set_field_type(module, option, hint, keywords)
        self.add(module, node, option)

    def set_field_type(
        self, module: Module, option: Option, hint: ast.expr, keywords: Mapping[str, ast.expr]
    ) -> None:
        hints = [found for found in self.sources.hints(module, hint) if found[0] != "none"]
        kind: str
        content: Any
        kind, content = hints[0] if len(hints) == 1 else ("other", None)
        converter = keywords.get("type_parser")
        if kind == "literal":
            option.values, option.closed = [str(value) for value in content], True
        elif kind == "list" and converter is None:
            element = self.sources.elements(content)[0][0]
            option.type, option.nargs = element if element in ("int", "float") else "string", "+"
        elif kind == "bool":
            option.type = "switch"
            return
        elif kind in ("int", "float"):
            option.type = kind
        if converter is not None:
            self.keyword(module, option, "type", converter, {})
        for key in ("choices", "nargs"):
            if key in keywords and (key, kind) != ("nargs", "literal"):
                self.keyword(module, option, key, keywords[key], {})

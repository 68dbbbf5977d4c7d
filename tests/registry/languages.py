"""The text of an example program in each language of Pulumi, with the names that code generators give the SDKs."""

import itertools
import json
import re
from collections.abc import Iterable, Mapping

import yaml

from tests.registry.programs import (
    Entries,
    Fields,
    Items,
    Literal,
    Program,
    Reference,
    Resource,
    Schema,
    Value,
    is_any,
    references,
)

_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WIDTH = 88
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def texts(program: Program, modules: Mapping[str, str]) -> dict[str, str]:
    """Return the program by language.

    Args:
        program: The example.
        modules: Python module of each component.
    """
    return {
        "typescript": _typescript(program),
        "python": _python(program, modules),
        "go": _go(program),
        "csharp": _csharp(program),
        "java": _java(program),
        "yaml": _yaml(program),
    }


def _block(opening: str, parts: Iterable[str], closing: str, comma: str = ",") -> str:
    """Return the parts on one line if they are short, otherwise each on a line of its own."""
    listed = list(parts)
    if not listed:
        return opening + closing
    line = f"{opening}{', '.join(listed)}{closing}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return _lines(opening, listed, closing, comma)


def _lines(opening: str, parts: Iterable[str], closing: str, comma: str = ",") -> str:
    indented = "".join(f"    {part}{comma}\n".replace("\n", "\n    ").removesuffix("    ") for part in parts)
    return f"{opening.rstrip()}\n{indented}{closing.lstrip()}"


def _quoted(value: str) -> str:
    return json.dumps(value)


def _literal(value: Literal) -> str:
    return json.dumps(value.value)


# TypeScript


def _typescript(program: Program) -> str:
    package = f"@{program.schema['namespace']}/{program.schema['name']}"
    head = f"import * as platform from {_quoted(package)};\n\n"
    return head + "".join(
        f"const {each.name} = new platform.{each.component}({_quoted(each.name)}"
        + (f", {_typescript_value(each.arguments)}" if each.arguments.values else "")
        + ");\n"
        for each in program.resources
    )


def _typescript_value(value: Value) -> str:
    match value:
        case Reference():
            return f"{value.resource}.{value.output}"
        case Literal():
            return _literal(value)
        case Items():
            return _block("[", map(_typescript_value, value.values), "]")
        case Entries() | Fields():
            keys = {key: key if _IDENTIFIER.fullmatch(key) else _quoted(key) for key in value.values}
            parts = (f"{keys[key]}: {_typescript_value(each)}" for key, each in value.values.items())
            return _block("{ ", parts, " }") if value.values else "{}"


# Python: the components themselves, and not a generated SDK


def _python(program: Program, modules: Mapping[str, str]) -> str:
    names: dict[str, set[str]] = {}
    for each in program.resources:
        names.setdefault(modules[each.component], set()).add(each.component)
    imports = "".join(f"from {module} import {', '.join(sorted(found))}\n" for module, found in sorted(names.items()))
    return f"{imports}\n" + "".join(
        _block(f"{_snake(each.name)} = {each.component}(", [_quoted(each.name), _python_value(each.arguments)], ")")
        + "\n"
        for each in program.resources
    )


def _snake(name: str) -> str:
    return _SNAKE.sub("_", name).lower()


def _python_value(value: Value) -> str:
    match value:
        case Reference():
            return f"{_snake(value.resource)}.{_snake(value.output)}"
        case Literal():
            return repr(value.value) if isinstance(value.value, bool) else _literal(value)
        case Items():
            return _block("[", map(_python_value, value.values), "]")
        case Entries():
            return _block("{", (f"{_quoted(key)}: {_python_value(each)}" for key, each in value.values.items()), "}")
        case Fields():
            parts = (f"{_quoted(_snake(key))}: {_python_value(each)}" for key, each in value.values.items())
            return _block("{", parts, "}")


# Go

_GO_PLAIN = {"string": "string", "integer": "int", "number": "float64", "boolean": "bool", "any": "interface{}"}
_GO_INPUT = {"string": "String", "integer": "Int", "number": "Float64", "boolean": "Bool", "any": "Any"}
_GO_POINTER = {"string": "StringRef", "integer": "IntRef", "number": "Float64Ref", "boolean": "BoolRef"}


def _go(program: Program) -> str:
    path = program.schema["language"]["go"]["importBasePath"]
    package = path.rpartition("/")[2]
    used = {reference.resource for each in program.resources for reference in references(each.arguments)}
    body = "".join(
        _go_resource(each, package, assigned=each.name in used, first=each is program.resources[0])
        for each in program.resources
    )
    imports = "".join(f"\t{_quoted(each)}\n" for each in (path, "github.com/pulumi/pulumi/sdk/v3/go/pulumi"))
    return (
        f"package main\n\nimport (\n{imports})\n\n"
        f"func main() {{\n\tpulumi.Run(func(ctx *pulumi.Context) error {{\n{body}\t\treturn nil\n\t}})\n}}\n"
    )


def _go_resource(resource: Resource, package: str, *, assigned: bool, first: bool) -> str:
    target = f"{resource.name}, err :=" if assigned else "_, err :=" if first else "_, err ="
    fields = _go_fields(resource.arguments, package)
    arguments = _lines(f"&{package}.{resource.component}Args{{", _aligned(fields), "}") if fields else "nil"
    call = f"{target} {package}.New{resource.component}(ctx, {_quoted(resource.name)}, {arguments})\n"
    text = f"{call}if err != nil {{\n    return err\n}}\n"
    return "".join(f"\t\t{_tabs(line)}\n" for line in text.splitlines())


def _tabs(line: str) -> str:
    spaces = len(line) - len(line.lstrip(" "))
    return "\t" * (spaces // 4) + line.lstrip(" ")


def _go_name(key: str) -> str:
    return key[:1].upper() + key[1:]


def _aligned(parts: list[str]) -> list[str]:
    """Align the values of consecutive entries on one line each, as gofmt does."""
    aligned: list[str] = []
    for several, group in itertools.groupby(parts, lambda part: "\n" in part):
        entries = [part.partition(": ") for part in group]
        width = 0 if several else max(len(key) for key, _, _ in entries)
        aligned += [f"{key}:".ljust(width + 1) + f" {value}" for key, _, value in entries]
    return aligned


def _go_block(opening: str, parts: list[str]) -> str:
    block = _block(opening, parts, "}")
    return _lines(opening, _aligned(parts), "}") if "\n" in block else block


def _go_fields(value: Fields, package: str) -> list[str]:
    return [
        f"{_go_name(key)}: {_go_value(each, package, optional=key not in value.required)}"
        for key, each in value.values.items()
    ]


def _go_value(value: Value, package: str, *, optional: bool = False) -> str:
    match value:
        case Reference():
            return f"{value.resource}.{_go_name(value.output)}"
        case Literal(plain=True):
            optional = optional and value.type in _GO_POINTER
            return f"pulumi.{_GO_POINTER[value.type]}({_literal(value)})" if optional else _literal(value)
        case Literal():
            return f"pulumi.{_GO_INPUT[value.type]}({_literal(value)})"
        case Items():
            return _block(f"{_go_list(value, package)}{{", (_go_value(each, package) for each in value.values), "}")
        case Entries():
            parts = [f"{_quoted(key)}: {_go_value(each, package)}" for key, each in value.values.items()]
            return _go_block(f"{_go_map(value, package)}{{", parts)
        case Fields():
            pointer = "&" if optional else ""
            return _go_block(f"{pointer}{package}.{value.name}Args{{", _go_fields(value, package))


def _go_list(value: Items, package: str) -> str:
    if value.plain:
        return f"[]{_go_type(value.element, package)}"
    return "pulumi.MapArray" if value.element.get("type") == "object" else f"pulumi.{_go_input(value.element)}Array"


def _go_map(value: Entries, package: str) -> str:
    if value.plain:
        return f"map[string]{_go_type(value.element, package)}"
    return "pulumi.Map" if is_any(value.element) else f"pulumi.{_go_input(value.element)}Map"


def _go_input(spec: Schema) -> str:
    return _GO_INPUT[spec.get("type", "any")]


def _go_type(spec: Schema, package: str) -> str:
    """Return the Go type of an element of a plain list or map."""
    declared: str = spec.get("$ref", "")
    if is_any(spec):
        return "interface{}"
    if declared:
        return f"{package}.{declared.rpartition(':')[2]}Args"
    if spec["type"] == "array":
        return f"[]{_go_type(spec['items'], package)}"
    if spec["type"] == "object":
        return f"map[string]{_go_type(spec.get('additionalProperties', {'type': 'string'}), package)}"
    return _GO_PLAIN[spec["type"]] if spec.get("plain") else f"pulumi.{_go_input(spec)}Input"


# C#


def _pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def _csharp(program: Program) -> str:
    namespace = "".join(map(_pascal, program.schema["name"].split("-")))
    root = program.schema["language"]["csharp"]["rootNamespace"]
    head = f"using System.Collections.Generic;\nusing Pulumi;\nusing {namespace} = {root}.{namespace};\n\n"
    body = (
        f"var {each.name} = new {namespace}.{each.component}({_quoted(each.name)}"
        + (f", {_csharp_fields('new()', each.arguments, namespace)}" if each.arguments.values else "")
        + ");\n"
        for each in program.resources
    )
    lines = "".join(body).splitlines()
    return (
        f"{head}return await Deployment.RunAsync(() =>\n{{\n" + "".join(f"    {each}\n" for each in lines) + "});\n"
    )


def _csharp_fields(opening: str, value: Fields, namespace: str) -> str:
    parts = [f"{_pascal(key)} = {_csharp_value(each, namespace)}" for key, each in value.values.items()]
    return _block(f"{opening} {{ ", parts, " }")


def _csharp_value(value: Value, namespace: str) -> str:
    match value:
        case Reference():
            return f"{value.resource}.{_pascal(value.output)}"
        case Literal():
            return _literal(value)
        case Items():
            untyped = is_any(value.element)
            opening = "new object[] { " if untyped else "new() { "
            return _block(opening, (_csharp_value(each, namespace) for each in value.values), " }")
        case Entries():
            parts = (f"[{_quoted(key)}] = {_csharp_value(each, namespace)}" for key, each in value.values.items())
            opening = "new Dictionary<string, object> { " if is_any(value.element) else "new() { "
            return _block(opening, parts, " }")
        case Fields():
            return _csharp_fields(f"new {namespace}.Inputs.{value.name}Args", value, namespace)


# Java


def _java(program: Program) -> str:
    package = program.schema["language"]["java"]["basePackage"] + "." + program.schema["name"].replace("-", "")
    found: set[str] = {"com.pulumi.Pulumi"}
    body = ""
    for each in program.resources:
        found |= {f"{package}.{each.component}", *_java_imports(each.arguments, package, top=True)}
        arguments = f", {_java_fields(each.arguments)}" if each.arguments.values else ""
        body += f"var {each.name} = new {each.component}({_quoted(each.name)}{arguments});\n"
    imports = "".join(f"import {name};\n" for name in sorted(found))
    lines = "".join(f"            {line}\n" for line in body.splitlines())
    return (
        f"{imports}\npublic class App {{\n    public static void main(String[] args) {{\n"
        f"        Pulumi.run(ctx -> {{\n{lines}        }});\n    }}\n}}\n"
    )


def _java_imports(value: Value, package: str, *, top: bool = False) -> set[str]:
    match value:
        case Fields():
            inner = {name for each in value.values.values() for name in _java_imports(each, package)}
            if top:
                return inner | ({f"{package}.{value.name}Args"} if value.values else set())
            return inner | {f"{package}.inputs.{value.name}Args"}
        case Items():
            inner = {name for each in value.values for name in _java_imports(each, package)}
            return inner | ({"java.util.List"} if is_any(value.element) else set()) | _java_output(value)
        case Entries():
            return {name for each in value.values.values() for name in _java_imports(each, package)} | {
                "java.util.Map"
            }
        case _:
            return set()


def _java_output(value: Items) -> set[str]:
    return {"com.pulumi.core.Output"} if any(isinstance(each, Reference) for each in value.values) else set()


def _java_fields(value: Fields) -> str:
    calls = [f".{key}({_java_argument(each)})" for key, each in value.values.items()]
    line = f"{value.name}Args.builder(){''.join(calls)}.build()"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return _lines(f"{value.name}Args.builder()", [*calls, ".build()"], "", "").removesuffix("\n")


def _java_argument(value: Value) -> str:
    """Return the argument of a setter, which takes the elements of a list as arguments of its own."""
    if isinstance(value, Items) and not is_any(value.element):
        parts = [_java_value(each) for each in value.values]
        return _block("Output.all(", parts, ")", "") if _java_output(value) else _java_list("", parts)
    return _java_value(value)


def _java_list(opening: str, parts: list[str]) -> str:
    """Return arguments of a call; Java allows no comma after the last one."""
    line = f"{opening}{', '.join(parts)}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    indented = [part.replace("\n", "\n    ") for part in parts]
    return f"{opening}\n    " + ",\n    ".join(indented)


def _java_value(value: Value) -> str:
    match value:
        case Reference():
            return f"{value.resource}.{value.output}()"
        case Literal(type="number"):  # Java boxes no int as a Double
            return json.dumps(float(value.value))
        case Literal():
            return _literal(value)
        case Items():
            return _java_list("List.of(", [_java_value(each) for each in value.values]) + ")"
        case Entries():
            parts = [f"{_quoted(key)}, {_java_value(each)}" for key, each in value.values.items()]
            return _java_list("Map.of(", parts) + ")"
        case Fields():
            return _java_fields(value)


# YAML


def _yaml(program: Program) -> str:
    name = program.schema["name"]
    resources = {
        each.name: {"type": f"{name}:{each.component}"}
        | ({"properties": _data(each.arguments)} if each.arguments.values else {})
        for each in program.resources
    }
    document = {"name": "models", "runtime": "yaml", "resources": resources}
    return yaml.safe_dump(document, sort_keys=False, width=1000)


def _data(value: Value) -> object:
    match value:
        case Reference():
            return f"${{{value.resource}.{value.output}}}"
        case Literal():
            return value.value
        case Items():
            return [_data(each) for each in value.values]
        case Entries() | Fields():
            return {key: _data(each) for key, each in value.values.items()}

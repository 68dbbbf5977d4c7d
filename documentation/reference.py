"""The generated pages of the reference: fields, findings, components, settings, commands and schemas."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from components.contract.field_reference import FieldReference, field_references
from components.contract.findings.registry import rules
from components.contract.kinds import Kind
from components.contract.releases import described
from components.families import kinds, member_of
from workbench.cli import command_line

from .pages import Page, Section, code, table

_LANGUAGES = {
    "typescript": "TypeScript",
    "python": "Python",
    "go": "Go",
    "csharp": "C#",
    "java": "Java",
    "yaml": "YAML",
}
"""Languages of the examples in the schema, in the order of Pulumi's registry."""
_EXAMPLES = re.compile(r"\{\{% /?examples? %\}\}\n?|## Example Usage\n|<!--[^>]*-->\n?")
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


def fields(family: str) -> Section:
    """Return the pages of a family's kinds, one for each."""
    own = [kind for kind in kinds() if member_of(kind)[0].name == family]
    return "Fields", [Page(f"fields/{family}/{kind.kind}.md", kind.kind, _kind(kind)) for kind in own]


def _kind(kind: Kind) -> str:
    names = kind.releases.of_spans([kind.span])
    exists = f" It exists in {described(names, kind.releases)} of {kind.releases.project}." if names else ""
    lines = [
        f"# {kind.kind}",
        "",
        f"Every field of {kind.kind} with its type, default, limits and releases.{exists}",
        "",
        f"It is {kind.scope.lower()}; its `apiVersion` is `{kind.api_version}`. "
        f"`workbench explain --field {kind.kind}.FIELD` prints the same, with an example of what the field becomes; "
        f"`workbench dev schema {kind.kind}` prints the JSON schema for editors. Fields of Kubernetes' types, such "
        "as `v1 Affinity`, are not listed.",
        "",
    ]
    for reference in field_references(kind):
        lines += _field(reference)
    return "\n".join(lines)


def _field(reference: FieldReference) -> Iterator[str]:
    yield f"### `{reference.path}`"
    yield ""
    facts = [reference.type, "required" if reference.required else "optional"]
    if reference.default is not None:
        facts.append(f"default {code(json.dumps(reference.default))}")
    facts += reference.limits
    yield f"*{reference.releases or 'All releases'}* · {' · '.join(facts)}"
    yield ""
    yield reference.description
    yield from ([""] + [f"- {change}" for change in reference.changes] if reference.changes else [])
    yield ""


def findings() -> Section:
    """Return a page for each finding. Messages and reports link to them by id, which never changes."""
    return "Findings", [
        Page(
            f"findings/{rule.id}.md",
            str(rule.id),
            f"# {rule.id}\n\n**{rule.title}.** {rule.severity.capitalize()}, "
            f"{'may be ignored' if rule.may_be_ignored else 'cannot be ignored'}.\n\n{rule.help}\n\n"
            + (
                "To ignore it, annotate the resource that the message names with the reason:\n\n"
                f"```yaml\nmetadata:\n  annotations:\n    ignore.inference-platform/{rule.id}: the reason\n```\n\n"
                if rule.may_be_ignored
                else "It describes input from which nothing, or not what is written, can be created.\n\n"
            )
            + "[How findings are reported and ignored](../findings.md)\n",
        )
        for rule in rules().values()
    ]


def components(schema: Mapping[str, Any]) -> Section:
    """Return a page for each component of the package, from its Pulumi schema."""
    pages = []
    for token, resource in sorted(schema["resources"].items()):
        name = token.rpartition(":")[2]
        pages.append(Page(f"components/{name}.md", name, _component(schema, name, token, resource)))
    return "Components", pages


def _component(schema: Mapping[str, Any], name: str, token: str, resource: Mapping[str, Any]) -> str:
    inputs = resource.get("inputProperties", {})
    parts = [f"# {name}\n", f"Type token: `{token}`\n", _with_tabs(resource.get("description", "")), "## Inputs\n"]
    if inputs:
        parts.append(_properties(inputs, resource.get("requiredInputs", ())))
        nested = sorted(_nested(schema, inputs, set()))
        for token_of_type in nested:
            type_ = schema["types"][token_of_type]
            parts.append(f"### {token_of_type.rpartition(':')[2]}\n\n{type_.get('description', '')}\n")
            parts.append(_properties(type_.get("properties", {}), type_.get("required", ())))
    else:
        parts.append("None.\n")
    parts += ["## Outputs\n", _properties(resource.get("properties", {}), resource.get("required", ()))]
    return "\n".join(parts)


def _properties(properties: Mapping[str, Any], required: Any) -> str:  # noqa: ANN401  a list of names
    return table(
        ("name", "type", "required", "description"),
        (
            (code(name), _type(value), "yes" if name in required else "", value.get("description", ""))
            for name, value in properties.items()
        ),
    )


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = str(value["$ref"]).rpartition(":")[2].rpartition("/")[2]
        return name if name == "Any" else f"[{name}](#{name.lower()})"
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    if "additionalProperties" in value:
        return f"map of {_type(value['additionalProperties'])}"
    return str(value.get("type", "any"))


def _nested(schema: Mapping[str, Any], properties: Mapping[str, Any], known: set[str]) -> set[str]:
    for value in properties.values():
        for token in re.findall(r'"#/types/([^"]+)"', json.dumps(value)):
            if token not in known:
                known.add(token)
                _nested(schema, schema["types"][token].get("properties", {}), known)
    return known


def _with_tabs(description: str) -> str:
    """Turn the examples of a description in Pulumi's form into tabs, one per language."""
    text = _EXAMPLES.sub("", description)
    blocks = {language: body for language, body in _FENCE.findall(text) if language in _LANGUAGES}
    prose = _FENCE.sub(lambda match: "" if match[1] in _LANGUAGES else match[0], text).strip()
    tabs = []
    for language, title in _LANGUAGES.items():
        if language in blocks:
            body = "\n".join(f"    {line}".rstrip() for line in blocks[language].rstrip().splitlines())
            tabs.append(f'=== "{title}"\n\n    ```{language}\n{body}\n    ```\n')
    return prose + "\n\n" + ("## Example\n\n" + "\n".join(tabs) if tabs else "")


def settings(root: Path) -> Page:
    """Return the page of all settings, from their JSON schema."""
    schema = json.loads((root / "stacks/settings.schema.json").read_text(encoding="utf-8"))
    lines = [
        "# Settings",
        "",
        "The keys of `Pulumi.<stack>.yaml`, and the keys of their sections. Editors complete and check them with the "
        "[JSON schema](schemas.md).",
        "",
    ]
    for key, value in schema["properties"]["config"]["properties"].items():
        lines += [f"## `{key}`", "", value.get("description", ""), ""]
        if value.get("default") not in (None, {}, []):
            lines += [f"Default: {code(json.dumps(value['default']))}", ""]
        rows = list(_keys(schema, value, "", ()))
        if rows:
            lines += [table(("key", "type", "default", "description"), rows), ""]
    return Page("settings.md", "Settings", "\n".join(lines))


def _keys(
    schema: Mapping[str, Any], value: Mapping[str, Any], prefix: str, seen: tuple[str, ...]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the keys of a section of the settings, those of nested sections below it."""
    for each in (value, *value.get("anyOf", ())):
        reference = str(each.get("$ref", "")).rpartition("/")[2]
        if reference and reference not in seen:
            each, seen = schema["$defs"][reference], (*seen, reference)
        for name, inner in each.get("properties", {}).items() if reference != "Secret" else ():
            path = f"{prefix}.{name}" if prefix else name
            default = inner.get("default")
            shown = "" if default in (None, {}, [], "") else json.dumps(default)
            yield code(path), _setting_type(schema, inner), code(shown), inner.get("description", "")
            yield from _keys(schema, inner, path, seen)
        for key, suffix in (("items", "[]"), ("additionalProperties", ".*")):
            if isinstance(each.get(key), dict):
                yield from _keys(schema, each[key], f"{prefix}{suffix}", seen)


def _setting_type(schema: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    names = []
    for each in value.get("anyOf", (value,)):
        reference = str(each.get("$ref", "")).rpartition("/")[2]
        if reference == "Secret":
            continue
        target = schema["$defs"][reference] if reference else each
        if "enum" in target:
            names.append(" or ".join(code(choice) for choice in target["enum"]))
        else:
            names.append(str(target.get("type", "")))
    return " or ".join(dict.fromkeys(filter(None, names)))


def commands() -> Page:
    """Return the page of the command line, from its own help."""
    group: Any = typer.main.get_command(command_line())
    lines = ["# Commands", "", "Every command of `workbench`, as `workbench COMMAND --help` shows it.", ""]
    for name, command in sorted(group.commands.items()):
        for title, each in _leaves(name, command):
            lines += [f"## `workbench {title}`", "", (each.help or "").replace("\n\n", "\n\n"), ""]
            rows = [_parameter(parameter) for parameter in each.params if not getattr(parameter, "hidden", False)]
            if rows:
                lines += [table(("argument or option", "default", "description"), rows), ""]
    return Page("commands.md", "Commands", "\n".join(lines))


def _leaves(title: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  a command of typer
    if hasattr(command, "commands"):
        for name, inner in sorted(command.commands.items()):
            yield from _leaves(f"{title} {name}", inner)
    else:
        yield title, command


def _parameter(parameter: Any) -> tuple[str, str, str]:  # noqa: ANN401  a parameter of typer
    names = " ".join(code(option) for option in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = code(parameter.metavar or parameter.name.upper())
    default = parameter.default
    shown = "" if default in (None, False, "", []) or callable(default) else str(getattr(default, "value", default))
    return names, code(shown), getattr(parameter, "help", "") or ""


def schemas(files: Mapping[str, str]) -> Page:
    """Return the page that lists the JSON schemas, by the path at which the site serves each."""
    rows = [(f"[{code(path)}]({path})", title) for path, title in files.items()]
    return Page(
        "schemas.md",
        "JSON schemas",
        "# JSON schemas\n\nSchemas for editors and other tools, at addresses that do not change.\n\n"
        + table(("schema", "of"), rows),
    )

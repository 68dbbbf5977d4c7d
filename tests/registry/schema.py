"""Writes ``components/schema.json``: the components as Pulumi's registry and code generators read them.

``make schema-golden`` runs it. The SDK's analyzer infers arguments and outputs; the descriptions of inherited
arguments, the facts of ``package.yaml`` and an example of each component in each language are added here.
"""

import ast
import inspect
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, is_typeddict

import pulumi
import yaml
from pulumi.provider.experimental.component import ComponentProvider

from components import __version__
from components.families import FAMILIES
from components.resources import COMPONENTS
from components.resources.plugin import NAME, SCHEMA, components, typed_args
from components.resources.serving.typed_args import camel
from tests.registry.languages import texts
from tests.registry.programs import Schema, program

_FOLDER = Path(__file__).parent
_PACKAGE = "inference_platform"
_SUFFIX = "Args"
PAGE = SCHEMA.parents[1] / "docs" / "_index.md"
_ON_THE_PAGE = "Playground"
_START = "<!-- The example of Playground; `make schema-golden` writes it. -->\n"
_END = "<!-- End of the example. -->\n"


def schema(public: Iterable[type[pulumi.ComponentResource]] | None = None) -> dict[str, Any]:
    """Return the schema of components, by default of all public ones.

    Raises:
        ValueError: A component has no example, or an example does not fit the schema.
    """
    listed = [*(components() if public is None else public)]
    inferred = json.loads(ComponentProvider(listed, NAME, version=__version__).schema or "{}")
    complete: dict[str, Any] = {**_renamed(inferred), **_facts(), "name": NAME, "version": __version__}
    modules, examples = _python_modules(), definitions()
    for component in listed:
        name = component.__name__
        described = complete["resources"][f"{NAME}:index:{name}"]
        for key, text in _inherited_descriptions(typed_args(component)).items():
            described["inputProperties"].get(key, {}).setdefault("description", text)
        if name not in examples:
            raise ValueError(f"{name} has no example in tests/registry/examples")
        described["description"] += "\n\n" + _section(texts(program(examples[name], complete), modules))
    return complete


def definitions() -> dict[str, Any]:
    """Return the definition of each example, by component."""
    files = sorted(_FOLDER.glob("examples/*.yaml"))
    return {name: value for file in files for name, value in yaml.safe_load(file.read_text()).items()}


def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = yaml.safe_load((_FOLDER / "package.yaml").read_text())
    return facts


def _python_modules() -> dict[str, str]:
    """Return the module from which a Python program imports each component."""
    modules = dict.fromkeys(COMPONENTS, _PACKAGE)
    for family in FAMILIES:
        home = f"{_PACKAGE}.families.{family.package.rpartition('.')[2]}"
        modules |= {member.component: home for member in family.members if member.component}
    return modules


def _renamed(inferred: Schema) -> dict[str, Any]:
    """Drop the suffix of nested types, to which every code generator adds it, and the indentation of docstrings."""
    names = {token: token.removesuffix(_SUFFIX) for token in inferred["types"]}
    references = {f"#/types/{token}": f"#/types/{name}" for token, name in names.items()}

    def change(key: str, value: object) -> object:
        if key == "$ref":
            return references.get(str(value), value)
        return inspect.cleandoc(value) if key == "description" and isinstance(value, str) else value

    renamed: dict[str, Any] = _changed(inferred, change)
    return {**renamed, "types": {names[token]: facts for token, facts in renamed["types"].items()}}


def _changed(value: Any, change: Callable[[str, object], object]) -> Any:
    if isinstance(value, Mapping):
        return {key: _changed(change(key, inner), change) for key, inner in value.items()}
    return [_changed(each, change) for each in value] if isinstance(value, list) else value


def _section(examples: Mapping[str, str]) -> str:
    """Return the examples in the form of which the registry makes tabs, and code generators take their language."""
    blocks = "\n".join(f"```{language}\n{text.rstrip()}\n```\n" for language, text in examples.items())
    return "{{% examples %}}\n## Example Usage\n{{% example %}}\n\n" + blocks + "{{% /example %}}\n{{% /examples %}}"


def _inherited_descriptions(typed: object) -> dict[str, str]:
    """Return the descriptions of the arguments that a type inherits, by camelCase name.

    The SDK's analyzer ignores them.
    """
    descriptions: dict[str, str] = {}
    # A TypedDict does not record its bases at run time, but its source has them.
    for base in _declared(typed).bases:
        inherited = getattr(inspect.getmodule(typed), ast.unparse(base), None)
        if not is_typeddict(inherited):
            continue
        for key, literal in itertools.pairwise(_declared(inherited).body):
            if isinstance(key, ast.AnnAssign) and isinstance(literal, ast.Expr):
                descriptions[camel(ast.unparse(key.target))] = " ".join(str(ast.literal_eval(literal.value)).split())
    return descriptions


def _declared(typed: Any) -> ast.ClassDef:
    """Return the definition of a class from its source."""
    (definition,) = ast.parse(inspect.getsource(typed)).body
    assert isinstance(definition, ast.ClassDef)
    return definition


def page(text: str, complete: Schema) -> str:
    """Return the registry's page of the package with the example of a component as tabs."""
    example = texts(program(definitions()[_ON_THE_PAGE], complete), _python_modules())
    tabs = "".join(
        f"{{{{% choosable language {language} %}}}}\n\n```{language}\n{code.rstrip()}\n```\n\n"
        "{{% /choosable %}}\n"
        for language, code in example.items()
    )
    chooser = f'{{{{< chooser language "{",".join(example)}" >}}}}\n\n{tabs}\n{{{{< /chooser >}}}}\n'
    before, start, rest = text.partition(_START)
    _, end, after = rest.partition(_END)
    return f"{before}{start}\n{chooser}\n{end}{after}"


if __name__ == "__main__":
    generated = schema()
    SCHEMA.write_text(json.dumps(generated, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), generated), encoding="utf-8")
    sys.exit(0)

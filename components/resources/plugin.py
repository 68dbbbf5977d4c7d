"""The provider plugin: offers the components to programs in other languages."""

import ast
import importlib
import inspect
import itertools
import json
import re
from typing import Any, is_typeddict

import pulumi
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.analyzer import ComponentDefinition
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

from ..contract.problems import path_parts
from ..families import FAMILIES
from . import COMPONENTS
from .serving.output_values import holds_secret, resolve_outputs
from .serving.typed_args import camel, keys_below

NAME = "inference-platform"
_WORDS = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*_?")


def components() -> list[type[pulumi.ComponentResource]]:
    """Return all public components, including one per kind of every family."""
    shared = [getattr(importlib.import_module(f"{__package__}.{home}"), name) for name, home in COMPONENTS.items()]
    of_families = [f.component(member) for f in FAMILIES for member in f.members if member.component]
    return [*shared, *of_families]


class Host(ComponentProvider):
    """Constructs components for programs in other languages; names arguments in camelCase in problems."""

    def __init__(self, version: str = "0.0.0") -> None:
        """Analyze every public component."""
        public = components()
        self._args = {component.__name__: _typed_args(component) for component in public}
        super().__init__(public, NAME, version=version)
        # The SDK's analyzer ignores the descriptions of inherited arguments.
        schema = json.loads(self.schema or "{}")
        for token, resource in schema["resources"].items():
            inherited = _inherited_descriptions(self._args[token.rpartition(":")[2]])
            for key, input_property in resource["inputProperties"].items():
                if "description" not in input_property and key in inherited:
                    input_property["description"] = inherited[key]
        self.schema = json.dumps(schema)

    def map_inputs(self, inputs: pulumi.Inputs, component_def: ComponentDefinition) -> pulumi.Inputs:
        """Convert arguments to snake_case, and resolve known outputs.

        Unknown and invalid arguments are kept, so that the component reports every problem.
        """
        args: pulumi.Inputs = resolve_outputs(inputs, self._args[component_def.name], remote=True)
        return args

    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Construct a component.

        Raises:
            InputPropertiesError: Its arguments are invalid. Lists their paths, unless a path would reveal a secret.
        """
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, pulumi.InputPropertiesError):
                typed = self._args[resource_type.rpartition(":")[2]]
                renamed = _in_camel_case(error.inner, typed)
                raise pulumi.InputPropertiesError(renamed.message, _without_secrets(renamed.errors, inputs)) from None
            if isinstance(error.inner, pulumi.RunError):
                raise error.inner from None
            raise


def _typed_args(component: type[pulumi.ComponentResource]) -> Any:  # noqa: ANN401  a TypedDict is no type
    """Return the type of a component's arguments.

    Raises:
        TypeError: Its ``__init__`` has no parameter ``args`` with a type.
    """
    typed = inspect.get_annotations(component.__init__).get("args")
    if typed is None:
        raise TypeError(
            f"{component.__module__}.{component.__qualname__}: __init__ has no typed parameter 'args', from which "
            "the schema of the component is generated; declare one, such as a TypedDict"
        )
    return typed


def _without_secrets(details: Any, inputs: pulumi.Inputs) -> Any:  # noqa: ANN401  a list of the SDK's maps
    """Drop problems whose paths lead into an argument with a secret; the error message still lists them.

    The engine prints the value at each path, including secrets in plaintext (errorToMessage in
    pkg/resource/deploy/source_eval.go of Pulumi 3.260). An empty path selects all arguments.
    """
    secret = {key for key, value in inputs.items() if holds_secret(value, key)}
    return [
        detail
        for detail in details
        if detail["property_path"] and path_parts(detail["property_path"])[0] not in secret
    ]


def _inherited_descriptions(typed: object) -> dict[str, str]:
    """Return the descriptions of the arguments that a type inherits, by camelCase name."""
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


def _declared(typed: Any) -> ast.ClassDef:  # noqa: ANN401  a TypedDict is no type to type checkers
    """Return the definition of a class from its source."""
    (definition,) = ast.parse(inspect.getsource(typed)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101  the source of a class
    return definition


def _in_camel_case(error: pulumi.InputPropertiesError, typed: object) -> pulumi.InputPropertiesError:
    """Return an error with the names of arguments in camelCase."""
    known = keys_below(typed)

    def convert(text: str) -> str:
        return _WORDS.sub(lambda match: camel(match[0]) if match[0] in known else match[0], text)

    details: list[Any] = [
        {"property_path": convert(detail["property_path"]), "reason": convert(detail["reason"])}
        for detail in error.errors or ()
    ]
    return pulumi.InputPropertiesError(convert(error.message), details)

"""The documentation of pydantic types: the string literal below each field."""

import ast
import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping

from pydantic import BaseModel


@functools.cache
def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the literal below each field, inherited fields first; fields without one are left out.

    Reads the source of the type, which only generators should do: pydantic's ``use_attribute_docstrings`` would read
    it whenever the program starts, and would write the literals into the CustomResourceDefinitions.
    """
    return {
        name: text
        for owner in reversed(model.__mro__)
        if issubclass(owner, BaseModel) and owner is not BaseModel
        for name, text in _own_docs(owner)
    }


def _own_docs(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    (definition,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101  the source of a class
    for node, following in itertools.pairwise(definition.body):
        match node, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, text

"""Where each argument of a component goes: declared once, beside the pydantic types that validate it.

A component's arguments are the fields of a pydantic type, but for what an :class:`ArgumentMap` declares: fields of a
nested type that stand at the top, fields with a name of their own, leaves that take outputs, and arguments that only
the component has. Both sides read the same map: ``python -m tests.arguments.generate`` writes the TypedDicts in
``args.py`` from it, and :meth:`ArgumentMap.spec` builds the resource's specification from the arguments.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from .typed_args import model_in

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """An argument that is no field of the type behind the component.

    Attributes:
        type: Its annotation, as it stands in the TypedDict.
        doc: Its documentation.
        required: Whether the component cannot do without it.
    """

    type: str
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """Where the argument differs from the field that it stands for, and why.

    Attributes:
        why: Why it differs, for who reads the map.
        type: Annotation instead of the field's; a type in ``args.py`` by its name.
        doc: Documentation instead of the field's.
        required: Whether it is required, instead of what the field says.
    """

    why: str
    type: str = ""
    doc: str = ""
    required: bool | None = None


@dataclass(frozen=True)
class ArgumentMap:
    """How the fields of a pydantic type become the keys of a TypedDict.

    Attributes:
        name: Name of the TypedDict.
        model: The type whose fields are the arguments; each field is one, but for what the rest declares. None where
            all arguments are the component's own.
        doc: Documentation of the TypedDict. Default: the first line of the type's.
        base: The map of the TypedDict that this one extends.
        own: Arguments that are no fields, by name.
        flat: Fields whose own fields are arguments themselves, as dotted paths of Python names.
        renamed: Arguments with a name of their own, by the path of the field.
        without: Fields that are no arguments, by path, each with the reason.
        changed: Arguments that differ from their field, by name.
    """

    name: str
    model: type[BaseModel] | None = None
    doc: str = ""
    base: "ArgumentMap | None" = None
    own: Mapping[str, Own] = field(default_factory=dict)
    flat: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, Changed] = field(default_factory=dict)

    @functools.cached_property
    def places(self) -> Mapping[str, Path]:
        """The field that each argument stands for, as a path of Python names."""
        return dict(self._places(self.model, ())) if self.model else {}

    def _places(self, model: type[BaseModel], above: Path) -> Iterator[tuple[str, Path]]:
        for name, info in model.model_fields.items():
            path = (*above, name)
            dotted = ".".join(path)
            if dotted in self.without:
                continue
            inner = model_in(info.annotation) if dotted in self.flat else None
            if inner is None:
                yield self.renamed.get(dotted, name), path
            else:
                yield from self._places(inner, path)

    @functools.cached_property
    def models(self) -> Mapping[str, type[BaseModel]]:
        """The pydantic types that arguments hold, be it in lists or maps."""
        held = {
            name: model_in(self.owner(path).model_fields[path[-1]].annotation) for name, path in self.places.items()
        }
        return {name: model for name, model in held.items() if model}

    def owner(self, path: Path) -> type[BaseModel]:
        """Return the type that has the last field of a path."""
        model = self.model
        for step in path[:-1]:
            model = model_in(model.model_fields[step].annotation) if model else None
        assert model is not None  # noqa: S101  paths come from the type itself
        return model

    @functools.cached_property
    def _wire_places(self) -> tuple[tuple[str, Path, bool], ...]:
        """Arguments and where they stand in a specification by the names on the wire, and whether empty is unset."""
        wired = []
        for name, path in self.places.items():
            fields = [self.owner(path[: depth + 1]).model_fields[step] for depth, step in enumerate(path)]
            steps = tuple(info.alias or step for info, step in zip(fields, path, strict=True))
            wired.append((name, steps, not all(info.is_required() for info in fields[:-1])))
        return tuple(wired)

    def spec(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the specification that arguments describe, in wire form.

        What is set and empty stays, since it may replace a default. Only in an optional part that is put together
        from arguments does it count as unset: an empty list must not be what makes the part exist.

        Args:
            values: Arguments, with what is below them in wire form.
        """
        found: dict[str, Any] = {}
        for name, (*above, last), empty_is_unset in self._wire_places:
            value = values.get(name)
            if value is None or (empty_is_unset and value in ({}, [])):
                continue
            part = found
            for step in above:
                part = part.setdefault(step, {})
            part[last] = value
        return found


@dataclass(frozen=True)
class CoreMap:
    """How a definition of Kubernetes becomes a TypedDict; the published definitions have no documentation.

    Attributes:
        name: Name of the TypedDict.
        definition: Full name of the definition, such as ``io.k8s.api.autoscaling.v2.MetricSpec``.
        doc: Documentation of the TypedDict.
        docs: Documentation of each property, by its name in Python.
    """

    name: str
    definition: str
    doc: str
    docs: Mapping[str, str]

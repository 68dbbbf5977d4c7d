"""Argument maps: how the fields of pydantic types become the arguments of components.

A component's arguments are the fields of a pydantic type, except where its :class:`ArgumentMap` says otherwise:
nested fields that are flattened, renamed fields, leaves that accept outputs, and additional arguments. ``python -m
tests.arguments.generate`` writes the TypedDicts in ``args.py`` from the maps, and :meth:`ArgumentMap.spec` converts
arguments back to the specification of the resource.
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
    """An argument that is not a field of the component's pydantic type.

    Attributes:
        type: Its annotation in the TypedDict.
        doc: Its documentation.
        required: Whether it is required.
    """

    type: str
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """Overrides for an argument that differs from its field.

    Attributes:
        why: Why it differs, for readers of the map.
        type: Annotation; types in ``args.py`` by name. Default: the field's.
        doc: Documentation. Default: the field's.
        required: Whether it is required. Default: as the field.
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
        model: The type whose fields are the arguments; None if all arguments are ``own``.
        doc: Documentation of the TypedDict. Default: the first line of the type's docstring.
        base: The map of the TypedDict that this one extends.
        own: Arguments that are not fields, by name.
        flat: Fields to replace by their own fields, as dotted paths of Python names.
        renamed: Names of arguments that differ from the field's, by path of the field.
        without: Reasons why fields are not arguments, by path.
        changed: Overrides by argument.
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
        """Path of the field of each argument, in Python names."""
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
        """The pydantic type in each argument, including in lists and maps."""
        held = {
            name: model_in(self.owner(path).model_fields[path[-1]].annotation) for name, path in self.places.items()
        }
        return {name: model for name, model in held.items() if model}

    def owner(self, path: Path) -> type[BaseModel]:
        """Return the type that declares the last field of a path."""
        model = self.model
        for step in path[:-1]:
            model = model_in(model.model_fields[step].annotation) if model else None
        assert model is not None  # noqa: S101  paths come from the type itself
        return model

    @functools.cached_property
    def _wire_places(self) -> tuple[tuple[str, Path, bool], ...]:
        """Argument, path of wire names, and whether an empty value means unset."""
        wired = []
        for name, path in self.places.items():
            fields = [self.owner(path[: depth + 1]).model_fields[step] for depth, step in enumerate(path)]
            steps = tuple(info.alias or step for info, step in zip(fields, path, strict=True))
            wired.append((name, steps, not all(info.is_required() for info in fields[:-1])))
        return tuple(wired)

    def spec(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments to a specification in wire form.

        Empty values are kept, because they may override a default. In an optional section that is assembled from
        arguments they count as unset: an empty list alone must not create the section.

        Args:
            values: Arguments, with nested values in wire form.
        """
        spec: dict[str, Any] = {}
        for name, (*above, last), empty_is_unset in self._wire_places:
            value = values.get(name)
            if value is None or (empty_is_unset and value in ({}, [])):
                continue
            part = spec
            for step in above:
                part = part.setdefault(step, {})
            part[last] = value
        return spec


@dataclass(frozen=True)
class CoreMap:
    """How a definition of Kubernetes becomes a TypedDict; the published definitions contain no descriptions.

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

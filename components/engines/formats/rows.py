"""The number formats of an engine by compute capability and version: ``formats.yaml`` in the engine's folder.

All capabilities are CUDA compute capabilities, such as 7.5 (T4), 8.9 (L4) or 10.0 (B200).

least: rows of the capability that the engine itself needs: least, from, absent, until.
most: rows of the newest capability that its image has code for, where GPUs of the table are newer: most, from, until.
types: number types of computation, each with
  name; least: capability that computes it; from, absent, until.
  auto: the type that the engine takes instead on other GPUs if none is set; without it, it does not start.
  instead: value of the flag with which it starts there.
  always: whether it takes ``auto`` even if the type is set.
without_float16: models (a regular expression) that the engine does not compute in float16, by version. Without
  bfloat16 it takes float32.
methods: rows of each method of quantization, by the name of the flag's value or of a scheme: least, from, absent,
  until. The least capability of a release that does not have the method yet is infinite.
experts: rows of methods that need more for the experts of a model than for its other layers.
weights: methods by which weights of a type may be loaded; models restricts a row to names. The first row that matches
  counts, and one method that can is enough.
quantized_only: methods that do not quantize while they load.
attention: rules of attention backends and types of the KV cache, each with
  backends: values of the flag for the backend, which must be set; without them any, and if none is set.
  cache: types of the KV cache, which must be set; without them any.
  least, below: capabilities on which the engine starts with them; without both, it starts nowhere.
  from, absent, until: versions with the rule.
other_method: methods, by the type of the weights, that the engine refuses for a model that is quantized with another.
images: compute capabilities that an image has code for, by the hardware that its tag starts with, empty for none:
  hardware; least, below; from, absent, until. An image whose hardware has a row starts on no other GPUs.
processors: hardware of images that compute on the CPU only.
number_types: hardware of the only images that know a value of the flag for the type of computation.
architectures: rules about models, of images with a row in ``images``, each with
  names: architectures. least: capability that computes them. dtypes: values of the flag, if it is set.
  unless: a variable that lifts the rule. from, absent, until: versions with the rule.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from ...contract.tables import read_table
from ..registry import Engine, engines
from ..versions import ALWAYS, ANY, Version, VersionSpan


class Least(NamedTuple):
    """A capability that some versions need, or have code for."""

    span: VersionSpan
    capability: Decimal


class NumberType(NamedTuple):
    """A row of ``types``."""

    name: str
    least: Least
    auto: str = ""
    instead: str = ""
    always: bool = False


class WeightMethods(NamedTuple):
    """A row of ``weights``."""

    type: str
    methods: tuple[str, ...]
    models: str = ""


class AttentionRule(NamedTuple):
    """A row of ``attention``."""

    span: VersionSpan
    backends: tuple[str, ...] = ()
    cache: tuple[str, ...] = ()
    least: Decimal | None = None
    below: Decimal | None = None

    def allows(self, capability: Decimal | None) -> bool:
        """Return whether the engine starts on a GPU, or may if its capability is not known."""
        if self.least is None and self.below is None:
            return False
        if capability is None:
            return True
        return (self.least or 0) <= capability and (self.below is None or capability < self.below)


class ImageRange(NamedTuple):
    """A row of ``images``."""

    span: VersionSpan
    hardware: str
    least: Decimal
    below: Decimal


class ArchitectureRule(NamedTuple):
    """A row of ``architectures``."""

    span: VersionSpan
    names: tuple[str, ...]
    least: Decimal = Decimal(0)
    dtypes: tuple[str, ...] = ()
    unless: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FormatTable:
    """The number formats of an engine; the attributes are the columns."""

    engine: Engine
    least: tuple[Least, ...] = ()
    most: tuple[Least, ...] = ()
    types: tuple[NumberType, ...] = ()
    without_float16: tuple[tuple[VersionSpan, re.Pattern[str]], ...] = ()
    methods: Mapping[str, tuple[Least, ...]] = field(default_factory=dict)
    experts: Mapping[str, tuple[Least, ...]] = field(default_factory=dict)
    weights: tuple[WeightMethods, ...] = ()
    attention: tuple[AttentionRule, ...] = ()
    quantized_only: tuple[str, ...] = ()
    other_method: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    images: tuple[ImageRange, ...] = ()
    processors: tuple[str, ...] = ()
    number_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    architectures: tuple[ArchitectureRule, ...] = ()

    def type_in(self, name: str, version: Version | None) -> NumberType | None:
        """Return the row of a number type in a version; None if it has none, or if that depends on the version."""
        return next((row for row in self.types if row.name == name and is_known(row.least.span, version)), None)

    def refuses_float16(self, model: str, version: Version | None) -> bool:
        """Return whether the engine does not compute a model in float16."""
        return any(models.search(model) and is_known(span, version) for span, models in self.without_float16)

    def least_for(self, method: str, version: Version | None, *, experts: bool = False) -> Decimal | None:
        """Return the capability that a method needs, or the engine itself (``""``); None if that is not known.

        Args:
            method: The method of quantization.
            version: Version of the engine.
            experts: Whether the model has experts.
        """
        rows = self.methods.get(method, ()) if method else self.least
        rows = (*self.experts.get(method, ()), *rows) if experts else rows
        return next((row.capability for row in rows if is_known(row.span, version)), None)

    def most_for(self, version: Version | None) -> Decimal | None:
        """Return the newest capability that the image of a version has code for; None if that is not known."""
        return next((row.capability for row in self.most if is_known(row.span, version)), None)

    def first_release(self, methods: Iterable[str]) -> Version | None:
        """Return the first release that has one of some methods; None if that is not known."""
        rows = (row for method in methods for row in self.methods.get(method, ()) if row.capability.is_finite())
        return min((row.span.since for row in rows if row.span.since is not None), default=None)

    def scheme(self, method: str, type_: str) -> str:
        """Return the scheme of a method for weights of a type, if it has rows of its own; otherwise the method."""
        scheme = f"{method} {type_.partition('-')[0]}"
        return scheme if scheme in self.methods else method

    def methods_for(self, type_: str, model: str) -> tuple[str, ...]:
        """Return the methods by which the weights of a model may be loaded; empty if unknown."""
        rows = (row for row in self.weights if row.type == type_ and re.search(row.models, model, re.IGNORECASE))
        return next((row.methods for row in rows), ())


def is_known(span: VersionSpan, version: Version | None) -> bool:
    """Return whether a version is certainly in a span; an unknown one is only in that of all versions."""
    return span is ALWAYS or (version != ANY and span.includes(version))


def format_table(engine: str) -> FormatTable | None:
    """Return the table of an engine; None if it has none."""
    known = engines().get(engine)
    return _read(known) if known else None


@functools.cache
def _read(engine: Engine) -> FormatTable | None:
    file = engine.folder.joinpath("formats.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    return FormatTable(
        engine=engine,
        least=tuple(map(_least, facts.get("least", ()))),
        most=tuple(Least(VersionSpan.from_row(row), Decimal(str(row["most"]))) for row in facts.get("most", ())),
        types=tuple(
            NumberType(
                name=row["name"],
                least=_least(row),
                auto=row.get("auto", ""),
                instead=row.get("instead", ""),
                always=row.get("always", False),
            )
            for row in facts.get("types", ())
        ),
        without_float16=tuple(
            (VersionSpan.from_row(row), re.compile(row["models"], re.IGNORECASE))
            for row in facts.get("without_float16", ())
        ),
        methods={method: tuple(map(_least, rows)) for method, rows in facts.get("methods", {}).items()},
        experts={method: tuple(map(_least, rows)) for method, rows in facts.get("experts", {}).items()},
        weights=tuple(
            WeightMethods(row["type"], tuple(row["methods"]), row.get("models", ""))
            for row in facts.get("weights", ())
        ),
        attention=tuple(map(_attention, facts.get("attention", ()))),
        quantized_only=tuple(facts.get("quantized_only", ())),
        other_method={type_: tuple(methods) for type_, methods in facts.get("other_method", {}).items()},
        images=tuple(map(_image, facts.get("images", ()))),
        processors=tuple(facts.get("processors", ())),
        number_types={type_: tuple(images) for type_, images in facts.get("number_types", {}).items()},
        architectures=tuple(map(_architecture, facts.get("architectures", ()))),
    )


def _attention(row: Mapping[str, Any]) -> AttentionRule:
    bounds = {name: Decimal(str(row[name])) for name in ("least", "below") if name in row}
    return AttentionRule(
        VersionSpan.from_row(row), tuple(row.get("backends", ())), tuple(row.get("cache", ())), **bounds
    )


def _least(row: Mapping[str, Any]) -> Least:
    return Least(VersionSpan.from_row(row), Decimal(str(row["least"])))


def _image(row: Mapping[str, Any]) -> ImageRange:
    least, below = (Decimal(str(row[name])) for name in ("least", "below"))
    return ImageRange(VersionSpan.from_row(row), row["hardware"], least, below)


def _architecture(row: Mapping[str, Any]) -> ArchitectureRule:
    return ArchitectureRule(
        span=VersionSpan.from_row(row),
        names=tuple(row["names"]),
        least=Decimal(str(row.get("least", 0))),
        dtypes=tuple(row.get("dtypes", ())),
        unless=row.get("unless", ""),
    )

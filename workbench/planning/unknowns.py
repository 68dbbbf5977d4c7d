"""Names for values that are unknown before a deployment, built from the outputs they depend on."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from components.plan.review.snapshot import ValueSource

from ..engine.values import Secret, Unknown, has_unknown

if TYPE_CHECKING:
    from ..engine.program.graph import Node, ResourceGraph
    from ..engine.program.stand_ins import StandIns

_MAX_NAMED = 3
_DIGEST_LENGTH = 8
_MISSING = object()


class Unknowns:
    """Names each unknown value of a graph by the outputs it depends on.

    Two values have the same name if they are computed from the same outputs in the same way, as far as that can be
    known before a deployment. A value without stand-ins is named by the resources that Pulumi reports for it.
    """

    def __init__(self, titles: Mapping[str, str], traced: "tuple[ResourceGraph, StandIns] | None") -> None:
        """Take the results of a traced run.

        Args:
            titles: Display names of the resources, by URN.
            traced: The graph with stand-ins for unknown values, and the stand-ins; None without unknown values.
        """
        self.sources: dict[str, tuple[ValueSource, ...]] = {}
        """The outputs that each named value depends on."""
        self._titles = titles
        self._nodes = traced[0].nodes if traced else {}
        self._stand_ins = traced[1] if traced else None

    def named(self, node: "Node") -> dict[str, Any]:
        """Return the inputs of a resource, with names in place of unknown values."""
        twin = self._nodes.get(node.urn)
        traced = twin.inputs if twin else {}
        origins = {
            **(twin.registration.property_dependencies if twin else {}),
            **node.registration.property_dependencies,
        }
        # A preview omits inputs whose source is missing from a block of outputs; only stand-ins show that they exist.
        omitted = {key: None for key in origins if key not in node.inputs and self._texts(traced.get(key))}
        return {
            key: self._named(value, traced.get(key, _MISSING), origins.get(key, ()))
            if has_unknown(value) or key in origins
            else value
            for key, value in {**node.inputs, **omitted}.items()
        }

    def _texts(self, value: Any) -> set[str]:  # noqa: ANN401
        return self._stand_ins.texts(_open(value)) if self._stand_ins else set()

    def _named(self, value: Any, twin: Any, origins: Iterable[str]) -> Any:  # noqa: ANN401
        """Replace unknown values by names.

        Args:
            value: The value in a preview.
            twin: The same value in the traced run.
            origins: URNs of the resources that it depends on.
        """
        if isinstance(value, Secret) and has_unknown(value):
            return self._secret(value, twin, origins)
        if isinstance(value, Unknown):
            return self._unknown(origins) if twin is _MISSING else self._explained(twin, origins)
        if isinstance(value, dict):
            inner = twin if isinstance(twin, dict) else {}
            omitted = {key: None for key in inner if key not in value and self._texts(inner[key])}
            items = {**value, **omitted}.items()
            return {key: self._named(item, inner.get(key, _MISSING), origins) for key, item in items}
        if isinstance(value, list):
            twins = twin if isinstance(twin, list) and len(twin) == len(value) else [_MISSING] * len(value)
            return [self._named(item, other, origins) for item, other in zip(value, twins, strict=True)]
        return self._explained(twin, origins) if twin is not _MISSING and self._texts(twin) else value

    def _explained(self, twin: Any, origins: Iterable[str]) -> Any:  # noqa: ANN401
        """Replace stand-ins in a value of the traced run by names."""
        if isinstance(twin, dict):
            return {key: self._explained(item, origins) for key, item in twin.items()}
        if isinstance(twin, list):
            return [self._explained(item, origins) for item in twin]
        if isinstance(twin, Unknown):
            return self._unknown(origins)
        if isinstance(twin, Secret):
            return self._secret(twin, twin, origins)
        if self._stand_ins is None or isinstance(twin, bool) or not self._texts(twin):
            return twin
        parts = self._stand_ins.split(str(twin))
        return "".join(self._name_of(part) if is_stand_in else part for part, is_stand_in in parts)

    def _name_of(self, text: str) -> str:
        """Return the name of a stand-in."""
        outputs = sorted(self._stand_ins.outputs([text])) if self._stand_ins else []
        sources = tuple(ValueSource(output.urn, output.path) for output in outputs)
        if len(sources) == 1 and self._stand_ins and text in self._stand_ins.forms(outputs[0]):
            return self._text(self._label(sources[0]), sources)
        # The text identifies the function of the outputs, but is artificial: show its digest.
        digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
        return self._text(f"from {self._joined(sources)} ({digest})", sources)

    def _secret(self, value: Secret, twin: Any, origins: Iterable[str]) -> Any:  # noqa: ANN401
        """Name a secret by its sources, without a digest of its text."""
        texts = set() if twin is _MISSING else self._texts(twin)
        if not texts or not self._stand_ins or has_unknown(twin):
            sources = tuple(ValueSource(urn) for urn in sorted(origins))
            return self._text(f"secret from {self._joined(sources)}", sources) if sources else value
        outputs = self._stand_ins.outputs(texts)
        sources = tuple(sorted(ValueSource(output.urn, output.path) for output in outputs))
        return self._text(f"secret from {self._joined(sources)}", sources)

    def _unknown(self, origins: Iterable[str]) -> Any:  # noqa: ANN401
        """Name a value without stand-ins by the resources that it depends on."""
        sources = tuple(ValueSource(urn) for urn in sorted(origins))
        return self._text(f"from {self._joined(sources)}", sources) if sources else Unknown()

    def _joined(self, sources: tuple[ValueSource, ...]) -> str:
        labels = [self._label(source) for source in sources[:_MAX_NAMED]]
        left = len(sources) - len(labels)
        return f"{', '.join(labels)} and {left} more" if left else ", ".join(labels)

    def _label(self, source: ValueSource) -> str:
        title = self._titles.get(source.urn, source.urn)
        return f"{source.output} of {title}" if source.output else title

    def _text(self, label: str, sources: tuple[ValueSource, ...]) -> str:
        """Return a unique name in brackets."""
        text = label.replace("[", "(").replace("]", ")")
        name = f"[{text}]"
        if self.sources.setdefault(name, sources) != sources:
            digest = hashlib.sha256(repr(sources).encode()).hexdigest()[:_DIGEST_LENGTH]
            name = f"[{text} #{digest}]"
            self.sources[name] = sources
        return name


def _open(value: Any) -> Any:  # noqa: ANN401
    """Remove the markers of secrets."""
    if isinstance(value, Secret):
        return _open(value.value)
    if isinstance(value, dict):
        return {key: _open(inner) for key, inner in value.items()}
    return [_open(inner) for inner in value] if isinstance(value, list) else value

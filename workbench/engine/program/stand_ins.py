"""Stand-in values for outputs that are unknown before a deployment, to trace which values depend on them.

In a preview, every value computed from an unknown output is unknown, and two unknowns look alike. With stand-ins, the
program continues to compute, and each resulting string shows the outputs that it contains. If a function hides its
input, like a digest does, it is called again with other stand-ins, one at a time: the result then stands for the
outputs that change it.

Like :mod:`.adapter`, this module uses private parts of the Pulumi SDK: the types of a resource's outputs.
"""

import copy
import hashlib
import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi import _types
from pulumi.output import UNKNOWN
from pulumi.type_token import get_type_token

ID = "id"
_CORE = re.compile(r"zq[0-9a-f]{18}")
_NUMBER = re.compile(r"(?<!\d)9\d{14}(?!\d)")
_SHORTEST = 6
"""Minimum length of a derived stand-in: shorter strings could occur by chance."""
_TRIES = 8
"""Alternatives that a function is called with: one that returns a boolean gives the same result for some of them."""
_DEEPEST = 6
"""Maximum nesting of output types, some of which are recursive."""

_Place = tuple[str | int, ...]


@dataclass(frozen=True, order=True, slots=True)
class ResourceOutput:
    """An output that is unknown before a deployment.

    Attributes:
        urn: The resource.
        path: The output, such as ``arn`` or ``vpcConfig.clusterSecurityGroupId``; ``id`` for the resource's id.
    """

    urn: str
    path: str


@dataclass(frozen=True, slots=True)
class _StandIn:
    """The meaning of a stand-in text.

    Attributes:
        outputs: The outputs it depends on.
        others: Alternative texts of the same form.
    """

    outputs: frozenset[ResourceOutput]
    others: tuple[str, ...]


@dataclass(slots=True)
class StandIns:
    """The stand-ins of one run of a program."""

    _cores: dict[str, _StandIn] = field(default_factory=dict)
    _whole: dict[str, str] = field(default_factory=dict)
    """Texts that embed a core, such as ARNs, by core."""
    _derived: dict[str, _StandIn] = field(default_factory=dict)

    # Answers

    def add(self, answer: Any, type_: str, urn: str) -> None:  # noqa: ANN401 - a protobuf message
        """Add stand-ins for the outputs of a resource type to the answer to a registration."""
        if not answer.id:
            answer.id = self.of(ResourceOutput(urn, ID))
        for name, kind in _outputs_of(type_).items():
            if name in answer.object.fields:
                known = _plain(answer.object.fields[name])
                completed = self._completed(known, kind, ResourceOutput(urn, name), 0)
                if completed != known:
                    answer.object.update({name: completed})
            elif name not in ("urn", ID):
                value = self._value_of(kind, ResourceOutput(urn, name), 0)
                if value is not None:
                    answer.object.update({name: value})

    def of(self, output: ResourceOutput, kind: type = str) -> Any:  # noqa: ANN401 - a text or a number
        """Return the stand-in for an output; deterministic."""
        outputs = frozenset({output})
        core, others = _core(output, ""), tuple(_core(output, str(n)) for n in range(_TRIES))
        if kind in (int, float):
            number = _number(core)
            self._cores[number] = _StandIn(outputs, tuple(map(_number, others)))
            return int(number)
        self._cores[core] = _StandIn(outputs, others)
        whole = _shaped(output.path, core)
        if whole != core:
            self._whole[core] = whole
            if core not in whole:
                self._derived[whole] = _StandIn(outputs, tuple(_shaped(output.path, other) for other in others))
        return whole

    def forms(self, output: ResourceOutput) -> tuple[str, ...]:
        """Return all texts that stand for exactly this output."""
        core = _core(output, "")
        return core, _number(core), _shaped(output.path, core)

    def _value_of(self, kind: Any, output: ResourceOutput, depth: int) -> Any:  # noqa: ANN401
        """Return a stand-in of a type; None for types without stand-ins, such as booleans."""
        kind = _unwrapped(kind)
        if kind in (str, int, float):
            return self.of(output, kind)
        if depth > _DEEPEST:
            return None
        if isinstance(kind, type) and _types.is_output_type(kind):
            return self._completed({}, kind, output, depth)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if isinstance(origin, type) and issubclass(origin, Sequence) and arguments:
            inner = self._value_of(arguments[0], _part(output, "[0]"), depth + 1)
            return None if inner is None else [inner]
        return None

    def _completed(self, known: Any, kind: Any, output: ResourceOutput, depth: int) -> Any:  # noqa: ANN401
        """Add stand-ins for missing fields of a value's type."""
        kind = _unwrapped(kind)
        if isinstance(known, dict) and isinstance(kind, type) and _types.is_output_type(kind):
            missing = {
                name: value
                for name, inner in _types.output_type_types(kind).items()
                if name not in known
                and (value := self._value_of(inner, _part(output, f".{name}"), depth + 1)) is not None
            }
            return {**known, **missing}
        return known

    def texts(self, value: Any) -> set[str]:  # noqa: ANN401
        """Return the stand-in texts in a value."""
        return {text for _, leaf in _leaves(value) for text in self._in_leaf(leaf)}

    def outputs(self, texts: Iterable[str]) -> frozenset[ResourceOutput]:
        """Return the outputs that stand-in texts depend on."""
        found = (self._known(text) for text in texts)
        return frozenset().union(*(each.outputs for each in found))

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Split a text; yield each part and whether it is a stand-in."""
        rest = 0
        for begin, end in self._spans(text):
            if begin > rest:
                yield text[rest:begin], False
            yield text[begin:end], True
            rest = end
        if rest < len(text):
            yield text[rest:], False

    def settled(self, function: Callable[[Any], Any], value: Any, result: Any) -> Any:  # noqa: ANN401
        """Return the result of a function if the outputs it depends on can be determined, else an unknown value.

        A string that hides some of the outputs it depends on becomes a stand-in itself.
        """
        hidden = self.texts(value) - self.texts(result)
        if not hidden:
            return result
        leaves = dict(_leaves(result))
        decided: dict[_Place, set[str]] = {}
        for text in sorted(hidden):
            for other in self._known(text).others:
                try:
                    others = dict(_leaves(function(self._exchanged(value, text, other))))
                except Exception:
                    return UNKNOWN
                if others.keys() != leaves.keys():
                    return UNKNOWN
                for place, leaf in leaves.items():
                    if others[place] != leaf or type(others[place]) is not type(leaf):
                        decided.setdefault(place, set()).add(text)
        for place, texts in decided.items():
            leaf = leaves[place]
            if not isinstance(leaf, str) or len(leaf) < _SHORTEST:
                return UNKNOWN
            tries = (hashlib.sha256(f"{n}{leaf}".encode()).hexdigest() for n in range(_TRIES))
            others_of = tuple(f"{digest}{leaf}"[: len(leaf)] for digest in tries)
            self._derived[leaf] = _StandIn(self.outputs({*texts, *self._in_leaf(leaf)}), others_of)
        return result

    def _known(self, text: str) -> _StandIn:
        if text in self._derived:
            return self._derived[text]
        if text in self._cores:
            return self._cores[text]
        found = _CORE.search(text)
        return self._cores[found[0]] if found else _StandIn(frozenset(), ())

    def _in_leaf(self, leaf: object) -> Iterator[str]:
        if isinstance(leaf, bool) or not isinstance(leaf, str | int | float):
            return
        text = str(int(leaf)) if isinstance(leaf, float) and leaf.is_integer() else str(leaf)
        yield from (text[begin:end] for begin, end in self._spans(text))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the positions of stand-ins in a text; of overlapping ones, the longest."""
        found = [
            *(match.span() for match in _CORE.finditer(text) if match[0] in self._cores),
            *(match.span() for match in _NUMBER.finditer(text) if match[0] in self._cores),
        ]
        for begin, end in tuple(found):
            whole = self._whole.get(text[begin:end], "")
            at = text.find(whole, max(0, begin - len(whole))) if whole else -1
            if 0 <= at <= begin:
                found.append((at, at + len(whole)))
        for derived in self._derived:
            at = text.find(derived)
            while at >= 0:
                found.append((at, at + len(derived)))
                at = text.find(derived, at + 1)
        spans: list[tuple[int, int]] = []
        for begin, end in sorted(set(found), key=lambda span: (span[0] - span[1], span[0])):
            if all(end <= first or begin >= last for first, last in spans):
                spans.append((begin, end))
        return sorted(spans)

    def _exchanged(self, value: Any, text: str, other: str) -> Any:  # noqa: ANN401
        """Return a copy of a value with a stand-in replaced."""
        found = _CORE.search(text) if text not in self._derived else None
        return _replaced(value, found[0] if found else text, other)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Trace stand-ins through ``Output.apply`` while the block runs."""
        original = pulumi.Output.apply

        def apply(
            output: Any,  # noqa: ANN401
            func: Callable[[Any], Any],
            run_with_unknowns: bool = False,  # noqa: FBT001, FBT002 - as Pulumi calls it
        ) -> Any:  # noqa: ANN401
            return original(output, self._following(func, original), run_with_unknowns)

        pulumi.Output.apply = apply  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            pulumi.Output.apply = original  # type: ignore[method-assign]

    def _following(self, func: Callable[[Any], Any], original: Callable[..., Any]) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:  # noqa: ANN401
            try:
                result = func(value)
            except Exception:
                return UNKNOWN
            # A nested output cannot be computed again with other stand-ins.
            if isinstance(result, pulumi.Output):
                inside = self.texts(value)
                later: Any = original(result, lambda inner: self._unhidden(inner, inside), run_with_unknowns=True)
                return later if inside else result
            if inspect.isawaitable(result):
                return self._awaited(result, self.texts(value))
            return self.settled(func, value, result)

        return run

    async def _awaited(self, result: Awaitable[Any], inside: set[str]) -> Any:  # noqa: ANN401
        return self._unhidden(await result, inside)

    def _unhidden(self, result: Any, inside: set[str]) -> Any:  # noqa: ANN401
        return UNKNOWN if inside - self.texts(result) else result


def _outputs_of(type_: str) -> Mapping[str, Any]:
    """Return the output types of a resource type; empty if the program has no class for it."""
    found = _class_of(type_, pulumi.Resource)
    return _types.resource_types(found) if found else {}


def _class_of(type_: str, base: type) -> type | None:
    subclasses: list[type] = base.__subclasses__()
    for each in subclasses:
        if get_type_token(each) == type_:
            return each
        if found := _class_of(type_, each):
            return found
    return None


def _unwrapped(kind: Any) -> Any:  # noqa: ANN401
    """Remove Optional and Output from a type."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        inner = [each for each in typing.get_args(kind) if each is not type(None)]
        return _unwrapped(inner[0]) if len(inner) == 1 else None
    return _unwrapped(typing.get_args(kind)[0]) if origin is pulumi.Output else kind


def _part(output: ResourceOutput, step: str) -> ResourceOutput:
    return ResourceOutput(output.urn, f"{output.path}{step}")


def _core(output: ResourceOutput, salt: str) -> str:
    return "zq" + hashlib.sha256(f"{salt}\n{output.urn}\n{output.path}".encode()).hexdigest()[:18]


def _number(core: str) -> str:
    """Return an integer that a float represents exactly."""
    return f"9{int(core[2:], 16) % 10**14:014}"


def _shaped(path: str, core: str) -> str:
    """Return a stand-in in the format that programs parse: an ARN or an IPv6 CIDR, by the name of the output."""
    name = path.rpartition(".")[2].lower()
    if name.endswith("arn"):
        return ":".join(("arn", *["any"] * 4, core))  # six parts
    if name.startswith("ipv6cidrblock"):
        return f"fd{core[2:4]}:{core[4:8]}:{core[8:12]}:{core[12:14]}00::/56"
    return core


def _leaves(value: Any, place: _Place = ()) -> Iterator[tuple[_Place, Any]]:  # noqa: ANN401
    """Yield path and value of every leaf, including empty lists and maps."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(value[key], (*place, str(key)))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*place, index))
    else:
        yield place, value


def _replaced(value: Any, old: str, new: str) -> Any:  # noqa: ANN401
    """Return a copy with a text replaced; also in the digits of numbers."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, int | float) and not isinstance(value, bool) and str(int(value)) == old:
        return type(value)(int(new))
    if isinstance(value, dict):
        copied = copy.copy(value)  # types of outputs are dictionaries with attributes
        for key in value:
            dict.__setitem__(copied, key, _replaced(value[key], old, new))
        return copied
    if isinstance(value, list | tuple):
        return type(value)(_replaced(each, old, new) for each in value)
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 - a protobuf message
    """Convert a protobuf value to plain data that a Struct accepts."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _plain(inner) for key, inner in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    return getattr(value, kind) if kind and kind != "null_value" else None

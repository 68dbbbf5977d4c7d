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
_MIN_LENGTH = 6
"""Minimum length of a derived stand-in, in characters: shorter strings could occur by chance."""
_ALTERNATIVES = 8
"""Alternatives to call a function with; a boolean result is the same for some of them, so one is not enough."""
_MAX_DEPTH = 6
"""Maximum nesting of output types, some of which are recursive."""

_Path = tuple[str | int, ...]


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
        alternatives: Other texts of the same form.
    """

    outputs: frozenset[ResourceOutput]
    alternatives: tuple[str, ...]


@dataclass(slots=True)
class StandIns:
    """The stand-ins of one run of a program."""

    _cores: dict[str, _StandIn] = field(default_factory=dict)
    _formatted: dict[str, str] = field(default_factory=dict)
    """Texts in a format such as that of an ARN, by core."""
    _derived: dict[str, _StandIn] = field(default_factory=dict)
    """Stand-ins that do not contain a core: IPv6 CIDRs and results of functions such as digests."""

    # Answers

    def add(self, answer: Any, type_: str, urn: str) -> None:  # noqa: ANN401 - a protobuf message
        """Add stand-ins for the outputs of a resource type to the answer to a registration."""
        if not answer.id:
            answer.id = self.of(ResourceOutput(urn, ID))
        resource_class = _class_of(type_, pulumi.Resource)
        # Without a class in the program, the types of the outputs are unknown, so there are no stand-ins.
        for name, kind in (_types.resource_types(resource_class) if resource_class else {}).items():
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
        core = _core(output, "")
        alternatives = tuple(_core(output, str(n)) for n in range(_ALTERNATIVES))
        if kind in (int, float):
            number = _number(core)
            self._cores[number] = _StandIn(outputs, tuple(map(_number, alternatives)))
            return int(number)
        self._cores[core] = _StandIn(outputs, alternatives)
        text = _formatted(output.path, core)
        if text != core:
            self._formatted[core] = text
            if core not in text:
                formatted = tuple(_formatted(output.path, alternative) for alternative in alternatives)
                self._derived[text] = _StandIn(outputs, formatted)
        return text

    def forms(self, output: ResourceOutput) -> tuple[str, ...]:
        """Return all texts that stand for exactly this output."""
        core = _core(output, "")
        return core, _number(core), _formatted(output.path, core)

    def _value_of(self, kind: Any, output: ResourceOutput, depth: int) -> Any:  # noqa: ANN401
        """Return a stand-in of a type; None for types without stand-ins, such as booleans."""
        kind = _unwrapped(kind)
        if kind in (str, int, float):
            return self.of(output, kind)
        if depth > _MAX_DEPTH:
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
        return frozenset().union(*(self._stand_in(text).outputs for text in texts))

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Split a text; yield each part and whether it is a stand-in."""
        position = 0
        for begin, end in self._spans(text):
            if begin > position:
                yield text[position:begin], False
            yield text[begin:end], True
            position = end
        if position < len(text):
            yield text[position:], False

    def traced(self, function: Callable[[Any], Any], value: Any, result: Any) -> Any:  # noqa: ANN401
        """Return the result of a function if the outputs it depends on can be determined, else an unknown value.

        A string that hides some of the outputs it depends on becomes a stand-in itself.
        """
        hidden = self.texts(value) - self.texts(result)
        if not hidden:
            return result
        leaves = dict(_leaves(result))
        influences: dict[_Path, set[str]] = {}
        for text in sorted(hidden):
            core = _CORE.search(text) if text not in self._derived else None
            for alternative in self._stand_in(text).alternatives:
                try:
                    # An alternative replaces the core alone, so that the format around it stays.
                    result_of_alternative = function(_replaced(value, core[0] if core else text, alternative))
                    alternative_leaves = dict(_leaves(result_of_alternative))
                except Exception:
                    return UNKNOWN
                if alternative_leaves.keys() != leaves.keys():
                    return UNKNOWN
                for path, leaf in leaves.items():
                    if alternative_leaves[path] != leaf or type(alternative_leaves[path]) is not type(leaf):
                        influences.setdefault(path, set()).add(text)
        for path, texts in influences.items():
            leaf = leaves[path]
            if not isinstance(leaf, str) or len(leaf) < _MIN_LENGTH:
                return UNKNOWN
            digests = (hashlib.sha256(f"{n}{leaf}".encode()).hexdigest() for n in range(_ALTERNATIVES))
            alternatives = tuple(f"{digest}{leaf}"[: len(leaf)] for digest in digests)
            self._derived[leaf] = _StandIn(self.outputs({*texts, *self._in_leaf(leaf)}), alternatives)
        return result

    def _stand_in(self, text: str) -> _StandIn:
        if text in self._derived:
            return self._derived[text]
        if text in self._cores:
            return self._cores[text]
        core = _CORE.search(text)
        return self._cores[core[0]] if core else _StandIn(frozenset(), ())

    def _in_leaf(self, leaf: object) -> Iterator[str]:
        if isinstance(leaf, bool) or not isinstance(leaf, str | int | float):
            return
        text = str(int(leaf)) if isinstance(leaf, float) and leaf.is_integer() else str(leaf)
        yield from (text[begin:end] for begin, end in self._spans(text))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the positions of stand-ins in a text; of overlapping ones, the longest."""
        candidates = [
            *(match.span() for match in _CORE.finditer(text) if match[0] in self._cores),
            *(match.span() for match in _NUMBER.finditer(text) if match[0] in self._cores),
        ]
        for begin, end in tuple(candidates):
            formatted = self._formatted.get(text[begin:end], "")
            start = text.find(formatted, max(0, begin - len(formatted))) if formatted else -1
            if 0 <= start <= begin:
                candidates.append((start, start + len(formatted)))
        for derived in self._derived:
            start = text.find(derived)
            while start >= 0:
                candidates.append((start, start + len(derived)))
                start = text.find(derived, start + 1)
        spans: list[tuple[int, int]] = []
        for begin, end in sorted(set(candidates), key=lambda span: (span[0] - span[1], span[0])):
            if all(end <= first or begin >= last for first, last in spans):
                spans.append((begin, end))
        return sorted(spans)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Trace stand-ins through ``Output.apply`` while the block runs."""
        original = pulumi.Output.apply

        def apply(
            output: Any,  # noqa: ANN401
            func: Callable[[Any], Any],
            run_with_unknowns: bool = False,  # noqa: FBT001, FBT002 - as Pulumi calls it
        ) -> Any:  # noqa: ANN401
            return original(output, self._tracing(func, original), run_with_unknowns)

        pulumi.Output.apply = apply  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            pulumi.Output.apply = original  # type: ignore[method-assign]

    def _tracing(self, func: Callable[[Any], Any], original: Callable[..., Any]) -> Callable[[Any], Any]:
        async def awaited(result: Awaitable[Any], inputs: set[str]) -> Any:  # noqa: ANN401
            return self._unless_hidden(await result, inputs)

        def run(value: Any) -> Any:  # noqa: ANN401
            try:
                result = func(value)
            except Exception:
                return UNKNOWN
            # A nested output cannot be computed again with other stand-ins.
            if isinstance(result, pulumi.Output):
                inputs = self.texts(value)
                checked: Any = original(
                    result, lambda inner: self._unless_hidden(inner, inputs), run_with_unknowns=True
                )
                return checked if inputs else result
            if inspect.isawaitable(result):
                return awaited(result, self.texts(value))
            return self.traced(func, value, result)

        return run

    def _unless_hidden(self, result: Any, inputs: set[str]) -> Any:  # noqa: ANN401
        """Return the result if it contains every input stand-in, else an unknown value."""
        return UNKNOWN if inputs - self.texts(result) else result


def _class_of(type_: str, base: type) -> type | None:
    """Return the subclass that the program has imported for a resource type."""
    subclasses: list[type] = base.__subclasses__()
    for subclass in subclasses:
        if get_type_token(subclass) == type_:
            return subclass
        if match := _class_of(type_, subclass):
            return match
    return None


def _unwrapped(kind: Any) -> Any:  # noqa: ANN401
    """Remove Optional and Output from a type."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(kind) if member is not type(None)]
        return _unwrapped(members[0]) if len(members) == 1 else None
    return _unwrapped(typing.get_args(kind)[0]) if origin is pulumi.Output else kind


def _part(output: ResourceOutput, step: str) -> ResourceOutput:
    return ResourceOutput(output.urn, f"{output.path}{step}")


def _core(output: ResourceOutput, salt: str) -> str:
    return "zq" + hashlib.sha256(f"{salt}\n{output.urn}\n{output.path}".encode()).hexdigest()[:18]


def _number(core: str) -> str:
    """Return an integer that a float represents exactly."""
    return f"9{int(core[2:], 16) % 10**14:014}"


def _formatted(path: str, core: str) -> str:
    """Return a stand-in in the format that programs parse: an ARN or an IPv6 CIDR, by the name of the output."""
    name = path.rpartition(".")[2].lower()
    if name.endswith("arn"):
        return ":".join(("arn", *["any"] * 4, core))  # six parts
    if name.startswith("ipv6cidrblock"):
        return f"fd{core[2:4]}:{core[4:8]}:{core[8:12]}:{core[12:14]}00::/56"
    return core


def _leaves(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:  # noqa: ANN401
    """Yield path and value of every leaf, including empty lists and maps."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(value[key], (*path, str(key)))
    elif isinstance(value, list | tuple) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value


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
        return type(value)(_replaced(item, old, new) for item in value)
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 - a protobuf message
    """Convert a protobuf value to plain data that a Struct accepts."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _plain(inner) for key, inner in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    return getattr(value, kind) if kind and kind != "null_value" else None

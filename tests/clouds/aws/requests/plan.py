"""What a Pulumi resource asks of AWS, as data: the requests that make and delete it, its id and its outputs."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.values import UNKNOWN, Secret

ACCOUNT = "123456789012"
"""The account that moto plays."""


@dataclass(frozen=True)
class From:
    """A value that only an answer knows: a JMESPath expression over it, such as ``Vpc.VpcId``.

    The answer is the one to ``Plan.create``; below ``then`` are those to ``Plan.then``, in their order.
    """

    path: str


@dataclass(frozen=True)
class Text:
    """A text with ``{region}``, ``{account}``, ``{partition}``, ``{id}`` or JMESPath expressions in braces."""

    template: str


@dataclass(frozen=True)
class Request:
    """One call. Its parameters may hold ``From`` and ``Text``, which count as unknown until there is an answer."""

    service: str
    operation: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Lookup:
    """A call that finds something; what ``path`` says of the answer is empty if it is not there."""

    request: Request
    path: str


def lookup(service: str, operation: str, path: str, **params: Any) -> Lookup:
    return Lookup(Request(service, operation, params), path)


@dataclass(frozen=True)
class Plan:
    """All about one resource."""

    create: Request
    id: Any
    find: Lookup
    delete: Sequence[Request]
    then: Sequence[Request] = ()
    """What completes it, such as attributes that the first request cannot set."""
    by_itself: Sequence[Request] = ()
    """What the service does unasked and moto does not; the answers follow those to ``then``."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Beyond the inputs, as the provider's outputs are shaped."""
    needs: Sequence[Lookup] = ()
    """What has to be there before, where moto does not look by itself."""
    refused_if: Sequence[tuple[Lookup, str]] = ()
    """What else AWS looks at before: why it refuses, if anything is found."""
    problems: Sequence[str] = ()
    """What AWS documents and botocore's model of the request does not say."""
    answer: Mapping[str, Any] = field(default_factory=dict)
    """What stands for the answer to ``create`` where moto cannot give one."""


class Given:
    """The inputs of a resource, or of a block in it. Each has to be taken, so that none is ignored silently."""

    def __init__(self, inputs: Mapping[str, Any], where: str, logical: str = "") -> None:
        self._inputs = {name: value for name, value in inputs.items() if value is not None}
        self._where = where
        self._logical = logical
        self._taken: set[str] = set()
        self.problems: list[str] = []
        """Blocks that are none."""

    def __contains__(self, name: str) -> bool:
        return name in self._inputs

    def get(self, name: str, default: Any = None) -> Any:
        self._taken.add(name)
        return self._inputs.get(name, default)

    def id(self, *names: str) -> tuple[Any, ...]:
        """Take inputs that have to be known to name the resource."""
        return tuple(self.get(name) for name in names)

    def members(self, **wire: str) -> dict[str, Any]:
        """Take inputs under the names that AWS has for them; those that are not set are left out."""
        return {member: self.get(name) for member, name in wire.items() if name in self}

    def same(self, *names: str) -> dict[str, Any]:
        """Take inputs that AWS calls the same."""
        return self.members(**dict(zip(names, names, strict=True)))

    def block(self, name: str, convert: Callable[["Given"], Any]) -> Any:
        """Take a block, turned by ``convert``."""
        return self._nested(self.get(name), name, convert)

    def blocks(self, name: str, convert: Callable[["Given"], Any]) -> Any:
        """Take a list of blocks."""
        value = self.get(name, [])
        if not isinstance(value, list):
            return self._no_block(name, value)
        return [self._nested(item, f"{name}[{index}]", convert) for index, item in enumerate(value)]

    def _nested(self, value: Any, name: str, convert: Callable[["Given"], Any]) -> Any:
        if not isinstance(value, dict):
            return self._no_block(name, value)
        inner = Given(value, f"{self._where}.{name}")
        converted = convert(inner)
        inner.done()
        self.problems += [f"{name}.{problem}" for problem in inner.problems]
        return converted

    def _no_block(self, name: str, value: Any) -> Any:
        if value is not None and value is not UNKNOWN:
            self.problems.append(f"{name}: found {value!r}, allowed are blocks")
        return value

    def no_request(self, *names: str) -> None:
        """Take options that are the provider's alone, or matter only in updates and deletions."""
        self._taken.update(names)

    def name(self, wire: str = "name") -> Any:
        """Take the name, or make one as the provider does."""
        prefix = self.get(f"{wire}Prefix")
        if wire in self:
            return self.get(wire)
        digest = hashlib.sha256(self._where.encode() + self._logical.encode()).hexdigest()
        if isinstance(prefix, str):
            return f"{prefix}{int(digest, 16) % 10**26:026}"
        return f"{self._logical}-{digest[:7]}" if self._logical else UNKNOWN

    def done(self) -> None:
        """See that nothing is left.

        Raises:
            AssertionError: an input was not taken.
        """
        left = sorted(set(self._inputs) - self._taken)
        assert not left, f"{self._where}: no request is known for {', '.join(left)}"


Planner = Callable[[Given], Plan]


def within(low: int, value: Any, high: int) -> bool:
    """Whether a number is in bounds, or not set, or not known."""
    return value is None or value is UNKNOWN or (isinstance(value, int | float) and low <= value <= high)


def known(*values: Any) -> bool:
    return not any(value is UNKNOWN for value in values)


def drop_empty(params: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out members without a value, as the provider does with blocks that are not set."""
    return {name: value for name, value in params.items() if value is not None and value not in ([], {}, "")}


def listed(value: Any, kind: type = object) -> list[Any]:
    """Return the known items of a list that are of a kind; none of what is unknown, or no list."""
    return [item for item in value if known(item) and isinstance(item, kind)] if isinstance(value, list) else []


def key_values(tags: Any) -> Any:
    """Turn a map of tags into the list that most services want."""
    return [{"Key": key, "Value": value} for key, value in tags.items()] if isinstance(tags, dict) else tags


def reveal(value: Any) -> Any:
    """Open secrets, for which AWS has no notion."""
    if isinstance(value, Secret):
        return reveal(value.value)
    if isinstance(value, Mapping):
        return {key: reveal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [reveal(inner) for inner in value]
    return value

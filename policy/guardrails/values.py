"""The input and output of checks: resources as plain data with unknown values, and violations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final


class UntilDeployed:
    """A value that is unknown in a preview. It is not a violation, because the deployment runs the checks again."""

    def __repr__(self) -> str:
        """Return the text of the value in a message."""
        return "[unknown]"


UNKNOWN: Final = UntilDeployed()


@dataclass(frozen=True, slots=True)
class GuardedResource:
    """A resource of a preview or deployment.

    Attributes:
        type: Its type token.
        props: Its inputs (for resource policies) or outputs (for stack policies), with the schema's names.
        protect: Its resource option ``protect``.
        provider: The properties of its provider.
    """

    type: str
    name: str
    urn: str
    props: Mapping[str, Any] = field(default_factory=dict)
    protect: bool = False
    provider: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stack(self) -> str:
        """The stack's name in the URN: ``urn:pulumi:<stack>::<project>::<type>::<name>``."""
        return self.urn.split("::", 1)[0].removeprefix("urn:pulumi:")

    def at(self, path: str) -> Any:  # noqa: ANN401  any JSON
        """Return the value at a path such as ``vpcConfig.publicAccessCidrs``; None if missing, or UNKNOWN."""
        value: Any = self.props
        for step in path.split("."):
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def texts(self, path: str) -> list[str]:
        """Return the known strings of a list, or a single string, at a path."""
        return list(known_texts(self.at(path)))


def known_texts(value: object) -> Iterator[str]:
    """Yield a value if it is a string, or the strings in it if it is a list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        yield from (item for item in value if isinstance(item, str))


def plain(value: object, unknown: type[Exception]) -> Any:  # noqa: ANN401  any JSON
    """Return the value of one of Pulumi's proxies, with ``UNKNOWN`` for unknown values.

    Args:
        value: A value of ``pulumi_policy``.
        unknown: The exception of its proxies for unknown values (pulumi_policy 1.21, proxy.py: UnknownValueError).
    """
    # Item by item: the exception would otherwise end the whole policy at the first unknown value.
    if isinstance(value, Mapping):
        return {key: _known(value.__getitem__, key, unknown) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_known(value.__getitem__, index, unknown) for index in range(len(value))]
    return value


def _known(get: Callable[[Any], object], key: object, unknown: type[Exception]) -> Any:  # noqa: ANN401  any JSON
    try:
        return plain(get(key), unknown)
    except unknown:
        return UNKNOWN


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a policy.

    Attributes:
        urn: URN of the resource; empty for the whole stack.
    """

    urn: str
    message: str


def violation(subject: GuardedResource, path: str, value: object, allowed: str, step: str) -> Violation:
    """Return a violation whose message has the field, its value, the allowed values and the next step."""
    field_path = f"{subject.type} {subject.name!r}: {path}"
    return Violation(subject.urn, f"{field_path} is {value!r}; allowed: {allowed}; {step}")

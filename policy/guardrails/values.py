"""What a check looks at: a resource as plain data, in which what is not known yet says so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final


class UntilDeployed:
    """A value that only the deployment will tell. It is nobody's fault, and looked at again when it is known."""

    def __repr__(self) -> str:
        """Return how it reads in a message."""
        return "[unknown]"


UNKNOWN: Final = UntilDeployed()


@dataclass(frozen=True, slots=True)
class GuardedResource:
    """A resource that a stack is about to have.

    Attributes:
        type: Its type token.
        props: Its inputs (of a single resource) or outputs (in a stack), as the provider's schema names them.
        protect: Whether Pulumi protects it.
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
        """The stack's name, which is in every URN: ``urn:pulumi:<stack>::<project>::<type>::<name>``."""
        return self.urn.split("::", 1)[0].removeprefix("urn:pulumi:")

    def at(self, path: str) -> Any:  # noqa: ANN401  whatever a resource has
        """Return what is at a path, such as ``vpcConfig.publicAccessCidrs``: None if nothing, UNKNOWN if unknown."""
        value: Any = self.props
        for step in path.split("."):
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def texts(self, path: str) -> list[str]:
        """Return the known texts of a list, or the one text, at a path."""
        return list(known_texts(self.at(path)))


def known_texts(value: object) -> Iterator[str]:
    """Yield the texts in a value that is one, or a list of some."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence):
        yield from (each for each in value if isinstance(each, str))


def plain(value: object, unknown: type[Exception]) -> Any:  # noqa: ANN401  any JSON
    """Return what Pulumi's proxies hold. Reading an unknown value through one raises, and would end the whole policy.

    Args:
        value: What ``pulumi_policy`` hands over.
        unknown: What its proxies raise (pulumi_policy 1.21, proxy.py: UnknownValueError).
    """
    if isinstance(value, Mapping):
        return {key: _known(value.__getitem__, key, unknown) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_known(value.__getitem__, at, unknown) for at in range(len(value))]
    return value


def _known(get: Callable[[Any], object], key: object, unknown: type[Exception]) -> Any:  # noqa: ANN401  any JSON
    try:
        return plain(get(key), unknown)
    except unknown:
        return UNKNOWN


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with a resource.

    Attributes:
        urn: Of the resource; empty for the whole stack.
    """

    urn: str
    message: str


def violation(subject: GuardedResource, path: str, found: object, allowed: str, step: str) -> Violation:
    """Say what is wrong: where, what was found, what is allowed, and what to do."""
    where = f"{subject.type} {subject.name!r}: {path}"
    return Violation(subject.urn, f"{where} is {found!r}; allowed: {allowed}; {step}")

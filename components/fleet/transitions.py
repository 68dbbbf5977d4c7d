"""Changes of deployed resources, as a cloud judges them: what it refuses, and what other resources still need."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..contract.findings.ids import RuleId


class Transition(NamedTuple):
    """The change of one resource of a cloud between two revisions.

    Attributes:
        title: Name for readers.
        type: Its type token.
        before: Its inputs before, with unknown values as their source in brackets; None if it is new.
        after: Its inputs after; None if it is deleted.
        changed: The fields that differ, each with its value before and after, as text; None if it is not set. Without
            fields that the program ignores.
        replaced: Whether a new resource takes its place.
        deletes_first: Whether the old resource is deleted before the new one is created.
        is_released: Whether the program now only reads the resource, which then no longer belongs to the stack.
        is_claimed: Whether the program creates the resource now, which it only read before.
    """

    title: str
    type: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    changed: Mapping[str, tuple[str | None, str | None]] = MappingProxyType({})
    replaced: bool = False
    deletes_first: bool = False
    is_released: bool = False
    is_claimed: bool = False


class RefusedChange(NamedTuple):
    """A change that must not be deployed.

    Attributes:
        setting: The setting that causes it, such as ``cluster.version``.
        reason: What is found, why it is refused, and the next step.
        resource: Title of the resource.
        field: The field of the resource; empty if it is the resource as a whole.
    """

    rule: RuleId
    setting: str
    reason: str
    resource: str
    field: str = ""


class Store(NamedTuple):
    """What is lost with a resource that is deleted.

    Attributes:
        reason: What is lost, as a clause.
        setting: The setting whose change deletes it; empty if there are several.
        advice: How to keep it; empty if that is the former setting.
        is_cache: Whether it can be made again.
    """

    reason: str
    setting: str = ""
    advice: str = ""
    is_cache: bool = True


class Need(NamedTuple):
    """A field through which a resource needs another one for as long as it exists, whatever the field says later.

    Attributes:
        field: The field.
        setting: The setting whose change usually deletes what is needed; empty if there are several.
        reason: Why it keeps needing the former value, as the end of a sentence.
        advice: What to do instead of deleting what is needed.
    """

    field: str
    setting: str
    reason: str
    advice: str

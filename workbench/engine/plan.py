"""What is to be done: steps, one for each resource, and all of them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .diff import Change
from .program.graph import Node
from .program.resources import CHARTS, KUBERNETES, urn_type
from .state import StateRow


class Op(enum.StrEnum):
    """What is done to a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    SAME = "same"
    PENDING = "pending"
    FORGET = "forget"
    """Removed from the state and left in the cluster."""
    DISCARD = "discard"
    """Deletes the former object of a replacement, after everything else. It counts as part of the replacement."""


CHANGING = (Op.CREATE, Op.UPDATE, Op.REPLACE, Op.DELETE, Op.FORGET)


@dataclass(slots=True)
class Step:
    """One resource and what is done to it."""

    op: Op
    urn: str
    node: Node | None = None
    row: StateRow | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What is applied, secrets in their wrapping."""
    sealed: Mapping[str, Any] = field(default_factory=dict)
    """What is stored."""
    changes: list[Change] = field(default_factory=list)
    note: str = ""
    cluster: str = ""
    moves: bool = False
    """Whether the new object has another name, namespace or cluster than the row's: both can exist at a time."""
    first: StateRow | None = None
    """What is deleted before the new object can be created."""
    in_the_way: StateRow | None = None
    """What may be deleted if the API server says that the object under this name cannot change in place."""

    @property
    def is_object(self) -> bool:
        """Whether an API server is involved."""
        return is_object(self.urn)

    @property
    def parent(self) -> str:
        """URN of the parent."""
        return self.node.registration.parent if self.node else self.row.parent if self.row else ""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """URNs of what must exist before and be gone after."""
        if self.node:
            return _needs(self.node)
        return (*self.row.dependencies, self.row.provider) if self.row else ()


@dataclass(slots=True)
class ChangePlan:
    """All steps, in an order that respects dependencies: deletions last, dependents first."""

    steps: dict[str, Step] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    """Rows of clusters that are gone."""
    renamed: list[tuple[str, StateRow]] = field(default_factory=list)
    """Former URN, and the row under its new one."""

    def having(self, *ops: Op) -> list[Step]:
        """Return the steps that do one of these."""
        return [step for step in self.steps.values() if step.op in ops]


def is_object(urn: str) -> bool:
    """Whether a URN is that of a Kubernetes object."""
    type_ = urn_type(urn).rsplit("$", 1)[-1]
    return type_.split(":", 1)[0] == KUBERNETES and not type_.startswith(CHARTS)


def _needs(node: Node) -> tuple[str, ...]:
    registration = node.registration
    needed = (*registration.dependencies, registration.parent, registration.provider)
    return tuple(dict.fromkeys(urn for urn in needed if urn))

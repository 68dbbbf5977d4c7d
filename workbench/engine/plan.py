"""The plan of a deployment: one step for each resource."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .diff import Change
from .program.graph import Node
from .program.resources import CHARTS, KUBERNETES, PROVIDERS, urn_type
from .state import StateRow


class Op(enum.StrEnum):
    """The operation on a resource."""

    CREATE = "create"
    IMPORT = "import"
    """Take over an object that exists already."""
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    SAME = "same"
    PENDING = "pending"
    FORGET = "forget"
    """Remove from the state, and keep the object in the cluster."""
    DISCARD = "discard"
    """Delete the former object of a replacement, after everything else; counted as part of the replacement."""


CHANGING = (Op.CREATE, Op.IMPORT, Op.UPDATE, Op.REPLACE, Op.DELETE, Op.FORGET)
APPLIED = (Op.CREATE, Op.IMPORT, Op.UPDATE, Op.REPLACE)
"""Operations that apply an object."""


@dataclass(slots=True)
class Step:
    """A resource and its operation."""

    op: Op
    urn: str
    node: Node | None = None
    row: StateRow | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Inputs to apply, with secrets as ``Secret``."""
    sealed: Mapping[str, Any] = field(default_factory=dict)
    """Inputs to store, with secrets sealed."""
    changes: list[Change] = field(default_factory=list)
    note: str = ""
    taken: tuple[str, ...] = ()
    """Lines about fields that an import takes from other managers."""
    cluster: str = ""
    moves: bool = False
    """Whether name, namespace or cluster change, so that the old and the new object can coexist."""
    delete_first: StateRow | None = None
    """The object to delete before the new one can be created."""
    replaceable: StateRow | None = None
    """The object to delete if the API server rejects an update in place."""

    @property
    def is_object(self) -> bool:
        """Whether the resource is a Kubernetes object."""
        return is_object(self.urn)

    @property
    def is_component(self) -> bool:
        """Whether this is a component, which only groups resources: it is in no cluster, and is not counted."""
        if self.node:
            return not self.node.registration.custom
        return not (self.is_object or urn_type(self.urn).rsplit("$", 1)[-1].startswith(PROVIDERS))

    @property
    def parent(self) -> str:
        """URN of the parent."""
        return self.node.registration.parent if self.node else self.row.parent if self.row else ""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """URNs of resources that must be created before this one and deleted after it."""
        if self.node:
            registration = self.node.registration
            needed = (*registration.dependencies, registration.parent, registration.provider)
            return tuple(dict.fromkeys(urn for urn in needed if urn))
        return (*self.row.dependencies, self.row.provider) if self.row else ()


@dataclass(slots=True)
class ChangePlan:
    """All steps in dependency order; deletions come last, dependents first."""

    steps: dict[str, Step] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why it must not be applied."""
    forgotten: list[str] = field(default_factory=list)
    """URNs whose cluster no longer exists."""
    renamed: list[tuple[str, StateRow]] = field(default_factory=list)
    """Former URNs, and the rows under their new URNs."""

    def having(self, *ops: Op) -> list[Step]:
        """Return the steps with one of the operations."""
        return [step for step in self.steps.values() if step.op in ops]


def is_object(urn: str) -> bool:
    """Whether a URN is that of a Kubernetes object."""
    type_ = urn_type(urn).rsplit("$", 1)[-1]
    return type_.split(":", 1)[0] == KUBERNETES and not type_.startswith(CHARTS)

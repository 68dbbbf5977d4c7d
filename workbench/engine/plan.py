"""What to do: the graph of the program against the state and what is alive."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .diff import Change, changes, ignored, replacing
from .program.graph import Node, ResourceGraph
from .program.resources import CHARTS, KUBERNETES, KUBERNETES_PROVIDER, urn_name, urn_type
from .state import Intent, StateRow
from .targets import Targets, identity, living
from .values import seal


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


def _is_provider(urn: str) -> bool:
    return urn_type(urn).rsplit("$", 1)[-1] == KUBERNETES_PROVIDER


def _needs(node: Node) -> tuple[str, ...]:
    registration = node.registration
    needed = (*registration.dependencies, registration.parent, registration.provider)
    return tuple(dict.fromkeys(urn for urn in needed if urn))


class Planner:
    """Makes the plan of an ``up`` or ``preview``, or with an empty graph that of a ``destroy``."""

    def __init__(
        self,
        graph: ResourceGraph | None,
        rows: Mapping[str, StateRow],
        targets: Targets,
        key: bytes,
        *,
        offline: bool = False,
        strict: bool = True,
    ) -> None:
        self._nodes = graph.nodes if graph else {}
        self._rows = dict(rows)
        self._targets = targets
        self._key = key
        self._offline = offline
        self._strict = strict
        self._alive: dict[str, dict[tuple[str, str], dict[str, bool]]] = {}
        self._plan = ChangePlan()

    def plan(self) -> ChangePlan:
        """Compare."""
        self._rename()
        self._connect()
        self._refresh()
        for node in self._nodes.values():
            self._plan.steps[node.urn] = self._step(node)
        for urn in _deletion_order({u: r for u, r in self._rows.items() if u not in self._nodes}):
            self._plan.steps[urn] = self._removal(self._rows[urn])
        return self._plan

    def _rename(self) -> None:
        """Follow aliases: the row of a former URN goes on under today's."""
        for node in self._nodes.values():
            if node.urn in self._rows:
                continue
            for old in node.former:
                if old in self._rows and old not in self._nodes:
                    row = replace(self._rows.pop(old), urn=node.urn)
                    self._rows[node.urn] = row
                    self._plan.renamed.append((old, row))
                    break

    def _connect(self) -> None:
        """Reach the clusters, and forget what was on clusters that are gone."""
        for urn, node in self._nodes.items():
            if _is_provider(urn):
                self._targets.add(urn, node.inputs)
        for urn, row in self._rows.items():
            if _is_provider(urn):
                self._targets.add(urn, row.inputs or {})
        if self._offline:
            return
        uids = {urn: self._uid(urn) for urn in self._providers()}
        gone: dict[str, int] = {}
        for urn, row in list(self._rows.items()):
            if row.cluster and uids.get(row.provider) and row.cluster not in uids.values():
                gone[row.provider] = gone.get(row.provider, 0) + 1
                self._plan.forgotten.append(urn)
                del self._rows[urn]
        for provider, count in gone.items():
            self._plan.notes.append(
                f"provider {urn_name(provider)!r} now points to a different cluster; {count} resources in the old "
                "cluster are forgotten"
            )

    def _providers(self) -> list[str]:
        """Return the providers that have something to do."""
        used = {
            node.registration.provider
            for node in self._nodes.values()
            if node.registration.is_object and not node.pending
        }
        used |= {row.provider for row in self._rows.values() if row.cluster}
        return sorted(used)

    def _uid(self, provider: str) -> str:
        target = self._targets.connect(provider) if self._strict else self._targets.reach(provider)
        if target is None:
            self._plan.notes.append(f"{self._targets.problems[provider]}\nThe plan is based on the saved state only.")
            return ""
        return target.uid

    def _refresh(self) -> None:
        """Ask each cluster which of the objects in the state are still there: one list per kind."""
        kinds: dict[str, set[tuple[str, str]]] = {}
        for row in self._rows.values():
            if row.cluster and row.uid and row.inputs:
                kinds.setdefault(row.cluster, set()).add(identity(row.inputs)[:2])
        for cluster, wanted in kinds.items():
            target = self._targets.by_cluster(cluster)
            if target:
                self._alive[cluster] = living(target, sorted(wanted))

    def _gone(self, row: StateRow) -> bool:
        alive = self._alive.get(row.cluster)
        if alive is None or not row.inputs or not row.uid:
            return False
        return alive[identity(row.inputs)[:2]].get(row.uid, True)

    def _step(self, node: Node) -> Step:
        row = self._rows.get(node.urn)
        if node.pending:
            return Step(Op.PENDING, node.urn, node, row, node.inputs, note=node.pending)
        if not node.registration.is_object:
            return self._virtual(node, row)
        target = None if self._offline else self._targets.reach(node.registration.provider)
        cluster = target.uid if target else ""
        inputs = self._with_namespace(node.inputs, target.namespace if target else "")
        if row and row.inputs:
            inputs = ignored(row.inputs, inputs, node.registration.ignore_changes)
        step = Step(Op.CREATE, node.urn, node, row, inputs, seal(inputs, self._key), cluster=cluster)
        if row is not None and row.inputs is not None:
            self._compare(step, node, row)
        return step

    def _compare(self, step: Step, node: Node, row: StateRow) -> None:
        found = replacing(changes(row.inputs, step.sealed), step.inputs, node.registration.replace_on_changes)
        step.changes = found
        if step.cluster and row.cluster and row.cluster != step.cluster:
            step.op, step.note = Op.REPLACE, "moves to another cluster"
        elif row.intent in (Intent.REPLACING, Intent.DELETING):
            step.op, step.note = Op.REPLACE, "resumes an interrupted step"
        elif row.intent:
            step.op = Op.CREATE if row.intent == Intent.CREATING else Op.UPDATE
            step.note = "resumes an interrupted step"
        elif self._gone(row):
            step.op, step.note = Op.CREATE, "was deleted outside this stack"
        elif any(change.replaces for change in found):
            fields = ", ".join(change.path for change in found if change.replaces)
            step.op, step.note = Op.REPLACE, f"cannot change in place: {fields}"
        elif found:
            step.op = Op.UPDATE
        else:
            step.op = Op.SAME

    def _with_namespace(self, inputs: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
        meta = inputs["metadata"]
        if not namespace or not isinstance(meta, dict) or meta.get("namespace"):
            return inputs
        return {**inputs, "metadata": {**meta, "namespace": namespace}}

    def _virtual(self, node: Node, row: StateRow | None) -> Step:
        """Plan a component or a provider: nothing but a row in the state."""
        sealed = seal(dict(node.inputs), self._key)
        step = Step(Op.CREATE, node.urn, node, row, node.inputs, sealed)
        if row is not None:
            step.changes = changes(row.inputs or {}, sealed) if node.registration.custom else []
            step.op = Op.UPDATE if step.changes else Op.SAME
        return step

    def _removal(self, row: StateRow) -> Step:
        step = Step(Op.DELETE, row.urn, row=row, cluster=row.cluster)
        if row.retain:
            step.op, step.note = Op.FORGET, "retained: it stays in the cluster"
        elif row.adopted:
            step.op, step.note = Op.FORGET, "existed before this stack: it stays in the cluster"
        return step


def _deletion_order(rows: Mapping[str, StateRow]) -> list[str]:
    """Return URNs so that whatever needs something comes before it."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(rows):
        stack = [(start, False)]
        while stack:
            urn, done = stack.pop()
            if done:
                order.append(urn)
                continue
            if urn in seen or urn not in rows:
                continue
            seen.add(urn)
            stack.append((urn, True))
            row = rows[urn]
            stack += [(need, False) for need in (*row.dependencies, row.parent, row.provider)]
    return order[::-1]

"""Deletions: resources that are no longer in the program, and the former objects of replacements.

A resource in the state and another one in the program can refer to the same object: after a rename without an alias,
or if two objects swap their names. An object that a resource of the program refers to is never deleted for another;
because the Pulumi CLI deletes it, such a plan is refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from components.plan.review.transitions import deleted_object

from ..plan import Op, Step, is_object
from ..program.resources import urn_name
from ..state import StateRow
from ..targets import ObjectKey, object_key

_NAMESPACE = ("", "Namespace")
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")


class Removals:
    """Computes the deletions of a plan whose other steps are known."""

    def __init__(self, rows: Mapping[str, StateRow], steps: Mapping[str, Step]) -> None:
        self._rows = rows
        self._steps = steps
        self._owners: dict[ObjectKey, set[str]] = {}
        """URNs of the resources of the program that refer to an object."""
        for step in steps.values():
            if not step.is_object:
                continue
            if step.op is not Op.PENDING:
                key = object_key(step.inputs, step.cluster or (step.row.cluster if step.row else ""))
            elif step.row and step.row.inputs is not None:
                key = object_key(step.row.inputs, step.row.cluster)
            else:
                continue
            self._owners.setdefault(key, set()).add(step.urn)
        self.notes: list[str] = []
        self.refused: list[str] = []

    def make_room(self) -> None:
        """Set for every other step which object it can delete in order to create its own."""
        deletable: dict[ObjectKey, StateRow] = {}
        for row in self._rows.values():
            key = _key_of_row(row)
            # Prefer the row of the resource itself to leftovers of another one.
            if key and not _is_kept(row) and (key not in deletable or row.urn in self._steps):
                deletable[key] = row
        for step in self._steps.values():
            if not step.node or not step.is_object or step.op is Op.PENDING:
                continue
            key = object_key(step.inputs, step.cluster or (step.row.cluster if step.row else ""))
            own_key = _key_of_row(step.row) if step.row else None
            if self._owners[key] == {step.urn}:
                step.replaceable = step.row if own_key == key else deletable.get(key)
            if step.op is Op.REPLACE and not step.moves and step.row:
                has_other_owner = own_key and self._owners.get(own_key, set()) - {step.urn}
                step.delete_first = None if has_other_owner else step.row

    def steps(self) -> dict[str, Step]:
        """Return the deletions, dependents first."""
        leaving = {urn: row for urn, row in self._rows.items() if urn not in self._steps}
        former = {
            row.urn: row
            for step in self._steps.values()
            if step.moves and step.row and step.row.inputs is not None and (row := former_row(step.row))
        }
        rows = {**leaving, **former}
        kept = {key for row in rows.values() if _is_kept(row) and (key := _key_of_row(row))}
        return {
            urn: self._step(rows[urn], Op.DISCARD if urn in former else Op.DELETE, kept)
            for urn in _deletion_order(rows)
        }

    def _step(self, row: StateRow, op: Op, kept: set[ObjectKey]) -> Step:
        step = Step(op, row.urn, row=row, cluster=row.cluster)
        key = _key_of_row(row)
        if row.replaced_by and op is Op.DELETE:
            step.note = "left by an interrupted replacement"
        if row.retain:
            step.op, step.note = Op.FORGET, "retained: it stays in the cluster"
        elif row.adopted:
            step.op, step.note = Op.FORGET, "existed before this stack: it stays in the cluster"
        elif key and (owners := self._owners.get(key)):
            step.op, step.note = Op.FORGET, f"its object belongs to {urn_name(min(owners))} and stays"
            if op is Op.DISCARD or not row.replaced_by:
                former = row.replaced_by or row.urn
                self.refused.append(deleted_object(key.kind, key.namespace, key.name, former, min(owners)))
        elif key in kept:
            step.op, step.note = Op.FORGET, "another resource of this stack retains its object, which stays"
        elif key and (content := self._content(key, row)):
            step.op = Op.SAME
            self.notes.append(
                f"{key.kind} {key.name} is no longer in the program, but {content} is, which would be deleted "
                "with it; it is deleted once nothing depends on it"
            )
        return step

    def _content(self, key: ObjectKey, row: StateRow) -> str:
        """Return an object of the program that would be deleted with a namespace or a CRD; empty without one."""
        kind = (key.group, key.kind)
        spec = (row.inputs or {}).get("spec") or {}
        names = spec.get("names") or {} if kind == _DEFINITION else {}
        for owned in self._owners:
            if owned.cluster != key.cluster:
                continue
            in_namespace = kind == _NAMESPACE and owned.namespace == key.name
            of_kind = bool(names) and (owned.group, owned.kind) == (spec.get("group"), names.get("kind"))
            if in_namespace or of_kind:
                return f"{owned.kind} {owned.namespace}/{owned.name}"
        return ""


def former_row(row: StateRow) -> StateRow:
    """Return the row for the old object of a replacement until it is deleted."""
    key = _key_of_row(row)
    name = f"{key.namespace}/{key.name}" if key else ""
    urn = f"{row.urn} (was {name} in {row.cluster[:8]})"
    return replace(row, urn=urn, replaced_by=row.urn)


def _key_of_row(row: StateRow) -> ObjectKey | None:
    return object_key(row.inputs, row.cluster) if row.inputs is not None and is_object(row.urn) else None


def _is_kept(row: StateRow) -> bool:
    return row.retain or row.adopted


def needs_of(row: StateRow, former: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the dependencies of a row, including their former objects."""
    for urn in (*row.dependencies, row.parent, row.provider):
        yield urn
        yield from former.get(urn, ())


def former_by_urn(rows: Iterable[StateRow | None]) -> dict[str, list[str]]:
    """Return the rows of former objects by resource."""
    former: dict[str, list[str]] = {}
    for row in rows:
        if row and row.replaced_by:
            former.setdefault(row.replaced_by, []).append(row.urn)
    return former


def _deletion_order(rows: Mapping[str, StateRow]) -> list[str]:
    """Return URNs in order, dependents before their dependencies.

    Depth first with an explicit stack: chains of dependencies may be longer than Python's recursion limit.
    """
    former = former_by_urn(rows.values())
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(rows):
        stack = [(start, False)]
        while stack:
            urn, expanded = stack.pop()
            if expanded:
                order.append(urn)
                continue
            if urn in seen or urn not in rows:
                continue
            seen.add(urn)
            stack.append((urn, True))
            stack += [(need, False) for need in needs_of(rows[urn], former)]
    return order[::-1]

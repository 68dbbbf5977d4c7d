"""Planning: comparing the resource graph with the state and with live objects."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.contract.texts.secrets import replace_in_object
from toolkit.kube import KubeError

from ...errors import WorkbenchError
from ..apply.conflicts import apply_over
from ..apply.objects import MANAGER, look_up
from ..diff import changes, ignored, replacing
from ..plan import ChangePlan, Op, Step
from ..program.graph import Node, ResourceGraph
from ..program.resources import KUBERNETES_PROVIDER, urn_name, urn_type
from ..state import Intent, StateRow
from ..targets import Target, Targets, identity, live_uids, object_key
from ..values import Secret, resealed, reveal, seal
from .removals import Removals

_OF_SERVER = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


def _is_provider(urn: str) -> bool:
    return urn_type(urn).rsplit("$", 1)[-1] == KUBERNETES_PROVIDER


class Planner:
    """Creates the plan of an ``up`` or ``preview``; without a graph, that of a ``destroy``."""

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
        self._rename()
        self._connect()
        self._refresh()
        for node in self._nodes.values():
            self._plan.steps[node.urn] = self._step(node)
        removals = Removals(self._rows, self._plan.steps)
        removals.make_room()
        self._plan.steps |= removals.steps()
        self._plan.notes += removals.notes
        self._plan.refused += removals.refused
        return self._plan

    def _rename(self) -> None:
        """Follow aliases: move rows from former to current URNs."""
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
        """Connect to the clusters, and forget resources of clusters that no longer exist."""
        for urn, node in self._nodes.items():
            if _is_provider(urn):
                self._targets.add(urn, node.inputs)
        for urn, row in self._rows.items():
            if _is_provider(urn):
                self._targets.add(urn, row.inputs or {})
        if self._offline:
            return
        used = {
            node.registration.provider
            for node in self._nodes.values()
            if node.registration.is_object and not node.pending
        }
        used |= {row.provider for row in self._rows.values() if row.cluster}
        uids: dict[str, str] = {}
        for provider in sorted(used):
            target = self._targets.connect(provider) if self._strict else self._targets.try_connect(provider)
            if target:
                uids[provider] = target.uid
            else:
                problem = self._targets.problems[provider]
                self._plan.notes.append(f"{problem}\nThe plan is based on the saved state only.")
        self._plan.notes += self._targets.repairs()
        gone: dict[str, int] = {}
        for urn, row in list(self._rows.items()):
            if row.cluster and row.provider in uids and row.cluster not in uids.values():
                gone[row.provider] = gone.get(row.provider, 0) + 1
                self._plan.forgotten.append(urn)
                del self._rows[urn]
        for provider, count in gone.items():
            self._plan.notes.append(
                f"provider {urn_name(provider)!r} now points to a different cluster; {count} resources in the old "
                "cluster are forgotten"
            )

    def _refresh(self) -> None:
        """Look up which objects of the state still exist, with one list request per kind."""
        kinds: dict[str, set[tuple[str, str]]] = {}
        for row in self._rows.values():
            if row.cluster and row.uid and row.inputs:
                kinds.setdefault(row.cluster, set()).add(identity(row.inputs)[:2])
        for cluster, cluster_kinds in kinds.items():
            target = self._targets.by_cluster(cluster)
            if target:
                self._alive[cluster] = live_uids(target, sorted(cluster_kinds))

    def _gone(self, row: StateRow) -> bool:
        """Whether the object is deleted or being deleted."""
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
        provider, inputs = node.registration.provider, node.inputs
        target = None if self._offline else self._targets.try_connect(provider)
        if target:
            cluster = target.uid
            meta = inputs["metadata"]
            if target.namespace and isinstance(meta, dict) and not meta.get("namespace"):
                inputs = {**inputs, "metadata": {**meta, "namespace": target.namespace}}
        else:
            rows = self._rows.values()
            cluster = next((other.cluster for other in rows if other.cluster and other.provider == provider), "")
        if row and row.inputs:
            inputs = ignored(row.inputs, inputs, node.registration.ignore_changes)
        step = Step(
            op=Op.CREATE,
            urn=node.urn,
            node=node,
            row=row,
            inputs=inputs,
            sealed=seal(inputs, self._key),
            cluster=cluster,
        )
        if node.registration.import_id and (row is None or row.intent is Intent.IMPORTING):
            plan_import(step, target)
        elif row is not None and row.inputs is not None:
            self._compare(step, node, row)
        return step

    def _compare(self, step: Step, node: Node, row: StateRow) -> None:
        before = resealed(row.inputs, step.sealed, self._key)
        step.changes = replacing(changes(before, step.sealed), step.inputs, node.registration.replace_on_changes)
        fixed = ", ".join(change.path for change in step.changes if change.replaces)
        deleting = row.intent in (Intent.REPLACING, Intent.DELETING)
        # An interrupted deletion may not have reached the API server: compare an object that exists like any other.
        exists = bool(row.uid) and row.cluster in self._alive and not self._gone(row)
        if object_key(step.inputs, step.cluster or row.cluster) != object_key(row.inputs or {}, row.cluster):
            step.op, step.moves = Op.REPLACE, node.registration.delete_before_replace is not True
            if step.cluster and row.cluster and row.cluster != step.cluster:
                step.note = "moves to another cluster"
            else:
                step.note = f"cannot change in place: {fixed}; the old object is deleted last"
        elif deleting and not exists:
            step.op, step.note = Op.REPLACE, "resumes an interrupted step"
        elif row.intent and not deleting:
            step.op = Op.CREATE if row.intent == Intent.CREATING else Op.UPDATE
            step.note = "resumes an interrupted step"
        elif self._gone(row):
            step.op, step.note = Op.CREATE, "was deleted outside this stack"
        elif any(change.replaces for change in step.changes):
            step.op, step.note = Op.REPLACE, f"cannot change in place: {fixed}"
        elif step.changes:
            step.op = Op.UPDATE
        else:
            step.op = Op.SAME

    def _virtual(self, node: Node, row: StateRow | None) -> Step:
        """Plan a component or a provider, which exists only in the state."""
        sealed = seal(dict(node.inputs), self._key)
        step = Step(op=Op.CREATE, urn=node.urn, node=node, row=row, inputs=node.inputs, sealed=sealed)
        if row is not None:
            step.changes = (
                changes(resealed(row.inputs or {}, sealed, self._key), sealed) if node.registration.custom else []
            )
            step.op = Op.UPDATE if step.changes else Op.SAME
        return step


def plan_import(step: Step, target: Target | None) -> None:
    """Plan the import of an object, with the fields that it changes in the cluster.

    Raises:
        WorkbenchError: the object does not exist, or the API server rejects the declared one.
    """
    step.op = Op.IMPORT
    if target is None:
        step.note = "not compared with the cluster"
        return
    declared = reveal(dict(step.inputs))
    title = f"{declared['kind']} {step.node.registration.import_id if step.node else ''}"
    try:
        live = look_up(target.kube, declared)
        if live is None:
            raise WorkbenchError(
                f"{title} does not exist, so that it cannot be imported; remove it from the imports "
                "(inference-platform:adopted) to create it"
            )
        applied = apply_over(target.kube, declared, MANAGER, dry_run=True)
    except KubeError as error:
        if error.unreachable:
            raise
        raise WorkbenchError(f"{title} cannot be imported as it is declared: {error.message}") from error
    if declared["kind"] == "Secret":
        return  # never compare or show its content
    step.taken = applied.taken
    step.changes = changes(_comparable(live), _comparable(applied.live))


def _comparable(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people declare of an object, with values that look like secrets marked."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_SERVER}
    body = {**{key: value for key, value in obj.items() if key != "status"}, "metadata": metadata}
    return dict(replace_in_object(body, lambda secret, _: Secret(secret)))

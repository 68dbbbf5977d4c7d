"""Applying a plan in parallel; the intent of each step is stored before its API call."""

import http
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolkit.kube import KubeError, NoSuchKindError

from ...errors import WorkbenchError
from ..plan import APPLIED, ChangePlan, Op, Step
from ..planning.removals import former_row
from ..program.resources import urn_name
from ..state import Intent, State, StateError, StateRow
from ..targets import Target, Targets
from ..values import reveal, secret_texts
from .accounts import without_account
from .objects import (
    CRD,
    LateError,
    Patience,
    await_established,
    await_gone,
    delete_object,
    foreign,
    is_created_here,
    put,
    refuse_strangers,
    with_live,
)
from .ownership import take_over
from .schedule import Schedule

_TRIES = 2
_INTENTS = {Op.UPDATE: Intent.UPDATING, Op.IMPORT: Intent.IMPORTING}
_TRANSIENT = (409, 429, 500, 502, 503, 504)
Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that did not succeed."""

    urn: str
    message: str
    causes: tuple[tuple[str, str], ...] = ()
    skipped: bool = False
    late: bool = False
    """Whether it was a timeout, so that a retry may succeed."""


@dataclass(slots=True)
class Result:
    """The completed and the failed steps, and lines about fields that were taken from other managers."""

    done: list[Step] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Executor:
    """Creates, updates and replaces the objects of a plan."""

    state: State
    targets: Targets
    progress: Progress = lambda _: None
    workers: int = 8
    handed: frozenset[str] = frozenset()
    """URNs of resources that another engine has created for this stack."""
    result: Result = field(default_factory=Result)
    patience: Patience = field(default_factory=Patience)
    _steps: Mapping[str, Step] = field(default_factory=dict)
    _applied: set[str] = field(default_factory=set)

    def apply(self, plan: ChangePlan) -> Result:
        """Apply all steps except deletions; retry timeouts once."""
        self._begin(plan)
        self._steps = {urn: step for urn, step in plan.steps.items() if step.node}
        for tries_left in reversed(range(_TRIES)):
            Schedule(
                needs={urn: step.dependencies for urn, step in self._steps.items()},
                work=self._work,
                trivial=self._trivial,
                skip=self._skip,
                workers=self.workers,
                rank=self._rank,
            ).run()
            failures = self.result.failures
            if not tries_left or not failures or not all(failure.late or failure.skipped for failure in failures):
                break
            failures.clear()
        return self.result

    def _begin(self, plan: ChangePlan) -> None:
        """Store changes without API calls: renames, forgotten clusters, components, providers and options."""
        for old, row in plan.renamed:
            self.state.rename(old, row)
        self.state.forget(plan.forgotten)
        rows = []
        for step in plan.steps.values():
            if not step.node or step.op is Op.PENDING:
                continue
            if not step.is_object:
                rows.append(row_of(step))
                if step.op is not Op.SAME:
                    self.result.done.append(step)
            elif step.op is Op.SAME and step.row:
                row = row_of(step).settled(step.row.uid)
                if replace(row, adopted=step.row.adopted) != step.row:
                    rows.append(replace(row, adopted=step.row.adopted))
        self.state.write(rows)

    def _trivial(self, urn: str) -> bool:
        step = self._steps[urn]
        return not step.is_object or step.op not in APPLIED or urn in self._applied

    def _rank(self, urn: str) -> int:
        """Create Services first, as Helm does, so that they exist before pods start.

        It is also faster: the API server allocates their addresses one by one, which is slow once the controllers of
        workloads keep it busy.
        """
        sealed = self._steps[urn].sealed
        return 0 if (sealed.get("apiVersion"), sealed.get("kind")) == ("v1", "Service") else 1

    def _work(self, urn: str) -> bool:
        step = self._steps[urn]
        try:
            self._apply(step)
        except KubeError as error:
            if error.unreachable:
                raise  # the other steps would time out as well
            self.result.failures.append(replace(failure_of(step, error), late=self._is_transient(error)))
            return False
        except StateError:
            raise  # never apply what cannot be recorded
        except WorkbenchError as error:
            self.result.failures.append(Failure(urn, str(error), late=isinstance(error, LateError)))
            return False
        self.result.done.append(step)
        self._applied.add(urn)
        self.patience.progress()
        self.progress(step)
        return True

    def _skip(self, urn: str, because: str) -> None:
        step = self._steps[urn]
        if step.op in APPLIED and step.is_object:
            self.result.failures.append(
                Failure(urn, f"skipped: it depends on {urn_name(because)}, which failed", skipped=True)
            )

    # One step

    def _apply(self, step: Step) -> None:
        if step.node is None:
            raise TypeError(step.urn)
        target = self.targets.connect(step.node.registration.provider)
        obj = reveal(dict(step.inputs))
        if step.delete_first:
            self._remove(step, step.delete_first, target)
        elif step.op is Op.UPDATE and step.node.registration.ignore_changes:
            obj = with_live(target.kube, obj, step.node.registration.ignore_changes)
        if step.op is Op.UPDATE and step.row:
            obj = without_account(obj, reveal(dict(step.row.inputs or {})))
        # Recorded before the call, so that the state shows an operation that was interrupted.
        row = replace(row_of(step), cluster=target.uid, intent=_INTENTS.get(step.op, Intent.CREATING))
        if step.op is Op.UPDATE and step.row:
            row = replace(row, uid=step.row.uid, adopted=step.row.adopted)
        elif step.op is Op.CREATE and step.row:  # an earlier run was interrupted
            row = replace(row, adopted=step.row.adopted)
        former = [former_row(step.row)] if step.moves and step.row else []
        self.state.write([*former, row])
        try:
            live, created, taken = put(target.kube, obj, self._is_transient, self.patience)
        except KubeError as error:
            if step.op is Op.IMPORT or step.delete_first or not error.immutable or step.replaceable is None:
                raise
            self._remove(step, step.replaceable, target)
            fields = ", ".join(dict.fromkeys(path for path, _ in error.causes if path)) or error.message
            step.op, step.note = Op.REPLACE, f"cannot change in place: {fields}"
            row = replace(row, intent=Intent.CREATING, uid="")
            self.state.write([row])
            live, created, taken = put(target.kube, obj, self._is_transient, self.patience)
        self.result.taken += taken
        if step.op is Op.IMPORT:
            take_over(target.kube, live)
        elif (step.op is Op.CREATE or step.moves) and not created and foreign(live):
            if step.urn in self.handed:
                step.note = "taken over from the Pulumi CLI"
            else:
                row = replace(row, adopted=True)
                step.note = "already existed: adopted, and kept by destroy"
                # Recorded before the call, after which nothing on the object shows that it was another owner's.
                self.state.write([row])
            take_over(target.kube, live)
        if obj["kind"] == CRD:
            await_established(target.kube, obj["metadata"]["name"], self.patience)
        self.state.write([row.settled(target.kube.uid_of(live, obj["kind"]))])

    def _remove(self, step: Step, row: StateRow, target: Target) -> None:
        """Delete the object to replace, and wait until it is gone."""
        if row.inputs is None:
            return
        if step.node and (step.node.protect or row.protect):
            raise WorkbenchError("it is protected, but the change requires a replacement")
        kube = (self.targets.by_cluster(row.cluster) or target).kube
        refuse_strangers(kube, row.inputs)
        if row.urn == step.urn:
            self.state.write([replace(row, intent=Intent.REPLACING)])
        if row.uid or is_created_here(kube, row.inputs):
            delete_object(kube, row.inputs, row.uid)
            await_gone(kube, row.inputs, uid=row.uid)

    def _is_transient(self, error: KubeError) -> bool:
        """Whether an error is expected to disappear: a retry may succeed once other steps have progressed."""
        if isinstance(error, NoSuchKindError):
            return any(step.is_object and step.sealed.get("kind") == CRD for step in self._steps.values())
        if error.status == http.HTTPStatus.NOT_FOUND:
            return "namespaces" in error.message and any(
                step.sealed.get("kind") == "Namespace" for step in self._steps.values()
            )
        if error.status == http.HTTPStatus.FORBIDDEN:
            return "is terminating" in error.message
        if error.status == http.HTTPStatus.INTERNAL_SERVER_ERROR:
            return "typed patch object" not in error.message
        return error.status in _TRANSIENT


def failure_of(step: Step, error: KubeError) -> Failure:
    """Return the error of the API server for a step, with quoted secrets masked."""
    hidden = sorted(secret_texts(step.inputs), key=len, reverse=True)

    def clean(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, "[secret]")
        return text

    causes = tuple((field_, clean(message)) for field_, message in error.causes)
    message = f"{error.reason}: {clean(error.message)}" if error.reason else clean(error.message)
    return Failure(step.urn, message, causes)


def row_of(step: Step) -> StateRow:
    """Return the row of a completed step."""
    node = step.node
    if node is None:
        raise TypeError(step.urn)
    registration = node.registration
    return StateRow(
        urn=node.urn,
        type=registration.type,
        parent=registration.parent,
        provider=registration.provider,
        cluster=step.cluster,
        inputs=step.sealed,
        dependencies=registration.dependencies,
        protect=node.protect,
        retain=node.retain,
        deleted_with=registration.deleted_with,
    )

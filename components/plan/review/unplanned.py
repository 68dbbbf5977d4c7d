"""Models that an error keeps from being planned: they have no figures, because none of them would come true."""

from dataclasses import replace

from ...checks.memory.cases import Fit
from ...families import FAMILIES
from ...fleet.objects import HPA
from ..scaler_kinds import SCALER_KINDS
from ..scalers import VERTICAL
from .review import ModelChange
from .snapshot import FindingState, ServedModel, Snapshot

_NOTHING = (0, 0, 0)


def marked(change: ModelChange, head: Snapshot, base: Snapshot | None) -> ModelChange:
    """Remove the figures of a revision in which the model has an error, or is missing because of one."""
    after, before = change.after, change.before
    unplanned = _has_error(after, head) if after else _is_missing(before, head)
    was_unplanned = base is not None and (_has_error(before, base) if before else _is_missing(after, base))
    return replace(
        change,
        after=_without_verdicts(after) if after and unplanned else after,
        before=_without_verdicts(before) if before and was_unplanned else before,
        cost_after=None if unplanned else change.cost_after,
        cost_before=None if was_unplanned else change.cost_before,
        speeds=() if unplanned or was_unplanned else change.speeds,
        unplanned=unplanned,
        was_unplanned=was_unplanned,
    )


def without_figures(snapshot: Snapshot) -> Snapshot:
    """Remove the figures of models with errors, and the totals that contain them.

    Nodes are shared, so no total of the other models' nodes is known; their shares are kept.
    """
    if not snapshot.is_refused:
        return snapshot
    wrong = {(model.namespace, model.title) for model in snapshot.models if _has_error(model, snapshot)}
    bill = snapshot.bill
    return replace(
        snapshot,
        models=tuple(
            _without_verdicts(model) if (model.namespace, model.title) in wrong else model
            for model in snapshot.models
        ),
        workloads=tuple(
            replace(state, start=None) if (state.namespace, state.served) in wrong else state
            for state in snapshot.workloads
        ),
        bill=bill
        and replace(
            bill,
            items=(),
            simulated_items=(),
            estimates=(),
            notes=(),
            models=tuple(cost for cost in bill.models if (cost.namespace, cost.title) not in wrong),
        ),
    )


def not_rendered(head: Snapshot, base: Snapshot | None) -> list[ModelChange]:
    """Return the resources that have an error and are in neither plan, so that each error has its row."""
    models = [model for snapshot in (head, base) if snapshot for model in snapshot.models]
    known = {model.title for model in models}
    served = {model.key[0] for model in models}
    served |= {member.kind.kind for family in FAMILIES for member in family.members if member.serves}
    scalers = {HPA, VERTICAL[1], *(kind for _, kind in SCALER_KINDS)}
    # A manifest that was read has a row only if its kind serves models: one that was rejected may be any.
    known |= {f"{each.kind}/{each.name}" for each in head.manifests if each.kind not in served}
    files: dict[str, str] = {}
    for finding in _errors(head):
        title = f"{finding.kind}/{finding.name}"
        if finding.kind and finding.kind not in scalers and title not in known:
            files.setdefault(title, finding.file)
    namespaces = {f"{manifest.kind}/{manifest.name}": manifest.namespace for manifest in head.manifests}
    return [
        ModelChange(
            before=None,
            after=ServedModel(
                title=title,
                namespace=namespaces.get(title, ""),
                model=title.partition("/")[2],
                file=file,
                workloads=(),
                replicas=_NOTHING,
                accelerators=_NOTHING,
                groups=(),
            ),
            unplanned=True,
        )
        for title, file in sorted(files.items())
    ]


def _has_error(model: ServedModel | None, snapshot: Snapshot) -> bool:
    return model is not None and any(
        f"{finding.kind}/{finding.name}" == model.title and finding.file == model.file
        for finding in _errors(snapshot)
    )


def _is_missing(model: ServedModel | None, snapshot: Snapshot) -> bool:
    """Whether a model of the other revision is missing here because of errors, and not because it is removed."""
    if model is None or snapshot.absent or not snapshot.is_refused:
        return False
    # With unreadable settings or files, it is unknown what there would be.
    if snapshot.failed or not snapshot.models:
        return True
    if any(manifest.key == model.key for manifest in snapshot.manifests):
        return True
    return any(
        f"{finding.kind}/{finding.name}" == model.title or (not finding.kind and finding.file == model.file)
        for finding in _errors(snapshot)
    )


def _without_verdicts(model: ServedModel) -> ServedModel:
    """Keep only the verdicts that are errors themselves."""
    kept = {name: verdict for name, verdict in model.verdicts.items() if verdict.fit is Fit.EXCEEDED}
    return replace(model, verdicts=kept)


def _errors(snapshot: Snapshot) -> list[FindingState]:
    return [finding for finding in snapshot.findings if finding.severity == "error" and not finding.ignored]

"""Models that an error keeps from being planned: they have no figures, because none of them would come true."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...checks.memory.cases import Fit
from ...families import FAMILIES
from ...fleet.objects import HPA
from ..scaler_kinds import SCALER_KINDS
from ..scalers import VERTICAL
from .review import ModelChange
from .snapshot import FindingState, ServedModel, Snapshot

_NOTHING = (0, 0, 0)


class _Errors:
    """The errors of a revision by what they are about: there may be thousands of models and of errors."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        wrong = _errors(snapshot)
        self.titles = {f"{finding.kind}/{finding.name}" for finding in wrong}
        self.subjects = {(f"{finding.kind}/{finding.name}", finding.file) for finding in wrong}
        self.files = {finding.file for finding in wrong if not finding.kind}
        self.planned = {manifest.key for manifest in snapshot.manifests}

    def has(self, model: ServedModel | None) -> bool:
        return model is not None and (model.title, model.file) in self.subjects

    def hide(self, model: ServedModel | None) -> bool:
        """Whether a model of the other revision is missing here because of errors, and not because it is removed."""
        if model is None or self.snapshot.absent or not self.snapshot.is_refused:
            return False
        # With unreadable settings or files, it is unknown what there would be.
        if self.snapshot.failed or not self.snapshot.models:
            return True
        return model.key not in self.planned and (model.title in self.titles or model.file in self.files)


def marked(changes: Iterable[ModelChange], head: Snapshot, base: Snapshot | None) -> Iterator[ModelChange]:
    """Remove the figures of revisions in which the model has an error, or is missing because of one."""
    errors, earlier = _Errors(head), _Errors(base) if base else None
    for change in changes:
        after, before = change.after, change.before
        unplanned = errors.has(after) if after else errors.hide(before)
        was_unplanned = earlier is not None and (earlier.has(before) if before else earlier.hide(after))
        yield replace(
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
    errors = _Errors(snapshot)
    wrong = {(model.namespace, model.title) for model in snapshot.models if errors.has(model)}
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


def _without_verdicts(model: ServedModel) -> ServedModel:
    """Keep only the verdicts that are errors themselves."""
    kept = {name: verdict for name, verdict in model.verdicts.items() if verdict.fit is Fit.EXCEEDED}
    return replace(model, verdicts=kept)


def _errors(snapshot: Snapshot) -> list[FindingState]:
    return [finding for finding in snapshot.findings if finding.severity == "error" and not finding.ignored]

"""Compares two revisions."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...contract.findings.ids import RuleId
from ..costs.bill import ModelCost
from .blast import blasts
from .contents import with_downloads
from .differences import value_text
from .nodes import node_changes, noted
from .renames import Renames
from .resources import compare_resources
from .review import Blast, EndpointChange, ModelChange, Review, Thresholds
from .snapshot import FindingState, ServedModel, Snapshot
from .speeds import speed_changes
from .thresholds import counted, failures
from .traffic import TrafficComparison, exceeded
from .transitions import findings as refused_findings
from .transitions import with_lost_cluster
from .unplanned import marked, not_rendered, without_figures
from .upgrades import upgrades

_Key = tuple[str, ...]
_ManifestKey = tuple[str, str, str]


def review(
    head: Snapshot,
    base: Snapshot | None,
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    traffic: TrafficComparison | None = None,
) -> Review:
    """Compare a revision with its base, if there is one.

    If the program fails for one of them, its resources are unknown: then only models and findings are compared.

    Args:
        head: The proposed revision.
        base: The revision to compare with.
        thresholds: Thresholds above which the review fails.
        traffic: Figures of both under a trace of requests.
    """
    result = _review(head, base)
    reasons = failures(result.head, thresholds)
    if traffic is not None:
        reasons = (*reasons, *exceeded(traffic, thresholds.traffic))
    return replace(
        result,
        head=without_figures(result.head),
        base=without_figures(base) if base else None,
        models=(*marked(result.models, head, base), *not_rendered(head, base)),
        traffic=traffic,
        failures=reasons,
    )


def _review(head: Snapshot, base: Snapshot | None) -> Review:
    if base is None:
        return Review(head, models=_models(head, None, Renames()), notes=head.notes)
    notes = [*head.notes, *base.notes]
    if head.is_refused:
        notes.append("the program fails for this revision, so its changes are unknown")
    if base.is_refused:
        reason = f": {base.failed}" if base.failed else ""
        notes.append(f"the program fails for the base, so the changes to it are unknown{reason}")
    renames = Renames.of(base, head)
    models = _models(head, base, renames)
    new, fixed = _findings(head, base, renames)
    if head.failed:
        fixed = ()  # without a plan, nothing is known to be fixed
    if head.is_refused or base.is_refused:
        effects = _once_fixed(base, head, models, renames)
        if effects:
            notes.append("restarts are those of the change once its errors are fixed")
        return Review(head, base, blasts=effects, models=models, new=new, fixed=fixed, notes=tuple(notes))
    changes, refused = compare_resources(base.resources, head.resources, base.sources, head.sources)
    against = refused_findings(with_downloads(refused, base, head, changes), head)
    nodes = node_changes(base, head, changes)
    changes = noted(changes, nodes)
    effects = blasts(base, head, changes=changes, models=models, renames=renames, nodes=nodes)
    if any(refusal.rule is RuleId.CHANGE_REPLACES_CLUSTER for refusal in refused):
        effects = with_lost_cluster(effects, base, head)
    return Review(
        replace(head, findings=(*head.findings, *against)),
        base,
        changes=changes,
        blasts=effects,
        models=models,
        endpoints=tuple(_endpoints(base.endpoints, head.endpoints)),
        new=(*new, *(finding for finding in against if not finding.ignored)),
        fixed=fixed,
        notes=tuple(notes),
        upgrades=tuple(upgrades(base, head, changes)),
    )


def _once_fixed(base: Snapshot, head: Snapshot, models: Sequence[ModelChange], renames: Renames) -> tuple[Blast, ...]:
    """Return the restarts of a change with errors, for the workloads that both revisions render.

    An error in the arguments of an engine does not change how controllers replace its pods, and it may have run for
    long. Others that are missing may only be so because of an error.
    """
    both = {workload.title for workload in base.workloads} & {workload.title for workload in head.workloads}
    before, after = (
        replace(each, workloads=tuple(workload for workload in each.workloads if workload.title in both))
        for each in (base, head)
    )
    return blasts(before, after, changes=(), models=models, renames=renames, nodes={})


def _models(head: Snapshot, base: Snapshot | None, renames: Renames) -> tuple[ModelChange, ...]:
    """Match the resources that serve models: by kind and name, by manifest, by name alone, by served model."""
    moved = {new: old for old, new in renames.keys.items()}
    before, after = list(base.models if base else ()), list(head.models)
    pairs = [
        *_matched(before, after, lambda model: (model.namespace, model.title)),
        *_renamed(before, after, moved),
        *_matched(before, after, lambda model: (model.namespace, model.title.partition("/")[2])),
        *_matched(before, after, lambda model: (model.model,)),
        *((model, None) for model in before),
        *((None, model) for model in after),
    ]
    ordered = sorted(pairs, key=lambda pair: [_place(model) for model in (pair[1] or pair[0],) if model])
    old_costs, new_costs = _costs(base), _costs(head)
    return tuple(
        ModelChange(old, new, _cost(old, old_costs), _cost(new, new_costs), speed_changes(old, new, base, head))
        for old, new in ordered
    )


def _place(model: ServedModel) -> _Key:
    return model.namespace, model.title


def _matched(
    before: list[ServedModel], after: list[ServedModel], key: Callable[[ServedModel], Hashable]
) -> list[tuple[ServedModel | None, ServedModel | None]]:
    """Remove the models with a key that is unique in both lists, and return them in pairs."""
    olds, news = _single(before, key), _single(after, key)
    pairs = [(olds[value], news[value]) for value in news if value in olds]
    for old, new in pairs:
        before.remove(old)
        after.remove(new)
    return list(pairs)


def _renamed(
    before: list[ServedModel], after: list[ServedModel], moved: Mapping[_ManifestKey, _ManifestKey]
) -> list[tuple[ServedModel | None, ServedModel | None]]:
    """Remove the models whose manifest was renamed from both lists, and return them in pairs."""
    olds = {model.key: model for model in before}
    pairs = [(olds[moved[new.key]], new) for new in after if moved.get(new.key) in olds]
    for old, new in pairs:
        before.remove(old)
        after.remove(new)
    return list(pairs)


def _single(models: Sequence[ServedModel], key: Callable[[ServedModel], Hashable]) -> dict[Hashable, ServedModel]:
    numbers = Counter(map(key, models))
    return {key(model): model for model in models if numbers[key(model)] == 1}


def _costs(snapshot: Snapshot | None) -> dict[_Key, ModelCost]:
    bill = snapshot.bill if snapshot else None
    return {(cost.namespace, cost.title): cost for cost in bill.models} if bill else {}


def _cost(model: ServedModel | None, costs: Mapping[_Key, ModelCost]) -> ModelCost | None:
    return costs.get(_place(model)) if model else None


def _endpoints(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[EndpointChange]:
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield EndpointChange(name, _address(before.get(name)), _address(after.get(name)))


def _address(endpoint: Mapping[str, Any] | None) -> str | None:
    if endpoint is None:
        return None
    url = value_text(endpoint.get("url"))
    details = [f"{key} {value_text(endpoint[key])}" for key in sorted(endpoint) if key != "url"]
    return f"{url} ({', '.join(details)})" if details else url


def _findings(
    head: Snapshot, base: Snapshot, renames: Renames
) -> tuple[tuple[FindingState, ...], tuple[FindingState, ...]]:
    """Return the findings that are only in the head, and those only in the base.

    A finding that is ignored now is not fixed; one that differs only by renamed objects is neither new nor fixed.
    """
    new, fixed = [*_without(counted(head), counted(base))], [*_without(counted(base), head.findings)]
    ignored = [*_without((finding for finding in head.findings if finding.ignored), base.findings)]
    for old in tuple(fixed if renames.words else ()):
        for candidates in (new, ignored):
            same = next((finding for finding in candidates if renames.is_same(old, finding)), None)
            if same:
                candidates.remove(same)
                fixed.remove(old)
                break
    return tuple(new), tuple(fixed)


def baseline_states(result: Review) -> dict[FindingState, str]:
    """Return the ``baselineState`` of each finding of the head (SARIF 2.1.0, 3.27.24).

    ``updated`` findings differ only by renamed objects.
    """
    base = result.base.findings if result.base else ()
    before = frozenset(map(_same, base))
    new = frozenset(result.new)
    renames = Renames.of(result.base, result.head) if result.base else Renames()
    states = {}
    for finding in result.head.findings:
        if finding in new:
            states[finding] = "new"
        elif _same(finding) in before:
            states[finding] = "unchanged"
        else:
            states[finding] = "updated" if any(renames.is_same(old, finding) for old in base) else "new"
    return states


def _without(findings: Iterable[FindingState], excluded: Iterable[FindingState]) -> Iterator[FindingState]:
    """Yield the multiset difference of findings."""
    remaining = Counter(map(_same, excluded))
    for finding in findings:
        if remaining[_same(finding)]:
            remaining[_same(finding)] -= 1
        else:
            yield finding


def _same(finding: FindingState) -> _Key:
    """Return the identity of a finding: without its line, and without the file for named objects."""
    file = "" if finding.kind else finding.file
    return finding.rule, finding.severity, file, finding.kind, finding.name, finding.path, finding.reason

"""What one revision changes against another one."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..costs.bill import ModelCost
from .blast import blasts
from .differences import value_text
from .renames import Renames
from .resources import resource_changes
from .review import EndpointChange, ModelChange, Review, Thresholds
from .snapshot import FindingState, ServedModel, Snapshot
from .speeds import speed_changes
from .thresholds import counted, failures

_Key = tuple[str, ...]
_ManifestKey = tuple[str, str, str]


def review(head: Snapshot, base: Snapshot | None, thresholds: Thresholds = Thresholds()) -> Review:  # noqa: B008
    """Compare what is proposed with what is there, if there is something to compare with.

    Where one of the two is refused, it is not known what the program would register: then only models and findings
    are compared.
    """
    wrong = failures(head, thresholds)
    if base is None:
        return Review(head, models=_models(head, None, Renames()), notes=head.notes, failures=wrong)
    notes = (*head.notes, *base.notes, *_unknown(head, base))
    renames = Renames.of(base, head)
    models = _models(head, base, renames)
    new, fixed = _findings(head, base, renames)
    if head.is_refused or base.is_refused:
        return Review(head, base, models=models, new=new, fixed=fixed, notes=notes, failures=wrong)
    changes = resource_changes(base.resources, head.resources, base.sources, head.sources)
    return Review(
        head,
        base,
        changes=changes,
        blasts=blasts(base, head, changes, models, renames),
        models=models,
        endpoints=tuple(_endpoints(base.endpoints, head.endpoints)),
        new=new,
        fixed=fixed,
        notes=notes,
        failures=wrong,
    )


def _unknown(head: Snapshot, base: Snapshot) -> Iterator[str]:
    """Yield why the resources cannot be compared."""
    if head.is_refused:
        yield "the program refuses this revision, so what it would change is not known"
    if base.is_refused:
        why = f": {base.failed}" if base.failed else ""
        yield f"the program refuses the base, so what changes against it is not known{why}"


def _models(head: Snapshot, base: Snapshot | None, renames: Renames) -> tuple[ModelChange, ...]:
    """Return all resources that serve, of both revisions: by name, else by what moved to another kind or name."""
    moved = {new: old for old, new in renames.keys.items()}
    before, after = list(base.models if base else ()), list(head.models)
    found = [
        *_matched(before, after, lambda model: (model.namespace, model.title)),
        *_renamed(before, after, moved),
        *_matched(before, after, lambda model: (model.namespace, model.title.partition("/")[2])),
        *_matched(before, after, lambda model: (model.model,)),
        *((model, None) for model in before),
        *((None, model) for model in after),
    ]
    ordered = sorted(found, key=lambda pair: [_place(model) for model in (pair[1] or pair[0],) if model])
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
    """Take out of both lists what has one key that nothing else there has."""
    olds, news = _single(before, key), _single(after, key)
    both = [(olds[each], news[each]) for each in news if each in olds]
    for old, new in both:
        before.remove(old)
        after.remove(new)
    return list(both)


def _renamed(
    before: list[ServedModel], after: list[ServedModel], moved: Mapping[_ManifestKey, _ManifestKey]
) -> list[tuple[ServedModel | None, ServedModel | None]]:
    """Take out of both lists what is the same manifest under another name."""
    olds = {model.key: model for model in before}
    found = [(olds[moved[new.key]], new) for new in after if moved.get(new.key) in olds]
    for old, new in found:
        before.remove(old)
        after.remove(new)
    return list(found)


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
    """Write where a model answers, and as what."""
    if endpoint is None:
        return None
    url = value_text(endpoint.get("url"))
    further = [f"{key} {value_text(endpoint[key])}" for key in sorted(endpoint) if key != "url"]
    return f"{url} ({', '.join(further)})" if further else url


def _findings(
    head: Snapshot, base: Snapshot, renames: Renames
) -> tuple[tuple[FindingState, ...], tuple[FindingState, ...]]:
    """Return what only the head has and what only the base has.

    What is ignored now is not fixed, and what differs by names that were replaced is neither.
    """
    new, fixed = [*_without(counted(head), counted(base))], [*_without(counted(base), head.findings)]
    ignored = [*_without((each for each in head.findings if each.ignored), base.findings)]
    for old in tuple(fixed if renames.words else ()):
        for others in (new, ignored):
            found = next((each for each in others if renames.is_same(old, each)), None)
            if found:
                others.remove(found)
                fixed.remove(old)
                break
    return tuple(new), tuple(fixed)


def baseline_states(found: Review) -> dict[FindingState, str]:
    """Return what each finding of the head is beside the base, in the words of SARIF 2.1.0 (3.27.24).

    ``updated`` is what differs by names that were replaced.
    """
    base = found.base.findings if found.base else ()
    before = frozenset(map(_same, base))
    new = frozenset(found.new)
    renames = Renames.of(found.base, found.head) if found.base else Renames()
    states = {}
    for each in found.head.findings:
        if each in new:
            states[each] = "new"
        elif _same(each) in before:
            states[each] = "unchanged"
        else:
            states[each] = "updated" if any(renames.is_same(old, each) for old in base) else "new"
    return states


def _without(found: Iterable[FindingState], others: Iterable[FindingState]) -> Iterator[FindingState]:
    """Yield the findings that others do not have, each as often as it is not there."""
    there = Counter(map(_same, others))
    for finding in found:
        if there[_same(finding)]:
            there[_same(finding)] -= 1
        else:
            yield finding


def _same(finding: FindingState) -> _Key:
    """Return what makes two findings the same: not the line, and not the file of something that has a name."""
    file = "" if finding.kind else finding.file
    return finding.rule, finding.severity, file, finding.kind, finding.name, finding.path, finding.reason

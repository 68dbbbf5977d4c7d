"""What ``plan`` says of an update, held against what the provider model does."""

from collections import Counter
from collections.abc import Iterator, Mapping

from components.plan.review.compare import review
from components.plan.review.resources import PROTECTED
from components.plan.review.review import Blast, Interruption, Review
from tests.provider_model.engine import Engine, Outcome
from tests.provider_model.program import Program
from tests.provider_model.refusals import STORES
from tests.provider_model.world import World

_CONTENTS = "change-deletes-contents"
_ROUNDING = 60
"""Seconds: readers get whole minutes."""
_SECOND = 1


def refusals(result: Review) -> list[str]:
    """Return why ``plan`` says that an update must not be deployed."""
    errors = [
        f"{finding.path or finding.kind}: {finding.reason}"
        for finding in result.head.findings
        if finding.severity == "error" and not finding.ignored
    ]
    protected = [f"{change.title}: {change.note}" for change in result.changes if change.note == PROTECTED]
    return [*filter(None, [result.head.failed]), *errors, *protected]


def update(world: World, before: Program | None, after: Program) -> tuple[Review, Outcome | None, list[str]]:
    """Plan an update, deploy it unless the plan refuses it, and compare.

    Args:
        world: What exists.
        before: The revision that is deployed; None without one.
        after: The revision to deploy.

    Returns:
        The review, what the model did, and in what both disagree.
    """
    result = review(after.snapshot, before.snapshot if before else None)
    if refusals(result):
        return result, None, []
    outcome = Engine(world, after).run()
    graces = {title: load.grace for title, load in world.cluster.loads.items()}
    return result, outcome, list(_disagreements(result, outcome, {} if world.slow else graces))


def _disagreements(result: Review, outcome: Outcome, graces: Mapping[str, float]) -> Iterator[str]:
    if outcome.failed:
        yield f"the update fails: {outcome.failed}"
    yield from (f"lost: {text}" for text in outcome.lost)
    if outcome.failed or result.base is None:
        return
    yield from _changes(result, outcome)
    yield from _restarts(result, outcome, graces)


def _changes(result: Review, outcome: Outcome) -> Iterator[str]:
    said = Counter(
        (change.kind.value, change.urn.rpartition("$")[2]) for change in result.changes if not change.former
    )
    did = Counter((kind.value, urn.rpartition("$")[2]) for urn, kind in outcome.changes.items())
    renamed = {change.urn for change in result.changes if change.former}
    emptied = any(kind in ("deleted", "replaced") and name.startswith(STORES) for kind, name in did)
    warned = any(finding.path.startswith("modelCache") for finding in result.new if finding.rule == _CONTENTS)
    if emptied is not warned:
        yield f"a file system is {'' if emptied else 'not '}deleted, and it says {'so' if warned else 'nothing'}"
    for kind, name in sorted((did - said).elements()):
        if not any(urn.endswith(name) for urn in renamed):
            yield f"{name} is {kind}, and the plan does not say so"
    for kind, name in sorted((said - did).elements()):
        yield f"{name} is not {kind}, and the plan says so"


def _restarts(result: Review, outcome: Outcome, graces: Mapping[str, float]) -> Iterator[str]:
    said = {blast.title: blast for blast in result.blasts}
    for title in sorted({*said, *outcome.restarted}):
        blast, count = said.get(title), outcome.restarted.get(title, 0)
        expected = blast.replicas if blast and _restarts_pods(blast) else 0
        # A replica that restarts twice is one that restarts.
        actual = min(count, max(expected, 1)) if count and expected else count
        if actual != expected:
            yield f"{title}: {count} replicas restart, and the plan says {expected}"
        elif blast and expected and title in graces:
            yield from _minutes(title, blast, outcome, graces[title] * count)


def _restarts_pods(blast: Blast) -> bool:
    return blast.disruption in (Interruption.GAP, Interruption.SURGE)


def _minutes(title: str, blast: Blast, outcome: Outcome, ending: float) -> Iterator[str]:
    """The plan never says less than what happens, and not much more than that and the time of old pods to end."""
    short = outcome.short.get(title)
    missing, seconds = (short.most, short.seconds) if short else (0, 0.0)
    if blast.seconds is None:
        return
    if missing > blast.short:
        yield f"{title}: {missing} replicas are missing at once, and the plan says {blast.short}"
    # Less than is said: a node that starts although another one gets room in time has not pulled the image.
    if seconds > 1.1 * blast.seconds + _ROUNDING:
        yield f"{title}: short for {seconds:.0f} s, and the plan says {blast.seconds}"
    # More than is said: nodes that several models share get room for one while another one ends, and the plan lets an
    # evicted pod end before its successor starts. Where nodes stay, it says no more than what happens.
    most = seconds + _SECOND if _is_template_alone(blast) else 1.5 * seconds + ending + 5 * _ROUNDING
    if blast.seconds > most:
        yield f"{title}: short for only {seconds:.0f} s, and the plan says {blast.seconds}"


def _is_template_alone(blast: Blast) -> bool:
    """Whether pods restart on their nodes, because of their template and nothing else."""
    return all(
        cause.startswith("spec.") and "affinity" not in cause and "nodeSelector" not in cause
        for cause in blast.because
    )

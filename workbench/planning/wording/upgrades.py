"""Upgrades of operators, step by step."""

from collections.abc import Iterator
from dataclasses import dataclass

from components.plan.review.review import OperatorUpgrade, Review, UpgradeStep


@dataclass(frozen=True, slots=True)
class UpgradeLines:
    """The upgrade of an operator.

    Attributes:
        steps: The steps in order, without numbers.
        notes: What happens between the steps.
    """

    title: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]


def upgrade_lines(review: Review) -> Iterator[UpgradeLines]:
    """Yield the upgrade of each operator."""
    for upgrade in review.upgrades:
        steps = tuple(map(_step, upgrade.steps))
        yield UpgradeLines(f"{upgrade.project} {upgrade.before} → {upgrade.after}", steps, tuple(_notes(upgrade)))


def _step(step: UpgradeStep) -> str:
    changes = ", ".join(step.changes)
    return f"{step.stage.value}: {': '.join(filter(None, (step.note, changes))) or 'no change'}"


def _notes(upgrade: OperatorUpgrade) -> Iterator[str]:
    last = len(upgrade.steps)
    for dropped in upgrade.dropped:
        yield (
            f"from step 1 to step {last}, the API server drops fields that {upgrade.after} lacks, and controllers "
            f"act without them: {dropped}"
        )

"""The diagram of models, the workloads that serve them, and their preferred nodes."""

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from components.checks.memory.cases import Fit
from components.plan.review.review import Interruption, Review
from components.plan.review.snapshot import NodeGroupState, ServedModel, Snapshot

from .figures import pluralize
from .fits import fit_label, fit_of

MAX_BOXES = 40
"""Maximum number of boxes of a readable diagram."""


class Look(StrEnum):
    """The color of a box."""

    PLAIN = "plain"
    GOOD = "good"
    TIGHT = "tight"
    BAD = "bad"
    OPEN = "open"
    CHANGED = "changed"


_LOOKS = {Fit.EXCEEDED: Look.BAD, Fit.TIGHT: Look.TIGHT, Fit.UNKNOWN: Look.OPEN, Fit.FITS: Look.GOOD}
"""Colors of models, worst first."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the diagram.

    Attributes:
        lines: Its text.
    """

    lines: tuple[str, ...]
    look: Look = Look.PLAIN


@dataclass(frozen=True, slots=True)
class Diagram:
    """Columns of boxes, and the arrows between them.

    Attributes:
        arrows: Column of the first box, and the positions of both boxes in their columns.
        omitted: Description of what was omitted; empty if nothing was.
    """

    columns: tuple[tuple[Box, ...], ...]
    arrows: tuple[tuple[int, int, int], ...]
    omitted: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(self.columns)


def diagram(review: Review, most: int = MAX_BOXES) -> Diagram:
    """Return the diagram of the proposed revision; aggregated by node group if it has too many boxes."""
    head = review.head
    titles = list(dict.fromkeys(title for model in head.models for title in model.workloads))
    if len(head.models) + len(titles) + len(head.groups) > most:
        return _diagram_by_group(head, most // 2)

    models = [
        Box(
            (model.title, model.model, *([fit_label(fit)] if (fit := fit_of(model)) else [])),
            _LOOKS[fit] if fit else Look.PLAIN,
        )
        for model in head.models
    ]
    disrupted = {
        blast.title: blast.disruption for blast in review.blasts if blast.disruption is not Interruption.NONE
    }
    replicas = {workload.title: workload.replicas[0] for workload in head.workloads}
    workloads = []
    for title in titles:
        count = [pluralize(replicas[title], "replica")] if title in replicas else []
        disruption = [disrupted[title].value] if title in disrupted else []
        workloads.append(Box((title, *count, *disruption), Look.CHANGED if disruption else Look.PLAIN))

    groups = [group.name for group in head.groups]
    placed = {workload.title: workload.group for workload in head.workloads if workload.group}
    arrows = set()
    for position, model in enumerate(head.models):
        for title in model.workloads:
            arrows.add((0, position, titles.index(title)))
            preferred = (placed[title],) if title in placed else model.groups
            arrows |= {(1, titles.index(title), groups.index(name)) for name in preferred if name in groups}
    return Diagram(
        (tuple(models), tuple(workloads), tuple(Box(_group_lines(group)) for group in head.groups)),
        tuple(sorted(arrows)),
    )


def _group_lines(group: NodeGroupState) -> tuple[str, ...]:
    capacity = f", {group.capacity}" if group.capacity else ""
    name = (group.name,) if group.name != group.instance_type else ()
    return (*name, f"{group.nodes} x {group.instance_type}{capacity}")


def _diagram_by_group(head: Snapshot, most: int) -> Diagram:
    """Return a diagram with the number of models for each node group, those with most models first."""
    models: dict[str, list[ServedModel]] = defaultdict(list)
    for model in head.models:
        for name in model.groups:
            models[name].append(model)
    groups = sorted(head.groups, key=lambda group: (-len(models[group.name]), group.name))[:most]
    boxes = []
    for group in groups:
        served = models[group.name]
        lines = pluralize(len(served), "model"), pluralize(sum(model.replicas[0] for model in served), "replica")
        fits = set(map(fit_of, served))
        boxes.append(Box(lines, next((look for fit, look in _LOOKS.items() if fit in fits), Look.PLAIN)))
    left = len(head.groups) - len(groups)
    return Diagram(
        (tuple(boxes), tuple(Box(_group_lines(group)) for group in groups)),
        tuple((0, position, position) for position in range(len(groups))),
        f"{pluralize(len(head.models), 'model')} by node group"
        + (f"; {pluralize(left, 'more group')} omitted" if left > 0 else ""),
    )

"""The diagram of models, the workloads that serve them, and their preferred nodes."""

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from components.checks.memory.cases import Fit
from components.plan.review.review import Interruption, Review
from components.plan.review.snapshot import NodeGroupState, ServedModel, Snapshot

from .figures import counted
from .fits import fit_of, word

MOST = 40
"""Maximum number of boxes of a readable diagram."""


class Look(StrEnum):
    """The color of a box."""

    PLAIN = "plain"
    GOOD = "good"
    TIGHT = "tight"
    BAD = "bad"
    OPEN = "open"
    CHANGED = "changed"


_LOOKS = {Fit.FITS: Look.GOOD, Fit.TIGHT: Look.TIGHT, Fit.EXCEEDED: Look.BAD, Fit.UNKNOWN: Look.OPEN}


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A box.

    Attributes:
        key: Identifier within its column.
        lines: Its text.
    """

    key: str
    lines: tuple[str, ...]
    look: Look = Look.PLAIN


@dataclass(frozen=True, slots=True)
class Picture:
    """Columns and the arrows between them.

    Attributes:
        arrows: Column of the first box, and the positions of both boxes in their columns.
        left_out: Description of what was omitted; empty if nothing was.
    """

    columns: tuple[tuple[PictureNode, ...], ...]
    arrows: tuple[tuple[int, int, int], ...]
    left_out: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(self.columns)


def picture(review: Review, most: int = MOST) -> Picture:
    """Return the diagram of the proposed revision; aggregated by node group if it has too many boxes."""
    head = review.head
    nodes = _models(head), _workloads(review), _groups(head)
    if sum(map(len, nodes)) > most:
        return _by_group(head, most // 2)
    places = [{node.key: place for place, node in enumerate(column)} for column in nodes]
    arrows = {
        *_arrows(0, places, _served(head)),
        *_arrows(1, places, _preferred(head)),
    }
    return Picture(nodes, tuple(sorted(arrows)))


def _models(head: Snapshot) -> tuple[PictureNode, ...]:
    return tuple(_model(model) for model in head.models)


def _model(model: ServedModel) -> PictureNode:
    fit = fit_of(model)
    look = _LOOKS[fit] if fit else Look.PLAIN
    return PictureNode(_key(model), (model.title, model.model, *([word(fit)] if fit else [])), look)


def _key(model: ServedModel) -> str:
    return f"{model.namespace} {model.title}"


def _workloads(review: Review) -> tuple[PictureNode, ...]:
    touched = {blast.title: blast.disruption for blast in review.blasts if blast.disruption is not Interruption.NONE}
    replicas = {state.title: state.replicas[0] for state in review.head.workloads}
    titles = dict.fromkeys(title for model in review.head.models for title in model.workloads)
    return tuple(
        PictureNode(
            title,
            (
                title,
                *([counted(replicas[title], "replica")] if title in replicas else []),
                *([touched[title].value] if title in touched else []),
            ),
            Look.CHANGED if title in touched else Look.PLAIN,
        )
        for title in titles
    )


def _groups(head: Snapshot) -> tuple[PictureNode, ...]:
    return tuple(PictureNode(group.name, _group(group)) for group in head.groups)


def _group(group: NodeGroupState) -> tuple[str, ...]:
    bought = f", {group.capacity}" if group.capacity else ""
    name = (group.name,) if group.name != group.instance_type else ()
    return (*name, f"{group.nodes} x {group.instance_type}{bought}")


def _served(head: Snapshot) -> list[tuple[str, str]]:
    return [(_key(model), title) for model in head.models for title in model.workloads]


def _preferred(head: Snapshot) -> list[tuple[str, str]]:
    known = {state.title: state.group for state in head.workloads if state.group}
    return [
        (title, group)
        for model in head.models
        for title in model.workloads
        for group in ((known[title],) if title in known else model.groups)
    ]


def _arrows(column: int, places: list[dict[str, int]], pairs: list[tuple[str, str]]) -> list[tuple[int, int, int]]:
    first, second = places[column], places[column + 1]
    return [(column, first[one], second[other]) for one, other in pairs if one in first and other in second]


def _by_group(head: Snapshot, most: int) -> Picture:
    """Return a diagram with the number of models for each node group."""
    models: dict[str, list[ServedModel]] = defaultdict(list)
    for model in head.models:
        for group in model.groups:
            models[group].append(model)
    shown = sorted(head.groups, key=lambda group: (-len(models[group.name]), group.name))[:most]
    left = len(head.groups) - len(shown)
    preferring = [models[group.name] for group in shown]
    first = (PictureNode(group.name, _many(of), _worst_look(of)) for group, of in zip(shown, preferring, strict=True))
    return Picture(
        (tuple(first), tuple(PictureNode(group.name, _group(group)) for group in shown)),
        tuple((0, place, place) for place in range(len(shown))),
        f"{counted(len(head.models), 'model')} by group of nodes"
        + (f"; {counted(left, 'more group')} left out" if left > 0 else ""),
    )


def _many(models: list[ServedModel]) -> tuple[str, ...]:
    return (counted(len(models), "model"), counted(sum(model.replicas[0] for model in models), "replica"))


def _worst_look(models: list[ServedModel]) -> Look:
    looks = {_LOOKS[fit] for model in models if (fit := fit_of(model))}
    return next((look for look in (Look.BAD, Look.TIGHT, Look.OPEN, Look.GOOD) if look in looks), Look.PLAIN)

"""Changes of resources, and their effect on running replicas."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.fleet.shapes import SHAPES
from components.plan.review.differences import parse_path
from components.plan.review.review import Blast, ChangeKind, Interruption, Review
from components.plan.review.spans import about

from .figures import counted, joined

_TEMPLATES = (
    *((f"{each.path}.", f"{each.role} " if each.role else "") for shape in SHAPES for each in shape.templates),
    *((f"{shape.restarted_by}.", "") for shape in SHAPES),
)
"""Prefixes of fields whose change replaces pods, with the role of these pods, longest first."""
_LISTS = ("containers", "initContainers", "volumes")
_MOST, _LONGEST = 3, 60


def short_causes(because: Iterable[str]) -> tuple[str, ...]:
    """Summarize changed fields by the part of the pod template that they belong to.

    Args:
        because: Field paths, or sentences.
    """
    parts = Counter(map(_part, because))
    shown = [
        part
        if number == 1 or " " in part.removeprefix("leader ").removeprefix("worker ")
        else f"{part} ({counted(number, 'field')})"
        for part, number in parts.items()
    ]
    left = sum(list(parts.values())[_MOST:])
    return (*shown[:_MOST], *([f"and {counted(left, 'more field')}"] if left else []))


def is_field(cause: str) -> bool:
    """Whether a short cause is a field path, and not a sentence."""
    return re.fullmatch(r"(leader |worker )?[^ ]+( \(\d+ fields\))?", cause) is not None


def _part(cause: str) -> str:
    """Return the part that a field belongs to: ``containers[main].args``, ``nodeSelector``, ``metadata.labels``."""
    prefix, who = next((each for each in _TEMPLATES if cause.startswith(each[0])), ("", ""))
    if " " in cause and not prefix:
        return cause
    steps = [*parse_path(cause.removeprefix(prefix))]
    if prefix and steps[:1] == ["spec"]:
        steps = steps[1:]
    if steps[:1] and steps[0] in _LISTS and len(steps) > 1:
        steps = [f"{steps[0]}[{steps[1]}]", *(_word(step) for step in steps[2:3])]
    elif steps[:1] == ["metadata"] or not prefix:
        steps = [*map(_word, steps[:2])]
    else:
        steps = steps[:1]
    text = who + ".".join(steps)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _word(step: str) -> str:
    return step if re.fullmatch(r"[\w-]+", step) else f'["{step}"]'


_KUBERNETES = "kubernetes:"


def kind_of(token: str) -> str:
    """Return the display name of a type token: ``Deployment``, ``aws:eks NodeGroup``."""
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    if not name:
        return token
    if token.startswith(_KUBERNETES) or module == "index":
        return name
    return f"{package}:{module.partition('/')[0]} {name}"


@dataclass(frozen=True, slots=True)
class KindLine:
    """The numbers of changes of a kind, in the order of ``ChangeKind``."""

    kind: str
    counts: tuple[int, ...]


def kind_lines(review: Review) -> tuple[KindLine, ...]:
    """Count changes by kind."""
    counts = Counter((kind_of(change.type), change.kind) for change in review.changes)
    kinds = sorted({kind for kind, _ in counts})
    return tuple(KindLine(kind, tuple(counts[kind, change] for change in ChangeKind)) for kind in kinds)


def changed(review: Review) -> str:
    """Summarize the changes of resources."""
    counts = Counter(change.kind for change in review.changes)
    if len(counts) == 1:
        ((kind, number),) = counts.items()
        return f"{counted(number, 'resource is', 'resources are')} {kind.value}"
    each = ", ".join(f"{counts[kind]} {kind.value}" for kind in ChangeKind if counts[kind])
    return f"{counted(sum(counts.values()), 'resource')} change ({each})" if each else "no resource changes"


def restarted(review: Review) -> str:
    """Summarize restarting replicas; empty if there are none."""
    number = sum(
        blast.replicas for blast in review.blasts if blast.disruption in (Interruption.SURGE, Interruption.GAP)
    )
    return counted(number, "replica restarts", "replicas restart") if number else ""


def left_pending(review: Review) -> str:
    """Summarize replicas that stay Pending; empty if there are none."""
    now = [blast.title for blast in review.blasts if blast.pending]
    later = [blast.title for blast in review.blasts if blast.pending_at_most]
    parts = [f"{_replicas_of(now)} stay Pending for lack of GPUs"] if now else []
    parts += [f"{_replicas_of(later)} would stay Pending at their maximum"] if later else []
    return "; ".join(parts)


def _replicas_of(titles: list[str]) -> str:
    rest = [f"{len(titles) - _MOST_NAMES} more workloads"] if len(titles) > _MOST_NAMES + 1 else []
    return f"replicas of {joined([*titles[:_MOST_NAMES], *rest] if rest else titles)}"


_MOST_NAMES = 3
_HAPPENS = {
    Interruption.SCALE: ("is added", "are added"),
    Interruption.SURGE: ("restarts: a new one comes first", "restart: new ones come first"),
    Interruption.GAP: ("restarts: the old one goes first", "restart: old ones go first"),
    Interruption.NEW: ("starts", "start"),
    Interruption.REMOVED: ("stops", "stop"),
}


@dataclass(frozen=True, slots=True)
class BlastLine:
    """The effect of a change on one workload."""

    workload: str
    happens: str
    short: str
    lasts: str
    extra: str
    because: tuple[str, ...]
    estimate: str
    warning: str

    @property
    def notes(self) -> list[str]:
        return [text for text in (self.warning, self.estimate) if text]


def blast_lines(review: Review) -> Iterator[BlastLine]:
    """Yield the effect on each workload that the change disrupts or scales."""
    for blast in review.blasts:
        if blast.disruption is not Interruption.NONE:
            yield _blast(blast)


def _blast(blast: Blast) -> BlastLine:
    one, many = _HAPPENS[blast.disruption]
    if blast.disruption is Interruption.SCALE and not blast.waves:
        one, many = "is removed", "are removed"
    bounds = blast.disruption is Interruption.SCALE and not blast.replicas
    return BlastLine(
        workload=blast.title,
        happens="nothing restarts" if bounds else _happens(blast, one, many),
        short=counted(blast.short, "replica") if blast.short else "none",
        lasts=_lasts(blast),
        extra=_extra(blast),
        because=short_causes(blast.because),
        estimate=blast.estimate,
        warning=blast.warning,
    )


def _extra(blast: Blast) -> str:
    """Format the additional accelerators: during a rollout, or permanently if replicas are added."""
    most = f"{blast.extra_at_most} at most" if blast.extra_at_most > blast.extra_accelerators else ""
    now = str(blast.extra_accelerators) if blast.extra_accelerators else ""
    return ", ".join(filter(None, (now, most))) or "-"


def _happens(blast: Blast, one: str, many: str) -> str:
    text = counted(blast.replicas, f"replica {one}", f"replicas {many}")
    return f"{text}, {counted(blast.pending, 'stays', 'stay')} Pending" if blast.pending else text


def _lasts(blast: Blast) -> str:
    if blast.pending:
        return "until there is room"
    if blast.seconds is None:
        return "not known" if blast.short else "-"
    return about(blast.seconds) if blast.seconds else "-"

"""Changes of resources, and their effect on running replicas."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.fleet.shapes import SHAPES
from components.plan.review.differences import parse_path
from components.plan.review.review import Blast, ChangeKind, Interruption, Review
from components.plan.spans import about

from .figures import join_words, pluralize, usd

_TEMPLATES = (
    *(
        (f"{template.path}.", f"{template.role} " if template.role else "")
        for shape in SHAPES
        for template in shape.templates
    ),
    *((f"{field}.", "") for shape in SHAPES for field in shape.restarted_by),
)
"""Prefixes of fields whose change replaces pods, with the role of these pods, longest first."""
_LISTS = ("containers", "initContainers", "volumes")
_MAX_CAUSES = 3
_MAX_LENGTH = 60
_MAX_NAMES = 3


def short_causes(because: Iterable[str]) -> tuple[str, ...]:
    """Summarize changed fields by the part of the pod template that they belong to.

    Args:
        because: Field paths, or sentences.
    """
    parts = Counter(map(_part, because))
    causes = [
        part
        if number == 1 or " " in part.removeprefix("leader ").removeprefix("worker ")
        else f"{part} ({pluralize(number, 'field')})"
        for part, number in parts.items()
    ]
    left = sum(list(parts.values())[_MAX_CAUSES:])
    return (*causes[:_MAX_CAUSES], *([f"and {pluralize(left, 'more field')}"] if left else []))


def is_field(cause: str) -> bool:
    """Whether a short cause is a field path, and not a sentence."""
    return re.fullmatch(r"(leader |worker )?[^ ]+( \(\d+ fields\))?", cause) is not None


def _part(cause: str) -> str:
    """Return the part that a field belongs to: ``containers[main].args``, ``nodeSelector``, ``metadata.labels``."""
    prefix, role = next((template for template in _TEMPLATES if cause.startswith(template[0])), ("", ""))
    if " " in cause and not prefix:
        return cause
    steps = [*parse_path(cause.removeprefix(prefix))]
    quoted = [step if re.fullmatch(r"[\w-]+", step) else f'["{step}"]' for step in steps]
    if prefix and steps[:1] == ["spec"]:
        steps, quoted = steps[1:], quoted[1:]
    if len(steps) > 1 and steps[0] in _LISTS:
        part = [f"{steps[0]}[{steps[1]}]", *quoted[2:3]]
    elif steps[:1] == ["metadata"] or not prefix:
        part = quoted[:2]
    else:
        part = steps[:1]
    text = role + ".".join(part)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def kind_of(token: str) -> str:
    """Return the display name of a type token: ``Deployment``, ``aws:eks NodeGroup``."""
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    if not name:
        return token
    if package == "kubernetes" or module == "index":
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


def change_counts(review: Review) -> str:
    """Summarize the changes of resources."""
    counts = Counter(change.kind for change in review.changes)
    if len(counts) == 1:
        ((kind, number),) = counts.items()
        return f"{pluralize(number, 'resource is', 'resources are')} {kind.value}"
    if not counts:
        return "no resource changes"
    by_kind = ", ".join(f"{counts[kind]} {kind.value}" for kind in ChangeKind if counts[kind])
    return f"{pluralize(counts.total(), 'resource')} change ({by_kind})"


def restarts(review: Review) -> str:
    """Summarize restarting replicas; empty without any."""
    number = sum(
        blast.replicas for blast in review.blasts if blast.disruption in (Interruption.SURGE, Interruption.GAP)
    )
    return pluralize(number, "replica restarts", "replicas restart") if number else ""


def pending(review: Review) -> str:
    """Summarize replicas that stay Pending; empty without any."""
    now = [blast.title for blast in review.blasts if blast.pending]
    later = [blast.title for blast in review.blasts if blast.pending_at_most]
    parts = [f"{_replicas_of(now)} stay Pending for lack of GPUs"] if now else []
    parts += [f"{_replicas_of(later)} would stay Pending at their maximum"] if later else []
    return "; ".join(parts)


def _replicas_of(titles: list[str]) -> str:
    rest = [f"{len(titles) - _MAX_NAMES} more workloads"] if len(titles) > _MAX_NAMES + 1 else []
    return f"replicas of {join_words([*titles[:_MAX_NAMES], *rest] if rest else titles)}"


_EFFECTS = {
    Interruption.SCALE: ("is added", "are added"),
    Interruption.SURGE: ("restarts: the new one starts first", "restart: new ones start first"),
    Interruption.GAP: ("restarts: the old one stops first", "restart: old ones stop first"),
    Interruption.NEW: ("starts", "start"),
    Interruption.REMOVED: ("stops", "stop"),
}


def _rolling_cost(blast: Blast) -> str:
    """Describe the nodes that an update needs in addition; empty without any."""
    if not blast.extra_nodes:
        return ""
    nodes = pluralize(blast.extra_nodes, "more node")
    if blast.extra_node_seconds is None:
        return f"while it rolls: {nodes}"
    text = f"while it rolls: {nodes} for {about(blast.extra_node_seconds // blast.extra_nodes)}"
    return text if blast.extra_usd is None else f"{text}, {usd(blast.extra_usd)}"


@dataclass(frozen=True, slots=True)
class BlastLine:
    """The effect of a change on one workload.

    Attributes:
        unavailable: Number of replicas that are missing at once.
        duration: How long they are missing.
        extra: Additional accelerators: during a rollout, or permanently if replicas are added.
        causes: Changed fields, summarized by ``short_causes``.
        notes: Caveats and estimates of the rollout.
    """

    workload: str
    effect: str
    unavailable: str
    duration: str
    extra: str
    causes: tuple[str, ...]
    notes: tuple[str, ...]


def blast_lines(review: Review) -> Iterator[BlastLine]:
    """Yield the effect on each workload that the change disrupts or scales."""
    for blast in review.blasts:
        if blast.disruption is Interruption.NONE:
            continue
        singular, plural = _EFFECTS[blast.disruption]
        if blast.disruption is Interruption.SCALE and not blast.waves:
            singular, plural = "is removed", "are removed"
        if blast.disruption is Interruption.SCALE and not blast.replicas:  # only the autoscaler's bounds change
            effect = "nothing restarts"
        else:
            effect = pluralize(blast.replicas, f"replica {singular}", f"replicas {plural}")
            if blast.pending:
                effect += f", {pluralize(blast.pending, 'stays', 'stay')} Pending"
        if blast.pending:
            duration = "until there is room"
        elif blast.seconds is None:
            duration = "unknown" if blast.short else "-"
        else:
            duration = about(blast.seconds) if blast.seconds else "-"
        extra = [
            *([str(blast.extra_accelerators)] if blast.extra_accelerators else []),
            *([f"{blast.extra_at_most} at most"] if blast.extra_at_most > blast.extra_accelerators else []),
        ]
        yield BlastLine(
            workload=blast.title,
            effect=effect,
            unavailable=pluralize(blast.short, "replica") if blast.short else "none",
            duration=duration,
            extra=", ".join(extra) or "-",
            causes=short_causes(blast.because),
            notes=tuple(filter(None, (blast.warning, blast.estimate, _rolling_cost(blast), blast.advice))),
        )

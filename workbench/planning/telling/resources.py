"""Resources by kind, and what becomes of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from components.review.review import Blast, ChangeKind, Interruption, Review

from .figures import about, counted

_KUBERNETES = "kubernetes:"


def kind_of(token: str) -> str:
    """Return what readers call a type: ``Deployment``, ``aws:eks NodeGroup``."""
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    if not name:
        return token
    if token.startswith(_KUBERNETES) or module == "index":
        return name
    return f"{package}:{module.partition('/')[0]} {name}"


@dataclass(frozen=True, slots=True)
class KindLine:
    """How many resources of a kind change, by what becomes of them."""

    kind: str
    counts: tuple[int, ...]


def kind_lines(review: Review) -> tuple[KindLine, ...]:
    """Return how many resources of each kind are created, updated, replaced and deleted."""
    counts = Counter((kind_of(change.type), change.kind) for change in review.changes)
    kinds = sorted({kind for kind, _ in counts})
    return tuple(KindLine(kind, tuple(counts[kind, change] for change in ChangeKind)) for kind in kinds)


def changed(review: Review) -> str:
    """Say how many resources change."""
    counts = Counter(change.kind for change in review.changes)
    if len(counts) == 1:
        ((kind, number),) = counts.items()
        return f"{counted(number, 'resource is', 'resources are')} {kind.value}"
    each = ", ".join(f"{counts[kind]} {kind.value}" for kind in ChangeKind if counts[kind])
    return f"{counted(sum(counts.values()), 'resource')} change ({each})" if each else "no resource changes"


def restarted(review: Review) -> str:
    """Say how many replicas restart; nothing where none do."""
    number = sum(
        blast.replicas for blast in review.blasts if blast.disruption in (Interruption.SURGE, Interruption.GAP)
    )
    return counted(number, "replica restarts", "replicas restart") if number else ""


_HAPPENS = {
    Interruption.SCALE: ("comes or goes", "come or go"),
    Interruption.SURGE: ("restarts: a new one comes first", "restart: new ones come first"),
    Interruption.GAP: ("restarts: the old one goes first", "restart: old ones go first"),
    Interruption.NEW: ("starts", "start"),
    Interruption.REMOVED: ("stops", "stop"),
}


@dataclass(frozen=True, slots=True)
class BlastLine:
    """What a change does to one workload, in words."""

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
        """What there is to say beside the figures."""
        return [text for text in (self.warning, self.estimate) if text]


def blast_lines(review: Review) -> Iterator[BlastLine]:
    """Yield what becomes of the replicas of each workload."""
    for blast in review.blasts:
        if blast.disruption is not Interruption.NONE:
            yield _blast(blast)


def _blast(blast: Blast) -> BlastLine:
    one, many = _HAPPENS[blast.disruption]
    bounds = blast.disruption is Interruption.SCALE and not blast.replicas
    return BlastLine(
        workload=blast.title,
        happens="nothing restarts" if bounds else counted(blast.replicas, f"replica {one}", f"replicas {many}"),
        short=counted(blast.short, "replica") if blast.short else "none",
        lasts=_lasts(blast),
        extra=str(blast.extra_accelerators) if blast.extra_accelerators else "-",
        because=blast.because,
        estimate=blast.estimate,
        warning=blast.warning,
    )


def _lasts(blast: Blast) -> str:
    if blast.seconds is None:
        return "not known" if blast.short else "-"
    return about(blast.seconds) if blast.seconds else "-"

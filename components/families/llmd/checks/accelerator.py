"""Which accelerator a variant runs on, and whether its profile has that (WVA spec 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ..names import ACCELERATOR_LABEL
from ..types import VariantAutoscaling
from ..types.variant_autoscaling import AcceleratorProfile

LABEL_PATH = f"metadata.labels[{ACCELERATOR_LABEL}]"
ENTRIES = "spec.modelProfile.accelerators"
_SHORTEST = 2
"""Characters of an accelerator that a status can hold (WVA spec 3)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a profile for the accelerator that a variant runs on."""

    given: AcceleratorProfile
    path: str


def chosen_entry(resource: VariantAutoscaling, findings: Findings) -> Entry | None:
    """Return the entry for the accelerator in the label; None after an error.

    The controller sizes a variant on that accelerator, and on no other (WVA spec 8.7).
    """
    entries = resource.spec.model_profile.accelerators
    _check_repeated(entries, findings)
    names = list(dict.fromkeys(entry.acc for entry in entries))
    label = resource.metadata.labels.get(ACCELERATOR_LABEL)
    if label is None:
        findings.error(
            "metadata.labels",
            f"must have {ACCELERATOR_LABEL}, the accelerator that the workload runs on: without it nothing says "
            f"which entry of {ENTRIES} counts; set it to {_any_of(names)}",
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    if len(label) < _SHORTEST:
        findings.error(
            LABEL_PATH,
            f"must have at least {_SHORTEST} characters, found {label!r}: the controller cannot write a shorter one "
            f"into the status, and gives up; rename the accelerator, in {ENTRIES} too",
            RuleId.SIZING_UNDETERMINED,
        )
    if label not in names:
        findings.error(
            LABEL_PATH,
            f"{ENTRIES} has no {label!r}{did_you_mean(label, names)} (it has {_all_of(names)}), so that nothing says "
            "how fast the model is there; correct the label, or add an entry",
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    position = next(index for index, entry in enumerate(entries) if entry.acc == label)
    _note_others(entries, label, findings)
    return Entry(entries[position], f"{ENTRIES}[{position}]")


def _check_repeated(entries: Sequence[AcceleratorProfile], findings: Findings) -> None:
    """Refuse two entries for one accelerator.

    The optimizer takes the speed of the last one and the batch size of the first one (optimizer-light v0.5.0,
    AddPerfDataFromSpec; internal/utils at c0f645c, AddServerInfoToSystemData).
    """
    first: dict[str, int] = {}
    for index, entry in enumerate(entries):
        other = first.setdefault(entry.acc, index)
        if other != index:
            findings.error(
                f"{ENTRIES}[{index}].acc",
                f"{entry.acc!r} is in {ENTRIES}[{other}] already: the controller would take maxBatchSize from that "
                "one, and the rest from this one; remove one of the two",
                RuleId.SIZING_CONFLICT,
            )


def _note_others(entries: Sequence[AcceleratorProfile], label: str, findings: Findings) -> None:
    for index, entry in enumerate(entries):
        if entry.acc != label:
            findings.note(
                f"{ENTRIES}[{index}]",
                f"is for comparison alone: the variant runs on {label!r} ({ACCELERATOR_LABEL}), and nothing moves it "
                f"to {entry.acc!r}",
                RuleId.SIZING_COMPARISON,
            )


def _any_of(names: list[str]) -> str:
    return " or ".join(map(repr, names))


def _all_of(names: list[str]) -> str:
    return ", ".join(map(repr, names))

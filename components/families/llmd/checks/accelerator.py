"""The accelerator that a variant runs on, and its entry in the profile (WVA spec 5)."""

from dataclasses import dataclass

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ..names import ACCELERATOR_LABEL
from ..profiles import ProfiledSpeed, entries_of, parameter_problems, speed_of, unread_parameters
from ..types import AcceleratorProfile, VariantAutoscaling

LABEL_PATH = f"metadata.labels[{ACCELERATOR_LABEL}]"
ENTRIES = "spec.modelProfile.accelerators"
_MIN_LENGTH = 2
"""Shortest accelerator name that the status accepts (WVA spec 3)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The profile entry of the accelerator that a variant runs on, with its path and its speed."""

    profile: AcceleratorProfile
    path: str
    speed: ProfiledSpeed


def chosen_entry(resource: VariantAutoscaling, findings: Findings) -> Entry | None:
    """Return the profile entry of the accelerator in the label; None after an error, or if it has no speed.

    The controller sizes a variant on that accelerator only (WVA spec 8.7).
    """
    entries = entries_of(resource)
    first: dict[str, int] = {}
    for index, entry in enumerate(entries):
        other = first.setdefault(entry.acc, index)
        if other != index:
            # The optimizer would combine the speed of the last entry with the batch size of the first one
            # (optimizer-light v0.5.0, AddPerfDataFromSpec; internal/utils at c0f645c, AddServerInfoToSystemData).
            findings.error(
                f"{ENTRIES}[{index}].acc",
                f"{entry.acc!r} is in {ENTRIES}[{other}] already: the controller would take maxBatchSize from that "
                "entry and the other numbers from this one; remove one of the two",
                RuleId.SIZING_CONFLICT,
            )
    names = list(first)
    label = resource.metadata.labels.get(ACCELERATOR_LABEL)
    if label is None:
        findings.error(
            "metadata.labels",
            f"must have {ACCELERATOR_LABEL}, the accelerator that the workload runs on, because it selects the entry "
            f"of {ENTRIES}; set it to {' or '.join(map(repr, names))}",
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    if len(label) < _MIN_LENGTH:
        findings.error(
            LABEL_PATH,
            f"must have at least {_MIN_LENGTH} characters, found {label!r}: the controller fails to write a shorter "
            f"name into the status; rename the accelerator, in {ENTRIES} too",
            RuleId.SIZING_UNDETERMINED,
        )
    if label not in first:
        findings.error(
            LABEL_PATH,
            f"{ENTRIES} has no {label!r}{did_you_mean(label, names)} (it has {', '.join(map(repr, names))}), so the "
            "speed of the model there is unknown; correct the label, or add an entry",
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    for index, entry in enumerate(entries):
        if entry.acc != label:
            findings.note(
                f"{ENTRIES}[{index}]",
                f"is for comparison only: the variant runs on {label!r} ({ACCELERATOR_LABEL}) and is never moved to "
                f"{entry.acc!r}",
                RuleId.SIZING_COMPARISON,
            )
    chosen, path = entries[first[label]], f"{ENTRIES}[{first[label]}]"
    speed = speed_of(chosen)
    return Entry(chosen, path, speed) if speed else None


def check_parameters(resource: VariantAutoscaling, findings: Findings) -> None:
    """Report parameters of profile entries that cannot be read, and those that nothing reads."""
    for index, entry in enumerate(entries_of(resource)):
        parms, path = entry.perf_parms, f"{ENTRIES}[{index}].perfParms"
        if parms is None:
            continue
        for field, reason in parameter_problems(parms):
            findings.error(f"{path}.{field}", reason, RuleId.SIZING_UNDETERMINED)
        for field in unread_parameters(parms):
            reason = "has no effect: decodeParms has alpha and beta, prefillParms has gamma and delta; remove it"
            findings.warn(f"{path}.{field}", reason, RuleId.FIELD_NO_EFFECT)

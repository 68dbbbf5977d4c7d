"""The load of a variant: the one in the settings, otherwise the one in its status, as a controller observed it."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.problems import did_you_mean
from ...fleet.levels import Load, ServiceLevels
from .types import LoadProfile, VariantAutoscaling

_STATUS = "status.currentAlloc.load"
# The controller writes plain decimals, but the type is a string without any pattern.
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class VariantLoad:
    """The load of a variant and its source.

    Attributes:
        source: The setting or field that states it, for messages.
        path: Field of the resource to report problems at.
    """

    load: Load
    source: str
    path: str


def load_of(
    resource: VariantAutoscaling, namespace: str, levels: ServiceLevels, findings: Findings
) -> VariantLoad | None:
    """Return the load to size a variant for; None after an error."""
    name, status = resource.metadata.name, resource.status
    variant_load = configured_load(namespace, name, levels)
    if variant_load is None and status is not None and status.current_alloc is not None:
        profile = status.current_alloc.load
        for field, text in _numbers(profile).items():
            if not _NUMBER.fullmatch(text):
                reason = f"must be a number such as 40.00, found {text!r}; correct it, or remove the status"
                findings.error(f"{_STATUS}.{field}", reason, RuleId.SIZING_UNDETERMINED)
        load = observed_load(profile)
        variant_load = VariantLoad(load, _STATUS, _STATUS) if load else None
    elif variant_load is None:
        near = did_you_mean(name, levels.loads)
        hint = f" ({near.removeprefix('; ')} in serviceLevels.loads)" if near else ""
        findings.error(
            "metadata.name",
            f"the load of {name!r} is unknown{hint}, so it cannot be sized; set serviceLevels.loads: "
            f"{{{namespace}/{name}: {{requestsPerMinute: 120, outputTokens: 200}}}} with your numbers",
            RuleId.SIZING_UNDETERMINED,
        )
    if variant_load is None:
        return None
    faults = list(_faults(variant_load.load))
    for reason in faults:
        findings.error(
            variant_load.path,
            f"{reason} in {variant_load.source}; correct it, or set serviceLevels.loads",
            RuleId.SIZING_UNDETERMINED,
        )
    return None if faults else variant_load


def configured_load(namespace: str, name: str, levels: ServiceLevels) -> VariantLoad | None:
    """Return the load of a variant in the settings; None where they have none."""
    load, qualified = levels.load(namespace, name), f"{namespace}/{name}"
    key = qualified if qualified in levels.loads else name
    return VariantLoad(load, f"serviceLevels.loads[{key}]", "metadata.name") if load else None


def observed_load(status: LoadProfile) -> Load | None:
    """Return the load in a status; None where it is not numeric."""
    texts = _numbers(status)
    if not all(_NUMBER.fullmatch(text) for text in texts.values()):
        return None
    rate, output, *prompt = map(Decimal, texts.values())
    return Load(rate, output, *prompt)


def _numbers(status: LoadProfile) -> dict[str, str]:
    """Return the numbers of a load by field: rate, output tokens, and from v0.0.1 on prompt tokens."""
    if status.avg_length is not None:
        return {"arrivalRate": status.arrival_rate, "avgLength": status.avg_length}
    return {
        "arrivalRate": status.arrival_rate,
        "avgOutputTokens": status.avg_output_tokens or "",
        "avgInputTokens": status.avg_input_tokens or "",
    }


def _faults(load: Load) -> Iterator[str]:
    # Settings are validated before, but a program or a status may state any number.
    numbers = (load.per_minute, load.least_per_minute, load.output_tokens)
    if not all(number.is_finite() for number in numbers):
        yield f"a load must be finite numbers, found {', '.join(map(str, numbers))}"
        return
    if math.floor(load.output_tokens) < 1:
        yield f"answers must have at least one token, found {load.output_tokens}"
    if load.per_minute <= 0:
        yield f"the peak load must be above 0 requests a minute, found {load.per_minute}"
    elif not 0 <= load.least_per_minute <= load.per_minute:
        yield (
            f"the minimum load must be between 0 and the peak load, found {load.least_per_minute} of "
            f"{load.per_minute} requests a minute"
        )

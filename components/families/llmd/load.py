"""What is asked of a variant: what settings say, else what a controller observed once."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.problems import did_you_mean
from ...fleet.levels import Load, ServiceLevels
from .types import VariantAutoscaling
from .types.status import LoadProfile

_STATUS = "status.currentAlloc.load"
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
"""As the controller writes it; the type is a text without any rule."""


@dataclass(frozen=True, slots=True)
class AskedLoad:
    """What is asked of a variant.

    Attributes:
        place: Where that is said, for messages.
        path: The field to name where it is wrong.
    """

    load: Load
    place: str
    path: str


def load_of(
    resource: VariantAutoscaling, namespace: str, levels: ServiceLevels, findings: Findings
) -> AskedLoad | None:
    """Return what is asked of a variant; None after an error."""
    name, status = resource.metadata.name, resource.status
    asked = stated_load(namespace, name, levels)
    if asked is None and status is not None and status.current_alloc is not None:
        asked = _observed(status.current_alloc.load, findings)
    elif asked is None:
        near = did_you_mean(name, levels.loads)
        hint = f" ({near.removeprefix('; ')} in serviceLevels.loads)" if near else ""
        findings.error(
            "metadata.name",
            f"nothing says how much is asked of {name!r}{hint}, and without a load it cannot be sized; set "
            f"serviceLevels.loads: {{{namespace}/{name}: {{requestsPerMinute: 120, outputTokens: 200}}}} with your "
            "numbers",
            RuleId.SIZING_UNDETERMINED,
        )
    return _checked(asked, findings) if asked else None


def stated_load(namespace: str, name: str, levels: ServiceLevels) -> AskedLoad | None:
    """Return what settings say is asked of a variant; None where they say nothing."""
    load, qualified = levels.load(namespace, name), f"{namespace}/{name}"
    key = qualified if qualified in levels.loads else name
    return AskedLoad(load, f"serviceLevels.loads[{key}]", "metadata.name") if load else None


def _checked(asked: AskedLoad, findings: Findings) -> AskedLoad | None:
    wrong = list(_wrong(asked.load))
    for reason in wrong:
        findings.error(
            asked.path,
            f"{reason}, found in {asked.place}; correct that, or set serviceLevels.loads",
            RuleId.SIZING_UNDETERMINED,
        )
    return None if wrong else asked


def _observed(status: LoadProfile, findings: Findings) -> AskedLoad | None:
    numbers = {"arrivalRate": status.arrival_rate, "avgLength": status.avg_length}
    odd = {field: text for field, text in numbers.items() if not _NUMBER.fullmatch(text)}
    for field, text in odd.items():
        reason = f"must be a number such as 40.00, found {text!r}; correct it, or remove the status"
        findings.error(f"{_STATUS}.{field}", reason, RuleId.SIZING_UNDETERMINED)
    load = None if odd else observed_load(status)
    return AskedLoad(load, _STATUS, _STATUS) if load else None


def observed_load(status: LoadProfile) -> Load | None:
    """Return what a controller saw being asked; None where that are no numbers."""
    rate, length = status.arrival_rate, status.avg_length
    if not (_NUMBER.fullmatch(rate) and _NUMBER.fullmatch(length)):
        return None
    return Load(Decimal(rate), Decimal(length))


def _wrong(load: Load) -> Iterator[str]:
    """Yield what nothing can be sized for; settings have numbers, programs may have anything."""
    numbers = (load.per_minute, load.least_per_minute, load.output_tokens)
    if not all(number.is_finite() for number in numbers):
        yield f"a load must be numbers, and is {', '.join(map(str, numbers))}"
        return
    if math.floor(load.output_tokens) < 1:
        yield f"answers must have at least one token, and have {load.output_tokens}"
    if load.per_minute <= 0:
        yield f"the load at the peak must be above 0 requests a minute, and is {load.per_minute}"
    elif not 0 <= load.least_per_minute <= load.per_minute:
        yield (
            f"the least load must be at least 0 and at most that of the peak, and is {load.least_per_minute} of "
            f"{load.per_minute} requests a minute"
        )

"""Is the Kubernetes version of a cluster one that AWS supports? (aws-gpu spec 5)."""

import datetime
from collections.abc import Iterator

from ..api.problems import Problem, Severity
from ..findings.ids import RuleId
from .facts.eks import EksVersion, versions

USUAL_VERSION = "1.35"
"""Version of a cluster whose settings name none."""
_NOTICE = datetime.timedelta(days=60)
"""So long before the price rises there is time to move (aws-gpu spec 18, A10)."""
EXTENDED_COST = "the control plane then costs more per hour"


def check_version(version: str, today: datetime.date, file: str, key: str) -> Iterator[Problem]:
    """Return what speaks against a version: an error where EKS has none such, a warning where it soon costs more.

    Args:
        version: The version, such as ``1.35``.
        today: The day to hold the dates against.
        file: Where the version stands, for the message.
        key: Under which key it stands there.
    """
    known = versions().get(version)
    supported = ", ".join(name for name, facts in versions().items() if not _over(facts.extended_until, today))
    if known is None:
        reason = f"unknown EKS version {version!r}; supported versions: {supported}"
        yield Problem(file, 0, "", "", key, reason, rule=RuleId.SETTINGS)
    elif _over(known.extended_until, today):
        reason = (
            f"EKS {version} has been out of support since {known.extended_until}; supported versions: {supported}"
        )
        yield Problem(file, 0, "", "", key, reason, rule=RuleId.SETTINGS)
    elif known.standard_until and _over(known.standard_until - _NOTICE, today):
        yield Problem(file, 0, "", "", key, _soon(known, today), Severity.WARNING, rule=RuleId.RELEASE_SUPPORT_ENDING)


def is_extended(version: str, today: datetime.date) -> bool:
    """Tell whether a version is past standard support; no if no source says when that ends."""
    known = versions().get(version)
    return known is not None and _over(known.standard_until, today)


def _over(day: datetime.date | None, today: datetime.date) -> bool:
    return day is not None and day <= today


def _soon(known: EksVersion, today: datetime.date) -> str:
    until = known.standard_until
    if _over(until, today):
        return (
            f"EKS {known.version} has been in extended support since {until}, and goes out of support on "
            f"{known.extended_until}; {EXTENDED_COST.replace('then ', '')}; upgrade one minor version at a time"
        )
    return f"standard support for EKS {known.version} ends on {until}; {EXTENDED_COST}; upgrade before that"

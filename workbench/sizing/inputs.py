"""The option values and profile files of ``workbench size``."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.printing import problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN

if TYPE_CHECKING:
    from components.contract.problems import Problem
    from components.performance.sizing.cases import Profile


_MAX = Decimal(1_000_000_000)
_MAX_MS = 10_000_000
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?\Z", re.ASCII)
_INTEGER = re.compile(r"[0-9]{1,9}\Z", re.ASCII)


def parse_amount(text: str, option: str, description: str, *, least: Decimal = Decimal(0)) -> Decimal:
    """Parse a number.

    Args:
        text: The value of the option.
        option: Name of the option, for messages.
        description: Description with an example, for messages.
        least: Lower bound.

    Raises:
        WorkbenchError: the value is not a number in the range.
    """
    value = _parse_decimal(text)
    if value is None or value < least:
        raise WorkbenchError(f"{option}: must be {description}, from {least:f} to {_MAX:f}, found {text!r}", 2)
    return value


def _parse_decimal(text: str) -> Decimal | None:
    """Parse a number without sign and exponent; None if it is malformed or too large."""
    if not _DECIMAL.match(text):
        return None
    value = Decimal(text)
    return value if value <= _MAX else None


def plain_number(value: Decimal) -> str:
    """Format a number without exponent and trailing zeros."""
    return f"{value.normalize():f}"


def parse_milliseconds(text: str, option: str) -> int:
    """Parse a latency target. SLOs are whole milliseconds.

    Raises:
        WorkbenchError: the value is not a whole number in the range.
    """
    if not _INTEGER.match(text) or int(text) > _MAX_MS:
        raise WorkbenchError(f"{option}: must be whole milliseconds from 0 to {_MAX_MS}, found {text!r}", 2)
    return int(text)


def parse_cents(texts: Sequence[str] | None) -> dict[str, Decimal]:
    """Parse ``ACC=CENTS``, US cents per accelerator and hour.

    Raises:
        WorkbenchError: a value is malformed, or an accelerator has two prices.
    """
    prices: dict[str, Decimal] = {}
    for text in texts or ():
        accelerator, equals, value = text.rpartition("=")
        if not equals or not accelerator.strip():
            raise WorkbenchError(f"--price: must be ACC=CENTS such as A100=40, found {text!r}", 2)
        name = accelerator.strip()
        if name in prices:
            raise WorkbenchError(f"--price: {name!r} has two prices; pass one", 2)
        prices[name] = parse_amount(value, f"--price {name}", "US cents per hour of one accelerator such as 40")
    return prices


_PROFILE = re.compile(
    r"(?P<count>[0-9]{1,9})x(?P<alpha>[0-9.]{1,40})/(?P<beta>[0-9.]{1,40})@(?P<batch>[0-9]{1,9})\Z", re.ASCII
)
_PROFILE_FORMAT = "must be ACC=COUNTxALPHA/BETA@BATCH such as H100=1x6.973/0.027@64"


def parse_profiles(texts: Sequence[str] | None, files: Sequence[Path] | None) -> "tuple[Profile, ...]":
    """Parse ``ACC=COUNTxALPHA/BETA@BATCH``, and read profile files.

    Raises:
        WorkbenchError: a profile is malformed, or the queueing model cannot use it.
    """
    return (*map(_parse_profile, texts or ()), *(profile for file in files or () for profile in _read_profiles(file)))


def _parse_profile(text: str) -> "Profile":
    accelerator, _, figures = text.rpartition("=")
    name, match = accelerator.strip(), _PROFILE.match(figures)
    alpha, beta = (_parse_decimal(match[group]) for group in ("alpha", "beta")) if match else (None, None)
    if not name or not match or alpha is None or beta is None:
        raise WorkbenchError(f"--profile: {_PROFILE_FORMAT}, found {text!r}", 2)
    return _checked_profile(
        f"--profile {name}",
        name,
        count=int(match["count"]),
        alpha=float(alpha),
        beta=float(beta),
        batch=int(match["batch"]),
    )


def _checked_profile(location: str, name: str, count: int, alpha: float, beta: float, batch: int) -> "Profile":
    from components.fleet.levels import LatencyTargets
    from components.performance.sizing.cases import Case, Profile
    from components.performance.sizing.refusals import unusable

    profile = Profile(name, count, alpha, beta, batch)
    if reason := unusable(Case(profile, LatencyTargets(), 1, 1)):
        raise WorkbenchError(f"{location}: {reason}", 2)
    return profile


def _read_profiles(path: Path) -> "Iterator[Profile]":
    from pydantic import ValidationError

    from components.contract.documents.files import read_text
    from components.contract.problems import field_path
    from components.plan.faults import faults

    from .entries import ProfileEntries

    location = f"--profiles {'<stdin>' if str(path) == STDIN else path}"
    problems: list[Problem] = []
    text = read_text(sys.stdin.buffer.read if str(path) == STDIN else path.read_bytes, str(path), problems)
    if text is None:
        raise WorkbenchError(problem_lines(problems))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkbenchError(f"{location}: is not valid JSON: {error}", 2) from None
    # fit-profile also writes the line and its measurements, which are not needed here.
    entries = content.get("profiles") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise WorkbenchError(f"{location}: must be output of fit-profile --output json, with profiles", 2)
    if not entries:
        raise WorkbenchError(f"{location}: has no profile; pass --accelerator to fit-profile to write one", 2)
    try:
        profiles = ProfileEntries.model_validate({"profiles": entries}).profiles
    except ValidationError as error:
        lines = [f"{location}: {field_path(fault.path)}: {fault.reason}" for fault in faults(error, ProfileEntries)]
        raise WorkbenchError("\n".join(lines), 2) from None
    for index, profile in enumerate(profiles):
        yield _checked_profile(
            f"{location}: profiles[{index}]",
            profile.accelerator,
            count=profile.count,
            alpha=profile.alpha,
            beta=profile.beta,
            batch=profile.batch,
        )

"""Numbers and prices on the command line of ``workbench size``."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.printing import problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN

if TYPE_CHECKING:
    from components.contract.problems import Problem
    from components.performance.sizing.cases import Profile


_MOST = Decimal(1_000_000_000)
_MOST_MS = 10_000_000
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?\Z", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,9}\Z", re.ASCII)


def amount(text: str, option: str, what: str, *, least: Decimal = Decimal(0)) -> Decimal:
    """Read a number.

    Args:
        text: What was given.
        option: For which option.
        what: What it is, with an example.
        least: The least that it may be.

    Raises:
        WorkbenchError: it is none, or too large or small.
    """
    found = decimal_in(text)
    if found is None or found < least:
        raise WorkbenchError(f"{option}: must be {what}, from {least:f} to {_MOST:f}, found {text!r}", 2)
    return found


def decimal_in(text: str) -> Decimal | None:
    """Return a number without sign and exponent; None for any other text, and for one that is too large."""
    if not _DECIMAL.match(text):
        return None
    found = Decimal(text)
    return found if found <= _MOST else None


def plain_number(value: Decimal) -> str:
    """Write a number without exponent and trailing zeros."""
    return f"{value.normalize():f}"


def milliseconds_in(text: str, option: str) -> int:
    """Read whole milliseconds: promises have no fractions.

    Raises:
        WorkbenchError: it is something else.
    """
    if not _WHOLE.match(text) or int(text) > _MOST_MS:
        raise WorkbenchError(f"{option}: must be whole milliseconds from 0 to {_MOST_MS}, found {text!r}", 2)
    return int(text)


def cents_given(texts: Sequence[str] | None) -> dict[str, Decimal]:
    """Read prices that are given as ``ACC=CENTS``.

    Raises:
        WorkbenchError: one is something else, or an accelerator has two.
    """
    found: dict[str, Decimal] = {}
    for text in texts or ():
        accelerator, equals, value = text.rpartition("=")
        if not equals or not accelerator.strip():
            raise WorkbenchError(f"--price: must be ACC=CENTS such as A100=40, found {text!r}", 2)
        name = accelerator.strip()
        if name in found:
            raise WorkbenchError(f"--price: {name!r} has two prices; pass one", 2)
        found[name] = amount(value, f"--price {name}", "US cents per hour of one accelerator such as 40")
    return found


_PROFILE = re.compile(
    r"(?P<count>[0-9]{1,9})x(?P<alpha>[0-9.]{1,40})/(?P<beta>[0-9.]{1,40})@(?P<batch>[0-9]{1,9})\Z", re.ASCII
)
_FORM = "must be ACC=COUNTxALPHA/BETA@BATCH such as H100=1x6.973/0.027@64"


def profiles_given(texts: Sequence[str] | None, files: Sequence[Path] | None) -> "tuple[Profile, ...]":
    """Read profiles that are given as ``ACC=COUNTxALPHA/BETA@BATCH``, and those in files.

    Raises:
        WorkbenchError: one is something else, or nothing can be computed with it.
    """
    return (*map(_profile, texts or ()), *(each for file in files or () for each in _read(file)))


def _profile(text: str) -> "Profile":
    accelerator, _, figures = text.rpartition("=")
    name, match = accelerator.strip(), _PROFILE.match(figures)
    alpha, beta = (decimal_in(match[each]) for each in ("alpha", "beta")) if match else (None, None)
    if not name or not match or alpha is None or beta is None:
        raise WorkbenchError(f"--profile: {_FORM}, found {text!r}", 2)
    return _usable(f"--profile {name}", name, int(match["count"]), float(alpha), float(beta), int(match["batch"]))


def _usable(where: str, name: str, count: int, alpha: float, beta: float, batch: int) -> "Profile":
    """Return a profile with which something can be computed."""
    from components.fleet.levels import Promise
    from components.performance.sizing.cases import Case, Profile
    from components.performance.sizing.refusals import unusable

    profile = Profile(name, count, alpha, beta, batch)
    if reason := unusable(Case(profile, Promise(), 1, 1)):
        raise WorkbenchError(f"{where}: {reason}", 2)
    return profile


def _read(path: Path) -> "Iterator[Profile]":
    """Yield the profiles of a file.

    Raises:
        WorkbenchError: it has none, or something else.
    """
    from pydantic import ValidationError

    from components.contract.problems import field_path
    from components.plan.faults import faults

    from .entries import ProfileEntries

    where = f"--profiles {'<stdin>' if str(path) == STDIN else path}"
    try:
        found = ProfileEntries.model_validate({"profiles": _entries(path, where)}).profiles
    except ValidationError as error:
        wrong = [f"{where}: {field_path(fault.path)}: {fault.reason}" for fault in faults(error, ProfileEntries)]
        raise WorkbenchError("\n".join(wrong), 2) from None
    for number, each in enumerate(found):
        yield _usable(f"{where}: profiles[{number}]", each.accelerator, each.count, each.alpha, each.beta, each.batch)


def _entries(path: Path, where: str) -> list[Any]:
    """Return what a file says of profiles; whatever else ``fit-profile`` wrote is not read."""
    content = _content(path, where)
    entries = content.get("profiles") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise WorkbenchError(f"{where}: must be what fit-profile --output json writes, with profiles", 2)
    if not entries:
        raise WorkbenchError(f"{where}: has no profile; fit-profile writes one with --accelerator", 2)
    return entries


def _content(path: Path, where: str) -> Any:  # noqa: ANN401  whatever JSON is
    from components.contract.documents.files import read_text

    problems: list[Problem] = []
    text = read_text(sys.stdin.buffer.read if str(path) == STDIN else path.read_bytes, str(path), problems)
    if text is None:
        raise WorkbenchError(problem_lines(problems))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkbenchError(f"{where}: is no JSON: {error}", 2) from None

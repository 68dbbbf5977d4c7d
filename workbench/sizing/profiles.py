"""Profiles that ``workbench size`` is given: on the command line, and in files that ``fit-profile`` wrote."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.printing import problem_lines

from ..errors import WorkbenchError
from ..subject import STDIN
from .inputs import decimal_in

if TYPE_CHECKING:
    from components.contract.problems import Problem
    from components.performance.sizing.cases import Profile

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

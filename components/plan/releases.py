"""Compares manifests for which no release of their API is set with the contract's release."""

import itertools
from collections.abc import Iterator
from typing import Any

from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource
from ..contract.misfits import NOWHERE, Misfit, Path, fitting_releases, misfits
from ..contract.problems import Problem, Severity, field_path
from ..contract.releases import described
from ..fleet.options import Options


def check_release(source: LoadedResource, options: Options) -> Iterator[Problem]:
    """Report fields that the contract's release of their API does not have, if no release is set.

    An operator is installed in one release, so with realization ``operator`` each such field is an error, and so are
    two fields that no release has together. Native rendering accepts the fields of all releases, and a note proposes
    the release to set. It is never chosen: an edit of one manifest must not change how others are read.
    """
    kind, contract = source.kind, source.kind.releases.contract
    if kind.release or not contract:
        return
    outside = list(misfits(source.resource, kind, contract))
    if not outside:
        return
    # What the manifest lacks for the contract's release is no news if it is written for another one.
    outside = [misfit for misfit in outside if _is_set(source, misfit[0])] or outside
    releases = kind.releases
    fitting = fitting_releases(source.resource, kind)
    if options.realization.is_native:
        if fitting:
            path, reason = outside[0]
            reason = (
                f"{_first_clause(reason)}: the manifest is written for {described(fitting, releases)}; set "
                f"{releases.choosing(fitting[-1])}, to check it against that release"
            )
            yield source.problem(field_path(path), reason, Severity.NOTE, RuleId.RELEASE_UNSET)
        return
    if fitting:
        others = f" (or another of {described(fitting, releases)})" if fitting[1:] else ""
        for path, reason in outside:
            reason = (
                f"{_first_clause(reason)}, which realization 'operator' installs; set "
                f"{releases.choosing(fitting[-1])}{others}"
            )
            yield source.problem(field_path(path), reason, rule=RuleId.RELEASE_MISMATCH)
        return
    yield from _conflict(source)


def _is_set(source: LoadedResource, path: Path) -> bool:
    value: Any = source.resource.wire()
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _first_clause(reason: str) -> str:
    return reason.partition(";")[0]


def _conflict(source: LoadedResource) -> Iterator[Problem]:
    """Report two fields that no release has together."""
    releases, kind = source.kind.releases, source.kind
    having_kind = [name for name in releases.names if kind.at(name).exists]
    by_release = {name: list(misfits(source.resource, kind, name)) for name in having_kind}
    every = dict.fromkeys(path for found in by_release.values() for path, _ in found)
    nowhere = dict.fromkeys(path for found in by_release.values() for path, reason in found if NOWHERE in reason)
    for path in nowhere:
        reason = f"{NOWHERE}; remove it, or use realization 'native'"
        yield source.problem(field_path(path), reason, rule=RuleId.RELEASE_MISMATCH)
    if nowhere:
        return
    paths = [path for path in every if _is_set(source, path)] or list(every)
    having = {path: [name for name in by_release if not _lacks(by_release[name], path)] for path in paths}
    first, second = next(
        ((a, b) for a, b in itertools.combinations(paths, 2) if not set(having[a]) & set(having[b])),
        (paths[0], paths[-1]),
    )
    reason = (
        f"no release of {releases.project} accepts this manifest: {field_path(first)} needs "
        f"{described(having[first], releases) or 'another one'}, and {field_path(second)} needs "
        f"{described(having[second], releases) or 'another one'}; use the form of one release, or realization "
        "'native'"
    )
    yield source.problem(field_path(first), reason, rule=RuleId.RELEASE_MISMATCH)


def _lacks(found: list[Misfit], path: Path) -> bool:
    return any(misfit == path for misfit, _ in found)

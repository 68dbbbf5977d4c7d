"""Versions of engines whose flags are not known exactly."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity
from ..engines.flags.tables import EngineFlags
from ..engines.versions import Version, format_version
from ..fleet.rendered import Fleet

if TYPE_CHECKING:
    from ..contract.findings.sarif import ReportedFinding


def check_engine_versions(fleet: Fleet) -> Iterator[Problem]:
    """Note once, at the first server, which versions are between or beyond the releases in the tables of flags.

    There, what is known of the releases on both sides applies, and an unknown flag is a warning.
    """
    unknown: dict[EngineFlags, set[Version]] = {}
    first = None
    for item in fleet.rendered:
        for workload in item.workloads:
            reading = workload.server.line.reading
            if reading is None or not reading.version or reading.table.knows(reading.version):
                continue
            unknown.setdefault(reading.table, set()).add(reading.version)
            first = first or item
    if first is None:
        return
    names, releases = [], []
    for table, versions in unknown.items():
        known = {near for version in versions for near in table.nearest(version) if near}
        names.append(_named(table, versions))
        releases.append(_named(table, known))
    reason = (
        f"the flags of {' and of '.join(names)} are not known exactly; use {' and '.join(releases)}, or compare the "
        "arguments with the help of the server in the image"
    )
    yield first.source.problem("", reason, Severity.NOTE, rule=RuleId.FLAGS_INEXACT)


def unchecked_versions(findings: "Iterable[ReportedFinding]") -> Iterator[str]:
    """Yield the causes of the notes on versions that the tables do not have, for summaries."""
    for finding in findings:
        if finding.rule in (RuleId.FLAGS_INEXACT, RuleId.RELEASE_UNCHECKED) and not finding.ignored:
            yield finding.reason.partition("; ")[0]


def _named(table: EngineFlags, versions: set[Version]) -> str:
    """Return the name of an engine with versions: ``vllm 0.8.5 or 0.9``."""
    texts = [format_version(version, builds=table.engine.builds) for version in sorted(versions)]
    return f"{table.engine.name} {' or '.join(texts)}"

"""Checks of nodes against the storage of weights."""

from collections.abc import Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ..nodes.plan import NodeGroupPlan


def check_cache_zone(groups: Iterable[NodeGroupPlan], zone: str | None, file: str) -> Iterator[Problem]:
    """Warn about nodes outside the zone of a file system, whose reads cross zones.

    This works, but AWS bills the traffic in both directions, and it is slower (FSx for Lustre user guide, "Accessing
    file systems"; EC2 pricing, "Data transfer within the same AWS Region").
    """
    apart = (
        {group.name: [own_zone for own_zone in group.zones if own_zone != zone] for group in groups} if zone else {}
    )
    names = [f"{name} ({', '.join(zones)})" for name, zones in apart.items() if zones]
    if names:
        reason = (
            f"{zone}, but nodes may be in other zones: {', '.join(names)}; reads across zones are slower and billed. "
            f"Set zones: [{zone}] for them"
        )
        yield Problem(
            file, 0, "", "", "modelCache.fsx.zone", reason, Severity.WARNING, rule=RuleId.STORAGE_CROSS_ZONE
        )

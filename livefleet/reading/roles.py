"""What a workload does for a resource that has several."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from components.engines.pairs.reading import transfer_of
from components.engines.pairs.rows import Stage
from components.fleet.workloads import Workload

if TYPE_CHECKING:
    from components.fleet.rendered import Fleet


class PodRole(StrEnum):
    """What pods do with a request."""

    ANSWER = ""
    """All that there is to do."""
    PREFILL = "prefill"
    DECODE = "decode"
    ROUTER = "router"
    """They pass it on."""


_SIDES: dict[str, PodRole] = {Stage.PREFILL: PodRole.PREFILL, Stage.DECODE: PodRole.DECODE}
"""Who does both does not say what it is asked to do."""


def roles_of(fleet: "Fleet") -> dict[str, PodRole]:
    """Return the role of every workload, by its namespace and name."""
    found: dict[str, PodRole] = {}
    for item in fleet.rendered:
        roles = [_role(each) for each in item.workloads]
        for workload, role in zip(item.workloads, roles, strict=True):
            found[f"{workload.namespace}/{workload.name}"] = _among(workload, role, roles)
    return found


def _role(workload: Workload) -> PodRole:
    """Return what a server says it does, in the words of its engine, or else as its resource calls it."""
    transfer = transfer_of(workload.server.line)
    stage = transfer.role if transfer else None
    return _SIDES.get(stage or "") or _SIDES.get(workload.role, PodRole.ANSWER)


def _among(workload: Workload, role: PodRole, roles: Sequence[PodRole]) -> PodRole:
    """Return its role among others: no pair is a pair alone, and what is no engine beside one passes requests on."""
    if PodRole.DECODE not in roles:
        return PodRole.ANSWER
    if role == PodRole.ANSWER and not workload.server.line.engine:
        return PodRole.ROUTER
    return role

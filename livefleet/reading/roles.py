"""The role of each workload of a resource that has several."""

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
    """Both prefill and decode."""
    PREFILL = "prefill"
    DECODE = "decode"
    ROUTER = "router"
    """Forward it to an engine."""


_SIDES: dict[str, PodRole] = {Stage.PREFILL: PodRole.PREFILL, Stage.DECODE: PodRole.DECODE}
"""Without the stage for both, which does not identify a side of a pair."""


def roles_of(fleet: "Fleet") -> dict[str, PodRole]:
    """Return the role of every workload, by its namespace and name."""
    by_workload: dict[str, PodRole] = {}
    for item in fleet.rendered:
        roles = [_own_role(workload) for workload in item.workloads]
        for workload, role in zip(item.workloads, roles, strict=True):
            if PodRole.DECODE not in roles:  # without a decoding side there is no pair
                role = PodRole.ANSWER
            elif role == PodRole.ANSWER and not workload.server.line.engine:
                role = PodRole.ROUTER  # beside a pair, a workload without an engine forwards requests
            by_workload[f"{workload.namespace}/{workload.name}"] = role
    return by_workload


def _own_role(workload: Workload) -> PodRole:
    """Return the role in the engine's command line, else the one that the resource gives the workload."""
    transfer = transfer_of(workload.server.line)
    stage = transfer.role if transfer else None
    return _SIDES.get(stage or "") or _SIDES.get(workload.role, PodRole.ANSWER)

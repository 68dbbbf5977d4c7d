"""What a replica of a ModelServing costs: its serving group."""

from ....contract.findings.collector import Unrenderable
from ..prices import cost_of
from ..serving.asked import AskedServing
from ..serving.roles import roles_of


def replica_cost(asked: AskedServing) -> int | None:
    """Return the price of a serving group for an hour in US cents, rounded up; None where it is not known.

    What is wrong with the pods is in the findings.
    """
    try:
        roles = roles_of(asked)
    except Unrenderable:
        return None
    parts = [
        (part, role.role.replicas * pods)
        for role in roles
        for part, pods in ((role.entry, 1), (role.worker, role.role.worker_replicas))
        if part
    ]
    return cost_of(part.demand(pods, per_replica=pods) for part, pods in parts)

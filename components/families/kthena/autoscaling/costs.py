"""What a replica costs, in whole US cents an hour: what Kthena's optimizer orders its targets by."""

from decimal import ROUND_CEILING

from ....api.findings import Unrenderable
from ....simulation.prices import replica_price
from ..serving.asked import AskedServing
from ..serving.roles import roles_of

_CENTS = 100


def replica_cost(asked: AskedServing) -> int | None:
    """Return the price of a serving group for an hour in US cents, rounded up; None where it is not known.

    It is what its pods take of their nodes, on demand in us-east-1. What is wrong with the pods is in the findings.
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
    price = replica_price(part.demand(pods, per_replica=pods) for part, pods in parts)
    return None if price is None else int((price * _CENTS).to_integral_value(ROUND_CEILING))

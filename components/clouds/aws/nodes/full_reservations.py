"""Reserved capacity without a spare instance, in which Karpenter replaces no node."""

from collections.abc import Iterable, Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ..words import Provisioner
from .plan import NodeEnvironment, NodeGroupPlan


def check_full_reservations(groups: Iterable[NodeGroupPlan], environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn about reservations whose instances all run nodes, because Karpenter launches a replacement first.

    Karpenter drains a drifted node once its replacement is initialized, and a full reservation offers none
    (kubernetes-sigs/karpenter issues 2905 and 2409, aws/karpenter-provider-aws issues 8873 and 8935). Terminating
    first is a proposal (kubernetes-sigs/karpenter pull requests 3203 and 3312). A NodeClaim that is deleted is
    terminated first (Karpenter, "Disruption", manual methods).
    """
    for group in groups:
        free = group.replacement.free
        if group.provisioner != Provisioner.KARPENTER or group.existing or free is None or free > 0:
            continue
        held = sum(reservation.count for reservation in group.held) if len(group.held) == 1 else None
        instances = f"all {held} instances" if held else "all instances"
        reason = (
            f"{instances} of the reservation run nodes of {group.name}, and Karpenter launches the replacement of a "
            "node before it drains it: nodes keep their image, Kubernetes version and settings for good. Reserve one "
            f"instance more, set {environment.place.path('provisioner')}: managed, whose updates terminate a node "
            "first, or replace nodes by hand: kubectl delete nodeclaim, one after another"
        )
        key = ("types", group.node.name, "reservation")
        yield environment.place.problem(key, reason, Severity.WARNING, rule=RuleId.NODES_RESERVATION_FULL)

"""What of a ModelServing cannot live without Kthena's controller, or is lost (Kthena spec 7)."""

from ....fleet.words import WorkloadChoice
from .asked import AskedServing
from .sets import is_one_set

MOST_SETS = 1000
"""LeaderWorkerSets of one ModelServing: so many that each is looked at by itself is no longer wanted."""
_OPERATOR = "use realization 'operator'"


def check_native(asked: AskedServing) -> None:
    """Report what LeaderWorkerSets do not do.

    Raises:
        Unrenderable: there would be too many of them.
    """
    if asked.options.workload == WorkloadChoice.DEPLOYMENT:
        asked.findings.error("spec", "requires a LeaderWorkerSet; set workload to 'auto' or 'lws'")
    if is_one_set(asked):
        return
    instances = sum(role.replicas for role in asked.group.roles)
    if instances * asked.replicas > MOST_SETS:
        reason = (
            f"makes {instances * asked.replicas} role instances in {asked.replicas} serving groups, and natively "
            f"each is a LeaderWorkerSet, of which there may be {MOST_SETS}; lower the replicas, or {_OPERATOR}"
        )
        raise asked.findings.fail("spec.replicas", reason)
    if asked.serving.spec.recovery_policy == "ServingGroupRecreate" and instances > 1:
        reason = (
            "needs Kthena's controller: natively only the role instance whose pod failed is made again, as with "
            f"RoleRecreate; write RoleRecreate, or {_OPERATOR}"
        )
        asked.findings.error("spec.recoveryPolicy", reason)

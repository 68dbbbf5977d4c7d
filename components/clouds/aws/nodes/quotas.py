"""Check the nodes against the account's quotas, which would otherwise show only as nodes that never launch."""

from collections import Counter
from collections.abc import Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity, did_you_mean
from ....fleet.instances import instances
from ....fleet.nodes.policy import Capacity
from ..facts.eks import Quota, quotas_of, standard_quotas
from .plan import NodeEnvironment, NodeGroupPlan


def check_quotas(groups: tuple[NodeGroupPlan, ...], environment: NodeEnvironment) -> Iterator[Problem]:
    """Report unknown quota codes, and warn if the maximum nodes exceed a quota that the settings state."""
    for code in environment.quotas:
        if code not in _codes():
            hint = did_you_mean(code, _codes())
            yield environment.place.problem(("quotas",), f"unknown quota code {code!r}{hint}")
    system = environment.system_vcpus
    for quota, needed in sorted(vcpus(groups, system).items(), key=lambda item: item[0].code):
        allowed = environment.quotas.get(quota.code)
        if allowed is not None and needed > allowed:
            required = f"{needed} vCPUs of quota {quota}"
            if system and quota == standard_quotas().on_demand:
                required += f", {system} of them for the system's pods"
            reason = f"the node groups may grow to {required}, but the account has only {allowed}"
            remedy = f"request an increase from AWS, or set {environment.place.key('maxNodes')}"
            yield environment.place.problem(
                ("quotas", quota.code), f"{reason}; {remedy}", Severity.WARNING, rule=RuleId.QUOTA_EXCEEDED
            )


def _codes() -> set[str]:
    known = filter(None, map(quotas_of, instances().values()))
    return {quota.code for quotas in known for quota in (quotas.on_demand, quotas.spot) if quota}


def vcpus(groups: tuple[NodeGroupPlan, ...], system_vcpus: int = 0) -> dict[Quota, int]:
    """Return the vCPUs of all groups at their maximum and of the system nodes, by quota (aws-gpu spec 14)."""
    total = Counter[Quota]()
    if system_vcpus:
        total[standard_quotas().on_demand] += system_vcpus
    for group in groups:
        quotas = quotas_of(group.node)
        quota = quotas and (quotas.spot if group.demand.capacity == Capacity.SPOT else quotas.on_demand)
        # Whether Capacity Blocks count against the quota is not documented, so they are left out.
        if quota and group.demand.capacity != Capacity.CAPACITY_BLOCK:
            total[quota] += group.maximum * group.node.vcpu
    return dict(total)

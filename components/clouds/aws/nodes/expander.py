"""Models whose order of preference the Cluster Autoscaler cannot follow: it has one order of groups for all pods."""

from collections.abc import Iterator

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.nodes.groups import preferences
from ....fleet.nodes.order import group_order
from ....fleet.rendered import Fleet, Rendered
from ..words import Provisioner
from .plan import NodeEnvironment


def check_order(fleet: Fleet, environment: NodeEnvironment) -> Iterator[Problem]:
    """Warn of each model whose preferred group may not come first, because another prefers the opposite.

    Karpenter treats each pod's first preference as a requirement until it cannot be met (kubernetes-sigs/karpenter,
    pkg/scheduling/requirements.go, newPodRequirements), so no order is lost with it.
    """
    if environment.provisioner != Provisioner.MANAGED:
        return
    wanted = [(item, names) for item in fleet.rendered for names in preferences(item.pods, environment.nodes)]
    tied = group_order(names for _, names in wanted).tied
    lost: dict[int, dict[tuple[str, str], None]] = {}
    for item, names in wanted:
        for index, first in enumerate(names):
            for second in names[index + 1 :]:
                if second in tied.get(first, ()):
                    lost.setdefault(id(item), {})[first, second] = None
    models = [item for item in fleet.rendered if id(item) in lost]
    for item in models:
        first, second = next(iter(lost[id(item)]))
        circle = {first, *tied[first]}
        others = [other for other in models if other is not item and any(one in circle for one, _ in lost[id(other)])]
        yield _problem(item, first, second, others, environment)


def _problem(
    item: Rendered, first: str, second: str, others: list[Rendered], environment: NodeEnvironment
) -> Problem:
    instead = "set provisioner: karpenter" if environment.place.section else "use KarpenterPools"
    # One model alone contradicts itself where its own kinds of pods prefer opposite orders.
    against = ", ".join(other.title for other in others) or "its own other pods"
    reason = (
        f"prefers nodes {first} to {second}, and {against} the opposite, directly or by way of other groups; the "
        "Cluster Autoscaler has one order for all pods and adds those that leave the least unused, so that pods may "
        f"start on {second} first; list the flavors in the same order, or {instead}, which follows each pod's order"
    )
    return item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.NODES_ORDER_CONFLICT)

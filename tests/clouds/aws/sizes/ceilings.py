"""An account that remembers whether its groups ever had more nodes than the plan's most."""

from dataclasses import dataclass, field

from tests.clouds.aws.sizes.account import Account, Group
from tests.clouds.aws.sizes.deployed import SYSTEM, Deployed
from tests.recorded import Recorded


@dataclass
class Watched(Account):
    """An account with the ceilings of its groups.

    Attributes:
        ceilings: The most nodes by Auto Scaling group: the larger of the last two plans while an update runs.
        above: What exceeded them, in words.
    """

    ceilings: dict[str, int] = field(default_factory=dict)
    above: list[str] = field(default_factory=list)

    def set_desired(self, group: Group, nodes: int) -> None:
        """Fewer nodes are never too many, even where a plan was lowered below what runs."""
        most = self.ceilings.get(group.scaled, 0)
        if nodes > max(most, group.sizes["desiredSize"]):
            self.above.append(f"{group.name}: {nodes} nodes, at most {most}")
        super().set_desired(group, nodes)


def most_nodes(graph: Recorded) -> dict[str, int]:
    """The most nodes of each group by logical name, as the plan says them."""
    most = {f"nodes-{name}": each["maxNodes"] for name, each in graph.exports["nodes"].items()}
    told = {each["name"]: each["maxSize"] for each in graph.exports.get("nodeGroupBounds", ())}
    for entry in graph.of("aws:eks/nodeGroup:NodeGroup"):
        if entry.name == SYSTEM:
            scaled = f"eks-{entry.inputs['nodeGroupName']}"
            most[SYSTEM] = told.get(scaled, entry.inputs["scalingConfig"]["desiredSize"])
    return most


def update(stack: Deployed, account: Watched, graph: Recorded) -> None:
    """Deploy a program; until it is done, groups that stay may have as many nodes as before."""
    most = most_nodes(graph)
    names = {entry.name: f"eks-{entry.inputs['nodeGroupName']}" for entry in graph.of("aws:eks/nodeGroup:NodeGroup")}
    after = {names[name]: number for name, number in most.items()}
    before = account.ceilings
    account.ceilings = {name: max(before.get(name, 0), after.get(name, 0)) for name in {*before, *after}}
    stack.update(graph)
    account.ceilings = after
    stack.wait()

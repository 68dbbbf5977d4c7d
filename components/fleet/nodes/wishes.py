"""Which field of which manifest chooses a kind of node."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ..demand import INSTANCE_TYPE_LABEL, NodeChoice, PodDemand
from ..origins import Origin, Reporter
from ..rendered import Fleet


@dataclass(frozen=True, slots=True)
class Wish:
    """One kind of node for one kind of pod.

    Attributes:
        asked_at: Who asks for it, where the choice itself does not say.
    """

    asked_at: Reporter
    demand: PodDemand
    choice: NodeChoice

    @property
    def type_name(self) -> str:
        """What names the instance type in the manifest."""
        return self.choice.chosen_by.type_name if self.choice.chosen_by else INSTANCE_TYPE_LABEL

    def instead(self, key: str, count: int) -> str:
        """Name another way out if a node has at most ``count`` of an accelerator."""
        words = self.choice.chosen_by.instead if self.choice.chosen_by else "request at most {count}"
        return words.format(key=key, count=count)

    def problem(self, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT) -> Problem:
        """Report what is wrong with it at the field that chose it."""
        asked_at = self.choice.chosen_by.origin if self.choice.chosen_by else self.asked_at
        return asked_at.problem(reason, severity, rule)


def wishes(fleet: Fleet) -> Iterator[Wish]:
    """Return every kind of node for every pod, in the order of the fleet."""
    for item in fleet.rendered:
        asked_at = Origin(item.source, "spec")
        for demand in item.pods:
            for choice in demand.choices:
                yield Wish(asked_at, demand, choice)

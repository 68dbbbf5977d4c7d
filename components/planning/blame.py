"""Which field of which manifest asked for a kind of node."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..api.problems import Problem
from ..render.types import Fleet, NodeChoice, PodDemand, Rendered


@dataclass(frozen=True, slots=True)
class Wish:
    """One flavor of one model, as one kind of pod asks for it."""

    item: Rendered
    path: str
    demand: PodDemand
    choice: NodeChoice

    def problem(self, reason: str, severity: str = "error") -> Problem:
        """Report what is wrong with it at the field that chose it."""
        where = f"flavor {self.choice.flavor!r} of OpenModel {self.item.model!r}: "
        if self.item.kind == "InferenceService":
            where = ""  # the field itself chooses the nodes
        return self.item.source.problem(self.path, f"{where}{reason}", severity)


def wishes(fleet: Fleet) -> Iterator[Wish]:
    """Return every flavor of every pod, in the order of the fleet."""
    for item in fleet.rendered:
        path = _flavor_path(item)
        for demand in item.pods:
            for choice in demand.choices:
                yield Wish(item, path, demand, choice)


def _flavor_path(item: Rendered) -> str:
    if item.kind == "InferenceService":
        return "spec.nodeSelector"
    spec = getattr(item.source.resource, "spec", None)
    single = getattr(spec, "model_claim", None)
    base = "spec.modelClaim" if single else "spec.modelClaims"
    claim = single or getattr(spec, "model_claims", None)
    if getattr(claim, "inference_flavors", None):
        return f"{base}.inferenceFlavors"
    return f"{base}.modelName" if single else f"{base}.models"

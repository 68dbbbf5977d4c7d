"""Spreads serving groups over nodes, zones or whatever else nodes have in common.

A serving group that is one role instance is where its entry pod is. Kthena's controller applies none of it (D-21).
"""

from collections.abc import Iterator, Sequence

from ....contract.findings.ids import RuleId
from ....fleet.objects import Object
from ..names import SERVING_LABEL, entry_labels
from ..types.model_serving import TopologySpreadConstraint
from .asked import AskedServing
from .groups import is_one_set

PATH = "spec.topologySpreadConstraints"
_WHEN = ("DoNotSchedule", "ScheduleAnyway")


def spread(asked: AskedServing, role: str, spec: Object) -> None:
    """Add the constraints of the serving groups to their entry pods."""
    constraints = asked.serving.spec.topology_spread_constraints or []
    if not constraints or not is_one_set(asked.group):
        return
    own = spec.get("topologySpreadConstraints") or []
    for path, reason in _faults(constraints, own):
        asked.findings.error(path, reason, RuleId.NATIVE_UNSUPPORTED)
    spec["topologySpreadConstraints"] = [*own, *(_constraint(asked.name, role, each) for each in constraints)]


def _constraint(serving: str, role: str, constraint: TopologySpreadConstraint) -> Object:
    """Return a constraint that counts entry pods alone: those of the serving where it does not say of which."""
    written = constraint.wire()
    selector: Object = written.get("labelSelector") or {}
    labels = selector.get("matchLabels") or ({} if selector else entry_labels(serving, role))
    counted = {**selector, "matchLabels": {**labels, f"{SERVING_LABEL}/entry": "true"}}
    return {**written, "labelSelector": counted}


def _faults(constraints: Sequence[TopologySpreadConstraint], own: list[Object]) -> Iterator[tuple[str, str]]:
    """Yield what no pod may have: the definition of the kind does not ask for what pods need."""
    seen = {(each.get("topologyKey"), each.get("whenUnsatisfiable")) for each in own}
    for position, each in enumerate(constraints):
        path = f"{PATH}[{position}]"
        if not each.max_skew or each.max_skew < 1:
            yield f"{path}.maxSkew", f"must be at least 1, found {each.max_skew}; set it"
        if not each.topology_key:
            yield f"{path}.topologyKey", "is required; name a label of nodes, such as topology.kubernetes.io/zone"
        if each.when_unsatisfiable not in _WHEN:
            found = f"must be one of {', '.join(_WHEN)}, found {each.when_unsatisfiable!r}; choose one"
            yield f"{path}.whenUnsatisfiable", found
        key = (each.topology_key, each.when_unsatisfiable)
        if key in seen:
            yield path, f"is there twice for {each.topology_key!r} and {each.when_unsatisfiable!r}; remove one"
        seen.add(key)

"""What nodes the pods of a role need: nothing but their templates says so."""

from collections.abc import Iterator, Mapping

from ....fleet.demand import INSTANCE_TYPE_LABEL, TYPE_LABELS, NodeChoice, NodeField, instance_type_in
from ....fleet.instances import accelerator_resources
from ....fleet.objects import Object
from ....fleet.origins import Origin, ProblemSource
from ....fleet.placement import assign_nodes, requested_by, taints, tolerate

Alternatives = Mapping[str, tuple[str, ...]]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def choices_of(spec: Object, alternatives: Alternatives, source: ProblemSource, path: str) -> tuple[NodeChoice, ...]:
    """Return the nodes that a pod may run on, in order of preference; none where it says nothing.

    Args:
        spec: The pod.
        alternatives: By instance type, further types that the environment takes instead.
        source: The resource.
        path: The field that holds the pod.
    """
    selector = {str(key): str(value) for key, value in sorted((spec.get("nodeSelector") or {}).items())}
    named = instance_type_in(selector)
    terms = _terms(spec)
    if named is None and terms:
        field = NodeField(Origin(source, f"{path}.affinity"))
        found = [choice for term in terms for choice in _in_term(term, selector, alternatives, field)]
        return _preferred_first(found, spec) if any(choice.labels for choice in found) else ()
    others = {key: value for key, value in selector.items() if key != INSTANCE_TYPE_LABEL}
    # Any other label that names the type keeps the pod off other types.
    instead = alternatives.get(named or "", ()) if INSTANCE_TYPE_LABEL in selector else ()
    return (NodeChoice("nodeSelector", named, others, instead, selector_field(source, path)),) if selector else ()


def selector_field(source: ProblemSource, path: str) -> NodeField:
    """Return the field that chooses nodes where nothing else does."""
    return NodeField(Origin(source, f"{path}.nodeSelector"))


def put_on_nodes(spec: Object, choices: tuple[NodeChoice, ...]) -> None:
    """Let a pod onto the nodes that it chooses, and onto those that the environment takes instead of them."""
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    if any(choice.alternatives for choice in choices):
        if INSTANCE_TYPE_LABEL in selector:
            kept = {key: value for key, value in selector.items() if key != INSTANCE_TYPE_LABEL}
            spec.pop("nodeSelector")
            spec.update({"nodeSelector": kept} if kept else {})
            assign_nodes(spec, choices)
        else:
            _widen(spec, {choice.instance_type: choice.alternatives for choice in choices})
    keys = [key for key in requested_by(spec) if key in accelerator_resources()]
    tolerate(spec, [*keys, *(taint["key"] for choice in choices for taint in taints(choice.instance_type))])


def _terms(spec: Object) -> list[Object]:
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _values(term: Object) -> dict[str, list[str]]:
    """Return the values that a term takes of each label, where it lists them."""
    expressions = (each for each in term.get("matchExpressions") or () if each["operator"] == "In")
    return {str(each["key"]): [str(value) for value in each.get("values") or ()] for each in expressions}


def _in_term(
    term: Object, selector: Mapping[str, str], alternatives: Alternatives, field: NodeField
) -> Iterator[NodeChoice]:
    values = _values(term)
    label = next((label for label in TYPE_LABELS if label in values), None)
    types: list[str | None] = [*values.pop(label)] if label else [None]
    single = {key: found[0] for key, found in values.items() if len(found) == 1}
    for name in types:
        instead = alternatives.get(name or "", ()) if label == INSTANCE_TYPE_LABEL else ()
        yield NodeChoice("affinity", name, {**selector, **single}, instead, field)


def _preferred_first(found: list[NodeChoice], spec: Object) -> tuple[NodeChoice, ...]:
    if len(found) == 1:
        return (found[0],)
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    preferences = [(int(each["weight"]), _values(each["preference"])) for each in node.get(_PREFERRED) or ()]

    def weight(choice: NodeChoice) -> int:
        met = (weight for weight, wanted in preferences if wanted and _meets(choice.labels, wanted))
        return sum(met)

    ordered = sorted(found, key=weight, reverse=True)
    return tuple(choice for position, choice in enumerate(ordered) if choice not in ordered[:position])


def _meets(labels: Mapping[str, str], wanted: Mapping[str, list[str]]) -> bool:
    return all(labels.get(key) in values for key, values in wanted.items())


def _widen(spec: Object, alternatives: Mapping[str | None, tuple[str, ...]]) -> None:
    """Let the affinity of a pod take further instance types."""
    for term in _terms(spec):
        for each in term.get("matchExpressions") or ():
            if each["key"] == INSTANCE_TYPE_LABEL and each["operator"] == "In":
                more = (other for name in each["values"] for other in alternatives.get(name, ()))
                each["values"] = list(dict.fromkeys([*each["values"], *more]))

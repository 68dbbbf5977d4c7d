"""Pod templates of a role, with the additions of Kthena's controller and the environment (Kthena spec 3.2)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ....contract.findings.ids import RuleId
from ....fleet.demand import INSTANCE_TYPE_LABEL, TYPE_LABELS, NodeChoice, NodeField, PodDemand, instance_type_in
from ....fleet.instances import is_accelerator
from ....fleet.objects import Object, copied
from ....fleet.options import Options
from ....fleet.origins import Origin, ProblemSource
from ....fleet.placement import assign_nodes, requested_by, requests_of, taints, tolerate
from ....fleet.serving import disable_token_mount, override_pod
from ..generated import origin_of
from ..names import SERVING_LABEL, entry_labels, role_labels
from ..types.model_serving import PodTemplateSpec
from .context import ServingContext
from .groups import SCHEDULER, has_pod_groups, is_one_set
from .plugins import apply_plugins

GROUP_VARIABLES = ("GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX")
"""Variables that Kthena's controller sets in every container of a role instance."""
LEADER_ADDRESS = "$(LWS_LEADER_ADDRESS)"
"""The address of the entry pod, from a variable of the LeaderWorkerSet controller."""
SPREAD = "spec.topologySpreadConstraints"
_DEFAULT_SCHEDULER = Options().scheduler_name
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class RoleInstance:
    """What distinguishes the pods of one role instance from those of another.

    Attributes:
        entry_address: Address of its entry pod.
        labels: Labels that only its pods have.
        annotations: Annotations that only its pods have.
    """

    entry_address: str = LEADER_ADDRESS
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Template:
    """The template of the entry pods or the workers of a role, without the parts that differ between its instances.

    Attributes:
        part: The field of a LeaderWorkerSet for these pods.
        body: The pod template.
        choices: Nodes that the pods may run on.
        node_field: The field to select nodes with.
    """

    part: str
    body: Object
    choices: tuple[NodeChoice, ...]
    node_field: NodeField

    @property
    def spec(self) -> Object:
        spec: Object = self.body["spec"]
        return spec

    @functools.cached_property
    def requests(self) -> Mapping[str, Decimal]:
        """The requests of one pod."""
        return requests_of(self.spec)

    def demand(self, pods: int, *, per_replica: int, surge: int = 0) -> PodDemand:
        """Return the nodes that a number of these pods need."""
        return PodDemand(
            pods, self.requests, self.choices, surge_pods=surge, per_replica=per_replica, node_field=self.node_field
        )


def pod_template(
    serving: ServingContext, path: str, role: str, template: PodTemplateSpec, *, entry: bool
) -> Template:
    """Return the template of the entry pods or the workers of a role.

    Args:
        serving: The ModelServing.
        path: The field of the template.
        role: Name of the role.
        template: The template in the ModelServing.
        entry: Whether it is the template of the entry pods.
    """
    native, options = serving.options.realization.is_native, serving.options
    spec = template.spec or {}
    # These two are changed in place below; other fields are only replaced as a whole.
    in_place = {key: copied(spec[key]) for key in ("affinity", "tolerations") if key in spec}
    body: Object = {
        "metadata": template.metadata.wire() if template.metadata else {},
        "spec": {**spec, **in_place},
    }
    if native:
        apply_plugins(serving, role, body, entry=entry)
        override_pod(body, options.overrides)
    labels = entry_labels(serving.name, role) if entry else role_labels(serving.name, role)
    body["metadata"] = {**body["metadata"], "labels": {**(body["metadata"].get("labels") or {}), **labels}}
    alternatives = options.alternatives if native else {}
    source = origin_of(serving.source)
    choices = _node_choices(body["spec"], alternatives, source, f"{path}.spec")
    if native:
        _allow_nodes(body["spec"], choices)
        if serving.spec.scheduler_name not in (None, "", SCHEDULER):
            body["spec"].setdefault("schedulerName", serving.spec.scheduler_name)
        elif has_pod_groups(serving):
            body["spec"].setdefault("schedulerName", SCHEDULER)
        elif options.scheduler_name != _DEFAULT_SCHEDULER:
            body["spec"].setdefault("schedulerName", options.scheduler_name)
        disable_token_mount(body["spec"])
        if entry:
            _spread_groups(serving, role, body["spec"])
    part = "leaderTemplate" if entry else "workerTemplate"
    return Template(part, body, choices, _selector_field(source, f"{path}.spec"))


def instance_template(template: Template, instance: RoleInstance) -> Object:
    """Return the pod template of one role instance; parts that do not differ are shared by all instances."""
    metadata = dict(template.body["metadata"])
    metadata["labels"] = {**metadata["labels"], **instance.labels}
    if instance.annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **instance.annotations}
    values = zip(GROUP_VARIABLES, ("$(LWS_GROUP_SIZE)", instance.entry_address, "$(LWS_WORKER_INDEX)"), strict=True)
    variables = dict(values)
    spec = dict(template.body["spec"])
    for containers in ("initContainers", "containers"):
        if not spec.get(containers):
            continue
        # The variables come first, so that others can refer to them. The LeaderWorkerSet controller inserts those
        # that they refer to themselves before them.
        spec[containers] = [
            {
                **container,
                "env": [
                    *({"name": name, "value": value} for name, value in variables.items()),
                    *(variable for variable in container.get("env") or () if variable["name"] not in variables),
                ],
            }
            for container in spec[containers]
        ]
    return {"metadata": metadata, "spec": spec}


# Nodes


def _node_choices(
    spec: Object, alternatives: Mapping[str, tuple[str, ...]], source: ProblemSource, path: str
) -> tuple[NodeChoice, ...]:
    """Return the nodes that a pod may run on, in order of preference; none if the pod does not select nodes.

    Args:
        spec: The pod.
        alternatives: By instance type, the types that the environment also accepts.
        source: The resource.
        path: The field of the pod.
    """
    selector = {str(key): str(value) for key, value in sorted((spec.get("nodeSelector") or {}).items())}
    instance_type = instance_type_in(selector)
    terms = _node_selector_terms(spec)
    if instance_type is not None or not terms:
        labels = {key: value for key, value in selector.items() if key != INSTANCE_TYPE_LABEL}
        # Any other label that names the type keeps the pod off other types.
        others = alternatives.get(instance_type or "", ()) if INSTANCE_TYPE_LABEL in selector else ()
        choice = NodeChoice("nodeSelector", instance_type, labels, others, _selector_field(source, path))
        return (choice,) if selector else ()
    field = NodeField(Origin(source, f"{path}.affinity"))
    choices = []
    for term in terms:
        values = _accepted_values(term)
        label = next((label for label in TYPE_LABELS if label in values), None)
        types: list[str | None] = [*values.pop(label)] if label else [None]
        labels = {**selector, **{key: accepted[0] for key, accepted in values.items() if len(accepted) == 1}}
        for name in types:
            others = alternatives.get(name or "", ()) if label == INSTANCE_TYPE_LABEL else ()
            choices.append(NodeChoice("affinity", name, labels, others, field))
    if not any(choice.labels for choice in choices):
        return ()
    preferences = [
        (int(term["weight"]), _accepted_values(term["preference"]))
        for term in spec["affinity"]["nodeAffinity"].get(_PREFERRED) or ()
    ]

    def preference(choice: NodeChoice) -> int:
        return sum(
            weight
            for weight, accepted in preferences
            if accepted and all(choice.labels.get(key) in values for key, values in accepted.items())
        )

    ordered = sorted(choices, key=preference, reverse=True)
    return tuple(choice for position, choice in enumerate(ordered) if choice not in ordered[:position])


def _allow_nodes(spec: Object, choices: tuple[NodeChoice, ...]) -> None:
    """Add alternative instance types and the tolerations for the taints of the chosen nodes to a pod."""
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    if any(choice.alternatives for choice in choices):
        if INSTANCE_TYPE_LABEL in selector:
            labels = {key: value for key, value in selector.items() if key != INSTANCE_TYPE_LABEL}
            spec.pop("nodeSelector")
            spec.update({"nodeSelector": labels} if labels else {})
            assign_nodes(spec, choices)
        else:
            alternatives = {choice.instance_type: choice.alternatives for choice in choices}
            for term in _node_selector_terms(spec):
                for expression in term.get("matchExpressions") or ():
                    if expression["key"] == INSTANCE_TYPE_LABEL and expression["operator"] == "In":
                        types = expression["values"]
                        others = (other for name in types for other in alternatives.get(name, ()))
                        expression["values"] = list(dict.fromkeys([*types, *others]))
    devices = [key for key in requested_by(spec) if is_accelerator(key)]
    tolerate(spec, [*devices, *(taint["key"] for choice in choices for taint in taints(choice.instance_type))])


def _selector_field(source: ProblemSource, path: str) -> NodeField:
    return NodeField(Origin(source, f"{path}.nodeSelector"))


def _node_selector_terms(spec: Object) -> list[Object]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _accepted_values(term: Object) -> dict[str, list[str]]:
    """Return the values that a term accepts for each label, from its expressions with the operator In."""
    expressions = (expression for expression in term.get("matchExpressions") or () if expression["operator"] == "In")
    return {str(item["key"]): [str(value) for value in item.get("values") or ()] for item in expressions}


def _spread_groups(serving: ServingContext, role: str, spec: Object) -> None:
    """Add the ModelServing's topology spread constraints to its entry pods.

    That spreads serving groups of one role instance only: such a group runs where its entry pod runs. Kthena's
    controller ignores the constraints (D-21).
    """
    constraints = serving.spec.topology_spread_constraints or []
    if not constraints or not is_one_set(serving.group):
        return
    pod_constraints = spec.get("topologySpreadConstraints") or []
    keys = {(item.get("topologyKey"), item.get("whenUnsatisfiable")) for item in pod_constraints}
    added = []
    for position, constraint in enumerate(constraints):
        # The CRD requires less than a pod does.
        problems = {}
        if not constraint.max_skew or constraint.max_skew < 1:
            problems["maxSkew"] = f"must be at least 1, found {constraint.max_skew}"
        if not constraint.topology_key:
            problems["topologyKey"] = "is required; set a node label, such as topology.kubernetes.io/zone"
        actions = ("DoNotSchedule", "ScheduleAnyway")
        if constraint.when_unsatisfiable not in actions:
            problems["whenUnsatisfiable"] = f"must be {' or '.join(actions)}, found {constraint.when_unsatisfiable!r}"
        for name, reason in problems.items():
            serving.findings.error(f"{SPREAD}[{position}].{name}", reason, RuleId.NATIVE_UNSUPPORTED)
        key = (constraint.topology_key, constraint.when_unsatisfiable)
        if key in keys:
            reason = f"duplicates the constraint for {key[0]!r} and {key[1]!r}; remove one of them"
            serving.findings.error(f"{SPREAD}[{position}]", reason, RuleId.NATIVE_UNSUPPORTED)
        keys.add(key)
        rendered = constraint.wire()
        selector: Object = rendered.get("labelSelector") or {}
        # Without a selector, the constraint counts the entry pods of this ModelServing.
        labels = selector.get("matchLabels") or ({} if selector else entry_labels(serving.name, role))
        selector = {**selector, "matchLabels": {**labels, f"{SERVING_LABEL}/entry": "true"}}
        added.append({**rendered, "labelSelector": selector})
    spec["topologySpreadConstraints"] = [*pod_constraints, *added]

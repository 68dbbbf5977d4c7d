"""Generations of nodes: pods that move to another node group before theirs is deleted.

Most changes of a node group delete it, and its pods restart when that happens. A label that the nodes have and the
pods select makes the new nodes another group, and the change of the selection a rolling update. Pulumi creates the
new group first, waits for the rollout, and deletes the old group last, when no pod is left there.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ....contract.problems import Problem
from ....fleet.demand import TYPE_LABELS, NodeChoice
from ....fleet.nodes.policy import NodePolicy
from ....fleet.objects import Object
from ....fleet.rendered import Fleet
from ....fleet.workloads import Workload
from ..names import GENERATION_LABEL
from .plan import NodeEnvironment

_Generations = Mapping[str, str]


def with_generations(fleet: Fleet, policy: NodePolicy) -> Fleet:
    """Return the fleet whose pods select the generation of the nodes of their instance types."""
    generations = policy.generations
    if not generations:
        return fleet
    rendered = (
        replace(item, workloads=tuple(_workload(workload, generations) for workload in item.workloads))
        for item in fleet.rendered
    )
    return replace(fleet, rendered=tuple(rendered))


def check_generations(fleet: Fleet, environment: NodeEnvironment) -> Iterator[Problem]:
    """Report generations that pods cannot select, because an operator creates them."""
    generations = environment.nodes.generations
    operated = {
        choice.instance_type: workload.name
        for _, workload in fleet.workloads
        if workload.operated
        for demand in workload.pods
        for choice in demand.choices
        if choice.instance_type in generations
    }
    for name, workload_name in sorted(operated.items(), key=str):
        reason = (
            f"is set, but an operator creates the pods of {workload_name}, which cannot select it; set realization: "
            "native, or remove it"
        )
        yield environment.place.problem(("types", str(name), "generation"), reason)


def _workload(workload: Workload, generations: _Generations) -> Workload:
    named = any(choice.instance_type in generations for demand in workload.pods for choice in demand.choices)
    if workload.operated or not named:
        return workload
    changed = replace(workload, body=copy.deepcopy(workload.body))
    for template in changed.templates:
        _select(template["spec"], generations)
    pods = tuple(
        replace(demand, choices=tuple(_choice(choice, generations) for choice in demand.choices))
        for demand in workload.pods
    )
    return replace(changed, pods=pods)


def _choice(choice: NodeChoice, generations: _Generations) -> NodeChoice:
    generation = generations.get(choice.instance_type or "")
    if not generation:
        return choice
    return replace(choice, node_selector={GENERATION_LABEL: generation, **choice.node_selector})


def _select(spec: Object, generations: _Generations) -> None:
    """Add the label beside each selection of an instance type, in place."""
    selector = spec.get("nodeSelector") or {}
    for label in TYPE_LABELS:
        if selector.get(label) in generations:
            selector.setdefault(GENERATION_LABEL, generations[selector[label]])
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    preferred = node.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    for term in (*(required.get("nodeSelectorTerms") or ()), *(each["preference"] for each in preferred)):
        expressions = term.get("matchExpressions") or []
        keys = {expression["key"] for expression in expressions}
        types = [
            str(expression["values"][0])
            for expression in expressions
            if expression["key"] in TYPE_LABELS and expression["operator"] == "In"
        ]
        generation = next((generations[name] for name in types if name in generations), "")
        if generation and GENERATION_LABEL not in keys:
            expressions.append({"key": GENERATION_LABEL, "operator": "In", "values": [generation]})

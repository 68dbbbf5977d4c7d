"""Namespaces of a plan: those of the models, and those among the manifests."""

from typing import TYPE_CHECKING

from ..fleet.objects import Object
from .access import balancers_of, gated_namespaces, is_created, namespace_labels
from .others import NAMESPACE, group_of

if TYPE_CHECKING:
    from .plan import Plan


def namespace_objects(planned: "Plan") -> dict[str, Object]:
    """Return the namespaces to create, by name; ``default`` and system namespaces exist already.

    A namespace among the manifests keeps its content, and additionally gets the labels of namespaces of models if
    models run in it.
    """
    labels = namespace_labels(planned.environment)
    manifests = {body["metadata"]["name"]: body for body in planned.others if is_namespace(body)}
    used = {item.namespace for item in planned.fleet.rendered if item.namespace}
    # Objects that are passed through without a namespace are created in that of the environment.
    filled = planned.environment.options.namespace
    used |= {filled} & {body["metadata"].get("namespace") for body in planned.others}
    created = {name for name in used if is_created(name)}
    namespaces = {}
    for name in sorted(created | manifests.keys()):
        body = manifests.get(name) or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        added = {**(labels if name in used else {}), **gate_labels(planned, name)}
        if added:
            metadata = body["metadata"]
            body = {**body, "metadata": {**metadata, "labels": {**added, **(metadata.get("labels") or {})}}}
        namespaces[name] = body
    return namespaces


def gate_labels(planned: "Plan", namespace: str) -> dict[str, str]:
    """Return the labels of a namespace that enable readiness gates of load balancers."""
    gated = gated_namespaces(planned.fleet, planned.door, planned.environment)
    balancers = balancers_of(planned.environment)
    return dict(balancers.readiness_gates) if balancers and namespace in gated else {}


def is_namespace(body: Object) -> bool:
    return (group_of(body), body["kind"]) == NAMESPACE

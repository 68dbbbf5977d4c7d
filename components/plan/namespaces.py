"""The namespaces of a plan: those of the models, and those that are passed through."""

from typing import TYPE_CHECKING

from ..fleet.objects import Object
from .access import balancers_of, gated_namespaces, is_created, namespace_labels
from .others import NAMESPACE, group_of

if TYPE_CHECKING:
    from .plan import Plan


def namespace_objects(planned: "Plan") -> dict[str, Object]:
    """Return the namespaces to create, by name; ``default`` and the system's exist already.

    A namespace that is passed through is the same object whether or not models run in it: it keeps what is written,
    and gets the labels of the models' namespaces in addition.
    """
    labels = namespace_labels(planned.environment)
    given = {body["metadata"]["name"]: body for body in planned.others if is_namespace(body)}
    used = {item.namespace for item in planned.fleet.rendered if item.namespace}
    # What is passed through without a namespace is put into that of the environment.
    filled = planned.environment.options.namespace
    used |= {filled} & {body["metadata"].get("namespace") for body in planned.others}
    created = {name for name in used if is_created(name)}
    return {
        name: _labelled(
            given.get(name) or _new(name), {**(labels if name in used else {}), **gate_labels(planned, name)}
        )
        for name in sorted(created | given.keys())
    }


def gate_labels(planned: "Plan", namespace: str) -> dict[str, str]:
    """Return the labels of a namespace by which its pods are Ready only when load balancers reach them."""
    gated = gated_namespaces(planned.fleet, planned.door, planned.environment)
    balancers = balancers_of(planned.environment)
    return dict(balancers.readiness_gates) if balancers and namespace in gated else {}


def is_namespace(body: Object) -> bool:
    """Tell whether an object is a namespace."""
    return (group_of(body), body["kind"]) == NAMESPACE


def _new(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _labelled(body: Object, labels: dict[str, str]) -> Object:
    if not labels:
        return body
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "labels": {**labels, **(metadata.get("labels") or {})}}}

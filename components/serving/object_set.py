"""Components that register Kubernetes objects computed elsewhere, and decide nothing.

FrontDoor, Monitoring, NetworkPolicies, PriorityClasses
└── any Kubernetes object   <name>-<kind>-<namespace>/<name of the object>
"""

from collections.abc import Iterable
from typing import Any

import pulumi

from .objects import KubernetesObject, kubernetes_object, token


class ObjectSet(pulumi.ComponentResource):
    """Registers objects in the order in which they were computed."""

    count: pulumi.Output[int]
    """How many objects there are."""

    def __init__(
        self, name: str, objects: Iterable[dict[str, Any]], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Register the objects; each is known by its kind, namespace and name."""
        super().__init__(token(type(self).__name__), name, {}, opts)
        self.objects: dict[tuple[str, str, str], KubernetesObject] = {}
        for value in objects:
            key = _key(value)
            kind, namespace, own = key
            # A slash, which names cannot have: a-b in c and b in c-a are two objects.
            logical = f"{name}-{kind.lower()}-{f'{namespace}/' if namespace else ''}{own}"
            self.objects[key] = kubernetes_object(value, logical, pulumi.ResourceOptions(parent=self))
        self.count = pulumi.Output.from_input(len(self.objects))
        self.register_outputs({"count": self.count})


def _key(value: dict[str, Any]) -> tuple[str, str, str]:
    metadata = value["metadata"]
    return value["kind"], metadata.get("namespace", ""), metadata["name"]


class FrontDoor(ObjectSet):
    """How clients outside the cluster reach the models: ``components.render.front_door``.

    Does not install the gateway's controllers or make Secrets with keys.
    """


class Monitoring(ObjectSet):
    """What is scraped, shown and watched: PodMonitors, a dashboard, alerts. Does not install Prometheus."""


class NetworkPolicies(ObjectSet):
    """Who may talk to the models' pods. Without a network plugin that enforces them they do nothing."""


class PriorityClasses(ObjectSet):
    """The priorities that pods of models may have; the whole cluster shares them."""

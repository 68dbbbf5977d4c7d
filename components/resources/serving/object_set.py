"""Components that register Kubernetes objects computed elsewhere, and decide nothing.

FrontDoor, Monitoring, NetworkPolicies, OtherObjects, PriorityClasses
└── any Kubernetes object   <name>-<kind>-<namespace>/<name of the object>
"""

from collections.abc import Iterable
from typing import Any

import pulumi

from .objects import KubernetesObject, kubernetes_object, kubernetes_token, token


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
        definitions: list[pulumi.Resource] = []
        for value in sorted(objects, key=_is_definition, reverse=True):
            key = _key(value)
            kind, namespace, own = key
            # A slash, which names cannot have: a-b in c and b in c-a are two objects.
            logical = f"{name}-{kind.lower()}-{f'{namespace}/' if namespace else ''}{own}"
            aliases = [pulumi.Alias(type_=former) for former in self.former_types(value)]
            options = pulumi.ResourceOptions(parent=self, depends_on=list(definitions), aliases=aliases)
            self.objects[key] = kubernetes_object(value, logical, options)
            if _is_definition(value):
                definitions.append(self.objects[key])
        self.count = pulumi.Output.from_input(len(self.objects))
        self.register_outputs({"count": self.count})

    def former_types(self, value: dict[str, Any]) -> list[str]:  # noqa: ARG002  a set may know some
        """Return the types that an object may have had before."""
        return []


_VERSIONS = (
    *("v1alpha1", "v1alpha2", "v1alpha3", "v1beta1", "v1beta2", "v1beta3", "v1"),
    *("v2alpha1", "v2beta1", "v2beta2", "v2"),
)


def _is_definition(value: dict[str, Any]) -> bool:
    """Tell whether an object makes a kind that others of the set may be of; it comes before them."""
    return bool(value["kind"] == "CustomResourceDefinition")


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


class OtherObjects(ObjectSet):
    """Objects of other APIs that stand among the manifests, as they are written. Renders and checks nothing."""

    def former_types(self, value: dict[str, Any]) -> list[str]:
        """Return the types under other versions of the API: it is the same object, and must not be deleted as old."""
        group, _, own = str(value["apiVersion"]).rpartition("/")
        versions = [f"{group}/{version}" for version in _VERSIONS if version != own] if group else []
        return [kubernetes_token(version, value["kind"]) for version in versions]


class PriorityClasses(ObjectSet):
    """The priorities that pods of models may have; the whole cluster shares them."""

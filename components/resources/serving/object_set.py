"""Components that create Kubernetes objects computed elsewhere.

FrontDoor, Monitoring, NetworkPolicies, OtherObjects, PriorityClasses
└── any Kubernetes object   <name>-<kind>-<namespace>/<name of the object>
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pulumi

from .objects import KubernetesObject, kubernetes_object, kubernetes_token, token


class ObjectSet(pulumi.ComponentResource):
    """Creates objects in the given order, after the CustomResourceDefinitions among them."""

    count: pulumi.Output[int]
    """Number of objects."""

    def __init__(
        self,
        name: str,
        objects: Iterable[dict[str, Any]],
        opts: pulumi.ResourceOptions | None = None,
        create: Callable[[dict[str, Any], str, pulumi.ResourceOptions], KubernetesObject] = kubernetes_object,
    ) -> None:
        """Create the objects.

        Args:
            name: Prefix of logical names.
            objects: The objects.
            opts: The component's options.
            create: Creates one object; a fleet knows how long its Services wait for pods.
        """
        super().__init__(token(type(self).__name__), name, {}, opts)
        self.objects: dict[tuple[str, str, str], KubernetesObject] = {}
        definitions: list[pulumi.Resource] = []
        for value in sorted(objects, key=_is_definition, reverse=True):
            key = _key(value)
            aliases = [pulumi.Alias(type_=former) for former in self.former_types(value)]
            options = pulumi.ResourceOptions(parent=self, depends_on=list(definitions), aliases=aliases)
            self.objects[key] = create(value, child_name(name, value), options)
            if _is_definition(value):
                definitions.append(self.objects[key])
        self.count = pulumi.Output.from_input(len(self.objects))
        self.register_outputs({"count": self.count})

    def former_types(self, value: dict[str, Any]) -> list[str]:  # noqa: ARG002  for subclasses
        """Return types that the object may have in the state of an earlier deployment."""
        return []


_VERSIONS = (
    *("v1alpha1", "v1alpha2", "v1alpha3", "v1beta1", "v1beta2", "v1beta3", "v1"),
    *("v2alpha1", "v2beta1", "v2beta2", "v2"),
)


def child_name(name: str, value: Mapping[str, Any]) -> str:
    """Return the logical name of an object in a set."""
    kind, namespace, own = _key(value)
    # Names cannot contain a slash, so that a-b in c and b in c-a get different logical names.
    return f"{name}-{kind.lower()}-{f'{namespace}/' if namespace else ''}{own}"


def _is_definition(value: dict[str, Any]) -> bool:
    return bool(value["kind"] == "CustomResourceDefinition")


def _key(value: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = value["metadata"]
    return value["kind"], metadata.get("namespace", ""), metadata["name"]


class FrontDoor(ObjectSet):
    """Gateway and routes for clients outside the cluster.

    Does not install the gateway's controllers or create Secrets with keys.
    """


class Monitoring(ObjectSet):
    """PodMonitors, a dashboard and alerts. Does not install Prometheus."""


class NetworkPolicies(ObjectSet):
    """NetworkPolicies of the models' pods. They require a network plugin that enforces them."""


class OtherObjects(ObjectSet):
    """Manifests of unsupported APIs, passed through unchanged."""

    def former_types(self, value: dict[str, Any]) -> list[str]:
        """Return the types of other API versions, so that Pulumi does not delete the same object as one of those."""
        group, _, own = str(value["apiVersion"]).rpartition("/")
        versions = [f"{group}/{version}" for version in _VERSIONS if version != own] if group else []
        return [kubernetes_token(version, value["kind"]) for version in versions]


class PriorityClasses(ObjectSet):
    """PriorityClasses of the models' pods; they are cluster-wide."""

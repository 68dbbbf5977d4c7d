"""Programs as data: which resource stands for which object; and what one ``up`` may do to a cluster."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from tests.engine.safety.standin import FIXED, Json, Key, StandIn
from tests.engine.support import Stack, kube_object, register
from workbench.cluster.gateway import NAMESPACE

PLURAL = {"Deployment": "deployments", "PersistentVolumeClaim": "persistentvolumeclaims", "ConfigMap": "configmaps"}
VERSION = {"Deployment": "apps/v1"}
SELECTED = "thing"
"""The label by which a Deployment selects its pods."""


GIVEN = {("namespaces", "", name) for name in ("default", "kube-system", NAMESPACE)}


@dataclass(frozen=True)
class Thing:
    """One object of a program.

    Attributes:
        fixed: What the API server does not let change.
        mounts: The claim that the pods of a Deployment mount.
    """

    kind: str
    namespace: str
    name: str
    fixed: str = "one"
    mounts: str = ""
    value: str = "1"

    @property
    def key(self) -> Key:
        return Key(PLURAL[self.kind], self.namespace, self.name)

    def body(self) -> Json:
        version = VERSION.get(self.kind, "v1")
        if self.kind == "ConfigMap":
            return kube_object(version, self.kind, self.name, self.namespace, data={"value": self.value})
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": self.mounts}}] if self.mounts else []
        selector = {"matchLabels": {SELECTED: self.fixed}}
        spec: Json = {FIXED[self.kind]: selector if self.kind == "Deployment" else self.fixed, "value": self.value}
        if self.kind == "Deployment":
            spec["template"] = {"spec": {"volumes": volumes}}
        return kube_object(version, self.kind, self.name, self.namespace, spec=spec)


Program = Mapping[str, Thing]
"""Things by the logical name of their resource."""


def program_of(stack: Stack, things: Program, spaces: str = "space") -> Callable[[], None]:
    """A program: its namespaces, claims, and what mounts them, each after what it needs."""

    def run() -> None:
        provider = stack.provider()
        namespaces = {
            name: register(
                kube_object("v1", "Namespace", name),
                pulumi.ResourceOptions(provider=provider),
                f"{spaces}-{name}",
            )
            for name in sorted({thing.namespace for thing in things.values()})
        }
        claims: dict[tuple[str, str], pulumi.Resource] = {}
        for name, thing in sorted(things.items(), key=lambda item: item[1].kind == "Deployment"):
            after: list[pulumi.Resource] = [namespaces[thing.namespace]]
            after += [claims[key] for key in [(thing.namespace, thing.mounts)] if key in claims]
            options = pulumi.ResourceOptions(provider=provider, depends_on=after)
            made = register(thing.body(), options, name)
            if thing.kind == "PersistentVolumeClaim":
                claims[thing.namespace, thing.name] = made

    return run


def own(server: StandIn) -> dict[Key, str]:
    """What is in a cluster, but for what only the cluster knows."""
    found = {}
    for key, value in server.objects.items():
        if key.plural != "pods" and key not in GIVEN:
            found[key] = json.dumps(
                {**value, "metadata": {"name": key.name, "ending": "deletionTimestamp" in value["metadata"]}}
            )
    return found


def _word(fixed: Any) -> Any:
    """Return the word of a thing that its object has in what cannot change."""
    labels = fixed.get("matchLabels", {}) if isinstance(fixed, dict) else {}
    return labels.get(SELECTED, fixed)


def fixed_of(server: StandIn) -> dict[Key, str]:
    """By object what the API server does not let change."""
    return {
        key: _word(value["spec"].get(FIXED[value["kind"]], ""))
        for key, value in server.objects.items()
        if value["kind"] in FIXED
    }


def deleted_though_held(before: Mapping[Key, str], deleted: Iterable[Key], after: Mapping[Key, str]) -> list[Key]:
    """Objects that were deleted and are there again, though nothing about them asked for a new one."""
    return [key for key in deleted if key in after and before.get(key, "") == after[key]]

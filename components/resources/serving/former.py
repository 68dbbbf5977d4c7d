"""Aliases of the objects of a fleet, whichever of its resources they belonged to before.

An object keeps its name if its model moves to another kind, if another resource renders it, or if it was a manifest
before; only its URN changes. Without an alias, the provider applies the object under the new URN and then deletes it,
by its name, under the former one.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pulumi

from ...families import FAMILIES, member_of
from ...fleet.objects import HPA, Object, is_core_service
from ...fleet.rendered import Rendered
from ...plan.plan import Plan
from .object_set import FrontDoor, Monitoring, NetworkPolicies, ObjectSet, OtherObjects, PriorityClasses, child_name
from .objects import kubernetes_token, token
from .workload_component import added_name, logical_name

SETS: dict[type[ObjectSet], str] = {
    PriorityClasses: "priority-classes",
    NetworkPolicies: "network-policies",
    OtherObjects: "others",
    Monitoring: "monitoring",
    FrontDoor: "front-door",
}
"""The suffix of each set's name."""
_FLEET = "ModelFleet"
"""The parent of objects that belong to no component."""

_Place = tuple[str, str]
"""The component whose child an object is, and the logical name of the object."""


def serving_component(item: Rendered) -> str:
    """Return the component of a resource that serves a model; empty if the fleet itself has its objects."""
    _, member = member_of(item.source.kind)
    return member.component if member.serves and member.kind.kind == item.kind else ""


def is_written_scaler(item: Rendered) -> bool:
    """Whether a resource is an autoscaler written by hand, which is among the objects of other APIs."""
    return any(scaler.is_written for scaler in item.autoscalers)


def component_name(fleet: str, item: Rendered) -> str:
    """Return the logical name of a resource's component, which is also the prefix of those of its objects."""
    return f"{fleet}-{item.namespace}/{item.name}" if item.namespace else f"{fleet}-{item.name}"


class FormerPlaces:
    """Where the objects of a fleet can have been before, without the places that the program still uses.

    Args:
        fleet: The fleet, which is registered.
        name: Its name.
        planned: Its plan.
    """

    def __init__(self, fleet: pulumi.Resource, name: str, planned: Plan) -> None:
        self._fleet, self._name = fleet, name
        # The objects can have been of any family, so all of them are imported.
        self._serving = tuple(
            member.component for family in FAMILIES for member in family.members if member.serves and member.component
        )
        self._parents: dict[str, Any] = {_FLEET: fleet}
        self._components: set[_Place] = set()
        self._used: set[tuple[str, _Place]] = set()
        self._scaling: dict[int, Rendered] = {}
        """The resource of the workload of each autoscaler, by the autoscaler's identity in memory."""
        owners = {(each.kind, each.namespace, each.name): item for item, each in planned.fleet.workloads}
        for item in planned.fleet.rendered:
            if is_written_scaler(item):
                continue
            component = serving_component(item)
            if component:
                self._components.add((component, component_name(name, item)))
            for value in item.objects:
                self._used.add((_token(value), self._place(item, value)))
            for scaler in item.autoscalers:
                if scaler.target in owners:
                    self._scaling[id(scaler.body)] = owners[scaler.target]
        for value in planned.others:
            self._used.add((_token(value), self._in_set(OtherObjects, value)))

    def of_component(self, item: Rendered) -> list[pulumi.Alias | pulumi.Input[str]]:
        """Return the aliases of a serving component: other kinds of the same name. Its children inherit them."""
        own, name = serving_component(item), component_name(self._name, item)
        children = [(_token(value), logical_name(name, item.name, value)) for value in item.objects]
        return [
            pulumi.Alias(type_=token(other))
            for other in self._serving
            if other != own
            and (other, name) not in self._components
            # Pulumi rejects an alias that is the URN of another resource of the program.
            and not any((kind, (other, child)) in self._used for kind, child in children)
        ]

    def of_object(self, item: Rendered, value: Object) -> list[pulumi.Alias | pulumi.Input[str]]:
        """Return the aliases of an object of a resource."""
        inherits = bool(serving_component(item))
        own = self._place(item, value)
        places = [*self._direct(item, value), self._in_set(OtherObjects, value)]
        for component in self._serving:
            # A child that keeps its logical name inherits the aliases of its component.
            names = [name for name in self._names(item, value) if not (inherits and name == own[1])]
            places += [(component, name) for name in names]
        return self._aliases(value, own, places)

    def of_member(self, kind: type[ObjectSet], value: Object) -> list[pulumi.Alias | pulumi.Input[str]]:
        """Return the aliases of an object of a set."""
        own = self._in_set(kind, value)
        if kind is not OtherObjects:
            return self._aliases(value, own, [self._in_set(OtherObjects, value)])
        base = self._base(value)
        places: list[_Place] = [(_FLEET, base), *(self._in_set(other, value) for other in SETS)]
        places += [(component, name) for component in self._serving for name in _variants(base, value)]
        return self._aliases(value, own, places)

    def of_claim(self, value: Object) -> list[pulumi.Alias | pulumi.Input[str]]:
        """Return the alias of a claim that the fleet creates itself: a manifest of the same name."""
        return self._aliases(value, (_FLEET, self._base(value)), [self._in_set(OtherObjects, value)])

    def _place(self, item: Rendered, value: Object) -> _Place:
        component, name = serving_component(item), component_name(self._name, item)
        if component:
            return component, logical_name(name, item.name, value)
        return _FLEET, f"{name}{added_name(value, item.name)}"

    def _direct(self, item: Rendered, value: Object) -> Iterator[_Place]:
        """Yield the places of an object below the fleet itself, for a resource of its own name or of this one."""
        yield _FLEET, self._base(value)
        yield _FLEET, f"{component_name(self._name, item)}{added_name(value, item.name)}"

    def _in_set(self, kind: type[ObjectSet], value: Object) -> _Place:
        return kind.__name__, child_name(f"{self._name}-{SETS[kind]}", value)

    def _base(self, value: Object) -> str:
        """Return the logical name of an object that is named after its resource."""
        metadata = value["metadata"]
        namespace = metadata.get("namespace")
        return f"{self._name}-{f'{namespace}/' if namespace else ''}{metadata['name']}"

    def _names(self, item: Rendered, value: Object) -> Iterator[str]:
        """Yield the logical names that an object can have in a component."""
        yield from _variants(self._base(value), value)
        # An autoscaler of its own is the child of its workload's component in other releases.
        owner = self._scaling.get(id(value))
        for resource in (item, owner) if owner else (item,):
            yield logical_name(component_name(self._name, resource), resource.name, dict(value))

    def _aliases(
        self, value: Object, own: _Place, places: Iterable[_Place]
    ) -> list[pulumi.Alias | pulumi.Input[str]]:
        kind = _token(value)
        return [
            pulumi.Alias(name=name, parent=self._parent(parent))
            for parent, name in dict.fromkeys(places)
            if (parent, name) != own and (kind, (parent, name)) not in self._used
        ]

    def _parent(self, component: str) -> Any:  # noqa: ANN401  a resource, or the URN of one
        """Return a parent, of which only the type is part of the URN of a child."""
        if component not in self._parents:
            self._parents[component] = pulumi.create_urn(self._name, token(component), parent=self._fleet)
        return self._parents[component]


def _token(value: Object) -> str:
    return kubernetes_token(str(value["apiVersion"]), str(value["kind"]))


def _variants(base: str, value: Object) -> tuple[str, ...]:
    """Return the logical names in components of resources with the name of the object, or with a part of it."""
    if is_core_service(value):
        return (base, f"{base}-lb")
    return (f"{base}-hpa",) if value["kind"] == HPA else (base,)

"""Which pods of ModelServings a ModelServer selects, and which are reached through ModelRoutes."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...api.load import Loaded
from ...fleet.library import Library
from ...fleet.workloads import Server
from .kinds import MODEL_SERVING
from .lookup import server, servings
from .names import entry_labels
from .serving.roles import ports_in, server_in
from .types import ModelRoute, ModelServer, ModelServing
from .types.model_serving import Role


@dataclass(frozen=True, slots=True)
class SelectedRole:
    """A role of a ModelServing whose entry pods are selected."""

    serving: ModelServing
    role: Role

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels of its entry pods."""
        return labels_of(self.serving, self.role)

    @property
    def server(self) -> tuple[Server, int]:
        """Its container that serves, and where that listens; 0 where it is not known."""
        return server_in(self.role, Loaded.of(self.serving, MODEL_SERVING), "")

    @property
    def ports(self) -> list[int]:
        """Where its entry pods listen, as far as it is known."""
        return ports_in(self.role, self.server[1])

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"role {self.role.name!r} of ModelServing {self.serving.metadata.name!r}"


def labels_of(serving: ModelServing, role: Role) -> dict[str, str]:
    """Return the labels of the entry pods of a role, but for those that tell its instances apart."""
    metadata = role.entry_template.metadata
    own = (metadata.labels or {}) if metadata else {}
    return {**own, **entry_labels(serving.metadata.name, role.name)}


def meets(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Tell whether pods with some labels are selected."""
    return all(labels.get(key) == value for key, value in selector.items())


def selected_by(selector: Mapping[str, str], library: Library, namespace: str) -> list[SelectedRole]:
    """Return the roles whose entry pods a selector selects: of what is written, else of what boosters become."""
    found: list[SelectedRole] = []
    for several in servings(library, namespace):
        found += [
            SelectedRole(each, role)
            for each in several
            for role in each.spec.template.roles
            if meets(labels_of(each, role), selector) and (role.entry_template.spec or {}).get("containers")
        ]
        if found:
            break
    return found


def reached_roles(library: Library, namespace: str, serving: ModelServing) -> frozenset[str]:
    """Return the roles of a ModelServing that a ModelRoute leads to."""
    selectors = _selectors(library, namespace)
    roles = serving.spec.template.roles
    return frozenset(
        role.name
        for role in roles
        if selectors and any(meets(labels_of(serving, role), selector) for selector in selectors)
    )


def is_routed(library: Library, namespace: str, name: str) -> bool:
    """Tell whether a ModelRoute leads to a ModelServer."""
    return name in _routed(library, namespace)


@functools.lru_cache(maxsize=4)
def _routed(library: Library, namespace: str) -> frozenset[str]:
    return frozenset(
        target.model_server_name
        for route in library.all(ModelRoute, namespace).values()
        for rule in route.spec.rules_
        for target in rule.target_models
    )


@functools.lru_cache(maxsize=4)
def _selectors(library: Library, namespace: str) -> tuple[Mapping[str, str], ...]:
    """Return what the ModelServers select that routes of a namespace lead to."""
    found = (server(library, namespace, name) for name in sorted(_routed(library, namespace)))
    return tuple(_selector(each) for each in found if each is not None and _selector(each))


def _selector(each: ModelServer) -> Mapping[str, str]:
    return each.spec.workload_selector.match_labels or {}


def titles_of(library: Library, namespace: str) -> Iterator[str]:
    """Yield what there is to select, for messages."""
    for each in library.all(ModelServing, namespace).values():
        for role in each.spec.template.roles:
            yield SelectedRole(each, role).title

"""Which pods of ModelServings a ModelServer selects, and which are reached through ModelRoutes."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...contract.load import LoadedResource
from ...fleet.library import Library
from ...fleet.origins import ProblemSource
from ...fleet.workloads import Server
from .lookup import made_servings, server
from .made import behind
from .names import entry_labels
from .serving.asked import placed_roles
from .serving.roles import ports_in, server_in
from .types import ModelRoute, ModelServer, ModelServing
from .types.model_serving import Role

Label = tuple[str, str]
"""Key and value of a label."""
_FEW = 8
"""Up to so many roles, as a ModelBooster becomes, are faster looked at one by one."""


@dataclass(frozen=True)
class SelectedRole:
    """A role of a ModelServing whose entry pods are selected.

    Attributes:
        source: The ModelServing, for messages.
        path: The field of the role.
    """

    serving: ModelServing
    role: Role
    source: ProblemSource
    path: str

    @functools.cached_property
    def labels(self) -> Mapping[str, str]:
        """Labels of its entry pods."""
        return labels_of(self.serving, self.role)

    @functools.cached_property
    def server(self) -> tuple[Server, int]:
        """Its container that serves, and where that listens; 0 where it is not known."""
        return server_in(self.role, self.source, self.path)

    @property
    def ports(self) -> list[int]:
        """Where its entry pods listen, as far as it is known."""
        return ports_in(self.role, self.server[1])

    @property
    def title(self) -> str:
        """What messages call it."""
        return _title(self.serving, self.role)


def _title(serving: ModelServing, role: Role) -> str:
    return f"role {role.name!r} of ModelServing {serving.metadata.name!r}"


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
    candidates = _written(library, namespace)
    if len(candidates) > _FEW:
        indexed = _by_label(library, namespace)
        # Every one that is selected has each of the labels; the rarest one is looked at.
        candidates = min((indexed.get(label, []) for label in selector.items()), key=len, default=[])
    found = [role for role in candidates if selector and meets(role.labels, selector)]
    return found or next(
        filter(None, (_among(several, selector) for several in made_servings(library, namespace))), []
    )


def roles_in(source: LoadedResource) -> Iterator[SelectedRole]:
    """Yield the roles of a ModelServing whose entry pods have containers."""
    serving = source.resource
    assert isinstance(serving, ModelServing)  # noqa: S101  the callers chose it by kind
    for path, role in placed_roles(serving.spec.template):
        if (role.entry_template.spec or {}).get("containers"):
            yield SelectedRole(serving, role, behind(source), path)


def known_roles(library: Library, namespace: str, source: LoadedResource) -> list[SelectedRole]:
    """Return the roles of a ModelServing: those that others select, unless another one has its name."""
    is_known = library.source(ModelServing, namespace, source.name) is source
    return _known(library, namespace)[source.name] if is_known else [*roles_in(source)]


def reached_roles(library: Library, namespace: str, roles: Iterable[SelectedRole]) -> frozenset[str]:
    """Return which of some roles a ModelRoute leads to."""
    selectors = _selectors(library, namespace)
    return frozenset(each.role.name for each in roles if selectors and _is_selected(each.labels, selectors))


def _is_selected(labels: Mapping[str, str], selectors: Mapping[Label, list[Mapping[str, str]]]) -> bool:
    return any(meets(labels, each) for label in labels.items() for each in selectors.get(label, ()))


def _among(several: Iterable[LoadedResource], selector: Mapping[str, str]) -> list[SelectedRole]:
    return [role for each in several for role in roles_in(each) if meets(role.labels, selector)]


@functools.lru_cache(maxsize=4)
def _written(library: Library, namespace: str) -> list[SelectedRole]:
    """Return the roles that are written in a namespace."""
    return [role for several in _known(library, namespace).values() for role in several]


@functools.lru_cache(maxsize=4)
def _known(library: Library, namespace: str) -> Mapping[str, list[SelectedRole]]:
    """Return the roles of each ModelServing that is written in a namespace, by its name."""
    found = {name: library.source(ModelServing, namespace, name) for name in library.all(ModelServing, namespace)}
    return {name: [*roles_in(source)] for name, source in found.items() if source}


@functools.lru_cache(maxsize=4)
def _by_label(library: Library, namespace: str) -> Mapping[Label, list[SelectedRole]]:
    """Return the roles that are written in a namespace by each label of their entry pods."""
    found: dict[Label, list[SelectedRole]] = {}
    for role in _written(library, namespace):
        for label in role.labels.items():
            found.setdefault(label, []).append(role)
    return found


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
def _selectors(library: Library, namespace: str) -> Mapping[Label, list[Mapping[str, str]]]:
    """Return what the ModelServers select that routes of a namespace lead to, each by one of its labels."""
    found: dict[Label, list[Mapping[str, str]]] = {}
    for name in sorted(_routed(library, namespace)):
        each = server(library, namespace, name)
        selector = _selector(each) if each else {}
        if selector:
            # The last label is most likely the one that tells ModelServings apart.
            found.setdefault(max(selector.items()), []).append(selector)
    return found


def _selector(each: ModelServer) -> Mapping[str, str]:
    return each.spec.workload_selector.match_labels or {}


def titles_of(library: Library, namespace: str) -> Iterator[str]:
    """Yield what there is to select, for messages."""
    for each in library.all(ModelServing, namespace).values():
        for role in each.spec.template.roles:
            yield _title(each, role)

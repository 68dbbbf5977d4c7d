"""Resolves references between Kthena resources: by name, by the labels of pods, and through ModelRoutes.

A reference may lead to a resource that the user wrote, or to one that a ModelBooster generates.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...contract.findings.collector import Findings, Unrenderable
from ...contract.load import LoadedResource
from ...contract.meta import Resource
from ...fleet.library import Library
from ...fleet.origins import ProblemSource
from ...fleet.workloads import Server
from .booster.context import ExpansionOptions
from .booster.expansion import Expansion, expand
from .generated import origin_of
from .names import entry_labels
from .serving.context import roles_with_paths
from .serving.roles import ports_in, server_in
from .types import ModelBooster, ModelRoute, ModelServer, ModelServing
from .types.model_serving import Role

Label = tuple[str, str]
"""Key and value of a label."""
_INDEX_ABOVE = 8
"""Up to this many roles, as a ModelBooster has, a scan is faster than an index by label."""


def find(kind: type[Resource], library: Library, namespace: str, name: str) -> LoadedResource | None:
    """Return a resource by name, or the generated one with that name; None if there is neither."""
    source = library.source(kind, namespace, name)
    if source is not None:
        return source
    generated = (resource for expansion in _expansions(library, namespace, name) for resource in expansion)
    return next((item for item in generated if type(item.resource) is kind and item.name == name), None)


def find_server(library: Library, namespace: str, name: str) -> ModelServer | None:
    """Return a ModelServer by name; None without one."""
    source = find(ModelServer, library, namespace, name)
    return source.resource if source and isinstance(source.resource, ModelServer) else None


def _expansions(library: Library, namespace: str, name: str) -> Iterator[Expansion]:
    """Yield the expansions of the ModelBoosters that may generate a resource of this name.

    The names of generated resources are the booster's name, or begin with it and a dash.
    """
    ends = [position for position, letter in enumerate(name) if letter == "-"]
    for end in (*ends, len(name)):
        source = library.source(ModelBooster, namespace, name[:end])
        if source is None:
            continue
        try:
            # Its own problems are reported where it is rendered.
            yield expand(source, Findings(source), ExpansionOptions(namespace=namespace))
        except Unrenderable:
            continue


@dataclass(frozen=True)
class SelectedRole:
    """A role of a ModelServing whose entry pods a ModelServer selects.

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
        """The labels of its entry pods, without those that differ between its instances."""
        metadata = self.role.entry_template.metadata
        labels = (metadata.labels or {}) if metadata else {}
        return {**labels, **entry_labels(self.serving.metadata.name, self.role.name)}

    @functools.cached_property
    def server(self) -> tuple[Server, int]:
        """Its serving container and the port; 0 if the port is unknown."""
        return server_in(self.role, self.source, self.path)

    @property
    def ports(self) -> list[int]:
        """The ports of its entry pods that are known."""
        return ports_in(self.role, self.server[1])

    @property
    def title(self) -> str:
        """The role and its ModelServing, for messages."""
        return _title(self.serving, self.role)


NumberedRole = tuple[int, SelectedRole]
"""A generated role, and the position of its expansion."""


def _title(serving: ModelServing, role: Role) -> str:
    return f"role {role.name!r} of ModelServing {serving.metadata.name!r}"


def role_titles(library: Library, namespace: str) -> Iterator[str]:
    """Yield the roles that a ModelServer of a namespace can select, for messages."""
    for serving in library.all(ModelServing, namespace).values():
        for role in serving.spec.template.roles:
            yield _title(serving, role)


def matches(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Return whether a selector selects pods with these labels."""
    return all(labels.get(key) == value for key, value in selector.items())


def roles_in(source: LoadedResource) -> Iterator[SelectedRole]:
    """Yield the roles of a ModelServing whose entry pods have containers."""
    serving = source.resource
    assert isinstance(serving, ModelServing)  # noqa: S101  the callers chose it by kind
    for path, role in roles_with_paths(serving.spec.template):
        if (role.entry_template.spec or {}).get("containers"):
            yield SelectedRole(serving, role, origin_of(source), path)


def known_roles(library: Library, namespace: str, source: LoadedResource) -> list[SelectedRole]:
    """Return the roles of a ModelServing: those in the library's index, unless another resource has its name."""
    is_indexed = library.source(ModelServing, namespace, source.name) is source
    return _roles_by_serving(library, namespace)[source.name] if is_indexed else [*roles_in(source)]


def selected_by(selector: Mapping[str, str], library: Library, namespace: str) -> list[SelectedRole]:
    """Return the roles whose entry pods a selector selects.

    Generated ModelServings are searched only if the selector selects none that the user wrote.
    """
    candidates = _written_roles(library, namespace)
    if len(candidates) > _INDEX_ABOVE:
        index = _roles_by_label(library, namespace)
        # A selected role has every label of the selector, so the rarest label gives the fewest candidates.
        candidates = min((index.get(label, []) for label in selector.items()), key=len, default=[])
    roles = [role for role in candidates if selector and matches(role.labels, selector)]
    if roles:
        return roles
    generated = _generated_by_label(library, namespace)
    every = _generated_roles(library, namespace)
    numbered = min((generated.get(label, []) for label in selector.items()), key=len, default=every)
    selected = [(number, role) for number, role in numbered if matches(role.labels, selector)]
    # Of several boosters, the first one counts.
    return [role for number, role in selected if number == selected[0][0]]


def routed_roles(library: Library, namespace: str, roles: Iterable[SelectedRole]) -> frozenset[str]:
    """Return the names of the roles that a ModelRoute leads to."""
    selectors = _routed_selectors(library, namespace)
    return frozenset(
        role.role.name
        for role in roles
        if selectors
        and any(
            matches(role.labels, selector) for label in role.labels.items() for selector in selectors.get(label, ())
        )
    )


def is_routed(library: Library, namespace: str, name: str) -> bool:
    """Return whether a ModelRoute leads to a ModelServer."""
    return name in _routed_servers(library, namespace)


# Indexes of a library


@functools.lru_cache(maxsize=4)
def _roles_by_serving(library: Library, namespace: str) -> Mapping[str, list[SelectedRole]]:
    """Return the roles of the ModelServings that the user wrote, by name of the ModelServing."""
    sources = {name: library.source(ModelServing, namespace, name) for name in library.all(ModelServing, namespace)}
    return {name: [*roles_in(source)] for name, source in sources.items() if source}


@functools.lru_cache(maxsize=4)
def _written_roles(library: Library, namespace: str) -> list[SelectedRole]:
    return [role for roles in _roles_by_serving(library, namespace).values() for role in roles]


@functools.lru_cache(maxsize=4)
def _roles_by_label(library: Library, namespace: str) -> Mapping[Label, list[SelectedRole]]:
    index: dict[Label, list[SelectedRole]] = {}
    for role in _written_roles(library, namespace):
        for label in role.labels.items():
            index.setdefault(label, []).append(role)
    return index


@functools.lru_cache(maxsize=4)
def _generated_roles(library: Library, namespace: str) -> list[NumberedRole]:
    """Return the roles that ModelBoosters generate, each with the position of its expansion."""
    expansions = itertools.chain.from_iterable(
        _expansions(library, namespace, name) for name in library.all(ModelBooster, namespace)
    )
    return [
        (number, role)
        for number, expansion in enumerate(expansions)
        for serving in expansion.servings
        for role in roles_in(serving)
    ]


@functools.lru_cache(maxsize=4)
def _generated_by_label(library: Library, namespace: str) -> Mapping[Label, list[NumberedRole]]:
    index: dict[Label, list[NumberedRole]] = {}
    for number, role in _generated_roles(library, namespace):
        for label in role.labels.items():
            index.setdefault(label, []).append((number, role))
    return index


@functools.lru_cache(maxsize=4)
def _routed_servers(library: Library, namespace: str) -> frozenset[str]:
    return frozenset(
        target.model_server_name
        for route in library.all(ModelRoute, namespace).values()
        for rule in route.spec.rules_
        for target in rule.target_models
    )


@functools.lru_cache(maxsize=4)
def _routed_selectors(library: Library, namespace: str) -> Mapping[Label, list[Mapping[str, str]]]:
    """Return the selectors of the ModelServers that ModelRoutes lead to, each by one of its labels."""
    index: dict[Label, list[Mapping[str, str]]] = {}
    for name in sorted(_routed_servers(library, namespace)):
        server = find_server(library, namespace, name)
        selector = (server.spec.workload_selector.match_labels or {}) if server else {}
        if selector:
            # The last label is most likely the one that differs between ModelServings.
            index.setdefault(max(selector.items()), []).append(selector)
    return index

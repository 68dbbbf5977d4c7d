"""Expands a ModelBooster: for each backend a ModelServing and a ModelServer, a ModelRoute, policies and bindings."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from ....contract.checking import check
from ....contract.findings.collector import Findings, Unrenderable
from ....contract.kinds import Kind
from ....contract.load import LoadedResource
from ....contract.problems import field_path
from ....fleet.objects import Object
from ..controllers import Controllers
from ..generated import Generated
from ..kinds import BINDING, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from ..types import ModelBooster
from .checks import check_booster
from .command import Commands
from .context import BackendContext, ExpansionOptions
from .field_maps import (
    Fields,
    LazyFieldMap,
    binding_fields,
    policy_fields,
    route_fields,
    server_fields,
    serving_fields,
)
from .networking import is_valid, needs_router, route_of, server_of
from .scaling import backend_scaling, booster_scaling
from .serving import RoleCommands, serving_of

_NATIVE = ExpansionOptions()


@dataclass(slots=True)
class Expansion:
    """The resources generated from a ModelBooster, in the order in which they can be applied.

    Attributes:
        fronts: The backends with the command lines of the pods that receive requests. They take the place of servers
            and routes if nothing needs those as resources and all of them are valid.
    """

    servings: list[Generated] = field(default_factory=list)
    servers: list[Generated] = field(default_factory=list)
    routes: list[Generated] = field(default_factory=list)
    policies: list[Generated] = field(default_factory=list)
    bindings: list[Generated] = field(default_factory=list)
    fronts: list[tuple[BackendContext, Commands]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Generated]:
        """Yield all resources."""
        yield from (*self.servings, *self.servers, *self.routes, *self.policies, *self.bindings)


def expand(source: LoadedResource, findings: Findings, options: ExpansionOptions = _NATIVE) -> Expansion:
    """Return the resources generated from a ModelBooster.

    If only backends have errors, the ModelServings of the others are generated, so that their problems are reported
    too.

    Args:
        source: The booster.
        findings: Where to report its problems.
        options: The options of the expansion.

    Raises:
        Unrenderable: nothing can be generated; the error is in ``findings``.
    """
    backends = backends_of(source, options)
    check_booster(backends, findings)
    generator = _Generator(source, findings)
    failed = [problem.path for problem in findings.problems if problem.is_error]
    if not failed:
        return generator.expansion(backends)
    if any(not path.startswith(tuple(f"{backend.path}." for backend in backends)) for path in failed):
        raise Unrenderable
    expansion = Expansion()
    for backend in backends:
        if not any(path.startswith(f"{backend.path}.") for path in failed):
            roles, body = serving_of(backend)
            expansion.servings += generator.serving(backend, body)
            generator.server(backend, roles)  # only for its problems
    return expansion


def backends_of(source: LoadedResource, options: ExpansionOptions) -> tuple[BackendContext, ...]:
    """Return the backends of a ModelBooster."""
    booster = source.resource
    assert isinstance(booster, ModelBooster)  # noqa: S101  the caller chose this function by kind
    namespace = booster.metadata.namespace or options.namespace
    return tuple(
        BackendContext(booster, spec, index, namespace, options, Controllers.of(source))
        for index, spec in enumerate(booster.spec.all_backends)
    )


class _Generator:
    """Generates resources, and validates each as if the user had written it."""

    def __init__(self, source: LoadedResource, findings: Findings) -> None:
        self._source = source
        self._findings = findings

    def expansion(self, backends: tuple[BackendContext, ...]) -> Expansion:
        expansion = Expansion()
        servings = [serving_of(backend) for backend in backends]
        fronts = [roles[-1][1] for roles, _ in servings]
        without_servers = not (backends[0].options.applied or needs_router(backends)) and is_valid(backends, fronts)
        for backend, (roles, body) in zip(backends, servings, strict=True):
            expansion.servings += self.serving(backend, body)
            expansion.servers += [] if without_servers else self.server(backend, roles)
        if without_servers and len(expansion.servings) == len(backends):
            expansion.fronts = [*zip(backends, fronts, strict=True)]
        else:
            if without_servers:
                # A ModelServing is invalid, so also report that its ModelServer selects no pods.
                for backend, (roles, _) in zip(backends, servings, strict=True):
                    expansion.servers += self.server(backend, roles)
            expansion.routes += self._resource(route_of(backends), MODEL_ROUTE, partial(route_fields, backends))
        ports = [front.port for front in fronts]
        scaling = [(booster_scaling(backends, ports), "spec", backends)]
        scaling += [
            (backend_scaling(backend, port), backend.path, (backend,))
            for backend, port in zip(backends, ports, strict=True)
        ]
        for pair, path, scaled in scaling:
            if pair is not None:
                policy, binding = pair
                expansion.policies += self._resource(policy, POLICY, partial(policy_fields, path))
                expansion.bindings += self._resource(binding, BINDING, partial(binding_fields, path, scaled))
        return expansion

    def serving(self, backend: BackendContext, body: Object) -> list[Generated]:
        return self._resource(body, MODEL_SERVING, partial(serving_fields, backend))

    def server(self, backend: BackendContext, roles: RoleCommands) -> list[Generated]:
        return self._resource(server_of(backend, roles), MODEL_SERVER, partial(server_fields, backend))

    def _resource(self, body: Object, kind: Kind, fields: Fields) -> list[Generated]:
        """Return a resource; none, with errors at the booster's fields, if it is invalid."""
        field_map = LazyFieldMap(kind, body["metadata"]["name"], fields)
        resource, problems = check(body, kind, odd=False)
        for parts, reason in problems:
            path, prefix = field_map(field_path(parts))
            self._findings.error(path, f"{prefix}{reason}")
        return [Generated.create(self._source, resource, kind, field_map)] if resource else []

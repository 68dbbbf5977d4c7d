"""A ModelBooster becomes a ModelServing and a ModelServer for each backend, a ModelRoute, policies and bindings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from ....contract.checking import check
from ....contract.findings.collector import Findings, Unrenderable
from ....contract.kinds import Kind
from ....contract.load import LoadedResource
from ....contract.problems import field_path
from ....fleet.objects import Object
from ..kinds import BINDING, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from ..made import Made
from ..types import ModelBooster
from . import blame
from .blame import Field, fields_of
from .checks import check_booster
from .children import policies
from .children.command import Commands
from .children.route import route_of
from .children.server import server_of
from .children.serving import pods_of
from .setup import Part, RoleOf, Setup
from .sound import is_sound, needs_router

_NATIVE = Setup()


@dataclass(slots=True)
class Expansion:
    """What a ModelBooster becomes, in the order in which it can be applied.

    Attributes:
        fronts: The backends, and what the pods of each run that take requests: in place of servers and routes where
            nothing of those is written and all of them are good.
    """

    servings: list[Made] = field(default_factory=list)
    servers: list[Made] = field(default_factory=list)
    routes: list[Made] = field(default_factory=list)
    policies: list[Made] = field(default_factory=list)
    bindings: list[Made] = field(default_factory=list)
    fronts: list[tuple[Part, Commands]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Made]:
        """Yield all of it."""
        yield from (*self.servings, *self.servers, *self.routes, *self.policies, *self.bindings)


def expand(source: LoadedResource, findings: Findings, setup: Setup = _NATIVE) -> Expansion:
    """Return what a ModelBooster becomes; where a backend is wrong, only the ModelServings of the others.

    So that what is wrong with those is told as well.

    Args:
        source: The booster.
        findings: Where to report what is wrong with it.
        setup: What else decides.

    Raises:
        Unrenderable: an error that leaves nothing to go on with; it is in ``findings``.
    """
    parts = parts_of(source, setup)
    booster = parts[0].booster
    check_booster(booster, parts, findings)
    maker, wrong = _Maker(source, findings), [problem.path for problem in findings.problems if problem.is_error]
    if not wrong:
        return maker.expansion(booster, parts)
    if any(not path.startswith("spec.backends[") for path in wrong):
        raise Unrenderable
    return maker.servings(part for part in parts if not any(path.startswith(f"{part.path}.") for path in wrong))


def parts_of(source: LoadedResource, setup: Setup) -> tuple[Part, ...]:
    """Return the backends of a ModelBooster."""
    booster = source.resource
    assert isinstance(booster, ModelBooster)  # noqa: S101  the caller chose this function by kind
    namespace = booster.metadata.namespace or setup.namespace
    return tuple(Part(booster, each, index, namespace, setup) for index, each in enumerate(booster.spec.backends))


class _Maker:
    """Makes the resources, and checks each as if somebody had written it."""

    def __init__(self, source: LoadedResource, findings: Findings) -> None:
        self._source = source
        self._findings = findings

    def expansion(self, booster: ModelBooster, parts: tuple[Part, ...]) -> Expansion:
        """Return what the backends and the booster become."""
        expansion = Expansion()
        pods = [pods_of(part) for part in parts]
        fronts = [roles[-1][1] for roles, _ in pods]
        unwritten = not (parts[0].setup.applied or needs_router(parts)) and is_sound(parts, fronts)
        for part, (roles, serving) in zip(parts, pods, strict=True):
            expansion.servings += self._serving(part, serving)
            expansion.servers += [] if unwritten else self._server(part, roles)
        if unwritten and len(expansion.servings) == len(parts):
            expansion.fronts = [*zip(parts, fronts, strict=True)]
        else:
            # Where a ModelServing is refused, the ModelServers that do not find its pods are told of as well.
            for part, (roles, _) in zip(parts, pods, strict=True) if unwritten else ():
                expansion.servers += self._server(part, roles)
            expansion.routes += self._child(route_of(booster, parts), MODEL_ROUTE, partial(blame.of_route, parts))
        ports = [front.port for front in fronts]
        self._bound(policies.of_booster(booster, parts, ports), "spec", parts, expansion)
        for part, port in zip(parts, ports, strict=True):
            self._bound(policies.of_backend(part, port), part.path, (part,), expansion)
        return expansion

    def servings(self, parts: Iterable[Part]) -> Expansion:
        """Return the ModelServings of some backends; what is wrong with their ModelServers is told as well."""
        expansion = Expansion()
        for part in parts:
            roles, serving = pods_of(part)
            expansion.servings += self._serving(part, serving)
            self._server(part, roles)
        return expansion

    def _serving(self, part: Part, body: Object) -> list[Made]:
        return self._child(body, MODEL_SERVING, partial(blame.of_serving, part))

    def _server(self, part: Part, roles: Sequence[tuple[RoleOf, Commands]]) -> list[Made]:
        return self._child(server_of(part, roles), MODEL_SERVER, partial(blame.of_server, part))

    def _bound(
        self, pair: tuple[Object, Object] | None, path: str, parts: tuple[Part, ...], expansion: Expansion
    ) -> None:
        if pair is None:
            return
        policy, binding = pair
        expansion.policies += self._child(policy, POLICY, partial(blame.of_policy, path))
        expansion.bindings += self._child(binding, BINDING, partial(blame.of_binding, path, parts))

    def _child(self, body: Object, kind: Kind, fields: Callable[[], Iterator[Field]]) -> list[Made]:
        behind = fields_of(kind, body["metadata"]["name"], fields)
        resource, problems = check(body, kind, odd=False)
        for parts, reason in problems:
            written, lead = behind(field_path(parts))
            self._findings.error(written, f"{lead}{reason}")
        return [Made.by(self._source, resource, kind, behind)] if resource else []

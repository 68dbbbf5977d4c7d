"""What ModelRoute becomes."""

from collections.abc import Iterator, Mapping

from ....api.findings import Findings
from ....api.load import Loaded
from ....fleet.endpoints import Endpoint
from ....fleet.library import Library
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_written
from ..kinds import MODEL_SERVER
from ..names import ROUTER
from ..operated import OPERATOR
from ..types import ModelRoute
from .backends import behind, check_names
from .endpoints import check_endpoints, endpoints_of, routed_endpoints_of
from .matching import UsedRules, check_rules, matches_paths, rules_for
from .targets import AskedRoute, RouteTarget, check_targets, targets_of

Targets = Mapping[str, list[RouteTarget]]


def render_model_route(source: Loaded, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelRoute: endpoints at the Services of roles, or at Kthena's router where only that can do it."""
    route = source.resource
    assert isinstance(route, ModelRoute)  # noqa: S101  the caller chose this function by kind
    namespace = route.metadata.namespace or options.namespace
    asked = AskedRoute(source, route, namespace, library, options, findings)
    targets = targets_of(asked)
    check_targets(asked)
    used = {model: rules_for(asked, model) for model in asked.models}
    check_rules(asked, used)
    native = options.realization.is_native
    routed = not native or _needs_router(asked, targets)
    return Rendered(
        source,
        source.kind.kind,
        asked.name,
        namespace,
        endpoints=() if findings.failed else _endpoints(asked, targets, used, routed=routed),
        others=(as_written(source, options),) if routed else (),
        shared=tuple(_servers(asked, targets)) if routed and native else (),
        requires=frozenset({ROUTER if native else OPERATOR}) if routed else frozenset(),
        model=asked.name,
    )


def _endpoints(asked: AskedRoute, targets: Targets, used: UsedRules, *, routed: bool) -> tuple[Endpoint, ...]:
    answering = {path: behind(several) for path, several in targets.items()}
    for model, rules in used.items():
        for rule in rules:
            check_names(asked, answering[rule.path], model)
    found = tuple((routed_endpoints_of if routed else endpoints_of)(asked, used, answering))
    check_endpoints(asked, found)
    return found


def _needs_router(asked: AskedRoute, targets: Targets) -> bool:
    """Tell whether a route says what no gateway in front of the models does.

    That is to ask prefill and decode one after the other, to count tokens of one model, to match paths.
    """
    pairs = any(target.is_pair for several in targets.values() for target in several)
    return pairs or asked.route.spec.rate_limit is not None or any(matches_paths(rule) for _, rule in asked.rules)


def _servers(asked: AskedRoute, targets: Targets) -> Iterator[Object]:
    """Yield the ModelServers that the router must know; several routes may lead to one."""
    servers = {each.server.metadata.name: each.server for several in targets.values() for each in several}
    for _, server in sorted(servers.items()):
        yield as_written(Loaded.of(server, MODEL_SERVER), asked.options)

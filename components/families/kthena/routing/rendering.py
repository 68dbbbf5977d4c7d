"""What ModelRoute becomes."""

from collections.abc import Iterator

from ....contract.findings.collector import Findings
from ....contract.load import LoadedResource
from ....fleet.endpoints import Endpoint
from ....fleet.library import Library
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ..kinds import MODEL_SERVER
from ..lookup import server
from ..made import behind as fields_of
from ..names import ROUTER
from ..operated import OPERATOR
from ..types import ModelRoute
from .asked import AskedRoute, adapters_beside, rule_of
from .backends import behind, check_names
from .endpoints import check_endpoints, endpoints_of, routed_endpoints_of
from .matching import check_rules, matches_paths, rules_for
from .targets import Targets, check_targets, known_servers, targets_of


def render_model_route(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelRoute: endpoints at the Services of roles, or at Kthena's router where only that can do it."""
    asked = _asked(source, options, findings)
    targets = targets_of(asked, known_servers(asked, library))
    native = options.realization.is_native
    routed = not native or _needs_router(asked, targets)
    return Rendered(
        source,
        source.kind.kind,
        asked.name,
        asked.namespace,
        endpoints=checked_endpoints(asked, targets, routed=routed),
        others=(as_manifest(source, options),) if routed else (),
        shared=tuple(_servers(asked, targets, library)) if routed and native else (),
        requires=frozenset({ROUTER if native else OPERATOR}) if routed else frozenset(),
        model=asked.name,
    )


def _asked(source: LoadedResource, options: Options, findings: Findings) -> AskedRoute:
    route = source.resource
    assert isinstance(route, ModelRoute)  # noqa: S101  the callers chose it by kind
    spec = route.spec
    model, written = spec.model_name or "", tuple(spec.lora_adapters or ())
    return AskedRoute(
        fields_of(source),
        route.metadata.name,
        route.metadata.namespace or options.namespace,
        model,
        written,
        adapters_beside(model, written),
        tuple(rule_of(index, rule) for index, rule in enumerate(spec.rules_)),
        options,
        findings,
        limited=spec.rate_limit is not None,
    )


def checked_endpoints(asked: AskedRoute, targets: Targets, *, routed: bool) -> tuple[Endpoint, ...]:
    """Report what is wrong with a route, and return where clients reach its models.

    Args:
        asked: The route.
        targets: What its rules lead to.
        routed: Whether Kthena's router does what they say.
    """
    check_targets(asked)
    used = {model: rules_for(asked, model) for model in asked.models}
    check_rules(asked, used)
    if asked.findings.has_errors:
        return ()
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
    pairs = any(target.server.is_pair for several in targets.values() for target in several)
    return pairs or asked.limited or any(map(matches_paths, asked.rules))


def _servers(asked: AskedRoute, targets: Targets, library: Library) -> Iterator[Object]:
    """Yield the ModelServers that the router must know; several routes may lead to one."""
    for name in sorted({target.server.name for several in targets.values() for target in several}):
        there = server(library, asked.namespace, name)
        if there is not None:
            yield as_manifest(LoadedResource.from_program(there, MODEL_SERVER), asked.options)

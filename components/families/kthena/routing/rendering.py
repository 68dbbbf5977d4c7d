"""Renders a ModelRoute: endpoints, and the objects for Kthena's router where only that can apply the rules."""

from collections.abc import Iterator, Sequence

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.load import LoadedResource
from ....contract.problems import Problem
from ....fleet.endpoints import Endpoint
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ..generated import origin_of
from ..kinds import MODEL_SERVER
from ..names import OPERATOR, ROUTER
from ..references import find_server
from ..types import ModelRoute
from .endpoints import check_endpoint_names, check_model_names, role_backends, router_endpoints, service_endpoints
from .rules import RouteContext, RoutingRule, check_patterns, check_rules, routed_adapters, rules_for
from .targets import Targets, check_targets, find_servers, targets_of


def render_model_route(source: LoadedResource, library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelRoute: endpoints at the Services of roles, or at Kthena's router if the rules need it."""
    resource = source.resource
    assert isinstance(resource, ModelRoute)  # noqa: S101  the callers chose it by kind
    spec = resource.spec
    model, adapters = spec.model_name or "", tuple(spec.lora_adapters or ())
    rules = []
    for index, rule in enumerate(spec.rules_):
        check_patterns(rule.model_match, f"spec.rules[{index}].modelMatch", findings)
        rule_targets = tuple((target.model_server_name, target.weight) for target in rule.target_models)
        rules.append(RoutingRule.create(index, rule.name or "", rule.model_match, rule_targets))
    route = RouteContext(
        source=origin_of(source),
        name=resource.metadata.name,
        namespace=resource.metadata.namespace or options.namespace,
        model=model,
        lora_adapters=adapters,
        adapters=routed_adapters(model, adapters),
        rules=tuple(rules),
        options=options,
        findings=findings,
        limited=spec.rate_limit is not None,
    )
    targets = targets_of(route, find_servers(route, library))
    servers = [target.server for rule_targets in targets.values() for target in rule_targets]
    native = options.realization.is_native
    # No gateway sends requests to prefill and then to decode, counts tokens of one model, or matches paths.
    needs_router = any(server.is_pair for server in servers) or route.limited or any(r.matches_paths for r in rules)
    routed = not native or needs_router
    _check_parents(spec.parent_refs or (), findings, native=native, routed=routed)
    # The router reads the ModelServers. Several routes may share one.
    shared = []
    for name in sorted({server.name for server in servers}) if routed and native else ():
        server = find_server(library, route.namespace, name)
        if server is not None:
            shared.append(as_manifest(LoadedResource.from_program(server, MODEL_SERVER), options))
    return Rendered(
        source,
        source.kind.kind,
        route.name,
        route.namespace,
        endpoints=checked_endpoints(route, targets, routed=routed),
        others=(as_manifest(source, options),) if routed else (),
        shared=tuple(shared),
        requires=frozenset({ROUTER if native else OPERATOR}) if routed else frozenset(),
        model=route.name,
    )


def _check_parents(parents: Sequence[object], findings: Findings, *, native: bool, routed: bool) -> None:
    """Report a route's Gateways, on whose listeners alone Kthena's router would apply it."""
    if not parents:
        return
    if not routed:
        reason = "has no effect: no router of Kthena applies this route, and the front door leads to it; remove it"
        findings.warn("spec.parentRefs", reason, RuleId.FIELD_NO_EFFECT)
        return
    reason = (
        "Kthena's router applies a route with parentRefs only on the listeners of these Gateways, and runs here "
        "without the Gateway API (gatewayAPI.enabled of its chart); remove it"
    )
    findings.error("spec.parentRefs", reason, RuleId.NATIVE_UNSUPPORTED if native else RuleId.OPERATOR_UNSUPPORTED)


def checked_endpoints(route: RouteContext, targets: Targets, *, routed: bool) -> tuple[Endpoint, ...]:
    """Return the endpoints of a route's models, and report problems of its rules.

    Args:
        route: The route.
        targets: The targets of its rules.
        routed: Whether Kthena's router applies the rules.
    """
    check_targets(route)
    active = {model: rules_for(route, model) for model in route.models}
    check_rules(route, active)
    if route.findings.has_errors:
        return ()
    backends = {path: role_backends(rule_targets) for path, rule_targets in targets.items()}
    for model, rules in active.items():
        for rule in rules:
            check_model_names(route, backends[rule.path], model)
    endpoints = tuple((router_endpoints if routed else service_endpoints)(route, active, backends))
    check_endpoint_names(route, endpoints)
    return endpoints


def duplicate_models(rendered: Sequence[Rendered]) -> Iterator[Problem]:
    """Yield routes for a model that another route has: Kthena's router keeps the last one that it reads."""
    routed = {
        endpoint.model
        for item in rendered
        for endpoint in item.endpoints
        if any(backend.router for backend in endpoint.backends)
    }
    first_by_model: dict[str, Rendered] = {}
    for item in rendered:
        for endpoint in item.endpoints:
            if endpoint.weights.kind != "ModelRoute" or endpoint.model not in routed:
                continue
            first = first_by_model.setdefault(endpoint.model, item)
            if first is not item:
                reason = (
                    f"{endpoint.model!r} is also routed by {first.source.where}, but Kthena's router keeps one route "
                    "per model in the whole cluster; rename one of the two"
                )
                yield endpoint.origin.problem(reason, rule=RuleId.NAMES_TAKEN)

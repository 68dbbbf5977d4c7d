"""The endpoints of a ModelRoute's models, and their backends: the Services of roles, or Kthena's router."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ....contract.findings.ids import RuleId
from ....contract.releases import Span
from ....engines.command_line import CommandLine
from ....engines.paths import path_prefix
from ....engines.served.adapters import adapter_model_name, adapters_of
from ....engines.served.names import answers_to, served_names
from ....fleet.endpoints import Backend, Endpoint, GatewayFeature, Router, WeightsOwner
from ....fleet.words import Routing
from ..kinds import RELEASES
from ..names import CONTROLLER_NAMESPACE, ROUTER, ROUTER_PODS, ROUTER_PORT, ROUTER_SERVICE, role_service
from ..references import SelectedRole
from ..serving.groups import is_one_set
from .rules import ActiveRule, ActiveRules, RouteContext, rules_for
from .targets import RouteTarget


@dataclass(frozen=True, slots=True)
class RoleBackend:
    """A role that a target leads to."""

    target: RouteTarget
    role: SelectedRole
    line: CommandLine
    port: int

    @property
    def instances(self) -> int:
        """The number of its instances in all serving groups."""
        return self.role.serving.spec.replicas * self.role.role.replicas


BackendsByRule = dict[str, list[RoleBackend]]
"""The roles that each rule leads to, by the field of the rule."""


def role_backends(targets: Iterable[RouteTarget]) -> list[RoleBackend]:
    """Return the roles that targets lead to and whose port is known."""
    backends = []
    for target in targets:
        for role in target.server.roles:
            server, server_port = role.server
            port = target.server.port or server_port
            if port:
                backends.append(RoleBackend(target, role, server.line, port))
    return backends


def service_endpoints(route: RouteContext, active: ActiveRules, backends: BackendsByRule) -> list[Endpoint]:
    """Return an endpoint for each model and rule at the Services of roles; rules without headers come first."""
    endpoints = []
    for model, rules in active.items():
        for rule in sorted(rules, key=lambda rule: bool(rule.headers)):
            roles = backends[rule.path]
            if not roles:
                continue
            name = _base_name(route, model)
            if rule.headers:
                name = f"{name}-rule-{_slug(rule.name or str(rule.order))}"
            services = _service_backends(route, roles, model)
            routed = tuple(_gateway_features(route, rule, model, services, backends))
            endpoints.append(
                _endpoint(
                    route,
                    name,
                    model=model,
                    backends=services,
                    path=f"{path_prefix(roles[0].line)}/v1",
                    rule=rule,
                    routed=routed,
                )
            )
    return sorted(endpoints, key=lambda endpoint: route.models.index(endpoint.model))


def router_endpoints(route: RouteContext, active: ActiveRules, backends: BackendsByRule) -> Iterator[Endpoint]:
    """Yield an endpoint for each model at Kthena's router, which applies the rules itself."""
    for model, rules in active.items():
        roles = [role for rule in rules for role in backends[rule.path]]
        if not roles:
            continue
        replicas = {_pods_name(route, role.role): role.instances for role in roles}
        router = Router(CONTROLLER_NAMESPACE, ROUTER_PODS, tuple(replicas))
        share = sum(replicas.values())
        # The chart of the release that is set names it, whatever release each manifest is written for.
        release = route.options.releases.get("kthena") or RELEASES.contract
        service = ROUTER_SERVICE if RELEASES.covers(Span(until="v0.1.0"), release) else ROUTER
        backend = Backend(service, CONTROLLER_NAMESPACE, ROUTER_PORT, "", share, router=router)
        yield _endpoint(
            route, _base_name(route, model), model=model, backends=(backend,), path="/v1", rule=rules[0], routed=()
        )


def check_model_names(route: RouteContext, roles: Iterable[RoleBackend], model: str) -> None:
    """Warn about engines that do not serve the model name of the requests that they get."""
    for role in roles:
        served = served_names(role.line)
        if model in route.adapters:
            adapters = [name for name, _ in adapters_of(role.line)]
            if served and model not in adapters:
                known = f"it has {', '.join(adapters)}" if adapters else "it has none"
                reason = f"the engine of {role.role.title} has no adapter {model!r} ({known}); add it there"
                route.findings.warn(role.target.path, reason, RuleId.REFERENCE_ELSEWHERE)
            continue
        name = role.target.server.model or model
        if answers_to(role.line, name) is False:
            reason = (
                f"the engine of {role.role.title} serves {', '.join(served)}, but requests are for {name!r}; set "
                f"model of ModelServer {role.target.server.name!r}"
            )
            route.findings.warn(role.target.path, reason, RuleId.REFERENCE_ELSEWHERE)


def check_endpoint_names(route: RouteContext, endpoints: Sequence[Endpoint]) -> None:
    """Reject rules and adapters that result in endpoints of the same name."""
    names = [endpoint.name for endpoint in endpoints]
    for endpoint in endpoints:
        if names.count(endpoint.name) > 1:
            reason = f"results in two endpoints named {endpoint.name!r}; rename a rule or an adapter"
            route.findings.error(endpoint.origin.path, reason, RuleId.NAMES_TAKEN)


def _service_backends(route: RouteContext, roles: Sequence[RoleBackend], model: str) -> tuple[Backend, ...]:
    """Return the Services of roles as the backends of a model; those without requests come last."""
    backends = []
    for role, weight in zip(roles, _weights(roles), strict=True):
        engine_name = adapter_model_name(role.line, model) if model in route.adapters else role.target.server.model
        backends.append(
            Backend(
                service=role_service(role.role.serving.metadata.name, role.role.role.name),
                namespace=route.namespace,
                port=role.port,
                workload=_pods_name(route, role.role),
                share=role.instances,
                weight=weight,
                served_name="" if model == engine_name else engine_name,
            )
        )
    return tuple(sorted(backends, key=lambda backend: not backend.weight))


def _weights(roles: Sequence[RoleBackend]) -> list[int]:
    """Return integer weights: that of each target, divided among its roles by their instances."""
    if len(roles) == 1:
        return [roles[0].target.weight]
    parts = []
    for role in roles:
        siblings = [other for other in roles if other.target is role.target]
        total = sum(other.instances for other in siblings)
        share = Fraction(role.instances, total) if total else Fraction(1, len(siblings))
        parts.append(role.target.weight * share)
    denominator = math.lcm(*(part.denominator for part in parts))
    return [int(part * denominator) for part in parts]


def _pods_name(route: RouteContext, role: SelectedRole) -> str:
    """Return the name of the workload, or of the set of pods, of a role."""
    name = role.serving.metadata.name
    if route.options.realization.is_native and is_one_set(role.serving.spec.template):
        return name
    return role_service(name, role.role.name)


def _endpoint(
    route: RouteContext,
    name: str,
    model: str,
    backends: tuple[Backend, ...],
    path: str,
    rule: ActiveRule,
    routed: tuple[GatewayFeature, ...],
) -> Endpoint:
    first = backends[0]
    return Endpoint(
        name=name,
        namespace=route.namespace,
        model=model,
        url=f"http://{first.service}.{first.namespace}.svc.cluster.local:{first.port}{path}",
        api="openai",
        port=first.port,
        backends=backends,
        weights=WeightsOwner("ModelRoute", route.namespace, route.name),
        origin=route.origin(_model_field(route, model) if first.router else rule.path),
        headers=() if first.router else rule.headers,
        order=rule.order,
        gateway_features=routed,
    )


def _gateway_features(
    route: RouteContext, rule: ActiveRule, model: str, services: Sequence[Backend], backends: BackendsByRule
) -> Iterator[GatewayFeature]:
    """Yield the features of a rule that only a gateway in front of the models provides."""
    targets = route.origin(f"{rule.path}.targetModels")
    if len(services) > 1:
        yield GatewayFeature(Routing.WEIGHTS, targets)
    if rule.headers:
        yield GatewayFeature(Routing.HEADERS, route.origin(f"{rule.path}.modelMatch.headers"))
    if services[0].served_name:
        yield GatewayFeature(Routing.NAMES, targets)
    if model in route.adapters and route.model:
        base_services = {
            backend.service
            for base_rule in rules_for(route, route.model)
            if backends[base_rule.path]
            for backend in _service_backends(route, backends[base_rule.path], route.model)
        }
        if base_services - {backend.service for backend in services}:
            yield GatewayFeature(Routing.ADAPTERS, route.origin(_model_field(route, model)))


def _model_field(route: RouteContext, model: str) -> str:
    """Return the field with the name of a model or adapter."""
    if model not in route.adapters:
        return "spec.modelName"
    return f"spec.loraAdapters[{route.lora_adapters.index(model)}]"


def _base_name(route: RouteContext, model: str) -> str:
    """Return the name of a model's endpoint: that of the route, with a suffix for an adapter."""
    return f"{route.name}-lora-{_slug(model)}" if model in route.adapters else route.name


def _slug(text: str) -> str:
    """Return a part of an object name for any text, with a digest if characters were replaced, to keep it unique."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
    if slug == text:
        return slug
    return "-".join(filter(None, (slug, hashlib.sha256(text.encode()).hexdigest()[:6])))

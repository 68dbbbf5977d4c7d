"""Where clients reach the models of a ModelRoute."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from ....contract.findings.ids import RuleId
from ....engines.paths import path_prefix
from ....fleet.endpoints import Backend, Endpoint, GatewayFeature, WeightsOwner
from ....fleet.words import Routing
from .asked import AskedRoute
from .backends import RoleBackend, of_router, of_services
from .matching import UsedRule, UsedRules, rules_for

_DIGEST = 6
Behind = dict[str, list[RoleBackend]]
"""What answers for each rule, by its field."""


def endpoints_of(asked: AskedRoute, used: UsedRules, behind: Behind) -> list[Endpoint]:
    """Return an endpoint for each rule and model, those for all requests first."""
    found = [
        endpoint
        for model, rules in used.items()
        for rule in sorted(rules, key=lambda each: bool(each.headers))
        for endpoint in _of_rule(asked, rule, model, behind)
    ]
    return sorted(found, key=lambda each: asked.models.index(each.model)) if len(found) > 1 else found


def routed_endpoints_of(asked: AskedRoute, used: UsedRules, behind: Behind) -> Iterator[Endpoint]:
    """Yield an endpoint for each model, at Kthena's router, which does all that the rules say."""
    for model, rules in used.items():
        roles = [role for rule in rules for role in behind[rule.path]]
        if roles:
            backends = of_router(asked, roles)
            yield _endpoint(asked, _base_name(asked, model), model, backends, "/v1", rules[0], ())


def check_endpoints(asked: AskedRoute, endpoints: Sequence[Endpoint]) -> None:
    """Report endpoints that would have one name, which rules and adapters give them."""
    names = [endpoint.name for endpoint in endpoints]
    for endpoint in endpoints:
        if names.count(endpoint.name) > 1:
            reason = f"would have the endpoint {endpoint.name!r} twice; rename a rule or an adapter"
            asked.findings.error(endpoint.origin.path, reason, RuleId.NAMES_TAKEN)


def _of_rule(asked: AskedRoute, rule: UsedRule, model: str, behind: Behind) -> Iterator[Endpoint]:
    roles = behind[rule.path]
    if not roles:
        return
    name = _base_name(asked, model)
    if rule.headers:
        name = f"{name}-rule-{_slug(rule.name or str(rule.order))}"
    backends = of_services(asked, roles, model)
    routed = tuple(_routed(asked, rule, model, backends, behind))
    yield _endpoint(asked, name, model, backends, f"{path_prefix(roles[0].line)}/v1", rule, routed)


def _endpoint(
    asked: AskedRoute,
    name: str,
    model: str,
    backends: tuple[Backend, ...],
    path: str,
    rule: UsedRule,
    routed: tuple[GatewayFeature, ...],
) -> Endpoint:
    first = backends[0]
    return Endpoint(
        name=name,
        namespace=asked.namespace,
        model=model,
        url=f"http://{first.service}.{first.namespace}.svc.cluster.local:{first.port}{path}",
        api="openai",
        port=first.port,
        backends=backends,
        weights=WeightsOwner("ModelRoute", asked.namespace, asked.name),
        origin=asked.origin(_field_of(asked, model) if first.router else rule.path),
        headers=() if first.router else rule.headers,
        order=rule.order,
        gateway_features=routed,
    )


def _routed(
    asked: AskedRoute, rule: UsedRule, model: str, backends: Sequence[Backend], behind: Behind
) -> Iterator[GatewayFeature]:
    """Yield what only a gateway in front of the models does for a rule."""
    if len(backends) > 1:
        yield GatewayFeature(Routing.WEIGHTS, asked.origin(f"{rule.path}.targetModels"))
    if rule.headers:
        yield GatewayFeature(Routing.HEADERS, asked.origin(f"{rule.path}.modelMatch.headers"))
    if backends[0].served_name:
        yield GatewayFeature(Routing.NAMES, asked.origin(f"{rule.path}.targetModels"))
    if model in asked.adapters and asked.model:
        others = {backend.service for backend in _services_of(asked, asked.model, behind)}
        if others - {backend.service for backend in backends}:
            yield GatewayFeature(Routing.ADAPTERS, asked.origin(_field_of(asked, model)))


def _field_of(asked: AskedRoute, model: str) -> str:
    """Return the field that names a model."""
    if model not in asked.adapters:
        return "spec.modelName"
    return f"spec.loraAdapters[{asked.lora_adapters.index(model)}]"


def _services_of(asked: AskedRoute, model: str, behind: Behind) -> Iterator[Backend]:
    for rule in rules_for(asked, model):
        if behind[rule.path]:
            yield from of_services(asked, behind[rule.path], model)


def _base_name(asked: AskedRoute, model: str) -> str:
    """Return what the endpoint of a model is called: like the route, that of an adapter after that as well."""
    return f"{asked.name}-lora-{_slug(model)}" if model in asked.adapters else asked.name


def _slug(text: str) -> str:
    """Return a part of an object's name for any text; what must be changed gets a digest, to stay told apart."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
    if plain == text:
        return plain
    return "-".join(filter(None, (plain, hashlib.sha256(text.encode()).hexdigest()[:_DIGEST])))

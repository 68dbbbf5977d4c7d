"""What answers requests of a rule: the Services of roles, or Kthena's router before them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.served.adapters import adapter_model_name, adapters_of
from ....engines.served.names import answers_to, served_names
from ....fleet.endpoints import Backend, Router
from ....fleet.workloads import Server
from ..names import CONTROLLER_NAMESPACE, ROUTER_PODS, ROUTER_PORT, ROUTER_SERVICE, role_service
from ..reach import SelectedRole
from ..serving.groups import is_one_set
from .asked import AskedRoute
from .targets import RouteTarget


@dataclass(frozen=True, slots=True)
class RoleBackend:
    """A role behind a target."""

    target: RouteTarget
    role: SelectedRole
    server: Server
    port: int

    @property
    def line(self) -> CommandLine:
        """What its engine is started with."""
        return self.server.line


def behind(targets: Iterable[RouteTarget]) -> list[RoleBackend]:
    """Return the roles behind targets whose port is known."""
    found = []
    for target in targets:
        for role in target.server.roles:
            server, listening = role.server
            port = target.server.port or listening
            if port:
                found.append(RoleBackend(target, role, server, port))
    return found


def of_services(asked: AskedRoute, roles: Sequence[RoleBackend], model: str) -> tuple[Backend, ...]:
    """Return the Services of roles as the backends of a model; one that is never asked stands last."""
    weights = _weights(roles)
    backends = [
        Backend(
            service=role_service(each.role.serving.metadata.name, each.role.role.name),
            namespace=asked.namespace,
            port=each.port,
            workload=_pods(asked, each.role),
            share=_instances(each.role),
            weight=weight,
            served_name=_known_as(asked, each, model),
        )
        for each, weight in zip(roles, weights, strict=True)
    ]
    return tuple(sorted(backends, key=lambda backend: not backend.weight))


def of_router(asked: AskedRoute, roles: Sequence[RoleBackend]) -> tuple[Backend, ...]:
    """Return Kthena's router as the backend: it divides the requests, rewrites names and knows the pods."""
    pods = dict.fromkeys(_pods(asked, each.role) for each in roles)
    router = Router(CONTROLLER_NAMESPACE, ROUTER_PODS, tuple(pods))
    shares = {_pods(asked, each.role): _instances(each.role) for each in roles}
    return (Backend(ROUTER_SERVICE, CONTROLLER_NAMESPACE, ROUTER_PORT, "", sum(shares.values()), router=router),)


def check_names(asked: AskedRoute, roles: Iterable[RoleBackend], model: str) -> None:
    """Report engines that do not answer to the name that they are asked by."""
    for each in roles:
        if model in asked.adapters:
            own = [name for name, _ in adapters_of(each.line)]
            if served_names(each.line) and model not in own:
                there = f"it has {', '.join(own)}" if own else "it has none"
                reason = (
                    f"the engine of {each.role.title} does not know the adapter {model!r} ({there}); add it there"
                )
                asked.findings.warn(each.target.path, reason, RuleId.REFERENCE_ELSEWHERE)
            continue
        name = each.target.server.model or model
        if answers_to(each.line, name) is False:
            reason = (
                f"the engine of {each.role.title} answers to {', '.join(served_names(each.line))}, and is asked for "
                f"{name!r}; set model of ModelServer {each.target.server.name!r}"
            )
            asked.findings.warn(each.target.path, reason, RuleId.REFERENCE_ELSEWHERE)


def _known_as(asked: AskedRoute, each: RoleBackend, model: str) -> str:
    name = adapter_model_name(each.line, model) if model in asked.adapters else each.target.server.model
    return "" if name == model else name


def _pods(asked: AskedRoute, role: SelectedRole) -> str:
    """Return what the pods of a role are called together."""
    name = role.serving.metadata.name
    if asked.options.realization.is_native and is_one_set(role.serving.spec.template):
        return name
    return role_service(name, role.role.name)


def _instances(role: SelectedRole) -> int:
    return role.serving.spec.replicas * role.role.replicas


def _weights(roles: Sequence[RoleBackend]) -> list[int]:
    """Return whole weights: those of the targets, each divided among its roles by their instances at rest."""
    if len(roles) == 1:
        return [roles[0].target.weight]
    parts = []
    for each in roles:
        own = [other for other in roles if other.target is each.target]
        together = sum(_instances(other.role) for other in own)
        share = Fraction(_instances(each.role), together) if together else Fraction(1, len(own))
        parts.append(each.target.weight * share)
    common = math.lcm(*(part.denominator for part in parts))
    return [int(part * common) for part in parts]

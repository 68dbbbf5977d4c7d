"""The targets of a ModelRoute: ModelServers, and the roles whose pods they select."""

from collections.abc import Mapping
from dataclasses import dataclass

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....fleet.library import Library
from ..references import SelectedRole, find_server, selected_by
from ..types import ModelServer
from .rules import RouteContext


@dataclass(frozen=True, slots=True)
class RoutedServer:
    """A ModelServer, written by the user or standing for a ModelBooster.

    Attributes:
        model: The model name for its engines; empty for that of the request.
        port: The port of its pods; 0 for the one on which each of them listens.
        is_pair: Whether requests go to prefill and then to decode.
        roles: The roles whose entry pods it selects.
    """

    name: str
    model: str
    port: int
    is_pair: bool
    roles: tuple[SelectedRole, ...]


@dataclass(frozen=True, slots=True)
class RouteTarget:
    """A ModelServer that a rule leads to.

    Attributes:
        path: The field with its name.
        weight: Its share of the requests.
    """

    path: str
    server: RoutedServer
    weight: int


Targets = Mapping[str, list[RouteTarget]]
"""The targets of each rule, by the field of the rule."""


def targets_of(route: RouteContext, servers: Mapping[str, RoutedServer | None]) -> Targets:
    """Return the existing targets of each rule.

    Args:
        route: The route.
        servers: The ModelServers by name; None for one that does not exist.
    """
    return {
        rule.path: [
            RouteTarget(f"{rule.path}.targetModels[{index}]", server, weight)
            for index, (name, weight) in enumerate(rule.targets)
            if (server := servers[name]) is not None
        ]
        for rule in route.rules
    }


def find_servers(route: RouteContext, library: Library) -> dict[str, RoutedServer | None]:
    """Return the ModelServers of all targets by name, and report those that do not exist."""
    servers: dict[str, RoutedServer | None] = {}
    for rule in route.rules:
        for index, (name, _) in enumerate(rule.targets):
            if name not in servers:
                server = find_server(library, route.namespace, name)
                servers[name] = _routed_server(server, library, route.namespace) if server else None
            # A manifest that could not be read is reported there.
            if servers[name] is None and not library.is_unread("ModelServer", name):
                remedy = f"add its manifest to namespace {route.namespace}, or correct the name"
                reason = unknown_reference("ModelServer", name, library.names(ModelServer, route.namespace), remedy)
                path = f"{rule.path}.targetModels[{index}].modelServerName"
                route.findings.error(path, reason, RuleId.REFERENCE_MISSING)
    return servers


def _routed_server(server: ModelServer, library: Library, namespace: str) -> RoutedServer:
    spec, selector = server.spec, server.spec.workload_selector
    labels = selector.match_labels or {}
    return RoutedServer(
        server.metadata.name,
        spec.model or "",
        spec.workload_port.port if spec.workload_port else 0,
        selector.pd_group is not None,
        tuple(selected_by(labels, library, namespace)) if labels else (),
    )


def check_targets(route: RouteContext) -> None:
    """Reject rules without a target that gets requests."""
    for rule in route.rules:
        if not rule.targets:
            reason = "must have at least one target, found none; add one"
            route.findings.error(f"{rule.path}.targetModels", reason, RuleId.ACCESS_UNROUTABLE)
        elif not any(weight for _, weight in rule.targets):
            reason = "must be above 0 for at least one target, or no target gets requests"
            route.findings.error(f"{rule.path}.targetModels[0].weight", reason, RuleId.ACCESS_UNROUTABLE)

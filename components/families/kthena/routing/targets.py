"""What a ModelRoute leads to: ModelServers, and the roles whose pods those select."""

from collections.abc import Mapping
from dataclasses import dataclass

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....fleet.library import Library
from ..lookup import server
from ..reach import SelectedRole, selected_by
from ..types import ModelServer
from .asked import AskedRoute


@dataclass(frozen=True, slots=True)
class RoutedServer:
    """A ModelServer that requests are led to, whether somebody wrote it or a ModelBooster stands for it.

    Attributes:
        model: What its engines are asked for; empty for what clients ask for.
        port: Where they are asked; 0 for where each listens.
        is_pair: Whether prefill and decode are asked one after the other.
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
        path: The field that names it.
        weight: Its share of the requests.
    """

    path: str
    server: RoutedServer
    weight: int


Targets = Mapping[str, list[RouteTarget]]
"""What each rule leads to, by its field."""


def targets_of(asked: AskedRoute, servers: Mapping[str, RoutedServer | None]) -> Targets:
    """Return the targets of each rule that exist.

    Args:
        asked: The route.
        servers: The ModelServers that it names, None for one that does not exist.
    """
    return {
        rule.path: [
            RouteTarget(f"{rule.path}.targetModels[{index}]", there, weight)
            for index, (name, weight) in enumerate(rule.targets)
            if (there := servers[name]) is not None
        ]
        for rule in asked.rules
    }


def known_servers(asked: AskedRoute, library: Library) -> dict[str, RoutedServer | None]:
    """Return the ModelServers that the rules of a route name; those that do not exist are reported."""
    known: dict[str, RoutedServer | None] = {}
    for rule in asked.rules:
        for index, (name, _) in enumerate(rule.targets):
            if name not in known:
                known[name] = _server(asked, library, name)
            if known[name] is None:
                _report_missing(asked, library, f"{rule.path}.targetModels[{index}].modelServerName", name)
    return known


def _server(asked: AskedRoute, library: Library, name: str) -> RoutedServer | None:
    there = server(library, asked.namespace, name)
    return _routed(there, asked, library) if there else None


def _routed(there: ModelServer, asked: AskedRoute, library: Library) -> RoutedServer:
    spec, selector = there.spec, there.spec.workload_selector
    labels = selector.match_labels or {}
    return RoutedServer(
        there.metadata.name,
        spec.model or "",
        spec.workload_port.port if spec.workload_port else 0,
        selector.pd_group is not None,
        tuple(selected_by(labels, library, asked.namespace)) if labels else (),
    )


def _report_missing(asked: AskedRoute, library: Library, path: str, name: str) -> None:
    if library.is_unread("ModelServer", name):
        return  # it is reported where it could not be read
    remedy = f"add its manifest to namespace {asked.namespace}, or correct the name"
    asked.findings.error(
        path,
        unknown_reference("ModelServer", name, library.all(ModelServer, asked.namespace), remedy),
        RuleId.REFERENCE_MISSING,
    )


def check_targets(asked: AskedRoute) -> None:
    """Report rules that lead nowhere."""
    for rule in asked.rules:
        if not rule.targets:
            asked.findings.error(
                f"{rule.path}.targetModels",
                "must have at least one target, found none; add one",
                RuleId.ACCESS_UNROUTABLE,
            )
        elif not any(weight for _, weight in rule.targets):
            reason = "must have a weight above 0 for at least one target: with 0 for all of them no request has a way"
            asked.findings.error(f"{rule.path}.targetModels[0].weight", reason, RuleId.ACCESS_UNROUTABLE)

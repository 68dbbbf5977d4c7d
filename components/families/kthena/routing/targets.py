"""What a ModelRoute leads to: ModelServers, and the roles whose pods those select."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from ....api.findings import Findings, unknown
from ....api.load import Loaded
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.origins import Origin
from ..lookup import server
from ..made import behind
from ..reach import SelectedRole, selected_by
from ..types import ModelRoute, ModelServer
from ..types.networking import RouteRule


@dataclass(frozen=True)
class AskedRoute:
    """A ModelRoute, and how to render it."""

    source: Loaded
    route: ModelRoute
    namespace: str
    library: Library
    options: Options
    findings: Findings

    def origin(self, path: str = "") -> Origin:
        """Return one of its fields; itself for no path."""
        return Origin(behind(self.source), path)

    @property
    def name(self) -> str:
        """Its name."""
        return self.route.metadata.name

    @functools.cached_property
    def adapters(self) -> list[str]:
        """Names of adapters that it leads to; one that is called like its model never counts."""
        names = dict.fromkeys(self.route.spec.lora_adapters or ())
        return [name for name in names if name != self.route.spec.model_name]

    @functools.cached_property
    def models(self) -> list[str]:
        """What clients may ask for, its model first."""
        model = self.route.spec.model_name
        return [*([model] if model else []), *self.adapters]

    @property
    def rules(self) -> Iterator[tuple[str, RouteRule]]:
        """Each rule, with the field that it is in."""
        return ((f"spec.rules[{index}]", rule) for index, rule in enumerate(self.route.spec.rules_))


@dataclass(frozen=True, slots=True)
class RouteTarget:
    """A ModelServer that a rule leads to.

    Attributes:
        path: The field that names it.
        weight: Its share of the requests.
        roles: The roles whose entry pods it selects.
    """

    path: str
    server: ModelServer
    weight: int
    roles: tuple[SelectedRole, ...]

    @property
    def is_pair(self) -> bool:
        """Whether prefill and decode are asked one after the other."""
        return self.server.spec.workload_selector.pd_group is not None


def targets_of(asked: AskedRoute) -> dict[str, list[RouteTarget]]:
    """Return the targets of each rule, by its field; those that do not exist are reported."""
    known: dict[str, tuple[ModelServer, tuple[SelectedRole, ...]] | None] = {}
    found: dict[str, list[RouteTarget]] = {}
    for path, rule in asked.rules:
        targets = found.setdefault(path, [])
        for index, target in enumerate(rule.target_models):
            name, place = target.model_server_name, f"{path}.targetModels[{index}]"
            if name not in known:
                known[name] = _server(asked, name)
            there = known[name]
            if there is None:
                _report_missing(asked, f"{place}.modelServerName", name)
            else:
                targets.append(RouteTarget(place, there[0], target.weight, there[1]))
    return found


def _server(asked: AskedRoute, name: str) -> tuple[ModelServer, tuple[SelectedRole, ...]] | None:
    there = server(asked.library, asked.namespace, name)
    if there is None:
        return None
    labels = there.spec.workload_selector.match_labels or {}
    return there, tuple(selected_by(labels, asked.library, asked.namespace)) if labels else ()


def _report_missing(asked: AskedRoute, path: str, name: str) -> None:
    if asked.library.is_unread("ModelServer", name):
        return  # it is reported where it could not be read
    remedy = f"add its manifest to namespace {asked.namespace}, or correct the name"
    asked.findings.error(path, unknown("ModelServer", name, asked.library.all(ModelServer, asked.namespace), remedy))


def check_targets(asked: AskedRoute) -> None:
    """Report rules that lead nowhere."""
    for path, rule in asked.rules:
        if not rule.target_models:
            asked.findings.error(f"{path}.targetModels", "must have at least one target, found none; add one")
        elif not any(target.weight for target in rule.target_models):
            reason = "must have a weight above 0 for at least one target: with 0 for all of them no request has a way"
            asked.findings.error(f"{path}.targetModels[0].weight", reason)

"""Short ways to write environments and to plan nodes in them."""

import datetime
from typing import Any

from components.clouds.aws.nodes.checks import check_nodes
from components.clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan, node_plan
from components.clouds.aws.nodes.settings_location import SettingsLocation
from components.contract.problems import Problem
from components.fleet.nodes.policy import NodePolicy, Reservation, TypePolicy
from components.fleet.options import PodOverrides
from components.fleet.rendered import Fleet
from tests.fleets import errors, fleet_of, open_model, playground

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
ZONES = ("us-east-1a", "us-east-1b")
BLOCK = Reservation("cr-0a1b", "us-east-1b", 2, NOW + datetime.timedelta(days=1), NOW + datetime.timedelta(days=8))
HELD = Reservation("cr-0a1b", "us-east-1b", 2)


def environment(**changes: Any) -> NodeEnvironment:
    types: dict[str, TypePolicy] = changes.pop("types", {})
    on_nodes = {key: changes.pop(key) for key in ("labels", "prefixes", "further", "taints") if key in changes}
    policy = NodePolicy(changes.pop("capacity", "on-demand"), types, **on_nodes)
    given: dict[str, Any] = {"region": "us-east-1", "zones": ZONES, "version": "1.35", "now": NOW, "nodes": policy}
    return NodeEnvironment(**{**given, "place": SettingsLocation("Pulumi.dev.yaml", "gpuNodes"), **changes})


def flavor(instance_type: str, limits: dict[str, Any] | None = None, name: str = "f", **selector: str) -> Any:
    wanted = {"nvidia.com/gpu": 1} if limits is None else limits
    return {
        "name": name,
        "limits": wanted,
        "params": {"INSTANCE-TYPE": instance_type},
        "nodeSelector": {key.replace("__", "/").replace("_", "."): v for key, v in selector.items()},
    }


def small(name: str, model: str, replicas: int = 1, **spec: Any) -> dict[str, Any]:
    """A Playground whose pods ask for little beside their accelerators."""
    need = {"cpu": "1", "memory": "1Gi"}
    config = {"resources": {"requests": need, "limits": need}}
    return playground(name, model, replicas=replicas, backendRuntimeConfig=config, **spec)


def one(*flavors: Any, where: NodeEnvironment | None = None, replicas: int = 1) -> Fleet:
    """One model with these flavors, served by as many pods."""
    policy = (where or environment()).nodes
    tolerations = PodOverrides(tolerations=policy.tolerations)
    documents = [open_model(flavors=list(flavors)), small("p", "m", replicas)]
    fleet = fleet_of(*documents, alternatives=policy.alternatives, overrides=tolerations)
    assert not errors(fleet), errors(fleet)
    return fleet


def planned(fleet: Fleet, where: NodeEnvironment) -> tuple[NodeGroupPlan, ...]:
    return node_plan(fleet, where)


def problems(fleet: Fleet, where: NodeEnvironment, severity: str = "error") -> list[Problem]:
    found = check_nodes(fleet, node_plan(fleet, where), where)
    return [problem for problem in found if problem.severity == severity]

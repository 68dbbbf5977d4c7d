"""Zones of an environment that runs: which resources an edit touches, and which edits are refused.

EKS takes no zones for a control plane but those of its creation (EKS user guide, "VPC requirements and
considerations"), and no other subnets for a node group (EKS API, UpdateNodegroupConfig has none).
"""

from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.resources.aws.args import NetworkArgs
from components.resources.aws.network_checks import problems
from stacks.settings import parse
from tests.clouds.aws.environments import flavor
from tests.fleets import open_model, playground
from tests.recorded import Recorded
from tests.stacks.shipped import as_shipped, run, settings_of
from workbench.engine.diff import ignored

CLUSTER = "aws:eks/cluster:Cluster::cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
SUBNET = "aws:ec2/subnet:Subnet"
ONE_MODEL: dict[str, Any] = {
    "models": ["stacks/models/qwen-chat.yaml"],
    "prerequisites": {},
    "frontDoor": {},
    "hardening": {},
}
A, B, C, D = (f"us-east-1{letter}" for letter in "abcd")

MODEL = (
    open_model(flavors=[flavor("g5.2xlarge", topology_kubernetes_io__zone="us-east-1d")]),
    playground(),
)

pytestmark = pytest.mark.usefixtures("here")


def network(stack: str, *zones: str) -> dict[str, Any]:
    return {**settings_of(stack)["network"], "zones": list(zones)}


def cluster(stack: str, **changes: Any) -> dict[str, Any]:
    return {**settings_of(stack)["cluster"], **changes}


def difference(before: Recorded, after: Recorded) -> tuple[set[str], set[str], set[str]]:
    """What an update creates, updates or replaces, and deletes: by its inputs, without those that are ignored."""
    old = {entry.key: entry for entry in before.graph}
    new = {entry.key: entry for entry in after.graph}
    changed = {
        key
        for key in old.keys() & new.keys()
        if old[key].inputs != ignored(old[key].inputs, new[key].inputs, new[key].registration.ignore_changes)
    }
    return new.keys() - old.keys(), changed, old.keys() - new.keys()


def of_a_zone(zone: str, *more: str) -> set[str]:
    """What the network has in a zone."""
    kinds = ["subnet:Subnet::network-{}", "routeTableAssociation:RouteTableAssociation::network-{}"]
    return {
        *(f"aws:ec2/{kind.format(f'{side}-{zone}')}" for kind in kinds for side in ("private", "public")),
        f"aws:ec2/routeTable:RouteTable::network-private-{zone}",
        f"aws:ec2/route:Route::network-private-{zone}",
        *more,
    }


class TestAnAppendedZone:
    """It is for nodes that name it: the control plane, the system nodes and all groups stay."""

    def test_of_dev(self) -> None:
        before, after = as_shipped("dev"), run("dev", network=network("dev", A, B, C))
        assert difference(before, after) == (of_a_zone(C), {f"{ENDPOINT}::network-s3"}, set())

    def test_of_prod(self) -> None:
        before, after = as_shipped("prod"), run("prod", network=network("prod", A, B, C, D))
        made = of_a_zone(D, f"aws:ec2/eip:Eip::network-{D}", f"aws:ec2/natGateway:NatGateway::network-{D}")
        endpoints = {f"{ENDPOINT}::network-{name}" for name in ("s3", "ecr-api", "ecr-dkr", "sts", "ec2", "eks-auth")}
        assert difference(before, after) == (made, endpoints, set())

    def test_of_staging_where_karpenter_makes_the_nodes(self) -> None:
        before, after = as_shipped("staging"), run("staging", network=network("staging", A, B, C))
        endpoints = {f"{ENDPOINT}::network-{name}" for name in ("s3", "ecr-api", "ecr-dkr", "sts")}
        assert difference(before, after) == (of_a_zone(C), endpoints, set())

    def test_is_used_by_the_type_that_names_it_alone(self) -> None:
        zones = network("prod", A, B, C, D)
        types = settings_of("prod")["gpuNodes"]["types"]
        nodes = {**settings_of("prod")["gpuNodes"], "types": {**types, "g5.2xlarge": {"zones": [A, D]}}}
        made, changed, gone = difference(run("prod", network=zones), run("prod", network=zones, gpuNodes=nodes))
        assert (made, changed, gone) == (set(), {f"{GROUP}::nodes-g5-2xlarge"}, set())

    def test_may_be_named_where_nodes_are_kept_in_one_zone(self) -> None:
        """Dev's nodes are in the first zone unless their type says otherwise."""
        zones = network("dev", A, B, C)
        nodes = settings_of("dev")["gpuNodes"]
        nodes["types"]["g5.2xlarge"]["zones"] = [C]
        made, changed, gone = difference(run("dev", network=zones), run("dev", network=zones, gpuNodes=nodes))
        assert (made, changed, gone) == (set(), {f"{GROUP}::nodes-g5-2xlarge-spot"}, set())

    def test_in_a_cluster_whose_zones_are_not_named(self) -> None:
        """The control plane keeps its subnets all the same; nodes are in all zones, as without the setting."""
        stack = {**ONE_MODEL, "cluster": cluster("prod", zones=[])}
        before = run("prod", **stack)
        made, changed, gone = difference(before, run("prod", **stack, network=network("prod", A, B, C, D)))
        assert CLUSTER not in changed
        assert {key for key in changed if key.startswith(GROUP)} == {
            f"{GROUP}::cluster-system",
            f"{GROUP}::nodes-g5-2xlarge",
        }
        assert not gone
        assert made == of_a_zone(D, f"aws:ec2/eip:Eip::network-{D}", f"aws:ec2/natGateway:NatGateway::network-{D}")


@pytest.mark.parametrize("zones", [(B, A, C), (C, B, A), (A, D, B, C), (D, C, B, A)], ids="-".join)
def test_zones_are_listed_in_any_order(zones: tuple[str, ...]) -> None:
    whole = [A, B, C, D] if D in zones else [A, B, C]
    before = run("prod", **ONE_MODEL, network=network("prod", *whole))
    assert difference(before, run("prod", **ONE_MODEL, network=network("prod", *zones))) == (set(), set(), set())


def test_a_zone_that_no_nodes_name_goes_with_what_is_in_it() -> None:
    before, after = run("dev", network=network("dev", A, B, C, D)), run("dev", network=network("dev", A, B, D))
    assert difference(before, after) == (set(), {f"{ENDPOINT}::network-s3"}, of_a_zone(C))


def test_settings_that_name_the_zones_for_the_first_time_change_nothing() -> None:
    for stack in ("dev", "staging", "prod"):
        before = run(stack, cluster=cluster(stack, zones=[]))
        assert difference(before, run(stack)) == (set(), set(), set())


def test_system_nodes_move_to_zones_of_their_own() -> None:
    before, after = run("prod", **ONE_MODEL), run("prod", **ONE_MODEL, cluster=cluster("prod", systemZones=[C, A]))
    assert difference(before, after) == (set(), {f"{GROUP}::cluster-system"}, set())
    system = after[f"{GROUP}::cluster-system"].inputs
    assert system["subnetIds"] == [f"network-private-{C}-id", f"network-private-{A}-id"]
    assert system["nodeGroupName"] != before[f"{GROUP}::cluster-system"].inputs["nodeGroupName"]


def test_the_control_plane_has_the_zones_of_its_own_and_keeps_them() -> None:
    graph = run("dev", network=network("dev", D, A, B))
    entry = graph[CLUSTER]
    assert entry.inputs["vpcConfig"]["subnetIds"] == [f"network-private-{A}-id", f"network-private-{B}-id"]
    assert "vpcConfig.subnetIds" in entry.registration.ignore_changes
    (gateway,) = graph.of("aws:ec2/natGateway:NatGateway")
    assert gateway.name == f"network-{A}"


def test_subnets_of_the_control_plane_are_protected_where_the_environment_is() -> None:
    """Pulumi then refuses to delete them, or to move them, before it does anything."""
    graph = run("prod", **ONE_MODEL, network=network("prod", A, B, C, D))
    held = {entry.name for entry in graph.of(SUBNET) if entry.registration.protect}
    assert held == {f"network-private-{zone}" for zone in (A, B, C)}


def refused(stack: str, **changes: Any) -> list[str]:
    with pytest.raises(pulumi.RunError) as caught:
        run(stack, **changes)
    return [line.removeprefix("Pulumi.test.yaml: inference-platform:") for line in str(caught.value).splitlines()]


class TestRefused:
    def test_removing_a_zone_of_the_control_plane(self) -> None:
        (line, *_) = refused("prod", network=network("prod", A, B))
        assert line == (
            "cluster.zones: us-east-1c: not in network.zones; EKS fixes the zones of a control plane when the "
            "cluster is "
            "created, and has network interfaces there; add it to network.zones, and set zones for the nodes to "
            "place "
            "them elsewhere"
        )

    def test_a_control_plane_in_one_zone(self) -> None:
        (line, *_) = refused("dev", cluster=cluster("dev", zones=[A]))
        assert line == "cluster.zones: found 1; EKS requires subnets in at least two zones"

    def test_removing_a_zone_in_which_there_are_nodes(self) -> None:
        """Each at the setting that names the zone."""
        nodes = settings_of("dev")["gpuNodes"]
        nodes["types"]["g5.2xlarge"]["zones"] = [C]
        lines = refused("dev", gpuNodes=nodes)
        assert "must be zones of the environment (us-east-1a, us-east-1b), found us-east-1c" in "\n".join(lines)
        lines = refused("dev", gpuNodes={**nodes, "zones": [A, C]}, cluster=cluster("dev", systemZones=[D]))
        assert lines[0].startswith("cluster.systemZones: us-east-1d: not in network.zones (us-east-1a, us-east-1b)")
        assert any(line.startswith("gpuNodes.zones: us-east-1c: not in network.zones") for line in lines)

    def test_a_flavor_that_selects_a_zone_which_is_gone(self, tmp_path: Path) -> None:
        """It may select a zone that other nodes do not use, and no zone without a subnet."""
        file = tmp_path / "model.yaml"
        file.write_text(yaml.safe_dump_all(MODEL))
        stack = {**ONE_MODEL, "models": [str(file)]}
        group = run("prod", **stack, network=network("prod", A, B, C, D))[f"{GROUP}::nodes-g5-2xlarge-us-east-1d"]
        assert group.inputs["subnetIds"] == [f"network-private-{D}-id"]
        lines = refused("prod", **stack)
        expected = (
            "selects zone us-east-1d, but the nodes of this environment are in us-east-1a, us-east-1b, us-east-1c"
        )
        assert any(expected in line for line in lines)


def test_an_existing_network_has_the_zones_of_the_control_plane_too() -> None:
    subnets = {D: "subnet-d", A: "subnet-a", B: "subnet-b"}
    given = {"vpcId": "vpc-0a1b", "privateSubnets": subnets}
    graph = run("dev", **ONE_MODEL, network=given, gpuNodes={})
    assert graph[CLUSTER].inputs["vpcConfig"]["subnetIds"] == ["subnet-a", "subnet-b"]
    assert graph[f"{GROUP}::nodes-g5-2xlarge"].inputs["subnetIds"] == ["subnet-a", "subnet-b"]
    (line, *_) = refused("dev", **ONE_MODEL, network={**given, "privateSubnets": {A: "subnet-a", D: "subnet-d"}})
    assert line.startswith("cluster.zones: us-east-1b: not in network.privateSubnets")


def test_an_existing_cluster_has_its_own() -> None:
    subnets = {A: "subnet-a", B: "subnet-b", C: "subnet-c"}
    given = {"vpcId": "vpc-0a1b", "privateSubnets": subnets}
    graph = run("dev", **ONE_MODEL, network=given, gpuNodes={}, cluster={"existing": True, "zones": [A, B]})
    assert graph[f"{GROUP}::nodes-g5-2xlarge"].inputs["subnetIds"] == [*subnets.values()]


class TestLoadBalancers:
    """They keep the zones that they were created in (aws-load-balancer-controller, pull request 2129)."""

    @pytest.mark.parametrize(
        ("model", "type_", "door", "told"),
        [
            ("qwen-chat", "g5.2xlarge", {"expose": "load-balancer", "internal": True}, True),
            ("qwen-chat", "g5.2xlarge", {}, False),
            ("qwen-cpu", "m7i.2xlarge", {}, False),
        ],
    )
    def test_of_models(
        self, model: str, type_: str, door: dict[str, Any], told: bool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        stack = {**ONE_MODEL, "models": [f"stacks/models/{model}.yaml"], "frontDoor": door}
        stack["prerequisites"] = {"install": True}
        for zone in (A, C):
            nodes = {"types": {type_: {"zones": [A, zone] if zone != A else [A]}}}
            run("dev", **stack, network=network("dev", A, B, C), gpuNodes=nodes)
            assert ("nodes-unbalanced" in capsys.readouterr().err) == (told and zone == C)

    @pytest.mark.parametrize(("type_", "told"), [("m7i.2xlarge", True), ("g5.2xlarge", False)])
    def test_of_the_gateway_whose_proxies_run_on_nodes_without_taints(
        self, type_: str, told: bool, capsys: pytest.CaptureFixture[str]
    ) -> None:
        nodes = {**settings_of("staging")["gpuNodes"], "types": {type_: {"zones": [A, C]}}}
        run("staging", network=network("staging", A, B, C), gpuNodes=nodes)
        lines = [line for line in capsys.readouterr().err.splitlines() if "nodes-unbalanced" in line]
        assert bool(lines) == told
        assert all(
            "gpuNodes.types.m7i.2xlarge.zones: nodes m7i-2xlarge may be in us-east-1c" in line for line in lines
        )

    @pytest.mark.parametrize(
        ("changes", "path"),
        [
            ({"cluster": cluster("staging", systemZones=[A, C])}, "cluster.systemZones: the system nodes may be in"),
            (
                {"gpuNodes": {"provisioner": "karpenter", "zones": [A, C], "generalPool": {}}},
                "gpuNodes.zones: nodes of the",
            ),
            ({"cluster": cluster("staging", systemZones=[A])}, ""),
            ({"gpuNodes": {"provisioner": "karpenter", "zones": [A], "generalPool": {}}}, ""),
        ],
        ids=str,
    )
    def test_of_the_gateway_on_nodes_that_any_pod_may_use(
        self, changes: dict[str, Any], path: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run("staging", network=network("staging", A, B, C), **changes)
        told = capsys.readouterr().err
        assert path in told
        assert ("nodes-unbalanced" in told) == bool(path)

    def test_of_a_cluster_whose_zones_are_not_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        """All zones may have been there from the beginning."""
        run("staging", cluster=cluster("staging", zones=[]), network=network("staging", A, B, C))
        assert "nodes-unbalanced" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cidr", "endpoints", "problem"),
    [
        (None, [], ""),
        ("10.9.0.0/16", ["sts"], ""),
        ("10.9.0.0/16", [], "has no effect on an existing VPC without interface endpoints"),
        (None, ["sts"], "is required with interface endpoints"),
        ("10.9.0.1/16", ["sts"], "must be the IPv4 range of the VPC"),
    ],
)
def test_settings_and_network_accept_the_same_range_of_an_existing_network(
    cidr: str | None, endpoints: list[str], problem: str
) -> None:
    given: dict[str, Any] = {"vpcId": "vpc-0a1b", "privateSubnets": {A: "subnet-a", B: "subnet-b"}}
    given |= {"interfaceEndpoints": endpoints, **({"cidr": cidr} if cidr else {})}
    arguments: NetworkArgs = {"cluster_name": "a", "region": "us-east-1", "vpc_id": "vpc-0a1b"}
    arguments |= {"private_subnets": given["privateSubnets"], "interface_endpoints": endpoints}
    if cidr:
        arguments["cidr"] = cidr
    assert [(key, problem in reason) for key, reason in problems(arguments)] == ([("cidr", True)] if problem else [])
    values = {**settings_of("dev"), "network": given, "cluster": {"existing": True}}
    if problem:
        with pytest.raises(pulumi.RunError, match=f"network.cidr: {problem}"):
            parse(values, "Pulumi.dev.yaml")
    else:
        assert parse(values, "Pulumi.dev.yaml").network.cidr == cidr

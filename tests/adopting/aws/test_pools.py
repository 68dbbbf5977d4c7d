"""NodePools of Karpenter and of EKS Auto Mode become settings of instance types, or a finding with the reason."""

from typing import Any

import pytest

from tests.adopting.aws import one_cluster
from tests.adopting.aws.one_cluster import SOME_IDS
from workbench.adopting.aws.inventory import FoundCluster, FoundGroup, FoundReservation, Inventory, Subnet
from workbench.adopting.aws.settings import AwsSettings, aws_settings
from workbench.engine.project import check_new_settings
from workbench.inspecting.snapshot import ClusterSnapshot

Object = dict[str, Any]
TYPE, CAPACITY, ZONE = "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone"
ACCELERATED = {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g6e"]}
HELD = FoundReservation("cr-0a", "p5.48xlarge", "us-east-1a", 2)


def of(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": [*values]}


def pool(name: str, *requirements: Object, auto: bool = False, **spec: Any) -> Object:
    group, kind = ("eks.amazonaws.com", "NodeClass") if auto else ("karpenter.k8s.aws", "EC2NodeClass")
    template = {
        "metadata": {"labels": spec.pop("labels", {})},
        "spec": {
            "nodeClassRef": {"group": group, "kind": kind, "name": "default"},
            "requirements": [*requirements],
            "taints": spec.pop("taints", []),
        },
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def node_class(alias: str = "al2023@v20260714", **status: Any) -> Object:
    subnets = [
        {"id": SOME_IDS["private-a"], "zone": "us-east-1a"},
        {"id": SOME_IDS["private-b"], "zone": "us-east-1b"},
    ]
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": alias}]},
        "status": {"subnets": subnets, **status},
    }


AUTO_CLASS = {"apiVersion": "eks.amazonaws.com/v1", "kind": "NodeClass", "metadata": {"name": "default"}, "spec": {}}


def settings(
    *objects: Object, groups: tuple[FoundGroup, ...] = (), held: tuple[FoundReservation, ...] = ()
) -> AwsSettings:
    inventory = Inventory(
        source="cluster prod",
        cluster=FoundCluster(
            "prod", one_cluster.REGION, "1.35", "vpc-0a", addons=frozenset({"eks-pod-identity-agent"})
        ),
        subnets=tuple(Subnet(SOME_IDS[f"private-{zone}"], f"us-east-1{zone}", public=False) for zone in "ab"),
        groups=groups,
        reservations=held,
    )
    found = aws_settings(inventory, snapshot=ClusterSnapshot(tuple(objects)))
    check_new_settings(found.values, "prod")
    return found


def reasons(found: AwsSettings, subject: str) -> list[str]:
    return [finding.reason for finding in found.findings if finding.subject == subject]


def test_a_pool_becomes_settings_of_each_type() -> None:
    body = pool(
        "gpu",
        of(TYPE, "g5.2xlarge", "g5.12xlarge"),
        of(CAPACITY, "on-demand"),
        of(ZONE, "us-east-1a"),
        labels={"team": "chat", "karpenter.sh/x": "y"},
        taints=[
            {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},
            {"key": "team", "value": "chat", "effect": "NoSchedule"},
        ],
        limits={"nvidia.com/gpu": "8", "cpu": "1k"},
    )
    found = settings(body, node_class())
    entry = {
        "existingGroups": ["gpu"],
        "capacity": "on-demand",
        "zones": ["us-east-1a"],
        "labels": {"team": "chat"},
        "taints": [{"key": "team", "value": "chat", "effect": "NoSchedule"}],
    }
    assert found.values["gpuNodes"] == {
        "provisioner": "karpenter",
        "types": {"g5.12xlarge": {**entry, "maxNodes": 2}, "g5.2xlarge": {**entry, "maxNodes": 8}},
    }
    (left_out,) = reasons(found, "NodePool gpu")
    assert left_out.startswith("label karpenter.sh/x is left out")


def test_a_pool_of_bottlerocket_nodes() -> None:
    found = settings(pool("gpu", of(TYPE, "g5.2xlarge"), of(CAPACITY, "spot")), node_class("bottlerocket@latest"))
    assert found.values["gpuNodes"]["image"] == "bottlerocket"
    assert found.values["gpuNodes"]["types"] == {"g5.2xlarge": {"existingGroups": ["gpu"], "capacity": "spot"}}


def test_karpenter_prefers_spot() -> None:
    found = settings(pool("gpu", of(TYPE, "g5.2xlarge"), of(CAPACITY, "on-demand", "spot")), node_class())
    assert found.values["gpuNodes"]["types"]["g5.2xlarge"]["capacity"] == "spot"
    assert reasons(found, "NodePool gpu") == [
        "launches spot or on-demand nodes; Karpenter prefers spot, which the settings describe"
    ]


HOLDS: Object = {"capacityReservations": [{"id": "cr-0a", "instanceType": "p5.48xlarge"}, {"id": "cr-unknown"}]}


def test_reserved_nodes_name_the_reservation_of_the_node_class() -> None:
    body = pool("held", of(TYPE, "p5.48xlarge"), of(CAPACITY, "reserved"))
    found = settings(body, node_class(**HOLDS), held=(HELD,))
    assert found.values["gpuNodes"]["types"] == {
        "p5.48xlarge": {
            "existingGroups": ["held"],
            "capacity": "odcr",
            "reservation": {"id": "cr-0a", "zone": "us-east-1a", "count": 2},
            "zones": ["us-east-1a"],
        }
    }


def test_reservations_of_a_pool_that_launches_other_nodes_too_are_noted() -> None:
    body = pool("mixed", of(TYPE, "p5.48xlarge"), of(CAPACITY, "reserved", "on-demand"))
    found = settings(body, node_class(**HOLDS), held=(HELD,))
    assert found.values["gpuNodes"]["types"] == {
        "p5.48xlarge": {"existingGroups": ["mixed"], "capacity": "on-demand"}
    }
    assert reasons(found, "NodePool mixed") == ["uses the reservations cr-0a first; costs assume other nodes"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            pool(
                "p",
                ACCELERATED,
                {"key": "karpenter.k8s.aws/instance-ebs-bandwidth", "operator": "Gt", "values": ["9"]},
            ),
            "which instance types it launches is not known: karpenter.k8s.aws/instance-ebs-bandwidth: the table of",
        ),
        (pool("p", of(TYPE, "m7i.large")), "has no accelerators"),
        (pool("p", of("karpenter.k8s.aws/instance-family", "z99")), "no known instance type meets its requirements"),
        (pool("p", of(TYPE, "g5.12xlarge"), limits={"cpu": "8"}), "its limits allow no node with accelerators"),
        (
            pool("p", of(TYPE, "p5.48xlarge"), of(CAPACITY, "reserved")),
            "launches nodes in reservations only, and none",
        ),
    ],
)
def test_what_no_setting_expresses(body: Object, reason: str) -> None:
    found = settings(body, node_class())
    assert "gpuNodes" not in found.values
    assert reasons(found, "NodePool p")[0].startswith(reason)


def test_the_pools_of_auto_mode() -> None:
    """The built-in pools as EKS creates them (EKS user guide, "Enable or Disable Built-in NodePools")."""
    general = pool(
        "general-purpose",
        of(CAPACITY, "on-demand"),
        of("eks.amazonaws.com/instance-category", "c", "m", "r"),
        {"key": "eks.amazonaws.com/instance-generation", "operator": "Gt", "values": ["4"]},
        of("kubernetes.io/arch", "amd64"),
        of("kubernetes.io/os", "linux"),
        auto=True,
    )
    own = pool("gpu", of("eks.amazonaws.com/instance-gpu-name", "l40s"), of(CAPACITY, "on-demand"), auto=True)
    own["spec"]["template"]["spec"]["requirements"].append(of("eks.amazonaws.com/instance-size", "2xlarge"))
    found = settings(general, own, AUTO_CLASS)
    assert found.values["gpuNodes"] == {
        "provisioner": "karpenter",
        "image": "bottlerocket",
        "types": {"g6e.2xlarge": {"existingGroups": ["gpu"], "capacity": "on-demand"}},
    }
    assert reasons(found, "NodePool of EKS Auto Mode general-purpose") == ["has no accelerators"]


def test_managed_groups_and_pools_are_not_mixed() -> None:
    group = FoundGroup("a10g", instance_types=("g5.xlarge",), maximum=2)
    found = settings(pool("gpu", of(TYPE, "g5.2xlarge"), of(CAPACITY, "spot")), node_class(), groups=(group,))
    assert [*found.values["gpuNodes"]["types"]] == ["g5.xlarge"]
    assert "provisioner" not in found.values["gpuNodes"]
    (reason,) = reasons(found, "NodePool gpu")
    assert reason.startswith("a stack describes managed node groups or NodePools")


def test_a_pool_whose_node_class_was_not_read() -> None:
    found = settings(pool("gpu", of(TYPE, "g5.2xlarge"), of(CAPACITY, "spot")))
    assert found.values["gpuNodes"]["types"] == {"g5.2xlarge": {"existingGroups": ["gpu"], "capacity": "spot"}}
    assert "its node class was not read, so that its image and its subnets are unknown" in reasons(
        found, "NodePool gpu"
    )

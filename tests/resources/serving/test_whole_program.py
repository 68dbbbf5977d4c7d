"""A whole environment in a program of anybody's: public components alone, the outputs of one into the next."""

import datetime

import pulumi
import pulumi_aws
import pytest

from components import Cluster, GpuNodeGroups, Identities, ModelFleet, ModelFleetArgs, Network
from components.fleet.objects import key_of
from tests.recorded import Echo, Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.resources.serving.manifests import SMALL, fleet
from tests.stacks.shipped import Clock

REGION, ZONES, NAME = "us-east-1", ["us-east-1a", "us-east-1b"], "mine"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datetime, "datetime", Clock)


def environment() -> None:
    aws = pulumi.ResourceOptions(providers=[pulumi_aws.Provider("aws", region=REGION)])
    network = Network("network", {"cluster_name": NAME, "region": REGION, "zones": ZONES}, aws)
    subnets = network.private_subnet_ids
    cluster = Cluster(
        "cluster",
        {"cluster_name": NAME, "region": REGION, "version": "1.35", "subnet_ids": subnets, "bastion": True},
        aws,
    )
    nodes = GpuNodeGroups(
        "nodes",
        {
            "manifests": SMALL,
            "cluster_name": cluster.cluster_name,
            "cluster_plain_name": NAME,
            "region": REGION,
            "version": "1.35",
            "vpc_id": network.vpc_id,
            "subnets": {zone: network.private_subnet_ids[index] for index, zone in enumerate(ZONES)},
            "node_role_arn": cluster.node_role_arn,
            "cluster_security_group_id": cluster.security_group_id,
        },
        aws,
    )
    identities = Identities(
        "identities",
        {
            "cluster_name": cluster.cluster_name,
            "cluster_plain_name": NAME,
            "region": REGION,
            "controllers": ["cluster-autoscaler", "load-balancer-controller"],
        },
        aws,
    )
    options = pulumi.ResourceOptions(providers=[cluster.provider], depends_on=[nodes, identities])
    models = ModelFleet("models", fleet_args(network), options)
    pulumi.export("endpoints", models.endpoints)


def fleet_args(network: Network) -> ModelFleetArgs:
    return {
        "manifests": SMALL,
        "cluster": {
            "cloud": "aws",
            "name": NAME,
            "region": REGION,
            "version": "1.35",
            "vpc_id": network.vpc_id,
            "node_autoscaler": "cluster-autoscaler",
        },
        "prerequisites": {"install": True},
        "front_door": {"expose": "load-balancer", "internal": True},
    }


@pytest.mark.parametrize("preview", [False, True])
def test_it_is_made_of_components_that_know_nothing_of_each_other(preview: bool) -> None:
    recorded = deploy(environment, preview=preview, mock=Echo() if preview else Aws())
    kubernetes = [e for e in recorded.graph if e.type.startswith("kubernetes:")]
    assert {e.provider for e in kubernetes} == {"pulumi:providers:kubernetes::cluster"}
    groups = {e.name for e in recorded.of("aws:eks/nodeGroup:NodeGroup")}
    assert groups == {"cluster-system", "nodes-g5-2xlarge", "nodes-g6-2xlarge"}
    charts = {e.name for e in recorded.of("kubernetes:helm.sh/v3:Release")}
    assert charts == {
        *("models-cluster-autoscaler", "models-load-balancer-controller", "models-nvidia-device-plugin"),
    }


def test_models_go_before_nodes_and_rights() -> None:
    recorded: Recorded = deploy(environment, mock=Aws())
    before = set(recorded["inference-platform:index:ModelFleet::models"].dependencies)
    assert {
        "aws:eks/nodeGroup:NodeGroup::nodes-g5-2xlarge",
        "aws:iam/role:Role::identities-cluster-autoscaler",
    } <= before


def test_its_models_are_those_of_any_other_cluster() -> None:
    """Below the fleet nothing depends on who made the cluster."""
    workloads = [
        {key_of(e.inputs): e.inputs for e in recorded.of("kubernetes:apps/v1:Deployment")}
        for recorded in (
            deploy(environment, mock=Aws()),
            fleet(SMALL, front_door={"expose": "load-balancer", "internal": True}),
        )
    ]
    assert workloads[0] == workloads[1]
    assert len(workloads[0]) == 2

"""dev, staging and prod: what they register in AWS, in what order, and what they refuse."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.recorded import Echo, Entry, Recorded
from tests.stacks.reach.previews import preview
from tests.stacks.shipped import MOMENT, ON_AWS, ROOT, Clock, run
from workbench.engine.values import UNKNOWN

EXISTING: dict[str, Any] = {"cluster": {"version": "1.36", "existing": True}}
GROUP = "aws:eks/nodeGroup:NodeGroup"
WITHOUT_TAGS = {
    "aws:autoscaling/tag:Tag",
    "aws:cloudwatch/eventTarget:EventTarget",
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:kms/alias:Alias",
    "aws:sqs/queuePolicy:QueuePolicy",
}
"""Types that AWS gives no tags to."""


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def graphs() -> dict[str, Recorded]:
    before, real = Path.cwd(), datetime.datetime
    os.chdir(ROOT)
    datetime.datetime = Clock  # type: ignore[misc]
    try:
        return {stack: run(stack) for stack in ON_AWS}
    finally:
        datetime.datetime = real  # type: ignore[misc]
        os.chdir(before)


def aws(graph: Recorded) -> list[Entry]:
    return [entry for entry in graph.graph if entry.type.startswith("aws:")]


@pytest.mark.parametrize("stack", ON_AWS)
class TestEvery:
    def test_no_resource_lacks_a_parent(self, stack: str, graphs: dict[str, Recorded]) -> None:
        for entry in aws(graphs[stack]):
            assert entry.parent.startswith("inference-platform:index:"), entry.key

    def test_every_resource_carries_the_tags_of_the_stack(self, stack: str, graphs: dict[str, Recorded]) -> None:
        wanted = {"project": "inference-platform", "environment": stack}.items()
        for entry in aws(graphs[stack]):
            if entry.type in WITHOUT_TAGS:
                assert "tags" not in entry.inputs, entry.key
            else:
                assert wanted <= entry.inputs["tags"].items(), entry.key

    def test_providers_are_explicit(self, stack: str, graphs: dict[str, Recorded]) -> None:
        for entry in graphs[stack].graph:
            if entry.type.startswith("aws:"):
                assert entry.provider == "pulumi:providers:aws::aws", entry.key
            if entry.type.startswith("kubernetes:"):
                assert entry.provider == "pulumi:providers:kubernetes::cluster", entry.key

    def test_outputs(self, stack: str, graphs: dict[str, Recorded]) -> None:
        exports = graphs[stack].exports
        assert set(exports) - {"nodeGroupBounds", "nodeGroupPriorities"} == {
            *(
                "endpoints",
                "models",
                "nodes",
                "cost",
                "cluster",
                "clusterEndpoint",
                "kubeconfig",
                "prerequisites",
                "vcpus",
            ),
            *(["tunnel"] if stack == "prod" else []),
            # Both have a gateway with a name, and no hosted zone for its record.
            *(["dns", "toProvide"] if stack != "dev" else []),
        }
        assert exports["cluster"] == {"name": f"inference-{stack}", "region": "us-east-1", "version": "1.35"}
        assert exports["endpoints"]
        assert all(code.startswith("L-") for code in exports["vcpus"])
        assert all(set(entry) == {"quota", "vcpus"} for entry in exports["vcpus"].values())
        if (
            stack == "dev"
        ):  # spot groups of 8 vCPUs each, three with GPUs and one without; two m7i.large for the system
            assert {code: entry["vcpus"] for code, entry in exports["vcpus"].items()} == {
                "L-1216C47A": 4,
                "L-34B43A08": 8,
                "L-3819A6DF": 24,
            }
            assert exports["vcpus"]["L-3819A6DF"]["quota"] == "All G and VT Spot Instance Requests"
        for group in exports["nodes"].values():
            assert group["minNodes"] <= group["nodes"] <= group["maxNodes"]

    def test_models_come_after_the_nodes_and_go_before_them(self, stack: str, graphs: dict[str, Recorded]) -> None:
        graph = graphs[stack]
        kinds = (GROUP, "kubernetes:karpenter.sh/v1:NodePool")
        nodes = {e.key for kind in kinds for e in graph.of(kind) if e.name.startswith("nodes-")}
        assert len(nodes) == len(graph.exports["nodes"])
        for entry in graph.of("inference-platform:index:Playground"):
            assert nodes <= set(entry.dependencies)

    def test_a_preview_needs_neither_credentials_nor_network(self, stack: str) -> None:
        graph = run(stack, Echo(), preview=True)
        assert graph.exports["kubeconfig"] is UNKNOWN
        assert len(graph.graph) > 80

    def test_what_is_in_the_cluster_is_in_no_other(self, stack: str, graphs: dict[str, Recorded]) -> None:
        provider = graphs[stack]["pulumi:providers:kubernetes::cluster"]
        assert provider.inputs["clusterIdentifier"] == f"us-east-1/inference-{stack}"


class TestDev:
    def test_nodes_are_spot_in_one_zone_and_may_all_go(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["dev"]
        (subnet,) = {tuple(entry.inputs["subnetIds"]) for entry in graph.of(GROUP) if entry.name.startswith("nodes-")}
        assert len(subnet) == 1
        for entry in graph.of(GROUP):
            if entry.name.startswith("nodes-"):
                assert entry.inputs["capacityType"] == "SPOT"
                assert entry.inputs["scalingConfig"]["minSize"] == 0
                assert len(entry.inputs["instanceTypes"]) == 3

    def test_one_nat_gateway(self, graphs: dict[str, Recorded]) -> None:
        assert len(graphs["dev"].of("aws:ec2/natGateway:NatGateway")) == 1

    def test_nothing_is_protected(self, graphs: dict[str, Recorded]) -> None:
        assert not [entry.key for entry in graphs["dev"].graph if entry.registration.protect]


@pytest.mark.parametrize(
    ("prerequisites", "charts", "roles"),
    [
        ({"install": True}, {"cluster-autoscaler", "nvidia-device-plugin"}, {"cluster-autoscaler"}),
        ({"install": True, "present": ["cluster-autoscaler"]}, {"nvidia-device-plugin"}, set()),
        ({"install": False}, set(), set()),
    ],
    ids=["installed", "present", "not installed"],
)
def test_controllers_have_roles_if_the_stack_installs_them(
    prerequisites: dict[str, Any], charts: set[str], roles: set[str]
) -> None:
    model = ["stacks/models/qwen-chat.yaml"]
    graph = run("dev", models=model, gpuNodes={}, frontDoor={}, hardening={}, prerequisites=prerequisites)
    assert {entry.name.removeprefix("fleet-") for entry in graph.of("kubernetes:helm.sh/v3:Release")} == charts
    for kind in ("aws:iam/role:Role", "aws:eks/podIdentityAssociation:PodIdentityAssociation"):
        names = (entry.name for entry in graph.of(kind) if entry.name.startswith("identities-"))
        assert {name.removeprefix("identities-") for name in names} == roles


class TestStaging:
    def test_karpenter_makes_the_nodes(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["staging"]
        assert [entry.name for entry in graph.of(GROUP)] == ["cluster-system"]
        pools = {e.inputs["metadata"]["name"] for e in graph.of("kubernetes:karpenter.sh/v1:NodePool")}
        assert pools == set(graph.exports["nodes"])

    @pytest.mark.parametrize(
        ("changes", "pools", "created"),
        [
            (EXISTING, {}, False),
            (EXISTING, {"generalPool": {}}, True),
            ({}, {}, True),  # a new cluster, in which the stack installs Karpenter
        ],
    )
    def test_karpenter_has_access_only_if_the_stack_adds_nodes(
        self, changes: dict[str, Any], pools: dict[str, Any], created: bool, tmp_path: Path
    ) -> None:
        spec = {"familyName": "opt", "source": {"modelHub": {"modelID": "facebook/opt-125m"}}}
        body = {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "opt"}, "spec": spec}
        path = tmp_path / "model.yaml"
        path.write_text(json.dumps(body))
        graph = run("dev", models=[str(path)], gpuNodes={"provisioner": "karpenter", **pools}, **changes)
        assert bool(graph.of("inference-platform:index:KarpenterAccess")) is created
        assert bool(graph.of("kubernetes:karpenter.sh/v1:NodePool")) is bool(pools)

    def test_karpenter_has_an_identity_for_its_nodes_and_its_queue(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["staging"]
        associations = {
            entry.inputs["serviceAccount"]: entry.inputs["namespace"]
            for entry in graph.of("aws:eks/podIdentityAssociation:PodIdentityAssociation")
        }
        assert associations == {"karpenter": "kube-system", "aws-load-balancer-controller": "kube-system"}
        policy = graph["aws:iam/rolePolicy:RolePolicy::identities-karpenter"].inputs["policy"]
        assert "karpenter-node" in policy
        assert "karpenter-interruptions" in policy


class TestProd:
    def test_three_zones_with_a_nat_gateway_each(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["prod"]
        zones = {entry.inputs["availabilityZone"] for entry in graph.of("aws:ec2/subnet:Subnet")}
        assert zones == {"us-east-1a", "us-east-1b", "us-east-1c"}
        assert len(graph.of("aws:ec2/natGateway:NatGateway")) == 3

    def test_what_holds_state_is_protected(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["prod"]
        held = {entry.key for entry in graph.graph if entry.registration.protect}
        assert held == {
            "aws:ec2/vpc:Vpc::network",
            *(f"aws:ec2/subnet:Subnet::network-private-us-east-1{letter}" for letter in "abc"),
            "aws:eks/cluster:Cluster::cluster",
            "aws:kms/key:Key::cluster-secrets",
        }
        assert graph["aws:eks/cluster:Cluster::cluster"].inputs["deletionProtection"] is True

    def test_the_largest_model_is_on_reserved_nodes_with_efa(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["prod"]
        group = graph[f"{GROUP}::nodes-p5-48xlarge-odcr"].inputs
        assert group["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 450}
        told = {each["name"]: (each["minSize"], each["maxSize"]) for each in graph.exports["nodeGroupBounds"]}
        assert told["asg-nodes-p5-48xlarge-odcr"] == (1, 2)  # as many as are reserved
        assert group["updateConfig"]["updateStrategy"] == "MINIMAL"
        template = graph["aws:ec2/launchTemplate:LaunchTemplate::nodes-p5-48xlarge-odcr"].inputs
        assert len(template["networkInterfaces"]) == 33
        assert "capacityReservationSpecification" in template

    def test_the_pods_on_nodes_with_efa_request_all_of_it(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["prod"]
        groups = graph.of("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
        (group,) = (g for g in groups if g.inputs["metadata"]["name"] == "llama-405b")
        parts = group.inputs["spec"]["leaderWorkerTemplate"]
        for part in ("leaderTemplate", "workerTemplate"):
            (container,) = parts[part]["spec"]["containers"]
            assert container["resources"]["limits"]["vpc.amazonaws.com/efa"] == "32"
            assert {"name": "FI_PROVIDER", "value": "efa"} in container["env"]
        # Pods of prefill and decode ask for it by themselves.
        pairs = {"llama-pd-a100-0": "4", "qwen3-pd-0-prefill": "1", "qwen3-pd-0-decode": "1"}
        asking = [
            (g, n) for g in groups for name, n in pairs.items() if g.inputs["metadata"]["name"].startswith(name)
        ]
        for each, interfaces in asking:
            (container,) = each.inputs["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
            assert container["resources"]["limits"]["vpc.amazonaws.com/efa"] == interfaces
        assert len(asking) == 5
        # A gang finds room only where its pods' interfaces are.
        gangs = graph.of("kubernetes:scheduling.volcano.sh/v1beta1:PodGroup")
        assert [gang.inputs["spec"]["minResources"]["vpc.amazonaws.com/efa"] for gang in gangs] == ["3"]
        with_efa = {entry.key for entry in (group, *gangs, *(each for each, _ in asking))}
        others = [e for e in graph.graph if e.type.startswith("kubernetes:") and e.key not in with_efa]
        assert not any("vpc.amazonaws.com/efa" in str(entry.inputs) for entry in others)

    def test_pods_read_their_bucket_and_have_no_token(self, graphs: dict[str, Recorded]) -> None:
        graph = graphs["prod"]
        (account,) = graph.of("kubernetes:core/v1:ServiceAccount")
        assert account.inputs["metadata"] == {"name": "model-loader", "namespace": "models"}
        assert account.inputs["automountServiceAccountToken"] is False
        found = graph[
            "aws:eks/podIdentityAssociation:PodIdentityAssociation::identities-model-loader-models.model-loader"
        ]
        assert (found.inputs["namespace"], found.inputs["serviceAccount"]) == ("models", "model-loader")
        for deployment in graph.of("kubernetes:apps/v1:Deployment"):
            assert deployment.inputs["spec"]["template"]["spec"]["serviceAccountName"] == "model-loader"


@pytest.mark.parametrize("stack", ON_AWS)
def test_the_command_line_plans_it_in_a_clean_environment(stack: str, tmp_path: Path) -> None:
    done = preview(stack, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "aws:eks/cluster:Cluster" in done.stdout
    assert f"inference-{stack}" in done.stdout


def test_a_cluster_that_exists_is_taken_as_given_in_a_preview(tmp_path: Path) -> None:
    done = preview("dev", tmp_path, cluster={"existing": True})
    assert done.returncode == 0, done.stderr
    assert "already exists (inference-dev)" in done.stdout
    assert "eks/addon" not in done.stdout


@pytest.mark.parametrize(
    ("key", "value", "warned"),
    [
        ("adminRoleArns", ["arn:aws:iam::123456789012:role/admin"], True),
        ("addons", {"aws-ebs-csi-driver": ""}, True),
        ("systemNodes", 3, True),
        ("nodeRoleArn", "arn:aws:iam::123456789012:role/nodes", False),
        ("version", "1.34", False),
    ],
)
def test_what_a_cluster_that_exists_is_not_told_is_a_warning(
    key: str, value: object, warned: bool, tmp_path: Path
) -> None:
    done = preview("dev", tmp_path, cluster={"existing": True, key: value})
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert (f"inference-platform:cluster.{key} " in shown) is warned


def test_the_moment_is_fixed() -> None:
    assert datetime.datetime.now(datetime.UTC) == MOMENT

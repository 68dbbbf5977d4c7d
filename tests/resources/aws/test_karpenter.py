"""KarpenterAccess and KarpenterPools: what Karpenter needs in AWS, and what it is told to make."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes
import pytest
import yaml

from components.clouds.aws.nodes.pool_rules import GeneralPool, PoolRules
from components.fleet.nodes.policy import Capacity, TypePolicy
from components.resources.aws.charts import Karpenter
from components.resources.aws.karpenter_access import KarpenterAccess
from components.resources.aws.karpenter_pools import KarpenterPools
from components.resources.serving.arguments import InvalidArguments
from tests.clouds.aws.environments import HELD, environment, flavor, one, planned
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.stacks.conftest import here as here
from tests.stacks.shipped import ROOT, run

POOL = "kubernetes:karpenter.sh/v1:NodePool"
CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"


def access() -> Recorded:
    def program() -> None:
        made = KarpenterAccess(
            "karpenter",
            {"cluster_name": "main", "cluster_plain_name": "main", "region": "us-east-1", "tags": {"team": "a"}},
        )
        pulumi.export("queue", [made.queue_name, made.queue_arn])
        pulumi.export("role", [made.node_role_name, made.node_role_arn])

    return deploy(program, mock=Aws())


def pools(*flavors: Any, **changes: Any) -> Recorded:
    where = environment(provisioner="karpenter", **changes)
    groups = planned(one(*flavors, where=where), where)

    def program() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="{}")
        KarpenterPools.of(
            "nodes",
            groups,
            where,
            {
                "region": "us-east-1",
                "vpc_id": "vpc-1",
                "subnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
                "cluster_security_group_id": "sg-cluster",
                "node_role_name": "nodes-role",
                "tags": {"team": "a"},
            },
            pulumi.ResourceOptions(providers=[provider]),
        )

    return deploy(program, mock=Aws())


class TestAccess:
    def test_nodes_may_join(self) -> None:
        graph = access()
        entry = graph["aws:eks/accessEntry:AccessEntry::karpenter-node"].inputs
        assert (entry["type"], entry["clusterName"]) == ("EC2_LINUX", "main")
        assert entry["principalArn"].endswith(":karpenter-node")

    def test_only_events_of_aws_get_into_the_queue_and_over_tls_alone(self) -> None:
        graph = access()
        policy = json.loads(graph["aws:sqs/queuePolicy:QueuePolicy::karpenter-interruptions"].inputs["policy"])
        allowed, denied = policy["Statement"]
        assert (allowed["Effect"], allowed["Action"]) == ("Allow", "sqs:SendMessage")
        assert allowed["Principal"] == {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]}
        assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        assert {allowed["Resource"], denied["Resource"]} == {graph.exports["queue"][1]}
        assert graph["aws:sqs/queue:Queue::karpenter-interruptions"].inputs["sqsManagedSseEnabled"] is True

    def test_every_kind_of_notice_has_a_rule_and_a_target(self) -> None:
        graph = access()
        rules = graph.of("aws:cloudwatch/eventRule:EventRule")
        kinds = {json.loads(rule.inputs["eventPattern"])["detail-type"][0] for rule in rules}
        assert {"EC2 Spot Instance Interruption Warning", "AWS Health Event"} <= kinds
        targets = graph.of("aws:cloudwatch/eventTarget:EventTarget")
        assert {target.inputs["rule"] for target in targets} == {rule.name for rule in rules}
        assert {target.inputs["arn"] for target in targets} == {graph.exports["queue"][1]}

    def test_parents_and_tags(self) -> None:
        graph = access()
        component = "inference-platform:index:KarpenterAccess::karpenter"
        assert {entry.parent for entry in graph.graph if entry.key != component} == {component}
        untagged = {"QueuePolicy", "EventTarget", "RolePolicyAttachment", "KarpenterAccess"}
        for entry in graph.graph:
            if entry.type.rpartition(":")[2] not in untagged:
                assert entry.inputs["tags"]["team"] == "a", entry.key

    def test_outputs(self) -> None:
        exports = access().exports
        assert exports["queue"][0] == "main-karpenter"
        assert exports["role"][0] == "karpenter-node"


class TestPools:
    def test_one_pool_and_one_class_per_need(self) -> None:
        graph = pools(flavor("g6.xlarge", name="a"), flavor("g5.xlarge", name="b"))
        assert {entry.inputs["metadata"]["name"] for entry in graph.of(POOL)} == {"g6-xlarge", "g5-xlarge"}
        assert {entry.inputs["metadata"]["name"] for entry in graph.of(CLASS)} == {"g6-xlarge", "g5-xlarge"}

    def test_a_pool_comes_after_its_class_and_goes_before_it(self) -> None:
        graph = pools(flavor("g5.xlarge"))
        assert f"{CLASS}::nodes-g5-xlarge-class" in graph[f"{POOL}::nodes-g5-xlarge"].dependencies

    def test_where_nodes_are_and_as_whom(self) -> None:
        spec = pools(flavor("g5.xlarge"))[f"{CLASS}::nodes-g5-xlarge-class"].inputs["spec"]
        assert spec["subnetSelectorTerms"] == [{"id": "subnet-a"}, {"id": "subnet-b"}]
        assert spec["securityGroupSelectorTerms"] == [{"id": "sg-cluster"}]
        assert (spec["role"], spec["tags"]) == ("nodes-role", {"team": "a"})

    @pytest.mark.parametrize("efa", [True, False])
    def test_only_nodes_with_efa_are_in_its_security_group(self, efa: bool) -> None:
        rule = TypePolicy(capacity=Capacity.ODCR, reservation=HELD, efa=efa)
        graph = pools(flavor("p5.48xlarge", {"nvidia.com/gpu": 8}), types={"p5.48xlarge": rule})
        (class_,) = graph.of(CLASS)
        groups = [{"id": "sg-cluster"}, *([{"id": "nodes-efa-id"}] if efa else [])]
        assert class_.inputs["spec"]["securityGroupSelectorTerms"] == groups
        assert class_.inputs["spec"]["subnetSelectorTerms"] == [{"id": "subnet-b"}]

    def test_parents_and_provider(self) -> None:
        graph = pools(flavor("g5.xlarge"))
        for entry in [*graph.of(POOL), *graph.of(CLASS)]:
            assert entry.parent == "inference-platform:index:KarpenterPools::nodes"
            assert entry.provider == "pulumi:providers:kubernetes::cluster"

    def test_destroy_waits_for_nodes_to_go(self) -> None:
        (pool,) = pools(flavor("g5.xlarge")).of(POOL)
        assert pool.registration.timeouts["delete"] == "30m"

    def test_nodes_that_are_always_there(self) -> None:
        graph = pools(flavor("g5.xlarge"), types={"g5.xlarge": TypePolicy(min_nodes=1, max_nodes=2)})
        fixed = graph[f"{POOL}::nodes-g5-xlarge-static"]
        assert fixed.inputs["spec"]["replicas"] == 1
        assert f"{CLASS}::nodes-g5-xlarge-class" in fixed.dependencies
        assert len(pools(flavor("g5.xlarge")).of(POOL)) == 1

    def test_a_pool_for_pods_without_a_type(self) -> None:
        graph = pools(flavor("g5.xlarge"), pools=PoolRules(general=GeneralPool()))
        assert f"{CLASS}::nodes-general-class" in graph[f"{POOL}::nodes-general"].dependencies
        spec = graph[f"{CLASS}::nodes-general-class"].inputs["spec"]
        assert spec["subnetSelectorTerms"] == [{"id": "subnet-a"}, {"id": "subnet-b"}]

    def test_nodes_close_together(self) -> None:
        types = {"g5.xlarge": TypePolicy(zones=("us-east-1a",), placement_group=True)}
        graph = pools(flavor("g5.xlarge"), types=types)
        (group,) = graph.of("aws:ec2/placementGroup:PlacementGroup")
        assert group.inputs["strategy"] == "cluster"
        (class_,) = graph.of(CLASS)
        assert class_.inputs["spec"]["placementGroupSelector"] == {"name": "nodes-g5-xlarge"}
        assert group.key in class_.dependencies


class TestFeatures:
    """What is off unless Karpenter is installed with it."""

    STAGING: ClassVar[dict[str, Any]] = {"models": ["stacks/models/qwen-chat.yaml"], "frontDoor": {}}

    def gates(self, **nodes: Any) -> Any:
        graph = run("staging", **self.STAGING, gpuNodes={"provisioner": "karpenter", **nodes})
        return (
            graph["kubernetes:helm.sh/v3:Release::fleet-karpenter"].inputs["values"]["settings"].get("featureGates")
        )

    @pytest.mark.parametrize(
        ("nodes", "gates"),
        [
            ({}, None),
            ({"nodeRepair": True}, {"nodeRepair": True}),
            ({"scaleToZero": False}, {"staticCapacity": True}),
            (
                {"disruption": {"consolidationPolicy": "Balanced", "spotToSpot": True}},
                {"spotToSpotConsolidation": True},
            ),
            (
                {"generalPool": {"capacity": ["spot"]}, "disruption": {"spotToSpot": True}},
                {"spotToSpotConsolidation": True},
            ),
        ],
    )
    def test_are_on_where_settings_need_them(self, nodes: dict[str, Any], gates: Any, here: None) -> None:
        assert self.gates(**nodes) == gates

    def test_are_named_where_others_install_it(self, here: None, caplog: pytest.LogCaptureFixture) -> None:
        run(
            "staging",
            **self.STAGING,
            gpuNodes={"provisioner": "karpenter", "nodeRepair": True},
            prerequisites={"install": True, "present": ["karpenter"]},
        )
        assert (
            "gpuNodes.nodeRepair: has no effect unless Karpenter is installed with settings.featureGates"
            in caplog.text
        )

    @pytest.mark.parametrize("nodes", [{}, {"generalPool": {"capacity": ["on-demand"]}}])
    def test_to_swap_spot_nodes_there_must_be_some(self, nodes: dict[str, Any], here: None) -> None:
        with pytest.raises(pulumi.RunError, match=r"disruption\.spotToSpot: has no effect with consolidationPolicy"):
            self.gates(disruption={"spotToSpot": True}, **nodes)

    def test_are_those_that_the_chart_knows(self) -> None:
        with pytest.raises(InvalidArguments, match="unknown feature 'nodeRepairs'; known features: nodeRepair"):
            Karpenter("x", {"cluster_name": "c", "interruption_queue": "q", "features": ["nodeRepairs"]})


def test_pods_without_a_type_fit_the_general_pool(tmp_path: Path, here: None) -> None:
    """A pod with 6 CPUs, where the system nodes are m7i.large with 2."""
    documents = list(yaml.safe_load_all((ROOT / "stacks/models/llmkube-tinyllama-cpu.yaml").read_text()))
    service = documents[1]["spec"]
    del service["nodeSelector"]
    service["resources"]["cpu"] = "6"
    model = tmp_path / "cpu.yaml"
    model.write_text(yaml.safe_dump_all(documents))

    def nodes(**general: Any) -> dict[str, Any]:
        return {"models": [str(model)], "frontDoor": {}, "gpuNodes": {"provisioner": "karpenter", **general}}

    with pytest.raises(pulumi.RunError, match="the node group of the system"):
        run("staging", **nodes())
    with pytest.raises(pulumi.RunError, match="the general pool has only"):
        run("staging", **nodes(generalPool={"maxVcpus": 4}))
    graph = run("staging", **nodes(generalPool={}))
    workload = graph["kubernetes:apps/v1:Deployment::fleet-models/tinyllama-cpu"]
    assert f"{POOL}::nodes-general" in graph[workload.parent].dependencies

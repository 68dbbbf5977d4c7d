"""How many nodes there are, and who is told: EKS once, the autoscaler always."""

import re
from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.recorded import Echo, Recorded
from tests.stacks.shipped import as_shipped, run
from workbench.engine.values import UNKNOWN

pytestmark = pytest.mark.usefixtures("here")

GROUP = "aws:eks/nodeGroup:NodeGroup"
RELEASE = "kubernetes:helm.sh/v3:Release::fleet-cluster-autoscaler"
BOUNDED = {"capacity": "spot", "types": {"g5.2xlarge": {"minNodes": 1, "maxNodes": 3, "spotTypes": ["g5.4xlarge"]}}}
ALL = {"minSize": 0, "desiredSize": 0, "maxSize": 450}


def autoscaler(graph: Recorded) -> Any:
    return graph[RELEASE].inputs["values"]


class TestBounds:
    def test_the_autoscaler_has_the_bounds_of_every_group(self) -> None:
        """One of each type is what dev's models need, where settings ask for nothing else."""
        graph = run("dev", gpuNodes=BOUNDED)
        told = {each["name"]: (each["minSize"], each["maxSize"]) for each in autoscaler(graph)["autoscalingGroups"]}
        assert told == {
            "asg-nodes-g4dn-2xlarge-spot": (0, 1),
            "asg-nodes-g5-2xlarge-spot": (1, 3),
            "asg-nodes-g6-2xlarge-spot": (0, 1),
            "asg-nodes-m7i-2xlarge-spot": (0, 1),
        }
        assert graph.exports["nodeGroupBounds"] == autoscaler(graph)["autoscalingGroups"]
        sizes = {entry.name: entry.inputs["scalingConfig"] for entry in graph.of(GROUP)}
        assert sizes["nodes-g5-2xlarge-spot"] == ALL
        assert sizes["nodes-g6-2xlarge-spot"] == ALL

    def test_no_group_is_found_by_its_tags(self) -> None:
        """It would have the bounds that EKS has, 450 nodes. An autoscaler of one's own may find them all the same."""
        graph = as_shipped("dev")
        assert "autoDiscovery" not in autoscaler(graph)
        handed_over = [
            entry
            for entry in graph.of("aws:autoscaling/tag:Tag")
            if entry.inputs["tag"]["key"] == "inference-platform/autoscaled"
        ]
        assert len(handed_over) == len(graph.exports["nodes"])

    @pytest.mark.parametrize(("timeout", "seconds"), [("10m", 3600), ("2h", 7200 + 180 + 300)])
    def test_nodes_end_after_the_longest_request(self, timeout: str, seconds: int) -> None:
        """A proxy drains for three minutes and the longest request, and is killed 300 s later (Envoy Gateway)."""
        door = {"expose": "gateway", "internal": True, "requestTimeout": timeout}
        assert autoscaler(run("dev", frontDoor=door))["extraArgs"]["max-graceful-termination-sec"] == seconds
        pools = {"provisioner": "karpenter", "generalPool": {}}
        (pool,) = [
            entry
            for entry in run("dev", frontDoor=door, gpuNodes=pools).graph
            if entry.inputs.get("kind") == "NodePool" and entry.inputs["metadata"]["name"] == "general"
        ]
        minutes = 30 if timeout == "10m" else seconds // 60
        assert pool.inputs["spec"]["template"]["spec"]["terminationGracePeriod"] == f"{minutes}m"

    def test_in_a_preview_only_the_name_is_unknown(self) -> None:
        values = autoscaler(run("dev", Echo(), preview=True, gpuNodes=BOUNDED))
        assert {"name": UNKNOWN, "minSize": 1, "maxSize": 3} in values["autoscalingGroups"]
        assert values["extraArgs"]["expander"] == "priority,least-waste"

    @pytest.mark.parametrize("stack", ["dev", "prod"])
    def test_a_first_update_asks_for_no_node(self, stack: str) -> None:
        """Also where one of each stays: without spare p4d.24xlarge its group would end in CREATE_FAILED."""
        for entry in run(stack).of(GROUP):
            if entry.name != "cluster-system":
                assert entry.inputs["scalingConfig"] == ALL


class TestNobodyKeepsThem:
    @pytest.mark.parametrize(
        "prerequisites", [{"install": False}, {"install": True, "present": ["cluster-autoscaler"]}], ids=str
    )
    def test_that_is_told_with_the_output_to_pass_on(
        self, prerequisites: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[str] = []
        monkeypatch.setattr(pulumi.log, "warn", lambda message, _: said.append(message))
        graph = run("dev", gpuNodes=BOUNDED, prerequisites=prerequisites)
        (text,) = [text for text in said if "nodeGroupBounds" in text]
        assert "g5-2xlarge-spot, g6-2xlarge-spot, m7i-2xlarge-spot are kept by the Cluster Autoscaler" in text
        assert "up to 450 nodes" in text
        assert graph.exports["nodeGroupBounds"]
        assert graph.exports["nodeGroupPriorities"]

    @pytest.mark.parametrize("stack", ["dev", "prod"])
    def test_where_somebody_does_nothing_is_said(self, stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
        said: list[str] = []
        monkeypatch.setattr(pulumi.log, "warn", lambda message, _: said.append(message))
        run(stack)
        assert not [text for text in said if "nodeGroupBounds" in text]


class TestSystemNodes:
    def test_they_scale_between_two_numbers(self) -> None:
        graph = run("dev", cluster={"systemNodes": 3, "systemNodesMax": 9})
        assert {"name": "asg-cluster-system", "minSize": 3, "maxSize": 9} in autoscaler(graph)["autoscalingGroups"]
        assert graph[f"{GROUP}::cluster-system"].inputs["scalingConfig"] == {**ALL, "desiredSize": 3}

    def test_their_quota_counts_the_most(self) -> None:
        """m7i.large has two vCPUs."""
        fixed, scaled = run("dev", cluster={"systemNodes": 3}), run("dev", cluster={"systemNodesMax": 9})
        counted = [graph.exports["vcpus"]["L-1216C47A"]["vcpus"] for graph in (fixed, scaled)]
        assert counted[1] - counted[0] == (9 - 3) * 2

    def test_models_without_an_instance_type_run_on_them(self, tmp_path: Path) -> None:
        """They are Pending until the autoscaler adds a node, and no error."""
        models = tmp_path / "models.yaml"
        models.write_text(ON_CPU)
        graph = run(
            "dev", models=[str(models)], cluster={"systemInstanceTypes": ["m7i.2xlarge"], "systemNodesMax": 9}
        )
        assert graph.exports["nodes"] == {}
        assert [entry.name for entry in graph.of(GROUP)] == ["cluster-system"]
        assert graph["kubernetes:apps/v1:Deployment::fleet-models/p"].inputs["spec"]["replicas"] == 4

    @pytest.mark.parametrize(
        ("stack", "cluster", "expected"),
        [
            (
                "dev",
                {"systemNodes": 3, "systemNodesMax": 2},
                "must be from systemNodes (3) to 450, found 2",
            ),
            ("dev", {"systemNodesMax": 451}, "systemNodesMax: must be at most 450, found 451"),
            ("staging", {"systemNodesMax": 5}, "systemNodesMax: is for the Cluster Autoscaler, but Karpenter makes"),
        ],
    )
    def test_what_cannot_be(self, stack: str, cluster: dict[str, Any], expected: str) -> None:
        with pytest.raises(pulumi.RunError, match=re.escape(expected)):
            run(stack, cluster=cluster)


ON_CPU = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec:
  familyName: opt
  source: {modelHub: {modelID: facebook/opt-125m}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: p}
spec: {replicas: 4, modelClaim: {modelName: m}, backendRuntimeConfig: {backendName: llamacpp}}
"""

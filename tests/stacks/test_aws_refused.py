"""What the environments on AWS refuse."""

from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.stacks.shipped import run

pytestmark = pytest.mark.usefixtures("here")


def refused(stack: str, **changes: Any) -> list[str]:
    with pytest.raises(pulumi.RunError) as caught:
        run(stack, **changes)
    return str(caught.value).splitlines()


class TestRefusals:
    """Everything at once, before anything is registered."""

    def test_of_settings_and_manifests_together(self, tmp_path: Path) -> None:
        models = tmp_path / "models.yaml"
        models.write_text(MODELS)
        p5 = {
            "capacity": "capacity-block",
            "reservation": {
                "id": "cr-0a1b",
                "zone": "us-east-1b",
                "count": 1,
                "starts": "2026-11-01T00:00:00Z",
                "ends": "2026-11-08T00:00:00Z",
            },
            "zones": ["us-east-1a", "us-east-1b"],
        }
        nodes = {"types": {"p5.48xlarge": p5, "g5.xlarge": {"efa": True, "spotTypes": ["g5g.xlarge"]}}}
        lines = refused("dev", models=[str(models)], gpuNodes=nodes, cluster={"version": "1.30"})
        assert lines[0] == f"{len(lines) - 1} problems found; nothing was created"
        text = "\n".join(lines)
        for expected in (
            "INSTANCE-TYPE 'p5.48xlarg' is not a known instance type; did you mean p5.48xlarge",
            "p5e.48xlarge is not offered in us-east-1",
            "requests 9 nvidia.com/gpu, but p5.48xlarge has only 8",
            "g5.xlarge has no EFA",
            "mixed architectures in one group",
            "gpuNodes.types.p5.48xlarge.reservation: expired at 2026-11-08 00:00 UTC",
            "is in us-east-1b, but zones is us-east-1a, us-east-1b; make them match",
            "Pulumi.test.yaml: inference-platform:cluster.version: EKS 1.30 has been out of support since 2026-07-23",
        ):
            assert expected in text, expected

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"network": {"zones": ["us-east-1a"]}}, "inference-platform:network: set at least two zones"),
            ({"network": {"zone": []}}, "network.zone: unknown key; did you mean 'zones'?"),
            ({"region": "virginia"}, "region: must be a region such as us-east-1, found 'virginia'"),
            ({"gpuNodes": {"types": {"g5.xlarge": {"spotType": []}}}}, "did you mean 'spotTypes'?"),
            ({"gpuNodes": {"provisioner": "cluster-autoscaler"}}, "'managed' or 'karpenter'"),
            ({"gpuNodes": {"types": {"p5.48xlarge": {"reservation": {"id": "x"}}}}}, "reservation.id"),
            ({"cluster": {"versions": "1.35"}}, "cluster.versions: unknown key; did you mean 'version'?"),
            ({"cloud": "gcp"}, "'none' or 'aws'"),
        ],
    )  # fmt: skip
    def test_of_settings(self, changes: dict[str, Any], expected: str) -> None:
        assert any(expected in line for line in refused("dev", **changes))

    def test_of_the_cluster_by_the_keys_of_its_section(self) -> None:
        role = "arn:aws:iam::123456789012:role/a"
        cluster = {"adminRoleArns": [role], "namespaceAccess": {"models": {"editorRoleArns": [role]}}}
        _, line = refused("dev", cluster={"publicAccessCidrs": ["203.0.113.0/24"], **cluster})
        assert line == (
            "Pulumi.test.yaml: inference-platform:cluster.namespaceAccess[models].editorRoleArns: "
            f"{role} may do this already, as one of adminRoleArns; remove it here"
        )

    def test_a_moment_needs_a_time_zone(self) -> None:
        held = {"id": "cr-0a1b", "zone": "us-east-1b", "count": 1, "starts": "2026-11-01T00:00:00"}
        nodes = {"types": {"p5.48xlarge": {"reservation": held}}}
        assert any(
            "must have a time zone, such as 2027-01-01T12:00:00Z" in line for line in refused("dev", gpuNodes=nodes)
        )

    def test_nobody_waits_for_a_node_that_cannot_come(self) -> None:
        """Two models of one GPU each need two nodes of one."""
        models = ["stacks/models/qwen-chat.yaml", "stacks/models/mistral-tgi.yaml"]
        nodes = {"types": {"g5.2xlarge": {"maxNodes": 1}}}
        title, line = refused("prod", gpuNodes=nodes, models=models)
        assert title == "1 problem found; nothing was created"
        assert "1 of 1 pods will stay Pending: g5-2xlarge has at most 1 node; raise maxNodes" in line
        assert "Playground/" in line
        assert run("prod", gpuNodes={}, models=models).exports["nodes"]["g5-2xlarge"]["maxNodes"] == 2


MODELS = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec:
  familyName: opt
  source: {modelHub: {modelID: facebook/opt-125m}}
  inferenceConfig:
    flavors:
      - {name: a, limits: {nvidia.com/gpu: 9}, params: {INSTANCE-TYPE: p5.48xlarge}}
      - {name: b, limits: {nvidia.com/gpu: 8}, params: {INSTANCE-TYPE: p5e.48xlarge}}
      - {name: c, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: p5.48xlarg}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: p}
spec: {modelClaim: {modelName: m}}
"""

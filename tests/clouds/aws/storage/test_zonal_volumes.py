"""Volumes in one zone, and the zones in which the nodes of their pods may start."""

from typing import Any

import pytest
import yaml

from components.contract.findings.ids import RuleId
from components.families import objects
from components.plan.plan import plan
from tests.plan.costs.stacks import AWS, settings_of

_CACHED = """
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: tiny}
spec:
  source: https://huggingface.co/a/b/resolve/main/c.gguf
  hardware: {accelerator: cuda, gpu: {enabled: true, count: 1}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: tiny}
spec:
  modelRef: tiny
  nodeSelector: {node.kubernetes.io/instance-type: g5.2xlarge}
  resources: {gpu: 1, cpu: "2", memory: 8Gi}
"""
_BOTH, _ONE = ["us-east-1a", "us-east-1b"], ["us-east-1a"]
_DRIVER = {"cluster": {**AWS["cluster"], "addons": {"aws-ebs-csi-driver": ""}}}


def reasons(nodes: dict[str, Any], **changes: Any) -> list[str]:
    values = {**AWS, **_DRIVER, "gpuNodes": nodes, **changes}
    found = plan(objects([*yaml.safe_load_all(_CACHED)], "models.yaml"), settings_of(values).environment()).problems
    return [problem.reason for problem in found if problem.rule is RuleId.STORAGE_ZONAL]


@pytest.mark.parametrize(
    ("nodes", "changes"),
    [
        ({"zones": _ONE}, {}),
        ({"zones": _BOTH, "types": {"g5.2xlarge": {"zones": _ONE}}}, {}),
        ({"zones": _BOTH, "provisioner": "karpenter"}, {}),
        (
            {"zones": _BOTH, "types": {"g5.2xlarge": {"existingGroups": ["mine"]}}},
            {"prerequisites": {"install": False}},
        ),
        ({"zones": _BOTH}, {"modelCache": {"efs": {}}}),
        ({"zones": _BOTH}, {"cluster": {**AWS["cluster"], "publicAccessCidrs": [], "existing": True}}),
    ],
    ids=["one zone", "one zone of the type", "Karpenter", "groups of others", "EFS", "unknown class"],
)
def test_nodes_are_where_the_volume_is_or_it_is_unknown(nodes: dict[str, Any], changes: dict[str, Any]) -> None:
    assert reasons(nodes, **changes) == []


def test_a_group_in_several_zones_may_start_a_node_in_another() -> None:
    (reason,) = reasons({"zones": _BOTH})
    assert "Deployment tiny mounts llmkube-model-cache, an EBS volume" in reason
    assert "nodes of g5-2xlarge start in us-east-1a, us-east-1b" in reason
    assert "gpuNodes.types.g5.2xlarge.zones: [us-east-1a], provisioner: karpenter" in reason

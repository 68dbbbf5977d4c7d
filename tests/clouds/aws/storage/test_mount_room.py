"""Mountpoint pods, which the driver of buckets starts beside the pods that read them.

The driver gives them no requests unless the volume has some (awslabs/mountpoint-s3-csi-driver 57c6bed,
pkg/podmounter/mppod/creator.go, configureResourceRequests), and they preempt nothing (issue 778). Mountpoint limits
its memory to no less than 512 MiB (awslabs/mountpoint-s3, MINIMUM_MEM_LIMIT). Of the 16 GiB of a g5.xlarge, 7.5 %
for the hypervisor, 255 MiB and 11 MiB for each of 110 pods, and 100 MiB leave 13,590 MiB.
"""

from typing import Any

import pytest
import yaml

from components.contract.findings.ids import RuleId
from components.families import objects
from components.plan.plan import plan
from tests.plan.costs.stacks import AWS, settings_of

_MODEL = """
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {{name: tiny}}
spec:
  source: {source}
  hardware: {{accelerator: cuda, gpu: {{enabled: true, count: 1}}}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {{name: tiny}}
spec:
  modelRef: tiny
  nodeSelector: {{node.kubernetes.io/instance-type: {type}}}
  resources: {{gpu: 1, cpu: "2", memory: {memory}}}
"""
_BUCKETS = {"modelCache": {"s3": {"library": "example-inference-models/prod/"}}}
_FROM_BUCKET = "pvc://library/tiny/tiny.gguf"


def reasons(memory: str, *, kind: str = "g5.xlarge", source: str = _FROM_BUCKET, **changes: Any) -> list[str]:
    text = _MODEL.format(source=source, type=kind, memory=memory)
    values = {**AWS, **_BUCKETS, "gpuNodes": {"zones": ["us-east-1a"]}, **changes}
    found = plan(objects([*yaml.safe_load_all(text)], "models.yaml"), settings_of(values).environment()).problems
    return [problem.reason for problem in found if problem.rule is RuleId.STORAGE_MOUNT_ROOM]


def test_a_pod_that_requests_almost_all_memory_leaves_no_room() -> None:
    (reason,) = reasons("13Gi")
    assert "Deployment tiny mounts library" in reason
    assert "g5.xlarge has 0.2Gi memory left beside the 13.0Gi memory that 1 of its pods request" in reason
    assert "at least 512 MiB per bucket" in reason
    assert "Request at most 12.7Gi memory" in reason


@pytest.mark.parametrize(
    ("memory", "options"),
    [
        ("12700Mi", {}),
        ("13Gi", {"kind": "g5.2xlarge"}),
        ("13Gi", {"source": "https://huggingface.co/a/b/resolve/main/c.gguf"}),
    ],
    ids=["as much as is advised", "a larger type", "a model that is in no bucket"],
)
def test_there_is_room_or_nothing_is_mounted(memory: str, options: dict[str, Any]) -> None:
    assert reasons(memory, **options) == []


@pytest.mark.parametrize(("addresses", "warned"), [(11, True), (12, False)])
def test_a_node_takes_mountpoint_beside_its_daemons(addresses: int, *, warned: bool) -> None:
    """Ten pods of DaemonSets, the model and Mountpoint need twelve addresses, if each has its own."""
    described = {
        "vcpu": 4,
        "memoryGib": 16,
        "accelerator": {"name": "A10G", "count": 1, "memoryGib": 24},
        "addressPods": addresses,
    }
    nodes = {"zones": ["us-east-1a"], "prefixDelegation": False, "types": {"g99.xlarge": {"amiId": "ami-0123456789"}}}
    found = reasons("8Gi", kind="g99.xlarge", instanceTypes={"g99.xlarge": described}, gpuNodes=nodes)
    assert [f"g99.xlarge takes {addresses} pods" in reason for reason in found] == [True] * warned

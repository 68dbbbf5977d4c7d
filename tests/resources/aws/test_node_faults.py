"""What is wrong with the arguments of components that make nodes."""

from typing import Any

import pytest

from components.resources.serving.arguments import InvalidArguments
from tests.resources.aws.node_arguments import A10G, L4, changed, manifests, pools, refusals

OWN_IMAGE = {"types": {"g5.2xlarge": {"ami_id": "ami-0abc"}}}
FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "flavors", "is required unless manifests is set"),
    ({"flavors": [A10G], "manifests": [{}]}, "manifests", "cannot be combined with flavors"),
    ({"flavors": [A10G], "flavours": []}, "flavours", "did you mean 'flavors'"),
    ({"flavors": changed(A10G, limit={})}, "flavors[0].limit", "did you mean 'limits'"),
    ({"flavors": changed(A10G, params={})}, "flavors[0].params", "has no instance type"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": 5})}, "flavors[0].params[INSTANCE-TYPE]", "string"),
    ({"flavors": changed(A10G, limits={"nvidia.com/gpu": "x"})}, "flavors[0].limits[nvidia.com/gpu]", "quantity"),
    ({"flavors": [L4, *changed(A10G, limits={"nvidia.com/gpu": 8})]}, "flavors[1]", "g5.2xlarge has only 1"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "g5.2xlage"})}, "flavors[0]", "did you mean g5.2xlarge"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "p5e.48xlarge"})}, "flavors[0]", "is not offered in"),
    ({"flavors": changed(A10G, params={"INSTANCE-TYPE": "g7.2xlarge"})}, "flavors[0]", "types[g7.2xlarge].ami_id"),
    ({"flavors": changed(A10G, node_selector={"a b": "c"})}, "flavors[0]", "which is not a valid label"),
    ({"flavors": changed(A10G, node_selector={"x.k8s.io/a": "c"})}, "flavors[0]", "which EKS does not allow"),
    ({"flavors": [A10G], "capacity": "cheap"}, "capacity", "'on-demand' or 'spot'"),
    ({"flavors": [A10G], "image": "al2"}, "image", "'al2023' or 'bottlerocket'"),
    ({"flavors": [A10G], "region": "useast1"}, "region", "write a region such as us-east-1"),
    ({"flavors": [A10G], "subnets": {}}, "subnets", "at least 1"),
    ({"flavors": [A10G], "zones": ["us-east-1c"]}, "zones", "has no subnet"),
    ({"flavors": [A10G], "disk_gib": 1}, "disk_gib", "must be at least 20"),
    ({"flavors": [A10G], "node_role_arn": None}, "node_role_arn", "is required"),
    ({"flavors": [A10G], "cluster_plain_name": "-x"}, "cluster_plain_name", "EKS allows 1 to 100 letters"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"spots": []}}}, "types[g5.2xlarge].spots", "'spot_types'"),
    ({"flavors": [A10G], "types": {"g5": {}}}, "types.g5", "unknown instance type 'g5'"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"capacity": "odcr"}}}, "types[g5.2xlarge].reservation", "is req"),
    ({"flavors": [A10G], "types": {"g5.2xlarge": {"efa": True}}}, "types[g5.2xlarge].efa", "has no EFA"),
    ({"flavors": [A10G], **OWN_IMAGE}, "endpoint", "ami_id of g5.2xlarge"),
    ({"flavors": [A10G], **OWN_IMAGE}, "certificate_authority", "is required with a custom image"),
    ({"flavors": [A10G], "realization": "cloud"}, "realization", "'native' or 'operator'"),
    ({"manifests": [{"kind": "Playground"}]}, "apiVersion", "is required"),
    ({"manifests": manifests("llama-405b-multinode"), "types": {"p5.48xlarge": {"max_nodes": 1}}}, "spec",
     "raise max_nodes under types in gpu"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "path", "reason"), FAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_wrong_is_said_at_the_argument(args: dict[str, Any], path: str, reason: str) -> None:
    found = refusals(**args)
    assert any(reason in each for each in found.get(path, [])), found


def test_everything_that_is_wrong_is_said_at_once_and_nothing_is_registered() -> None:
    found = refusals(flavors=[A10G], region="x", zones=["y"], image="z", disk_gib=1, tag={}, node_role_arn=None)
    assert set(found) == {"region", "zones", "zones[0]", "image", "disk_gib", "tag", "node_role_arn"}
    assert set(refusals(flavors=[*changed(A10G, limits={"nvidia.com/gpu": 2}), {"name": "x"}], **OWN_IMAGE)) == {
        "flavors[0]",
        "flavors[1].params",
        "endpoint",
        "certificate_authority",
    }


def test_karpenter_refuses_what_it_cannot_do() -> None:
    """aws-gpu spec 10: it does not place pods on a part of a GPU."""
    with pytest.raises(InvalidArguments, match=r"gpu: flavors\[0\]: Karpenter does not place pods on g6f.large"):
        pools(flavors=changed(A10G, params={"INSTANCE-TYPE": "g6f.large"}))

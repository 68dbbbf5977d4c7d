"""Everything that dev, staging and prod register in AWS is a request that AWS knows, and can be made and deleted."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clouds.aws.moto.moto_cloud import UNSUPPORTED, MotoCloud
from tests.clouds.aws.requests.kinds import check_entry, is_aws
from tests.recorded import Echo
from tests.resources.aws.aws_mock import Planned
from tests.stacks.shipped import ON_AWS, ROOT, Clock, run


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(datetime, "datetime", Clock)


@pytest.fixture
def cloud() -> Iterator[MotoCloud]:
    with MotoCloud("us-east-1") as made:
        yield made


@pytest.mark.parametrize("stack", ON_AWS)
def test_it_is_made_in_order_and_deleted_again(stack: str, cloud: MotoCloud) -> None:
    """Created in the order of the program's dependencies, each with the answers of those before it."""
    graph = run(stack, cloud)
    assert cloud.problems == []
    assert {made.key for made in cloud.created} == {entry.key for entry in graph.graph if is_aws(entry.type)}
    assert set(cloud.unsupported) <= set(UNSUPPORTED)
    assert {"aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"} <= {made.type for made in cloud.created}
    assert cloud.destroy() == []


@pytest.mark.parametrize("stack", ON_AWS)
def test_its_preview_is_checked_without_an_account(stack: str) -> None:
    """In a preview what others will answer is unknown; all the rest is checked all the same."""
    graph = run(stack, Echo(), preview=True)
    entries = [entry for entry in graph.graph if is_aws(entry.type)]
    assert len(entries) > 50
    assert [problem for entry in entries for problem in check_entry(entry.type, entry.inputs, entry.name)] == []


VARIANTS: dict[str, dict[str, Any]] = {
    "bottlerocket": {"gpuNodes": {"image": "bottlerocket", "zones": ["us-east-1a"]}},
    "capacity block": {
        "models": ["stacks/models/llama-405b-multinode.yaml"],
        "customResources": True,
        "gpuNodes": {
            "types": {
                "p5.48xlarge": {
                    "capacity": "capacity-block",
                    "reservation": {
                        "id": "cr-0123456789abcdef0",
                        "zone": "us-east-1b",
                        "count": 2,
                        "starts": "2026-12-01T11:30:00Z",
                        "ends": "2026-12-08T11:30:00Z",
                    },
                    "efa": True,
                }
            }
        },
    },
    "a placement group": {
        "models": ["stacks/models/llama-405b-multinode.yaml"],
        "customResources": True,
        "gpuNodes": {
            "types": {"p5.48xlarge": {"zones": ["us-east-1a"], "efa": True, "placementGroup": True}},
        },
    },
    "images by way of a cache": {
        "imageCache": {
            "registries": ["docker.io", "ghcr.io", "quay.io"],
            "credentials": {
                "docker.io": "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/hub-AbCdEf",
                "ghcr.io": "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/github-AbCdEf",
            },
            "kmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f",
            "keepImages": 50,
        },
    },
    "system nodes that scale": {"cluster": {"systemNodes": 3, "systemNodesMax": 9}},
    "nodes with settings of their own": {
        "gpuNodes": {
            "diskThroughput": 1000,
            "diskKmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/0123abcd",
            "fastImagePull": True,
            "userData": "#!/bin/sh\necho hello\n",
            "labels": {"stage": "test"},
            "taints": [{"key": "example.com/team", "value": "chat"}],
            "types": {"g5.2xlarge": {"labels": {"rack": "1"}, "taints": [{"key": "rack", "effect": "NoExecute"}]}},
            "amiRelease": "latest",
            "forceUpdate": True,
        },
        "cluster": {
            "publicAccessCidrs": ["203.0.113.0/24"],
            "addons": {"aws-ebs-csi-driver": "", "coredns": "default", "vpc-cni": "v1.23.0-eksbuild.1"},
            "systemAmiRelease": "1.35.7-20260801",
            "forceUpdate": True,
            "nodePolicies": ["CloudWatchAgentServerPolicy", "AmazonSSMManagedInstanceCore"],
        },
    },
    "karpenter on reserved nodes": {
        "models": ["stacks/models/llama-405b-multinode.yaml"],
        "customResources": True,
        "gpuNodes": {
            "provisioner": "karpenter",
            "types": {
                "p5.48xlarge": {
                    "capacity": "odcr",
                    "reservation": {"id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 2},
                    "efa": True,
                }
            },
        },
    },
    "no way out but endpoints": {
        "network": {
            "zones": ["us-east-1a", "us-east-1b"],
            "natGateways": "none",
            "internetAccess": True,
            "interfaceEndpoints": [
                *("ecr.api", "ecr.dkr", "sts", "ec2", "eks", "eks-auth", "autoscaling", "sqs", "ssm", "ssmmessages"),
            ],
        },
        "cluster": {
            "version": "1.36",
            "bastion": True,
            "adminRoleArns": ["arn:aws:iam::123456789012:role/platform/admin"],
        },
    },
    "a network that is there": {
        "network": {
            "vpcId": "vpc-0123456789abcdef0",
            "privateSubnets": {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"},
        },
        "gpuNodes": {"zones": ["us-east-1a"], "types": {"g5.2xlarge": {"minNodes": 1, "maxNodes": 3}}},
        "cluster": {
            "privateAccessCidrs": ["10.0.0.0/16", "fd00::/8"],
            "privateAccessSecurityGroups": {"runner": "sg-0123456789abcdef0"},
        },
    },
    "a range for pods, IPv6 and flow logs": {
        "network": {
            "zones": ["us-east-1a", "us-east-1b"],
            "podCidr": "100.64.0.0/16",
            "ipv6": True,
            "flowLogs": {"traffic": "all", "retentionDays": 14},
            "interfaceEndpoints": ["sts"],
        },
    },
    "roles with rights": {
        "cluster": {
            "publicAccessCidrs": ["203.0.113.0/24"],
            "creatorIsAdmin": False,
            "adminRoleArns": ["arn:aws:iam::123456789012:role/a", "arn:aws:iam::210987654321:role/a"],
            "viewerRoleArns": ["arn:aws:iam::123456789012:role/b"],
            "namespaceAccess": {"models": {"editorRoleArns": ["arn:aws:iam::123456789012:role/b"]}},
        },
    },
    "weights on EFS": {
        "modelCache": {"efs": {"throughput": "provisioned", "mibps": 512, "uid": 2000}, "s3": {"all": "models"}}
    },
    "weights on FSx": {"modelCache": {"fsx": {"zone": "us-east-1a", "capacityGib": 4800, "throughputPerTib": 1000}}},
    "weights on FSx that are kept once": {"modelCache": {"fsx": {"zone": "us-east-1a", "deployment": "scratch-2"}}},
    "buckets of models": {"modelBuckets": ["example-models", "example-models/prod/"]},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_choices_are_requests_that_aws_knows_too(variant: str) -> None:
    graph = run("dev", Planned(), preview=True, **VARIANTS[variant])
    entries = [entry for entry in graph.graph if is_aws(entry.type)]
    assert [problem for entry in entries for problem in check_entry(entry.type, entry.inputs, entry.name)] == []


@pytest.mark.parametrize(
    "variant",
    [
        *("bottlerocket", "capacity block", "no way out but endpoints", "buckets of models"),
        *("a range for pods, IPv6 and flow logs", "roles with rights"),
        *("weights on EFS", "weights on FSx", "weights on FSx that are kept once"),
        *("a placement group", "system nodes that scale", "nodes with settings of their own"),
    ],
)
def test_other_choices_can_be_made_and_deleted_too(variant: str, cloud: MotoCloud) -> None:
    run("dev", cloud, **VARIANTS[variant])
    assert cloud.problems == []
    assert cloud.destroy() == []

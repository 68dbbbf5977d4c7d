"""Destroying a stack: nothing goes before what needs it, in the environments that are shipped and in random ones."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recorded import Recorded
from tests.stacks.destroy.lifetimes import Destroyed, lifetimes
from tests.stacks.shipped import ON_AWS, run

pytestmark = pytest.mark.usefixtures("here")

ZONES = ["us-east-1a", "us-east-1b", "us-east-1c"]
MODELS = [
    f"stacks/models/{name}.yaml"
    for name in ("qwen-chat", "qwen-cpu", "gemma-elastic", "llama-405b-multinode", "llmkube-autoscaled")
]
ROLES = [f"arn:aws:iam::123456789012:role/{name}" for name in ("operators", "developers")]
HELD = {"id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 3}
CACHES: list[dict[str, Any]] = [
    {},
    {"claim": "weights", "bound": True},
    {"efs": {}},
    {"efs": {"id": "fs-0123456789abcdef0"}, "s3": {"library": "weights/llama/"}},
    {"fsx": {"zone": "us-east-1a"}},
]
DOORS: list[dict[str, Any]] = [
    {},
    {"expose": "load-balancer", "internal": True},
    {"expose": "gateway", "internal": True, "host": "models.example.com"},
]


def too_early(graph: Recorded) -> list[str]:
    destroyed = Destroyed(graph)
    found = [
        f"{needed.key} before {user.key}"
        for needed, user in lifetimes(destroyed)
        if not destroyed.outlives(needed, user)
    ]
    return sorted(found)


@pytest.mark.parametrize("stack", ON_AWS)
def test_nothing_goes_too_early_in_an_environment_that_is_shipped(stack: str) -> None:
    assert too_early(run(stack)) == []


@pytest.mark.parametrize("cache", CACHES, ids=str)
def test_nothing_goes_too_early_with_any_cache(cache: dict[str, Any]) -> None:
    assert too_early(run("dev", modelCache=cache)) == []


def a_few(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), unique=True)


@st.composite
def networks(draw: st.DrawFn, nat: str) -> dict[str, Any]:
    """A network with its further ranges."""
    return {
        "zones": ZONES[: draw(st.integers(2, 3))],
        "natGateways": nat,
        **({"internetAccess": True} if nat == "none" else {}),
        "ipv6": draw(st.booleans()),
        **draw(st.sampled_from([{}, {"podCidr": "100.64.0.0/16"}, {"flowLogs": {"traffic": "all"}}])),
        "interfaceEndpoints": draw(a_few(["ecr.api", "ecr.dkr", "sts", "ec2", "eks-auth"])),
    }


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """Settings that decide which resources there are."""
    install = draw(st.booleans())
    nat = draw(st.sampled_from(["one", "per-zone", "none"]))
    provisioner, maker = draw(st.sampled_from([("managed", "cluster-autoscaler"), ("karpenter", "karpenter")]))
    general: dict[str, Any] = {"generalPool": {}} if provisioner == "karpenter" and draw(st.booleans()) else {}
    p5 = {"capacity": "odcr", "reservation": HELD, "efa": draw(st.booleans()), "placementGroup": draw(st.booleans())}
    return {
        "models": draw(st.lists(st.sampled_from(MODELS), min_size=1, unique=True)),
        "modelCache": draw(st.sampled_from(CACHES)),
        "modelBuckets": draw(st.sampled_from([[], ["weights/llama/"]])),
        "network": draw(networks(nat)),
        "cluster": {
            "version": "1.35",
            "publicAccessCidrs": ["203.0.113.0/24"],
            "privateAccessCidrs": draw(a_few(["10.0.0.0/16"])),
            "bastion": nat != "none" and draw(st.booleans()),
            "adminRoleArns": draw(a_few(ROLES[:1])),
            "viewerRoleArns": draw(a_few(ROLES[1:])),
            "addons": dict.fromkeys(draw(a_few(["aws-efs-csi-driver", "snapshot-controller"])), "")
            | {"aws-ebs-csi-driver": ""},
        },
        "gpuNodes": {
            "provisioner": provisioner,
            "image": draw(st.sampled_from(["al2023", "bottlerocket"])),
            "scaleToZero": draw(st.booleans()),
            "types": {"p5.48xlarge": p5},
            **general,
        },
        "prerequisites": {
            "install": install,
            "present": draw(st.sampled_from([[], [maker], ["load-balancer-controller"]])),
            "monitoring": install and draw(st.booleans()),
            "storageGib": 50,
        },
        "frontDoor": draw(st.sampled_from(DOORS)) if install else {},
        "hardening": {"networkPolicies": draw(st.booleans())},
    }


@given(environments())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_nothing_goes_too_early_in_any_environment(environment: dict[str, Any]) -> None:
    assert too_early(run("dev", **environment)) == []

"""Labels and taints that settings give to nodes: on groups and pools, in the autoscaler's tags, in the pods."""

from typing import Any

import pytest

from components.clouds.aws.nodes.karpenter import node_pool
from components.clouds.aws.words import Provisioner
from components.fleet.nodes.policy import TypePolicy
from tests.clouds.aws.environments import environment, flavor, one, planned, problems
from tests.fleets import workload_of

LATENCY = {"key": "latency", "value": "low", "effect": "NoExecute"}
TEAM = {"key": "example.com/team", "value": "", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
TEMPLATE = "k8s.io/cluster-autoscaler/node-template"
G5 = {"g5.xlarge": TypePolicy(labels={"rack": "1", "stage": "prod"}, taints=(LATENCY,))}


def where(provisioner: str = "managed", **changes: Any) -> Any:
    given = {"further": {"stage": "test"}, "taints": (TEAM,), "types": G5, **changes}
    return environment(provisioner=Provisioner(provisioner), **given)


def test_those_of_all_nodes_and_those_of_a_type() -> None:
    fleet = one(flavor("g5.xlarge", name="a"), flavor("g6.xlarge", name="b"), where=where())
    g5, g6 = planned(fleet, where())
    assert g5.labels == {"k8s.amazonaws.com/accelerator": "a10g", "rack": "1", "stage": "prod"}
    assert g6.labels == {"k8s.amazonaws.com/accelerator": "l4", "stage": "test"}
    assert [taint["effect"] for taint in g5.taints] == ["NO_SCHEDULE", "NO_SCHEDULE", "NO_EXECUTE"]
    assert g5.demand.taints == (GPU, TEAM, LATENCY)
    assert g6.demand.taints == (GPU, TEAM)


def test_the_autoscaler_knows_them_of_nodes_that_are_not_there() -> None:
    (group,) = planned(one(flavor("g5.xlarge"), where=where()), where())
    told = {key.removeprefix(f"{TEMPLATE}/"): value for key, value in group.tags.items()}
    assert (
        told.items()
        >= {
            "label/rack": "1",
            "label/stage": "prod",
            "taint/latency": "low:NoExecute",
            "taint/example.com/team": ":NoSchedule",
        }.items()
    )


def test_pools_have_them() -> None:
    place = where("karpenter")
    (group,) = planned(one(flavor("g5.xlarge"), where=place), place)
    template = node_pool(group)["spec"]["template"]
    assert template["metadata"]["labels"].items() >= {"rack": "1", "stage": "prod"}.items()
    assert template["spec"]["taints"] == [GPU, TEAM, LATENCY]


def test_the_models_pods_tolerate_them() -> None:
    (item,) = one(flavor("g5.xlarge"), where=where()).rendered
    (template,) = workload_of(item).templates
    assert [each for each in template["spec"]["tolerations"] if each["operator"] == "Equal"] == [
        {"key": "example.com/team", "operator": "Equal", "value": "", "effect": "NoSchedule"},
        {"key": "latency", "operator": "Equal", "value": "low", "effect": "NoExecute"},
    ]


def test_a_flavor_that_selects_what_all_nodes_of_its_type_have_gets_no_group_of_its_own() -> None:
    fleet = one(flavor("g5.xlarge", name="a"), flavor("g5.xlarge", name="b", rack="1"), where=where())
    assert [group.name for group in planned(fleet, where())] == ["g5-xlarge"]


@pytest.mark.parametrize(
    ("changes", "path", "expected"),
    [
        (
            {"further": {"kubernetes.io/role": "gpu"}},
            "labels",
            "has the label kubernetes.io/role, which EKS does not",
        ),
        ({"further": {"eks.amazonaws.com/x": "y"}}, "labels", "use a label in your own domain"),
        ({"further": {"a b": "c"}}, "labels", "label 'a b': 'c' is not accepted by Kubernetes and EKS"),
        ({"further": {"a": "x" * 64}}, "labels", "up to 63 letters"),
        ({"further": {"k8s.amazonaws.com/accelerator": "x"}}, "labels", "which follows from the instance type"),
        (
            {"labels": {"team": "a"}, "further": {"team": "b"}},
            "labels",
            "every pod selects team: a; make them the same",
        ),
        (
            {"types": {"g5.xlarge": TypePolicy(labels={"k8s.io/a": "b"})}},
            "types.g5.xlarge.labels",
            "EKS does not allow",
        ),
        ({"taints": (TEAM, TEAM)}, "taints", "has example.com/team again"),
        (
            {"types": {"g5.xlarge": TypePolicy(taints=(TEAM,))}},
            "types.g5.xlarge.taints",
            "has example.com/team again",
        ),
        ({"types": {"g5.xlarge": TypePolicy(taints=(GPU,))}}, "types.g5.xlarge.taints", "has nvidia.com/gpu again"),
        ({"taints": ({**TEAM, "key": "-"},)}, "taints", "taint '-': '' is not accepted by Kubernetes and EKS"),
        ({"taints": tuple({**TEAM, "key": f"k{n}"} for n in range(51))}, "taints", "EKS allows 50 taints per group"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], path: str, expected: str) -> None:
    place = where(**{"types": {}, **changes})
    found = problems(one(flavor("g6.xlarge"), where=where(types={})), place)
    reasons = [problem.reason for problem in found if problem.path == f"gpuNodes.{path}"]
    assert any(expected in reason for reason in reasons), list(map(str, found))


@pytest.mark.parametrize("key", ["karpenter.sh/x", "karpenter.k8s.aws/x", "kubernetes.io/x"])
def test_karpenter_keeps_other_domains_to_itself(key: str) -> None:
    place = where("karpenter", further={key: "a"}, types={})
    (problem,) = problems(one(flavor("g6.xlarge"), where=place), place)
    assert f"has the label {key}, which Karpenter does not allow anyone to set" in problem.reason

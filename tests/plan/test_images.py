"""What a plan says of where images are pulled from."""

from typing import Any

import pytest

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.images import RegistryCache
from components.contract.findings.ids import RuleId
from components.families import objects
from components.fleet.options import Options, PodOverrides
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.fleets import open_model, playground

HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
RULES = (RuleId.IMAGES_ANONYMOUS, RuleId.IMAGES_FIRST_PULL, RuleId.IMAGES_UNCACHED)


def cache(*registries: str) -> RegistryCache:
    return RegistryCache("123456789012", "us-east-1", registries)


def planned(
    *more: dict[str, Any],
    replicas: int = 1,
    aws: dict[str, Any] | None = None,
    options: Options | None = None,
    install: bool = False,
) -> Plan:
    where = None if aws is None else AwsEnvironment("us-east-1", existing=True, **aws)
    environment = Environment(
        options=options or Options(),
        cluster=ClusterFacts(node_autoscaler="cluster-autoscaler") if install else None,
        install=install,
        cloud=where,
        other_kinds=OtherKinds.APPLY,
    )
    return plan(objects([open_model(), playground("p", "m", replicas=replicas), *more], "models.yaml"), environment)


def said(found: Plan) -> dict[str, list[str]]:
    """Reasons by rule, of those that are about images."""
    reasons: dict[str, list[str]] = {}
    for problem in found.problems:
        if problem.rule in RULES:
            reasons.setdefault(str(problem.rule), []).append(problem.reason)
    return reasons


def test_more_pulls_than_an_address_may_make_are_reported() -> None:
    """Two images of Docker Hub in each of 51 pods: 102 pulls, where 100 are allowed."""
    assert said(planned(replicas=50, aws={"addresses": 1})) == {}
    (reason,) = said(planned(replicas=51, aws={"addresses": 1}))["images-anonymous"]
    assert "2 image references" in reason
    assert "pulled 102 times" in reason
    assert "100 anonymous pulls per address in 6 hours, and all nodes share 1 address." in reason


@pytest.mark.parametrize(("addresses", "words"), [(3, "3 addresses"), (None, "an unknown number of addresses")])
def test_the_addresses_are_named_as_far_as_they_are_known(addresses: int | None, words: str) -> None:
    (reason,) = said(planned(replicas=60, aws={"addresses": addresses}))["images-anonymous"]
    assert words in reason


@pytest.mark.parametrize(
    "changes",
    [
        {"aws": None},
        {"aws": {"addresses": 1, "image_cache": cache("docker.io")}},
        {"aws": {"addresses": 1}, "options": Options(overrides=PodOverrides(image_pull_secrets=("hub",)))},
        {"aws": {"addresses": 0}},
    ],
    ids=["elsewhere", "by way of a cache", "with an account", "without a way out"],
)
def test_pulls_that_no_limit_of_addresses_is_about_are_not_reported(changes: dict[str, Any]) -> None:
    assert "images-anonymous" not in said(planned(replicas=500, **changes))


def test_a_cache_without_a_way_to_the_internet_cannot_fill_itself() -> None:
    assert "images-first-pull" in said(planned(aws={"addresses": 0, "image_cache": cache("docker.io")}))
    assert said(planned(aws={"addresses": 1, "image_cache": cache("docker.io")})) == {}
    assert said(planned(aws={"addresses": None, "image_cache": cache("docker.io")})) == {}


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "mine"},
    "spec": {
        "containers": [
            {"name": "a", "image": "nvcr.io/nvidia/tritonserver:25.03"},
            {"name": "b", "image": "quay.io/a/b:1"},
            {"name": "c", "image": "busybox:1.36"},
            {"name": "d", "image": "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10"},
        ]
    },
}


def test_what_misses_the_cache_is_named_by_registry() -> None:
    found = planned(POD, aws={"addresses": 1, "image_cache": cache("docker.io")})
    nvcr, quay = said(found)["images-uncached"]
    assert "nvcr.io/nvidia/tritonserver; ECR cannot cache it" in nvcr
    assert "quay.io/a/b; add it to imageCache.registries" in quay
    (pod,) = found.others
    assert [each["image"] for each in pod["spec"]["containers"]] == [
        "nvcr.io/nvidia/tritonserver:25.03",
        "quay.io/a/b:1",
        f"{HOST}/docker-hub/library/busybox:1.36",
        "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10",
    ]


def test_charts_are_named_only_where_they_are_installed() -> None:
    where = {"addresses": 1, "image_cache": cache("docker.io")}
    assert said(planned(aws=where)) == {}
    (reason,) = said(planned(aws=where, install=True))["images-uncached"]
    assert "registry.k8s.io/autoscaling/cluster-autoscaler (chart cluster-autoscaler)" in reason


def test_what_an_operator_adds_is_named() -> None:
    where = {"addresses": 1, "image_cache": cache("docker.io")}
    options = Options(realization=Realization.OPERATOR)
    reasons = said(planned(aws=where, options=options))["images-uncached"]
    assert any("inftyai/model-loader" in reason and "an operator adds it" in reason for reason in reasons)


def test_findings_and_engines_are_the_same_with_a_cache_and_without() -> None:
    plain = planned(aws={"addresses": 1})
    cached = planned(aws={"addresses": 1, "image_cache": cache("docker.io", "ghcr.io")})
    assert cached.problems == plain.problems
    for (_, before), (_, after) in zip(plain.fleet.workloads, cached.fleet.workloads, strict=True):
        assert after.server.line == before.server.line
        assert after.body != before.body
    assert [each.text for each in cached.verdicts] == [each.text for each in plain.verdicts]
    of_fleet = {id(workload) for _, workload in cached.fleet.workloads}
    assert all(id(each.workload) in of_fleet for each in cached.verdicts)

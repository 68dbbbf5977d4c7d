"""A stack whose nodes pull by way of a pull-through cache of ECR."""

import json
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest

from components.engines.images import pull_reference
from tests.recorded import Recorded
from tests.stacks.shipped import run, settings_of

pytestmark = pytest.mark.usefixtures("here")

HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
SECRETS = {
    registry: f"arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/{name}-AbCdEf"
    for registry, name in (("docker.io", "docker-hub"), ("ghcr.io", "github"))
}
ALL: dict[str, Any] = {
    "registries": ["docker.io", "ghcr.io", "quay.io", "registry.k8s.io", "public.ecr.aws"],
    "credentials": SECRETS,
}
RELEASE = "kubernetes:helm.sh/v3:Release"


def images(value: Any) -> Iterator[str]:
    """Every reference in a field named ``image`` that is a text, whatever it is in."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield inner
            yield from images(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from images(inner)


def of_kubernetes(graph: Recorded) -> list[str]:
    return [
        image
        for entry in graph.graph
        if entry.type.startswith("kubernetes:") and entry.type != RELEASE
        for image in images(entry.inputs)
    ]


def values_of(graph: Recorded, chart: str) -> dict[str, Any]:
    (found,) = [e.inputs["values"] for e in graph.graph if e.type == RELEASE and e.name == f"fleet-{chart}"]
    values: dict[str, Any] = found
    return values


def test_no_image_of_prod_is_pulled_from_a_registry_with_a_rule() -> None:
    before, after = of_kubernetes(run("prod", imageCache={})), of_kubernetes(run("prod", imageCache=ALL))
    public = [
        image for image in before if (place := pull_reference(image)) and place.registry in ("docker.io", "ghcr.io")
    ]
    assert len(public) == len(before) == len(after) == 59
    assert {image.partition("/")[0] for image in after} == {HOST}
    for old, new in zip(sorted(before), sorted(after, key=lambda image: image.split("/", 2)[2]), strict=False):
        assert old.rpartition(":")[2]
        assert new.rpartition(":")[2], "tags stay"


def test_only_the_registries_that_are_named_are_changed() -> None:
    graph = run("prod", imageCache={"registries": ["ghcr.io"], "credentials": {"ghcr.io": SECRETS["ghcr.io"]}})
    found = of_kubernetes(graph)
    assert sum(image.startswith(f"{HOST}/github/") for image in found) == 19
    assert sum("/" in image and pull_reference(image).registry == "docker.io" for image in found) == 40  # type: ignore[union-attr]


def test_charts_and_proxies_pull_by_way_of_it_too() -> None:
    graph = run("prod", imageCache=ALL)
    assert values_of(graph, "volcano")["basic"]["image_registry"] == f"{HOST}/docker-hub"
    prometheus = values_of(graph, "prometheus")
    assert prometheus["grafana"]["image"]["registry"] == f"{HOST}/docker-hub"
    assert prometheus["prometheus"]["prometheusSpec"]["retention"] == "10d", "other values stay"
    (proxies,) = [e.inputs for e in graph.graph if e.inputs.get("kind") == "EnvoyProxy"]
    container = proxies["spec"]["provider"]["kubernetes"]["envoyDeployment"]["container"]
    assert container == {"imageRepository": f"{HOST}/docker-hub/envoyproxy/envoy"}


def test_without_it_nothing_is_changed() -> None:
    graph = run("prod", imageCache={})
    assert not [entry for entry in graph.graph if ":ecr/" in entry.type]
    assert "imageRepository" not in json.dumps([str(entry.inputs) for entry in graph.graph])
    assert "image" not in values_of(graph, "prometheus")["grafana"]


@pytest.mark.parametrize("provisioner", ["managed", "karpenter"])
def test_every_role_of_nodes_that_is_made_here_may_use_it(provisioner: str) -> None:
    nodes = {**settings_of("dev")["gpuNodes"], "provisioner": provisioner}
    graph = run("dev", gpuNodes=nodes, imageCache={"registries": ["quay.io"], "account": "123456789012"})
    policies = {e.name: e.inputs for e in graph.graph if e.name in ("images-nodes", "images-karpenter")}
    assert set(policies) == ({"images-nodes"} if provisioner == "managed" else {"images-nodes", "images-karpenter"})
    # Pods go before the rules do, and come after them.
    rules = {e.key for e in graph.graph if e.type == "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"}
    charts = {entry.name for entry in graph.graph if entry.type == RELEASE}
    components = [entry for entry in graph.graph if entry.name in charts and ":index:" in entry.type]
    assert rules
    assert components
    assert [entry.name for entry in components if not rules <= set(entry.dependencies)] == []


def refused(**cache: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        run("dev", imageCache=cache)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cache", "said"),
    [
        ({"registries": ["quay.io"]}, "imageCache.account: is required"),
        (
            {"registries": ["nvcr.io"], "account": "123456789012"},
            "imageCache.registries.0: ECR cannot cache 'nvcr.io'",
        ),
        ({"registries": ["docker.io"], "account": "123456789012"}, "imageCache.credentials.docker.io: is required"),
        ({"account": "123456789012"}, "imageCache.registries: is required"),
        (
            {"registries": ["quay.io"], "credentials": {"quay.io": SECRETS["ghcr.io"]}},
            "imageCache.credentials.quay.io: accepts no credentials",
        ),
        (
            {"registries": ["docker.io"], "credentials": SECRETS},
            "imageCache.credentials.ghcr.io: is not among registries",
        ),
        (
            {
                "registries": ["docker.io"],
                "account": "210987654321",
                "credentials": {"docker.io": SECRETS["docker.io"]},
            },
            "imageCache.credentials.docker.io: must be of a secret in account 210987654321",
        ),
        (
            {"registries": ["docker.io"], "credentials": {"docker.io": "user:s3cr3t"}},
            "imageCache.credentials.docker.io: must be the ARN of a secret",
        ),
        (
            {"registries": ["quay.io"], "account": "123456789012", "existing": True, "keepImages": 3},
            "imageCache.keepImages: has no effect with existing",
        ),
    ],
)
def test_what_is_refused(cache: dict[str, Any], said: str) -> None:
    text = refused(**cache)
    assert said in text
    assert "s3cr3t" not in text


def test_it_is_refused_where_there_is_no_aws() -> None:
    with pytest.raises(pulumi.RunError, match="imageCache: requires cloud: aws"):
        run("local", imageCache={"registries": ["quay.io"], "account": "123456789012"})


@pytest.mark.parametrize(
    ("changes", "account"),
    [
        ({"credentials": {"allowedAccountIds": ["111111111111"]}}, "111111111111"),
        ({"credentials": {"assumeRoleArn": "arn:aws:iam::222222222222:role/deployer"}}, "222222222222"),
    ],
)
def test_the_account_is_that_of_the_stack(changes: dict[str, Any], account: str) -> None:
    graph = run("dev", imageCache={"registries": ["docker.io", "quay.io"], "existing": True}, **changes)
    assert any(image.startswith(f"{account}.dkr.ecr.") for image in of_kubernetes(graph))


def test_a_role_of_ones_own_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    cluster = {**settings_of("dev")["cluster"], "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes"}
    graph = run("dev", cluster=cluster, imageCache={"registries": ["quay.io"], "account": "123456789012"})
    assert "attach it" in caplog.text
    assert "repository/quay/*" in graph.exports["imageCache"]["nodePolicy"]
    assert not [entry for entry in graph.graph if entry.name == "images-nodes"]

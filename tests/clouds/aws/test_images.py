"""Images by way of a pull-through cache of ECR: which registries, which references, and what ECR refuses."""

from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest

from components.clouds.aws.images import (
    RegistryCache,
    cache_problems,
    region_problem,
    secret_problem,
    upstream,
    upstreams,
)
from components.fleet.images import cached_fleet, cached_object, images_in, uncached_operated
from components.fleet.words import Realization
from tests.fleets import fleet_of, open_model, playground

CACHE = RegistryCache("123456789012", "eu-central-1", ("docker.io", "ghcr.io", "team.azurecr.io"))
HOST = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "cached"),
    [
        # ECR user guide, "Pulling an image with a pull through cache rule": official images are in library.
        ("nginx", f"{HOST}/docker-hub/library/nginx"),
        ("vllm/vllm-openai:v0.20.0", f"{HOST}/docker-hub/vllm/vllm-openai:v0.20.0"),
        (f"docker.io/vllm/vllm-openai@{DIGEST}", f"{HOST}/docker-hub/vllm/vllm-openai@{DIGEST}"),
        (f"ghcr.io/a/b:1@{DIGEST}", f"{HOST}/github/a/b:1@{DIGEST}"),
        ("team.azurecr.io/a:1", f"{HOST}/azure-team/a:1"),
    ],
)
def test_a_reference_to_a_registry_with_a_rule_leads_to_the_cache(image: str, cached: str) -> None:
    assert CACHE.reference(image) == cached
    assert CACHE.reference(cached) == cached, "once"


@pytest.mark.parametrize(
    "image",
    [
        "quay.io/a/b:1",
        "nvcr.io/nvidia/tritonserver:25.03",
        "other.azurecr.io/a:1",
        "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10",
        "localhost:5000/a:1",
        "$(IMAGE)",
        "",
    ],
)
def test_any_other_reference_stays(image: str) -> None:
    assert CACHE.reference(image) == image


def test_repositories_may_have_a_prefix_of_their_own() -> None:
    cache = RegistryCache("123456789012", "us-east-1", ("ghcr.io",), "prod")
    assert cache.reference("ghcr.io/a/b:1").endswith(".amazonaws.com/prod/github/a/b:1")


def test_the_registries_are_those_of_the_api() -> None:
    """Each kind of registry that botocore's model of ECR knows, but ECR itself, which is no registry of others."""
    shape = boto3.client("ecr", "us-east-1").meta.service_model.operation_model("CreatePullThroughCacheRule")
    kinds = set(shape.input_shape.members["upstreamRegistry"].enum) - {"ecr"}
    assert len(upstreams()) == len(kinds) == 8
    told = shape.input_shape.members["upstreamRegistryUrl"].documentation
    assert [name for name, each in upstreams().items() if name != "cgr.dev" and each.url not in told] == []


def test_registries_that_ecr_cannot_cache_are_unknown() -> None:
    assert upstream("nvcr.io") is None
    assert upstream("gcr.io") is None
    assert upstream("azurecr.io") is None, "each customer has one below it"
    assert upstream("a.b.azurecr.io") is None
    found = upstream("team.azurecr.io")
    assert found
    assert (found.url, found.credentials) == ("team.azurecr.io", True)


@pytest.mark.parametrize(
    ("registries", "prefix", "account", "path"),
    [
        (["nvcr.io"], "", None, ("registries", 0)),
        (["quay.io", "gcr.io"], "", None, ("registries", 1)),
        (["quay.io"], "Upper", None, ("prefix",)),
        (["docker.io"], "a-prefix-of-many-letters", None, ("prefix",)),
        (["quay.io"], "", "12345", ("account",)),
    ],
)
def test_what_ecr_refuses_is_named(registries: list[str], prefix: str, account: str | None, path: Any) -> None:
    assert [found for found, _ in cache_problems(registries, prefix, account)] == [path]


def test_what_ecr_takes_is_no_problem() -> None:
    assert list(cache_problems(upstreams().keys() - {"azurecr.io"}, "prod", "123456789012")) == []
    assert region_problem("us-east-1") == ""
    assert "cn-north-1" in region_problem("cn-north-1")


GOOD = "arn:aws:secretsmanager:us-east-1:123456789012:secret:ecr-pullthroughcache/docker-hub-AbCdEf"


@pytest.mark.parametrize(
    ("arn", "said"),
    [
        (GOOD.replace("ecr-pullthroughcache/", ""), "begins with ecr-pullthroughcache/"),
        (GOOD.replace("us-east-1", "us-west-2"), "in us-east-1, where the cache is, found us-west-2"),
        (GOOD.replace("123456789012", "210987654321"), "in account 123456789012"),
        ("dckr_pat_very-secret", "must be the ARN of a secret"),
    ],
)
def test_a_secret_is_where_the_cache_is(arn: str, said: str) -> None:
    found = secret_problem(arn, "123456789012", "us-east-1")
    assert said in found
    assert "very-secret" not in found, "what may be the credentials themselves is not repeated"


def test_a_good_secret_is_no_problem() -> None:
    assert secret_problem(GOOD, "123456789012", "us-east-1") == ""
    assert secret_problem(GOOD, None, "us-east-1") == ""


POD = {
    "initContainers": [{"name": "a", "image": "curlimages/curl:8"}],
    "containers": [{"name": "b", "image": "ghcr.io/a/b:1"}, {"name": "c"}],
    "volumes": [{"name": "v", "image": {"reference": "a/weights:1"}}, {"name": "w", "emptyDir": {}}],
}


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": POD},
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"template": {"spec": POD}}},
        {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": POD}}}}},
        {"apiVersion": "example.com/v1", "kind": "Anything", "spec": {"roles": [{"entryTemplate": {"spec": POD}}]}},
    ],
)
def test_every_image_of_a_pod_leads_to_the_cache(body: dict[str, Any]) -> None:
    before = repr(body)
    changed = cached_object(body, CACHE)
    assert [image.partition("/")[2] for image in images_in(changed)] == [
        "docker-hub/curlimages/curl:8",
        "github/a/b:1",
        "docker-hub/a/weights:1",
    ]
    assert repr(body) == before, "the object itself stays"


def test_what_is_no_pod_stays_the_same_object() -> None:
    """``image`` of a kind that nobody knows may be a picture, and a map named so may be anything."""
    for body in (
        {"kind": "ConfigMap", "data": {"image": "vllm/vllm-openai"}},
        {"kind": "Logo", "spec": {"image": "nginx", "containers": "two"}},
        {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"image": "quay.io/a/b"}, None]}}}},
    ):
        assert cached_object(body, CACHE) is body


def test_a_workload_keeps_what_was_read_of_its_image() -> None:
    fleet = fleet_of(open_model(), playground("p", "m"))
    (_, before), (_, after) = next(fleet.workloads), next(cached_fleet(fleet, CACHE).workloads)
    assert after.server.line is before.server.line, "engine and version"
    assert all(image.startswith(f"{HOST}/") for image in images_in(after.body))
    assert not any(image.startswith(HOST) for image in images_in(before.body))


def test_a_resource_for_an_operator_has_its_images_changed_and_what_the_operator_adds_is_told() -> None:
    runtime = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "BackendRuntime",
        "metadata": {"name": "mine"},
        "spec": {
            "image": "vllm/vllm-openai",
            "version": "v0.7.3",
            "command": ["python3"],
            "recommendedConfigs": [{"name": "default", "args": ["--model", "{{`{{ .ModelPath }}`}}"]}],
        },
    }
    shown = playground("p", "m", backendRuntimeConfig={"backendName": "mine"})
    fleet = fleet_of(open_model(), runtime, shown, realization=Realization.OPERATOR)
    assert fleet.problems == ()
    cached = cached_fleet(fleet, CACHE)
    bodies = {body["kind"]: body for item in cached.rendered for body in item.objects}
    assert bodies["BackendRuntime"]["spec"]["image"] == f"{HOST}/docker-hub/vllm/vllm-openai"
    # The operator was built with it (llmaz spec 2.6.1).
    assert [image.rpartition(":")[0] for image in uncached_operated(fleet, CACHE)] == ["inftyai/model-loader"]

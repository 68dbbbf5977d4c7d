"""Components whose object only LLMKube's operator can handle."""

from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.resources.llmkube import ModelPool
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import deploy

MEMBERS = [{"inference_service_ref": {"name": name}} for name in ("chat", "code")]


def pool(**args: Any) -> None:
    provider = pulumi_kubernetes.Provider("cluster", kubeconfig="{}")
    ModelPool("pool", {"members": MEMBERS, **args}, pulumi.ResourceOptions(provider=provider))  # type: ignore[typeddict-item]


@pytest.mark.parametrize("release", [{}, {"release": "v0.9.16"}])
def test_a_release_that_has_the_kind(release: dict[str, str]) -> None:
    recorded = deploy(lambda: pool(**release))
    (found,) = (entry for entry in recorded.graph if entry.parent == "inference-platform:index:ModelPool::pool")
    assert found.inputs["spec"]["members"] == [{"inferenceServiceRef": {"name": name}} for name in ("chat", "code")]


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ("v0.9.0", "LLMKube v0.9.0 has no kind ModelPool; v0.9.16 to v0.9.19 have it"),
        ("v9", "must be a release of LLMKube: "),
    ],
)
def test_a_release_that_has_not(release: str, reason: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        deploy(lambda: pool(release=release))
    errors = caught.value.errors
    assert errors
    (error,) = errors
    assert error["property_path"] == "release"
    assert error["reason"].startswith(reason)

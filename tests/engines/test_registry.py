"""Readers of the shipped backends and of what is known of engines."""

import pytest

from components.engines.registry import engine_of, engines
from components.engines.versions import POST, VersionSpan, version_of
from components.families.llmaz.shipped import shipped, shipped_names


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v0.8.2", (0, 8, 2)),
        ("0.8.3-cu121", (0, 8, 3)),
        ("v0.4.6.post2-cu124", (0, 4, 6, POST + 2)),
        ("v0.10.1.1", (0, 10, 1, 1)),
        ("25.03-trtllm-python-py3", (25, 3)),
        ("server-b6500", None),
        ("latest", None),
        ("", None),
    ],
)
def test_tags_are_read(tag: str, version: tuple[int, ...] | None) -> None:
    assert version_of(tag) == version


@pytest.mark.parametrize(
    ("tag", "expected"), [("v0.8.2", True), ("v0.8.1", False), ("v0.10.0", True), ("nightly", True), ("v0.8", False)]
)
def test_versions_are_compared_as_numbers(tag: str, expected: bool) -> None:
    assert VersionSpan(since=(0, 8, 2)).includes(version_of(tag)) is expected


@pytest.mark.parametrize(
    ("image", "engine"),
    [
        ("vllm/vllm-openai", "vllm"),
        ("registry.example.com/mirror/vllm/vllm-openai", "vllm"),
        ("ghcr.io/ggerganov/llama.cpp", "llamacpp"),
        ("ghcr.io/ggml-org/llama.cpp", "llamacpp"),
        ("ghcr.io/huggingface/text-generation-inference", "tgi"),
        ("nvcr.io/nvidia/tritonserver", "tensorrt-llm"),
        ("example.com/other", None),
        ("example.com/notvllm/vllm-openai", None),
    ],
)
def test_engines_are_known_by_their_image(image: str, engine: str | None) -> None:
    found = engine_of(image)
    assert (found.name if found else None) == engine


def test_every_shipped_backend_has_an_engine_that_knows_its_images() -> None:
    assert set(shipped_names()) < set(engines())
    for name in shipped_names():
        for edition in ("upstream", "current"):
            runtime = shipped(name, edition)
            assert runtime is not None
            found = engine_of(runtime.spec.image)
            assert found is not None, runtime.spec.image
            assert found.name == name
            assert runtime.metadata.labels["app.kubernetes.io/part-of"] == "llmaz"

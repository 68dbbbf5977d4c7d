"""Where references are pulled from, as the reference implementation of registries completes them."""

import pytest

from components.engines.images import pull_reference


@pytest.mark.parametrize(
    ("reference", "registry", "path"),
    [
        # distribution/reference v0.6.0, normalize_test.go and reference.go.
        ("busybox", "docker.io", "library/busybox"),
        ("busybox:1.36", "docker.io", "library/busybox:1.36"),
        ("vllm/vllm-openai:v0.20.0", "docker.io", "vllm/vllm-openai:v0.20.0"),
        ("docker.io/busybox", "docker.io", "library/busybox"),
        ("index.docker.io/library/busybox", "docker.io", "library/busybox"),
        ("registry-1.docker.io/ollama/ollama", "docker.io", "ollama/ollama"),
        ("ghcr.io/ggml-org/llama.cpp:server", "ghcr.io", "ggml-org/llama.cpp:server"),
        ("localhost/app", "localhost", "app"),
        ("registry:5000/app:1", "registry:5000", "app:1"),
        (f"quay.io/a/b@sha256:{'0' * 64}", "quay.io", f"a/b@sha256:{'0' * 64}"),
        (f"a/b:1@sha256:{'0' * 64}", "docker.io", f"a/b:1@sha256:{'0' * 64}"),
    ],
)
def test_where_a_reference_is_pulled_from(reference: str, registry: str, path: str) -> None:
    assert pull_reference(reference) == (registry, path)


@pytest.mark.parametrize("text", ["", "Upper/case", "a b", "$(IMAGE)", "a/b:", "a/b@sha256:12", "ghcr.io/", "a//b"])
def test_what_is_no_reference_is_pulled_from_nowhere(text: str) -> None:
    assert pull_reference(text) is None

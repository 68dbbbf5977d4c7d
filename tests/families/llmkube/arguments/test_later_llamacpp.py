"""llama.cpp in later releases of LLMKube: speculative decoding, modes, addresses and the router mode.

Expected arguments are those of internal/controller/runtime_llamacpp_args.go and runtime_llamacpp_router.go at
v0.9.19, in the spelling of the engine's table of flags.
"""

from typing import Any

import pytest

from tests.families.llmkube.arguments.support import FILE, llama, start

NEW = "ghcr.io/ggml-org/llama.cpp:server-b10068"
HEAD = ["--models-dir", "/models", "--host", "0.0.0.0", "--port", "8080"]
MODELS = {
    "extraVolumes": [{"name": "m", "persistentVolumeClaim": {"claimName": "m"}}],
    "extraVolumeMounts": [{"name": "m", "mountPath": "/models"}],
}


@pytest.mark.parametrize(
    ("spec", "args"),
    [
        ({"type": "mtp"}, ["--spec-type", "draft-mtp"]),
        ({"type": "draft-mtp", "nDraftMax": 3}, ["--spec-type", "draft-mtp", "--spec-draft-n-max", "3"]),
        ({"type": "disabled"}, []),
        ({"type": "none", "nDraftMax": 3}, []),
        ({"type": "ngram-map-k4v"}, ["--spec-type", "ngram-map-k4v"]),
        ({"type": "ngram-mod", "pMin": 0.25}, ["--spec-type", "ngram-mod", "--draft-p-min", "0.25"]),
    ],
)
def test_speculation_without_a_draft(spec: dict[str, Any], args: list[str]) -> None:
    started = llama({"speculativeDecoding": spec}, image=NEW)
    assert started.own == args
    assert not started.problems


@pytest.mark.parametrize("type_", ["draft", "draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark"])
def test_a_draft_type_needs_weights(type_: str) -> None:
    assert "spec.speculativeDecoding.type" in llama({"speculativeDecoding": {"type": type_}}, image=NEW).errors


def test_a_draft_must_be_one_of_the_files() -> None:
    spec = {"type": "draft-simple", "draftModel": "d.gguf"}
    assert "spec.speculativeDecoding.draftModel" in llama({"speculativeDecoding": spec}, image=NEW).errors


def test_weights_of_a_type_without_a_draft_are_told() -> None:
    spec = {"type": "ngram-mod", "draftModelRef": "d"}
    assert "spec.speculativeDecoding.draftModelRef" in llama({"speculativeDecoding": spec}, image=NEW).warnings


def test_an_older_server_knows_no_types() -> None:
    old = "ghcr.io/ggml-org/llama.cpp:server-b6500"
    assert "spec.speculativeDecoding.type" in llama({"speculativeDecoding": {"type": "mtp"}}, image=old).errors


@pytest.mark.parametrize(
    ("mode", "extra", "args"),
    [
        ("chat", [], []),
        ("embedding", [], ["--embedding", "--pooling", "last", "--cache-ram", "0"]),
        ("embedding", ["--pooling", "cls"], ["--embedding", "--cache-ram", "0", "--pooling", "cls"]),
        ("rerank", [], ["--rerank", "--embedding", "--pooling", "rank", "--cache-ram", "0"]),
        ("rerank", ["--reranking"], ["--embedding", "--pooling", "rank", "--cache-ram", "0", "--reranking"]),
    ],
)
def test_a_mode_has_its_flags_unless_the_user_has(mode: str, extra: list[str], args: list[str]) -> None:
    assert llama({"mode": mode, "extraArgs": extra}, image=NEW).own == args


def test_an_older_server_has_no_cache_of_prompts_to_turn_off() -> None:
    started = llama({"mode": "embedding"}, image="ghcr.io/ggml-org/llama.cpp:server-b6500")
    assert started.own == ["--embedding", "--pooling", "last"]
    assert not started.errors


@pytest.mark.parametrize(
    ("runtime", "mode", "told"),
    [("vllm", "embedding", True), ("tgi", "rerank", True), ("sglang", "rerank", True), ("vllm", "chat", False)],
)
def test_a_mode_without_flags_is_told(runtime: str, mode: str, *, told: bool) -> None:
    assert ("spec.mode" in start(runtime, {"mode": mode}, gpus=1).warnings) is told


@pytest.mark.parametrize(
    ("runtime", "flag"),
    [("llamacpp", "--host"), ("vllm", "--host"), ("sglang", "--host"), ("tgi", "--hostname")],
)
def test_the_address_of_the_server(runtime: str, flag: str) -> None:
    def address(spec: dict[str, Any]) -> str:
        args = start(runtime, spec, gpus=1, path=FILE if runtime == "llamacpp" else "").args
        return args[args.index(flag) + 1]

    assert address({}) == "0.0.0.0"  # upstream's default is "::" since v0.9.0
    assert address({"bindAddress": "::"}) == "::"
    assert address({"bindAddress": ""}) == "0.0.0.0"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "[::1]", "localhost"])
def test_an_address_that_no_service_reaches_is_refused(address: str) -> None:
    assert "spec.bindAddress" in llama({"bindAddress": address}).errors


def test_an_address_that_the_user_replaces_is_told() -> None:
    assert "spec.bindAddress" in llama({"bindAddress": "::", "extraArgs": ["--host", "0.0.0.0"]}).warnings


def test_the_router_serves_a_folder() -> None:
    started = start("llamacpp-router", {**MODELS, "extraArgs": ["--models-max", "2"]}, gpus=1)
    assert started.args == [*HEAD, "--models-max", "2", "--metrics"]
    assert not started.errors


@pytest.mark.parametrize("mounts", [[], [{"name": "m", "mountPath": "/data"}]])
def test_the_router_needs_its_folder(mounts: list[dict[str, str]]) -> None:
    started = start("llamacpp-router", {**MODELS, "extraVolumeMounts": mounts})
    assert "/models" in started.errors["spec.extraVolumeMounts"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("contextSize", 4096), ("speculativeDecoding", {"type": "mtp"}), ("mode", "embedding"), ("jinja", True)],
)
def test_the_router_ignores_settings_of_one_model(field: str, value: object) -> None:
    assert f"spec.{field}" in start("llamacpp-router", {**MODELS, field: value}).warnings

"""Fields of llama.cpp beside ``extraArgs``: what both say, and what is left to them."""

import pytest

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import HEAD, llama, start


def test_metrics_are_turned_on_once() -> None:
    """Deviation: upstream writes the flag again."""
    assert llama({"extraArgs": ["--metrics", "--seed", "1"]}).args == [*HEAD, "--metrics", "--seed", "1"]


@pytest.mark.parametrize("slots", [["--parallel", "8"], ["--parallel=8"], ["-np", "8"]])
def test_slots_in_extra_args_in_any_spelling(slots: list[str]) -> None:
    """Deviation: upstream does not see the short one."""
    started = llama({"parallelSlots": 2, "extraArgs": slots})
    assert started.own == slots
    assert slots[0] in started.warnings["spec.parallelSlots"]


@pytest.mark.parametrize(
    ("spec", "other", "path"),
    [
        ({"contextSize": 4096}, ["-c", "1"], "spec.contextSize"),
        ({"jinja": True}, ["--no-jinja"], "spec.jinja"),
        ({"batchSize": 1}, ["-b", "2"], "spec.batchSize"),
        ({"noKvOffload": True, "resources": {"memory": "1Gi"}}, ["-kvo"], "spec.noKvOffload"),
    ],
)
def test_what_a_field_and_extra_args_both_say(spec: Document, other: list[str], path: str) -> None:
    assert other[0] in llama({**spec, "extraArgs": other}).warnings[path]
    assert not llama({**spec, "extraArgs": ["--seed", "1"]}).problems


def test_what_the_model_and_extra_args_both_say() -> None:
    expected = "-ngl here comes last and overrides --n-gpu-layers; remove one of the two"
    assert llama({"extraArgs": ["-ngl", "5"]}, gpus=1).warnings == {"spec.extraArgs": expected}


def test_an_image_without_a_tag_is_the_newest() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}}, image="ghcr.io/ggml-org/llama.cpp@sha256:abc")
    assert "newest version" in started.errors["spec.ropeScaling.type"]


def test_extra_args_may_add_overrides() -> None:
    assert not llama({"tensorOverrides": ["a=CPU"], "extraArgs": ["-ot", "b=CPU"]}).problems


@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_the_port_is_not_for_extra_args(runtime: str) -> None:
    started = start(runtime, {"extraArgs": ["--port", "1234"]}, path="/models/m.gguf")
    assert "containerPort" in started.errors["spec.extraArgs"]
    assert not start(runtime, {"containerPort": 1234}, path="/models/m.gguf").problems


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("org/repo", ["--hf-repo", "org/repo"]),
        ("https://example.com/m.gguf", ["--model-url", "https://example.com/m.gguf"]),
        ("/baked/m.gguf", ["--model", "/baked/m.gguf"]),
        ("file:///baked/m.gguf", ["--model", "/baked/m.gguf"]),
    ],
)
def test_a_server_without_an_init_container_is_told_what_to_fetch(source: str, expected: list[str]) -> None:
    """Deviation: upstream gives it an empty path, with which it does not start."""
    started = start("llamacpp", {"skipModelInit": True}, source=source)
    assert started.args[:2] == expected
    assert not started.problems


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LLAMA_ARG_HF_REPO", ["--model", ""]),
        ("LLAMA_ARG_MODEL_URL", ["--model", ""]),
        ("LLAMA_ARG_MODEL", ["--host", "0.0.0.0"]),
    ],
)
def test_the_environment_may_name_the_model(name: str, expected: list[str]) -> None:
    """Of a variable and its argument llama.cpp takes the argument, so that the path's own must not be there."""
    spec = {"skipModelInit": True, "env": [{"name": name, "value": "org/other"}]}
    assert start("llamacpp", spec).args[:2] == expected


@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_extra_args_are_checked_by_the_element(runtime: str) -> None:
    started = start(runtime, {"extraArgs": ["--no-such-flag", "x"]}, path="/models/m")
    found = {**started.warnings, **started.errors}
    assert "--no-such-flag" in found["spec.extraArgs[0]"]


def test_extra_args_that_name_another_model() -> None:
    assert "-hf" in llama({"extraArgs": ["-hf", "org/other"]}).warnings["spec.extraArgs"]

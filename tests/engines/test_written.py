"""How a flag is written for a version, and which version an image of an address that was left has."""

from typing import Any

import pytest

from components.engines.flags.tables import (
    ARGPARSE,
    arguments,
    successor,
)
from components.engines.registry import engine_of, engines
from components.engines.versions import VersionSpan
from components.families.llmaz.shipped import shipped
from tests.engines.test_flags import ENGINES, find, table


@pytest.mark.parametrize(
    ("engine", "name", "tag", "right"),
    [
        ("tgi", "--max-input-length", "1.4.5", "--max-input-length"),
        ("tgi", "--max-input-length", "2.0.0", "--max-input-tokens"),
        ("tgi", "--max-input-tokens", "1.4.5", "--max-input-length"),
        ("tgi", "--max-input-tokens", "latest", "--max-input-tokens"),
        ("vllm", "--speculative-model", "v0.8.2", "--speculative-model"),
        ("vllm", "--speculative_model", "v0.8.3", "--speculative-config"),
        ("vllm", "--no-such-flag", "v0.8.3", "--no-such-flag"),
        ("vllm", "--swap-space", "v0.20.0", "--swap-space"),
        ("llamacpp", "--draft-max", "server", "--spec-draft-n-max"),
        ("llamacpp", "--draft-max", "server-b6500", "--draft-max"),
        ("ollama", "--x", "latest", "--x"),
    ],
)
def test_the_right_spelling(engine: str, name: str, tag: str, right: str) -> None:
    assert successor(engine, name, tag) == right


@pytest.mark.parametrize(
    ("engine", "name", "value", "tag", "expected"),
    [
        ("llamacpp", "--flash-attn", "on", "server-b6000", ("--flash-attn",)),
        ("llamacpp", "--flash-attn", "off", "server-b6000", ()),
        ("llamacpp", "--flash-attn", "on", "server-b6325", ("--flash-attn", "on")),
        ("tgi", "--max-input-length", "4096", "3.3.6", ("--max-input-tokens", "4096")),
        ("vllm", "--speculative-model", "draft", "v0.20.0", ("--speculative-config", '{"model": "draft"}')),
        (
            "vllm",
            "--num-speculative-tokens",
            "4",
            "v0.20.0",
            ("--speculative-config", '{"num_speculative_tokens": 4}'),
        ),
        ("llamacpp", "--mlock", "", "server", ("--load-mode", "mlock")),
        ("ollama", "--x", "1", "latest", ("--x", "1")),
    ],
)
def test_how_it_is_written(engine: str, name: str, value: str, tag: str, expected: tuple[str, ...]) -> None:
    assert arguments(engine, name, value, tag) == expected


def test_python_negates_long_spellings_only() -> None:
    flag = find("vllm", "--enable-expert-parallel")
    assert "-ep" in flag.names_in((0, 14))
    assert flag.negatives == ("--no-enable-expert-parallel", "--disable-expert-parallel")
    # EnableDisableAction of vllm/utils/argparse_utils.py came with 0.33.
    assert set(flag.names_in((0, 32))) == {flag.name, "-ep", "--no-enable-expert-parallel"}
    assert table("sglang").style == ARGPARSE


@pytest.mark.parametrize(
    ("facts", "found"), [({"since": (2,)}, False), ({"deprecated": (2,)}, True), ({"deprecated": True}, False)]
)
def test_a_deprecation_without_a_version_is_that_of_the_newest(facts: dict[str, Any], found: bool) -> None:
    span = VersionSpan(**facts)
    assert span.is_deprecated((2,)) is found
    assert span.is_deprecated(None) is ("deprecated" in facts)


@pytest.mark.parametrize(
    ("engine", "image", "tag", "expected"),
    [
        # Packages moved on 2025-02-15 (ggml-org/llama.cpp pull request 11890); nothing of the old address is newer.
        ("llamacpp", "ghcr.io/ggerganov/llama.cpp", "server", "server-b4719"),
        ("llamacpp", "ghcr.io/ggerganov/llama.cpp", "server-cuda", "server-cuda-b4719"),
        ("llamacpp", "ggerganov/llama.cpp", "", "b4719"),
        ("llamacpp", "ghcr.io/ggerganov/llama.cpp", "server-b6500", "server-b6500"),
        ("llamacpp", "ghcr.io/ggml-org/llama.cpp", "server", "server"),
        ("llamacpp", "example.com/notggerganov/llama.cpp", "server", "server"),
        ("vllm", "vllm/vllm-openai", "nightly", "nightly"),
        ("ollama", "ollama/ollama", "latest", "latest"),
    ],
)
def test_a_tag_of_an_address_that_was_left_is_old(engine: str, image: str, tag: str, expected: str) -> None:
    assert engines()[engine].version_tag(image, tag) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_an_address_that_was_left_is_one_of_the_engine(engine: str) -> None:
    for image, last in engines()[engine].frozen.items():
        assert (found := engine_of(image))
        assert found.name == engine
        assert table(engine).version(last) is not None


# llmaz ships no runtime of Text Embeddings Inference.
@pytest.mark.parametrize("engine", sorted({*ENGINES} - {"tei"}))
def test_the_commands_that_are_shipped_run_a_program_of_the_engine(engine: str) -> None:
    runtime = shipped(engine)
    assert runtime is not None
    command = runtime.spec.command or [engines()[engine].programs[0]]
    assert command[-1].rpartition("/")[2] in engines()[engine].programs

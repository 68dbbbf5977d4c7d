"""Maps from flags to values, such as a ModelBooster's ``config``, are written as the engine takes them."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.flags.configured import flag_of_key, flag_words, words_of_config
from components.engines.lint import lint
from tests.engines.test_flags import ENGINES, table
from tests.engines.test_lint import FLOATING

OLD, NEW = "v0.8.3", "v0.11.0"
TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
SCALARS = st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXTS, inner)), max_leaves=4)


@pytest.mark.parametrize(
    ("flag", "value", "tag", "words"),
    [
        # A switch of argparse is there or not (vLLM 0.8.3, arg_utils.py: action="store_true").
        ("--enable-lora", True, OLD, ("--enable-lora",)),
        ("--enable-lora", False, OLD, ()),
        # BooleanOptionalAction since 0.9 (arg_utils.py: get_kwargs).
        ("--enable-lora", True, NEW, ("--enable-lora",)),
        ("--enable-lora", False, NEW, ("--no-enable-lora",)),
        ("--no-enable-lora", True, NEW, ("--no-enable-lora",)),
        ("--no-enable-lora", False, NEW, ("--enable-lora",)),
        # A word that may be left out (vLLM 0.8.3, arg_utils.py: StoreBoolean).
        ("--enable-chunked-prefill", True, OLD, ("--enable-chunked-prefill",)),
        ("--enable-chunked-prefill", False, OLD, ("--enable-chunked-prefill", "false")),
        # Text is the user's own, right or wrong; what is empty is the flag alone.
        ("--enable-lora", "true", NEW, ("--enable-lora", "true")),
        ("--enable-prefix-caching", "", NEW, ("--enable-prefix-caching",)),
        ("--served-model-name", "a b", NEW, ("--served-model-name", "a b")),
        ("--served-model-name", "${MODEL}", NEW, ("--served-model-name", "${MODEL}")),
        ("--chat-template", "--odd", NEW, ("--chat-template=--odd",)),
        ("--max-logprobs", "-1", NEW, ("--max-logprobs", "-1")),
        # Numbers are exact: Kthena spec D-20 is about 1e6 and more.
        ("--max-model-len", 131072, NEW, ("--max-model-len", "131072")),
        ("--max-num-batched-tokens", 1048576, NEW, ("--max-num-batched-tokens", "1048576")),
        ("--max-num-batched-tokens", 1048576.0, NEW, ("--max-num-batched-tokens", "1048576")),
        ("--max-logprobs", -1, NEW, ("--max-logprobs", "-1")),
        ("--seed", 2**63, NEW, ("--seed", "9223372036854775808")),
        ("--gpu-memory-utilization", 0.95, NEW, ("--gpu-memory-utilization", "0.95")),
        # Objects and lists, as JSON or as several values.
        ("--kv-transfer-config", {"kv_role": "kv_both", "n": [1]}, NEW,
         ("--kv-transfer-config", '{"kv_role":"kv_both","n":[1]}')),
        ("--allowed-origins", ["*"], NEW, ("--allowed-origins", '["*"]')),
        ("--lora-modules", ["a=/a", {"name": "b", "path": "/b"}], NEW,
         ("--lora-modules", "a=/a", '{"name":"b","path":"/b"}')),
        ("--middleware", ["a", "b"], NEW, ("--middleware", "a", "--middleware", "b")),
        ("--served-model-name", [], NEW, ("--served-model-name",)),
        ("--max-model-len", None, NEW, ()),
        # A truth value for a flag that takes another: written, so that the lint sees it.
        ("--max-model-len", True, NEW, ("--max-model-len", "true")),
        ("--max-model-len", False, NEW, ("--max-model-len", "false")),
        # Unknown flags.
        ("--odd", True, NEW, ("--odd",)),
        ("--odd", False, NEW, ()),
        ("--odd", "", NEW, ("--odd",)),
        ("--odd", "x", NEW, ("--odd", "x")),
        ("--odd", 10**20, NEW, ("--odd", "100000000000000000000")),
        ("--odd", {"ä": 1}, NEW, ("--odd", '{"ä":1}')),
        ("--odd", [1, "b"], NEW, ("--odd", '[1,"b"]')),
    ],
)  # fmt: skip
def test_a_value_is_written_as_the_flag_takes_it(flag: str, value: Any, tag: str, words: tuple[str, ...]) -> None:
    assert flag_words("vllm", tag, flag, value) == words


@pytest.mark.parametrize(
    ("engine", "tag", "flag", "value", "words"),
    [
        ("sglang", "v0.5.4", "--enable-metrics", True, ("--enable-metrics",)),
        ("sglang", "v0.5.4", "--enable-metrics", False, ()),
        ("sglang", "v0.5.4", "--lora-paths", ["a=/a", "b=/b"], ("--lora-paths", "a=/a", "b=/b")),
        # llama.cpp takes a value since build 6325, "true" as well as "on"; a switch before.
        ("llamacpp", "server-b6000", "--flash-attn", True, ("--flash-attn",)),
        ("llamacpp", "server-b6500", "--flash-attn", True, ("--flash-attn", "true")),
        ("llamacpp", "server-b6500", "--flash-attn", False, ("--flash-attn", "false")),
        ("unknown", "v1", "--flag", ["a"], ("--flag", '["a"]')),
        ("ollama", "latest", "--flag", "-x", ("--flag", "-x")),
    ],
)
def test_other_engines(engine: str, tag: str, flag: str, value: Any, words: tuple[str, ...]) -> None:
    assert flag_words(engine, tag, flag, value) == words


def test_the_map_of_the_specification() -> None:
    """Kthena spec 2.3, but for the truth value, which is the flag alone here (D-20)."""
    config = {
        "served-model-name": "q",
        "max_model_len": 131072,
        "enable-prefix-caching": "",
        "trust-remote-code": True,
    }
    words = words_of_config("vllm", NEW, config)
    assert " ".join(word for word, _ in words) == (
        "--enable-prefix-caching --max-model-len 131072 --served-model-name q --trust-remote-code"
    )
    assert [key for _, key in words] == [
        "enable-prefix-caching", "max_model_len", "max_model_len", "served-model-name", "served-model-name",
        "trust-remote-code",
    ]  # fmt: skip


def test_keys_are_in_the_order_of_their_code_points() -> None:
    config = dict.fromkeys(["max-b", "max_a", "maxC", "a"], "")
    assert [word for word, _ in words_of_config("vllm", NEW, config)] == ["--a", "--max-b", "--maxC", "--max-a"]


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_a_key_in_camel_case_gets_the_flag_as_a_hint(engine: str) -> None:
    names = [name for name in table(engine).names_in(None) if re.fullmatch("--[a-z]+(-[a-z]+)+", name)]
    assert len(names) > 20
    for name in names:
        key = re.sub("-(.)", lambda found: found[1].upper(), name[2:])
        (finding,) = lint(CommandLine(engine, FLOATING[engine], [flag_of_key(key)]))
        assert finding.reason.endswith(f"did you mean '{name}'?")


@given(st.sampled_from(ENGINES), st.dictionaries(TEXTS, VALUES, max_size=3))
def test_any_map_can_be_written(engine: str, config: dict[str, Any]) -> None:
    words = words_of_config(engine, FLOATING[engine], config)
    assert words == words_of_config(engine, FLOATING[engine], dict(reversed(config.items())))
    assert {key for _, key in words} <= set(config)
    lint(CommandLine(engine, FLOATING[engine], [word for word, _ in words]))


@given(VALUES.filter(lambda value: not isinstance(value, bool | str)))
def test_what_an_unknown_flag_is_given_can_be_read_back(value: Any) -> None:
    flag, _, text = "=".join(flag_words("vllm", NEW, "--odd", value)).partition("=")
    assert flag == "--odd"
    assert json.loads(text) == value


@given(TEXTS.filter(bool))
def test_text_is_never_changed(text: str) -> None:
    assert "=".join(flag_words("vllm", NEW, "--served-model-name", text)) == f"--served-model-name={text}"

"""Arguments are written as the version of an engine knows them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.spelling import respelled, respelled_with_origins, without_repeated
from tests.engines.test_lint import ENGINES, FLOATING, LLAMA, SGLANG, VLLM, WORDS


@pytest.mark.parametrize(
    ("engine", "tag", "written", "expected"),
    [
        ("llamacpp", "server", "-m x -fa --metrics", "-m x -fa on --metrics"),
        ("llamacpp", LLAMA, "-m x -fa", "-m x -fa on"),
        ("llamacpp", LLAMA, "-m x -fa auto", "-m x -fa auto"),
        ("llamacpp", "server-b6000", "-m x --flash-attn on --metrics", "-m x --flash-attn --metrics"),
        ("llamacpp", "server-b6000", "-m x --flash-attn off --metrics", "-m x --metrics"),
        ("llamacpp", "server-b6000", "-m x -fa", "-m x -fa"),
        ("llamacpp", "server", "--draft-max 16 --draft-min 5", "--spec-draft-n-max 16 --spec-draft-n-min 5"),
        ("llamacpp", LLAMA, "--draft-max 16 --draft-min 5", "--draft-max 16 --draft-min 5"),
        ("tgi", "1.4.5", "--max-input-length 5", "--max-input-length 5"),
        ("vllm", VLLM, "m --speculative-model d", "m --speculative-model d"),
        ("vllm", VLLM, "m --task generate --port=1", "m --runner generate --port=1"),
        ("vllm", VLLM, "m --task embed", "m --task embed"),  # --runner takes other values
        ("vllm", VLLM, "m --enable-reasoning", "m --enable-reasoning"),  # --reasoning-parser needs a value
        ("vllm", VLLM, "m --disable-mm-preprocessor-cache", "m --mm-processor-cache-gb 0"),
        ("vllm", VLLM, "m --swap-space 4 extra", "m --swap-space 4 extra"),
        ("ollama", "latest", "-fa", "-fa"),
        ("llamacpp", "server", "sh -c -fa", "sh -c -fa"),
        ("llamacpp", "server", "/app/llama-server -fa", "/app/llama-server -fa on"),
        ("llamacpp", "full", "--server -fa", "--server -fa"),
    ],
)
def test_arguments_are_written_as_the_version_knows_them(engine: str, tag: str, written: str, expected: str) -> None:
    assert respelled(CommandLine(engine, tag, written.split())).args == tuple(expected.split())


@given(st.sampled_from(ENGINES), st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=8))
def test_fitting_twice_changes_nothing_more(engine: str, args: list[str]) -> None:
    once = respelled(CommandLine(engine, FLOATING[engine], args))
    assert respelled(once).args == once.args


@pytest.mark.parametrize(
    ("engine", "tag", "written", "expected"),
    [
        ("llamacpp", "server", "-m x -fa --metrics", [0, 1, 2, 2, 3]),
        ("llamacpp", "server-b6000", "-fa off -m x", [2, 3]),
        ("llamacpp", "server", "--draft-max 16 -m x", [0, 1, 2, 3]),
        ("vllm", VLLM, "m --disable-mm-preprocessor-cache --port 1", [0, 1, 1, 2, 3]),
        ("sglang", SGLANG, "python3 -m sglang.launch_server --port 1", [0, 1, 2, 3, 4]),
        ("ollama", "latest", "a b", [0, 1]),
    ],
)
def test_a_rewritten_argument_knows_where_it_comes_from(
    engine: str, tag: str, written: str, expected: list[int]
) -> None:
    assert [place for _, place in respelled_with_origins(CommandLine(engine, tag, written.split()))] == expected


@pytest.mark.parametrize(
    ("engine", "args", "user", "kept"),
    [
        ("tgi", "--model-id x --port 80", "--port 1", "--model-id x"),
        ("tgi", "--model-id x --port 80", "-p 1", "--model-id x"),
        ("tgi", "--port=80 --model-id x", "--port=1", "--model-id x"),
        ("tgi", "--model-id x --port 80", "--max-batch-size 1", "--model-id x --port 80"),
        ("tgi", "--model-id x --port 80", "", "--model-id x --port 80"),
        ("tgi", "--cors-allow-origin a", "--cors-allow-origin b", "--cors-allow-origin a"),  # adds up
        ("vllm", "--model x --port 80", "--port 1", "--model x --port 80"),
        ("ollama", "--port 80", "--port 1", "--port 80"),
    ],
)
def test_a_flag_that_is_taken_once_is_left_to_the_user(engine: str, args: str, user: str, kept: str) -> None:
    line = CommandLine(engine, "3.3.6", args.split())
    assert without_repeated(line, line.continued(user.split())).args == tuple(kept.split())

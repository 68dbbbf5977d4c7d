"""The names that a server answers to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.registry import engines
from components.engines.served.names import answers_to, served_names
from components.engines.served.rows import served_names_table

SERVER = ("python3", "-m", "vllm.entrypoints.openai.api_server")


def vllm(*args: str) -> CommandLine:
    return CommandLine("vllm", "v0.11.0", args, SERVER)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (vllm("--model", "/m"), ("/m",)),
        (vllm("--model", "/m", "--served-model-name", "a", "b", "--port", "1"), ("a", "b")),
        (vllm("--model", "/m", "--served-model-name=a"), ("a",)),
        (vllm("--model", "/m", "--served_model_name", "a", "--served-model-name", "b"), ("b",)),
        (CommandLine("vllm", "v0.11.0", ["serve", "org/m", "--port", "1"], ["vllm"]), ("org/m",)),
        (CommandLine("vllm", "v0.11.0", ["org/m"]), ("org/m",)),
        (
            CommandLine("vllm", "v0.11.0", ["vllm serve org/m --served-model-name 'a b' c"], ["sh", "-c"]),
            ("a b", "c"),
        ),
        (vllm(), ()),
        (CommandLine("vllm", "v0.11.0", ["own.sh"], ["sh", "-c"]), ()),
        (CommandLine("sglang", "v0.5.9", ["--model-path", "/m"], ["python3", "-m", "sglang.launch_server"]), ("/m",)),
        (CommandLine("sglang", "v0.5.9", ["--model-path=/m", "--served-model-name", "a"]), ("a",)),
        (CommandLine("tgi", "3.3.6", ["--model-id", "/m"]), ()),
    ],
)
def test_names_are_read(line: CommandLine, names: tuple[str, ...]) -> None:
    assert served_names(line) == names


@pytest.mark.parametrize(
    ("line", "name", "answered"),
    [
        # vLLM, serving_engine.py: "The model ... does not exist", status 404.
        (vllm("--model", "/m", "--served-model-name", "a", "b"), "b", True),
        (vllm("--model", "/m", "--served-model-name", "a", "b"), "/m", False),
        (vllm("--model", "/m"), "a", False),
        (vllm(), "a", None),
        # SGLang does not look at the name.
        (CommandLine("sglang", "v0.5.9", ["--model-path", "/m"]), "a", True),
        (CommandLine("ollama", "latest", []), "a", None),
    ],
)
def test_requests_by_a_name(line: CommandLine, name: str, answered: bool | None) -> None:
    assert answers_to(line, name) is answered


@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).filter(lambda name: not name.startswith("-")))
def test_any_served_name_is_answered(name: str) -> None:
    assert answers_to(vllm("--model", "/m", "--served-model-name", name), name)


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_the_tables_are_whole(name: str) -> None:
    known = served_names_table(name)
    assert known
    assert known.engine is engines()[name]
    assert known.others in ("answered", "refused")
    assert known.adapter_syntax(None) is known.adapters[-1]
    assert served_names_table("ollama") is None
    assert served_names_table("") is None

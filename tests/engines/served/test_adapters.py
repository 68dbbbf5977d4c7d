"""Adapters that a server is told of when it starts."""

import argparse
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.lint import lint
from components.engines.registry import engines
from components.engines.served.adapters import adapter_model_name, adapter_problems, adapters_of, with_adapters

SERVER = ("python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "/m")
TWO = {"b": "/loras/b", "a": "/loras/a"}


def vllm(*args: str, tag: str = "v0.11.0") -> CommandLine:
    return CommandLine("vllm", tag, args, SERVER)


def sglang(*args: str, tag: str = "v0.5.9") -> CommandLine:
    return CommandLine("sglang", tag, ["--model-path", "/m", *args])


def added(line: CommandLine, adapters: dict[str, str]) -> str:
    found = with_adapters(engines()[line.engine], line, adapters)
    assert found.command == line.command
    assert not [finding for finding in lint(found) if finding.severity == "error"]
    assert with_adapters(engines()[line.engine], found, adapters) is found
    return " ".join(found.args)


@pytest.mark.parametrize(
    ("args", "adapters", "expected"),
    [
        ("", TWO, "--enable-lora --lora-modules b=/loras/b a=/loras/a"),
        ("--port 1", {}, "--port 1"),
        ("--enable-lora --port 1", TWO, "--enable-lora --port 1 --lora-modules b=/loras/b a=/loras/a"),
        # A second use takes the place of the first (LoRAParserAction: setattr), so values go behind others.
        ("--lora-modules c=/c --port 1", TWO, "--lora-modules c=/c b=/loras/b a=/loras/a --port 1 --enable-lora"),
        ("--lora-modules=c=/c --port 1", TWO, "--lora-modules c=/c b=/loras/b a=/loras/a --port 1 --enable-lora"),
        ("--enable-lora --lora-modules a=/own", TWO, "--enable-lora --lora-modules a=/own b=/loras/b"),
        ('--enable-lora --lora-modules {"name":"a","path":"/own"}', TWO,
         '--enable-lora --lora-modules {"name":"a","path":"/own"} b=/loras/b'),
        ("--no-enable-lora", TWO, "--no-enable-lora"),
        # name=path is split at every "=", and a comma makes it JSON.
        ("--enable-lora", {"x": "/a=b"}, '--enable-lora --lora-modules {"name":"x","path":"/a=b"}'),
        ("--enable-lora", {"x": "/a,b"}, '--enable-lora --lora-modules {"name":"x","path":"/a,b"}'),
    ],
)  # fmt: skip
def test_vllm_is_told_of_adapters(args: str, adapters: dict[str, str], expected: str) -> None:
    assert added(vllm(*args.split()), adapters) == expected


@pytest.mark.parametrize(
    ("tag", "args", "expected"),
    [
        ("v0.5.9", "", "--model-path /m --enable-lora --lora-paths b=/loras/b a=/loras/a"),
        ("v0.5.9", "--lora-paths /own", "--model-path /m --lora-paths /own b=/loras/b a=/loras/a --enable-lora"),
        # --enable-lora came after 0.4.7, up to which adapters and the radix cache excluded one another.
        ("v0.4.7", "", "--model-path /m --disable-radix-cache --lora-paths b=/loras/b a=/loras/a"),
        (
            "v0.4.7",
            "--disable-radix-cache",
            "--model-path /m --disable-radix-cache --lora-paths b=/loras/b a=/loras/a",
        ),
    ],
)
def test_sglang_is_told_of_adapters(tag: str, args: str, expected: str) -> None:
    assert added(sglang(*args.split(), tag=tag), TWO) == expected


def test_adapters_in_the_command_get_company_there() -> None:
    line = CommandLine("vllm", "v0.11.0", ["--port", "1"], [*SERVER, "--enable-lora", "--lora-modules=c=/c"])
    found = with_adapters(engines()["vllm"], line, {"a": "/a"})
    assert found.command == (*SERVER, "--enable-lora", "--lora-modules", "c=/c", "a=/a")
    assert found.args == ("--port", "1")


@pytest.mark.parametrize(
    "line",
    [
        CommandLine("vllm", "v0.11.0", ["vllm serve m"], ["sh", "-c"]),
        CommandLine("tgi", "3.3.6", ["--model-id", "m"]),
        CommandLine("ollama", "latest", []),
    ],
)
def test_other_lines_are_left_alone(line: CommandLine) -> None:
    assert with_adapters(engines()[line.engine], line, TWO) is line


@pytest.mark.parametrize(
    ("line", "reasons"),
    [
        (vllm("--enable-lora", "--lora-modules", "a=/a", "b=/b"), []),
        # More adapters than fit a batch take turns (vllm/lora/worker_manager.py: LRUCacheWorkerLoRAManager).
        (vllm("--enable-lora", "--max-loras", "1", "--lora-modules", "a=/a", "b=/b"), []),
        (vllm("--enable-lora", "--lora-modules", "a=/a", "a=/b"), ["two adapters have the name 'a'; rename one"]),
        (vllm("--enable-lora", "--lora-modules", "/m=/a"), ["the adapter '/m' has the name of the model"]),
        (vllm("--enable-lora", "--served-model-name", "x", "a", "--lora-modules", "a=/a"), ["the adapter 'a' has"]),
        (vllm("--no-enable-lora", "--lora-modules", "a=/a"), ["--enable-lora is turned off; remove its"]),
        (CommandLine("vllm", "v0.11.0", ["vllm serve a --enable-lora --lora-modules a=/a"], ["sh", "-c"]),
         ["the adapter 'a' has the name of the model"]),
        # sglang, check_lora_server_args: "The number of LoRA paths should not exceed max_loaded_loras".
        (sglang("--lora-paths", "a=/a", "b=/b", "--max-loaded-loras", "1"), ["--max-loaded-loras is 1"]),
        (sglang("--lora-paths", "a=/a", "b=/b", "--max-loaded-loras", "2"), []),
        (vllm("--lora-modules", "{"), []),
        (vllm("--port", "1"), []),
        (CommandLine("ollama", "latest", []), []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_adapters(line: CommandLine, reasons: list[str]) -> None:
    found = list(adapter_problems(line))
    assert len(found) == len(reasons)
    assert all(part in reason for part, (_, reason) in zip(reasons, found, strict=True))


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        (vllm(), "a"),
        # sglang, serving_base.py: _parse_model_parameter, after 0.4.7; before, only lora_path in the body tells.
        (sglang("--served-model-name", "base"), "base:a"),
        (sglang(tag="v0.4.7"), ""),
        (CommandLine("ollama", "latest", []), ""),
    ],
)
def test_how_a_request_gets_an_adapter(line: CommandLine, asked: str) -> None:
    assert adapter_model_name(line, "a") == asked


def parsed(values: list[str]) -> dict[str, str]:
    """Read adapters as vLLM does: name=path without a comma, else JSON."""
    plain = [value.split("=") if "=" in value and "," not in value else None for value in values]
    return {
        name: path
        for value, pair in zip(values, plain, strict=True)
        for name, path in [pair or [json.loads(value)["name"], json.loads(value)["path"]]]
    }


TEXT = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=6).filter(lambda text: text[0] != "-")


@example({" {": "0"}, False)
@example({"{": "}"}, True)
@given(st.dictionaries(TEXT, TEXT, min_size=1, max_size=3), st.booleans())
def test_vllm_reads_what_was_given(adapters: dict[str, str], before: bool) -> None:
    line = vllm("--lora-modules", "own=/own", "--port", "1") if before else vllm("--port", "1")
    found = with_adapters(engines()["vllm"], line, adapters)
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--lora-modules", nargs="+")
    parser.add_argument("--port")
    parser.add_argument("--enable-lora", action="store_true")
    read = parser.parse_args(list(found.args))
    own = {"own": "/own"} if before else {}
    assert read.enable_lora
    assert parsed(read.lora_modules) == adapters | own
    assert dict(adapters_of(found)) == adapters | own


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (vllm("--lora-modules", " {=0", "{a=/a}", "b=/b"), {" {": "0", "{a": "/a}", "b": "/b"}),
        # It refuses to start with these: text without "=" or with a comma is JSON, and name=path has one "=".
        (vllm("--lora-modules", "a", "a=/b,c", "a=/b=c", ""), {}),
        (vllm("--lora-modules", ' {"name":"a","path":"/a=b"}', "b=/b"), {"a": "/a=b", "b": "/b"}),
        (vllm("--lora-modules", ' {"name":"a","path":"/a"}'), {"a": "/a"}),
        # sglang, LoRAPathAction: JSON is what has braces around it; check_lora_server_args: the first "=" counts.
        (sglang("--lora-paths", "/a", "b=/b=c", "{c=/c"), {"/a": "/a", "b": "/b=c", "{c": "/c"}),
        (sglang("--lora-paths", ' {"lora_name":"a","lora_path":"/a"} '), {"a": "/a"}),
        (sglang("--lora-paths", "{a=/a}"), {}),
    ],
)
def test_adapters_are_read_as_the_engine_reads_them(line: CommandLine, found: dict[str, str]) -> None:
    assert dict(adapters_of(line)) == found


@pytest.mark.parametrize("name", ["{a", " {a"])
def test_sglang_is_told_in_json_of_what_looks_like_it(name: str) -> None:
    found = with_adapters(engines()["sglang"], sglang(), {name: "/a}"})
    assert dict(adapters_of(found)) == {name: "/a}"}
    assert json.loads(found.args[-1]) == {"lora_name": name, "lora_path": "/a}"}

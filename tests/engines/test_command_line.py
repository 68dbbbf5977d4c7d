"""What a container is started with: read as its engine reads it, and searched where something else does."""

import pytest

from components.engines.command_line import CommandLine, command_line_of
from components.engines.settings import Setting

VLLM = "v0.20.0"
API_SERVER = ("python3", "-m", "vllm.entrypoints.openai.api_server")
SCRIPT = ("sh", "-c")


@pytest.mark.parametrize(
    ("engine", "command", "args", "port"),
    [
        # Of an engine that nothing is known of, and in scripts, the text is searched.
        ("", (), ["--port", "1", "--port=2"], 2),
        ("", SCRIPT, ["serve --port 3 &"], 3),
        ("", (), ["--portal", "4", "--port"], None),
        ("vllm", SCRIPT, ["ray start --head --port=6379\nserve"], None),
        ("vllm", SCRIPT, ["ray start --head --port=6379\nexec vllm serve m --port 8080\n"], 8080),
        ("", SCRIPT, ["serve --port 1 && other --port $PORT"], 1),
        ("tensorrt-llm", ("trtllm-serve",), ["m", "--port", "8000"], 8000),
        # Where the engine reads it, so is it here.
        ("vllm", API_SERVER, ["--port", "1", "--port=2"], 2),
        ("vllm", (), ["m", "--port", "x"], None),
        ("tgi", (), ["-p", "3000"], 3000),
        ("tgi", (), ["--model-id", "--port", "1"], 1),
        ("sglang", (), ["--served-model-name", "--port=1"], 1),
    ],
)
def test_the_port(engine: str, command: tuple[str, ...], args: list[str], port: int | None) -> None:
    assert CommandLine(engine, VLLM, args, command).number_of(Setting.PORT) == port


@pytest.mark.parametrize(
    ("engine", "command", "args", "setting", "value"),
    [
        ("vllm", (), ["m", "--served-model-name", "a", "b"], Setting.SERVED_NAME, "a"),
        ("vllm", (), ["m", "--max_model_len=8k"], Setting.CONTEXT, "8k"),
        ("vllm", (), ["m", "--tensor-par", "2"], Setting.TENSOR_PARALLEL, "2"),  # argparse takes the beginning
        ("vllm", (), ["m", "-tp", "2", "-tp", "4"], Setting.TENSOR_PARALLEL, "4"),
        ("vllm", (), ["m", "--no-enable-prefix-caching"], Setting.PREFIX_CACHING, None),
        ("vllm", SCRIPT, ["vllm serve m --tensor-parallel-size 2"], Setting.TENSOR_PARALLEL, "2"),
        ("sglang", (), ["--tp", "2"], Setting.TENSOR_PARALLEL, "2"),
        ("sglang", (), ["--context-length", "8k"], Setting.CONTEXT, "8k"),
        ("llamacpp", (), ["-c", "4096"], Setting.CONTEXT, "4096"),
        ("llamacpp", (), ["-np", "4"], Setting.CONCURRENCY, "4"),
        ("llamacpp", SCRIPT, ["llama-server -np 4"], Setting.CONCURRENCY, "4"),
        ("tgi", (), ["--max-input-length", "1"], Setting.INPUT, "1"),
        ("tgi", (), ["--max-input-tokens", "1"], Setting.INPUT, "1"),
        ("tensorrt-llm", ("trtllm-serve",), ["m", "--tp_size=2"], Setting.TENSOR_PARALLEL, "2"),
        ("ollama", SCRIPT, ["ollama serve"], Setting.CONTEXT, None),
    ],
)
def test_a_setting(
    engine: str, command: tuple[str, ...], args: list[str], setting: Setting, value: str | None
) -> None:
    line = CommandLine(engine, VLLM, args, command)
    assert line.value_of(setting) == value
    assert line.without(setting).value_of(setting) is None or line.is_script


def test_what_turns_a_setting_off_is_not_the_setting() -> None:
    line = CommandLine("vllm", VLLM, ["m", "--no-enable-prefix-caching"])
    assert not line.holds(Setting.PREFIX_CACHING)
    assert line.word_of(Setting.PREFIX_CACHING) == "--no-enable-prefix-caching"


def test_a_flag_without_a_value_is_held() -> None:
    assert CommandLine("sglang", "", ["--enable-metrics"]).holds(Setting.METRICS)
    assert CommandLine("sglang", "", ["python3 -m sglang.launch_server --enable-metrics"], SCRIPT).holds(
        Setting.METRICS
    )
    assert not CommandLine("sglang", "", ["--enable-metrics-for-all-schedulers"]).holds(Setting.METRICS)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["--model", "m"], ["--port", "1"]),
        (["--model", "m", "--served-model-name", "a"], ["b", "--port", "1"]),  # takes more values
        (["--model", "m", "--zzz"], ["1", "--port", "1"]),
        (["--model", "m", "--"], ["--port", "1"]),
        ([], ["m", "--port", "1"]),
        (["--model"], ["--port"]),
    ],
)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi", "llamacpp"])
def test_two_lines_in_a_row_are_read_as_one(engine: str, first: list[str], second: list[str]) -> None:
    line = CommandLine(engine, VLLM, first)
    joined, whole = line.followed_by(line.continued(second)), CommandLine(engine, VLLM, first + second)
    assert joined == whole
    assert joined.reading == whole.reading


def test_what_follows_a_script_is_not_read() -> None:
    script = CommandLine("sglang", "", ["exec serve"], SCRIPT)
    user = script.continued(["--tp", "2"])
    assert user.reading is None
    assert user.value_of(Setting.TENSOR_PARALLEL) == "2"
    assert user != CommandLine("sglang", "", ["--tp", "2"], user.command)


def test_a_container_says_its_engine_by_its_image() -> None:
    image = "registry.example.com:5000/mirror/vllm/vllm-openai:v0.9.2"
    line = command_line_of({"image": image, "command": ["vllm"], "args": ["serve", "m", "--port", 1]})
    assert (line.engine, line.tag, line.words[-1]) == ("vllm", "v0.9.2", "1")
    old = command_line_of({"image": "ghcr.io/ggerganov/llama.cpp:server"})
    assert (old.engine, old.tag) == ("llamacpp", "server-b4719")
    assert command_line_of({}).engine == ""

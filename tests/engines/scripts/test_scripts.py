"""Scripts that start an engine are read as a shell splits them, and checked where that is certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.scripts.checks import script_faults
from components.engines.scripts.commands import commands_of, engine_line


def script(text: str, *more: str, tag: str = "v0.11.0", shell: str = "sh", flag: str = "-c") -> CommandLine:
    return CommandLine("vllm", tag, [text, *more], [shell, flag])


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a b; c", [["a", "b"], ["c"], []]),
        ("a 'b; c' \"d e\"&&f || g | h & i", [["a", "b; c", "d e"], ["f"], ["g"], ["h"], ["i"], []]),
        ("a \\\n  b\nc # d", [["a", "b"], ["c"], []]),
        ("a $(B) --c=$(D)", [["a", "$(B)", "--c=$(D)"], []]),
        ('a --j \'{"x": "y&z"}\' > log 2>&1', [["a", "--j", '{"x": "y&z"}', ">", "log", "2>"], ["1"], []]),
        ("a 'never closed", []),
        ("", [[], []]),
    ],
)
def test_a_script_is_split_as_a_shell_does(text: str, commands: list[list[str]]) -> None:
    assert list(commands_of(script(text))) == commands


def test_parameters_are_a_command_too() -> None:
    assert list(commands_of(script('exec "$@"', "name", "vllm", "serve")))[-1] == ["vllm", "serve"]
    assert list(commands_of(CommandLine("vllm", "", ["a"], ["b"]))) == []


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("vllm serve m --port 1", ("serve", "m", "--port", "1")),
        ("date; exec /usr/bin/vllm serve m", ("serve", "m")),
        ("A=1 python3 -m vllm.entrypoints.openai.api_server --model m", ("-m", "vllm.entrypoints.openai.api_server",
                                                                       "--model", "m")),
        ("vllm serve old; vllm serve new", ("serve", "new")),
        ("python3 own.py vllm", ()),
    ],
)  # fmt: skip
def test_the_line_of_the_engine_is_found(text: str, args: tuple[str, ...]) -> None:
    found = engine_line(script(text))
    assert (found.args if found else None) == (args or None) or (
        text.endswith(" vllm") and found and found.args == ()
    )


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=30))
def test_any_script_can_be_read(text: str) -> None:
    line = script(text)
    found = engine_line(line)
    assert found is None or found.reading is not None
    assert all(fault.reason for fault in script_faults(line))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (script("vllm serve m --tensor-paralel-size 2"), [("error", "did you mean '--tensor-parallel-size'?")]),
        (script("vllm serve m --port x > log 2>&1"), [("error", "--port must be a whole number")]),
        (script("vllm serve m --port $PORT --dtype ${D} --seed `date`\necho ready"), []),
        (script("vllm serve m --kv-transfer-config '{\"kv_connector\":\"Nixl\",\"kv_role\":\"kv_both\"}'"),
         [("warning", "Nixl is not a known connector")]),
        # No Ray in the image since 0.19 (requirements/cuda.txt).
        (script("ray start --head && vllm serve m"), []),
        (script("ray start --head && vllm serve m", tag="v0.20.0"), [("warning", "calls ray, and the image")]),
        (script("bash /vllm-workspace/examples/online_serving/multi-node-serving.sh leader", tag="latest"),
         [("warning", "calls multi-node-serving.sh, and the image of vllm latest has no Ray")]),
        (script("S=x; /a/multi-node-serving.sh worker", tag="v0.20.0"), [("warning", "calls multi-node-serving.sh")]),
        (script("ray start --head && vllm serve m", tag="own@"), []),
        (script("vllm serve m --distributed-executor-backend ray", tag="v0.20.0"), []),
        (CommandLine("vllm", "v0.20.0", ["m", "--port", "x"]), []),
        (CommandLine("", "", ["ray start"], ["sh", "-c"]), []),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_script(line: CommandLine, found: list[tuple[str, str]]) -> None:
    faults = list(script_faults(line))
    assert [fault.severity for fault in faults] == [severity for severity, _ in found]
    assert all(part in fault.reason for fault, (_, part) in zip(faults, found, strict=True))

"""Configuration files of vLLM and SGLang.

The expected arguments are those of ``load_config_file`` in vllm/utils.py (later vllm/utils/argparse_utils.py) and of
``ConfigArgumentMerger`` in sglang/srt/server_args_config_parser.py at the release.
"""

import pytest

from components.contract.problems import Severity
from components.engines.command_line import CommandLine
from components.engines.config_file import config_findings, config_path, is_ignored, read_config
from components.engines.memory_settings.settings import argument_position
from components.engines.scripts.commands import engine_line
from components.engines.settings import Setting

SERVE = ("vllm", "serve")
LAUNCH = ("python3", "-m", "sglang.launch_server")
PATH = "/etc/engine/config.yaml"


def vllm(tag: str, *args: str) -> CommandLine:
    return CommandLine("vllm", tag, ["--config", PATH, *args], SERVE)


def sglang(tag: str, *args: str) -> CommandLine:
    return CommandLine("sglang", tag, ["--config", PATH, *args], LAUNCH)


@pytest.mark.parametrize(
    ("line", "text", "words"),
    [
        (vllm("v0.20.0"), "port: 12323\ntensor-parallel-size: 4\n", "--port 12323 --tensor-parallel-size 4"),
        (vllm("v0.20.0"), "max_model_len: 8192", "--max_model_len 8192"),
        (vllm("v0.20.0"), "enforce-eager: true", "--enforce-eager"),
        (vllm("v0.20.0"), "enable-prefix-caching: false", ""),
        (vllm("v0.33.0"), "enable-prefix-caching: false", "--no-enable-prefix-caching"),
        (vllm("v0.33.0"), "no-such-flag: false", ""),
        (vllm("v0.20.0"), "served-model-name: [a, b]", "--served-model-name a b"),
        (vllm("v0.20.0"), "served-model-name: []", ""),
        (vllm("v0.9.2"), "served-model-name: [a]", "--served-model-name ['a']"),
        (vllm("v0.20.0"), "hf-overrides: {a: 1}", '--hf-overrides {"a": 1}'),
        (vllm("v0.14.0"), "hf-overrides: {a: 1}", "--hf-overrides {'a': 1}"),
        (vllm("v0.20.0"), "quantization: null", "--quantization None"),
        (vllm("v0.7.3"), "enable_chunked_prefill: false", "--enable_chunked_prefill False"),
        (sglang("v0.5.12"), "trust-remote-code: true\ntp: 4\n", "--trust-remote-code --tp 4"),
        (sglang("v0.5.12"), "trust-remote-code: false", ""),
        (sglang("v0.5.12"), "", ""),
        (sglang("v0.5.13"), 'json-model-override-args: {"a": 1}', "--json-model-override-args {'a': 1}"),
        (sglang("v0.5.14"), 'json-model-override-args: {"a": 1}', '--json-model-override-args {"a": 1}'),
        (sglang("v0.5.8"), "mem-fraction-static: true", "--mem-fraction-static true"),
        (sglang("v0.5.7"), "mem-fraction-static: true", "--mem-fraction-static"),
    ],
)
def test_keys_are_flags_as_the_release_writes_them(line: CommandLine, text: str, words: str) -> None:
    file = read_config(line, PATH, text)
    assert " ".join(word.text for word in file.words) == words
    assert not [fault for fault in file.faults if fault.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("line", "path", "text", "reason"),
    [
        (vllm("v0.20.0"), "/etc/config.json", "{}", "must end with .yaml or .yml"),
        (vllm("v0.20.0"), PATH, "a: [", "is not YAML"),
        (vllm("v0.20.0"), PATH, "", "must be a map"),
        (vllm("v0.20.0"), PATH, "- a", "must be a map"),
        (sglang("v0.5.12"), PATH, "- a", "must be a map"),
        (vllm("v0.20.0"), PATH, "a: 1\n---\nb: 1\n", "has 2 YAML documents"),
        (sglang("v0.5.23"), PATH, "lora-strict-loading: true", "refuses lora-strict-loading in a configuration file"),
    ],
)
def test_files_with_which_the_engine_does_not_start(line: CommandLine, path: str, text: str, reason: str) -> None:
    (fault,) = read_config(line, path, text).faults
    assert fault.severity is Severity.ERROR
    assert reason in fault.reason


def test_false_that_a_release_ignores_is_reported() -> None:
    (fault,) = read_config(vllm("v0.20.0"), PATH, "enable-prefix-caching: false").faults
    assert (fault.key, fault.severity) == ("enable-prefix-caching", Severity.WARNING)
    assert "write no-enable-prefix-caching: true" in fault.reason
    assert not read_config(vllm("v0.20.0"), PATH, "no-enable-prefix-caching: true").faults
    assert not read_config(vllm("v0.33.0"), PATH, "enable-prefix-caching: false").faults


class TestExpandedLines:
    def test_the_command_line_takes_precedence(self) -> None:
        line = vllm("v0.20.0", "--max-model-len", "4096")
        expanded = line.with_config(["--max-model-len", "8192", "--tensor-parallel-size", "2"])
        assert expanded.number_of(Setting.CONTEXT) == 4096
        assert expanded.number_of(Setting.TENSOR_PARALLEL) == 2

    @pytest.mark.parametrize(
        "line",
        [
            CommandLine("vllm", "v0.20.0", ["org/m", "--config", PATH, "--port", "9000"]),
            CommandLine("vllm", "v0.20.0", ["org/m", "--config", PATH, "--port", "9000"], SERVE),
            CommandLine("vllm", "v0.20.0", ["--config", PATH, "--port", "9000"], ["vllm", "serve", "org/m"]),
            CommandLine("vllm", "v0.20.0", ["vllm", "serve", "org/m", "--config", PATH, "--port", "9000"]),
            CommandLine("vllm", "v0.20.0", [], ["vllm", "serve", "org/m", "--config", PATH, "--port", "9000"]),
            CommandLine("vllm", "v0.20.0", [f"exec vllm serve org/m --config {PATH} --port 9000"], ["sh", "-c"]),
        ],
    )
    def test_the_model_and_the_arguments_stay(self, line: CommandLine) -> None:
        own = engine_line(line.with_config(["--served-model-name", "a", "b"]))
        assert own is not None
        assert own.number_of(Setting.PORT) == 9000
        assert own.value_of(Setting.SERVED_NAME) == "a"
        assert [use.name for use in own.reading.uses if use.stray] in (["org/m"], ["serve", "org/m"])  # type: ignore[union-attr]

    def test_positions_tell_the_file_from_the_arguments(self) -> None:
        line = CommandLine("vllm", "v0.20.0", ["org/m", "--config", PATH, "--port", "9000"])
        expanded = line.with_config(["--max-model-len", "8192"])
        place = argument_position(expanded, Setting.CONTEXT)
        assert place is not None
        assert expanded.config_index(place) == 1
        port = argument_position(expanded, Setting.PORT)
        assert port is not None
        assert expanded.config_index(port) is None
        assert port + expanded.config.moved == 4  # type: ignore[union-attr]

    def test_findings_are_those_of_the_file_alone(self) -> None:
        line = vllm("v0.20.0", "--no-such-flag", "1", "--max-model-len", "4096")
        expanded = line.with_config(["--max-model-len", "8192", "--no-other-flag", "1"])
        assert [finding.reason.split()[0] for finding in config_findings(line, expanded)] == ["--no-other-flag"]

    def test_a_file_in_one_argument_is_ignored(self) -> None:
        assert is_ignored(CommandLine("vllm", "v0.20.0", [f"--config={PATH}"], SERVE))
        assert not is_ignored(vllm("v0.20.0"))

    def test_lines_without_a_file(self) -> None:
        assert config_path(CommandLine("vllm", "v0.20.0", ["org/m"], SERVE)) is None
        assert config_path(CommandLine("tgi", "3.0.0", ["--config", PATH])) is None

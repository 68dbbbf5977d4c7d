"""Where settings are read from: flags, variables, scripts; numbers and tables."""

import pytest

from components.engines.command_line import CommandLine
from components.engines.flags.tables import flags_of
from components.engines.memory_settings.layout import ModelLayout
from components.engines.memory_settings.reader import MemorySettings, RequestLimits, memory_settings_of
from components.engines.memory_settings.settings import argument_position
from components.engines.memory_settings.table import memory_settings_table
from components.engines.numbers import parse_decimal, parse_int
from components.engines.registry import engines
from components.engines.settings import Setting
from tests.engines.memory_settings.lines import LLAMA, SGLANG, TGI, VLLM, asked, usual


class TestVariables:
    def test_tgi_reads_them(self) -> None:
        env = (("MODEL_ID", "m"), ("MAX_TOTAL_TOKENS", "8192"), ("NUM_SHARD", "2"), ("QUANTIZE", "awq"))
        limits, layout = RequestLimits(8192), ModelLayout(2)
        expected = MemorySettings("m", quantization="awq", quantized=True, limits=limits, layout=layout)
        assert asked(TGI, env=env) == expected

    def test_a_flag_goes_before_its_variable(self) -> None:
        env = (("MODEL_ID", "m"), ("MAX_TOTAL_TOKENS", "8192"))
        found = asked(TGI, "--max-total-tokens", "2048", env=env)
        assert isinstance(found, MemorySettings)
        assert found.limits == RequestLimits(2048)

    def test_llama_cpp_reads_them(self) -> None:
        found = asked(LLAMA, env=(("LLAMA_ARG_CTX_SIZE", "8192"), ("LLAMA_ARG_N_PARALLEL", "2")))
        assert isinstance(found, MemorySettings)
        assert found.limits == RequestLimits(4096, sequences=2)

    def test_one_whose_value_is_elsewhere_is_not_guessed(self) -> None:
        assert asked(TGI, env=(("MODEL_ID", None),)) == "the value of the variable MODEL_ID is not known"

    def test_others_that_are_not_written_may_say_anything(self) -> None:
        assert "not known" in str(asked(TGI, env=(("MODEL_ID", "m"),), more=True))

    @pytest.mark.parametrize(
        ("engine", "name"),
        [(LLAMA, "LLAMA_ARG_OVERRIDE_TENSOR"), (LLAMA, "LLAMA_ARG_NO_KV_OFFLOAD"), (TGI, "TGI_WIGGLE_ROOM")],
    )
    def test_one_that_decides_otherwise_is_told_and_not_guessed(self, engine: tuple[str, str], name: str) -> None:
        assert str(asked(engine, env=((name, "1"),))).startswith(name)
        assert not str(asked(engine, env=(("X", name),))).startswith(name)

    @pytest.mark.parametrize("name", ["LLAMA_ARG_MODEL_DRAFT", "LLAMA_ARG_SPEC_DRAFT_MODEL"])
    def test_llama_cpp_is_told_of_a_draft_model_by_them(self, name: str) -> None:
        found = asked(LLAMA, env=((name, "d"),))
        assert isinstance(found, MemorySettings)
        assert found.draft == "d"

    def test_llama_cpp_is_told_of_the_host_by_them(self) -> None:
        found = asked(LLAMA, env=(("LLAMA_ARG_KV_OFFLOAD", "0"), ("LLAMA_ARG_N_CPU_MOE", "3")))
        assert isinstance(found, MemorySettings)
        assert found.layout == ModelLayout(1, None, expert_layers=3, cache_on_host=True)

    def test_vllm_reads_none(self) -> None:
        assert asked(VLLM, env=(("MAX_TOTAL_TOKENS", "1"), ("MODEL_ID", None)), more=True) == usual(VLLM)


class TestLines:
    def test_the_model_of_vllm_may_stand_without_a_flag(self) -> None:
        line = CommandLine(*VLLM, ["--max-model-len", "8192"], ["vllm", "serve", "org/name"])
        assert memory_settings_of(line) == MemorySettings("org/name", limits=RequestLimits(8192))

    def test_a_script_is_looked_into(self) -> None:
        line = CommandLine(*VLLM, ["ray start --head; vllm serve org/name -tp 8"], ["/bin/bash", "-c"])
        assert memory_settings_of(line) == MemorySettings("org/name", layout=ModelLayout(8))

    def test_the_parameters_of_a_script_are_looked_into(self) -> None:
        args = ['ray start; exec "$@"', "serve", "vllm", "serve", "org/name", "-tp", "8"]
        assert memory_settings_of(CommandLine(*VLLM, args, ["/bin/sh", "-c"])) == MemorySettings(
            "org/name", layout=ModelLayout(8)
        )

    def test_a_script_of_ones_own_is_not(self) -> None:
        assert "a script" in str(memory_settings_of(CommandLine(*VLLM, ["./start.sh"], ["/bin/sh", "-c"])))

    def test_another_program_is_not(self) -> None:
        assert "another program" in str(memory_settings_of(CommandLine(*VLLM, [], ["./start"])))

    def test_an_engine_of_which_nothing_is_known(self) -> None:
        assert "no figures on the memory use" in str(memory_settings_of(CommandLine("ollama", "0.12.6", [])))
        assert "its server" in str(memory_settings_of(CommandLine("", "", [])))

    def test_no_model(self) -> None:
        assert "without a model" in str(memory_settings_of(CommandLine(*SGLANG, [])))

    def test_a_model_that_is_filled_in_later(self) -> None:
        assert "$(MODEL)" in str(memory_settings_of(CommandLine(*SGLANG, ["--model-path", "$(MODEL)"])))


def test_the_place_of_a_setting_among_the_arguments() -> None:
    line = CommandLine(*VLLM, ["--port", "1", "--max-model-len", "8192"], ["vllm", "serve", "m"])
    assert argument_position(line, Setting.CONTEXT) == 3
    assert argument_position(line, Setting.CONCURRENCY) is None
    in_command = CommandLine(*VLLM, [], ["vllm", "serve", "m", "--max-model-len", "1"])
    assert argument_position(in_command, Setting.CONTEXT) == -1
    assert argument_position(CommandLine("", "", ["--max-model-len", "1"]), Setting.CONTEXT) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-1", -1), ("1k", 1000), ("1K", 1024), ("2.5k", 2500), ("1e3", None), ("", None), ("²", None),
     ("9" * 30, None), ("9999999999T", None), ("k", None), ("0x10", None)],
)  # fmt: skip
def test_whole_numbers(text: str, number: int | None) -> None:
    assert parse_int(text) == number


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "", "x", "-inf"])
def test_no_numbers(text: str) -> None:
    assert parse_decimal(text) is None


def test_tables_name_flags_and_settings_that_the_engine_has() -> None:
    tables = [table for name in engines() if (table := memory_settings_table(name))]
    assert {table.engine.name for table in tables} == {"vllm", "sglang", "tgi", "tei", "llamacpp"}
    for table in tables:
        flags = flags_of(table.engine.name)
        assert flags
        assert [flag for flag in table.unclear if flags.find(flag) is None] == []
        assert [setting for setting in table.variables if setting not in table.engine.settings] == []

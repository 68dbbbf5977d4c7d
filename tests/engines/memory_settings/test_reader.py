"""What each engine is told about memory: each flag with and without effect, variables, scripts, what is unclear."""

from dataclasses import replace
from decimal import Decimal

import pytest

from components.engines.command_line import CommandLine
from components.engines.memory_settings.layout import ModelLayout
from components.engines.memory_settings.positions import is_scaled, scaled_context
from components.engines.memory_settings.reader import MemorySettings, RequestLimits
from components.engines.versions import without_version
from tests.engines.memory_settings.lines import (
    LLAMA,
    NEW_LLAMA,
    OLD_LLAMA,
    SGLANG,
    TGI,
    TWO,
    VLLM,
    asked,
    named,
    usual,
)


@pytest.mark.parametrize("engine", [VLLM, SGLANG, TGI, LLAMA], ids=lambda engine: engine[0])
def test_nothing_is_told(engine: tuple[str, str]) -> None:
    assert asked(engine) == usual(engine)


ROOM = [
    (VLLM, ["--max-model-len", "8192"], RequestLimits(8192)),
    (VLLM, ["--max-model-len=16k"], RequestLimits(16_000)),
    (VLLM, ["--max-model-len", "16K"], RequestLimits(16_384)),
    (VLLM, ["--max_model_len", "8192"], RequestLimits(8192)),
    (VLLM, ["--max-model-len", "auto"], RequestLimits(is_open=True)),
    (VLLM, ["--max-model-len", "-1"], RequestLimits(is_open=True)),
    (VLLM, ["--max-num-seqs", "64"], RequestLimits(sequences=64)),
    (SGLANG, ["--context-length", "8192", "--max-running-requests", "8"], RequestLimits(8192, sequences=8)),
    (TGI, ["--max-total-tokens", "8192"], RequestLimits(8192)),
    # The slots of llama.cpp share the context (tools/server/README.md, --ctx-size and --parallel).
    (LLAMA, ["-c", "8192"], RequestLimits(8192, sequences=1)),
    (LLAMA, ["--ctx-size", "8192", "-np", "4"], RequestLimits(2048, sequences=4)),
    (LLAMA, ["-c", "0"], RequestLimits(sequences=1)),
]


@pytest.mark.parametrize(("engine", "args", "room"), ROOM, ids=named)
def test_room_is_read(engine: tuple[str, str], args: list[str], room: RequestLimits) -> None:
    assert asked(engine, *args) == replace(usual(engine), limits=room)


DIVISIONS = [
    (VLLM, ["--tensor-parallel-size", "4", "-pp", "2"], ModelLayout(4, 2)),
    (VLLM, ["-tp", "2", "--data-parallel-size", "4", "--enable-expert-parallel"], ModelLayout(2, 1, 4, experts=True)),
    (VLLM, ["--cpu-offload-gb", "8"], ModelLayout(offloaded_gib=Decimal(8))),
    (SGLANG, ["--tp", "8", "--ep-size", "8"], ModelLayout(8, experts=True)),
    (SGLANG, ["--tp-size", "8", "--ep-size", "1"], ModelLayout(8)),
    (SGLANG, ["--tp", "4", "--pp-size", "2", "--cpu-offload-gb", "2"], ModelLayout(4, 2, offloaded_gib=Decimal(2))),
    (TGI, ["--num-shard", "2"], ModelLayout(2)),
    (TGI, ["--sharded", "false"], ModelLayout(1)),
    (TGI, ["--sharded", "true"], ModelLayout(None)),
    (LLAMA, ["--split-mode", "none"], ModelLayout(1, 1)),
    (LLAMA, ["-sm", "layer", "-ts", "1,1"], ModelLayout(1, None)),
    (LLAMA, ["-ts", "3,1"], ModelLayout(1, None, shares=(Decimal(3), Decimal(1)))),
    (LLAMA, ["-ngl", "20"], ModelLayout(1, None, layers=20)),
    (LLAMA, ["-ngl", "all"], ModelLayout(1, None)),
    (LLAMA, ["-ngl", "-1"], ModelLayout(1, None)),
    (LLAMA, ["--cpu-moe"], ModelLayout(1, None, expert_layers=None)),
    (LLAMA, ["--n-cpu-moe", "10"], ModelLayout(1, None, expert_layers=10)),
    (LLAMA, ["--no-kv-offload"], ModelLayout(1, None, cache_on_host=True)),
    (LLAMA, ["--kv-offload"], ModelLayout(1, None)),
]


@pytest.mark.parametrize(
    ("engine", "args", "division"),
    DIVISIONS,
    ids=named,
)
def test_the_division_is_read(engine: tuple[str, str], args: list[str], division: ModelLayout) -> None:
    assert asked(engine, *args) == replace(usual(engine), layout=division)


def test_old_builds_of_llama_cpp_put_no_layer_on_gpus_by_themselves() -> None:
    found = asked(OLD_LLAMA)
    assert isinstance(found, MemorySettings)
    assert found.layout.layers == 0


def test_new_builds_of_llama_cpp_fit_the_context_to_the_memory() -> None:
    assert asked(NEW_LLAMA) == replace(usual(LLAMA), limits=RequestLimits(is_open=True), offloads_to_host=True)


@pytest.mark.parametrize(
    ("args", "adapts"),
    # common/fit.cpp gives up where layers, a split or a placement are told already; -1 and auto are the default.
    [
        ([], True),
        (["-c", "8192"], True),
        (["-ngl", "auto"], True),
        (["-ngl", "-1"], True),
        (["-ngl", "all"], False),
        (["-ngl", "99"], False),
        (["-ts", "1,1"], False),
        (["--cpu-moe"], False),
        (["--n-cpu-moe", "4"], False),
    ],
    ids=named,
)
def test_llama_cpp_adapts_where_it_may_choose_the_layers(args: list[str], adapts: bool) -> None:
    found = asked(NEW_LLAMA, *args)
    assert isinstance(found, MemorySettings)
    assert found.offloads_to_host is adapts


# The commits that changed a default, by their number: 1442677 and 1926d6e (n_ctx), e81b8e4 (layers), b1f3a6e (both).
BUILDS = [
    (3086, RequestLimits(512, sequences=1), 0, False),
    (3087, RequestLimits(sequences=1), 0, False),
    (4013, RequestLimits(sequences=1), 0, False),
    (4014, RequestLimits(4096, sequences=1), 0, False),
    (6324, RequestLimits(4096, sequences=1), 0, False),
    (6325, RequestLimits(4096, sequences=1), None, False),
    (7406, RequestLimits(4096, sequences=1), None, False),
    (7407, RequestLimits(is_open=True), None, True),
]


@pytest.mark.parametrize(("build", "room", "layers", "adapts"), BUILDS, ids=named)
def test_the_defaults_of_llama_cpp_depend_on_its_build(
    build: int, room: RequestLimits, layers: int | None, adapts: bool
) -> None:
    found = asked(("llamacpp", f"server-cuda-b{build}"))
    assert isinstance(found, MemorySettings)
    assert (found.limits, found.layout.layers, found.offloads_to_host) == (room, layers, adapts)


@pytest.mark.parametrize(
    ("engine", "args", "what"),
    [
        ("llamacpp", ["-ngl", "99"], "the default context"),
        ("llamacpp", ["-c", "8192"], "how many layers"),
        ("tgi", [], "the default context"),
        ("tgi", ["--max-total-tokens", "4096", "--max-input-tokens", "2048"], "how many tokens"),
    ],
    ids=named,
)
def test_defaults_of_a_version_that_is_not_known_are_not_guessed(engine: str, args: list[str], what: str) -> None:
    found = asked((engine, without_version("custom")), *args)
    assert isinstance(found, str)
    assert found.startswith(what)
    assert "is not in its image tag" in found


def test_a_version_that_is_not_known_does_not_matter_where_all_is_told() -> None:
    told = asked(("llamacpp", without_version("custom")), "-ngl", "99", "-c", "8192")
    assert isinstance(told, MemorySettings)
    assert (told.limits, told.layout.layers) == (RequestLimits(8192, sequences=1), 99)


# launcher/src/main.rs at the tags on both sides of each change.
@pytest.mark.parametrize(
    ("tag", "room"),
    [
        ("1.4.5", RequestLimits(2048)),
        ("2.0.0", RequestLimits(4096)),
        ("2.4.0", RequestLimits(4096)),
        ("2.4.1", RequestLimits(is_open=True)),
        ("3.3.6", RequestLimits(is_open=True)),
    ],
)
def test_the_context_of_tgi_depends_on_its_version(tag: str, room: RequestLimits) -> None:
    found = asked(("tgi", tag))
    assert isinstance(found, MemorySettings)
    assert found.limits == room


@pytest.mark.parametrize(
    ("tag", "args", "tokens"),
    [
        ("2.4.0", ["--max-input-tokens", "32000"], 32000),
        ("2.0.0", ["--max-input-length", "32000"], 32000),
        ("2.4.0", ["--max-input-tokens", "32000", "--max-batch-prefill-tokens", "40000"], 40000),
        ("1.4.5", ["--max-input-length", "3000"], None),
        ("2.4.1", ["--max-input-tokens", "32000"], None),
    ],
    ids=named,
)
def test_tgi_2_computes_a_whole_input_at_a_time(tag: str, args: list[str], tokens: int | None) -> None:
    found = asked(("tgi", tag), *args)
    assert isinstance(found, MemorySettings)
    assert found.batch_tokens == tokens


CACHES = [
    (VLLM, ["--kv-cache-dtype", "auto"], TWO, TWO),
    (VLLM, ["--kv-cache-dtype", "fp8"], Decimal(1), Decimal(1)),
    (VLLM, ["--kv-cache-dtype", "fp8_e5m2"], Decimal(1), Decimal(1)),
    (SGLANG, ["--kv-cache-dtype", "fp8_e5m2"], Decimal(1), Decimal(1)),
    (TGI, ["--kv-cache-dtype", "fp8_e4m3fn"], Decimal(1), Decimal(1)),
    # Blocks of 32 numbers: q8_0 has 34 bytes, q4_0 18.
    (LLAMA, ["-ctk", "q8_0", "-ctv", "q4_0"], Decimal(34) / 32, Decimal(18) / 32),
    (LLAMA, ["-ctk", "q8_0"], Decimal(34) / 32, TWO),
    (LLAMA, ["--cache-type-v", "f32"], TWO, Decimal(4)),
]


@pytest.mark.parametrize(
    ("engine", "args", "keys", "values"),
    CACHES,
    ids=named,
)
def test_the_type_of_the_cache_is_read(
    engine: tuple[str, str], args: list[str], keys: Decimal, values: Decimal
) -> None:
    assert asked(engine, *args) == replace(usual(engine), key_bytes=keys, value_bytes=values)


WEIGHTS = [
    (VLLM, ["--quantization", "fp8"], {"quantization": "fp8", "converted": "fp8"}),
    (VLLM, ["-q", "awq"], {"quantization": "awq", "quantized": True, "bits": (Decimal(4), Decimal("4.6"))}),
    (VLLM, ["-q", "gptq"], {"quantization": "gptq", "quantized": True}),
    (
        SGLANG,
        ["--quantization", "awq"],
        {"quantization": "awq", "quantized": True, "bits": (Decimal(4), Decimal("4.6"))},
    ),
    (VLLM, ["--dtype", "bfloat16"], {"dtype": "bfloat16"}),
    (
        VLLM,
        ["--dtype", "float32"],
        {"dtype": "float32", "converted": "float32", "key_bytes": Decimal(4), "value_bytes": Decimal(4)},
    ),
    (TGI, ["--quantize", "bitsandbytes-nf4"], {"quantization": "bitsandbytes-nf4", "converted": "int4"}),
    (TGI, ["--quantize", "gptq"], {"quantization": "gptq", "quantized": True}),
    (VLLM, ["--gpu-memory-utilization", "0.95"], {"share": Decimal("0.95")}),
    (SGLANG, ["--mem-fraction-static", "0.8"], {"share": Decimal("0.8")}),
    (TGI, ["--cuda-memory-fraction", "0.5"], {"share": Decimal("0.5")}),
    (VLLM, ["--max-num-batched-tokens", "8192"], {"batch_tokens": 8192}),
    (LLAMA, ["-b", "2048", "-ub", "1024"], {"batch_tokens": 1024}),
]


@pytest.mark.parametrize(("engine", "args", "expected"), WEIGHTS, ids=named)
def test_weights_and_shares_are_read(engine: tuple[str, str], args: list[str], expected: dict[str, object]) -> None:
    assert asked(engine, *args) == replace(usual(engine), **expected)  # type: ignore[arg-type]


def test_values_are_those_that_the_release_reads() -> None:
    """vLLM 0.11 lower-cases methods and formats (ModelConfig, LoadConfig); the parser of 0.10.2 compares exactly."""
    written = ("-q", "FP8", "--load-format", "SafeTensors")
    assert asked(("vllm", "v0.11.0"), *written) == asked(
        ("vllm", "v0.11.0"), "-q", "fp8", "--load-format", "safetensors"
    )
    assert asked(("vllm", "v0.10.2"), "-q", "FP8") != asked(("vllm", "v0.10.2"), "-q", "fp8")


DRAFTS = [
    (("vllm", "v0.7.3"), ["--speculative-model", "d", "--num-speculative-tokens", "5"], "d", None),
    (VLLM, ["--speculative-config", '{"model": "d", "num_speculative_tokens": 5}'], "d", None),
    (VLLM, ["--speculative-config", '{"model": "d", "draft_tensor_parallel_size": 1}'], "d", 1),
    (VLLM, ["--speculative-config", '{"method": "ngram", "num_speculative_tokens": 5}'], "", None),
    (VLLM, ["--speculative-config", '{"method": "deepseek_mtp"}'], "", None),
    (SGLANG, ["--speculative-draft-model-path", "d"], "d", None),
    (LLAMA, ["--model-draft", "d"], "d", None),
]


@pytest.mark.parametrize(
    ("engine", "args", "draft", "tensor"),
    DRAFTS,
    ids=named,
)
def test_the_draft_model_is_read(engine: tuple[str, str], args: list[str], draft: str, tensor: int | None) -> None:
    found = asked(engine, *args)
    assert isinstance(found, MemorySettings)
    assert (found.draft, found.draft_tensor) == (draft, tensor)


ADAPTERS = [
    (VLLM, [], (0, 0)),
    (VLLM, ["--enable-lora"], (1, 16)),  # the defaults of --max-loras and --max-lora-rank
    (VLLM, ["--no-enable-lora"], (0, 0)),
    (VLLM, ["--enable-lora", "--max-loras", "4", "--max-lora-rank", "64"], (4, 64)),
    (SGLANG, ["--lora-paths", "a=/a", "--max-lora-rank", "32"], (8, 32)),
    (SGLANG, ["--lora-paths", "a=/a", "--max-lora-rank", "32", "--max-loras-per-batch", "2"], (2, 32)),
]


@pytest.mark.parametrize(("engine", "args", "expected"), ADAPTERS, ids=named)
def test_adapters_are_counted(engine: tuple[str, str], args: list[str], expected: tuple[int, int]) -> None:
    found = asked(engine, *args)
    assert isinstance(found, MemorySettings)
    assert (found.adapters, found.adapter_rank) == expected


UNCLEAR = [
    (VLLM, ["--load-format", "sharded_state"], "--load-format"),
    (VLLM, ["--load-format=bitsandbytes"], "--load-format"),
    (VLLM, ["--kv-cache-memory-bytes", "10G"], "--kv-cache-memory-bytes"),
    (VLLM, ["--config", "/etc/vllm/config.yaml"], "--config takes further settings from a file"),
    (SGLANG, ["--config", "/etc/sglang/config.yaml"], "--config takes further settings from a file"),
    (VLLM, ["--speculative-config", "{"], "--speculative-config"),
    (VLLM, ["--speculative-config", '{"method": "eagle3", "model": "d"}'], "eagle3"),
    (VLLM, ["--hf-overrides", '{"num_hidden_layers": 2}'], "--hf-overrides"),
    (VLLM, ["--max-model-len", "$(LENGTH)"], "$(LENGTH)"),
    (VLLM, ["--max-model-len", "many"], "'many'"),
    (VLLM, ["--gpu-memory-utilization", "NaN"], "'NaN'"),
    (VLLM, ["--kv-cache-dtype", "nvfp9"], "'nvfp9'"),
    (SGLANG, ["--lora-paths", "a=/a"], "rank"),
    (LLAMA, ["--split-mode", "row"], "--split-mode row"),
    (LLAMA, ["--override-tensor", "exps=CPU"], "--override-tensor"),
    (LLAMA, ["-ts", "1,x"], "--tensor-split"),
    (LLAMA, ["--rope-scaling", "yarn", "-c", "0"], "--rope-scaling"),
    (NEW_LLAMA, ["--fit", "off"], "--fit"),
    (LLAMA, ["--swa-full"], "--swa-full"),
    (LLAMA, ["--rpc", "host:1"], "--rpc"),
    (("tgi", "3.3.6"), ["--enable-prefill-logprobs"], "--enable-prefill-logprobs"),
]


@pytest.mark.parametrize("value", ["auto", "safetensors", "runai_streamer", "fastsafetensors", "dummy", "mistral"])
def test_ways_to_load_the_same_weights_change_nothing(value: str) -> None:
    """vllm/config/load.py at 0.20.0; dummy makes random weights of the same sizes."""
    assert asked(VLLM, "--load-format", value) == usual(VLLM)


@pytest.mark.parametrize(("engine", "args", "named"), UNCLEAR, ids=named)
def test_what_is_not_clear_is_told_and_not_guessed(engine: tuple[str, str], args: list[str], named: str) -> None:
    found = asked(engine, *args)
    assert isinstance(found, str)
    assert named in found


def test_a_flag_that_only_looks_alike_is_no_reason() -> None:
    assert asked(VLLM, "--served-model-name", "--enable-dp-attention") == usual(VLLM)


YARN = '{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}'


def test_single_keys_of_json_are_read_like_the_whole() -> None:
    single = ("--speculative-config.model", "d", "--speculative-config.num_speculative_tokens", "4")
    assert asked(VLLM, *single) == asked(VLLM, "--speculative-config", '{"model": "d", "num_speculative_tokens": 4}')
    scaled = ("--hf-overrides.rope_scaling.factor", "4", "--max-model-len", "8192")
    assert asked(VLLM, *scaled) == asked(VLLM, "--max-model-len", "8192")


def test_scaled_positions_take_no_memory_if_the_context_is_set() -> None:
    override = ("--hf-overrides", f'{{"rope_scaling": {YARN}}}')
    assert asked(VLLM, *override, "--max-model-len", "8192") == asked(VLLM, "--max-model-len", "8192")
    assert asked(VLLM, *override) == "--hf-overrides changes the context of the model"


@pytest.mark.parametrize(
    ("args", "context"),
    [
        (("--rope-scaling", YARN), 131072),
        (("--rope-scaling", '{"type": "linear", "factor": 2}'), 80000),
        (("--rope-scaling", '{"rope_type": "longrope", "factor": 2}'), None),
        (("--rope-scaling", '{"rope_type": "yarn", "factor": 2}'), None),
        (("--hf-overrides", f'{{"rope_parameters": {YARN}}}'), 131072),
        (("--hf-overrides", '{"max_position_embeddings": 9000}'), None),
        (
            ("--hf-overrides", '{"max_position_embeddings": 9, "rope_scaling": {"type": "dynamic", "factor": 3}}'),
            27,
        ),
        (("--hf-overrides.rope_scaling.type", "linear", "--hf-overrides.rope_scaling.factor", "1.5"), 60000),
    ],
)
def test_the_context_of_scaled_positions(args: tuple[str, ...], context: int | None) -> None:
    line = CommandLine("vllm", "v0.10.0", ("--model", "m", *args))
    assert is_scaled(line)
    assert scaled_context(line, 40000) == context

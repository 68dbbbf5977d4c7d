"""Arguments that engines refuse at startup, by release; the texts are those of their own checks."""

import pytest

from components.engines.command_line import CommandLine
from components.engines.flags.tables import flags_of
from components.engines.registry import engines
from components.engines.startup.faults import start_faults
from components.engines.startup.rows import start_table
from components.engines.versions import without_version

TOOLS = ("--enable-auto-tool-choice", "--tool-call-parser")
PRIORITY = ("--enable-priority-scheduling", "--schedule-policy")
LORA = ("--enable-lora", "--max-lora-rank")
CASES = [
    # "Error: --enable-auto-tool-choice requires --tool-call-parser"
    ("vllm", "v0.20.0", TOOLS[:1], "remove --enable-auto-tool-choice"),
    ("vllm", "v0.7.3", TOOLS[:1], "remove --enable-auto-tool-choice"),
    ("vllm", "v0.20.0", (*TOOLS, "hermes"), ""),
    # "invalid tool call parser: qwen3coder (chose from ...)"
    ("vllm", "v0.20.0", (*TOOLS, "qwen3coder"), "set --tool-call-parser to qwen3_coder"),
    ("vllm", "v0.20.0", (*TOOLS, "qwen3coder", "--tool-parser-plugin", "/p.py"), ""),
    ("vllm", "v0.20.0", (*TOOLS[1:], "qwen3coder"), ""),
    ("vllm", "v0.9.2", (*TOOLS, "qwen3_coder"), "--tool-call-parser qwen3_coder is not a value"),
    ("vllm", "v0.10.0", (*TOOLS, "qwen3_coder"), ""),
    ("vllm", "v0.24.0", (*TOOLS, "minimax"), "set --tool-call-parser to minimax_m"),
    ("vllm", "v0.34.0", (*TOOLS, "newest"), ""),
    ("vllm", "latest", (*TOOLS, "newest"), ""),
    ("vllm", "v0.8.5", ("--reasoning-parser", "qwen3"), "--reasoning-parser qwen3 is not a value"),
    ("vllm", "v0.9.0", ("--reasoning-parser", "qwen3"), ""),
    ("vllm", "v0.7.3", ("--enable-reasoning",), "remove --enable-reasoning, or add --reasoning-parser"),
    (
        "vllm",
        "v0.8.1",
        (*TOOLS, "hermes", "--enable-reasoning", "--reasoning-parser", "deepseek_r1"),
        "remove --enable-reasoning",
    ),
    ("vllm", "v0.8.2", (*TOOLS, "hermes", "--enable-reasoning", "--reasoning-parser", "deepseek_r1"), ""),
    # "--api-server-count=2 cannot be used with --headless (no API servers are started in headless mode)."
    ("vllm", "v0.20.0", ("--headless", "--api-server-count", "2"), "remove --api-server-count"),
    ("vllm", "v0.20.0", ("--headless", "--api-server-count", "0"), ""),
    ("vllm", "v0.11.2", ("--headless", "--api-server-count", "2"), ""),
    # "max_num_batched_tokens (128) must be greater than or equal to max_num_seqs (256)"
    (
        "vllm",
        "v0.20.0",
        ("--max-num-batched-tokens", "128", "--max-num-seqs", "256"),
        "set --max-num-batched-tokens to 256",
    ),
    ("vllm", "v0.20.0", ("--max-num-batched-tokens", "256", "--max-num-seqs", "256"), ""),
    ("vllm", "v0.20.0", ("--max-num-batched-tokens", "128"), ""),
    ("vllm", "v0.20.0", ("--max-num-batched-tokens", "$(TOKENS)", "--max-num-seqs", "256"), ""),
    # "max_num_batched_tokens (2048) is smaller than max_model_len (8192)"
    (
        "vllm",
        "v0.20.0",
        ("--max-num-batched-tokens", "2k", "--max-model-len", "8k", "--no-enable-chunked-prefill"),
        "set --max-num-batched-tokens to 8000",
    ),
    ("vllm", "v0.20.0", ("--max-num-batched-tokens", "2048", "--max-model-len", "8192"), ""),
    (
        "vllm",
        "v0.7.3",
        ("--max-num-batched-tokens", "2048", "--max-model-len", "8192"),
        "set --max-num-batched-tokens to 8192",
    ),
    ("vllm", "v0.7.3", ("--max-num-batched-tokens", "2048", "--max-model-len", "65536"), ""),
    (
        "vllm",
        "v0.7.3",
        ("--max-num-batched-tokens", "2048", "--max-model-len", "8192", "--enable-chunked-prefill"),
        "",
    ),
    (
        "vllm",
        "v0.7.3",
        ("--max-num-batched-tokens", "2048", "--max-model-len", "8192", "--max-num-seqs", "4096"),
        "set --max-num-batched-tokens to 8192",
    ),
    # "max_lora_rank (24) must be one of (8, 16, ...)"; 320 and 512 since 0.8.
    ("vllm", "v0.10.2", (*LORA, "24"), "--max-lora-rank 24 is not a value"),
    ("vllm", "v0.7.3", (*LORA, "512"), "--max-lora-rank 512 is not a value"),
    ("vllm", "v0.8.0", (*LORA, "512"), ""),
    ("vllm", "v0.10.2", (*LORA[1:], "24"), ""),
    ("vllm", "v0.11.0", ("--enable-lora", "--max-loras", "4", "--max-cpu-loras", "2"), "set --max-cpu-loras to 4"),
    ("vllm", "v0.11.0", ("--enable-lora", "--max-cpu-loras", "2"), ""),
    # "enable_expert_parallel must be True to use EPLB."
    ("vllm", "v0.11.0", ("--enable-eplb",), "add --enable-expert-parallel"),
    ("vllm", "v0.11.0", ("--enable-eplb", "--enable-expert-parallel"), ""),
    (
        "vllm",
        "v0.11.0",
        ("--tensor-parallel-size", "4", "--decode-context-parallel-size", "3"),
        "set --decode-context-parallel-size to 2",
    ),
    ("vllm", "v0.11.0", ("--tensor-parallel-size", "4", "--decode-context-parallel-size", "2"), ""),
    (
        "vllm",
        "v0.20.0",
        ("--data-parallel-size", "2", "--data-parallel-size-local", "4"),
        "set --data-parallel-size-local to 2",
    ),
    ("vllm", without_version("own"), ("--enable-eplb",), ""),
    # "The arguments enable-hierarchical-cache and disable-radix-cache are mutually exclusive"
    (
        "sglang",
        "v0.5.9",
        ("--enable-hierarchical-cache", "--disable-radix-cache"),
        "remove --enable-hierarchical-cache",
    ),
    ("sglang", "v0.5.9", ("--enable-hierarchical-cache",), ""),
    ("sglang", "v0.5.9", ("--tp", "4", "--dp", "3", "--enable-dp-attention"), "set --dp-size to 2"),
    ("sglang", "v0.5.9", ("--tp", "4", "--dp", "2", "--enable-dp-attention"), ""),
    ("sglang", "v0.5.9", ("--tp", "4", "--dp", "3"), ""),
    (
        "sglang",
        "v0.5.9",
        ("--chunked-prefill-size", "1000", "--page-size", "64"),
        "set --chunked-prefill-size to 960",
    ),
    ("sglang", "v0.5.9", ("--chunked-prefill-size", "-1", "--page-size", "64"), ""),
    ("sglang", "v0.5.9", (*PRIORITY, "lpm"), "set --schedule-policy to fcfs"),
    ("sglang", "v0.5.9", (*PRIORITY, "lof"), ""),
    ("sglang", "v0.5.9", ("--enable-lora",), "add --max-lora-rank and --lora-target-modules"),
    ("sglang", "v0.5.9", ("--enable-lora", "--lora-paths", "a=/a"), ""),
    ("sglang", "v0.4.9", ("--lora-paths", "a=/a"), "add --disable-radix-cache"),
    ("sglang", "v0.5.9", ("--lora-paths", "a=/a"), ""),
    # "V cache quantization requires flash_attn"
    ("llamacpp", "server-b6500", ("-ctv", "q8_0", "-fa", "off"), "set --flash-attn to on"),
    ("llamacpp", "server-b6500", ("-ctv", "q8_0"), ""),
    ("llamacpp", "server-b6500", ("-ctv", "f16", "-fa", "off"), ""),
    ("llamacpp", "server-b6500", ("-ctk", "q8_0", "-fa", "off"), ""),
    ("llamacpp", "server-b6000", ("-ctv", "q8_0"), "add --flash-attn"),
    ("llamacpp", "server-b6000", ("-ctv", "q8_0", "-fa"), ""),
    # "`max_input_tokens` must be < `max_total_tokens`"
    ("tgi", "2.4.1", ("--max-input-tokens", "4096", "--max-total-tokens", "4096"), "set --max-input-tokens to 4095"),
    ("tgi", "2.4.1", ("--max-input-tokens", "4095", "--max-total-tokens", "4096"), ""),
    ("tgi", "3.3.4", ("--max-input-tokens", "1024", "--max-total-tokens", "512"), "set --max-input-tokens to 511"),
    ("tgi", "3.3.4", ("--max-input-tokens", "511", "--max-total-tokens", "512"), ""),
    # Since 3.0, prefill is in chunks.
    ("tgi", "3.3.4", ("--max-batch-prefill-tokens", "2048", "--max-input-tokens", "4095"), ""),
    (
        "tgi",
        "2.4.1",
        ("--max-batch-prefill-tokens", "2048", "--max-input-tokens", "4095", "--max-total-tokens", "4096"),
        "set --max-batch-prefill-tokens to 4095",
    ),
]
MODELS = {
    "vllm": ("--model", "m"),
    "sglang": ("--model-path", "m"),
    "llamacpp": ("-m", "m"),
    "tgi": ("--model-id", "m"),
}


@pytest.mark.parametrize(("engine", "tag", "args", "step"), CASES)
def test_what_an_engine_refuses_and_what_it_accepts(engine: str, tag: str, args: tuple[str, ...], step: str) -> None:
    reasons = [fault.reason for fault in start_faults(CommandLine(engine, tag, (*MODELS[engine], *args)))]
    if step:
        (reason,) = reasons
        assert step in reason
    else:
        assert reasons == []


def test_a_variable_may_lift_a_rule() -> None:
    args = ("--model", "m", "--max-num-batched-tokens", "2048", "--max-model-len", "8192")
    line = CommandLine("vllm", "v0.7.3", args)
    assert [*start_faults(line)]
    assert [*start_faults(line, {"VLLM_USE_V1"})] == []


def test_every_flag_of_a_rule_is_known() -> None:
    for name in engines():
        rules, table = start_table(name), flags_of(name)
        for rule in rules.rules if rules else ():
            named = {
                rule.flag,
                *rule.enabled,
                *rule.disabled,
                *rule.unset,
                *rule.values_of,
                *rule.at_most,
                *rule.above,
            }
            named |= {*rule.needs, *rule.one_of, rule.without, str(rule.other), *rule.unless}
            for flag in (flag for flag in named if flag.startswith("--")):
                assert table, name
                assert table.find(flag), (name, flag)

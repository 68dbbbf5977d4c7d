"""The lint of engine arguments: what LLMKube spec 8 says of each flag, and how each engine splits its arguments."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.findings.collector import Findings
from components.engines.command_line import CommandLine
from components.engines.flags.tables import flags_of
from components.engines.lint import lint, report_findings
from components.engines.registry import engines
from components.engines.spelling import respelled, respelled_with_origins
from components.engines.versions import POST
from components.families import load

ROOT = Path(__file__).parents[2]
ENGINES = tuple(engine for engine in engines() if flags_of(engine))
VLLM, SGLANG, TGI, LLAMA = "v0.20.0", "v0.5.4-cu129-amd64", "3.3.6", "server-b6500"
FLOATING = {"llamacpp": "server-cuda13", "sglang": "latest", "tei": "latest", "tgi": "latest", "vllm": "nightly"}


def found(engine: str, line: str, tag: str) -> list[tuple[str, str]]:
    """Severity and blamed argument of what is found in a command line."""
    args = line.split()
    return [(finding.severity, args[finding.position]) for finding in lint(CommandLine(engine, tag, args))]


def the_reason(engine: str, line: str, tag: str) -> str:
    """What the only finding says."""
    findings = lint(CommandLine(engine, tag, line.split()))
    assert len(findings) == 1, findings
    return findings[0].reason


# engine, tag, clean arguments
CLEAN: list[tuple[str, str, str]] = [
    # LLMKube spec 10, vectors A (without what its section 8 says is refused) to H.
    (
        "llamacpp",
        "server",
        "--model /models/608d0e1313135e5b/m1.gguf --host 0.0.0.0 --port 8080 --n-gpu-layers 99 --split-mode layer "
        "--tensor-split 2,1,1 --ctx-size 8192 --rope-scaling yarn --rope-scale 2.0 --yarn-orig-ctx 131072 "
        "--parallel 4 --flash-attn on --jinja --cache-type-k q8_0 --cache-type-v q4_0 --cpu-moe --n-cpu-moe 10 "
        "--no-kv-offload --override-tensor exps=CPU --override-tensor token_embd=CUDA0 --batch-size 2048 "
        "--ubatch-size 512 --no-warmup --reasoning-budget 0 --reasoning-budget-message wrap-up "
        "--override-kv a.b=int:1 --seed 42 --metrics --metrics",
    ),
    ("llamacpp", LLAMA, "--host 0.0.0.0 --port 8080 -hf org/repo:Q4_K_M --metrics"),
    (
        "vllm",
        VLLM,
        "org/repo --host 0.0.0.0 --port 8000 --max-model-len 8192 --quantization fp8 --dtype auto --kv-cache-dtype "
        "fp8_e4m3 --enable-prefix-caching --enable-chunked-prefill --max-num-batched-tokens 4096 "
        "--attention-backend FLASHINFER --enable-expert-parallel --cpu-offload-gb 0 --gpu-memory-utilization 0.9 "
        "--tensor-parallel-size 2 --max-num-seqs 16 --served-model-name x",
    ),
    ("vllm", VLLM, "/models/ns-m1.gguf --host 0.0.0.0 --port 8000"),
    (
        "tgi",
        TGI,
        "--model-id org/repo --hostname 0.0.0.0 --port 80 --quantize awq --max-input-tokens 100 --max-total-tokens "
        "200 --num-shard 2",
    ),
    # How the engines split.
    ("vllm", VLLM, "--model x --max_model_len=8k --tensor_parallel_size 2"),
    ("vllm", VLLM, "--model x --compilation-config.level 3 -cc.cudagraph_mode=NONE -O3"),
    ("vllm", VLLM, "serve org/repo --no-enable-prefix-caching --max-model-len auto"),
    ("vllm", VLLM, "--served-model-name a b c --model x --cudagraph-capture-sizes 1 2 4 --seed -1"),
    ("vllm", VLLM, '--model x --speculative-config {"model":"d","num_speculative_tokens":4}'),
    ("vllm", VLLM, '--model x --kv-transfer-config {"cpu_bytes_to_use":80g}'),
    ("vllm", VLLM, "--model x --middleware a.b --middleware c.d --hf-token --hf-overrides {}"),
    ("vllm", VLLM, "--model x --attention-backend flashinfer"),
    ("vllm", VLLM, "--model x --enforce-eager -- "),
    ("vllm", VLLM, "--enforce-eager org/repo"),
    ("vllm", VLLM, "--model x --max-model $(LENGTH) --tensor-parallel-size $(TP) $(MORE)"),
    ("vllm", "v0.7.3", "--model x --enable-chunked-prefill true --enforce-eager --limit-mm-per-prompt image=4"),
    ("vllm", "v0.9.0", "--model x --no-enforce-eager"),
    ("sglang", SGLANG, "sglang serve --model-path x"),
    ("sglang", SGLANG, "--model-path x --tp 2 --cuda-graph-bs 1 2 4 --random-seed -1 --lora-paths"),
    ("tgi", TGI, "--model-id x -p 80 --cors-allow-origin a --cors-allow-origin b --sharded true --cuda-graphs 1,2"),
    ("llamacpp", "server", "-m x --temp -0.5 -t -1 --grammar --x --ctx_size 0 -ngl all"),
    ("llamacpp", "server-b6000", "-m x --flash-attn --metrics"),
]


@pytest.mark.parametrize(("engine", "tag", "line"), CLEAN)
def test_what_the_engine_takes_is_clean(engine: str, tag: str, line: str) -> None:
    assert lint(CommandLine(engine, tag, line.split())) == ()


# engine, tag, arguments, severity, blamed argument, words of the reason
WRONG: list[tuple[str, str, str, str, str, tuple[str, ...]]] = [
    # LLMKube spec 8.
    ("llamacpp", "server-b6000", "-m x --flash-attn on", "error", "on", ("--flash-attn does not take a value",)),
    ("llamacpp", "server", "-m x --flash-attn --jinja", "error", "--flash-attn", ("no value", "on, off, auto")),
    ("llamacpp", LLAMA, "-m x -fa", "error", "-fa", ("no value", "on, off, auto")),
    ("llamacpp", LLAMA, "--rope-scaling longrope", "error", "longrope", ("none, linear, yarn",)),
    ("llamacpp", LLAMA, "--cache-type-v turbo3", "error", "turbo3", ("q4_0",)),
    ("llamacpp", LLAMA, "--reasoning-budget 4096", "error", "4096", ("0, -1",)),
    (
        "llamacpp",
        LLAMA,
        "--reasoning-budget-message x",
        "error",
        "--reasoning-budget-message",
        ("yet", "use an image of server-b"),
    ),
    ("llamacpp", "server-b6000", "--n-cpu-moe 2", "error", "--n-cpu-moe", ("available in b6089",)),
    ("llamacpp", "server", "--split-mode row", "warning", "row", ("deprecated", "tensor")),
    ("llamacpp", LLAMA, "--split-mode tensor", "error", "tensor", ("does not accept", "layer, row")),
    ("vllm", VLLM, "m --speculative-model d", "error", "--speculative-model", ("0.8.3", "--speculative-config")),
    ("vllm", VLLM, "m --num_speculative_tokens 4", "error", "--num_speculative_tokens", ("--speculative-config",)),
    ("vllm", "v0.7.3", "m --speculative-config {}", "error", "--speculative-config", ("yet", "available in 0.8.2")),
    ("vllm", "v0.11.0", "m --attention-backend FLASHINFER", "error", "--attention-backend", ("available in 0.13",)),
    ("vllm", VLLM, "m --attention-backend XFORMERS", "error", "XFORMERS", ("FLASH_ATTN",)),
    ("vllm", VLLM, "m --attention-backend torch_sdpa", "error", "torch_sdpa", ("FLASH_ATTN",)),
    ("vllm", VLLM, "m --quantization squeezellm", "error", "squeezellm", ("no longer", "awq")),
    ("vllm", VLLM, "m --kv-cache-dtype turbo2", "error", "turbo2", ("turboquant",)),
    ("vllm", VLLM, "m --enable-metrics", "error", "--enable-metrics", ("not a known flag of vllm v0.20.0",)),
    ("tgi", TGI, "--max-input-length 5", "warning", "--max-input-length", ("deprecated", "--max-input-tokens")),
    (
        "tgi",
        "1.4.5",
        "--max-input-tokens 5",
        "error",
        "--max-input-tokens",
        ("available in 2.0", "--max-input-length"),
    ),
    ("tgi", TGI, "--dtype float32", "error", "float32", ("float16, bfloat16",)),
    # Each kind of finding.
    ("vllm", VLLM, "m --max-modle-len 1", "error", "--max-modle-len", ("did you mean '--max-model-len'",)),
    ("vllm", VLLM, "m --max 1", "error", "--max", ("not a known flag",)),  # the beginning of several flags
    ("vllm", VLLM, "m --zzz", "error", "--zzz", ("check its spelling",)),
    ("sglang", SGLANG, "--tp_size 2", "error", "--tp_size", ("did you mean '--tp-size'",)),
    ("sglang", SGLANG, "--dtype bf16", "error", "bf16", ("bfloat16",)),
    ("sglang", SGLANG, "--enable-ep-moe", "warning", "--enable-ep-moe", ("deprecated", "--ep-size")),
    ("sglang", SGLANG, "--port x", "error", "x", ("whole number from 0 to 65535", "'x'")),
    ("vllm", VLLM, "m --gpu-memory-utilization 1.5", "error", "1.5", ("above 0 to 1",)),
    ("vllm", VLLM, "m --gpu-memory-utilization high", "error", "high", ("a number",)),
    ("vllm", VLLM, "m --max-num-seqs 0", "error", "0", ("from 1",)),
    ("vllm", VLLM, "m --max-model-len 8kb", "error", "8kb", ("suffix",)),
    ("vllm", VLLM, "m --speculative-config {model:d}", "error", "{model:d}", ("JSON",)),
    ("vllm", VLLM, "m --quantization mine", "warning", "mine", ("one of",)),
    ("vllm", VLLM, "m --port", "error", "--port", ("no value", "whole number")),
    ("vllm", VLLM, "m --port --enforce-eager", "error", "--port", ("no value",)),
    ("vllm", VLLM, "m --compilation-config.level", "error", "--compilation-config.level", ("no value",)),
    ("vllm", VLLM, "m --enforce-eager=true", "error", "--enforce-eager=true", ("by itself", "--no-enforce-eager")),
    ("vllm", VLLM, "m --enforce-eager true", "error", "true", ("does not take a value",)),
    ("vllm", VLLM, "--enforce-eager false m", "error", "false", ("does not take a value",)),
    ("vllm", "v0.7.3", "m --no-enforce-eager", "error", "--no-enforce-eager", ("no negative form",)),
    ("vllm", VLLM, "m other", "error", "other", ("does not belong to any flag",)),
    ("vllm", VLLM, "m -tp 2 --tensor-parallel-size 4", "warning", "-tp", ("no effect",)),
    ("vllm", VLLM, "m --enforce-eager --no-enforce-eager", "warning", "--enforce-eager", ("no effect",)),
    ("vllm", VLLM, "-- m other", "error", "other", ("does not belong to any flag",)),
    ("sglang", SGLANG, "model", "error", "model", ("does not belong to any flag",)),
    ("tgi", TGI, "--port 1 -p 2", "error", "-p", ("given twice",)),
    ("tgi", TGI, "--num-shard -1", "error", "-1", ("from 0",)),
    ("tgi", TGI, "--model-id=x --trust-remote-code=1", "error", "--trust-remote-code=1", ("does not take a value",)),
    ("tgi", TGI, "--max-batch-size 1_000", "error", "1_000", ("whole number",)),
    ("tgi", "2.3.1", "--kv-cache-dtype fp8_e5m2", "error", "--kv-cache-dtype", ("available in 2.4",)),
    ("llamacpp", LLAMA, "-m x --parallel=8", "error", "--parallel=8", ("two arguments",)),
    ("llamacpp", LLAMA, "-m x -c 1 --ctx-size 2", "warning", "-c", ("no effect",)),
    ("llamacpp", "server", "-m x --draft-max 16", "error", "--draft-max", ("--spec-draft-n-max",)),
    ("llamacpp", LLAMA, "-m x y", "error", "y", ("does not belong to any flag",)),
    ("llamacpp", LLAMA, "--control-vector-layer-range 1", "error", "--control-vector-layer-range", ("no value",)),
]


@pytest.mark.parametrize(("engine", "tag", "line", "severity", "blamed", "words"), WRONG)
def test_what_the_engine_refuses_is_found(
    engine: str, tag: str, line: str, severity: str, blamed: str, words: tuple[str, ...]
) -> None:
    assert found(engine, line, tag) == [(severity, blamed)]
    reason = the_reason(engine, line, tag)
    assert all(word in reason for word in words), reason


@pytest.mark.parametrize(
    ("engine", "tag", "args", "blamed"),
    [
        # argparse takes an argument with a space for a positional one, and exits if none is left.
        ("vllm", VLLM, ["m", "--max-model-len 16384"], [1]),
        ("vllm", "v0.7.3", ["--enforce-eager", "--max-model-len 16384"], [1]),
        ("sglang", SGLANG, ["--context-length 8192"], [0]),
        ("tgi", TGI, ["--port 80"], [0]),
        ("llamacpp", LLAMA, ["-c 4096"], [0]),
        ("vllm", VLLM, ["m", "--max-model-len", "16384"], []),
        ("vllm", VLLM, ["m", "--chat-template", "--dtype is a word"], []),
        ("vllm", VLLM, ["a model"], []),
    ],
)
def test_a_flag_and_its_value_in_one_argument(engine: str, tag: str, args: list[str], blamed: list[int]) -> None:
    findings = lint(CommandLine(engine, tag, args))
    assert [finding.position for finding in findings] == blamed
    assert all("as two arguments" in finding.reason for finding in findings)


@pytest.mark.parametrize(
    ("tag", "line", "severity"),
    [
        # The parser compares the choices that it knows exactly (argparse), and has always known those of --dtype.
        ("v0.7.3", "m --dtype BFloat16", "error"),
        ("v0.33.0", "m --dtype BFloat16", "error"),
        ("v0.33.0", "m --dtype bfloat16", ""),
        ("v0.32.0", "m --kv-cache-dtype FP8", "error"),
        ("v0.33.0", "m --kv-cache-dtype FP8", "error"),  # is_known_kv_cache_dtype compares exactly too
        # ModelConfig.validate_quantization_before and LoadConfig lower-case what the parser leaves to them.
        ("v0.9.1", "m --quantization FP8", "error"),
        ("v0.9.2", "m --quantization FP8", ""),
        ("v0.10.2", "m -q FP8", "error"),
        ("v0.11.0", "m -q FP8", ""),
        ("v0.33.0", "m --quantization=Compressed-Tensors", ""),
        ("v0.33.0", "m --quantization FP9", "warning"),
        ("v0.10.0", "m --load-format SafeTensors", "error"),
        ("v0.10.1", "m --load-format SafeTensors", ""),
        # AttentionBackendEnum[value.upper()], and value.lower() of the kernels' backends.
        ("v0.20.0", "m --attention-backend flashinfer", ""),
        ("v0.33.0", "m --moe-backend TRITON", ""),
    ],
)
def test_vllm_reads_some_values_in_any_letter_case(tag: str, line: str, severity: str) -> None:
    assert [severity for severity, _ in found("vllm", line, tag)] == [severity] * bool(severity)


def test_flags_that_exclude_each_other() -> None:
    both = found("tgi", "--max-input-length 5 --max-input-tokens 5", TGI)
    assert ("error", "--max-input-length") in both
    assert ("error", "--max-input-length") not in found("tgi", "--max-input-length 5", TGI)


def test_all_findings_come_in_the_order_of_the_arguments() -> None:
    line = "m --zzz 1 --port x --dtype int8 --swap-space 4"
    assert [name for _, name in found("vllm", line, VLLM)] == ["--zzz", "x", "int8", "--swap-space"]


def test_what_may_be_the_value_of_an_unknown_flag_is_left_alone() -> None:
    assert found("sglang", "--zzz 1 2 --port 80", SGLANG) == [("error", "--zzz")]


MODULE = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
SGLANG_MODULE = ["python3", "-m", "sglang.launch_server"]


@pytest.mark.parametrize(
    ("engine", "tag", "command", "severity"),
    [
        # The releases of which the sources were compared with the table.
        *(
            ("vllm", f"v0.{minor}", [], "error")
            for minor in ("7.3", "8.2", "8.3", "9.2", "11.0", "14.0", "20.0", "33.0")
        ),
        *(("vllm", f"v0.{minor}", [], "error") for minor in ("7.0", "8.5.post1", "10.1.1", "20.1")),
        *(("sglang", f"v0.{minor}", SGLANG_MODULE, "error") for minor in ("4.0", "5.5.post3-cu129")),
        *(("sglang", f"v0.{minor}", SGLANG_MODULE, "error") for minor in ("4.5", "4.7", "5.4", "5.9", "5.23")),
        *(("tgi", tag, [], "error") for tag in ("0.9.4", "1.0.0", "1.4.5", "2.0.0", "2.4.1", "3.0.0", "3.3.7")),
        # The same releases on other hardware, and started otherwise.
        ("vllm", "v0.20.0-cu130", [], "error"),
        ("vllm", "v0.20.0-aarch64", MODULE, "error"),
        ("vllm", "v0.20.0", ["vllm", "serve"], "error"),
        ("sglang", "v0.5.9-cu129-amd64", SGLANG_MODULE, "error"),
        ("sglang", "v0.5.9-rocm700-mi35x", SGLANG_MODULE, "error"),
        ("tgi", "3.3.6-rocm", ["text-generation-launcher"], "error"),
        ("llamacpp", LLAMA, [], "error"),
        *(("llamacpp", f"server-cuda13-b{build}", [], "error") for build in (4441, 4719, 10588, 10705, 11434)),
        ("llamacpp", "b7000", ["llama-server"], "error"),
        # Releases between these may have flags that the table has not.
        *(("vllm", f"v0.{minor}", [], "warning") for minor in ("6.6", "8.5.post2", "10.3", "34.0")),
        *(("sglang", f"v0.{minor}", SGLANG_MODULE, "warning") for minor in ("3.6", "5.0", "5.24")),
        ("tgi", "3.3.8", [], "warning"),
        # A candidate, a patched build and a tag that only names a release are none.
        ("vllm", "v0.20.0rc1", [], "warning"),
        ("vllm", "v0.20.0-patched", [], "warning"),
        ("vllm", "0.20.0", [], "warning"),
        ("vllm", "nightly", [], "warning"),
        ("vllm", "own@", [], "warning"),
        ("sglang", "v0.4.7.post2-cu124", SGLANG_MODULE, "warning"),
        ("sglang", "latest", SGLANG_MODULE, "warning"),
        ("tgi", "3.1.1-gaudi", [], "warning"),
        ("tgi", "latest", [], "warning"),
        ("llamacpp", "server-b4440", [], "warning"),
        ("llamacpp", "server-b10589", [], "warning"),
        ("llamacpp", "server-b11435", [], "warning"),
        ("llamacpp", "server", [], "warning"),
        ("llamacpp", "full-b6500", ["/app/llama-server"], "warning"),
        # Other servers and clients in the same image have flags of their own.
        ("sglang", "v0.5.9", ["sglang", "serve"], "warning"),
        ("vllm", "v0.20.0", ["vllm", "bench"], "warning"),
    ],
)
def test_an_unknown_flag_is_an_error_where_every_flag_is_known(
    engine: str, tag: str, command: list[str], severity: str
) -> None:
    (finding,) = (each for each in lint(CommandLine(engine, tag, ["--zzz"], command)) if "--zzz" in each.reason)
    assert finding.severity == severity
    assert ("does not start with it" in finding.reason) is (severity == "error")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tgi"])
def test_every_flag_of_a_complete_release_is_taken(engine: str) -> None:
    table = flags_of(engine)
    assert table is not None
    for release in table.releases:
        numbers = [str(part) for part in release if part < POST]
        posts = "".join(f".post{part - POST}" for part in release if part >= POST)
        tag = ".".join([*numbers, "0", "0"][: max(3, len(numbers))]) + posts
        for flag in table.known_to(tag):
            findings = lint(CommandLine(engine, tag if engine == "tgi" else f"v{tag}", [flag.name]))
            reasons = [finding.reason for finding in findings]
            assert not [reason for reason in reasons if "not a known flag" in reason or "support" in reason]


@pytest.mark.parametrize(
    ("engine", "tag", "command", "args", "blamed"),
    [
        ("sglang", SGLANG, ["bash", "-c"], ["sglang serve --zzz"], []),
        ("sglang", SGLANG, ["/bin/sh"], ["-c", "--zzz"], []),
        ("sglang", SGLANG, [], ["sh", "-c", "--zzz"], []),
        ("sglang", SGLANG, ["python3", "-m", "sglang.launch_server"], ["--zzz"], [0]),
        ("sglang", SGLANG, ["python3", "-m"], ["sglang.launch_server", "--zzz"], [1]),
        ("sglang", SGLANG, [], ["/usr/bin/python3.12", "-m", "sglang.launch_server", "--zzz"], [3]),
        ("sglang", SGLANG, ["python3", "-m", "sglang.bench_serving"], ["--zzz"], []),
        ("sglang", SGLANG, ["python3", "/mine.py"], ["--zzz"], []),
        ("sglang", SGLANG, ["python3", "-m"], [], []),
        ("sglang", SGLANG, ["/mine"], ["--zzz"], []),
        ("sglang", SGLANG, [], [], []),
        ("vllm", VLLM, ["vllm", "serve", "m", "--zzz"], ["--yyy"], [0]),
        ("vllm", VLLM, ["vllm"], ["serve", "m", "--zzz"], [2]),
        ("tgi", TGI, ["text-generation-launcher", "--port", "1"], ["--port", "2"], [0]),
        ("llamacpp", LLAMA, ["/app/llama-server"], ["--zzz"], [0]),
        ("llamacpp", "full-b6500", ["/app/llama-server"], ["--zzz"], [0]),
        ("llamacpp", "full-b6500", [], ["--server", "-m", "x"], []),
        ("llamacpp", "light", [], ["--zzz"], []),
    ],
)
def test_only_what_the_engine_reads_is_checked(
    engine: str, tag: str, command: list[str], args: list[str], blamed: list[int]
) -> None:
    assert [finding.position for finding in lint(CommandLine(engine, tag, args, command))] == blamed


@pytest.mark.parametrize(
    ("args", "skip", "expected"),
    [
        (["--port", "x", "--zzz"], 0, [("error", "spec.extraArgs[1]"), ("error", "spec.extraArgs[2]")]),
        (["--port", "x", "--zzz"], 2, [("error", "spec.extraArgs[0]")]),
        (["--port", "8080", "--port", "80"], 2, []),  # overriding what was generated is what extra arguments are for
        (["--port", "8080"], 0, []),
    ],
)
def test_an_element_of_the_field_is_blamed(args: list[str], skip: int, expected: list[tuple[str, str]]) -> None:
    source = load([ROOT / "stacks" / "models" / "qwen-chat.yaml"]).resources[0]
    findings = Findings(source)
    report_findings(findings, "spec.extraArgs", CommandLine("sglang", SGLANG, args), skip=skip)
    assert [(problem.severity, problem.path) for problem in findings.problems] == expected


def test_an_engine_without_a_table_is_not_checked() -> None:
    assert lint(CommandLine("ollama", "latest", ["--zzz"])) == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tag_without_a_version_is_the_newest(engine: str) -> None:
    table = flags_of(engine)
    assert table is not None
    # Text Embeddings Inference has removed no flag yet.
    gone = next((flag for flag in table.flags if flag.span.is_after(None)), None)
    assert (gone is None) == (engine == "tei")
    if gone:
        assert found(engine, gone.name, FLOATING[engine])[0][0] == "error"
    late = next(flag for flag in table.flags if flag.span.absent or flag.span.since)
    assert not [f for f in lint(CommandLine(engine, FLOATING[engine], [late.name])) if " yet " in f.reason]


WORDS = st.sampled_from(
    [
        "--port",
        "--port=1",
        "-tp",
        "--a.b",
        "--",
        "-",
        "-O3",
        "x",
        "-1",
        "true",
        "{}",
        "$(X)",
        "--zzz",
        "-fa",
        "on",
        "--model",
        "",
    ]
)


@given(st.sampled_from(ENGINES), st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=8), st.booleans())
def test_any_arguments_are_read(engine: str, args: list[str], floating: bool) -> None:
    pinned = engines()[engine].current_image
    line = CommandLine(engine, FLOATING[engine] if floating or not pinned else pinned.tag, args)
    findings = lint(line)
    assert all(0 <= finding.position < len(args) for finding in findings)
    assert {finding.severity for finding in findings} <= {"error", "warning"}
    assert list(findings) == sorted(findings, key=lambda finding: (finding.position, finding.reason))
    traces = respelled_with_origins(line)
    assert [word for word, _ in traces] == list(respelled(line).args)
    assert all(0 <= place < len(args) for _, place in traces)
    assert [place for _, place in traces] == sorted(place for _, place in traces)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_spelling_is_unknown_to_its_own_engine(engine: str) -> None:
    table = flags_of(engine)
    assert table is not None
    for name in (name for flag in table.flags for name in flag.names):
        findings = lint(CommandLine(engine, FLOATING[engine], [name]))
        assert not [finding for finding in findings if "not a known flag" in finding.reason]

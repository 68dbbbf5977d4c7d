"""Verdicts on SGLang, whose cache fills its share: what has to fit beside it, and what each rank keeps."""

import re

import pytest

from components.checks.memory.cases import Fit, MemoryCase
from components.checks.memory.verdicts import WorkloadVerdict
from tests.checks.memory.fleets import leader_worker_set, only, pod

GIB = 2**30
SMALL, MOE, DEEPSEEK = "Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B", "deepseek-ai/DeepSeek-V3-0324"


def served(model: str, node: str, version: str, *args: str, gpus: int = 1) -> WorkloadVerdict:
    template = pod(node, ["python3", "-m", "sglang.launch_server", "--model-path", model, *args], gpus)
    template["spec"]["containers"][0]["image"] = f"lmsysorg/sglang:{version}"
    return only(leader_worker_set(template))


def case_of(found: WorkloadVerdict) -> MemoryCase:
    assert found.verdict.asked, found.text
    return found.verdict.asked


@pytest.mark.parametrize("version", ["v0.5.9", "v0.5.10", "v0.5.12-cu130", "v0.5.15", "v0.5.18", "v0.5.19"])
@pytest.mark.parametrize("node", ["g6.2xlarge", "g5.2xlarge"])
def test_eight_billion_parameters_fit_accelerators_of_24_gb_in_every_release(node: str, version: str) -> None:
    """Chunks of 2,048 tokens and graphs of 24 requests up to 0.5.19 (_handle_gpu_memory_settings)."""
    found = served(SMALL, node, version, "--context-length", "8192")
    assert found.verdict.fit is Fit.FITS
    # 147,456 bytes per token: at least 15,000 of them.
    assert found.verdict.largest_context >= 15_000


def test_a_share_that_leaves_too_little_is_an_error_and_its_remedy_is_right() -> None:
    found = served(SMALL, "g6.2xlarge", "v0.5.12", "--context-length", "8192", "--mem-fraction-static", "0.97")
    assert found.verdict.fit is Fit.EXCEEDED
    assert "a memory share of 0.97 leaves 0.6 GiB of one L4 beside weights and cache" in found.verdict.reason
    remedy = re.search(r"lower the engine's memory share to (0\.\d+)", found.verdict.reason)
    assert remedy
    lower = served(SMALL, "g6.2xlarge", "v0.5.12", "--context-length", "8192", "--mem-fraction-static", remedy[1])
    assert lower.verdict.fit is Fit.FITS
    between = served(SMALL, "g6.2xlarge", "v0.5.12", "--context-length", "8192", "--mem-fraction-static", "0.94")
    assert between.verdict.fit is Fit.TIGHT


def test_a_large_share_of_a_large_accelerator_leaves_enough() -> None:
    """vllm-project/vllm issue 21348: 0.93 on four H100."""
    args = ("--tp", "4", "--mem-fraction-static", "0.93", "--context-length", "32768")
    assert served("Qwen/Qwen3-235B-A22B-FP8", "p5.48xlarge", "v0.4.9", *args, gpus=4).verdict.fit is not Fit.EXCEEDED


def test_the_tables_of_requests_grow_with_the_context() -> None:
    """Each of at least 2,048 requests has 4 bytes per token (ReqToTokenPool): 7.7 GiB for 1,010,000 tokens."""
    args = ("--context-length", "1010000", "--kv-cache-dtype", "fp8_e5m2")
    found = served("Qwen/Qwen3-0.6B", "g6e.2xlarge", "v0.5.12", *args)
    assert found.verdict.fit is Fit.EXCEEDED
    assert "tables of requests take at least" in found.verdict.reason
    fewer = served("Qwen/Qwen3-0.6B", "g6e.2xlarge", "v0.5.12", *args, "--max-running-requests", "64")
    assert "tables of requests" not in fewer.verdict.reason


@pytest.mark.parametrize(
    ("args", "tokens"),
    [
        ((), 2048),
        (("--chunked-prefill-size", "1024"), 1024),
        # This limits the new prompts of a batch, of which a chunk is computed at a time.
        (("--max-prefill-tokens", "8192"), 2048),
        (("--chunked-prefill-size", "-1", "--max-prefill-tokens", "8192"), 8192),
        (("--chunked-prefill-size", "-1"), 16384),
    ],
)
def test_a_chunk_is_computed_at_a_time(args: tuple[str, ...], tokens: int) -> None:
    found = case_of(served(SMALL, "g6.2xlarge", "v0.5.12", "--context-length", "8192", *args))
    assert found.tokens_at_a_time(8192) == tokens


@pytest.mark.parametrize("version", ["v0.4.1", "v0.4.6", "v0.5.12", "v0.5.23"])
def test_weights_are_quantized_once_all_are_loaded(version: str) -> None:
    """sgl-project/sglang issue 2895, and the loader of every release."""
    args = ("--quantization", "fp8", "--context-length", "8192")
    found = served("Qwen/Qwen3-32B", "g6e.2xlarge", version, *args)
    assert found.verdict.fit is Fit.EXCEEDED
    assert "loads all weights before quantizing them" in found.verdict.reason
    # Half of the weights on each of two.
    assert served("Qwen/Qwen3-32B", "g6e.12xlarge", version, *args, "--tp", "2", gpus=2).verdict.fit is Fit.FITS


def weights(found: WorkloadVerdict, name: str = "weights") -> float:
    return next(part.size for part in found.verdict.parts if part.name == name) / GIB


def test_groups_of_ranks_keep_attention_and_embeddings_of_their_own() -> None:
    """sgl-project/sglang pull request 17392: 16.39 GB of weights on each of four H200, whose quarter is 14.22."""
    args = ("--tp", "4", "--ep-size", "4", "--context-length", "8192")
    whole = served(MOE, "p5en.48xlarge", "v0.5.10", *args, gpus=4)
    groups = served(MOE, "p5en.48xlarge", "v0.5.10", *args, "--enable-dp-attention", "--dp", "4", gpus=4)
    assert weights(whole) == pytest.approx(56.87 / 4, rel=0.01)
    assert weights(groups) == pytest.approx(16.39, rel=0.055)
    # All four heads on each rank, instead of one.
    assert weights(groups, "cache of one request") == pytest.approx(4 * weights(whole, "cache of one request"))
    assert (case_of(groups).parallel.accelerators, case_of(groups).parallel.attention) == (4, 1)


def test_heads_that_propose_tokens_take_weights_cache_and_a_reserve() -> None:
    """4 GiB from 0.5.10 to 0.5.13, 2 before (_handle_gpu_memory_settings)."""
    args = ("--tp", "8", "--context-length", "8192")
    heads = (*args, "--speculative-algorithm", "EAGLE", "--speculative-num-steps", "3")
    plain, drafted = (served(DEEPSEEK, "p5en.48xlarge", "v0.5.12", *arguments, gpus=8) for arguments in (args, heads))
    # One of 61 layers, and its 11.6 billion parameters of 671.
    assert weights(drafted, "draft model") == pytest.approx(641.3 / 61 / 8, rel=0.05)
    assert case_of(drafted).downloads == (case_of(plain).shape,)
    both = (weights(found, "cache of one request") for found in (plain, drafted))
    assert next(both) / 61 == pytest.approx(next(both) / 62)
    shares = [case_of(found).budget.share for found in (plain, drafted)]
    assert shares[0]
    assert shares[1]
    assert float(shares[0] - shares[1]) == pytest.approx(4096 / (141 * 1024), abs=0.002)


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        # 0.95 x (1 - 0.1 x (layers x width² / (24 x 1024²) - 1)): adjust_mem_fraction_for_vlm.
        ("google/gemma-3-27b-it", 0.95 * (1 - 0.1 * (27 * 1152**2 / (24 * 1024**2) - 1))),
        ("Qwen/Qwen3-VL-8B-Instruct", 0.95 * (1 - 0.1 * (1152**2 / 1024**2 - 1))),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 0.95 * (1 - 0.1 * (34 * 1408**2 / (24 * 1024**2) - 1))),
        ("Qwen/Qwen3-8B", 1),
    ],
)
def test_an_encoder_of_images_lowers_the_share(model: str, factor: float) -> None:
    found = case_of(served(model, "p5.48xlarge", "v0.5.4", "--tp", "8", "--context-length", "8192", gpus=8))
    memory, reserved = 81_920, 512 + 1.5 * 8192 + 1024 + 2 * 512
    assert found.budget.share
    assert float(found.budget.share) == pytest.approx((memory - reserved) / memory * factor, abs=0.001)


def test_each_rank_of_deepseek_v4_may_keep_more_than_its_part() -> None:
    """SemiAnalysisAI/InferenceX issue 2128: 125.65 GB on each of eight H200, and no memory for the cache at 0.88."""
    args = ("--tp", "8", "--mem-fraction-static", "0.88", "--max-running-requests", "8", "--context-length", "9236")
    found = served("deepseek-ai/DeepSeek-V4-Pro", "p5en.48xlarge", "v0.5.12", *args, gpus=8)
    assert found.verdict.fit is Fit.TIGHT
    assert "weights that each rank may keep whole can take up to 22.3 GiB" in found.verdict.reason


def test_states_of_requests_count() -> None:
    """handle_max_mamba_cache: without a prefix cache, one state per request."""
    args = ("--tp", "4", "--context-length", "8192", "--disable-radix-cache", "--max-running-requests")
    few, many = (
        served("Qwen/Qwen3.5-397B-A17B-GPTQ-Int4", "p5.48xlarge", "v0.5.12", *args, number, gpus=4)
        for number in ("8", "128")
    )
    # 45 layers of 4,268,032 bytes, a quarter on each rank.
    added = weights(many, "cache of one request") - weights(few, "cache of one request")
    assert added == pytest.approx(120 * 45 * 4_268_032 / 4 / GIB, rel=0.001)


@pytest.mark.parametrize("engine", ["v0.5.12", "v0.5.9"])
def test_a_published_server_with_states_and_images_fits(engine: str) -> None:
    """Four RTX PRO 6000 with a share of 0.7 serve Qwen3.5-397B-A17B-NVFP4."""
    args = ("--tp", "4", "--ep-size", "4", "--kv-cache-dtype", "fp8_e4m3", "--disable-radix-cache")
    more = ("--mem-fraction-static", "0.7", "--chunked-prefill-size", "16384", "--context-length", "9236")
    model = "nvidia/Qwen3.5-397B-A17B-NVFP4"
    found = served(model, "g7e.24xlarge", engine, *args, *more, "--max-running-requests", "128", gpus=4)
    assert found.verdict.fit in (Fit.FITS, Fit.TIGHT)

"""What takes memory and is not part of the sum: where it may be more than is left, the verdict is tight."""

from decimal import Decimal

import pytest

from components.checks.memory.cases import Fit
from components.checks.memory.verdicts import WorkloadVerdict
from tests.checks.memory.fleets import leader_worker_set, only, pod

EXPERTS, HALF = "--enable-expert-parallel", ("--max-model-len", "81920")
MOE, DENSE, OSS, IMAGES = "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-8B", "openai/gpt-oss-120b", "google/gemma-3-4b-it"


def served(model: str, node: str, image: str, *args: str, gpus: int = 1) -> WorkloadVerdict:
    command = ["vllm", "serve", model]
    if "sglang" in image:
        command = ["python3", "-m", "sglang.launch_server", "--model-path", model]
    template = pod(node, [*command, *args], gpus)
    template["spec"]["containers"][0]["image"] = image
    return only(leader_worker_set(template))


def vllm(tag: str) -> str:
    return f"vllm/vllm-openai:{tag}"


def test_graphs_of_experts_do_not_fit_beside_the_share_of_a_small_accelerator() -> None:
    """vllm-project/vllm issue 17469: four GPUs of 24 GB fail in graph capture, and work with enforce-eager."""
    args = ("--max-model-len", "1024", "--max-num-seqs", "1", "--tensor-parallel-size", "4")
    found = served(MOE, "g5.12xlarge", vllm("v0.8.5"), *args, gpus=4)
    assert found.verdict.fit is Fit.TIGHT
    # 48 layers of 60 MiB, and a tenth of 21.98 GiB less the context of the process.
    graphs = "CUDA graphs captured outside the engine's memory share can take up to 2.8 GiB, and only 1.7 GiB"
    assert graphs in found.verdict.reason
    eager = served(MOE, "g5.12xlarge", vllm("v0.8.5"), *args, "--enforce-eager", gpus=4)
    assert eager.verdict.fit is Fit.FITS


def test_graphs_are_part_of_the_share_since_0_21() -> None:
    args = ("--max-model-len", "1024", "--tensor-parallel-size", "4")
    found = served(MOE, "g5.12xlarge", vllm("v0.21.0"), *args, gpus=4)
    assert found.verdict.fit is Fit.FITS


def test_a_large_share_leaves_no_room_for_graphs_and_the_message_says_which_does() -> None:
    """vllm-project/vllm issue 33155."""
    args = ("--max-model-len", "5120", "--gpu-memory-utilization")
    found = served(OSS, "p5.4xlarge", vllm("v0.14.1"), *args, "0.97")
    assert found.verdict.fit is Fit.TIGHT
    assert "graphs" in found.verdict.reason
    assert "lower the engine's memory share to 0.96" in found.verdict.reason
    assert served(OSS, "p5.4xlarge", vllm("v0.14.1"), *args, "0.96").verdict.fit is Fit.FITS


@pytest.mark.parametrize("tag", ["v0.8.5", "v0.10.0", "v0.20.0"])
def test_graphs_of_a_small_model_fit(tag: str) -> None:
    found = served(DENSE, "g6.2xlarge", vllm(tag), "--max-model-len", "4096")
    assert "graphs" not in found.verdict.reason
    assert found.verdict.fit is Fit.FITS


def test_graphs_of_eighty_layers_on_four_accelerators_exceed_a_twentieth_of_an_l40s() -> None:
    """A report of 2026-03-09 on g6e.24xlarge: out of memory while graphs are captured at 0.95, and not at 0.85."""
    args = ("--quantization", "fp8", "--max-model-len", "8192", "--tensor-parallel-size", "4")
    llama = "meta-llama/Llama-3.3-70B-Instruct"
    found = served(llama, "g6e.24xlarge", vllm("v0.16.0"), *args, "--gpu-memory-utilization", "0.95", gpus=4)
    # 80 layers of 26 MiB, and a twentieth of 44.39 GiB less the context of the process.
    assert "can take up to 2.0 GiB, and only 1.7 GiB are left" in found.verdict.reason
    lower = served(llama, "g6e.24xlarge", vllm("v0.16.0"), *args, "--gpu-memory-utilization", "0.85", gpus=4)
    assert lower.verdict.fit is Fit.FITS


def test_graphs_of_experts_take_more_on_several_accelerators() -> None:
    """vllm-project/recipes, OpenAI/GPT-OSS.md: two H100 need a share below 0.95."""
    args = ("--max-model-len", "8192", "--tensor-parallel-size", "2", "--gpu-memory-utilization")
    found = served(OSS, "p5.48xlarge", vllm("v0.10.2"), *args, "0.95", gpus=2)
    assert (found.verdict.fit, "graphs" in found.verdict.reason) == (Fit.TIGHT, True)
    assert served(OSS, "p5.48xlarge", vllm("v0.10.2"), *args, "0.94", gpus=2).verdict.fit is Fit.FITS


@pytest.mark.parametrize(("tag", "size"), [("v0.7.3", "10.0 GiB"), ("v0.8.5", "")])
def test_the_engine_before_v1_captures_graphs_for_every_stage(tag: str, size: str) -> None:
    """vllm-project/vllm issue 15598 and huggingface/open-r1 pull request 43: DeepSeek-R1 on four nodes."""
    args = ("--max-model-len", "16384", "--tensor-parallel-size", "8", "--pipeline-parallel-size", "4")
    template = pod("g6e.48xlarge", ["vllm", "serve", "deepseek-ai/DeepSeek-R1", *args], 8)
    template["spec"]["containers"][0]["image"] = vllm(tag)
    found = only(leader_worker_set(template, size=4))
    if size:
        assert f"graphs captured outside the engine's memory share can take up to {size}" in found.verdict.reason
    else:
        assert found.verdict.fit is Fit.FITS


def test_images_did_not_fit_beside_the_share_of_early_sglang() -> None:
    """sgl-project/sglang issue 4708: gemma-3-4b stops on one GPU of 40 GB, and a text model of that size does not."""
    found = served(IMAGES, "p4d.24xlarge", "lmsysorg/sglang:v0.4.4.post1", "--context-length", "8192")
    assert found.verdict.fit is Fit.TIGHT
    assert "encoding images and audio can take up to 6.0 GiB" in found.verdict.reason
    text = served("Qwen/Qwen3-4B", "p4d.24xlarge", "lmsysorg/sglang:v0.4.4.post1", "--context-length", "8192")
    assert text.verdict.fit is Fit.FITS
    # With a smaller share there is room.
    smaller = ("--context-length", "8192", "--mem-fraction-static", "0.8")
    roomy = served(IMAGES, "p4d.24xlarge", "lmsysorg/sglang:v0.4.4.post1", *smaller)
    assert roomy.verdict.fit is Fit.FITS


def test_weights_in_mxfp4_may_be_filled_up() -> None:
    """vllm-project/vllm issue 23278: 65.97 GiB of gpt-oss-120b, whose files have 60.77."""
    found = served(OSS, "p5.4xlarge", vllm("v0.22.0"), "--max-model-len", "4096")
    assert found.verdict.margin < Decimal("5.2") * 2**30
    assert found.verdict.fit is Fit.TIGHT
    assert "padding of MXFP4 weights can take up to 5.2 GiB" in found.verdict.reason
    assert served(OSS, "p5en.48xlarge", vllm("v0.22.0"), "--max-model-len", "4096").verdict.fit is Fit.FITS


def test_data_parallel_ranks_may_compute_the_experts_of_all_tokens() -> None:
    """GPUStack's page on DeepSeek-V3.2 and H200: half of the context starts, and the whole one is out of memory."""
    args = ("--tensor-parallel-size", "1", "--data-parallel-size", "8")
    whole = served("deepseek-ai/DeepSeek-V3.2", "p5en.48xlarge", vllm("v0.13.0"), *args, EXPERTS, gpus=8)
    assert whole.verdict.fit is Fit.TIGHT
    assert "the experts of the tokens of all ranks can take up to 15.8 GiB" in whole.verdict.reason
    half = served("deepseek-ai/DeepSeek-V3.2", "p5en.48xlarge", vllm("v0.13.0"), *args, EXPERTS, *HALF, gpus=8)
    assert half.verdict.fit is Fit.FITS

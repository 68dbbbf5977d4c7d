"""The memory that vLLM needs at its start to encode the largest images and videos."""

import pytest

from components.checks.memory.cases import Fit
from components.checks.memory.verdicts import WorkloadVerdict
from components.engines.memory.encoders import EncoderUse, MediaLimits, encoded_tokens, encoder_bytes, encoder_of
from components.engines.registry import engines
from tests.checks.memory.fleets import leader_worker_set, only, pod
from tests.checks.memory.test_uncounted import served, vllm

GIB = 2**30
QWEN25, QWEN3, INTERN = (f"{name}ForConditionalGeneration" for name in ("Qwen2_5_VL", "Qwen3VL", "InternVL"))
SMALL = "Qwen/Qwen2.5-VL-3B-Instruct"
NO_VIDEO = MediaLimits(videos=0)


def _tokens(architecture: str, *, context: int, limits: MediaLimits | None = None, whole: bool = False) -> int:
    encoder = encoder_of(engines()["vllm"], architecture)
    assert encoder
    use = EncoderUse(limits=limits or MediaLimits(), context=context, tokens=2048, whole_requests=whole)
    return encoded_tokens(encoder, use)


@pytest.mark.parametrize(
    ("architecture", "context", "limits", "expected"),
    [
        # vllm-project/vllm pull request 12604: "128000 ... {'image': 16384, 'video': 114688}".
        (QWEN25, 128_000, None, 114_688),
        (QWEN25, 128_000, NO_VIDEO, 16_384),
        # Pull request 15802: "16384 ... {'image': 16384, 'video': 16384}".
        (QWEN25, 16_384, None, 16_384),
        # max_pixels of 1,003,520 are 1,280 tokens of 28 x 28, and eight of them are 16 frames.
        (QWEN25, 128_000, MediaLimits(pixels=1_003_520), 8 * 1280),
        (QWEN25, 128_000, MediaLimits(is_text=True), 0),
        (QWEN25, 128_000, MediaLimits(images=0, videos=0), 0),
        # Issue 34209: a budget of 16,384 tokens.
        (QWEN3, 262_144, None, 16_384),
        # A frame of 256 tokens for each part of the context.
        (INTERN, 32_768, None, 32_768),
        (INTERN, 32_768, NO_VIDEO, 3_328),
    ],
)
def test_the_largest_item_is_encoded(
    architecture: str, context: int, limits: MediaLimits | None, expected: int
) -> None:
    assert _tokens(architecture, context=context, limits=limits) == expected


def test_the_first_engine_encodes_all_items_of_a_request() -> None:
    """vllm-project/vllm issue 22173, 0.9.0.1 on V100: "180224 ... {'image': 163840, 'video': 16384}"."""
    limits = MediaLimits(images=10, videos=1)
    assert _tokens(QWEN25, context=8192, limits=limits, whole=True) == 180_224
    assert _tokens(QWEN25, context=8192, limits=limits) == 16_384


def test_small_items_fill_a_batch() -> None:
    gemma = encoder_of(engines()["vllm"], "Gemma3ForConditionalGeneration")
    assert gemma
    # 8,192 tokens are 32 images of 4,096 patches; "profiling the encoder took 1 to 5 GiB".
    use = EncoderUse(limits=MediaLimits(), context=8192, tokens=8192, hidden=5376)
    assert GIB < encoder_bytes(gemma, use) < 5 * GIB


def _small(*args: str, tag: str = "v0.8.3") -> WorkloadVerdict:
    return served(SMALL, "p4de.24xlarge", vllm(tag), *args)


def test_the_encoder_of_videos_may_not_fit_a_small_share() -> None:
    """vllm-project/vllm issue 18124: no memory is left for the cache of 23.7 GiB on an A100, after 7.2 of weights."""
    found = _small("--gpu-memory-utilization", "0.3")
    assert found.verdict.fit is Fit.TIGHT
    assert (
        "encoding images and videos at the start can take up to 18.1 GiB, and only 10.9 GiB" in found.verdict.reason
    )
    assert "add --limit-mm-per-prompt video=0" in found.verdict.reason
    newer = _small("--gpu-memory-utilization", "0.3", tag="v0.20.0")
    assert 'add --limit-mm-per-prompt {"video":0}' in newer.verdict.reason


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--gpu-memory-utilization", "0.3", "--limit-mm-per-prompt", "video=0"),
        ("--gpu-memory-utilization", "0.3", "--mm-processor-kwargs", '{"max_pixels":1003520}'),
    ],
)
def test_it_fits_the_default_share_and_with_limits(args: tuple[str, ...]) -> None:
    assert _small(*args).verdict.fit is Fit.FITS


@pytest.mark.parametrize(
    ("model", "node", "tag", "gpus", "args"),
    [
        # LlamaFactory issue 7131, February 2025: two videos and four images of a request on 48 GB.
        (SMALL, "g6e.2xlarge", "v0.7.2", 1, ("--limit-mm-per-prompt", "image=4,video=2")),
        # vLLM issues 9630 and 10569, engine of the release: 0.6.3, whose runner is that of 0.7.
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "p5.4xlarge", "v0.7.0", 1, ("--max-model-len", "512")),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "g6e.2xlarge", "v0.7.0", 1, ("--max-model-len", "512")),
        # vLLM issue 10034.
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "g5.12xlarge", "v0.7.0", 2, ("--max-model-len", "512",
                                                                                 "--tensor-parallel-size", "2")),
    ],
)  # fmt: skip
def test_servers_that_ran_out_of_memory_do_not_fit(
    model: str, node: str, tag: str, gpus: int, args: tuple[str, ...]
) -> None:
    assert served(model, node, vllm(tag), *args, gpus=gpus).verdict.fit is not Fit.FITS


@pytest.mark.parametrize(
    ("model", "context", "patches", "patch"),
    [
        # By hand: patches of the largest item, or of a batch and an item, and the bytes of each: 26 times the width,
        # or six times the widths outside and inside, and six for each input.
        ("Qwen/Qwen2-VL-7B-Instruct", 32_768, 4 * 2 * 16_384, 6 * (1280 + 5120) + 6 * 1176),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 128_000, 4 * 7 * 16_384, 26 * 1280 + 6 * 1176),
        ("Qwen/Qwen3-VL-8B-Instruct", 32_768, 4 * 16_384, 6 * (1152 + 4304) + 6 * 1536),
        ("OpenGVLab/InternVL3-8B", 32_768, 4 * 32_768, 6 * (1024 + 4096) + 6 * 588),
        ("mistralai/Pixtral-12B-2409", 16_384, 4 * (2048 + 4160), 6 * (1024 + 4096) + 6 * 768),
        ("llava-hf/llava-1.5-7b-hf", 4096, 2048 + 4160, 6 * (1024 + 4096) + 6 * 768),
        ("google/gemma-3-4b-it", 8192, 16 * (2048 + 256), 6 * (1152 + 4304) + 6 * 588),
    ],
)
def test_neighbours_fit_only_where_their_encoder_does(model: str, context: int, patches: int, patch: int) -> None:
    for hundredths in range(16, 92, 4):
        args = ("--max-model-len", str(context), "--gpu-memory-utilization", f"0.{hundredths}")
        verdict = served(model, "p4de.24xlarge", vllm("v0.20.0"), *args).verdict
        if verdict.fit is Fit.FITS:
            break
    else:
        pytest.fail(f"{model} fits no share")
    assert verdict.margin >= patches * patch


def test_other_engines_have_no_such_limits() -> None:
    template = pod("p4de.24xlarge", ["python3", "-m", "sglang.launch_server", "--model-path", SMALL], 1)
    template["spec"]["containers"][0]["image"] = "lmsysorg/sglang:v0.5.9"
    found = only(leader_worker_set(template))
    assert "at the start" not in found.verdict.reason

"""The catalog against the figures that were gathered first: one row of each model, by hand or from its publisher.

KV B is what a token takes of the cache at 16 bits, 8k and max what 8,192 tokens and the longest context take, in GiB.
``full`` counts only layers that keep the whole context, ``all`` counts all of them as if they did.
"""

from decimal import Decimal

import pytest

from components.checks.memory.arithmetic import judge
from components.checks.memory.cases import MemoryCase
from components.checks.memory.catalog import shape_of, shapes
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import weights_of
from components.contract.quantity import GIB

ROWS = """
Qwen/Qwen2.5-0.5B-Instruct                | 0.49 | 32768 | - | 12288 | all | 0.09 | 0.38
meta-llama/Llama-3.2-1B-Instruct          | 1.24 | 131072 | 2.30 | 32768 | all | 0.25 | 4.00
Qwen/Qwen3-0.6B                           | 0.60 | 40960 | 1.11 | 114688 | all | 0.88 | 4.38
Qwen/Qwen3-1.7B                           | 1.72 | 40960 | 3.20 | 114688 | all | 0.88 | 4.38
microsoft/Phi-4-mini-instruct             | 3.84 | 131072 | 7.15 | 131072 | all | 1.00 | 16.00
google/gemma-3-4b-it                      | 4.30 | 131072 | 8.01 | 139264 | all | 1.06 | 17.00
mistralai/Mistral-7B-Instruct-v0.3        | 7.25 | 32768 | 13.50 | 131072 | all | 1.00 | 4.00
Qwen/Qwen2.5-7B-Instruct                  | 7.62 | 32768 | 14.19 | 57344 | all | 0.44 | 1.75
meta-llama/Llama-3.1-8B-Instruct          | 8.03 | 131072 | 14.96 | 131072 | all | 1.00 | 16.00
deepseek-ai/DeepSeek-R1-Distill-Llama-8B  | 8.03 | 131072 | 14.96 | 131072 | all | 1.00 | 16.00
Qwen/Qwen3-8B                             | 8.19 | 40960 | 15.26 | 147456 | all | 1.12 | 5.62
ibm-granite/granite-4.1-8b                | 8.79 | 131072 | 16.38 | 163840 | all | 1.25 | 20.00
google/gemma-4-12B-it                     | 11.96 | 262144 | 22.28 | 393216 | all | 3.00 | 96.00
microsoft/phi-4                           | 14.66 | 16384 | 27.31 | 204800 | all | 1.56 | 3.12
deepseek-ai/DeepSeek-R1-Distill-Qwen-14B  | 14.77 | 131072 | 27.51 | 196608 | all | 1.50 | 24.00
openai/gpt-oss-20b                        | 20.91 | 131072 | 12.82 | 24576 | full | 0.19 | 3.00
google/gemma-3-27b-it                     | 27.43 | 131072 | 51.10 | 507904 | all | 3.88 | 62.00
Qwen/Qwen3.6-27B                          | 27.78 | 262144 | 51.75 | 65536 | full | 0.50 | 16.00
Qwen/Qwen3-30B-A3B                        | 30.53 | 40960 | 56.87 | 98304 | all | 0.75 | 3.75
google/gemma-4-31B-it                     | 31.27 | 262144 | 58.25 | 81920 | full | 0.62 | 20.00
Qwen/Qwen3-32B                            | 32.76 | 40960 | 61.02 | 262144 | all | 2.00 | 10.00
Qwen/Qwen2.5-Coder-32B-Instruct           | 32.77 | 32768 | 61.03 | 262144 | all | 2.00 | 8.00
Qwen/Qwen3.6-35B-A3B                      | 35.95 | 262144 | 66.97 | 20480 | full | 0.16 | 5.00
mistralai/Mixtral-8x7B-v0.1               | 46.70 | 32768 | 86.99 | 131072 | all | 1.00 | 4.00
meta-llama/Llama-3.3-70B-Instruct         | 70.56 | 131072 | 131.42 | 327680 | all | 2.50 | 40.00
openai/gpt-oss-120b                       | 116.83 | 131072 | 60.77 | 36864 | full | 0.28 | 4.50
mistralai/Mistral-Small-4-119B-2603       | 119 | 1048576 | 112.63 | 23040 | all | 0.18 | 22.50
Qwen/Qwen3.5-122B-A10B                    | 125.09 | 262144 | 232.99 | 24576 | full | 0.19 | 6.00
mistralai/Mixtral-8x22B-v0.1              | 140.62 | 65536 | 261.93 | 229376 | all | 1.75 | 14.00
MiniMaxAI/MiniMax-M2.7                    | 228.69 | 204800 | 214.34 | 253952 | all | 1.94 | 48.44
Qwen/Qwen3-235B-A22B                      | 235.09 | 40960 | 437.90 | 192512 | all | 1.47 | 7.34
meta-llama/Meta-Llama-3.1-405B            | 405.85 | 131072 | 755.96 | 516096 | all | 3.94 | 63.00
Qwen/Qwen3-Coder-480B-A35B-Instruct       | 480.15 | 262144 | 894.36 | 253952 | all | 1.94 | 62.00
moonshotai/Kimi-K2.6                      | 1026.41 | 262144 | 554.32 | 70272 | all | 0.54 | 17.16
deepseek-ai/DeepSeek-R1-0528              | 671.03 | 163840 | 641.30 | 70272 | all | 0.54 | 10.72
deepseek-ai/DeepSeek-V3.2                 | 671.03 | 163840 | 642.14 | 70272 | all | 0.54 | 10.72
zai-org/GLM-5.2-FP8                       | 743.18 | 1048576 | 703.75 | 89856 | all | 0.69 | 87.75
"""
FIGURES = [tuple(cell.strip() for cell in row.split("|")) for row in ROWS.strip().splitlines()]


def token_bytes(shape: Shape, method: str) -> int:
    kinds = [kind for kind in shape.layers if method == "all" or kind.window is None]
    heads = [(kind.count, 1 if kind.is_latent else kind.kv_heads, kind.key_dim + kind.value_dim) for kind in kinds]
    return sum(count * number * size * 2 for count, number, size in heads)


@pytest.mark.parametrize("row", FIGURES, ids=lambda row: row[0])
def test_a_model_has_the_figures_that_were_gathered(row: tuple[str, ...]) -> None:
    name, billions, context, weights, token, method, at_8k, at_most = row
    shape = shape_of(name)
    assert shape
    assert shape.parameters is not None
    assert Decimal(shape.parameters) / 10**9 == pytest.approx(
        Decimal(billions), rel=Decimal("0.0015"), abs=Decimal("0.006")
    )
    assert shape.max_context == int(context)
    size = weights_of(shape)
    if weights != "-":
        assert not isinstance(size, str)
        assert round(Decimal(size.total) / GIB, 2) == Decimal(weights)
    assert token_bytes(shape, method) == int(token)
    assert token_bytes(shape, method) * 8192 / GIB == pytest.approx(float(at_8k), abs=0.006)
    assert token_bytes(shape, method) * int(context) / GIB == pytest.approx(float(at_most), abs=0.006)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        # Their publishers' model cards and technical reports.
        ("Qwen/Qwen2-7B-Instruct", "7.6"),
        ("Qwen/Qwen3-14B", "14.8"),
        ("Qwen/Qwen2.5-72B-Instruct", "72.7"),
        ("meta-llama/Llama-2-7b-hf", "6.7"),
        ("mistralai/Mistral-Nemo-Instruct-2407", "12.2"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "7.6"),
        ("google/gemma-2-9b-it", "9.2"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "8.0"),
        ("01-ai/Yi-34B", "34.4"),
        ("CohereForAI/aya-23-8B", "8.0"),
        ("CohereForAI/c4ai-command-r-v01", "35.0"),
        ("LGAI-EXAONE/EXAONE-4.0-32B", "32.0"),
        ("allenai/OLMo-2-0325-32B", "32.2"),
        ("allenai/Olmo-3.1-32B-Instruct", "32.2"),
        ("allenai/OLMoE-1B-7B-0924", "6.9"),
        ("01-ai/Yi-6B", "6.1"),
        ("Qwen/Qwen2-72B", "72.7"),
        ("THUDM/chatglm3-6b", "6.2"),
        ("THUDM/glm-4-9b", "9.4"),
        ("baichuan-inc/Baichuan2-7B-Chat", "7.5"),
        ("bigcode/starcoder2-7b", "7.2"),
        ("deepseek-ai/deepseek-moe-16b-base", "16.4"),
        ("ibm-granite/granite-3.0-2b-base", "2.5"),
        ("openbmb/MiniCPM-2B-sft-bf16", "2.7"),
        ("deepseek-ai/DeepSeek-V2", "235.7"),
        ("deepseek-ai/DeepSeek-V2-Lite", "15.7"),
        ("internlm/internlm2_5-7b", "7.7"),
        ("meta-llama/Llama-3.2-3B-Instruct", "3.2"),
        ("microsoft/Phi-3.5-MoE-instruct", "41.9"),
        ("mistralai/Devstral-2-123B-Instruct-2512", "125.0"),
        ("nvidia/Nemotron-H-56B-Base-8K", "56.3"),
    ],
)
def test_parameters_are_as_many_as_their_publishers_say(name: str, billions: str) -> None:
    shape = shape_of(name)
    assert shape
    assert shape.parameters
    assert round(Decimal(shape.parameters) / 10**9, 1) == Decimal(billions)


WITHOUT_CONTEXTS = ("litgpt", "tunix", "NVIDIA/NeMo", "tests/config/base_model_arch_groundtruth.json")


def test_every_model_has_layers_heads_and_a_source() -> None:
    assert len(shapes()) == 354
    for shape in shapes().values():
        assert shape.layers, shape.name
        assert shape.heads, shape.name
        assert shape.hidden, shape.name
        # Of some models litgpt has a shorter context than their publishers, and others none, which then is left open.
        assert shape.max_context or any(source in shape.source for source in WITHOUT_CONTEXTS), shape.name
        assert shape.source, shape.name


def test_sixteen_bit_files_are_as_large_as_the_parameters_that_were_counted() -> None:
    """Files and configurations have different sources: that they agree shows that widths and layers are right."""
    compared = 0
    for shape in shapes().values():
        if shape.dtype == "bfloat16" and shape.weights_bytes and shape.parameters and not shape.rounded:
            assert shape.weights_bytes / 2 == pytest.approx(shape.parameters, rel=0.0015, abs=6_000_000), shape.name
            compared += 1
    assert compared > 40


@pytest.mark.parametrize(
    ("name", "whole", "windowed", "window"),
    [
        # Gemma 3 Technical Report: five layers with a window of 1,024 tokens to each that keeps everything.
        ("google/gemma-3-27b-it", 10, 52, 1024),
        ("google/gemma-3-4b-it", 5, 29, 1024),
        ("openai/gpt-oss-20b", 12, 12, 128),
        ("stepfun-ai/Step-3.7-Flash", 12, 33, 512),
        ("XiaomiMiMo/MiMo-V2-Flash", 9, 39, 128),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 12, 36, 8192),
    ],
)
def test_layers_with_a_window(name: str, whole: int, windowed: int, window: int) -> None:
    shape = shape_of(name)
    assert shape
    assert sum(kind.count for kind in shape.layers if kind.window is None) == whole
    assert {kind.window: kind.count for kind in shape.layers if kind.window} == {window: windowed}
    assert shape.exact


@pytest.mark.parametrize(
    ("name", "images"),
    [("google/gemma-3-27b-it", True), ("Qwen/Qwen3-VL-8B-Instruct", True), ("Qwen/Qwen3-8B", False)],
)
def test_models_that_see(name: str, *, images: bool) -> None:
    shape = shape_of(name)
    assert shape
    assert shape.images is images
    case = MemoryCase(shape, "H100", 80 * GIB, context=1024)
    note = "the memory for encoding images and audio is not included"
    assert (note in judge(case, types=False).notes) is images


def test_a_model_that_nobody_knows() -> None:
    assert shape_of("example/unknown") is None

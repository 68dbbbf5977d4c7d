"""A second reading of when an engine starts, written by hand from the packages of the releases below.

It shares nothing with ``components``: its tables were read from the unpacked packages of these releases alone (vLLM:
``model_executor/models/registry.py``, ``model_executor/layers/quantization``, ``config``, ``CMakeLists.txt``; SGLang:
``srt/models``, ``srt/layers/quantization``, ``srt/model_executor``), and it knows of each rule only what is certain.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

VLLM = ("0.7.3", "0.8.5", "0.9.2", "0.10.2", "0.11.0", "0.12.0", "0.13.0", "0.14.0", "0.16.0", "0.19.0", "0.24.0",
        "0.29.0", "0.33.0")  # fmt: skip
SGLANG = ("0.4.1", "0.4.3.post4", "0.4.4", "0.4.5", "0.4.6", "0.4.7", "0.5.1", "0.5.3", "0.5.4", "0.5.5", "0.5.6",
          "0.5.7", "0.5.8", "0.5.9", "0.5.16", "0.5.23")  # fmt: skip
RELEASES = {"vllm": VLLM, "sglang": SGLANG}

GPUS = {
    # Instance type: GPUs of a node, memory in GiB by the specification, compute capability.
    "p3.16xlarge": (8, 16, 7.0),
    "p3dn.24xlarge": (8, 32, 7.0),
    "g4dn.metal": (8, 16, 7.5),
    "p4d.24xlarge": (8, 40, 8.0),
    "p4de.24xlarge": (8, 80, 8.0),
    "g5.48xlarge": (8, 24, 8.6),
    "g6.48xlarge": (8, 24, 8.9),
    "g6e.48xlarge": (8, 48, 8.9),
    "p5.48xlarge": (8, 80, 9.0),
    "p5en.48xlarge": (8, 141, 9.0),
    "p6-b200.48xlarge": (8, 180, 10.0),
    "p6-b300.48xlarge": (8, 270, 10.3),
    "g7e.48xlarge": (8, 96, 12.0),
}

FAMILIES = (
    # Models by their name; the first of the releases above that registers their architecture, of vLLM and of SGLang
    # ("" for all, "-" for none); and the first that may run it with Transformers, by the version that it requires.
    ("qwen3[.](5|6|8)", "0.19.0", "0.5.9", "0.17", "-"),
    ("qwen3-vl", "0.11.0", "0.5.3", "0.10", "-"),
    ("qwen3-next|qwen3-coder-next", "0.10.2", "0.5.3", "0.10", "-"),
    ("qwen3-", "0.8.5", "0.4.6", "0.8.3", "0.4.5"),
    ("qwen2[.]5-vl", "", "0.4.3.post4", "-", "-"),
    ("qwen2-vl", "", "", "-", "-"),
    ("qwen2[.]?5?-|qwq|deepseek-r1-distill-qwen", "", "", "-", "-"),
    ("llama-4", "0.8.5", "0.4.5", "0.8.3", "-"),
    ("nemotron-super-49b", "", "0.5.1", "-", "-"),
    ("nemotron-nano-12b-v2-vl", "0.11.0", "0.5.6", "-", "-"),
    ("nemotron-(3|h|cascade|nano-9b)", "0.9.2", "0.5.4", "-", "-"),
    ("(^|meta-)llama|falcon3|^yi-|smollm", "", "", "-", "-"),
    ("gemma-4-12b", "0.24.0", "0.5.16", "0.19", "-"),
    ("gemma-4", "0.19.0", "0.5.16", "0.18", "-"),
    ("gemma-3|medgemma", "0.8.5", "0.4.5", "0.8", "-"),
    ("gemma", "", "", "-", "-"),
    ("gpt-oss", "0.10.2", "0.5.1", "0.10.1", "-"),
    ("glm-5", "0.16.0", "0.5.9", "0.16", "-"),
    ("glm-4[.]7-flash", "0.16.0", "0.5.8", "0.14", "-"),
    ("glm-4[.]6v-flash", "0.9.2", "0.5.1", "0.9.2", "-"),
    ("glm-4[.]5v", "0.10.2", "0.5.1", "0.10", "-"),
    ("glm-4[.][567]", "0.10.2", "0.5.1", "0.10", "-"),
    ("deepseek-v4", "0.24.0", "0.5.16", "0.19", "-"),
    ("deepseek-v3[.]2", "0.11.0", "0.5.3", "-", "-"),
    ("deepseek-(v3|r1)|kimi-k2-(instruct|thinking)", "", "0.4.1", "-", "-"),
    ("deepseek-(v2|coder-v2|moe)", "", "", "-", "-"),
    ("kimi-k2[.]", "0.16.0", "0.5.9", "-", "-"),
    ("kimi-k3", "0.29.0", "0.5.23", "-", "-"),
    ("minimax-m3", "0.24.0", "0.5.16", "0.19", "-"),
    ("minimax-m2", "0.12.0", "0.5.5", "0.14", "-"),
    ("mimo-v2-flash", "0.14.0", "0.5.7", "0.19", "-"),
    ("mimo-7b", "0.9.2", "0.4.7", "-", "-"),
    ("command-a", "", "0.4.3.post4", "-", "-"),
    ("ernie-4[.]5-21b", "0.9.2", "0.5.1", "0.10", "-"),
    ("exaone-4[.]5", "0.24.0", "-", "0.19", "0.5.16"),
    ("exaone-4[.]0", "0.10.2", "0.5.9", "0.10", "0.5.1"),
    ("hunyuan-a13b", "0.9.2", "0.5.1", "0.10", "-"),
    ("olmo-3", "0.11.0", "-", "0.10", "0.5.3"),
    ("seed-oss", "0.10.2", "-", "0.10", "0.5.3"),
    ("phi-4-multimodal", "0.8.5", "0.4.7", "0.8", "-"),
    ("phi-(3|4)(-|[.]5-mini|$)", "", "", "-", "-"),
    ("internvl3", "", "0.4.7", "0.9", "-"),
    ("mistral-7b|mixtral|mathstral|mistral-nemo|mistral-large-instruct", "", "", "-", "-"),
    ("olmo-2|olmoe", "", "", "-", "-"),
)
"""The reader knows nothing of the architectures of other models."""

_NO_GPU = 99.0
"""Capability where a release has no method for the weights of a model."""
FLOAT16_REFUSED = (("gemma-2-|gemma-3-(4|12|27)b|medgemma", "0.9.2"), ("gemma-3-1b", "0.10.2"))


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A server.

    Attributes:
        weights: Type of the weights as the configuration of the model states it.
        billions: Parameters.
        heads: Attention heads; 0 if unknown.
        key_heads: Key-value heads of the layers, where they are divided or copied.
        block: Numbers with a common scale of quantization; 0 without blocks.
        cuts: Widths that are divided into blocks.
        experts: Whether it has experts.
    """

    model: str
    weights: str
    billions: float
    heads: int
    key_heads: tuple[int, ...]
    block: int
    cuts: tuple[int, ...]
    experts: bool
    engine: str
    version: str
    instance: str
    gpus: int
    tensor: int
    dtype: str


def refusals(facts: Facts) -> Iterator[str]:
    """Yield the certain reasons for which a server does not start."""
    if facts.tensor > facts.gpus:
        yield "gpus"
    if facts.heads % facts.tensor or any(each % facts.tensor and facts.tensor % each for each in facts.key_heads):
        yield "heads"
    if facts.tensor > 1 and any(cut / facts.tensor % facts.block for cut in facts.cuts):
        yield "blocks"
    if _lacks_architecture(facts):
        yield "architecture"
    if _lacks_format(facts):
        yield "format"
    if _weights_gib(facts) / facts.tensor > GPUS[facts.instance][1]:
        yield "memory"


def starts(facts: Facts) -> bool:
    """Tell whether nothing can keep a server from its start: the weights take less than a third of the memory."""
    registered = has_architecture(facts)
    return (
        not any(refusals(facts)) and registered and _weights_gib(facts) / facts.tensor < GPUS[facts.instance][1] / 3
    )


def has_architecture(facts: Facts) -> bool:
    """Tell whether a release certainly registers the architecture of a model."""
    family = _family(facts.model)
    if family is None:
        return False
    first = family[1] if facts.engine == "vllm" else family[2]
    return first != "-" and not (first and _before(facts, first))


def _family(model: str) -> tuple[str, ...] | None:
    name = model.rpartition("/")[2].lower()
    return next((row for row in FAMILIES if re.search(row[0], name)), None)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _before(facts: Facts, version: str) -> bool:
    return _number(facts.version) < _number(version)


def _lacks_architecture(facts: Facts) -> bool:
    """Tell whether a release certainly has no code for a model, neither its own nor that of Transformers."""
    family = _family(facts.model)
    if family is None or has_architecture(facts):
        return False
    other = family[3] if facts.engine == "vllm" else family[4]
    return other == "-" or _before(facts, other)


def _lacks_format(facts: Facts) -> bool:
    able = GPUS[facts.instance][2]
    if facts.engine == "vllm":
        return able < _least_of_vllm(facts) or (able >= 10 and _before(facts, "0.9.0"))
    return able < _least_of_sglang(facts) or (able >= 10 and _before(facts, "0.4.7"))


def _least_of_vllm(facts: Facts) -> float:
    """Return the capability that vLLM needs: of its kernels, of bfloat16 and of the method of quantization."""
    least = [7.5 if not _before(facts, "0.24.0") else 7.0]
    is_float16 = facts.dtype == "half" and facts.weights == "bfloat16"
    if facts.dtype == "bfloat16" or (facts.weights == "bfloat16" and not is_float16 and _before(facts, "0.9.0")):
        least.append(8.0)
    refused = [row for row in FLOAT16_REFUSED if re.search(row[0], facts.model.lower())]
    if is_float16 and any(not _before(facts, since) for _, since in refused):
        return _NO_GPU
    turing = not _before(facts, "0.14.0")
    match facts.weights:
        case "fp8" if facts.model.startswith("nvidia/"):
            least.append(8.9 if _before(facts, "0.29.0") else 8.0)
        case "fp8":
            least.append(7.5 if turing else 8.0)
        case "nvfp4":
            least.append(
                _NO_GPU if _before(facts, "0.8.5") else 10.0 if _before(facts, "0.9.2") else 7.5 if turing else 8.0
            )
        case "mxfp4":
            least.append(_NO_GPU if _before(facts, "0.10.2") else 8.0)
        case "int4-awq":
            least.append(7.5)
        case "int4-gptq" if facts.version == "0.8.5":
            least.append(8.0)  # Below Marlin's capability it takes BitBLAS, whose package the image lacks.
    return max(least)


def _least_of_sglang(facts: Facts) -> float:
    """Return the capability that SGLang needs; on GPUs without bfloat16 it computes in float16."""
    least = [7.5]
    match facts.weights:
        case "fp8" if facts.model.startswith("nvidia/"):
            least.append(7.5 if _before(facts, "0.4.3") else 8.9)
        case "fp8" if facts.block or not _before(facts, "0.4.6"):
            # Fp8MoEMethod runs a Triton kernel in FP8; linear layers need Marlin of vLLM, which is not installed.
            least.append(8.9 if facts.experts or _before(facts, "0.5.5") else 8.0)
        case "nvfp4":
            least.append(_NO_GPU if _before(facts, "0.4.6") else 10.0 if _before(facts, "0.5.16") else 8.0)
        case "mxfp4":
            least.append(_NO_GPU if _before(facts, "0.5.1") else 8.0)
        case "int4-awq" if not _before(facts, "0.4.6"):
            least.append(7.5)
    return max(least)


def _weights_gib(facts: Facts) -> float:
    """Return a size below that of the weights: four bits of each parameter where they are quantized to them."""
    four = (
        facts.weights in ("nvfp4", "mxfp4", "int4", "int4-awq", "int4-gptq", "nvfp4-mixed") or "fp4" in facts.weights
    )
    size = 0.5 if four else 1.0 if "fp8" in facts.weights else 4.0 if facts.weights == "float32" else 2.0
    if facts.weights == "float32" and facts.dtype in ("half", "bfloat16", ""):
        size = 2.0
    return facts.billions * 1e9 * size * 0.97 / 2**30

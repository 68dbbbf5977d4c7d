"""Estimates from the name of a model whose shape is unknown: its parameters and the data type of its weights.

Every verdict from such an estimate says so. Names are inexact: publishers round (Llama-2-7b has 6.74 billion
parameters, gemma-7b 8.54, Qwen2.5-VL-3B 3.75), count the parameters that experts share more than once (Mixtral-8x7B
has 46.7 billion), or state only active parameters (17B-16E, A3B, E4B), from which nothing follows. A number in a name
is therefore a range, from the smallest to the largest model with such a name.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from .catalog import shapes
from .shapes import Layers, Shape, SizeSpan

_COUNT = re.compile(
    r"(?<![a-z0-9.])(?:(?P<times>\d{1,3})x)?(?P<whole>\d{1,4})(?:[._](?P<part>\d{1,3}))?(?P<unit>[bmt])(?P<tenth>\d)?"
    r"(?![a-z0-9])(?!-tokens)",
    re.IGNORECASE,
)
_UNITS = {"b": 10**9, "m": 10**6, "t": 10**12}
_LEAST_MILLIONS = 50
"""Smaller numbers are a context, such as the million tokens of Qwen2.5-7B-Instruct-1M."""
_PARTIAL_COUNTS = re.compile(r"(?<![a-z0-9])(?:\d+e|a\d[\d.]*b|e\d[\d.]*b)(?![a-z0-9])", re.IGNORECASE)
"""Counts that are not the total: of experts and of active parameters, such as 16E, A3B, E4B."""
_PARTS = re.compile(
    r"eagle|medusa|draft|lora|adapter|speculator|mmproj|projector|exl[23]|bpw|[23][-_]?bit|aqlm|hqq|mlx",
    re.IGNORECASE,
)
"""Parts of models, which have the name of the whole model, and data types of varying or tiny sizes."""
_LEAST, _MOST, _LEAST_OF_EXPERTS = Decimal("0.92"), Decimal("1.25"), Decimal("0.8")
_SMALL_NAME, _MOST_OF_SMALL = 3 * 10**9, Decimal("1.7")
"""Small models consist largely of their vocabulary: Falcon3-1B has 1.67 billion parameters, gemma-2-2b 2.61."""
_LARGE, _MOST_OF_LARGE = 10**10, Decimal("1.12")
"""Names of large models are closer: llama-30b has 32.5 billion parameters, NVIDIA-Nemotron-Nano-12B-v2-VL 13.2."""
_TYPES: tuple[tuple[str, str, Decimal, Decimal], ...] = (
    (r"mxfp8", "mxfp8", Decimal("8.25"), Decimal("8.5")),
    (r"nvfp4|mxfp4|fp4", "nvfp4", Decimal("4.25"), Decimal("4.5")),
    (r"awq|w4a\d+|int4|4[-_]?bits?|bnb|nf4", "int4", Decimal(4), Decimal("4.6")),
    # GPTQ has 2, 3, 4 and 8 bits (vllm quantization/gptq.py), and groups of any size: only the configuration of the
    # model states which.
    (r"gptq", "", Decimal("2.1"), Decimal("8.6")),
    (r"fp8|w8a\d+|int8|8[-_]?bits?", "fp8", Decimal(8), Decimal("8.5")),
    (r"bf16|fp16|f16|bfloat16|float16", "bfloat16", Decimal(16), Decimal(16)),
)
"""Patterns of data types: the type, empty if the bits are not known, and the least and most bits per parameter
including scales."""
_FOUR_BIT_AT_EIGHT = re.compile(r"(gptq|awq|bnb).*(int8|8[-_]?bit)|(int8|8[-_]?bit).*(gptq|awq|bnb)", re.IGNORECASE)
_UNNAMED_TYPES = re.compile(
    r"^(openai|deepseek-ai|moonshotai|minimaxai|xiaomimimo)/|^mistralai/(?!.*-2(?:[34]\d\d|50\d|51[01])$)|gpt-oss|kimi|minimax|mimo-v2|ministral-3|"
    r"devstral-(2|small-2)|mistral-(large-3|small-4|medium-3)|deepseek-(v3|r1)(?!-distill)",
    re.IGNORECASE,
)
"""Publishers and models with weights of 4 or 8 bits whose names do not state it. For Mistral AI, since December 2025;
its names end in year and month."""
_NATIVE_FP8 = re.compile(r"^deepseek-ai/deepseek-(v3|r1)(?!-distill|.*-qwen)", re.IGNORECASE)
"""Models that are trained and published with 8 bits (README_WEIGHTS.md of deepseek-ai/DeepSeek-V3, and the cards of
R1, V3.1 and V3.2)."""
_BLOCKWISE_FP8 = re.compile(r"^qwen/qwen3", re.IGNORECASE)
"""Publishers and models whose FP8 weights have a scale per block of 128 x 128 ("fine-grained fp8 quantization with
block size of 128", model cards of Qwen3 and later); other publishers have one per channel or matrix."""
_FP8_BLOCK = 128
_LEAST_UNNAMED, _MOST_UNNAMED = Decimal("4.25"), Decimal(16)
_UNNAMED_BITS = re.compile(
    r"quant|auto[-_]?round|gptqmodel|autoawq|marlin|torchao|squeezellm|compressed", re.IGNORECASE
)
"""Names of quantized weights that do not state the number of bits."""
_GGUF_BITS = {
    "IQ1_S": "2.00", "IQ1_M": "2.15", "IQ2_XXS": "2.38", "IQ2_XS": "2.59", "IQ2_S": "2.74", "IQ2_M": "2.93",
    "IQ3_XXS": "3.25", "IQ3_XS": "3.50", "IQ3_S": "3.66", "IQ3_M": "3.76", "IQ4_XS": "4.46", "IQ4_NL": "4.68",
    "Q2_K_S": "2.97", "Q2_K": "3.16", "Q3_K_S": "3.64", "Q3_K_M": "4.00", "Q3_K_L": "4.30", "Q4_0": "4.66",
    "Q4_K_S": "4.67", "Q4_K_M": "4.89", "Q5_0": "5.57", "Q5_K_S": "5.57", "Q5_K_M": "5.70", "Q6_K": "6.56",
    "Q8_0": "8.50", "F16": "16", "BF16": "16",
}  # fmt: skip
"""Bits per weight of GGUF files (ggml-org/llama.cpp@311c2c9, tools/quantize/README.md, Llama-3.1-8B)."""
_GGUF = re.compile(
    rf"(?<![A-Z0-9])({'|'.join(sorted(_GGUF_BITS, key=len, reverse=True))})(?![A-Z0-9_])", re.IGNORECASE
)
_GGUF_LEAST, _GGUF_MOST, _GGUF_MOST_SMALL = Decimal("0.95"), Decimal("1.1"), Decimal("1.3")
"""Deviation from these bits: small models have wider matrices, qwen2-0_5b-instruct-q5_k_m.gguf 6.8 bits."""
_DYNAMIC = re.compile(r"(?<![A-Z0-9])UD-(Q[234568])_K_XL(?![A-Z0-9_])", re.IGNORECASE)
_DYNAMIC_BASES = {"Q2": "Q2_K", "Q3": "Q3_K_M", "Q4": "Q4_K_M", "Q5": "Q5_K_M", "Q6": "Q6_K", "Q8": "Q8_0"}
_DYNAMIC_LEAST, _DYNAMIC_MOST = Decimal("0.85"), Decimal("1.3")
"""Deviation of Unsloth's types from these: each layer has a type of its own. Qwen3-4B-UD-Q4_K_XL.gguf has 5.1 bits
(2,546,339,456 bytes)."""
_SMALL = 2 * 10**9
_IS_GGUF = re.compile(r"gguf|(?<![a-z0-9])i?q[1-8]_[a-z0-9]", re.IGNORECASE)
"""Repositories of GGUF files, and the files themselves, by any of their types."""
_CONTEXT = re.compile(r"(?<![a-z0-9])\d+[km](?![a-z0-9])", re.IGNORECASE)
_MODEL_ENDING = re.compile(r"\.(gguf|bin|safetensors)$", re.IGNORECASE)
_TYPE_WORDS = re.compile(
    r"[-_.]?(gguf|awq|gptq|nvfp4|mxfp[48]|fp8(-dynamic)?|w\d+a\d+|int[48]|[48][-_]?bits?|bnb|bf16|fp16|quantized)(?=$|[-_.])",
    re.IGNORECASE,
)
_WHOLE = ("bfloat16", "float16", "float32")
"""Data types of models that are not quantized; models derived from them may be."""
_VOCABULARY = 262_144
_WIDTH_PER_LAYER, _MORE_LAYERS = 128, Decimal("1.1")
"""A layer has about 12 x width² parameters, and the width is about 128 x layers (GPT-3, Llama, Qwen, OPT, Phi)."""


def estimate(model: str, *, single_file: bool = False) -> Shape | None:
    """Estimate a model from its name; None if the name has too little information.

    Args:
        model: A repository, an address, a folder or a file.
        single_file: Whether it is a GGUF file, whose name contains the type of its weights.
    """
    for name in _possible_names(model):
        shape = _of_file(name) if single_file else _of_repository(name)
        if shape is not None:
            return replace(shape, name=model)
    return None


def most_of(shape: Shape, span: SizeSpan) -> Shape:
    """Return the upper end of a range of parameters.

    Every layer caches all heads, as in Llama-2 and OPT; the vocabulary is as large as Gemma's, with 16 bits.
    """
    layers = max(1, round((span.most_parameters / (12 * _WIDTH_PER_LAYER**2)) ** (1 / 3)))
    hidden = _WIDTH_PER_LAYER * layers
    ends = min(span.most_parameters, 2 * _VOCABULARY * hidden)
    wider = ends * max(Decimal(0), 16 - span.most_bits) if span.ends_are_wide else Decimal(0)
    kept = Layers(int(layers * _MORE_LAYERS) + 1, 8, max(1, hidden // 8), max(1, hidden // 8))
    return replace(
        shape,
        dtype="",
        weights_bytes=int((span.most_parameters * span.most_bits + wider) / 8),
        layers=(kept,),
        exact=True,
        heads=64,
        hidden=hidden,
        vocabulary=_VOCABULARY,
        intermediate=4 * hidden,
        embeddings=ends,
        span=None,
    )


def least_of(shape: Shape, span: SizeSpan) -> Shape:
    """Return the lower end of a range of parameters, without layers that need a cache."""
    return replace(
        shape,
        dtype="",
        weights_bytes=int(span.least_parameters * span.least_bits / 8),
        # Divisible by every degree of pipeline parallelism.
        layers=(Layers(840),),
        vocabulary=0,
        intermediate=0,
        span=None,
    )


def _possible_names(model: str) -> Iterator[str]:
    """Yield possible names of a model: the last part of its path, then the folders before it.

    The publisher of a repository is kept, because some publishers omit the data type in names.
    """
    cached = re.search(r"models--([^/]+?)--([^/]+)", model)
    if cached:
        yield f"{cached[1]}/{cached[2]}"
        return
    typed = re.fullmatch(r"([\w.-]+/[\w.-]+):([\w.-]+)", model)
    if typed:
        yield f"{typed[1]}-{typed[2]}"
        return
    parts = [part for part in re.split(r"[/:?#]", model) if part]
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        yield model
    else:
        yield from reversed(parts[-3:])


def _of_repository(name: str) -> Shape | None:
    if _PARTS.search(name):
        return None
    # vLLM and SGLang load GGUF files too; without a type in the name their size is unknown.
    if _IS_GGUF.search(name):
        return _of_file(name)
    own = name.rpartition("/")[2]
    named, least, most = _type_of(name)
    is_open = not named and least == most and _UNNAMED_BITS.search(own)
    is_unnamed = not named and (_UNNAMED_TYPES.search(name) or _UNNAMED_BITS.search(name))
    like = None if is_open else _known_base(own)
    if like is not None and (like.dtype in _WHOLE or normalized_name(own) == normalized_name(like.name)):
        basis = f"what is known of {like.name}, which has the same name"
        if not named and least < most and like.parameters:
            basis += f", with {least} to {most} bits per parameter"
            size, least_size = (int(like.parameters * bits / 8) for bits in (most, least))
            return replace(like, dtype="", weights_bytes=size, estimate=basis, least_bytes=least_size)
        dtype = named or like.dtype
        # X-FP8 tells the layers of X, but not the type of its weights.
        if not named and like.dtype not in _WHOLE and _type_of(like.name.rpartition("/")[2])[0]:
            if is_unnamed and like.parameters:
                basis += f", with {_LEAST_UNNAMED} to {_MOST_UNNAMED} bits per parameter"
                size, least_size = (int(like.parameters * bits / 8) for bits in (_MOST_UNNAMED, _LEAST_UNNAMED))
                return replace(like, dtype="", weights_bytes=size, estimate=basis, least_bytes=least_size)
            dtype = "bfloat16"
        known_size = like.weights_bytes if dtype == like.dtype else None
        # The vocabulary of a quantized model stays at 16 bits, which needs its size.
        is_sized = like.parameters and (dtype in _WHOLE or like.embeddings is not None)
        if known_size is not None or is_sized:
            # The context is unknown if the name states a longer one than that of the known model.
            longer = set(_CONTEXT.findall(own.lower())) - set(_CONTEXT.findall(like.name.lower()))
            context = None if longer else like.max_context
            like = replace(like, dtype=dtype, weights_bytes=known_size, estimate=basis, max_context=context)
            return _with_blocks(like) if dtype == "fp8" and _BLOCKWISE_FP8.match(name) else like
    count = _count(own)
    if count is None:
        return None
    text, low, high = count
    if is_unnamed and least == most:
        least, most = _LEAST_UNNAMED, _MOST_UNNAMED
    basis = f"{text} parameters in its name"
    span = SizeSpan(low, high, least, most, ends_are_wide=True)
    return Shape(name, span=span, estimate=basis)


def _with_blocks(shape: Shape) -> Shape:
    """Return a model with the blocks of its FP8 weights, and the widths that tensor parallelism divides into them."""
    widths = {shape.intermediate or 0, *((shape.heads or 0) * kind.key_dim for kind in shape.layers)}
    return replace(shape, block=_FP8_BLOCK, cuts=tuple(sorted(width for width in widths if width)))


def _of_file(name: str) -> Shape | None:
    """Estimate a model from the name of a GGUF file, whose vocabulary is quantized too."""
    dynamic, kind = _DYNAMIC.search(name), _GGUF.search(name)
    found = dynamic or kind
    if found is None or _PARTS.search(name):
        return None
    own = (name[: found.start()] + name[found.end() :]).rpartition("/")[2]
    bits = Decimal(_GGUF_BITS[_DYNAMIC_BASES[found[1].upper()] if dynamic else found[1].upper()])
    text = found[0].upper()
    like, count = _known_base(own), _count(own)

    def span(least: int, most: int) -> SizeSpan:
        largest = _GGUF_MOST_SMALL if least < _SMALL else _GGUF_MOST
        deviation = (_DYNAMIC_LEAST, _DYNAMIC_MOST) if dynamic else (_GGUF_LEAST, largest)
        return SizeSpan(least, most, bits * deviation[0], bits * deviation[1])

    is_known = like is not None and (like.dtype in _WHOLE or normalized_name(own) == normalized_name(like.name))
    if like is not None and like.parameters and is_known:
        basis = f"what is known of {like.name}, which has the same name, and the type {text} of the file"
        sizes = span(like.parameters, like.parameters)
        size = int(like.parameters * sizes.most_bits / 8)
        least_size = int(like.parameters * sizes.least_bits / 8)
        return replace(like, dtype="", weights_bytes=size, span=None, estimate=basis, least_bytes=least_size)
    if count is None:
        return None
    parameters, low, high = count
    return Shape(name, span=span(low, high), estimate=f"{parameters} parameters and the type {text} in its name")


def _count(name: str) -> tuple[str, int, int] | None:
    """Return the number of parameters in a name: as text, and the least and the most it may stand for."""
    if re.search(r"(?<![a-z0-9])\d+e(?![a-z0-9])", name, re.IGNORECASE):
        return None
    counts = []
    for match in _COUNT.finditer(_PARTIAL_COUNTS.sub("", name)):
        unit, experts = match["unit"].lower(), match["times"]
        if unit == "m" and int(match["whole"]) < _LEAST_MILLIONS:
            continue
        number = Decimal(f"{match['whole']}.{match['part'] or match['tenth'] or 0}")
        text = f"{f'{experts}x' if experts else ''}{number.normalize():f}{unit.upper()}"
        counts.append((unit == "b", number * int(experts or 1) * _UNITS[unit], text, experts))
    if not counts:
        return None
    # Prefer billions: trillions may be training tokens (TinyLlama-1.1B-intermediate-step-1431k-3T).
    _, value, text, experts = max(counts, key=lambda count: count[:2])
    if experts:
        return text, int(value * _LEAST_OF_EXPERTS), int(value)
    most = _MOST_OF_SMALL if value < _SMALL_NAME else _MOST if value < _LARGE else _MOST_OF_LARGE
    return text, int(value * _LEAST), int(value * most)


def _type_of(name: str) -> tuple[str, Decimal, Decimal]:
    """Return the data type in a name, and its least and most bits per parameter; 16 bits if the name has no type."""
    if _FOUR_BIT_AT_EIGHT.search(name):
        return "fp8", Decimal(8), Decimal("8.5")
    for pattern, dtype, least, most in _TYPES:
        if re.search(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", name, re.IGNORECASE):
            return dtype, least, most
    if _NATIVE_FP8.search(name):
        return "fp8", Decimal(8), Decimal("8.5")
    return "", Decimal(16), Decimal(16)


def _known_base(name: str) -> Shape | None:
    """Return the known model that another is derived from: the longest whose name is a prefix.

    A prefix must contain the number of parameters: DeepSeek-R1-Distill-Qwen-14B is not derived from DeepSeek-R1.
    """
    own = normalized_name(name)
    exact = _bases().get(own)
    if exact is not None:
        return exact
    for end in reversed([match.start() for match in re.finditer(r"[-_.]", own)]):
        known = _bases().get(own[:end])
        if known is None:
            continue
        same = _count(own[:end]) and _count(own) == _count(own[:end])
        return known if same else None
    return None


def normalized_name(name: str) -> str:
    """Normalize a name for comparison, without its data type."""
    own = _MODEL_ENDING.sub("", name.rpartition("/")[2])
    before = ""
    while before != own:
        before, own = own, _TYPE_WORDS.sub("", own)
    return own.strip("-_.").lower().removeprefix("meta-").replace("_", ".")


@functools.cache
def _bases() -> Mapping[str, Shape]:
    """Return the known models by normalized name, preferring those that are not quantized."""
    by_name: dict[str, Shape] = {}
    for shape in sorted(shapes().values(), key=lambda shape: (shape.dtype != "bfloat16", shape.name)):
        by_name.setdefault(normalized_name(shape.name), shape)
    return by_name

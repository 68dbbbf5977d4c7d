"""Random fields of each runtime that fit each other, the number of GPUs and the contract's bounds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.families.llmkube.random.pods import Object, secret_key, some

INT32 = 2**31 - 1
DRAFT = "draft.model"
WHOLE = ("f16", "f32")
QUANTIZED = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is decided of a service before its fields are drawn.

    Attributes:
        gpus: Of one pod; 0 without.
        vendor: Of the GPUs, also where there are none.
        source: ``http``, ``claim``, ``local`` or ``repository``.
    """

    random: Random
    runtime: str
    gpus: int
    vendor: str
    source: str

    @property
    def hardware(self) -> str:
        return self.vendor if self.gpus else "cpu"


def _flag(random: Random) -> Callable[[], bool]:
    return lambda: random.random() < 0.5


def _tokens(random: Random, low: int, high: int = INT32) -> Callable[[], int]:
    return lambda: random.choice((low, min(high, max(low, 4096)), high))


def llamacpp(at: Setting) -> Object:
    random = at.random
    fields = some(
        random,
        contextSize=_tokens(random, 128, 2097152),
        ropeScaling=lambda: {
            "type": random.choice(("linear", "yarn")),
            **some(random, factor=lambda: random.choice(("2", "0.25", "4.0")), originalContext=_tokens(random, 128)),
        },
        parallelSlots=_tokens(random, 1, 64),
        flashAttention=_flag(random),
        jinja=_flag(random),
        cacheTypeK=lambda: random.choice(WHOLE + QUANTIZED),
        cacheTypeV=lambda: random.choice(WHOLE + QUANTIZED),
        cacheTypeCustomK=lambda: random.choice(("bf16", "turbo4")),
        cacheTypeCustomV=lambda: random.choice(("bf16", "turbo3")),
        moeCPUOffload=_flag(random),
        moeCPULayers=_tokens(random, 0, 99),
        noKvOffload=_flag(random),
        tensorOverrides=lambda: random.choice(([], ["exps=CPU"], ["exps=CPU", r"blk\.(1|2)=CUDA0"])),
        batchSize=_tokens(random, 1, 16384),
        uBatchSize=_tokens(random, 1),
        noWarmup=_flag(random),
        reasoningBudget=_tokens(random, 0),
        reasoningBudgetMessage=lambda: random.choice(("wrap up", "", "é: '\"")),
        metadataOverrides=lambda: ["tokenizer.ggml.add_bos_token=bool:false"],
        extraArgs=lambda: random.choice(([], ["--threads", "8"], ["--alias", "chat", "--seed", "42"], ["-np", "4"])),
    )
    if fields.get("flashAttention") is False and fields.get("cacheTypeV") in QUANTIZED:
        # A quantized cache of values needs flash attention (LLMKube spec 8).
        fields["cacheTypeV"] = random.choice(WHOLE)
    return fields


def vllm(at: Setting) -> Object:
    random = at.random
    config = some(
        random,
        tensorParallelSize=lambda: random.randint(1, max(at.gpus, 1)),
        maxModelLen=lambda: random.choice((1, 8192, INT32)),
        quantization=lambda: random.choice(("awq", "gptq", "fp8", "compressed-tensors", "nvfp4", "squeezellm")),
        dtype=lambda: random.choice(("auto", "float16", "bfloat16")),
        kvCacheDtype=lambda: random.choice(("auto", "fp8_e5m2", "fp8_e4m3")),
        kvCacheCustomDtype=lambda: "turboquant_k8v4",
        enablePrefixCaching=_flag(random),
        enableChunkedPrefill=_flag(random),
        enableExpertParallel=_flag(random),
        maxNumBatchedTokens=_tokens(random, 512),
        attentionBackend=lambda: random.choice(("FLASH_ATTN", "FLASHINFER", "flash_attn", "flashinfer")),
        cpuOffloadGB=_tokens(random, 0, 64),
        gpuMemoryUtilization=lambda: random.choice((0.1, 0.9, 0.95, 0.99)),
        speculative=lambda: some(
            random, enabled=_flag(random), model=lambda: DRAFT, numSpeculativeTokens=lambda: random.randint(1, 16)
        ),
        hfTokenSecretRef=lambda: secret_key(random),
    )
    more = some(
        random,
        parallelSlots=_tokens(random, 1, 64),
        extraArgs=lambda: random.choice(
            ([], ["--seed", "1"], ["--served-model-name", "chat", "--trust-remote-code"])
        ),
    )
    return {**more, **({"vllmConfig": config} if random.random() < 0.8 else {})}


def tgi(at: Setting) -> Object:
    random = at.random
    config = some(
        random,
        quantize=lambda: random.choice(("bitsandbytes", "gptq", "awq", "eetq")),
        dtype=lambda: random.choice(("float16", "bfloat16")),
        maxInputLength=_tokens(random, 1, 8191),
        maxTotalTokens=_tokens(random, 8192),
        hfTokenSecretRef=lambda: secret_key(random),
    )
    if config.get("quantize") != "bitsandbytes":
        # The others choose their type themselves (LLMKube spec 8).
        config.pop(random.choice(("dtype", "quantize")), None)
    more = some(random, extraArgs=lambda: random.choice(([], ["--max-concurrent-requests", "64"])))
    return {**more, **({"tgiConfig": config} if random.random() < 0.8 else {})}


def personaplex(at: Setting) -> Object:
    random = at.random
    config = some(
        random,
        quantize4Bit=_flag(random),
        cpuOffload=_flag(random),
        hfTokenSecretRef=lambda: secret_key(random),
    )
    return {"personaPlexConfig": config} if random.random() < 0.8 else {}


def generic(at: Setting) -> Object:
    return some(
        at.random,
        args=lambda: at.random.choice(([], ["--model-id", "org/name"], ["é: -", "$(A)"])),
        command=lambda: ["/server"],
    )


FIELDS: Mapping[str, Callable[[Setting], Object]] = {
    "llamacpp": llamacpp,
    "vllm": vllm,
    "tgi": tgi,
    "personaplex": personaplex,
    "generic": generic,
}
"""The fields of ``spec`` that a runtime reads, by runtime."""

_DIGEST = "@sha256:" + "0" * 64
IMAGES: Mapping[str, tuple[str, ...]] = {
    "llamacpp": (
        "ghcr.io/ggml-org/llama.cpp:server-cuda",
        "ghcr.io/ggml-org/llama.cpp:server-b9000",
        f"ghcr.io/ggml-org/llama.cpp{_DIGEST}",
        "registry.example.com:5000/llama",
    ),
    "vllm": (
        "vllm/vllm-openai:v0.20.0",
        "vllm/vllm-openai",
        f"vllm/vllm-openai:v0.33.0{_DIGEST}",
        "r.example.com/v:a",
    ),
    "tgi": ("ghcr.io/huggingface/text-generation-inference:3.3.6", "example.com:5000/tgi", "tgi:latest"),
    "personaplex": ("example.com/personaplex:1", "voice"),
    "generic": ("example.com/server:1.2.3", "example.com:443/a/b", f"server{_DIGEST}"),
}
BUILDS = {"llamacpp": ("cpu", "nvidia", "amd", "intel"), "vllm": ("nvidia",), "tgi": ("nvidia", "amd", "intel")}
"""Hardware for which a runtime has an image of its own (docs/deviations.md); elsewhere one must be named."""


def image(at: Setting) -> dict[str, Any]:
    """An image where one must be, and sometimes where not."""
    needed = at.hardware not in BUILDS.get(at.runtime, ())
    return {"image": at.random.choice(IMAGES[at.runtime])} if needed or at.random.random() < 0.4 else {}

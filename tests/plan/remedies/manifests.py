"""Manifests of each family that are wrong in one place or two."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.checks.memory.fleets import (
    booster,
    inference_service,
    leader_worker_set,
    llmkube_model,
    model_serving,
    pod,
)
from tests.checks.memory.fleets import worker as booster_worker
from tests.checks.startup.serving import playground

Object = dict[str, Any]
QWEN, LLAMA, SMALL = "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-1.5B-Instruct"
BIG = "Qwen/Qwen3-32B"
IMAGES = {
    "vllm": "vllm/vllm-openai:{}",
    "sglang": "lmsysorg/sglang:{}",
    "tgi": "ghcr.io/huggingface/text-generation-inference:{}",
    "llamacpp": "ghcr.io/ggml-org/llama.cpp:server-cuda-{}",
}
MODEL_FLAGS = {
    "sglang": ("python3", "-m", "sglang.launch_server", "--model-path"),
    "vllm": ("vllm", "serve"),
    "tgi": ("text-generation-launcher", "--model-id"),
    "llamacpp": ("/app/llama-server", "--hf-repo"),
}
FILES = {QWEN: "Qwen3-8B", LLAMA: "Llama-3.1-8B-Instruct", SMALL: "Qwen2.5-1.5B-Instruct", BIG: "Qwen3-32B"}
"""Names of the files of models for llama.cpp."""


@dataclass
class Spec:
    """What a manifest asks for.

    Attributes:
        way: How arguments are passed: in a list, in the command, in a script, or as a map.
        env: Variables of the container.
        memory: Memory limit of the container; empty without one.
    """

    family: str
    engine: str
    version: str
    model: str
    node: str
    gpus: int
    args: list[str]
    way: str = "args"
    env: dict[str, str] = field(default_factory=dict)
    memory: str = ""

    def documents(self) -> list[Object]:
        return _FAMILIES[self.family](self)


def _llmaz(spec: Spec) -> list[Object]:
    documents = playground(spec.model, spec.node, spec.engine, spec.version, *spec.args, gpus=spec.gpus)
    if spec.env:
        documents[1]["spec"]["backendRuntimeConfig"]["envs"] = _variables(spec)
    return documents


def _llmkube(spec: Spec) -> list[Object]:
    more: Object = {"env": _variables(spec)} if spec.env else {}
    image = IMAGES[spec.engine].format(spec.version)
    served = inference_service(spec.node, runtime=spec.engine, image=image, extraArgs=spec.args, **more)
    source = spec.model
    if spec.engine == "llamacpp":
        name = FILES[spec.model]
        source = f"https://huggingface.co/unsloth/{name}-GGUF/resolve/main/{name}-Q4_K_M.gguf"
    return [llmkube_model(source, spec.gpus), served]


def _booster(spec: Spec) -> list[Object]:
    config: Object = {}
    for place, word in enumerate(spec.args):
        following = spec.args[place + 1 : place + 2]
        if word.startswith("--"):
            config[word[2:]] = following[0] if following and not following[0].startswith("--") else ""
    worker = booster_worker(spec.node, gpus=spec.gpus, config=config, type="server")
    worker["image"] = IMAGES[spec.engine].format(spec.version)
    more: Object = {"env": _variables(spec)} if spec.env else {}
    return [booster(worker, uri=f"hf://{spec.model}", cacheURI="hostpath:///tmp/cache", **more)]


def _template(spec: Spec) -> Object:
    model = f"unsloth/{FILES[spec.model]}-GGUF:Q4_K_M" if spec.engine == "llamacpp" else spec.model
    words = [*MODEL_FLAGS[spec.engine], model, *spec.args]
    template = pod(spec.node, words, spec.gpus)
    container = template["spec"]["containers"][0]
    container["image"] = IMAGES[spec.engine].format(spec.version)
    if spec.memory:
        container["resources"]["limits"]["memory"] = spec.memory
    if spec.way == "script":
        container["command"] = ["sh", "-c", " ".join(f"'{word}'" if '"' in word else word for word in words)]
    elif spec.way == "args":
        container["command"], container["args"] = words[: -len(spec.args) or None], list(spec.args)
    if spec.env:
        container["env"] = _variables(spec)
    return template


def _variables(spec: Spec) -> list[Object]:
    return [{"name": name, "value": value} for name, value in spec.env.items()]


_FAMILIES: dict[str, Callable[[Spec], list[Object]]] = {
    "llmaz": _llmaz,
    "llmkube": _llmkube,
    "booster": _booster,
    "serving": lambda spec: [model_serving(("a", _template(spec)))],
    "lws": lambda spec: [leader_worker_set(_template(spec))],
}
_ENGINES = {
    "llmaz": ("vllm", "sglang"),
    "llmkube": ("vllm", "sglang", "tgi", "llamacpp"),
    "booster": ("vllm",),
    "serving": ("vllm", "sglang"),
    "lws": ("vllm", "sglang", "tgi", "llamacpp"),
}
_VERSIONS = {
    "vllm": ("v0.9.2", "v0.11.0", "v0.20.0"),
    "sglang": ("v0.5.9", "v0.5.12"),
    "tgi": ("3.2.3", "3.3.6"),
    "llamacpp": ("b6500", "b8000"),
}
_PLACES = (
    (QWEN, "g6e.2xlarge", 1),
    (LLAMA, "g6e.2xlarge", 1),
    (SMALL, "g6.2xlarge", 1),
    (QWEN, "g6e.12xlarge", 2),
    (BIG, "g6e.12xlarge", 4),
    (QWEN, "p5.4xlarge", 1),
)
_CONTEXT = {
    "vllm": "--max-model-len",
    "sglang": "--context-length",
    "tgi": "--max-total-tokens",
    "llamacpp": "--ctx-size",
}
_TENSOR = {"vllm": "--tensor-parallel-size", "sglang": "--tp-size", "tgi": "--num-shard"}
"""llama.cpp divides the layers over all GPUs."""
Mistake = Callable[[Spec], None]


def _args(*words: str) -> Mistake:
    def add(spec: Spec) -> None:
        spec.args += words

    return add


def _set(**values: Any) -> Mistake:
    def change(spec: Spec) -> None:
        for name, value in values.items():
            setattr(spec, name, value)

    return change


def _both(*mistakes: Mistake) -> Mistake:
    def change(spec: Spec) -> None:
        for mistake in mistakes:
            mistake(spec)

    return change


def _degree(number: int) -> Mistake:
    def change(spec: Spec) -> None:
        flag = _TENSOR[spec.engine]
        if flag in spec.args:
            spec.args[spec.args.index(flag) + 1] = str(number)
        else:
            spec.args += [flag, str(number)]

    return change


def _one(spec: Spec) -> None:
    _set(gpus=2, node="g6e.12xlarge")(spec)
    if _TENSOR[spec.engine] in spec.args:
        place = spec.args.index(_TENSOR[spec.engine])
        del spec.args[place : place + 2]


def _context(number: str) -> Mistake:
    def change(spec: Spec) -> None:
        spec.args[spec.args.index(_CONTEXT[spec.engine]) + 1] = number

    return change


_COMMON: dict[str, Mistake] = {
    "old GPU": _set(node="g4dn.2xlarge", gpus=1),
    "small GPU": _set(node="g6.xlarge", gpus=1),
    "long context": _context("900000"),
    "rather long context": _context("131072"),
    "own key": _args("--api-key", "abcdefgh"),
}
_OF_DEGREES: dict[str, Mistake] = {"more GPUs": _degree(8), "three of four": _degree(3), "idle GPU": _one}
"""Of engines with a flag for the number of GPUs."""
_OF_ENGINE: dict[str, dict[str, Mistake]] = {
    "vllm": {
        "copies": _args("--data-parallel-size", "8"),
        "no parser": _args("--enable-auto-tool-choice"),
        "wrong parser": _args("--enable-auto-tool-choice", "--tool-call-parser", "qwen3coder"),
        "wrong reasoning": _args("--reasoning-parser", "qwen-3"),
        "small batch": _args("--max-num-batched-tokens", "128", "--max-num-seqs", "256"),
        "misspelt flag": _args("--max-num-seq", "64"),
        "removed flag": _args("--use-v2-block-manager"),
        "no experts": _args("--enable-eplb"),
        "nodes": _args("--nnodes", "3"),
        "awq": _args("--quantization", "awq"),
        "no number": _args("--max-num-seqs", "many"),
        "cache type": _args("--kv-cache-dtype", "fp4"),
        "backend": _both(_args("--attention-backend", "FLASHMLA"), _set(version="v0.20.0", node="g6e.2xlarge")),
        "cache of backend": _both(
            _args("--attention-backend", "FLASH_ATTN", "--kv-cache-dtype", "fp8"), _set(version="v0.20.0")
        ),
        "backend of a variable": _both(
            _set(version="v0.14.0", node="g6e.2xlarge"),
            lambda spec: spec.env.update(VLLM_ATTENTION_BACKEND="FLASHMLA"),
        ),
        "old variable": lambda spec: spec.env.update(VLLM_ATTENTION_BACKEND="FLASH_ATTN"),
        "old release": _set(version="v0.7.3"),
        "ranks": _args("--enable-lora", "--max-lora-rank", "24"),
        "share": _args("--gpu-memory-utilization", "0.99"),
        "connector": _args("--kv-transfer-config", '{"kv_connector":"NixlConector","kv_role":"kv_both"}'),
    },
    "sglang": {
        "copies": _args("--dp-size", "8"),
        "cache": _args("--enable-hierarchical-cache", "--disable-radix-cache"),
        "host cache": _both(
            _args("--enable-hierarchical-cache", "--hicache-size", "20"), _set(memory="16Gi", node="g6e.12xlarge")
        ),
        "large host cache": _args("--enable-hierarchical-cache", "--hicache-size", "2000"),
        "backend": _args("--attention-backend", "trtllm_mha"),
        "attention": _args("--dp-size", "3", "--enable-dp-attention"),
        "lora": _args("--enable-lora"),
        "misspelt flag": _args("--context-lenght", "4096"),
        "misspelt backend": _args("--attention-backend", "flashinfr"),
        "nodes": _args("--nnodes", "2"),
        "gptq": _args("--quantization", "gptq"),
        "policy": _args("--enable-priority-scheduling", "--schedule-policy", "lpm"),
        "parser": _args("--tool-call-parser", "qwen3coder"),
        "share": _args("--mem-fraction-static", "0.97"),
    },
    "tgi": {
        "input": _args("--max-input-tokens", "900000"),
        "batch": _args("--max-batch-prefill-tokens", "9000", "--max-batch-total-tokens", "8500"),
        "misspelt flag": _args("--max-concurent-requests", "64"),
        "removed flag": _args("--disable-usage-stats"),
        "no number": _args("--max-concurrent-requests", "many"),
        "old release": _set(version="2.0.4", model=QWEN),
        "quantization": _args("--quantize", "awq"),
        "share": _args("--cuda-memory-fraction", "1.5"),
    },
    "llamacpp": {
        "misspelt flag": _args("--ctx-siz", "4096"),
        "removed flag": _args("--clear-idle"),
        "no number": _args("--parallel", "many"),
        "joined": _args("--parallel=2"),
        "cache type": _args("--cache-type-v", "q8_0", "--flash-attn", "off"),
        "main GPU": _args("--split-mode", "none", "--main-gpu", "5"),
        "old build": _set(version="b5000", model=QWEN),
        "slots": _args("--parallel", "64"),
    },
}


def mistakes_of(engine: str) -> dict[str, Mistake]:
    degrees = _OF_DEGREES if engine in _TENSOR else {}
    return {**degrees, **_COMMON, **_OF_ENGINE[engine]}


def right(choice: random.Random) -> Spec:
    """Return a manifest without a mistake."""
    family = choice.choice([*_FAMILIES])
    engine = choice.choice(_ENGINES[family])
    model, node, gpus = choice.choice(_PLACES)
    tensor = (_TENSOR[engine], str(gpus)) if gpus > 1 and engine in _TENSOR else ()
    args = [_CONTEXT[engine], "8192", *tensor]
    way = choice.choice(("args", "command", "script"))
    return Spec(family, engine, choice.choice(_VERSIONS[engine]), model, node, gpus, args, way)

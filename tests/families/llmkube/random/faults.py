"""What makes a service that renders one that is refused, and the field that is to blame (LLMKube spec 5.5 and 8)."""

import copy
from dataclasses import dataclass, field, replace
from random import Random

from tests.families.llmkube.random.pods import Object
from tests.families.llmkube.random.strategies import Example, example

LLAMA = "ghcr.io/ggml-org/llama.cpp:server"
VLLM = "vllm/vllm-openai:v0.20.0"
TGI = "ghcr.io/huggingface/text-generation-inference:3.3.6"
NO_COUNT: Object = {"hardware": {"gpu": {"count": None}}}
PORT_METRIC: Object = {"type": "Pods", "name": "queue_size"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A change to a service, to its Model or to both.

    Attributes:
        path: The field that is to blame.
        service: What to merge into the service's ``spec``; None takes a field away.
        model: The same for the Model.
        name: A new name of the service.
        runtime: What the service must be for it, as ``gpus`` and ``source``; None for any.
    """

    title: str
    path: str
    service: Object = field(default_factory=dict)
    model: Object = field(default_factory=dict)
    name: str = ""
    runtime: str | None = None
    gpus: int | None = None
    source: str | None = None

    def made(self, random: Random) -> Example:
        """Return a random service with this fault and no other."""
        right = example(random, self.runtime, self.gpus, self.source)
        service, model = merged(right.service, {"spec": self.service}), merged(right.model, {"spec": self.model})
        if self.name:
            service["metadata"]["name"] = self.name
        return replace(right, service=service, model=model)


def merged(value: Object, change: Object) -> Object:
    """Merge as JSON merge patches do: maps by key, None takes away, the rest is replaced."""
    made = copy.deepcopy(value)
    for key, new in change.items():
        if new is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key) or {}, new) if isinstance(new, dict) else copy.deepcopy(new)
    return made


def _scaled(**scaling: object) -> Object:
    bounds: Object = {"minReplicas": 1, "maxReplicas": 2, "metrics": [{**PORT_METRIC, "targetAverageValue": "1"}]}
    return {"replicas": None, "autoscaling": {**bounds, **scaling}}


def _metric(**fields: object) -> Object:
    return _scaled(metrics=[{**PORT_METRIC, "targetAverageValue": "1"}, {"type": "Pods", "name": "a", **fields}])


def _server(image: str, *extra: str, **fields: object) -> Object:
    """A service with an engine's own image and command: nothing of it is left to others."""
    return {"image": image, "command": None, "extraArgs": list(extra), **fields}


def _llama(title: str, path: str, *extra: str, image: str = LLAMA, **fields: object) -> Fault:
    return Fault(title, path, _server(image, *extra, **fields), runtime="llamacpp")


def _vllm(title: str, path: str, *extra: str, gpus: int | None = None, **config: object) -> Fault:
    return Fault(title, path, _server(VLLM, *extra, vllmConfig=config), runtime="vllm", gpus=gpus)


def _tgi(title: str, path: str, *extra: str, **config: object) -> Fault:
    return Fault(title, path, _server(TGI, *extra, tgiConfig=config), runtime="tgi")


def _source(title: str, source: str) -> Fault:
    return Fault(title, "spec.modelRef", model={"source": source})


_SECOND = "spec.autoscaling.metrics[1]"
_DTYPE, _DRAFT = "spec.tgiConfig.dtype", "spec.vllmConfig.speculative.model"
_LENGTH = "spec.tgiConfig.maxInputLength"
FAULTS: tuple[Fault, ...] = (
    # Names and labels.
    Fault("name too long", "metadata.name", name="x" * 64),
    Fault("name with a digit first", "metadata.name", name="1a"),
    Fault("Model nowhere", "spec.modelRef", {"modelRef": "nowhere"}),
    Fault("pod label", "spec.podLabels[a,b]", {"podLabels": {"a,b": "c"}}),
    Fault("label too long", "spec.podLabels[a]", {"podLabels": {"a": "x" * 64}}),
    Fault("node label", "spec.nodeSelector[pool]", {"nodeSelector": {"pool": "-"}}),
    Fault("path without slash", "spec.endpoint.path", {"endpoint": {"path": "v1"}}),
    # Amounts.
    Fault("cpu", "spec.resources.cpu", {"resources": {"cpu": "two"}}),
    Fault("memory", "spec.resources.memory", {"resources": {"memory": "4GB"}}),
    Fault("negative memory", "spec.resources.hostMemory", {"resources": {"hostMemory": "-1"}}),
    Fault("memory of GPUs", "spec.resources.gpuMemory", {"resources": {"gpuMemory": "lots"}}),
    Fault("cpu of the Model", "spec.modelRef", model={"resources": {"cpu": "x"}}),
    Fault("memory of the Model's GPUs", "spec.modelRef", model={"hardware": {"gpu": {"memory": "x"}}}),
    # Scaling.
    Fault("bounds crossed", "spec.autoscaling.maxReplicas", _scaled(minReplicas=3, maxReplicas=2)),
    Fault("stopped and scaled", "spec.replicas", {**_scaled(), "replicas": 0}),
    Fault("metric without value", f"{_SECOND}.targetAverageValue", _metric()),
    Fault("value that is none", f"{_SECOND}.targetAverageValue", _metric(targetAverageValue="many")),
    Fault("value of nothing", f"{_SECOND}.targetAverageValue", _metric(targetAverageValue="0")),
    Fault("metric without name", f"{_SECOND}.name", _metric(name="", targetAverageValue="1")),
    Fault("resource without share", f"{_SECOND}.targetAverageUtilization", _metric(type="Resource", name="cpu")),
    Fault(
        "share of nothing",
        f"{_SECOND}.targetAverageUtilization",
        _metric(type="Resource", name="cpu", targetAverageUtilization=0),
    ),
    Fault("no resource", f"{_SECOND}.name", _metric(type="Resource", targetAverageUtilization=1)),
    *(
        Fault(f"nothing to scale {each} on", "spec.autoscaling.metrics", _scaled(metrics=None), runtime=each)
        for each in ("generic", "personaplex")
    ),
    # Images and hardware.
    *(
        Fault(f"{each} without image", "spec.image", {"image": None}, runtime=each)
        for each in ("generic", "personaplex")
    ),
    Fault("vLLM without GPU or image", "spec.image", {"image": None}, runtime="vllm", gpus=0),
    Fault("TGI without GPU or image", "spec.image", {"image": None}, runtime="tgi", gpus=0),
    Fault("metal", "spec.modelRef", model={"hardware": {"accelerator": "metal"}}),
    Fault("GPUs on metal", "spec.modelRef", model={"hardware": {"accelerator": "metal"}}, gpus=2),
    Fault(
        "two vendors",
        "spec.modelRef",
        {"image": "example.com/server:1"},
        {"hardware": {"accelerator": "rocm", "gpu": {"vendor": "intel"}}},
    ),
    # Sources.
    _source("claim without path", "pvc://weights"),
    _source("claim with an empty path", "pvc://weights/"),
    _source("claim upwards", "pvc://weights/../m"),
    _source("claim with a bad name", "pvc://A_b/m.gguf"),
    Fault("address without host", "spec.modelRef", {"skipModelInit": None}, {"source": "http://"}),
    Fault("blank in an address", "spec.modelRef", {"skipModelInit": None}, {"source": "https://example.com/a b"}),
    Fault("relative file", "spec.modelRef", {"skipModelInit": None}, {"source": "file://m.gguf"}),
    *(
        Fault(
            f"repository for {each}", "spec.skipModelInit", {"skipModelInit": skip}, runtime=each, source="repository"
        )
        for each, skip in (("llamacpp", None), ("llamacpp", False), ("vllm", None), ("vllm", False))
    ),
    Fault("address for vLLM", "spec.skipModelInit", {"skipModelInit": True}, runtime="vllm", source="http"),
    # llama.cpp.
    _llama("longrope", "spec.ropeScaling.type", ropeScaling={"type": "longrope"}),
    _llama(
        "quantized without attention",
        "spec.cacheTypeV",
        flashAttention=False,
        cacheTypeV="q8_0",
        cacheTypeCustomV=None,
    ),
    _llama(
        "budget of an old build",
        "spec.reasoningBudget",
        image=f"{LLAMA}-b6500",
        reasoningBudget=512,
        reasoningBudgetMessage=None,
    ),
    _llama("port moved", "spec.extraArgs", "--port", "9"),
    # vLLM.
    _vllm("more than no GPU", "spec.vllmConfig.tensorParallelSize", gpus=0, tensorParallelSize=2),
    _vllm("parallel to nothing", "spec.vllmConfig.tensorParallelSize", tensorParallelSize=0),
    _vllm("no length", "spec.vllmConfig.maxModelLen", maxModelLen=0),
    *(
        _vllm(f"backend {each}", "spec.vllmConfig.attentionBackend", attentionBackend=each)
        for each in ("XFORMERS", "xformers", "torch_sdpa")
    ),
    _vllm("draft nowhere", _DRAFT, speculative={"enabled": True, "model": "nowhere"}),
    _vllm(
        "Secret without name", "spec.vllmConfig.hfTokenSecretRef.name", hfTokenSecretRef={"key": "k", "name": None}
    ),
    _vllm("value of an argument", "spec.extraArgs[1]", "--seed", "one"),
    # Text Generation Inference.
    *(_tgi(f"dtype beside {each}", _DTYPE, quantize=each, dtype="float16") for each in ("awq", "gptq", "eetq")),
    Fault("address for TGI", "spec.modelRef", model={"source": "https://example.com/m"}, runtime="tgi"),
    _tgi("no room to answer", _LENGTH, maxInputLength=8192, maxTotalTokens=8192),
    _tgi("input of nothing", _LENGTH, maxInputLength=0),
    _tgi("nothing in all", "spec.tgiConfig.maxTotalTokens", maxTotalTokens=0, maxInputLength=None),
    _tgi("Secret of TGI", "spec.tgiConfig.hfTokenSecretRef.name", hfTokenSecretRef={"key": "k", "name": ""}),
    _tgi("host twice", "spec.extraArgs[2]", "--max-concurrent-requests", "1", "--hostname", "::"),
    # PersonaPlex.
    Fault(
        "Secret of PersonaPlex",
        "spec.personaPlexConfig.hfTokenSecretRef.name",
        {"personaPlexConfig": {"hfTokenSecretRef": {"key": "k", "name": None}}},
        runtime="personaplex",
    ),
)

DOUBTS: tuple[Fault, ...] = (
    *(
        Fault(
            f"layers of {len(split)} GPUs for 2",
            "spec.modelRef",
            {"extraArgs": []},
            {"hardware": {"gpu": {"sharding": {"strategy": "layer", "layerSplit": split}}}},
            runtime="llamacpp",
            gpus=2,
        )
        for split in (["0-9"], ["0-9", "10-19", "20-29"])
    ),
    _vllm("speculative without draft", _DRAFT, speculative={"enabled": True, "model": None}),
    _llama(
        "longrope elsewhere", "spec.ropeScaling.type", image="example.com/llama:1", ropeScaling={"type": "longrope"}
    ),
    _llama("unknown argument", "spec.extraArgs[2]", "--seed", "1", "--unheard-of"),
    Fault("eviction", "spec.evictionProtection", {"evictionProtection": True}),
    Fault("both priorities", "spec.priority", {"priority": "low", "priorityClassName": "team-priority"}),
    Fault("memory of a Mac", "spec.modelRef", model={"hardware": {"memoryBudget": "1Gi"}}),
)
"""What has no effect, or hardly the one that was meant: it renders, and a warning names the field."""

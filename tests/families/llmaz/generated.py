"""Playgrounds drawn at random, with the models and runtimes that they need."""

from typing import Any

from hypothesis import strategies as st

from tests.fleets import Object, open_model, playground, runtime

_BACKENDS = ("vllm", "sglang", "llamacpp", "tgi", "own")
_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,10}[a-z0-9])?", fullmatch=True)
_WORDS = st.from_regex(r"[A-Za-z0-9_./-]{1,12}", fullmatch=True)
_QUANTITIES = st.sampled_from(["1", "2", "500m", "8Gi", "16Gi", "1024Mi"])
_ARGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "vllm": (("--max-model-len", "4096"), ("--enforce-eager",), ("--gpu-memory-utilization=0.8",), ("--seed", "7")),
    "sglang": (("--context-length", "4096"), ("--mem-fraction-static", "0.8")),
    "llamacpp": (("--ctx-size", "4096"), ("--threads", "4")),
    "tgi": (("--max-input-tokens", "1024"),),
    "own": (("--anything", "goes"), ("-x",)),
}
CPU: Object = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
}


def waiting(backend: str) -> Object:
    """The metric of an engine's queue."""
    names = {
        "vllm": "vllm:num_requests_waiting",
        "sglang": "sglang:num_queue_reqs",
        "llamacpp": "llamacpp:requests_deferred",
        "tgi": "tgi_queue_size",
    }
    target = {"type": "AverageValue", "averageValue": "5"}
    return {"type": "Pods", "pods": {"metric": {"name": names.get(backend, "waiting")}, "target": target}}


@st.composite
def sources(draw: st.DrawFn) -> Object:
    """A source of weights that a loader fetches or that lies on the node."""
    hub: Object = {"modelID": draw(st.sampled_from(["Qwen/Qwen2-0.5B", "meta-llama/Llama-3.1-8B", "org/m.v1"]))}
    kind = draw(st.sampled_from(["repository", "repository", "file", "oss", "host"]))
    if kind == "oss":
        return {"uri": "oss://bucket.oss-cn-hangzhou.aliyuncs.com/models/Qwen2-7B"}
    if kind == "host":
        return {"uri": "host:///models/qwen2"}
    if kind == "file":
        return {"modelHub": {**hub, "filename": "m-q5.gguf"}}
    if draw(st.booleans()):
        hub["allowPatterns"] = ["*.safetensors"]
    return {"modelHub": hub}


@st.composite
def flavors(draw: st.DrawFn) -> list[Object] | None:
    """No flavors, or up to two with the same accelerators."""
    count = draw(st.integers(0, 2))
    types = draw(st.permutations(["g5.2xlarge", "g6.2xlarge", "g6e.2xlarge"]))
    typed = draw(st.booleans())
    made = []
    for name in types[:count]:
        flavor: Object = {"name": name.partition(".")[0], "limits": {"nvidia.com/gpu": 1}}
        if typed:
            flavor["params"] = {"INSTANCE-TYPE": name, **({"TP": "1"} if draw(st.booleans()) else {})}
        if draw(st.booleans()):
            flavor["nodeSelector"] = {"pool": "gpu"}
        made.append(flavor)
    return made or None


@st.composite
def elastic_configs(draw: st.DrawFn, backend: str) -> Object:
    """Bounds and a trigger."""
    least = draw(st.integers(1, 3))
    trigger: Object = {"metrics": draw(st.sampled_from([[waiting(backend)], [CPU], [waiting(backend), CPU]]))}
    if draw(st.booleans()):
        policies = [{"type": "Pods", "value": 2, "periodSeconds": 30}]
        trigger["behavior"] = {"scaleUp": {"stabilizationWindowSeconds": 30, "policies": policies}}
    bounds: Object = {"minReplicas": least, "scaleTrigger": {"hpa": trigger}}
    if draw(st.booleans()):
        bounds["maxReplicas"] = draw(st.integers(least + 1, 20))
    return bounds


@st.composite
def playgrounds(draw: st.DrawFn) -> list[Object]:
    """A Playground with its model and, if it has one, its own runtime."""
    backend = draw(st.sampled_from(_BACKENDS))
    config: Object = {"backendName": backend}
    arguments = draw(st.lists(st.sampled_from(_ARGS[backend]), unique=True, max_size=3))
    if arguments:
        config["args"] = [word for group in arguments for word in group]
    variables = draw(st.dictionaries(st.sampled_from(["A", "B", "HF_TOKEN"]), _WORDS, max_size=2))
    if variables:
        config["envs"] = [{"name": name, "value": value} for name, value in variables.items()]
    requests = draw(st.dictionaries(st.sampled_from(["cpu", "memory"]), _QUANTITIES, max_size=2))
    if requests:
        config["resources"] = {"requests": requests}
    if draw(st.booleans()):
        config["sharedMemorySize"] = "4Gi"
    spec: dict[str, Any] = {"backendRuntimeConfig": config}
    if draw(st.booleans()):
        spec["elasticConfig"] = draw(elastic_configs(backend))
    elif draw(st.booleans()):
        spec["replicas"] = draw(st.integers(0, 4))
    documents = [open_model("m", draw(sources()), flavors=draw(flavors()))]
    if backend == "own":
        documents.append(runtime(recommendedConfigs=[{"name": "default", "args": ["--path", "{{ .ModelPath }}"]}]))
    return [*documents, playground(draw(_NAMES), **spec)]

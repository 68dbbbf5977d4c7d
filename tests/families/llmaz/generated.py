"""Manifests drawn at random, with the models and runtimes that they need."""

from typing import Any

from hypothesis import strategies as st

from components.families.llmaz.kinds import RELEASES
from tests.fleets import Object, open_model, playground, runner, runtime, service

_INLINE, _BOUNDED = RELEASES.names.index("79d833c"), RELEASES.names.index("v0.1.2")

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


# -- manifests in the form of a release


@st.composite
def manifests(draw: st.DrawFn, release: str, target: str = "") -> list[Object]:
    """A Playground and a Service with all that they refer to, in the form of a release.

    With a target, half of them have no field that the target lacks: of few others would all be expressible there.
    """
    at = RELEASES.names.index(release)
    to = RELEASES.names.index(target) if target and draw(st.booleans()) else at
    is_spread = draw(st.booleans()) and draw(st.booleans())
    documents = [_model(draw, "m", at, to, is_spread=is_spread), _model(draw, "d", at, to)]
    backend = draw(st.sampled_from(["own", "own", "vllm", "llamacpp"]))
    triggers = draw(st.sampled_from([[], ["a"], ["a", "b"]])) if at == 0 else []
    others = draw(st.sampled_from([[], ["speculative-decoding"], ["other"], ["model-parallelism"]]))
    configs = ["default", *others]
    documents.append(_runtime(draw, at, to, configs, triggers))
    documents.append(_playground(draw, at, to, backend, configs, triggers))
    documents.append(_service(draw, at))
    return documents


def _model(draw: st.DrawFn, name: str, at: int, to: int, *, is_spread: bool = False) -> Object:
    limits = "requests" if at == 0 else "limits"
    flavor: Object = {"name": "f", limits: {"nvidia.com/gpu": draw(st.sampled_from([1, 2]))}}
    if is_spread:
        flavor["params"] = {"PP": "2"}
    model = open_model(name, draw(sources()), flavors=[flavor] if draw(st.booleans()) or is_spread else None)
    if min(at, to) == len(RELEASES.names) - 1 and draw(st.booleans()):
        model["spec"]["ownedBy"] = "team"
    return model


def _trigger(draw: st.DrawFn) -> Object:
    hpa: Object = {"metrics": [draw(st.sampled_from([CPU, waiting("own")]))]}
    if draw(st.booleans()):
        hpa["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": draw(st.integers(0, 60))}}
    return {"hpa": hpa}


def _runtime(draw: st.DrawFn, at: int, to: int, configs: list[str], triggers: list[str]) -> Object:
    resources = {"requests": {"cpu": draw(_QUANTITIES)}}
    spec: dict[str, Any] = {"image": "example.com/engine", "version": "v1"}
    if draw(st.booleans()):
        spec["commands" if at < _INLINE else "command"] = ["serve", "now"]
    if max(at, to) < _INLINE and draw(st.booleans()):
        spec["multiHostCommands"] = {"leader": ["sh", "-c", "lead\n"], "worker": ["sh", "-c", "work"]}
    if min(at, to) >= _INLINE and draw(st.booleans()):
        spec["lifecycle"] = {"preStop": {"sleep": {"seconds": 5}}}
    if draw(st.booleans()):
        spec["envs"] = [{"name": "R", "value": "1"}]
    words = ["--path", "{{ .ModelPath }}", draw(_WORDS)]
    if at == 0:
        spec["args"] = [{"name": name, "flags": words} for name in configs]
        spec["resources"] = resources if draw(st.booleans()) else {}
        if triggers:
            spec["scaleTriggers"] = [{"name": name, **_trigger(draw)} for name in triggers]
    else:
        shared: Object = {}
        if draw(st.booleans()):
            shared["resources"] = resources
        if draw(st.booleans()):
            shared["scaleTrigger"] = _trigger(draw)
        if to > 0 and draw(st.booleans()):
            shared["sharedMemorySize"] = "1Gi"
        spec["recommendedConfigs"] = [{"name": name, "args": words, **shared} for name in configs]
    return {**runtime(), "spec": spec}


def _playground(draw: st.DrawFn, at: int, to: int, backend: str, configs: list[str], triggers: list[str]) -> Object:
    spec: dict[str, Any] = {}
    if draw(st.booleans()):
        spec["modelClaims"] = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
    config: Object = {"name" if at == 0 else "backendName": backend}
    args = ["--seed", "7"] if backend == "vllm" else ["-x"] if backend == "own" else ["--threads", "2"]
    if draw(st.booleans()):
        named = draw(st.sampled_from([None, *configs])) if backend == "own" else None
        if at == 0:
            config["args"] = {**({"name": named} if named else {}), "flags": args}
        else:
            config |= {**({"configName": named} if named else {}), "args": args}
    if draw(st.booleans()):
        config["envs"] = [{"name": "P", "value": draw(_WORDS)}]
    if min(at, to) > 0 and draw(st.booleans()):
        config["sharedMemorySize"] = "2Gi"
    if draw(st.booleans()):
        elastic: Object = {"minReplicas": draw(st.integers(1, 3))}
        if draw(st.booleans()) or at >= _BOUNDED:
            elastic["maxReplicas"] = draw(st.integers(4, 9))
        if triggers and backend == "own" and draw(st.booleans()):
            elastic["scaleTriggerRef"] = {"name": draw(st.sampled_from(triggers))}
        elif draw(st.booleans()) or backend != "own":
            (config if at == 1 else elastic)["scaleTrigger"] = _trigger(draw)
        spec["elasticConfig"] = elastic
    spec["backendRuntimeConfig"] = config
    return playground(draw(_NAMES), **spec)


def _service(draw: st.DrawFn, at: int) -> Object:
    pod = {"spec": {"containers": [runner()]}}
    group: Object = {"workerTemplate": pod, "size": draw(st.integers(1, 3))}
    if group["size"] > 1:
        group["leaderTemplate"] = {**pod, "metadata": {"labels": {"a": "b"}}}
    if draw(st.booleans()):
        group["restartPolicy"] = "None"
    spec: dict[str, Any] = {}
    if draw(st.booleans()):
        spec["replicas"] = draw(st.integers(0, 3))
    if draw(st.booleans()):
        spec["rolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 2}}
    if at >= _INLINE:
        return service("s", **spec, workloadTemplate=group)
    whole: Object = {"leaderWorkerTemplate": group, **spec}
    if draw(st.booleans()):
        whole["startupPolicy"] = "LeaderCreated"
    if draw(st.booleans()):
        whole["networkConfig"] = {"subdomainPolicy": draw(st.sampled_from(["Shared", "UniquePerReplica"]))}
    return service("s", workloadTemplate=whole)

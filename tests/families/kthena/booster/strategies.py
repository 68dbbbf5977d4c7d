"""Random ModelBoosters that keep all rules, hostile strings among them."""

from typing import Any

from hypothesis import strategies as st

from tests.families.kthena.booster.support import KEYS, Object, backend, booster
from tests.seen import texts

# Without the words that YAML 1.1 takes for something else.
NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])", fullmatch=True).filter(
    lambda name: name not in ("no", "on", "off", "yes", "true", "false", "null")
)
HOSTILE = st.sampled_from(
    [
        "${MODEL_NAME}",
        "${X}",
        "${",
        "$(POD_NAME)",
        "$$",
        "a\nb",
        "'; rm -rf / #",
        '"',
        "`x`",
        "--unknown",
        "-1",
        " ",
        "日本",
        "%s",
        "{{.X}}",
    ]
)
TEXTS = st.one_of(texts(8), HOSTILE)
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, width=32))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)
KEYS_OF_CONFIG = st.one_of(
    st.sampled_from(
        ["max_model_len", "max-model-len", "tensor-parallel-size", "served-model-name", "enable-prefix-caching"]
    ),
    st.from_regex(r"x-[A-Za-z_.-]{1,6}", fullmatch=True),
)
CONFIGS = st.one_of(st.none(), st.dictionaries(KEYS_OF_CONFIG, VALUES, max_size=4))
VARIABLES = st.one_of(
    st.sampled_from(
        ["HF_ENDPOINT", "ENDPOINT", "POD_NAME", "VLLM_USE_V1", "HF_HUB_OFFLINE", "RUNTIME_URL", "HF_AUTH_TOKEN"]
    ),
    st.from_regex(r"X[A-Z_]{0,5}", fullmatch=True),
)
SECRET: Object = {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
ENVS = st.dictionaries(VARIABLES, st.one_of(TEXTS, st.none()), max_size=4).map(
    lambda found: [{"name": name, **(SECRET if text is None else {"value": text})} for name, text in found.items()]
)
RESOURCES = st.sampled_from(
    [
        {},
        {"limits": {"nvidia.com/gpu": "1"}},
        {"limits": {"nvidia.com/gpu": 4, "memory": "8Gi"}, "requests": {"cpu": "2"}},
        {"requests": {"huawei.com/ascend-1980": "2"}},
    ]
)
SOURCES = st.sampled_from(["hf://org/name", "hf://org/other", "s3://bucket/path", "hf://o/n?x=${X}&y='z'"])
CACHES = st.sampled_from([None, "hostpath:///tmp/c", "hostpath://tmp/c/", "pvc://claim", "hostpath:///a b"])
IMAGES = st.sampled_from(
    ["vllm/vllm-openai:v0.11.0", "vllm/vllm-openai:v0.20.0", "example.com/own:v1", "img@sha256:" + "0" * 64]
)


def _filled(**fields: Any) -> Object:
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


@st.composite
def workers(draw: st.DrawFn, kind: str) -> Object:
    """A worker of a type."""
    return {
        "type": kind,
        "image": draw(IMAGES),
        "replicas": draw(st.integers(0, 3)),
        "pods": draw(st.integers(1, 3)),
        **_filled(config=draw(CONFIGS), resources=draw(RESOURCES)),
    }


@st.composite
def backends(draw: st.DrawFn, name: str, policy: Object | None) -> Object:
    """A backend of a type that is supported."""
    kind = draw(st.sampled_from(["vLLM", "vLLMDisaggregated", "SGLang"]))
    sides = ["prefill", "decode"] if kind == "vLLMDisaggregated" else ["server"]
    found = draw(st.sets(NAMES.filter(lambda each: not each.startswith("m")), max_size=2))
    adapters = [{"name": each, "artifactURL": draw(SOURCES)} for each in sorted(found)]
    least = draw(st.integers(1, 3))
    return backend(
        name,
        [draw(workers(side)) for side in sides],
        type=kind,
        modelURI=draw(SOURCES),
        minReplicas=least,
        maxReplicas=least + draw(st.integers(0, 3)) if policy else least,
        routeWeight=draw(st.integers(1, 100)),
        env=[*draw(ENVS), *KEYS],
        **_filled(cacheURI=draw(CACHES), loraAdapters=adapters, autoscalingPolicy=policy),
    )


@st.composite
def boosters(draw: st.DrawFn) -> Object:
    """A booster of up to three backends, scaled by backend, as a whole or not at all."""
    metric = draw(st.sampled_from(["kthena:num_requests_waiting", "vllm:num_requests_running"]))
    policy: Object = {"metrics": [{"metricName": metric, "targetValue": draw(st.integers(1, 100))}]}
    level = draw(st.sampled_from(["none", "backend", "booster"]))
    names = sorted(draw(st.sets(NAMES, min_size=1, max_size=3)))
    own = policy if level != "none" else None
    found = [draw(backends(name, own)) for name in names]
    spec: Object = {}
    if level == "booster":
        for each in found:
            each.pop("autoscalingPolicy", None)
            each["scalingCost"] = draw(st.integers(1, 9))
        spec = _filled(autoscalingPolicy=policy, costExpansionRatePercent=draw(st.sampled_from([None, 0, 100])))
    match = draw(st.sampled_from([None, {"headers": {"user": {"exact": "a"}}}, {"uri": {"prefix": "/v1"}}]))
    return booster(f"m{draw(NAMES)}", *found, **spec, **_filled(modelMatch=match))

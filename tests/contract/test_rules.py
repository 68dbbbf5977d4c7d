# ruff: noqa: E501 - tables of values
"""Every rule of llmaz (spec 1, 7) and LeaderWorkerSet (LWS spec 1.2): documents that pass and that do not."""

from typing import Any

import pytest

from components.contract.checking import check
from tests.contract.changing import REMOVED, changed, problems_of
from tests.contract.documents import DOCUMENTS, kind_of

MODEL, BUCKET, GGUF, PLAYGROUND, SPECULATIVE, SERVICE, RUNTIME, LWS = range(8)
LONG = "a" * 61


def problems(base: int, changes: dict[str, Any]) -> list[tuple[str, str]]:
    document = changed(DOCUMENTS[base], changes)
    return problems_of(document, kind_of(document))


ELASTIC = "spec/elasticConfig"
BACKEND = "spec/backendRuntimeConfig"
TEMPLATE = "spec/workloadTemplate"
GROUP = "spec/leaderWorkerTemplate"
ROLL = "spec/rolloutStrategy/rollingUpdateConfiguration"
HUB = "spec/source/modelHub"
CONFIG = "spec/recommendedConfigs"


@pytest.mark.parametrize("index", range(len(DOCUMENTS)))
def test_the_documents_are_good(index: int) -> None:
    assert problems(index, {}) == []


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        (MODEL, {"metadata/name": "1-digit-first"}),
        (MODEL, {"metadata/name": "a" * 63}),
        (RUNTIME, {"metadata/name": "with.dots"}),
        (PLAYGROUND, {"metadata/name": "a" * 60}),
        (MODEL, {"spec/inferenceConfig": REMOVED}),
        (MODEL, {"spec/inferenceConfig": {}}),
        (MODEL, {"spec/source/uri": "host:///also"}),  # modelHub wins
        (MODEL, {f"{HUB}/name": "ModelScope"}),
        (MODEL, {f"{HUB}/allowPatterns": ["*.safetensors"]}),
        (MODEL, {"spec/familyName": "Qwen2.5_A-b"}),
        (PLAYGROUND, {"spec/replicas": 0}),
        (PLAYGROUND, {BACKEND: REMOVED}),
        (PLAYGROUND, {ELASTIC: REMOVED}),
        (PLAYGROUND, {ELASTIC: {"minReplicas": 5}}),
        (PLAYGROUND, {ELASTIC: {"maxReplicas": 2}}),
        (PLAYGROUND, {ELASTIC: {"scaleTrigger": {"hpa": {}}}}),
        (PLAYGROUND, {f"{BACKEND}/resources": {"limits": {"cpu": "1"}}}),
        (PLAYGROUND, {f"{BACKEND}/resources": {"limits": {"cpu": "1000m"}, "requests": {"cpu": 1}}}),
        (PLAYGROUND, {f"{BACKEND}/resources": {"limits": {"cpu": "1"}, "requests": {"memory": "9Gi"}}}),
        (SPECULATIVE, {"spec/modelClaims/models/0/role": REMOVED}),  # main is the default
        (SERVICE, {"spec/rolloutStrategy": REMOVED}),
        (SERVICE, {f"{TEMPLATE}/leaderTemplate": REMOVED}),
        (SERVICE, {f"{TEMPLATE}/restartPolicy": "Default"}),
        (SERVICE, {f"{ROLL}/maxSurge": "0%"}),
        (SERVICE, {f"{ROLL}": {"maxUnavailable": 0, "maxSurge": 1}}),
        (SERVICE, {f"{ROLL}": {"maxUnavailable": "10%", "maxSurge": 0}, "spec/replicas": 10}),
        (SERVICE, {f"{ROLL}": {"maxUnavailable": 0, "maxSurge": 0}, "spec/replicas": 0}),
        (LWS, {f"{GROUP}/subGroupPolicy": {"subGroupSize": 4}}),
        (LWS, {f"{GROUP}/subGroupPolicy": {"subGroupSize": 3, "subGroupPolicyType": "LeaderExcluded"}}),
        (LWS, {"metadata/name": "a" * 63}),
        (LWS, {"spec/replicas": 1_000_000, f"{GROUP}/size": 2, f"{GROUP}/subGroupPolicy": REMOVED}),
        (LWS, {f"{GROUP}/restartPolicy": "RecreateGroupAfterStart"}),
    ],
)
def test_good(base: int, changes: dict[str, Any]) -> None:
    assert problems(base, changes) == []


@pytest.mark.parametrize(
    "uri",
    [
        "oss://b.e/p",
        "OSS://b.e.com/dir/p/",
        "Ollama://qwen2:0.5b",
        "host:///models/a",
        "HOST:///a",
        "s3://b/p",
        "gcs://b/p/q",
        "oss://b.e/p\n",
    ],
)
def test_good_uris(uri: str) -> None:
    assert problems(BUCKET, {"spec/source/uri": uri}) == []


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "oss",
        "oss://",
        "oss://b/p",
        "oss://b.e",
        "oss://b.e/",
        "oss://.e/p",
        "oss://b./p",
        "oss://b/p.q/r",
        "gs://b/p",
        "s3://b",
        "s3:///p",
        "host://relative",
        "ollama://",
        "a://b://c",
        "oss://b.e/p://q",
        "http://x/y",
        " oss://b.e/p",
        "o\u017fs://b.e/p",
        "pvc://claim/path",
    ],
)
def test_bad_uris(uri: str) -> None:
    (problem,) = problems(BUCKET, {"spec/source/uri": uri})
    assert problem[0] == "spec/source/uri"
    assert "must be oss://<bucket>.<endpoint>/<path>" in problem[1]
    assert repr(uri) in problem[1]


BAD: list[tuple[int, dict[str, Any], str, str]] = [
    (MODEL, {"metadata/name": "with.dot"}, "metadata/name", "DNS-1123 label"),
    (MODEL, {"metadata/name": "a" * 64}, "metadata/name", "at most 63"),
    (MODEL, {"metadata/name": "Upper"}, "metadata/name", "found 'Upper'"),
    (MODEL, {"metadata/name": "a\n"}, "metadata/name", "DNS-1123 label"),
    (MODEL, {"metadata/name": REMOVED}, "metadata/name", "is required"),
    (MODEL, {"metadata": REMOVED}, "metadata", "is required"),
    (RUNTIME, {"metadata/name": "a_b"}, "metadata/name", "DNS-1123 subdomain"),
    (PLAYGROUND, {"metadata/name": "1a"}, "metadata/name", "DNS-1035 label"),
    (PLAYGROUND, {"metadata/name": LONG}, "metadata/name", "at most 60 characters"),
    (SERVICE, {"metadata/name": LONG}, "metadata/name", "'-lb', a Service"),
    (LWS, {"metadata/name": "1a"}, "metadata/name", "DNS-1035 label"),
    (PLAYGROUND, {"metadata/namespace": "a.b"}, "metadata/namespace", "DNS-1123 label"),
    (MODEL, {"metadata/labels/a": "x y"}, "metadata/labels/a", "put free text into an annotation"),
    (MODEL, {"metadata/labels": {"a b": "x"}}, "metadata/labels/a b", "optional DNS prefix"),
    (MODEL, {"metadata/annotations": {"a": "x" * 300_000}}, "metadata/annotations", "at most 262144 bytes"),
    (MODEL, {"metadata/finalizers": ["UPPER/x"]}, "metadata/finalizers/0", "qualified name"),
    (MODEL, {"spec": REMOVED}, "spec", "is required"),
    (MODEL, {"spec/familyName": REMOVED}, "spec/familyName", "is required; set it"),
    (MODEL, {"spec/familyName": "two words"}, "spec/familyName", "must be a label value"),
    (MODEL, {"spec/familyName": "a" * 64}, "spec/familyName", "at most 63"),
    (MODEL, {"spec/source": {}}, "spec/source", "set modelHub or uri"),
    (MODEL, {f"{HUB}/name": "huggingface"}, f"{HUB}/name", "did you mean 'Huggingface'?"),
    (MODEL, {f"{HUB}/modelID": REMOVED}, f"{HUB}/modelID", "is required"),
    (MODEL, {f"{HUB}/filename": "m.gguf"}, f"{HUB}/filename", "cannot be combined with allowPatterns and ignorePatterns"),
    (GGUF, {f"{HUB}/allowPatterns": []}, f"{HUB}/filename", "cannot be combined with allowPatterns"),
    (GGUF, {f"{HUB}/name": "ModelScope"}, f"{HUB}/filename", "works only with name Huggingface"),
    (MODEL, {"spec/inferenceConfig/flavors": [{"name": f"f{i}"} for i in range(9)]}, "spec/inferenceConfig/flavors", "at most 8"),
    (MODEL, {"spec/inferenceConfig/flavors/1/name": "a10g"}, "spec/inferenceConfig/flavors/1/name", "used twice"),
    (MODEL, {"spec/inferenceConfig/flavors/0/name": REMOVED}, "spec/inferenceConfig/flavors/0/name", "is required"),
    (MODEL, {"spec/inferenceConfig/flavors/0/limits/x": "1GB"}, "spec/inferenceConfig/flavors/0/limits/x", "must be a quantity"),
    (MODEL, {"spec/inferenceConfig/flavors/0/params/TP": 2}, "spec/inferenceConfig/flavors/0/params/TP", "put it in quotes"),
    (PLAYGROUND, {"spec/replicas": -1}, "spec/replicas", "at least 0"),
    (PLAYGROUND, {"spec/replicas": 3.0}, "spec/replicas", "must be an integer, found 3.0"),
    (PLAYGROUND, {"spec/replicas": "2"}, "spec/replicas", "write it without quotes"),
    (PLAYGROUND, {"spec/modelClaim": REMOVED}, "spec", "found neither"),
    (PLAYGROUND, {"spec/modelClaims": {"models": [{"name": "m"}]}}, "spec", "found both"),
    (PLAYGROUND, {"spec/modelClaim": {}}, "spec/modelClaim/modelName", "is required"),
    (PLAYGROUND, {f"{ELASTIC}/minReplicas": 0}, f"{ELASTIC}/minReplicas", "must be at least 1, found 0"),
    (PLAYGROUND, {f"{ELASTIC}/minReplicas": 3}, f"{ELASTIC}/minReplicas", "must be less than maxReplicas, found 3 and 3"),
    (PLAYGROUND, {ELASTIC: {"maxReplicas": 1}}, f"{ELASTIC}/minReplicas", "found 1 and 1"),
    (PLAYGROUND, {f"{ELASTIC}/scaleTrigger": {}}, f"{ELASTIC}/scaleTrigger/hpa", "is required"),
    (PLAYGROUND, {f"{BACKEND}/resources/limits/cpu": "1"}, f"{BACKEND}/resources/limits/cpu", "found limit 1 and request 2"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate/spec/containers/0/env": [{"name": "A"}, {"name": "A"}]}, f"{TEMPLATE}/workerTemplate/spec/containers/0/env", "must differ in name"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate/spec/containers/0/env": [{"name": "A"}, {"name": "B"}, {"name": "A"}]}, f"{TEMPLATE}/workerTemplate/spec/containers/0/env", 'found name "A" twice'),
    (PLAYGROUND, {f"{BACKEND}/envs": [{"name": "A"}, {"name": ["A"]}]}, f"{BACKEND}/envs/1/name", "must be a string"),
    (PLAYGROUND, {f"{BACKEND}/envs/0/valueForm": {}}, f"{BACKEND}/envs/0/valueForm", "did you mean 'valueFrom'?"),
    (PLAYGROUND, {f"{BACKEND}/envs/0/value": 1}, f"{BACKEND}/envs/0/value", "must be a string, found 1"),
    (PLAYGROUND, {f"{BACKEND}/sharedMemorySize": "lots"}, f"{BACKEND}/sharedMemorySize", "must be a quantity"),
    (PLAYGROUND, {f"{BACKEND}/sharedMemorySize": 0.5}, f"{BACKEND}/sharedMemorySize", "put it in quotes: '0.5'"),
    (SPECULATIVE, {"spec/modelClaims/models": []}, "spec/modelClaims/models", "at least 1 item"),
    (SPECULATIVE, {"spec/modelClaims/models/1/role": "main"}, "spec/modelClaims/models", "exactly one with role main, found 2"),
    (SPECULATIVE, {"spec/modelClaims/models/0/role": "draft"}, "spec/modelClaims/models", "exactly one with role main, found 0"),
    (SPECULATIVE, {"spec/modelClaims/models/1/role": "lora"}, "spec/modelClaims/models/1/role", "'main' or 'draft'"),
    (SPECULATIVE, {"spec/modelClaims/models": [{"name": "a"}, {"name": "b", "role": "draft"}, {"name": "c", "role": "draft"}]}, "spec/modelClaims/models", "exactly 2"),
    (SERVICE, {"spec/modelClaims": REMOVED}, "spec/modelClaims", "is required"),
    (SERVICE, {TEMPLATE: REMOVED}, TEMPLATE, "is required"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate": REMOVED}, f"{TEMPLATE}/workerTemplate", "is required"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate": {}}, f"{TEMPLATE}/workerTemplate/spec/containers", "named model-runner"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate/spec/containers/0/name": "x"}, f"{TEMPLATE}/workerTemplate/spec/containers", "found ['x']"),
    (SERVICE, {f"{TEMPLATE}/workerTemplate/spec/containers/0/imagePullSecret": "x"}, f"{TEMPLATE}/workerTemplate/spec/containers/0/imagePullSecret", "unknown field"),
    (SERVICE, {f"{TEMPLATE}/restartPolicy": "Always"}, f"{TEMPLATE}/restartPolicy", "found \"Always\""),
    (SERVICE, {"spec/rolloutStrategy/type": "Recreate"}, "spec/rolloutStrategy/type", "must be 'RollingUpdate'"),
    (SERVICE, {f"{ROLL}": {"maxUnavailable": "50%", "maxSurge": 0}}, f"{ROLL}/maxUnavailable", "both amount to 0"),
    (RUNTIME, {"spec/image": REMOVED}, "spec/image", "is required"),
    (RUNTIME, {"spec/version": REMOVED}, "spec/version", "is required"),
    (RUNTIME, {f"{CONFIG}/1/name": "default"}, f"{CONFIG}/1/name", "used twice"),
    (RUNTIME, {f"{CONFIG}/0/resources/limits/cpu": "3999m"}, f"{CONFIG}/0/resources/limits/cpu", "must not be below the request"),
    (RUNTIME, {f"{CONFIG}/0/resources/claims": []}, f"{CONFIG}/0/resources/claims", "unknown field"),
    (RUNTIME, {"spec/livenessProbe/httpGet/port": 8080.5}, "spec/livenessProbe/httpGet/port", "an integer or a string"),
    (LWS, {f"{GROUP}/size": 0}, f"{GROUP}/size", "at least 1"),
    (LWS, {f"{GROUP}/subGroupPolicy": {}}, f"{GROUP}/subGroupPolicy/subGroupSize", "is required"),
    (LWS, {f"{GROUP}/subGroupPolicy/subGroupSize": 0}, f"{GROUP}/subGroupPolicy/subGroupSize", "at least 1"),
    (LWS, {f"{GROUP}/subGroupPolicy/subGroupSize": 5}, f"{GROUP}/subGroupPolicy/subGroupSize", "found 5 for size 4"),
    (LWS, {f"{GROUP}/subGroupPolicy/subGroupSize": 6, f"{GROUP}/size": 10}, f"{GROUP}/subGroupPolicy/subGroupSize", "divide size or size - 1"),
    (LWS, {f"{GROUP}/subGroupPolicy/subGroupPolicyType": "LeaderExcluded"}, f"{GROUP}/subGroupPolicy/subGroupSize", "must divide size - 1"),
    (LWS, {f"{ROLL}/maxUnavailable": "33%"}, f"{ROLL}/maxUnavailable", "found 33% and 0 of 3 replicas"),
    (LWS, {f"{ROLL}/maxUnavailable": "101%"}, f"{ROLL}/maxUnavailable", "from 0% to 100%"),
    (LWS, {f"{ROLL}/maxSurge": -1}, f"{ROLL}/maxSurge", "must be a number of groups of at least 0"),
    (LWS, {f"{ROLL}/partition": -1}, f"{ROLL}/partition", "at least 0"),
    (LWS, {"spec/networkConfig": {}}, "spec/networkConfig/subdomainPolicy", "is required"),
    (LWS, {"spec/replicas": 1_000_001}, "spec/replicas", "at most 1000000"),
    (LWS, {"spec/replicas": 1_000_000, f"{GROUP}/size": 2148, f"{GROUP}/subGroupPolicy": REMOVED}, "spec/replicas", "must be at most 2147483647"),
    (LWS, {"spec/startupPolicy": "Leaderready"}, "spec/startupPolicy", "did you mean 'LeaderReady'?"),
    (LWS, {f"{GROUP}/workerTemplate/spec/containers/0/ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]}, f"{GROUP}/workerTemplate/spec/containers/0/ports", "must differ in containerPort and protocol"),
    (LWS, {f"{GROUP}/workerTemplate/metadata/finalizers": ["a", "a"]}, f"{GROUP}/workerTemplate/metadata/finalizers", "must not contain duplicates"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "changes", "path", "reason"), BAD)
def test_bad(base: int, changes: dict[str, Any], path: str, reason: str) -> None:
    (problem,) = problems(base, changes)
    assert problem[0] == path
    assert reason in problem[1]


def test_all_problems_at_once() -> None:
    found = problems(
        MODEL,
        {
            "metadata/name": "With.Dot",
            "metadata/labels/a": "x y",
            "spec/familyName": 1,
            f"{HUB}/revison": "x",
            "spec/inferenceConfig/flavors/1/name": "a10g",
        },
    )
    assert [path for path, _ in found] == [
        "metadata/name",
        "metadata/labels/a",
        "spec/familyName",
        f"{HUB}/revison",
        "spec/inferenceConfig/flavors/1/name",
    ]


@pytest.mark.parametrize("whole", [3.0, 3])
def test_whole_floats_are_integers(whole: float) -> None:
    """But not where the scale subresource reads them, see BAD."""
    document = changed(DOCUMENTS[PLAYGROUND], {f"{ELASTIC}/maxReplicas": whole, f"{BACKEND}/sharedMemorySize": whole})
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    spec = resource.wire()["spec"]
    assert repr(spec["elasticConfig"]["maxReplicas"]) == "3"
    assert repr(spec["backendRuntimeConfig"]["sharedMemorySize"]) == "3"


@pytest.mark.parametrize("value", [2.5, 1e18, 1e300])
def test_other_floats_are_not(value: float) -> None:
    ((path, reason),) = problems(PLAYGROUND, {f"{ELASTIC}/maxReplicas": value})
    assert path == f"{ELASTIC}/maxReplicas"
    assert "must be an integer, found " in reason
    assert repr(value) in reason


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_integers_have_32_bits(value: int) -> None:
    ((path, _),) = problems(PLAYGROUND, {f"{ELASTIC}/maxReplicas": value, f"{ELASTIC}/minReplicas": REMOVED})
    assert path == f"{ELASTIC}/maxReplicas"


def test_null_is_absent_in_fields_and_maps_and_refused_in_lists() -> None:
    document = changed(
        DOCUMENTS[PLAYGROUND], {f"{BACKEND}/version": None, f"{BACKEND}/resources/limits/cpu": None, ELASTIC: None}
    )
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    assert "version" not in resource.wire()["spec"]["backendRuntimeConfig"]
    assert resource.wire()["spec"]["backendRuntimeConfig"]["resources"]["limits"] == {"memory": "16Gi"}
    assert problems(PLAYGROUND, {f"{BACKEND}/args": [None]}) == [
        (f"{BACKEND}/args/0", "must be a string, found null")
    ]
    assert problems(PLAYGROUND, {"spec/modelClaim/modelName": None}) == [
        ("spec/modelClaim/modelName", "is required; set it")
    ]
    ((path, reason),) = problems(PLAYGROUND, {f"{BACKEND}/nope": None})
    assert path == f"{BACKEND}/nope"
    assert reason.startswith("unknown field")


def test_status_is_dropped_but_its_fields_must_be_known() -> None:
    document = changed(DOCUMENTS[PLAYGROUND], {"status": {"replicas": "not even a number"}})
    resource, found = check(document, kind_of(document))
    assert found == []
    assert resource is not None
    assert "status" not in resource.wire()
    assert problems(PLAYGROUND, {"status": {"replica": 1}}) == [
        ("status/replica", "unknown field; did you mean 'replicas'?")
    ]

"""Fields that are right natively, and that LLMKube's operator v0.8.7 does otherwise (LLMKube spec 2, 3.3 and 8)."""

import pytest

from components.fleet.words import Realization
from components.plan.rollouts import rollout_of
from tests.families.llmkube.support import EXISTS, GPUS, Object, gpu, isvc, model, problem
from tests.fleets import errors, fleet_of, warnings

LLAMA = "ghcr.io/ggml-org/llama.cpp:server-cuda"
VLLM = "vllm/vllm-openai:v0"
DRAFT = model("draft", "org/small")
FLASH: Object = {**GPUS, "tolerations": [EXISTS]}
REPOSITORY: Object = {"source": "org/repo"}
CLAIM: Object = {"source": "pvc://weights/m.gguf"}
NO_LAYERS: Object = {"hardware": gpu(2, layers=0)}


def llamacpp(**spec: object) -> Object:
    return {"image": f"{LLAMA}-b8000", **FLASH, **spec}


def vllm(tag: str, *extra: str, **config: object) -> Object:
    more: Object = {"extraArgs": list(extra)} if extra else {}
    named: Object = {"image": f"{VLLM}.{tag}", "runtime": "vllm", "skipModelInit": True, "endpoint": {"port": 8000}}
    return {**FLASH, **named, "vllmConfig": config, **more}


def tgi(**spec: object) -> Object:
    return {"runtime": "tgi", "image": "example.com/tgi:3.3.6", "endpoint": {"port": 80}, **FLASH, **spec}


def voice(**spec: object) -> Object:
    return {"runtime": "personaplex", "image": "example.com/voice:1", **spec}


SPECULATIVE: Object = {"speculative": {"enabled": True, "model": "draft"}}
IDLE: Object = {"speculative": {"enabled": False, "model": "draft"}}
BACKEND: Object = {"attentionBackend": "FLASHINFER"}
MADE_SMALL = ("--speculative-model", "org/small")
OFF, SKIP = {"flashAttention": False}, {"skipModelInit": True}

# What it is, the service and its Model as the operator breaks them, the field, a word of the way out, and a service
# that is right for the operator too.
BROKEN: list[tuple[str, Object, Object, str, str, Object]] = [
    ("off", llamacpp(**OFF), {}, "spec.flashAttention", "--flash-attn off", llamacpp(flashAttention=True)),
    ("off, newest", llamacpp(**OFF, image=LLAMA), {}, "spec.flashAttention", "--flash-attn off", llamacpp()),
    (
        "off where that is the default",
        llamacpp(**OFF, image=f"{LLAMA}-b6343"),
        {},
        "spec.flashAttention",
        "--flash-attn off",
        llamacpp(**OFF, image=f"{LLAMA}-b6000"),
    ),
    (
        "off in the extra arguments",
        llamacpp(**OFF),
        {},
        "spec.flashAttention",
        "extraArgs",
        llamacpp(**OFF, extraArgs=["-fa", "off"]),
    ),
    (
        "on where it has no value",
        llamacpp(image=f"{LLAMA}-b6000", flashAttention=True),
        {},
        "spec.flashAttention",
        "--flash-attn",
        llamacpp(image=f"{LLAMA}-b6000", extraArgs=["--flash-attn"]),
    ),
    ("templates", llamacpp(jinja=False), {}, "spec.jinja", "--no-jinja", llamacpp(jinja=True)),
    (
        "templates of an old build",
        llamacpp(jinja=False, image=f"{LLAMA}-b7250"),
        {},
        "spec.jinja",
        "--no-jinja",
        llamacpp(jinja=False, image=f"{LLAMA}-b7000"),
    ),
    (
        "templates off by hand",
        llamacpp(jinja=False),
        {},
        "spec.jinja",
        "--no-jinja",
        llamacpp(extraArgs=["--no-jinja"]),
    ),
    (
        "no layers",
        llamacpp(),
        NO_LAYERS,
        "spec.modelRef",
        "--n-gpu-layers 0",
        llamacpp(extraArgs=["-ngl", "0"]),
    ),
    ("no model", SKIP, {}, "spec.skipModelInit", "--hf-repo", {**SKIP, "extraArgs": ["-hf", "org/repo"]}),
    (
        "no model but in the environment",
        SKIP,
        {},
        "spec.skipModelInit",
        "--hf-repo",
        {**SKIP, "env": [{"name": "LLAMA_ARG_HF_REPO", "value": "org/repo"}]},
    ),
    (
        "speculative",
        vllm("8.3", **SPECULATIVE),
        REPOSITORY,
        "spec.vllmConfig.speculative",
        "--speculative-config",
        vllm("8.3", **IDLE),
    ),
    (
        "speculative by default",
        {**vllm("", **SPECULATIVE), "image": ""},
        REPOSITORY,
        "spec.vllmConfig.speculative",
        "--speculative-config",
        {**vllm("", "--speculative-config", '{"model": "org/small"}'), "image": ""},
    ),
    (
        "draft by name",
        vllm("8.2", **SPECULATIVE),
        REPOSITORY,
        "spec.vllmConfig.speculative.model",
        "--speculative-model",
        vllm("8.2", *MADE_SMALL, **SPECULATIVE),
    ),
    (
        "backend",
        vllm("11.0", **BACKEND),
        REPOSITORY,
        "spec.vllmConfig.attentionBackend",
        "VLLM_ATTENTION_BACKEND",
        vllm("13.0", **BACKEND),
    ),
    ("extra arguments of TGI", tgi(extraArgs=["--sharded", "true"]), REPOSITORY, "spec.extraArgs", "spec.env", tgi()),
    (
        "port of PersonaPlex",
        voice(endpoint={"port": 9000}),
        REPOSITORY,
        "spec.endpoint.port",
        "endpoint.port: 8998",
        voice(endpoint={"port": 8998}),
    ),
    (
        "container's port of PersonaPlex",
        voice(endpoint={"port": 9000}, containerPort=9000),
        REPOSITORY,
        "spec.containerPort",
        "containerPort: 8998",
        voice(endpoint={"port": 8998}, containerPort=8998),
    ),
    (
        "a path in the environment",
        {**SKIP, "env": [{"name": "LLAMA_ARG_MODEL", "value": "/m.gguf"}]},
        {},
        "spec.skipModelInit",
        "--hf-repo",
        {**SKIP, "extraArgs": ["--model", "/m.gguf"]},
    ),
    ("name without owner", vllm("20.0"), {"source": "gpt2"}, "spec.modelRef", "org/name", vllm("20.0")),
    ("file for vLLM", vllm("20.0"), {"source": "file:///m"}, "spec.modelRef", "as /m", vllm("20.0")),
    ("file for TGI", tgi(), {"source": "file:///m"}, "spec.modelRef", "as /m", tgi()),
    ("claim, no init container", SKIP, CLAIM, "spec.skipModelInit", "claim", {}),
]
NAMESAKE = model("gpt2", "gpt2")
FINE: list[tuple[str, Object, Object]] = [
    ("attention without GPU", {"image": f"{LLAMA}-b6000", "flashAttention": True}, {}),
    ("templates off twice", llamacpp(jinja=False, extraArgs=["--no-jinja"]), {}),
    ("layers without GPU", {}, {"hardware": gpu(0, layers=0)}),
    ("hardware without GPUs", llamacpp(), {"hardware": {"accelerator": "cuda"}}),
    ("some layers", llamacpp(), {"hardware": gpu(2, layers=33)}),
    ("all layers", llamacpp(), {"hardware": gpu(2, layers=-1)}),
    ("no draft", vllm("8.3", speculative={"enabled": True}), REPOSITORY),
    ("no configuration", {**vllm("8.3"), "vllmConfig": None}, REPOSITORY),
    ("file for the init container", {}, {"source": "file:///m.gguf"}),
    ("file beside another model", {**SKIP, "extraArgs": ["-m", "/m"]}, {"source": "file:///m.gguf"}),
    ("file that vLLM is brought", {**vllm("20.0"), "skipModelInit": False}, {"source": "file:///m.gguf"}),
    ("draft named like its source", vllm("8.2", speculative={"enabled": True, "model": "gpt2"}), REPOSITORY),
]
MENDED: dict[str, Object] = {"gpt2": {"source": "openai/gpt2"}, "file:///m": {"source": "/m"}}
"""Sources that are to blame themselves, and what they must be."""
TOKEN: Object = {"tgiConfig": {"hfTokenSecretRef": {"name": "hf", "key": "k"}}}
LOCAL: Object = {"source": "/srv/m.gguf"}
PRIVATE: Object = {"securityContext": {"readOnlyRootFilesystem": True}}
# What it is, the service and its Model, the field, and both of them as they are left alone.
NAMED = {"name": "HF_TOKEN", "value": "$(HUGGING_FACE_HUB_TOKEN)"}
ONE: Object = {"resources": {"gpu": 1}}
SHARED = tgi(endpoint={"port": 8080})
NO_GPU = {**SHARED, "resources": None}
BOTH = {**REPOSITORY, "hardware": gpu(2)}
DOUBTFUL: list[tuple[str, Object, Object, str, Object, Object]] = [
    ("resources", {}, {"resources": {"cpu": "2"}}, "spec.modelRef", {}, {"resources": {}}),
    ("sum", {}, {"sha256": "0" * 64}, "spec.modelRef", {}, {"sha256": "0" * 64, **LOCAL}),
    (
        "changed file",
        {},
        {"refreshPolicy": "OnChange", **LOCAL},
        "spec.modelRef",
        {},
        {"refreshPolicy": "OnChange"},
    ),
    (
        "low port",
        {"endpoint": {"port": 80}},
        {},
        "spec.endpoint.port",
        {"endpoint": {"port": 80}, **PRIVATE},
        {},
    ),
    ("first low port", {"endpoint": {"port": 1023}}, {}, "spec.endpoint.port", {"endpoint": {"port": 1024}}, {}),
    (
        "token",
        tgi(endpoint={"port": 8080}, **TOKEN, **ONE),
        REPOSITORY,
        "spec.tgiConfig.hfTokenSecretRef",
        tgi(endpoint={"port": 8080}, **TOKEN, **ONE, env=[NAMED]),
        REPOSITORY,
    ),
    (
        "token of an old launcher",
        tgi(endpoint={"port": 8080}, **TOKEN, **ONE, image="example.com/tgi:2.1.0"),
        REPOSITORY,
        "spec.tgiConfig.hfTokenSecretRef",
        tgi(endpoint={"port": 8080}, **TOKEN, **ONE, image="example.com/tgi:2.0.4"),
        REPOSITORY,
    ),
    ("shared memory", SHARED, REPOSITORY, "spec.resources.gpu", {**SHARED, **ONE}, REPOSITORY),
    ("shared memory by the Model", NO_GPU, BOTH, "spec.modelRef", {**SHARED, **ONE}, REPOSITORY),
]
IDS = [row[0] for row in BROKEN]


def documents(service: Object, weights: Object) -> tuple[Object, ...]:
    written = {name: value for name, value in service.items() if value is not None}
    return isvc(**written), model(**weights), DRAFT, NAMESAKE


@pytest.mark.parametrize(("service", "weights", "path", "words"), [row[1:5] for row in BROKEN], ids=IDS)
def test_what_the_operator_does_otherwise_is_refused_with_the_way_out(
    service: Object, weights: Object, path: str, words: str
) -> None:
    found = problem(*documents(service, weights), realization=Realization.OPERATOR)
    assert (found.kind, found.name, found.path) == ("InferenceService", "svc", path)
    assert words in found.reason
    assert "realization 'native'" in found.reason


@pytest.mark.parametrize(("service", "weights"), [row[1:3] for row in BROKEN], ids=IDS)
def test_it_is_right_natively(service: Object, weights: Object) -> None:
    assert not errors(fleet_of(*documents(service, weights)))


@pytest.mark.parametrize(("weights", "mended"), [(row[2], row[5]) for row in BROKEN], ids=IDS)
def test_the_way_out_is_left_to_the_operator(weights: Object, mended: Object) -> None:
    weights = MENDED.get(weights.get("source", ""), weights)
    fleet = fleet_of(*documents(mended, weights), realization=Realization.OPERATOR)
    assert [str(p) for p in errors(fleet)] == []
    assert [item.name for item in fleet.rendered] == ["draft", "gpt2", "m1", "svc"]


@pytest.mark.parametrize(("service", "weights"), [row[1:] for row in FINE], ids=[row[0] for row in FINE])
def test_what_the_operator_does_alike_is_left_to_it(service: Object, weights: Object) -> None:
    assert [str(p) for p in errors(fleet_of(*documents(service, weights), realization=Realization.OPERATOR))] == []


@pytest.mark.parametrize("row", DOUBTFUL, ids=[row[0] for row in DOUBTFUL])
def test_what_the_operator_leaves_out_is_told(row: tuple[str, Object, Object, str, Object, Object]) -> None:
    _, service, weights, path, other, others = row
    found = problem(*documents(service, weights), realization=Realization.OPERATOR, severity="warning")
    assert found.path == path
    assert "realization 'native'" in found.reason
    assert not fleet_of(*documents(other, others), realization=Realization.OPERATOR).problems
    assert not fleet_of(*documents(service, weights)).problems


@pytest.mark.parametrize(
    "service", [tgi(), tgi(tgiConfig={"quantize": "awq"}), {**vllm(""), "image": "vllm/vllm-openai", **TOKEN}]
)
def test_no_token_is_missed_where_none_is_handed_to_tgi(service: Object) -> None:
    fleet = fleet_of(*documents(service, REPOSITORY), realization=Realization.OPERATOR)
    assert not errors(fleet)
    assert "spec.tgiConfig.hfTokenSecretRef" not in {p.path for p in warnings(fleet)}


def test_a_draft_that_is_nowhere_is_refused_once() -> None:
    service = vllm("8.2", speculative={"enabled": True, "model": "nowhere"})
    found = problem(*documents(service, REPOSITORY), realization=Realization.OPERATOR)
    assert found.path == "spec.vllmConfig.speculative.model"
    assert "nowhere" in found.reason


@pytest.mark.parametrize("service", [tgi(), {**voice(), "endpoint": {"port": 8998}}])
def test_a_claim_is_for_runtimes_with_an_init_container(service: Object) -> None:
    assert problem(*documents(service, CLAIM), realization=Realization.OPERATOR).path == "spec.modelRef"


@pytest.mark.parametrize(
    ("service", "hardware", "missing"),
    [
        (FLASH, {"hardware": gpu(1)}, 4),
        ({}, {"hardware": gpu(0, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}])}, 4),
        ({}, {}, 1),
    ],
    ids=["GPUs", "claims", "neither"],
)
def test_an_edit_restarts_pods_by_the_strategy_of_the_operator(
    service: Object, hardware: Object, missing: int
) -> None:
    """The table of docs/llmkube.md, from the operator's source."""
    documents = isvc(replicas=4, endpoint={"port": 8080}, **service), model(**hardware)
    fleet = fleet_of(*documents, realization=Realization.OPERATOR)
    ((_, workload),) = fleet.workloads
    assert workload.operated
    assert rollout_of(dict(workload.body), 4).short == missing

"""Defects of LLMKube's operator by release: each is reported for the releases that have it, and for no other."""

from typing import Any

import pytest

from components.families import objects as loaded
from components.families.llmkube.family import RELEASES
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.families.llmkube.support import EXISTS, G5, HTTP, Object, gpu, isvc, model
from tests.fleets import errors

ON_GPU: Object = {"nodeSelector": G5, "tolerations": [EXISTS]}
VLLM: Object = {"runtime": "vllm", "skipModelInit": True, "endpoint": {"port": 8000}, **ON_GPU}
SGLANG: Object = {"runtime": "sglang", "skipModelInit": True, "endpoint": {"port": 30000}, **ON_GPU}
TGI: Object = {"runtime": "tgi", "endpoint": {"port": 8080}, **ON_GPU}


def operated(release: str, service: Object, weights: Object) -> Fleet:
    """Render for the operator of a release; the manifests are read in it."""
    releases = {"llmkube": release}
    manifests = loaded([service, weights], releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    return render_fleet(manifests.resources, Options(realization=Realization.OPERATOR, releases=releases))


# internal/controller at the tags: the first and the last release that has a defect.
DEFECTS: list[tuple[str, Object, Object, str, str, str]] = [
    # deployment_builder.go: #1503
    ("node selector without GPU", {"nodeSelector": {"a": "b"}, "image": "x/y:1"}, {}, "spec.nodeSelector", "v0.8.7",
     "v0.9.16"),
    # gpu_resources.go, pkg/apiutil/gpu.go
    ("AMD by vendor", {**ON_GPU, "image": "x/y:1"}, {"hardware": gpu(1, "rocm", vendor="amd")}, "spec.modelRef",
     "v0.8.7", "v0.8.7"),
    ("AMD by accelerator", {**ON_GPU, "image": "x/y:1"}, {"hardware": gpu(1, "rocm")}, "spec.modelRef", "v0.8.7",
     "v0.9.19"),
    ("Intel by accelerator", {**ON_GPU, "image": "x/y:1"}, {"hardware": gpu(1, "intel")}, "spec.modelRef", "v0.8.8",
     "v0.9.19"),
    # runtime_llamacpp.go: #1197
    ("image of CUDA", ON_GPU, {"hardware": gpu(1)}, "spec.image", "v0.8.7", "v0.9.8"),
    ("image of Intel", ON_GPU, {"hardware": gpu(1, "intel", vendor="intel")}, "spec.image", "v0.8.7", "v0.9.19"),
    # runtime_tgi.go
    ("arguments of TGI", {**TGI, "extraArgs": ["--disable-custom-kernels"]}, {"source": "a/b", "hardware": gpu(1)},
     "spec.extraArgs", "v0.8.7", "v0.9.12"),
    # source.go: GHSA-jw3m-8q7m-f35r
    ("path of a node", {"image": "x/y:1"}, {"source": "file:///srv/m.gguf"}, "spec.modelRef", "v0.9.0", "v0.9.19"),
    # runtime_vllm.go: #1030
    ("metrics of vLLM", VLLM, {"source": "a/b", "hardware": gpu(1)}, "spec.runtime", "v0.8.12", "v0.9.2"),
    # runtime_llamacpp_args.go: #1382
    ("tokens of a draft", {**ON_GPU, "image": "x/y:1", "speculativeDecoding": {"type": "mtp", "nDraftMax": 2}},
     {"hardware": gpu(1)}, "spec.speculativeDecoding.nDraftMax", "v0.8.17", "v0.9.13"),
    # source.go: hfServeArg
    ("repository as an address", VLLM, {"source": "hf://a/b", "hardware": gpu(1)}, "spec.modelRef", "v0.8.18",
     "v0.9.12"),
    ("revision", VLLM, {"source": "hf://a/b@c", "hardware": gpu(1)}, "spec.modelRef", "v0.8.18", "v0.9.19"),
    # runtime_sglang_args.go
    ("prefixes of SGLang", {**SGLANG, "sglangConfig": {"enablePrefixCaching": True}},
     {"source": "a/b", "hardware": gpu(1)}, "spec.sglangConfig.enablePrefixCaching", "v0.9.4", "v0.9.19"),
    # The operator of v0.9.19 keeps karpenter.sh/do-not-disrupt on a ready service; merge.go since v0.8.12.
    ("protection of the start", {"image": "x/y:1", "disruption": {"protectStartup": True}}, {},
     "spec.disruption.protectStartup", "v0.8.12", "v0.9.19"),
    ("copies of SGLang", {**SGLANG, "sglangConfig": {"dataParallelSize": 2}}, {"source": "a/b", "hardware": gpu(2)},
     "spec.sglangConfig.dataParallelSize", "v0.9.4", "v0.9.19"),
]  # fmt: skip
FIRST = {"disruption": "v0.8.12", "speculativeDecoding": "v0.8.17", "sglangConfig": "v0.9.4"}


def releases_with_the_fields(service: Object, weights: Object) -> list[str]:
    since = [FIRST[name] for name in FIRST if name in service]
    since += ["v0.8.18"] if str(weights.get("source", "")).startswith("hf://") else []
    first = max((RELEASES.names.index(name) for name in since), default=0)
    return RELEASES.names[first:]


@pytest.mark.parametrize(
    ("service", "weights", "path", "since", "until"), [d[1:] for d in DEFECTS], ids=[d[0] for d in DEFECTS]
)
def test_a_defect_is_reported_in_its_releases(
    service: Object, weights: Object, path: str, since: str, until: str
) -> None:
    order = RELEASES.names
    for release in releases_with_the_fields(service, weights):
        fleet = operated(release, isvc(**service), model(**{"source": HTTP, **weights}))
        rules = {"operator-unsupported", "operator-differs"}
        found = [p for p in fleet.problems if p.rule in rules and p.path == path]
        has = order.index(since) <= order.index(release) <= order.index(until)
        assert bool(found) is has, (release, list(map(str, fleet.problems)))


@pytest.mark.parametrize(
    ("release", "fields", "severities"),
    [
        ("v0.8.11", {}, []),
        ("v0.9.19", {}, ["note"]),
        ("v0.9.19", {"disruption": {"protectStartup": False}}, []),
        ("v0.9.19", {"disruption": {"protectAlways": True}}, []),
        ("v0.9.19", {"disruption": {}, "podAnnotations": {"karpenter.sh/do-not-disrupt": "false"}}, []),
    ],
)
def test_the_operator_never_ends_its_default_protection(release: str, fields: Object, severities: list[str]) -> None:
    fleet = operated(release, isvc(image="x/y:1", **fields), model())
    found = [str(p.severity) for p in fleet.problems if "karpenter.sh/do-not-disrupt" in p.reason]
    assert found == severities


@pytest.mark.parametrize(
    ("release", "runtime", "image"),
    [
        ("v0.8.7", VLLM, "vllm/vllm-openai:v0.20.0"),
        ("v0.9.8", VLLM, "vllm/vllm-openai:v0.20.0"),
        ("v0.9.9", VLLM, "vllm/vllm-openai:v0.25.1"),
        ("v0.9.19", TGI, "ghcr.io/huggingface/text-generation-inference:3.3.7"),
        ("v0.9.19", ON_GPU, "ghcr.io/ggml-org/llama.cpp:server-cuda-b10068"),
    ],
)
def test_the_default_image_is_that_of_the_release(release: str, runtime: Object, image: str) -> None:
    """DefaultImage of runtime_vllm.go, runtime_tgi.go and runtime_llamacpp.go at the tags."""
    source = HTTP if runtime is ON_GPU else "a/b"
    fleet = operated(release, isvc(**runtime), model(source=source, hardware=gpu(1)))
    (workload,) = [workload for _, workload in fleet.workloads]
    assert workload.body["spec"]["template"]["spec"]["containers"][0]["image"] == image


def test_the_claim_of_the_router_is_that_of_its_own_volume() -> None:
    """The operator of v0.9.19 creates the Deployment, with the volume of the service and none of the Model."""
    mounted: Object = {
        "extraVolumes": [{"name": "w", "persistentVolumeClaim": {"claimName": "models"}}],
        "extraVolumeMounts": [{"name": "w", "mountPath": "/models"}],
    }
    service = isvc(runtime="llamacpp-router", image="x/y:1", **mounted)
    assert not errors(operated("v0.9.19", service, model(source="pvc://models/dir")))


def test_a_manifest_of_a_later_release_needs_the_release() -> None:
    manifests = loaded([isvc(suspend=True, image="x/y:1"), model()])
    fleet = render_fleet(manifests.resources, Options(realization=Realization.OPERATOR))
    found: list[Any] = [p for p in fleet.problems if p.rule == "release-mismatch"]
    assert [p.path for p in found] == ["spec.suspend"]
    assert "v0.9.11 to v0.9.19" in found[0].reason

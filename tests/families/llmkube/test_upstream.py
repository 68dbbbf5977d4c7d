"""What a declared release of LLMKube lacks is refused with the releases that have it; without one it is accepted."""

import pytest

from components.contract.problems import path_parts
from components.families import parse
from components.families.llmkube.family import RELEASES

API = "inference.llmkube.dev/v1alpha1"
LATER = [  # config/crd/bases of defilantech/LLMKube: a field and the first tag with it
    ("InferenceService", "spec.endpoint.gateway", "{gatewayRef: {name: g}}", "v0.8.8"),
    ("InferenceService", "spec.disruption", "{}", "v0.8.12"),
    ("InferenceService", "spec.mode", "rerank", "v0.8.20"),
    ("InferenceService", "spec.sglangConfig", "{}", "v0.9.4"),
    ("InferenceService", "spec.suspend", "true", "v0.9.11"),
    ("Model", "spec.mmproj", "p.gguf", "v0.8.18"),
    ("Model", "spec.prefetch", "true", "v0.9.11"),
]


def manifest(kind: str, path: str, value: str) -> str:
    *parents, last = map(str, path_parts(path))
    text = f"{{{last}: {value}}}"
    for parent in reversed(parents[1:]):
        text = f"{{{parent}: {text}}}"
    needed = "source: a/b" if kind == "Model" else "modelRef: m"
    return f"apiVersion: {API}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{needed}, {text[1:-1]}}}\n"


@pytest.mark.parametrize(("kind", "path", "value", "since"), LATER)
def test_a_field_is_refused_before_its_release_only(kind: str, path: str, value: str, since: str) -> None:
    text = manifest(kind, path, value)
    before = RELEASES.names[RELEASES.names.index(since) - 1]
    (problem,) = parse(text, releases={"llmkube": before}).problems
    assert problem.path == path
    assert f"unknown field of LLMKube {before}; {since} to v0.9.19 have it" in problem.reason
    assert "workbench migrate" in problem.reason
    assert "remove it" not in problem.reason
    assert not parse(text, releases={"llmkube": since}).problems
    assert not parse(text).problems


@pytest.mark.parametrize(("release", "ok"), [("", True), ("v0.9.3", False), ("v0.9.4", True)])
def test_a_value_is_refused_before_its_release_only(release: str, *, ok: bool) -> None:
    text = manifest("InferenceService", "spec.runtime", "sglang")
    problems = parse(text, releases={"llmkube": release} if release else {}).problems
    assert bool(problems) is not ok


def test_a_misspelt_field_is_none_of_a_later_release() -> None:
    text = (
        "apiVersion: inference.llmkube.dev/v1alpha1\nkind: Model\nmetadata: {name: x}\nspec: {source: a/b, frmat: c}"
    )
    (problem,) = parse(text).problems
    assert problem.reason == "unknown field; did you mean 'format'?"


# A rule over several fields (x-kubernetes-validations of the definitions): the releases with it, and what it refuses.
CLAIM = "{name: c, resourceClaimName: d}"
RULES = [
    ("Model", "{hardware: {gpu: {resourceName: a/b}}}", "v0.8.8", True),
    ("Model", "{hardware: {gpu: {resourceName: a/b}}}", "v0.8.9", False),  # its rule cannot be evaluated
    ("Model", "{hardware: {gpu: {resourceName: a/b, resourceClaims: []}}}", "v0.8.9", True),
    ("Model", "{hardware: {gpu: {resourceName: a/b}}}", "v0.8.10", True),
    ("Model", f"{{hardware: {{gpu: {{resourceName: a/b, resourceClaims: [{CLAIM}]}}}}}}", "v0.9.19", False),
    ("Model", "{hardware: {gpu: {resourceClaims: [{name: c}]}}}", "v0.9.19", False),
    ("Model", "{hardware: {gpu: {resourceClaims: [{name: c, resourceClaimName: d, resourceClaimTemplateName: e}]}}}",
     "", False),
    ("InferenceService", "{modelCache: {claimName: c, persistence: Ephemeral}}", "v0.9.15", False),
    ("InferenceService", "{speculativeDecoding: {type: draft}}", "v0.9.14", True),
    ("InferenceService", "{speculativeDecoding: {type: draft}}", "v0.9.15", False),
    ("InferenceService", "{speculativeDecoding: {type: draft}}", "v0.9.18", False),
    ("InferenceService", "{speculativeDecoding: {type: draft, draftModelRef: d}}", "v0.9.18", True),
    ("InferenceService", "{speculativeDecoding: {type: mtp, draftModelRef: d}}", "v0.9.18", False),
    ("InferenceService", "{speculativeDecoding: {type: draft-mtp, draftModelRef: d}}", "v0.9.18", True),
    ("InferenceService", "{speculativeDecoding: {type: draft, draftModelRef: d, draftModel: e}}", "v0.9.18", False),
    ("InferenceService", "{resources: {gpuSharing: {mode: partitioned}}}", "v0.9.9", False),
    ("InferenceService", "{resources: {gpuSharing: {mode: partitioned, profile: 1g.5gb}}}", "v0.9.9", True),
    ("InferenceService", "{resources: {gpuSharing: {profile: 1g.5gb}}}", "", False),
    ("InferenceService", "{resources: {gpuSharing: {memoryLimitGiB: 3}}}", "", False),
    ("InferenceService", "{slo: {objective: '49.9'}}", "v0.9.8", False),
    ("InferenceService", "{slo: {objective: '99.999'}}", "v0.9.8", True),
    ("InferenceService", "{slo: {objective: '99', indicator: latency}}", "v0.9.8", False),
    ("InferenceService", "{turboQuantBits: 4}", "", False),
    ("InferenceService", "{turboQuantBits: 6}", "v0.8.23", True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "spec", "release", "ok"), RULES)
def test_rules_of_a_release(kind: str, spec: str, release: str, *, ok: bool) -> None:
    needed = "source: a/b" if kind == "Model" else "modelRef: m"
    text = f"apiVersion: {API}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{needed}, {spec[1:-1]}}}\n"
    problems = parse(text, releases={"llmkube": release} if release else {}).problems
    assert bool(problems) is not ok, list(map(str, problems))


@pytest.mark.parametrize(
    ("spec", "ok"),
    [
        ("{gpuCount: 4, namespaceRef: a}", True),
        ("{gpuCount: 4, selector: {matchLabels: {a: b}}}", True),
        ("{gpuCount: 4}", False),
        ("{gpuCount: 4, namespaceRef: a, selector: {}}", False),
        ("{namespaceRef: a}", False),
    ],
)
def test_a_quota_has_one_scope(spec: str, *, ok: bool) -> None:
    text = f"apiVersion: {API}\nkind: GPUQuota\nmetadata: {{name: x}}\nspec: {spec}\n"
    assert bool(parse(text, releases={"llmkube": "v0.9.6"}).problems) is not ok

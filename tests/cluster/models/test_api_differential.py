"""Our validators against our CustomResourceDefinitions on a real API server, over generated documents.

Both must accept and refuse the same, and store the same. ``INFERENCE_PLATFORM_EXAMPLES`` makes it try more.
"""

import os
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.schema.crds import crd
from components.contract.schema.defaults import USER_METADATA, with_defaults
from components.families import kinds
from tests.contract.breaking import broken, sent
from tests.contract.documents import DOCUMENTS, Document
from tests.contract.documents import kind_of as any_release_of
from tests.families.kthena.api.table import KINDS as KTHENA
from tests.families.kthena.random import documents, faults
from tests.families.llmd.random.documents import document as variant
from tests.families.llmd.random.faults import wrong as wrong_variant
from tests.families.llmkube.api.documents import inference_services, models
from tests.families.llmkube.api.wrong import wrong
from tests.families.llmkube.random.faults import merged
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", "600"))
LLMKUBE = st.one_of(
    inference_services(), models(), *(wrong(k).map(lambda w: w.document) for k in ("InferenceService", "Model"))
)
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test"}


@pytest.fixture(scope="module")
def server(cluster: Running) -> Iterator[Kube]:
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        for kind in kinds():
            kube.apply(crd(kind), manager="test")
        for kind in kinds():
            _established(kube, kind.crd_name)
        yield kube


def _established(kube: Kube, name: str) -> None:
    for _ in range(100):
        found = kube.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
        conditions = {c["type"]: c for c in found.get("status", {}).get("conditions") or ()}
        if conditions.get("Established", {}).get("status") == "True":
            assert conditions.get("NonStructuralSchema", {}).get("status") != "True"
            return
        time.sleep(0.1)
    pytest.fail(f"{name} was not established")


def kind_of(document: Document) -> Kind:
    """Return the kind of a document in the release of the definition on the server."""
    kind = any_release_of(document)
    contract = kind.releases.contract
    return kind.at(contract if not contract or kind.releases.covers(kind.span, contract) else kind.span.since)


def answer(kube: Kube, document: Document) -> dict[str, Any] | str:
    """Return the object as stored, or why it is refused."""
    kind = kind_of(document)
    namespace = "namespaces/default/" if kind.namespaced else ""
    path = f"/apis/{kind.api_version}/{namespace}{kind.plural}"
    for _ in range(50):
        try:
            return kube.request("POST", path, params=STRICT, body=sent(document))
        except KubeError as error:
            if error.status not in (404, 429, 503):
                return error.message
            time.sleep(0.1)  # a new kind is served a moment after it is established
    return pytest.fail(f"{path} is not served")


def compare(kube: Kube, document: Document) -> None:
    kind = kind_of(document)
    resource, found = check(document, kind)
    stored = answer(kube, document)
    if isinstance(stored, str):
        assert found, f"only the server refuses: {stored}"
        return
    assert resource is not None, f"only we refuse: {found}"
    stored.pop("status", None)
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key in USER_METADATA}
    expected = with_defaults(LoadedResource.from_program(resource, kind))
    if kind.namespaced:
        expected["metadata"].setdefault("namespace", "default")
    assert _as_floats(stored) == _as_floats(expected)


def _as_floats(value: Any) -> Any:
    """Return a value whose integers of more than 64 bits are floats: the server has no others, and rounds them."""
    if isinstance(value, dict):
        return {key: _as_floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: f"{d['kind']}-{d['metadata']['name']}")
def test_good_documents(server: Kube, document: Document) -> None:
    assert check(document, kind_of(document))[1] == []
    compare(server, document)


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
@given(document=st.sampled_from(DOCUMENTS), seed=st.integers(0, 2**40), times=st.integers(1, 3))
def test_generated_documents(server: Kube, document: Document, seed: int, times: int) -> None:
    changed = broken(document, Random(seed), times)
    if (
        changed["metadata"].get("namespace", "default") not in ("default", None)
        or "generateName" in changed["metadata"]
    ):
        return
    compare(server, changed)


@settings(
    max_examples=EXAMPLES // 2,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)
@given(document=LLMKUBE)
def test_documents_made_from_the_contract(server: Kube, document: Document) -> None:
    compare(server, document)


@pytest.mark.parametrize("kind", KTHENA)
def test_random_documents_of_kthena(server: Kube, kind: str) -> None:
    for seed in range(EXAMPLES // 20):
        document = documents.document(kind, Random(seed))
        assert check(document, kind_of(document))[1] == [], seed
        compare(server, document)


@pytest.mark.parametrize("kind", KTHENA)
def test_random_wrong_documents_of_kthena(server: Kube, kind: str) -> None:
    for seed in range(EXAMPLES // 20):
        document = faults.wrong(kind, Random(seed)).document
        assert isinstance(answer(server, document), str), seed
        compare(server, document)


def test_random_documents_of_llmd(server: Kube) -> None:
    for seed in range(EXAMPLES // 20):
        document = variant(Random(seed))
        assert check(document, kind_of(document))[1] == [], seed
        compare(server, document)


def test_random_wrong_documents_of_llmd(server: Kube) -> None:
    for seed in range(EXAMPLES // 20):
        document = wrong_variant(Random(seed)).document
        assert isinstance(answer(server, document), str), seed
        compare(server, document)


# A misspelt rule in both the type and its CEL would agree; these expectations come from the contract.
@pytest.mark.parametrize(
    ("index", "path", "value"),
    [
        (3, ("spec", "elasticConfig", "minReplicas"), 0),
        (3, ("spec", "elasticConfig", "minReplicas"), 3),
        (3, ("spec", "replicas"), 3.0),
        (3, ("spec", "replicas"), -1),
        (3, ("spec", "modelClaim"), None),
        (3, ("spec", "unknown"), 1),
        (3, ("status",), {"unknown": 1}),
        (3, ("spec", "backendRuntimeConfig", "resources", "limits", "cpu"), "1"),
        (4, ("spec", "modelClaims", "models", 1, "role"), "main"),
        (4, ("spec", "modelClaims", "models", 0, "role"), "draft"),
        (1, ("spec", "source", "uri"), "gs://b/p"),
        (1, ("metadata", "name"), "with.dot"),
        (2, ("spec", "source", "modelHub", "name"), "ModelScope"),
        (5, ("spec", "workloadTemplate", "workerTemplate", "spec", "containers", 0, "name"), "other"),
        (7, ("spec", "leaderWorkerTemplate", "size"), 0),
        (8, ("spec", "contextSize"), 127),
        (8, ("spec", "replicas"), 11),
        (8, ("spec", "replicas"), 2.0),
        (8, ("spec", "ropeScaling", "factor"), "2."),
        (9, ("spec", "vllmConfig", "gpuMemoryUtilization"), 0),
        (9, ("spec", "vllmConfig", "gpuMemoryUtilization"), 1),
        (9, ("spec", "autoscaling", "maxReplicas"), None),
        (13, ("spec", "gateway"), {}),
        (14, ("spec", "sha256"), "abc"),
        (15, ("spec", "source"), "a"),
        (7, ("spec", "leaderWorkerTemplate", "subGroupPolicy", "subGroupSize"), 3 * 2),
        (7, ("spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable"), "33%"),
    ],
)
def test_what_the_contract_refuses(server: Kube, index: int, path: tuple[Any, ...], value: Any) -> None:
    document = broken(DOCUMENTS[index], Random(0), 0)
    owner: Any = document
    for part in path[:-1]:
        owner = owner[part]
    owner[path[-1]] = value
    assert isinstance(answer(server, document), str)
    compare(server, document)


GANG = {"spec": {"template": {"gangPolicy": {"minRoleReplicas": {"leader": 1}}}}}


@pytest.mark.parametrize(
    ("kind", "before", "after", "reason"),
    [
        ("ModelRoute", {"spec": {"modelName": "a"}}, {"spec": {"modelName": "b"}}, "modelName is immutable"),
        ("ModelRoute", {"spec": {"modelName": "a"}}, {"spec": {"modelName": "a", "loraAdapters": ["l"]}}, ""),
        ("ModelServing", GANG, {"spec": {"template": {}}}, "gangPolicy cannot be removed once set"),
        ("ModelServing", GANG, {"spec": {"template": {"gangPolicy": {}}}}, "minRoleReplicas can neither be changed"),
        (
            "ModelServing",
            GANG,
            {"spec": {"template": {"gangPolicy": {"minRoleReplicas": {"leader": 0}}}}},
            "minRoleReplicas can neither be changed nor removed once set",
        ),
        ("ModelServing", GANG, {"spec": {**GANG["spec"], "replicas": 2}}, ""),
        ("ModelServing", {"spec": {"template": {"gangPolicy": {}}}}, GANG, ""),
    ],
)
def test_what_may_not_be_changed(server: Kube, kind: str, before: Document, after: Document, reason: str) -> None:
    """Upstream's rules about what was there before (Kthena spec 1.2, 5): only the API server knows it."""
    least = next(d for d in DOCUMENTS if d["kind"] == kind and d["metadata"]["name"] in ("least", "adapters"))
    place = kind, least["metadata"]["name"], "default"
    api_version = least["apiVersion"]
    stored = server.create(merged(least, before))
    try:
        changed = merged({**least, "metadata": stored["metadata"]}, after)
        path = server.path(api_version, *place)
        if reason:
            with pytest.raises(KubeError, match=reason):
                server.request("PUT", path, body=changed)
        else:
            server.request("PUT", path, body=changed)
    finally:
        server.delete(api_version, *place)

"""Every release of llmaz on a real API server: our validators and our CustomResourceDefinitions agree in each.

Documents are those of all releases, unchanged and with changes. ``INFERENCE_PLATFORM_EXAMPLES`` makes it try more.
"""

import os
import time
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.schema.crds import crd
from components.contract.schema.defaults import USER_METADATA, with_defaults
from components.families.llmaz.kinds import BACKEND_RUNTIME, OPEN_MODEL, PLAYGROUND, RELEASES, SERVICE
from tests.contract.breaking import broken, sent
from tests.families.llmaz.generated import manifests
from tests.fleets import Object
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", "2000")) // 20
KINDS = {kind.kind: kind for kind in (OPEN_MODEL, BACKEND_RUNTIME, PLAYGROUND, SERVICE)}
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test"}
MARK = "servedRelease"
"""A field that tells whether the server has the definition of a release already."""


def definition(kind: Kind, release: str) -> Object:
    made = crd(kind.at(release))
    root = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["spec"]["properties"][MARK] = {"type": "string", "enum": [release]}
    return made


def answer(kube: Kube, document: Object) -> Object | str:
    """Return the object as stored, or why it is refused."""
    kind = KINDS[document["kind"]]
    namespace = "namespaces/default/" if kind.namespaced else ""
    try:
        path = f"/apis/{kind.api_version}/{namespace}{kind.plural}"
        return kube.request("POST", path, params=STRICT, body=sent(document))
    except KubeError as error:
        return error.message if error.status in (400, 422) else f"{error.status}"


def serves(kube: Kube, kind: Kind, release: str) -> bool:
    """Whether the server has the definition: another mark than its own is refused with the value."""
    document = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"}, "spec": {MARK: "none"}}
    found = answer(kube, document)
    return isinstance(found, str) and f'supported values: "{release}"' in found


@pytest.fixture(scope="module", params=RELEASES.names)
def server(request: pytest.FixtureRequest, cluster: Running) -> Iterator[tuple[Kube, str]]:
    release = request.param
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        for kind in KINDS.values():
            kube.apply(definition(kind, release), manager="test")
        deadline = time.monotonic() + 60
        while not all(serves(kube, kind, release) for kind in KINDS.values()):
            assert time.monotonic() < deadline, f"the definitions of {release} are not served"
            time.sleep(0.2)
        yield kube, release


def compare(server: tuple[Kube, str], document: Object) -> None:
    kube, release = server
    kind = KINDS[document["kind"]].at(release)
    resource, found = check(document, kind)
    stored = answer(kube, document)
    if isinstance(stored, str):
        assert found, f"only the server refuses {document}: {stored}"
        return
    assert resource is not None, f"only we refuse {document}: {found}"
    stored.pop("status", None)
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key in USER_METADATA}
    expected = with_defaults(LoadedResource.from_program(resource, kind))
    if kind.namespaced:
        expected["metadata"].setdefault("namespace", "default")
    assert stored == expected


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
@given(
    documents=st.sampled_from(RELEASES.names).flatmap(manifests),
    seed=st.integers(0, 2**40),
    times=st.integers(0, 2),
)
def test_a_release_accepts_and_stores_what_we_do(
    server: tuple[Kube, str], documents: list[Object], seed: int, times: int
) -> None:
    for document in documents:
        changed = broken(document, Random(seed), times)
        metadata = changed["metadata"]
        if metadata.get("namespace", "default") in ("default", None) and "generateName" not in metadata:
            compare(server, changed)


@settings(max_examples=EXAMPLES // 5, derandomize=True, deadline=None, phases=[Phase.generate])
@given(data=st.data())
def test_a_release_accepts_its_own_manifests(server: tuple[Kube, str], data: st.DataObject) -> None:
    _, release = server
    for document in data.draw(manifests(release)):
        assert check(document, KINDS[document["kind"]].at(release))[1] == []
        compare(server, document)

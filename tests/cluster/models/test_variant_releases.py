"""VariantAutoscalings in every release against its definition on a real API server, over generated documents.

Both must accept and refuse the same, and store the same. The definitions of the releases are served side by side,
each in an API group of its own. ``INFERENCE_PLATFORM_EXAMPLES`` makes it try more. ``INFERENCE_PLATFORM_WVA_CRDS``
names a folder with upstream's own definitions, as ``RELEASE.yaml``, to serve instead of ours.
"""

import copy
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.schema.crds import crd
from components.contract.schema.defaults import USER_METADATA, with_defaults
from components.families.llmd.kinds import RELEASES, VARIANT_AUTOSCALING, kind_at
from tests.contract.breaking import broken, sent
from tests.families.llmd.releases.test_migration import documents
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running

Object = dict[str, Any]
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", "150"))
NAMES = [name for name in RELEASES.names if VARIANT_AUTOSCALING.at(name).exists]
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test"}


def group_of(release: str) -> str:
    return f"r-{release.replace('.', '-')}.llmd.ai"


def definition(release: str) -> Object:
    """Return the definition of a release, in a group of its own."""
    folder = os.environ.get("INFERENCE_PLATFORM_WVA_CRDS")
    if folder:
        found = yaml.safe_load_all((Path(folder) / f"{release}.yaml").read_text(encoding="utf-8"))
        body: Object = next(each for each in found if each)
    else:
        body = copy.deepcopy(crd(kind_at(release)))
    body["spec"]["group"] = group_of(release)
    body["metadata"]["name"] = f"variantautoscalings.{group_of(release)}"
    return body


@pytest.fixture(scope="module")
def server(cluster: Running) -> Iterator[Kube]:
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}, manager="test")
        for release in NAMES:
            kube.apply(definition(release), manager="test")
        yield kube


def answer(kube: Kube, release: str, document: Mapping[str, Any]) -> Object | str:
    """Return the object as stored, or why it is refused."""
    path = f"/apis/{group_of(release)}/v1alpha1/namespaces/ns/variantautoscalings"
    body = {**sent(dict(document)), "apiVersion": f"{group_of(release)}/v1alpha1"}
    for _ in range(100):
        try:
            return {**kube.request("POST", path, params=STRICT, body=body), "apiVersion": "llmd.ai/v1alpha1"}
        except KubeError as error:
            if error.status not in (404, 429, 503) or "namespaces" in error.message:
                return error.message
            time.sleep(0.1)  # a new kind is served a moment after it is established
    return pytest.fail(f"{path} is not served")


def compare(kube: Kube, release: str, document: Object) -> None:
    kind: Kind = kind_at(release)
    resource, found = check(document, kind)
    stored = answer(kube, release, document)
    if isinstance(stored, str):
        assert found, f"only the server refuses: {stored}"
        return
    assert resource is not None, f"only we refuse: {found}"
    stored.pop("status", None)
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key in USER_METADATA}
    assert stored == with_defaults(LoadedResource.from_program(resource, kind))


@pytest.mark.parametrize("release", NAMES)
def test_the_server_and_we_agree(server: Kube, release: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(document=documents(release), seed=st.integers(0, 2**40), faults=st.integers(0, 2))
    def run(document: Object, seed: int, faults: int) -> None:
        changed = broken(document, Random(seed), faults) if faults else document
        metadata = changed.get("metadata")
        if changed.get("apiVersion") != document["apiVersion"] or changed.get("kind") != document["kind"]:
            return  # of another kind
        if not isinstance(metadata, dict) or metadata.get("namespace") != "ns" or "generateName" in metadata:
            return  # at another path
        if "spec" not in changed:
            return  # stricter here: upstream's definition accepts it
        compare(server, release, changed)

    run()


@pytest.mark.parametrize(("origin", "target"), [(a, b) for a in NAMES for b in NAMES if a != b])
def test_a_manifest_of_another_release_gets_the_verdict_of_the_server(server: Kube, origin: str, target: str) -> None:
    @settings(max_examples=max(1, EXAMPLES // 30), derandomize=True, deadline=None, phases=[Phase.generate])
    @given(documents(origin))
    def run(document: Object) -> None:
        compare(server, target, document)

    run()

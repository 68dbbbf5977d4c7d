"""A namespace for each test."""

from collections.abc import Iterator

import pytest

from tests.cluster.waiting import eventually, gone
from toolkit.kube import Kube


@pytest.fixture
def namespace(kube: Kube, request: pytest.FixtureRequest) -> Iterator[str]:
    name = request.node.name.replace("_", "-").replace("[", "-").replace("]", "")[:60].strip("-").lower()
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager="test")
    eventually(lambda: not gone(kube, "v1", "ServiceAccount", "default", name), "default service account")
    yield name
    kube.delete("v1", "Namespace", name)

"""Kthena's kinds in every release against their definitions on a real API server, over generated documents.

Both must accept and refuse the same, and store the same. ``INFERENCE_PLATFORM_EXAMPLES`` makes it try more.
"""

from collections.abc import Iterator
from random import Random

import pytest

from components.families import kinds
from components.families.kthena.kinds import BINDING, MODEL_BOOSTER, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from tests.cluster.models.release_definitions import cases, difference, examples, install, is_comparable
from tests.contract.breaking import broken
from tests.families.kthena.random.later import document
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

CASES = cases([MODEL_BOOSTER, MODEL_SERVING, POLICY, BINDING, MODEL_SERVER, MODEL_ROUTE])
EXAMPLES = examples(40)
WEBHOOK = (
    "is required, because neither the role nor the policy has one",
    "is required: it tells where the metrics of the role come from",
    "is no metric of the role",
    "must fit the bounds of its roles",
    "is required: name the ModelServing to scale",
)
"""Rules of v1.0.0's webhook that our definitions lack, most of them because of the API server's budget for CEL."""


@pytest.fixture(scope="module")
def server(cluster: Running) -> Iterator[Kube]:
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        install(kube, [kinds().by_name(name).at(release) for name, release in CASES])
        yield kube


@pytest.mark.parametrize(("name", "release"), CASES)
def test_the_server_and_we_agree(server: Kube, name: str, release: str) -> None:
    kind, differences = kinds().by_name(name).at(release), []
    for seed in range(EXAMPLES):
        random = Random(seed)
        original = document(name, release, random)
        changed = broken(original, random, random.randrange(3))
        if is_comparable(kind, original, changed):
            found = difference(server, kind, changed, WEBHOOK)
            differences += [(seed, found)] if found else []
    assert differences == []

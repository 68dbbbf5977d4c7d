"""LLMKube's kinds in every release against their definitions on a real API server, over generated documents.

Both must accept and refuse the same, and store the same. ``INFERENCE_PLATFORM_EXAMPLES`` makes it try more.
"""

from collections.abc import Iterator
from random import Random

import pytest

from components.contract.schema.narrowing import release_graph
from tests.cluster.models.release_definitions import cases, difference, examples, install, is_comparable
from tests.contract.breaking import broken, grown
from tests.families.llmkube.api.test_releases import KINDS
from tests.families.llmkube.test_migration import document
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

CASES = cases(KINDS.values())
EXAMPLES = examples(40)


@pytest.fixture(scope="module")
def server(cluster: Running) -> Iterator[Kube]:
    with Kube.from_kubeconfig(cluster.kubeconfig) as kube:
        install(kube, [KINDS[name].at(release) for name, release in CASES])
        yield kube


@pytest.mark.parametrize(("name", "release"), CASES)
def test_the_server_and_we_agree(server: Kube, name: str, release: str) -> None:
    kind, differences = KINDS[name].at(release), []
    for seed in range(EXAMPLES):
        random = Random(seed)
        original = document(random, name, release)
        original["metadata"] = {"name": "x"}
        changed = grown(original, random, random.randrange(4), release_graph(KINDS[name], release))
        changed = broken(changed, random, random.randrange(3))
        if is_comparable(kind, original, changed):
            found = difference(server, kind, changed)
            differences += [(seed, found)] if found else []
    assert differences == []

"""Random fleets of Kthena's kinds: whatever is valid by itself is rendered or refused, and twice the same."""

from collections.abc import Callable
from random import Random

import pytest
import yaml

from components.families import objects
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.contract.breaking import broken
from tests.families.kthena.api.table import KINDS
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.documents import document
from tests.layers.modules import ROOT

WHOLE: list[Object] = list(yaml.safe_load_all((ROOT / "components/families/kthena/samples/fields.yaml").read_text()))
"""Resources that fit one another."""


def strangers(random: Random) -> list[Object]:
    """One of each kind, with names that may meet."""
    found = [document(kind, random) for kind in KINDS]
    for each in found:
        each["metadata"]["name"] = random.choice(("groups", "a", "chat-a", "policy", "s"))
    return found


def changed(random: Random) -> list[Object]:
    """Some of those that fit, a few of them with a random change."""
    chosen = random.sample(WHOLE, random.randint(1, 8))
    return [broken(each, random, random.randrange(3)) if random.random() < 0.5 else each for each in chosen]


@pytest.mark.parametrize("realization", list(Realization))
@pytest.mark.parametrize("fleet", [strangers, changed])
def test_whatever_is_valid_is_rendered_or_refused(
    realization: Realization, fleet: Callable[[Random], list[Object]]
) -> None:
    rendered = 0
    for seed in range(150):
        manifests = objects(fleet(Random(seed)))
        first, second = (render_fleet(manifests.resources, Options(realization=realization)) for _ in range(2))
        assert [item.objects for item in first.rendered] == [item.objects for item in second.rendered], seed
        assert [str(p) for p in first.problems] == [str(p) for p in second.problems], seed
        rendered += len(first.rendered)
    assert rendered

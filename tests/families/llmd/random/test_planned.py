"""Random VariantAutoscalings beside what they scale: the plan always answers, and says the same again."""

from random import Random
from typing import Any

import pytest

from components.contract.problems import Problem
from components.families import objects
from components.fleet.levels import LatencyTargets, ServiceClass, ServiceLevels
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.llmd import support
from tests.families.llmd.api.samples import LABEL, Document
from tests.families.llmd.random.documents import document

SEEDS = range(150)


def arranged(seed: int) -> tuple[list[Document], dict[str, Any]]:
    """A variant with a workload of its name, mostly labelled, promised and asked for."""
    random = Random(seed)
    variant = document(random)
    variant["metadata"] |= {"name": "chat", "namespace": "ns"}
    entries = variant["spec"]["modelProfile"]["accelerators"]
    if random.random() < 0.8:
        usual = random.choice(("L4", "H100", "A100"))
        entries[0] |= {"acc": usual, "accCount": random.choice((1, 1, 1, 2, 2**63 - 1))}
        variant["metadata"]["labels"] = {LABEL: usual}
    if random.random() < 0.5:
        entries[0] |= {"alpha": "7.77", "beta": "0.15", "maxBatchSize": random.choice((2, 4, 64))}
    if random.random() < 0.7:
        variant["spec"]["modelID"] = support.MODEL
    targets = {variant["spec"]["modelID"]: LatencyTargets(random.choice((0, 24, 2**40)), random.choice((0, 1, 500)))}
    asked = support.levels(support.per_minute(random.choice((0.001, 40, 1e9)), output=random.choice((1, 178, 1e6))))
    classes = (ServiceClass("Premium", 1, targets),) if random.random() < 0.9 else ()
    options = {"levels": ServiceLevels(classes, asked.loads if random.random() < 0.9 else {}, asked.accelerators)}
    return [*support.of_llmkube(), variant], options


def planned(documents: list[Document], how: Realization, **options: Any) -> tuple[Problem, ...]:
    manifests = objects(documents)
    assert not manifests.problems
    return plan(manifests, Environment(options=Options(realizations={"llmd": how}, **options))).problems


@pytest.mark.parametrize("how", Realization)
def test_there_is_always_an_answer(how: Realization) -> None:
    sized = 0
    for seed in SEEDS:
        documents, options = arranged(seed)
        found = planned(documents, how, **options)
        sized += not any(each.is_error for each in found)
        assert [str(each) for each in found] == [str(each) for each in planned(documents, how, **options)], seed
        assert all(str(each).isprintable() for each in found), seed
    assert 5 < sized < len(SEEDS), "some of them work, and some do not"

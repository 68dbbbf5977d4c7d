"""No field of a ModelBooster is dropped silently: each changes what comes out, or is told of."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.families.kthena.booster.support import POLICY, Object, backend, booster, pair, worker
from tests.fleets import fleet_of

CONTRACT = Path(__file__).parents[1] / "data/contract.csv"
TYPES = ("ModelBoosterSpec", "ModelBackend", "ModelWorker", "LoraAdapter")
PLAIN = booster("m")
SHARED = booster("m", backend(scalingCost=1, maxReplicas=2), autoscalingPolicy=POLICY, costExpansionRatePercent=100)
TWO = booster("m", backend(routeWeight=50), backend("c", routeWeight=50))
LORA = booster("m", backend(loraAdapters=[{"name": "a", "artifactURL": "hf://org/a"}]))
SECRET = [{"secretRef": {"name": "s"}}]
AFFINITY: Object = {"podAntiAffinity": {}}


def of_backend(document: Object, **fields: object) -> Object:
    """The document with other fields of its first backend."""
    first, *rest = document["spec"]["backends"]
    return {**document, "spec": {**document["spec"], "backends": [{**first, **fields}, *rest]}}


def of_worker(**fields: Any) -> Object:
    return booster("m", backend(workers=[worker(**fields)]))


EDITS: dict[tuple[str, str], tuple[Object, Object]] = {
    ("ModelBoosterSpec", "name"): (PLAIN, booster("m", name="x")),
    ("ModelBoosterSpec", "owner"): (PLAIN, booster("m", owner="o")),
    ("ModelBoosterSpec", "backends"): (PLAIN, booster("m", backend("c"))),
    ("ModelBoosterSpec", "autoscalingPolicy"): (
        SHARED,
        {
            **SHARED,
            "spec": {
                **SHARED["spec"],
                "autoscalingPolicy": {"metrics": [{**POLICY["metrics"][0], "targetValue": 3}]},
            },
        },
    ),
    ("ModelBoosterSpec", "costExpansionRatePercent"): (
        SHARED,
        {**SHARED, "spec": {**SHARED["spec"], "costExpansionRatePercent": 0}},
    ),
    ("ModelBoosterSpec", "modelMatch"): (PLAIN, booster("m", modelMatch={"headers": {"user": {"exact": "a"}}})),
    ("ModelBackend", "name"): (PLAIN, booster("m", backend("c"))),
    ("ModelBackend", "type"): (PLAIN, of_backend(PLAIN, type="SGLang")),
    ("ModelBackend", "modelURI"): (PLAIN, of_backend(PLAIN, modelURI="hf://org/other")),
    ("ModelBackend", "cacheURI"): (PLAIN, of_backend(PLAIN, cacheURI="pvc://c")),
    ("ModelBackend", "envFrom"): (PLAIN, of_backend(PLAIN, envFrom=SECRET)),
    ("ModelBackend", "env"): (PLAIN, of_backend(PLAIN, env=[{"name": "A", "value": "b"}])),
    ("ModelBackend", "minReplicas"): (PLAIN, of_backend(PLAIN, minReplicas=2, maxReplicas=2)),
    ("ModelBackend", "maxReplicas"): (SHARED, of_backend(SHARED, maxReplicas=3)),
    ("ModelBackend", "scalingCost"): (SHARED, of_backend(SHARED, scalingCost=2)),
    ("ModelBackend", "routeWeight"): (TWO, of_backend(TWO, routeWeight=60)),
    ("ModelBackend", "scaleToZeroGracePeriod"): (SHARED, of_backend(SHARED, scaleToZeroGracePeriod="60s")),
    ("ModelBackend", "workers"): (PLAIN, of_worker(image="vllm/vllm-openai:v0.12.0")),
    ("ModelBackend", "loraAdapters"): (PLAIN, LORA),
    ("ModelBackend", "autoscalingPolicy"): (PLAIN, of_backend(PLAIN, autoscalingPolicy=POLICY)),
    ("LoraAdapter", "name"): (LORA, of_backend(LORA, loraAdapters=[{"name": "b", "artifactURL": "hf://org/a"}])),
    ("LoraAdapter", "artifactURL"): (
        LORA,
        of_backend(LORA, loraAdapters=[{"name": "a", "artifactURL": "hf://org/b"}]),
    ),
    ("ModelWorker", "type"): (
        booster("m", pair(prefill={"replicas": 2})),
        booster("m", pair(decode={"replicas": 2})),
    ),
    ("ModelWorker", "image"): (PLAIN, of_worker(image="vllm/vllm-openai:v0.12.0")),
    ("ModelWorker", "replicas"): (PLAIN, of_worker(replicas=2)),
    ("ModelWorker", "pods"): (PLAIN, of_worker(pods=2)),
    ("ModelWorker", "resources"): (PLAIN, of_worker(resources={"requests": {"cpu": "1"}})),
    ("ModelWorker", "affinity"): (PLAIN, of_worker(affinity=AFFINITY)),
    ("ModelWorker", "config"): (PLAIN, of_worker(config={"max-model-len": 1})),
}
ONLY_TOLD = {
    ("ModelBoosterSpec", "name"),
    ("ModelBoosterSpec", "owner"),
    ("ModelBoosterSpec", "costExpansionRatePercent"),
    ("ModelBackend", "scaleToZeroGracePeriod"),
    ("ModelBackend", "scalingCost"),
}


def rows() -> Iterator[tuple[str, str]]:
    for row in csv.DictReader(CONTRACT.read_text().splitlines()[1:]):
        if row["type"] in TYPES:
            yield row["type"], row["field"]


def outcome(document: Object) -> tuple[str, list[str]]:
    fleet = fleet_of(document)
    # What a gateway does is in the endpoints: weights, rules by header.
    results = [
        (
            item.objects,
            [
                (each.model, each.backends, [(header.name, header.value) for header in each.headers])
                for each in item.endpoints
            ],
        )
        for item in fleet.rendered
    ]
    return str(results), [f"{problem.path}: {problem.reason}" for problem in fleet.problems]


def test_every_row_of_the_contract_is_edited() -> None:
    assert set(rows()) == set(EDITS)


@pytest.mark.parametrize("row", EDITS, ids=".".join)
def test_the_field_counts_or_is_told_of(row: tuple[str, str]) -> None:
    (before, _), (after, problems) = map(outcome, EDITS[row])
    if row in ONLY_TOLD:
        assert problems
    else:
        assert before != after

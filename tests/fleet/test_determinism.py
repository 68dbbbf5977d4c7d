"""The same input gives the same bytes, whatever the order of files, keys or hash seeds (decision 58)."""

import os
import random
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.documents.writer import dump_all
from components.families import parse
from components.fleet.nodes.groups import node_groups
from components.fleet.options import Options
from components.fleet.words import WorkloadChoice
from components.plan.rendering import render_fleet
from tests.fleets import SAMPLES

ROOT = Path(__file__).parents[2]
CHOSEN = ("speculative-vllm", "hostpath", "llamacpp", "multi-nodes", "runai-streamer-s3")


def documents() -> list[Any]:
    return [
        document
        for name in CHOSEN
        for document in yaml.safe_load_all((SAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
    ]


def shuffled(value: Any, order: random.Random) -> Any:
    """The same maps with their keys in another order; lists keep theirs, for it means something."""
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def made(source: list[Any], workload: WorkloadChoice) -> tuple[dict[str, Any], list[Any]]:
    """The objects by identity and the order in which they come; keys of user maps stay the user's."""
    manifests = parse(yaml.safe_dump_all(source, sort_keys=False))
    assert not manifests.problems
    fleet = render_fleet(manifests.resources, Options(workload=workload))
    assert not [p for p in fleet.problems if p.severity == "error"]
    found = [body for item in fleet.rendered for body in item.objects]
    return {f"{b['kind']}/{b['metadata']['name']}": b for b in found}, [
        [(b["kind"], b["metadata"]["name"]) for b in found],
        node_groups(fleet),
    ]


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.sampled_from([WorkloadChoice.AUTO, WorkloadChoice.LWS]))
def test_neither_the_order_of_documents_nor_of_keys_matters(order: random.Random, workload: WorkloadChoice) -> None:
    changed = [shuffled(document, order) for document in documents()]
    order.shuffle(changed)
    assert made(changed, workload) == made(documents(), workload)


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_change_a_byte(order: random.Random) -> None:
    changed = documents()
    order.shuffle(changed)

    def text(source: list[Any]) -> str:
        fleet = render_fleet(parse(yaml.safe_dump_all(source, sort_keys=False)).resources)
        return dump_all(body for item in fleet.rendered for body in item.objects)

    assert text(changed) == text(documents())


@pytest.mark.parametrize(
    "words",
    [("render", "--stack", "none", *(str(SAMPLES / f"{name}.yaml") for name in CHOSEN)), ("schema",), ("crds",)],
    ids=itemgetter(0),
)
def test_neither_does_the_hash_seed(words: tuple[str, ...]) -> None:
    def run(seed: str) -> bytes:
        command = [sys.executable, "-m", "workbench", *words]
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("1") == run("2")

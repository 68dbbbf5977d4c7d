"""Popular repositories of the Hugging Face Hub: each has a verdict, or the reason why it has none."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.checks.memory.cases import Fit
from components.checks.memory.verdicts import WorkloadVerdict
from components.families import parse
from components.plan.plan import plan

NAMES = Path(__file__).with_name("popular_models.txt").read_text("utf-8").split()


def manifest(place: int, name: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "vllm/vllm-openai:v0.33.0",
        "args": ["--model", name, "--max-model-len", "4096"],
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    spec = {"nodeSelector": {"node.kubernetes.io/instance-type": "p5en.48xlarge"}, "containers": [container]}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": f"m{place}"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": spec}}},
    }


@pytest.fixture(scope="module")
def verdicts() -> dict[str, WorkloadVerdict]:
    objects = [manifest(place, name) for place, name in enumerate(NAMES)]
    judged = plan(parse(yaml.safe_dump_all(objects))).verdicts
    by_place = {verdict.workload.name: verdict for verdict in judged}
    return {name: by_place[f"m{place}"] for place, name in enumerate(NAMES)}


def test_the_list_has_each_repository_once() -> None:
    assert len(NAMES) == len(set(NAMES)) == 74


def test_none_is_silent(verdicts: dict[str, WorkloadVerdict]) -> None:
    unknown = {name: each.verdict.reason for name, each in verdicts.items() if each.verdict.fit is Fit.UNKNOWN}
    assert all(unknown.values()), unknown


def test_most_have_a_verdict(verdicts: dict[str, WorkloadVerdict]) -> None:
    unknown = {name: each.verdict.reason for name, each in verdicts.items() if each.verdict.fit is Fit.UNKNOWN}
    assert len(NAMES) - len(unknown) >= 65, unknown

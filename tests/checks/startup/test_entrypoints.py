"""Arguments that begin with the subcommand of the entrypoint of their image."""

import copy
from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.families import objects
from components.plan.plan import plan
from tests.checks.memory.fleets import leader_worker_set, pod
from tests.plan.remedies.steps import alternatives, follow

MODEL = "Qwen/Qwen3-8B"


def _documents(image: str, args: list[str], command: list[str] | None = None) -> list[dict[str, Any]]:
    template = pod("g6e.2xlarge", [], 1)
    container = template["spec"]["containers"][0]
    container.pop("command", None)
    container |= {"image": image, "args": [*args, "--max-model-len", "8192"]}
    if command:
        container["command"] = command
    return [leader_worker_set(template)]


def _refused(documents: list[dict[str, Any]]) -> list[Problem]:
    found = plan(objects(copy.deepcopy(documents))).problems
    return [problem for problem in found if problem.rule == RuleId.START_REFUSED]


@pytest.mark.parametrize("tag", ["v0.8.5", "v0.10.0", "v0.20.0", "latest"])
def test_serve_is_no_argument_of_the_image(tag: str) -> None:
    """vllm-project/vllm issue 22072: api_server.py exits on the arguments serve and the model."""
    documents = _documents(f"vllm/vllm-openai:{tag}", ["serve", MODEL])
    (problem,) = _refused(documents)
    assert problem.path == "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].args[0]"
    (step,) = alternatives(problem)
    edited = follow(step, problem, documents, "vllm")
    assert edited
    assert not _refused(edited)


@pytest.mark.parametrize(
    ("image", "args", "command"),
    [
        ("vllm/vllm-openai:v0.10.0", ["serve", MODEL], ["vllm"]),
        ("vllm/vllm-openai:v0.10.0", ["--model", MODEL], None),
        ("vllm/vllm-openai:v0.20.0", [MODEL], None),
        # The entrypoint of another image is not known.
        ("example.com/own/vllm:0.10.0", ["serve", MODEL], None),
    ],
)
def test_other_beginnings_are_not_refused(image: str, args: list[str], command: list[str] | None) -> None:
    assert not _refused(_documents(image, args, command))

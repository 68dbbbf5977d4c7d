"""Variables that a version of vLLM no longer reads (vllm/envs.py), and what to write in their place."""

from pathlib import Path

import pytest

from components.contract.findings.ids import RuleId
from components.families import load
from components.fleet.options import Options
from components.plan.engine_variables import check_engine_variables
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.rendering import render_fleet
from tests.stacks.shipped import ROOT

MODELS = ROOT / "stacks/models"
MANIFEST = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: m, namespace: models}}
spec:
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      spec:
        containers:
        - name: main
          image: vllm/vllm-openai:{tag}
          args: [--model, org/m]
          env: [{{name: {name}, value: "1"}}]
"""


@pytest.mark.parametrize(
    ("tag", "name", "remedy"),
    [
        ("v0.14.1", "VLLM_ATTENTION_BACKEND", None),
        ("v0.15.0", "VLLM_ATTENTION_BACKEND", "(missing since 0.15); remove it, and add --attention-backend"),
        ("latest", "VLLM_ATTENTION_BACKEND", "add --attention-backend"),
        ("v0.11.0", "VLLM_USE_V1", None),
        ("v0.11.1", "VLLM_USE_V1", "(missing since 0.11.1); remove it"),
        # A build of a commit may be of any version.
        ("nightly-e2fa28594f7baad142a426b0b6a2cfe2c79201c7", "VLLM_USE_V1", None),
        ("v0.20.0", "VLLM_LOGGING_LEVEL", None),
    ],
)
def test_a_variable_that_the_version_does_not_read_is_found(
    tmp_path: Path, tag: str, name: str, remedy: str | None
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST.format(tag=tag, name=name))
    problems = plan(load([path]), Environment()).problems
    reasons = [problem.reason for problem in problems if problem.rule == RuleId.FIELD_NO_EFFECT]
    found = [reason for reason in reasons if f"variable {name} has no effect" in reason]
    assert len(found) == (remedy is not None)
    assert all(remedy in reason for reason in found if remedy)


def test_a_variable_that_only_the_rendering_sets_is_not_reported() -> None:
    """Kthena sets VLLM_USE_V1 for every ModelBooster of vLLM, whatever its version."""
    fleet = render_fleet(load([MODELS]).resources, Options())
    own = [
        variable
        for item in fleet.rendered
        if item.source.kind.kind == "ModelBooster"
        for workload in item.workloads
        for variable in workload.container.get("env") or ()
    ]
    assert any(variable["name"] == "VLLM_USE_V1" for variable in own)
    assert not any("VLLM_USE_V1" in problem.reason for problem in check_engine_variables(fleet))

"""Models that do not fit: errors of the plan, at the field that asks for too much."""

from decimal import Decimal
from pathlib import Path

import pytest

from components.checks.memory.shapes import Layers, Shape
from components.checks.memory.workloads.known import KnownShapes, OwnShape
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.families import load
from components.plan.environment import Environment
from components.plan.plan import plan

GIB = 2**30
QWEN = "Qwen/Qwen3-8B"
LLMAZ = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: m}}
spec:
  familyName: qwen
  source: {{modelHub: {{modelID: {model}}}}}
  inferenceConfig:
    flavors: [{{name: only, limits: {{nvidia.com/gpu: 1}}, params: {{INSTANCE-TYPE: {type}}}}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: p}}
spec:
  modelClaim: {{modelName: m}}
  backendRuntimeConfig: {{version: v0.20.0, args: {args}}}
"""
LLMKUBE = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {{name: m}}
spec: {{source: {model}, format: safetensors, hardware: {{accelerator: cuda, gpu: {{count: 1}}}}}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {{name: i}}
spec:
  modelRef: m
  runtime: vllm
  skipModelInit: true
  image: vllm/vllm-openai:v0.20.0
  vllmConfig: {{maxModelLen: {context}}}
  nodeSelector: {{node.kubernetes.io/instance-type: {type}}}
"""
BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {{name: b}}
spec:
  backends:
    - name: b
      type: vLLM
      modelURI: hf://{model}
      minReplicas: 1
      maxReplicas: 1
      workers:
        - image: vllm/vllm-openai:v0.20.0
          replicas: 1
          pods: 1
          config: {{max-model-len: {context}}}
          resources: {{limits: {{nvidia.com/gpu: "1"}}}}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {{key: node.kubernetes.io/instance-type, operator: In, values: [{type}]}}
"""
SET = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: l}}
spec:
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      spec:
        nodeSelector: {{node.kubernetes.io/instance-type: {type}}}
        containers:
          - name: engine
            image: vllm/vllm-openai:v0.20.0
            args: [--model, {model}, --max-model-len, "{context}"]
            resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""


def shape(weights_gib: int) -> KnownShapes:
    """A model of 32 layers that takes 1 GiB of cache for 8,192 tokens: 2 x 32 x 8 x 128 x 2 bytes each."""
    known = Shape(QWEN, weights_bytes=weights_gib * GIB, dtype="bfloat16", layers=(Layers(32, 8, 128, 128),))
    return KnownShapes({QWEN: OwnShape(known, is_sized=True)})


def found(tmp_path: Path, text: str, shapes: KnownShapes, **values: object) -> list[Problem]:
    (tmp_path / "m.yaml").write_text(text.format(model=QWEN, **values), encoding="utf-8")
    planned = plan(load([tmp_path / "m.yaml"]), Environment(shapes=shapes))
    return [problem for problem in planned.problems if problem.rule.startswith("memory-")]


# An L4 has 22.35 GiB, of which vLLM may use nine tenths: 20.1 GiB.
FIELDS = [
    (LLMAZ, {"args": '[--max-model-len, "131072"]'}, "spec.backendRuntimeConfig.args"),
    (LLMKUBE, {"context": 131072}, "spec.vllmConfig.maxModelLen"),
    (BOOSTER, {"context": 131072}, "spec.backends[0].workers[0].config[max-model-len]"),
    (SET, {"context": 131072}, "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].args[3]"),
]
FAMILIES = ("llmaz", "llmkube", "kthena", "leaderworkerset")


@pytest.mark.parametrize(("text", "values", "path"), FIELDS, ids=FAMILIES)
def test_a_context_that_is_too_long_is_told_where_it_is_written(
    tmp_path: Path, text: str, values: dict[str, object], path: str
) -> None:
    (problem,) = found(tmp_path, text, shape(15), type="g6.2xlarge", **values)
    assert (problem.severity, problem.rule) == (Severity.ERROR, RuleId.MEMORY_EXCEEDED)
    assert problem.path == path
    assert f"{QWEN} does not fit g6.2xlarge (L4)" in problem.reason
    assert "the cheapest instance types that fit are " in problem.reason


@pytest.mark.parametrize(("text", "values", "path"), FIELDS, ids=FAMILIES)
def test_nothing_is_told_where_it_fits(tmp_path: Path, text: str, values: dict[str, object], path: str) -> None:
    fitting = {key: str(value).replace("131072", "8192") for key, value in values.items()}
    assert found(tmp_path, text, shape(10), type="g6.2xlarge", **fitting) == []


NODES = [
    (LLMAZ, {"args": '[--max-model-len, "4096"]'}, "spec.modelClaim.modelName"),
    (LLMKUBE, {"context": 4096}, "spec.nodeSelector"),
    (BOOSTER, {"context": 4096}, "spec.backends[0].workers[0].affinity"),
    (SET, {"context": 4096}, "spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector"),
]


@pytest.mark.parametrize(("text", "values", "path"), NODES, ids=FAMILIES)
def test_weights_that_are_too_large_are_told_where_nodes_are_chosen(
    tmp_path: Path, text: str, values: dict[str, object], path: str
) -> None:
    (problem,) = found(tmp_path, text, shape(60), type="g6.2xlarge", **values)
    assert (problem.path, problem.rule, problem.is_error) == (path, RuleId.MEMORY_EXCEEDED, True)


def test_what_hardly_fits_is_a_warning(tmp_path: Path) -> None:
    """Somewhere between what fits and what does not, the arithmetic cannot tell."""
    outcomes = []
    for context in range(8192, 131072, 2048):
        problems = found(tmp_path, SET, shape(12), type="g6.2xlarge", context=context)
        outcomes.append(problems[0].rule if problems else None)
        assert all(problem.is_error == (problem.rule == RuleId.MEMORY_EXCEEDED) for problem in problems)
    assert list(dict.fromkeys(outcomes)) == [None, RuleId.MEMORY_TIGHT, RuleId.MEMORY_EXCEEDED]


def test_what_is_not_checked_is_no_finding(tmp_path: Path) -> None:
    text = SET.replace("{model}", "example/own")
    (tmp_path / "m.yaml").write_text(text.format(type="g6.2xlarge", context=10**6), encoding="utf-8")
    planned = plan(load([tmp_path / "m.yaml"]))
    assert {problem.rule for problem in planned.problems} == {RuleId.DRAIN_MISSING}  # its containers have no hook
    assert [each.text for each in planned.verdicts] == [
        "not checked: unknown model example/own; describe it in modelShapes"
    ]


def test_what_the_settings_say_wrong_is_a_problem_of_the_plan(tmp_path: Path) -> None:
    wrong = Problem(file="Pulumi.dev.yaml", path="modelShapes.x.config", reason="none.json: cannot be read")
    (tmp_path / "m.yaml").write_text(SET.format(model=QWEN, type="g6.2xlarge", context=8192), encoding="utf-8")
    planned = plan(load([tmp_path / "m.yaml"]), Environment(shapes=KnownShapes(problems=(wrong,))))
    assert wrong in planned.problems


def test_the_largest_context_fits_and_no_longer_one(tmp_path: Path) -> None:
    """The context of the message is one with which there is no error any more; the figure is the plan's own claim."""
    (tmp_path / "m.yaml").write_text(SET.format(model=QWEN, type="g6.2xlarge", context=131072), encoding="utf-8")
    (each,) = plan(load([tmp_path / "m.yaml"]), Environment(shapes=shape(12))).verdicts
    largest = each.verdict.largest_context
    # 20.1 GiB less 12 GiB of weights leave 8.1 GiB at most, and 8,192 tokens take one of them.
    assert 0 < largest < Decimal("8.2") * 8192
    outcomes = [
        {problem.rule for problem in found(tmp_path, SET, shape(12), type="g6.2xlarge", context=context)}
        for context in (largest, largest + 64)
    ]
    assert RuleId.MEMORY_EXCEEDED not in outcomes[0]
    assert RuleId.MEMORY_EXCEEDED in outcomes[1]

"""All problems of a manifest come at once: a wrong field hides neither a wrong reference nor a wrong flag."""

import textwrap

import pytest

from components.families import parse
from components.plan.plan import plan

VLLM = "vllm/vllm-openai:v0.20.0"


def found(text: str) -> dict[str, str]:
    """The problems by path."""
    planned = plan(parse(textwrap.dedent(text), "m.yaml"))
    return {f"{each.kind}/{each.name} {each.path}": each.reason for each in planned.problems}


PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  %s
  modelClaim: {modelName: absent}
  backendRuntimeConfig:
    backendName: vllm
    args: [--max-modle-len, "4096"]
"""
SERVICE = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: chat}
spec:
  %s
  modelRef: absent
  runtime: vllm
  image: vllm/vllm-openai:v0.20.0
  extraArgs: [--max-modle-len, "4096"]
"""
SERVING = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: chat}
spec:
  schedulerName: volcano
  %s
  template:
    roles:
      - name: server
        workerReplicas: 0
        entryTemplate:
          spec:
            containers:
              - name: engine
                image: vllm/vllm-openai:v0.20.0
                command: [vllm, serve]
                args: [m, --max-modle-len, "4096"]
                resources: {limits: {nvidia.com/gpu: "0.5"}}
"""
CASES = [
    (PLAYGROUND, "spec.modelClaim.modelName", "spec.backendRuntimeConfig.args[0]"),
    (SERVICE, "spec.modelRef", "spec.extraArgs[0]"),
    (
        SERVING,
        "spec.template.roles[0].entryTemplate.spec.containers[0].resources.limits[nvidia.com/gpu]",
        "spec.template.roles[0].entryTemplate.spec.containers[0].args[1]",
    ),
]
KINDS = ["Playground", "InferenceService", "ModelServing"]
WRONG = [
    ("unknown: 1", "spec.unknown", "unknown field"),
    ("replicas: many", "spec.replicas", "must be an integer"),
    ("replicas: -1", "spec.replicas", "must be at least 0"),
]


@pytest.mark.parametrize(("line", "path", "reason"), WRONG, ids=[each[0] for each in WRONG])
@pytest.mark.parametrize(("text", "reference", "flag"), CASES, ids=KINDS)
def test_a_wrong_field_hides_nothing(text: str, reference: str, flag: str, line: str, path: str, reason: str) -> None:
    problems = {place.partition(" ")[2]: what for place, what in found(text % line).items()}
    assert reason in problems[path]
    assert reference in problems
    assert "did you mean '--max-model-len'?" in problems[flag]


@pytest.mark.parametrize(("text", "reference", "flag"), CASES, ids=KINDS)
def test_a_wrong_reference_hides_no_flag(text: str, reference: str, flag: str) -> None:
    problems = {place.partition(" ")[2]: what for place, what in found(text % "replicas: 1").items()}
    assert reference in problems
    assert "did you mean '--max-model-len'?" in problems[flag]


@pytest.mark.parametrize(("text", "reference", "flag"), CASES[:2], ids=KINDS[:2])
def test_nothing_is_concluded_from_what_could_not_be_read(text: str, reference: str, flag: str) -> None:
    """No model, so no GPUs, no memory and no price: that is no finding of the resource."""
    places = {place.partition(" ")[2] for place in found(text % "unknown: 1")}
    assert places == {"spec.unknown", reference, flag}


def test_a_model_that_could_not_be_read_is_not_called_missing() -> None:
    model = """\
    apiVersion: llmaz.io/v1alpha1
    kind: OpenModel
    metadata: {name: absent}
    spec: {familyName: f, source: {modelHub: {modelID: a/b}}, wrong: 1}
    ---
    """
    problems = found(textwrap.dedent(model) + PLAYGROUND % "replicas: 1")
    assert set(problems) == {"OpenModel/absent spec.wrong", "Playground/chat spec.backendRuntimeConfig.args[0]"}


def test_an_unknown_field_hides_no_rule_over_several_fields() -> None:
    text = """\
    apiVersion: inference.llmaz.io/v1alpha1
    kind: Playground
    metadata: {name: chat}
    spec: {unknown: 1, modelClaim: {modelName: m}, elasticConfig: {minReplicas: 3, maxReplicas: 2}}
    """
    problems = found(text)
    assert "Playground/chat spec.unknown" in problems
    assert any("elasticConfig" in place for place in problems)


def test_a_misspelled_field_is_not_reported_as_missing_too() -> None:
    """With the value at its right name nothing else would be wrong."""
    text = f"""\
    apiVersion: leaderworkerset.x-k8s.io/v1
    kind: LeaderWorkerSet
    metadata: {{name: g}}
    spec:
      leaderWorkerTemplate:
        workerTemplate:
          spec:
            containers: [{{name: c, image: "{VLLM}", resouces: {{limits: {{nvidia.com/gpu: "1"}}}}}}]
    """
    assert set(found(text)) == {
        "LeaderWorkerSet/g spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resouces"
    }


BROKEN = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: absent}
spec: {familyName: "never closed
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: other}
spec: {familyName: [}
"""


def test_a_document_that_is_no_yaml_hides_no_other_one() -> None:
    problems = plan(parse(f"{BROKEN}---\n{PLAYGROUND % 'unknown: 1'}", "m.yaml")).problems
    assert [(each.line, each.kind, each.name, each.path) for each in problems] == [
        (5, "OpenModel", "absent", ""),
        (9, "OpenModel", "other", ""),
        (15, "Playground", "chat", "spec.unknown"),
        (19, "Playground", "chat", "spec.backendRuntimeConfig.args[0]"),
    ]
    assert all(each.reason.startswith("not valid YAML") for each in problems[:2])


def test_a_key_that_appears_twice_hides_nothing() -> None:
    problems = found(PLAYGROUND % "replicas: 1\n  replicas: 2")
    assert set(problems) == {
        "Playground/chat ",
        "Playground/chat spec.modelClaim.modelName",
        "Playground/chat spec.backendRuntimeConfig.args[0]",
    }


@pytest.mark.parametrize("text", ["--- !x\n" * 50, "a: [\n---\n" * 1000, "--- '\n" * 30, "'\n---\n---\n'"])
def test_a_file_of_broken_documents_is_given_up(text: str) -> None:
    problems = parse(text, "m.yaml").problems
    assert 0 < len(problems) <= 40
    assert all(1 <= each.line <= text.count("\n") + 1 for each in problems)


def test_nothing_is_made_of_a_resource_with_a_wrong_field() -> None:
    planned = plan(parse(SERVING % "unknown: 1", "m.yaml"))
    assert not planned.fleet.rendered
    assert not list(planned.objects)

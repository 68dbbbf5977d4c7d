"""Input that nobody writes on purpose: every fault is a located message, never a traceback."""

import os
import stat
from pathlib import Path

import pytest

from components.families import load, parse
from components.plan.plan import plan

MODEL = """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec: {familyName: f, source: {modelHub: {modelID: a/b}}}
"""
PLAYGROUND = """---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: p}
spec: {modelClaim: {modelName: m}, %s}
"""
SERVICE = """---
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: s}
spec:
  modelClaims: {models: [{name: m}]}
  workloadTemplate: {size: 2, %s workerTemplate: {spec: {containers: [{name: model-runner, image: x}]}}}
"""
GROUP = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec: {leaderWorkerTemplate: {workerTemplate: %s}}
"""
HPA = "spec.elasticConfig.scaleTrigger.hpa.metrics[0]"
CONTAINERS = "must have at least one container, found none"


def scaled(metric: str) -> str:
    return MODEL + PLAYGROUND % f"elasticConfig: {{scaleTrigger: {{hpa: {{metrics: [{metric}]}}}}}}"


def problems(text: str) -> list[str]:
    return [str(problem) for problem in plan(parse(text, "f.yaml")).problems]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (scaled("{type: Pod}"), 10, f"{HPA}.type: must be one of Resource, ContainerResource, Pods"),
        (scaled("{type: ''}"), 10, f"{HPA}.type: must be one of"),
        (scaled("{type: Pods}"), 10, f"{HPA}.pods: is required for type Pods"),
        (scaled("{type: External}"), 10, f"{HPA}.external: is required for type External"),
        (
            MODEL + SERVICE % "leaderTemplate: {},",
            12,
            f"spec.workloadTemplate.leaderTemplate.spec.containers: {CONTAINERS}",
        ),
        (
            MODEL + SERVICE % "leaderTemplate: {metadata: {labels: {a: b}}},",
            12,
            f"spec.workloadTemplate.leaderTemplate.spec.containers: {CONTAINERS}",
        ),
        (GROUP % "{}", 5, f"spec.leaderWorkerTemplate.workerTemplate.spec.containers: {CONTAINERS}"),
        (
            GROUP % "{spec: {containers: []}}",
            5,
            f"spec.leaderWorkerTemplate.workerTemplate.spec.containers: {CONTAINERS}",
        ),
        (
            MODEL.replace("familyName", ".nan"),
            5,
            ".nan is not a number that JSON can represent; put the key in quotes",
        ),
        (".inf: 1\n", 1, ".inf is not a number that JSON can represent"),
        (MODEL + PLAYGROUND % f"replicas: {'9' * 5000}", 10, "spec.replicas: must be an integer, found"),
    ],
)
def test_a_fault_is_told_where_it_is(text: str, line: int, expected: str) -> None:
    found = problems(text)
    assert any(each.startswith(f"f.yaml:{line}: ") and expected in each for each in found), found


def test_faults_before_a_document_that_is_not_yaml_are_told_too() -> None:
    found = problems(MODEL.replace("familyName", "familyNam") + "---\na: [\n")
    assert any(each.startswith("f.yaml:5: OpenModel/m: spec.familyNam: unknown field") for each in found)
    assert any("not valid YAML" in each for each in found)


@pytest.mark.parametrize("digits", [1, 400, 4300, 5000, 100_000])
def test_numbers_of_any_length_are_read(digits: int) -> None:
    for number in ("9" * digits, f"-{'9' * digits}", f"0x{'f' * digits}", f"{'9' * digits}.5"):
        parse(f"a: {number}\n")


@pytest.mark.parametrize("sign", ["\n", "\r", "\x1b[31m", "\x00", "\x85", "\u2028", "\u202e"])
def test_no_text_of_a_manifest_forges_a_line(sign: str) -> None:
    escaped = "".join(f"\\U{ord(letter):08x}" for letter in sign)
    for text in (
        MODEL.replace("kind: OpenModel", f'kind: "Open{escaped}Model"'),
        MODEL.replace("familyName: f", f'"family{escaped}Name": f'),
        MODEL.replace("name: m", f'name: "m{escaped}"'),
    ):
        found = problems(text)
        assert found
        assert not any(letter in line for line in found for letter in sign if not letter.isprintable())


def test_thousands_of_unknown_fields_are_told_and_only_the_first_get_a_hint() -> None:
    fields = "".join(f"  familyNam{number}: f\n" for number in range(2000))
    found = problems(MODEL.replace("spec: {familyName: f, source: {modelHub: {modelID: a/b}}}", f"spec:\n{fields}"))
    unknown = [line for line in found if "unknown field" in line]
    assert len(unknown) == 2000
    assert 0 < sum("did you mean 'familyName'" in line for line in unknown) <= 100


class TestFiles:
    def test_a_name_that_no_file_system_takes(self) -> None:
        (problem,) = load(["x" * 300]).problems
        assert "cannot be read: File name too long" in problem.reason

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.yaml"
        os.mkfifo(pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        (problem,) = load([pipe]).problems
        assert "neither a file nor a folder" in problem.reason
        (problem,) = load([tmp_path]).problems
        assert "no *.yaml or *.yml file in this folder" in problem.reason

    def test_text_that_is_not_utf8(self, tmp_path: Path) -> None:
        file = tmp_path / "latin.yaml"
        file.write_bytes(b"a: b\nb: \xe9\n")
        (problem,) = load([file]).problems
        assert (problem.line, "UTF-8" in problem.reason) == (2, True)

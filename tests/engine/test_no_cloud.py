"""A stack without a cloud does not load what only clouds need: the SDK of AWS alone is most of a program's memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORT = "print(','.join(sorted({name.split('.')[0] for name in sys.modules} & {'pulumi_aws', 'boto3', 'botocore'})))"
PROGRAM = """
import runpy, sys
from pathlib import Path
from workbench.engine.program.adapter import Monitor, Run, program_at, run_program
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.project import load_project

project = load_project(Path.cwd(), {stack!r}, {overrides})
graph = ResourceGraph(project.stack, project.name, preview=True)
run_program(program_at(Path.cwd()), Monitor(graph), Run(project.name, project.stack, True, project.config))
assert len(graph.nodes) > 20
"""
COMMAND = """
import runpy, sys
sys.argv = ["workbench", "preview", "--offline", "--engine", "local", "--stack", {stack!r}]
try:
    runpy.run_module("workbench", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project, with a state of its own."""
    for path in (ROOT / "__main__.py", ROOT / "stacks", *ROOT.glob("Pulumi*.yaml")):
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.mark.parametrize(
    ("how", "stack", "loaded"),
    [
        (PROGRAM.replace("{overrides}", "{{'kubeconfig': 'Pulumi.yaml'}}"), "local", ""),
        (COMMAND, "local", ""),
        (PROGRAM.replace("{overrides}", "{{}}"), "dev", "pulumi_aws"),
    ],
    ids=["program", "command", "program of a cloud"],
)
def test_only_a_stack_with_a_cloud_loads_it(project: Path, how: str, stack: str, loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", how.format(stack=stack) + REPORT],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == loaded


MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: l40s, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g6e.2xlarge}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: qwen, namespace: models}
spec: {replicas: 1, modelClaim: {modelName: qwen}}
"""
STACK = """\
config:
  inference-platform:kubeconfig: Pulumi.yaml
  inference-platform:models: [models.yaml]
"""
UNUSED = """
unused = {"pulumi_aws", "pulumi_kubernetes.helm.v3"}
print(sorted(unused & set(sys.modules)))
"""


def test_a_program_loads_neither_a_cloud_nor_the_classes_of_charts(tmp_path: Path) -> None:
    for name in ("__main__.py", "stacks", "Pulumi.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "models.yaml").write_text(MODEL)
    (tmp_path / "Pulumi.small.yaml").write_text(STACK)
    program = PROGRAM.format(stack="small", overrides="{}").replace("> 20", "> 3")
    done = subprocess.run(
        [sys.executable, "-c", program + UNUSED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

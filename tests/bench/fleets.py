"""Fleets of any size, the same for every program that is measured."""

from pathlib import Path

MODELS_PER_FILE = 50

_CUDA = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: {name}
spec:
  familyName: qwen2
  source:
    modelHub:
      modelID: Qwen/Qwen2-7B-Instruct
      revision: main
      ignorePatterns: ["*.pth", "original/*"]
  inferenceConfig:
    flavors:
      - name: a10g
        limits:
          nvidia.com/gpu: 1
        params:
          INSTANCE-TYPE: g5.2xlarge
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: {name}
  namespace: bench
spec:
  replicas: 0  # what is measured is the deployment, not the scheduler
  modelClaim:
    modelName: {name}
  backendRuntimeConfig:
    backendName: {backend}
    envs:
      - name: TEAM
        value: team-{team}
    resources:
      requests: {{cpu: "2", memory: 8Gi}}
      limits: {{cpu: "4", memory: 16Gi}}
"""
_BACKENDS = ("vllm", "sglang", "tgi", "vllm")


def manifest(index: int) -> str:
    """Return the two documents of one model."""
    return _CUDA.format(
        name=f"model-{index:04d}",
        backend=_BACKENDS[index % len(_BACKENDS)],
        team=index % 7,
    )


def write_fleet(folder: Path, models: int) -> Path:
    """Write ``models`` models into ``folder``, fifty to a file."""
    folder.mkdir(parents=True)
    for start in range(0, models, MODELS_PER_FILE):
        documents = [manifest(index) for index in range(start, min(start + MODELS_PER_FILE, models))]
        (folder / f"team-{start // MODELS_PER_FILE:02d}.yaml").write_text("---\n".join(documents))
    return folder

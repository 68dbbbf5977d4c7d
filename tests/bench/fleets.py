"""Fleets of any size, the same for every program that is measured."""

from collections.abc import Callable
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
      - name: l40s
        limits:
          nvidia.com/gpu: 1
        params:
          INSTANCE-TYPE: g6e.2xlarge
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
_BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata:
  name: {name}
  namespace: bench
spec:
  backends:
    - name: l40s
      type: {backend}
      modelURI: hf://Qwen/Qwen2-7B-Instruct
      minReplicas: 1
      maxReplicas: 1
      env:
        - name: TEAM
          value: team-{team}
      workers:
        - image: {image}
          replicas: 1
          pods: 1
          resources:
            requests: {{cpu: "2", memory: 8Gi}}
            limits: {{cpu: "4", memory: 16Gi, nvidia.com/gpu: "1"}}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {{key: node.kubernetes.io/instance-type, operator: In, values: [g6e.2xlarge]}}
"""
_ENGINES = (("vLLM", "vllm/vllm-openai:v0.20.0"), ("SGLang", "lmsysorg/sglang:v0.5.4-cu129-amd64"))


def manifest(index: int) -> str:
    """Return the two documents of one model."""
    return _CUDA.format(
        name=f"model-{index:04d}",
        backend=_BACKENDS[index % len(_BACKENDS)],
        team=index % 7,
    )


def booster(index: int) -> str:
    """Return a model as one document of Kthena, with an engine and a size as the others have."""
    backend, image = _ENGINES[index % len(_ENGINES)]
    return _BOOSTER.format(name=f"model-{index:04d}", backend=backend, image=image, team=index % 7)


def write_fleet(folder: Path, models: int, manifest: Callable[[int], str] = manifest) -> Path:
    """Write ``models`` models into ``folder``, fifty to a file."""
    folder.mkdir(parents=True)
    for start in range(0, models, MODELS_PER_FILE):
        documents = [manifest(index) for index in range(start, min(start + MODELS_PER_FILE, models))]
        (folder / f"team-{start // MODELS_PER_FILE:02d}.yaml").write_text("---\n".join(documents))
    return folder

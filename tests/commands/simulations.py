"""A policy, two bindings and traces, and the command that simulates them."""

import json
from pathlib import Path
from typing import Any

from tests.hostile.runs import Printed, run

MANIFESTS = """
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {name: queue}
spec:
  metrics: [{metricName: load, targetValue: "10"}]
  behavior:
    scaleUp: {stablePolicy: {}, panicPolicy: {period: 0s}}
    scaleDown: {}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {name: chat}
spec:
  policyRef: {name: queue}
  scalingConfiguration:
    minReplicas: 1
    maxReplicas: 10
    target: {targetRef: {kind: ModelServing, name: chat}, metricEndpoint: {}}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {name: both}
spec:
  policyRef: {name: queue}
  optimizerConfiguration:
    params:
    - target: {targetRef: {kind: ModelServing, name: big}, metricEndpoint: {}}
      cost: 30
      minReplicas: 1
      maxReplicas: 5
    - target: {targetRef: {kind: ModelServing, name: small}, metricEndpoint: {}}
      cost: 20
      minReplicas: 0
      maxReplicas: 4
"""
TOTALS = (35, 12, 12, 12, 12, 12, 12, 5, 0)
"""The first golden vector of spec 4.4."""


def write(folder: Path) -> Path:
    """Write manifests and traces into a folder, which is returned."""
    (folder / "models.yaml").write_text(MANIFESTS)
    rows = "".join(f"{number * 15},{total}\n" for number, total in enumerate(TOTALS))
    (folder / "trace.csv").write_text(f"time,load\n{rows}")
    lines = (json.dumps({"time": number * 15, "load": total}) for number, total in enumerate(TOTALS))
    (folder / "trace.jsonl").write_text("\n".join(lines))
    shared = "".join(f"{n * 15},big,{t * 10},,\n{n * 15},small,0,,\n" for n, t in enumerate((1, 5, 9, 9, 3)))
    (folder / "both.csv").write_text(f"time,target,load,ready,failed\n{shared}")
    return folder


def simulate(folder: Path, *arguments: str, binding: str = "chat", trace: str = "trace.csv") -> Printed:
    manifests, metrics = str(folder / "models.yaml"), str(folder / trace)
    return run("simulate", manifests, "--binding", binding, "--metrics", metrics, *arguments)


def result(folder: Path, *arguments: str, **options: str) -> dict[str, Any]:
    done = simulate(folder, "--output", "json", *arguments, **options)
    assert done.code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def series(found: dict[str, Any], place: int = 0) -> list[int]:
    return [each["total"] for each in found["runs"][place]["passes"]]

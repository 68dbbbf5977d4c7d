"""``workbench simulate --against hpa``: the autoscaler that is rendered for the same binding, on the same trace."""

import json
from pathlib import Path

import pytest

from tests.commands.simulations import MANIFESTS, result, series, simulate, write

SERVING = """
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: chat}
spec:
  schedulerName: volcano
  template:
    roles:
    - name: leader
      workerReplicas: 0
      entryTemplate:
        spec:
          nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}
          tolerations: [{key: nvidia.com/gpu, operator: Exists}]
          containers:
          - name: engine
            image: vllm/vllm-openai:v0.10.1
            args: [--model, a/m]
            ports: [{containerPort: 8000}]
            resources: {limits: {nvidia.com/gpu: 1}}
---
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path)


class TestAgainst:
    @pytest.fixture
    def waiting(self, folder: Path) -> Path:
        """The same with a metric that the engine exports under another name, and the target beside it."""
        queue = "kthena:num_requests_waiting"
        one = MANIFESTS.rpartition("---")[0].replace("metricName: load", f"metricName: {json.dumps(queue)}")
        (folder / "models.yaml").write_text(SERVING + one)
        trace = folder / "trace.csv"
        trace.write_text(trace.read_text().replace("load", queue))
        return folder

    def test_both_side_by_side(self, waiting: Path) -> None:
        """The autoscaler may at most double the replicas in 15 seconds, and has no panic mode."""
        found = result(waiting, "--against", "hpa")
        assert [run["scaler"] for run in found["runs"]] == ["Kthena", "HPA"]
        assert series(found) == [4, 4, 4, 4, 4, 2, 2, 1, 1]
        assert series(found, 1) == [2, 2, 2, 2, 2, 2, 2, 1, 1]
        # 26 replicas of the one and 16 of the other for 15 s each; the first load was too much for two.
        assert found["difference"] == {
            "replicaHours": pytest.approx((16 - 26) * 15 / 3600, abs=1e-6),
            "usd": pytest.approx((16 - 26) * 15 / 3600 * 1.006, abs=1e-6),
            "secondsAboveTarget": 15.0,
            "changes": -1,
            "peakReplicas": -2,
        }

    def test_in_the_table(self, waiting: Path) -> None:
        done = simulate(waiting, "--against", "hpa", "--details")
        assert done.code == 0, done.stderr
        rows = [line.split() for line in done.stdout.splitlines()]
        assert ["0", "s", "35", "4", "2", "(wants", "4)", "Kthena:", "panic"] in rows
        assert ["most", "replicas", "4", "2", "-2"] in rows
        assert ["Kthena", "HPA", "DIFFERENCE"] in rows
        brief = simulate(waiting, "--against", "hpa").stdout.splitlines()
        assert len(brief) <= 24
        assert max(map(len, brief)) <= 80
        assert brief[-1] == "(--details: every pass with its replicas)"

    def test_the_price_is_that_of_the_node(self, waiting: Path) -> None:
        assert result(waiting)["usdPerReplicaHour"] == {"chat": 1.006}
        assert result(waiting, "--price", "chat=3")["usdPerReplicaHour"] == {"chat": 3.0}

    def test_without_the_target_nothing_is_rendered(self, folder: Path) -> None:
        done = simulate(folder, "--against", "hpa")
        assert (done.code, done.stdout) == (1, "")
        assert "no ModelServing named 'chat'" in done.stderr

    def test_the_operator_renders_none(self, waiting: Path) -> None:
        manifests = waiting / "models.yaml"
        namespace = "metadata: {namespace: kthena-system, name"
        manifests.write_text(manifests.read_text().replace("metadata: {name", namespace))
        done = simulate(waiting, "--against", "hpa", "--realization", "operator")
        assert (done.code, done.stdout) == (1, "")
        assert "no HorizontalPodAutoscaler is rendered for 'chat'" in done.stderr
        assert simulate(waiting, "--realization", "operator").code == 0

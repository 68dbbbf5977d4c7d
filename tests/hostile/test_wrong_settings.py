"""Documents with a wrong setting: ``validate``, ``plan`` and ``preview`` refuse each with the same messages."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.test_one_verdict import errors_in
from tests.hostile.runs import MODELS, ROOT, project, run

KEY = "inference-platform:"
WRONG: tuple[dict[str, Any], ...] = (
    {"namespace": "Upper_Case"},
    {"namespace": ["a"]},
    {"namespacee": "a"},
    {"models": "a.yaml"},
    {"models": [1]},
    {"tags": {"a": {"b": "c"}}},
    {"prices": {"g5.xlarge": -1}},
    {"prices": {"g5.xlarge": "much"}},
    {"frontDoor": {"replicas": 0}},
    {"frontDoor": {"replica": 2}},
    {"frontDoor": True},
    {"prerequisites": {"prometheusPort": 70000}},
    {"prerequisites": {"install": ["nonsense"]}},
    {"modelShapes": {"m": {"parameters": "many"}}},
    {"otherKinds": "ignored"},
    {"simulatedNodes": "perhaps"},
    {"hardening": {"podSecurity": "none-at-all"}},
    {"pods": {"serviceAccountNamee": "a"}},
    {"pods": {"serviceAccountName": "Not Allowed"}},
    {"pods": {"tolerations": [{"key": "a", "effect": "Never"}]}},
    {"modelCache": {"claimm": "x"}},
    {"ignore": {"no-such-finding": "because"}},
)
MODEL = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 1
    workerTemplate: {spec: {containers: [{name: c, image: "vllm/vllm-openai:v0.11.0", args: [--model, a/b]}]}}
"""


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_every_command_reports_a_wrong_setting_alike(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
    content["config"] |= {f"{KEY}models": [MODELS], **{KEY + key: value for key, value in changes.items()}}
    project(tmp_path, settings=yaml.safe_dump(content), models=MODEL)
    monkeypatch.chdir(tmp_path)
    told = {
        command[0]: run(*command)
        for command in (
            ("validate", "--stack", "local", "--output", "lines"),
            ("plan", "--stack", "local"),
            ("preview", "--engine", "local", "--offline", "--stack", "local"),
        )
    }
    assert {done.code for done in told.values()} == {1}
    validated = errors_in(told["validate"])
    assert validated
    assert all(next(iter(changes)) in line for line in validated)
    assert errors_in(told["preview"]) == validated
    # A plan wraps the lines of a finding, and folds those that have a cause in common.
    plan = " ".join(told["plan"].stdout.split())
    for line in validated:
        place, _, message = line.partition(": ")
        assert place in plan
        assert message.partition(";")[0] in plan

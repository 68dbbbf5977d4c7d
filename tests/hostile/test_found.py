"""What random changes have found: each ended in a traceback, a message without a place, or something invisible."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.texts.hidden import hidden
from tests.hostile.runs import MODELS, ROOT, checked, project, run

SETTING = "inference-platform:"
SETTINGS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("dev", {"clusterName": "//"}, "clusterName: found '//'; EKS allows 1 to 100 letters"),
    ("dev", {"modelBuckets": ["b/p/", "b/p/"]}, "modelBuckets: 'b/p/' is listed 2 times; list it once"),
    (
        "dev",
        {"network": {"zones": ["us-east-1a", "us-east-1b", "us-east-1a"]}},
        "network.zones: 'us-east-1a' is listed 2 times",
    ),
    (
        "dev",
        {"network": {"zones": ["us-east-1a", "us-east-1b"], "interfaceEndpoints": ["NaN"]}},
        "network.interfaceEndpoints: unknown service 'NaN'; known services:",
    ),
    (
        "dev",
        {"cluster": {"addons": {"aws-ebs-csi-driverx": ""}}},
        "cluster.addons: unknown add-on 'aws-ebs-csi-driverx'",
    ),
    ("local", {"kubeconfig": "9" * 400}, ""),
    ("local", {"models": ["\u202eabc"]}, "models.0: contains U+202E (RIGHT-TO-LEFT OVERRIDE), which is not seen"),
    ("local", {"\x7f": 1}, "\\x7f: unknown key"),
    ("local", {"prerequisites": {"\x85": 1}}, "prerequisites.\\x85: unknown key"),
    ("local", {"namespace": {"secure": "v1:x:y"}}, "namespace: is encrypted, so that it cannot be checked"),
    ("local", {"pulumi:disable-default-providers": [{}]}, "disable-default-providers: must be a list of packages"),
    ("local", {"pulumi:disable-default-providers": "a: ["}, ""),
    ("local", {"prices": "a\0b"}, "prices: contains U+0000 (control character)"),
    ("local", {"modelShapes": {"m": {"config": "a\0b"}}}, "modelShapes.m.config: contains U+0000"),
    ("local", {"models": ["a\0b"]}, "models.0: contains U+0000 (control character)"),
    (
        "local",
        {"namespace": "\udcff"},
        "inference-platform:namespace: contains an unpaired surrogate",
    ),
    ("local", {"\udcff": 1}, "inference-platform:\\udcff: contains an unpaired surrogate"),
    (
        "local",
        {"tags": {"a": ["\udcff"]}},
        "inference-platform:tags: contains an unpaired surrogate",
    ),
    ("local", {"pulumi:disable-default-providers": 1}, "disable-default-providers: must be a list of packages"),
    (
        "local",
        {"prerequisites": {"prometheusUrl": "prometheus.monitoring.svc"}},
        "prerequisites.prometheusUrl: must be a URL without port and path",
    ),
    (
        "local",
        {"prerequisites": {"prometheusUrl": "http://prometheus.monitoring.svc:9090"}},
        "set the port in prometheusPort",
    ),
    ("local", {"prerequisites": {"prometheusUrl": ""}}, "prerequisites.prometheusUrl: must be a URL"),
    ("dev", {"prerequisites": {"prometheusUrl": "http://[::1]"}}, ""),
    ("dev", {"prerequisites": {"prometheusUrl": "https://prometheus"}}, ""),
    ("local", {"frontDoor": {"replicas": 10**400}}, "frontDoor.replicas: must be at most 2147483647"),
    ("dev", {"cluster": {"systemNodes": 10**400}}, "cluster.systemNodes: must be at most 450"),
    ("dev", {"prerequisites": {"storageGib": 10**400}}, "prerequisites.storageGib: must be at most"),
)


@pytest.mark.parametrize(("stack", "changes", "expected"), SETTINGS, ids=[case[2][:40] for case in SETTINGS])
def test_settings(
    stack: str, changes: dict[str, Any], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE", raising=False)
    content = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())
    for key, value in changes.items():
        content["config"][key if ":" in key else SETTING + key] = value
    project(tmp_path, settings=yaml.safe_dump(content), models="")
    printed = checked("preview", "--engine", "local", "--offline", "--output", "json")
    assert expected in printed.stderr
    assert printed.code == bool(expected)


TOKEN = "hf_" + "aB3" * 11
MANIFESTS: tuple[tuple[str, str], ...] = (
    (
        f"apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: {{name: m}}\nspec: {{{TOKEN}: b}}\n",
        f"{MODELS}:4: OpenModel/m: spec.{hidden(TOKEN)}: unknown field",
    ),
    ("a: b\nc: \x00\n", f"{MODELS}:2: not valid YAML: the character U+0000 is not allowed; remove it"),
    ("\ufeffa: b\n---\n\u2028'", f"{MODELS}:3: not valid YAML"),
)


@pytest.mark.parametrize(("text", "expected"), MANIFESTS, ids=[case[1][:40] for case in MANIFESTS])
@pytest.mark.parametrize("command", [("validate",), ("render",), ("defaults",), ("explain", "Model/m")], ids=" ".join)
def test_manifests(
    command: tuple[str, ...], text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, models=text)
    printed = checked(*command, MODELS, lines=len(text.splitlines()))
    assert expected in printed.stdout + printed.stderr
    assert printed.code == 1


UNREAD = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: chat}
spec: {nonsense: 1}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {name: queue}
spec: {metrics: [{metricName: "vllm:num_requests_waiting", targetValue: "5"}]}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {name: scaling}
spec:
  policyRef: {name: queue}
"""
TARGET = "{target: {targetRef: {kind: ModelServing, name: chat}}, minReplicas: 1, maxReplicas: 3}"
ONE = f"  scalingConfiguration: {TARGET}\n"
SHARED = f"  optimizerConfiguration: {{params: [{TARGET}]}}\n"


@pytest.mark.parametrize("targets", [ONE, SHARED], ids=["one", "shared"])
@pytest.mark.parametrize("realization", ["native", "operator"])
def test_a_binding_of_what_cannot_be_read(
    realization: str, targets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, models=UNREAD + targets)
    printed = checked("render", MODELS, "--realization", realization, lines=len((UNREAD + targets).splitlines()))
    assert "ModelServing/chat: spec.nonsense: unknown field" in printed.stderr
    assert "AutoscalingPolicyBinding/scaling" not in printed.stderr
    assert printed.code == 1


WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat, namespace: models}}
spec:
  replicas: {replicas}
  strategy: {{rollingUpdate: {{maxSurge: 25%}}}}
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec: {{containers: [{{name: c, image: "vllm/vllm-openai:v0.11.0", args: [--model, a/b]}}]}}
"""


@pytest.mark.parametrize(
    ("replicas", "number", "reason"),
    [("3", 3, ""), ("3.0", 3, ""), ("2.5", 0, "must be an integer, found 2.5"), ("1e30", 0, "must be at most")],
)
def test_replicas_that_are_a_float(
    replicas: str, number: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kubectl reads them, which writes 3.0 as 3."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / MODELS).write_text(WORKLOAD.format(replicas=replicas))
    inspected = run("inspect", "--from", MODELS, "--output", "json")
    desired = sum(model["replicas"]["desired"] for model in json.loads(inspected.stdout)["models"])
    assert (desired, reason in inspected.stdout) == (number, True)
    for command in (("validate", MODELS, "--other-kinds", "apply"), ("adopt", "--from", MODELS, "--dry-run", "new")):
        assert run(*command, *(["--stack", "none"] if command[0] == "validate" else [])).code in (0, bool(reason))


@pytest.mark.parametrize(
    "addresses",
    [
        "{",
        '{"control": 5}',
        '{"control": "http://127.0.0.1:port"}',
        '{"control": "http://[::1"}',
        '{"control": "http://127.0.0.1:9", "token": "\\u202e"}',
    ],
)
@pytest.mark.parametrize("command", [("watch", "--once"), ("speed",), ("fault", "pod")], ids=" ".join)
def test_damaged_addresses_of_the_live_fleet(
    command: tuple[str, ...], addresses: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".workbench/live"
    folder.mkdir(parents=True)
    (folder / "fleet.json").write_text('{"stack": "local"}')
    (folder / "addresses-pods.json").write_text(addresses)
    done = run("live", *command)
    assert done.code == 1
    assert "make up" in done.stderr

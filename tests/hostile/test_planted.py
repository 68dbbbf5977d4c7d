"""A token planted wherever one could stand: no command shows it, no file keeps it, and the cluster gets it."""

import base64
import functools
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests import preloaded
from tests.hostile import runs
from toolkit.kube import Kube
from workbench.cluster.cluster import Running

ROOT = Path(__file__).parents[2]
TOKEN = "zanzibar-7319"
"""Known by its name alone, so that it must be followed to where it goes."""
FORM = "hf_" + "qR7" * 11
"""Known by its form, where its name tells nothing."""
PASSPHRASE = "open sesame"

MANIFESTS = f"""
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: m
  annotations: {{example.com/note: "uses {FORM}", example.com/api-token: {TOKEN}}}
spec:
  familyName: f
  source: {{modelHub: {{modelID: a/b}}}}
  inferenceConfig: {{flavors: [{{name: a10g, limits: {{nvidia.com/gpu: 1}}, params: {{INSTANCE-TYPE: g5.2xlarge}}}}]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: p
  namespace: planted
  annotations: {{ignore.inference-platform/access-engine-key: the key is there to be hidden}}
spec:
  modelClaim: {{modelName: m}}
  backendRuntimeConfig:
    args: [--api-key, {TOKEN}, --served-model-name, {FORM}]
    envs:
      - {{name: HF_TOKEN, value: {TOKEN}}}
      - {{name: HARMLESS, value: "key {FORM} inside"}}
"""
WRONG = f"""
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: p, namespace: planted, labels: {{api-token: "{TOKEN} !"}}}}
spec:
  modelClaim: {{modelName: m}}
  replicas: {FORM}
  backendRuntimeConfig:
    args: [--api-key, {TOKEN}, --gpu-memory-utilization, {TOKEN}, "--api-keyy={TOKEN}", --max-model-len, {FORM}]
    envs:
      - {{name: HF_TOKEN, value: {{secure: {TOKEN}}}}}
      - {{name: HF_TOKEN, values: {TOKEN}}}
      - HF_TOKEN={TOKEN}
      - {{name: {FORM}, value: 7}}
    HF_TOKEN: {TOKEN}
"""


def assert_hidden(text: str, where: str) -> None:
    for secret in (TOKEN, FORM):
        assert secret not in text, f"{where} shows {secret}: {text[max(0, text.find(secret) - 300) :][:400]}"


class Workbench:
    """Runs commands in a project of its own; whatever they print and leave is searched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = folder / "models.yaml"
        self.models.write_text(MANIFESTS)

    def project(self, kubeconfig: str, **settings: object) -> None:
        (self.folder / "stacks").symlink_to(ROOT / "stacks")
        for name in ("Pulumi.yaml", "__main__.py"):
            (self.folder / name).write_text((ROOT / name).read_text())
        local = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
        local["config"].update(
            {
                "inference-platform:models": ["models.yaml"],
                "inference-platform:kubeconfig": kubeconfig,
                "inference-platform:simulatedNodes": False,
                **{f"inference-platform:{key}": value for key, value in settings.items()},
            }
        )
        local["encryptionsalt"] = f"v1:{base64.b64encode(b'saltsalt').decode()}:check"
        (self.folder / "Pulumi.local.yaml").write_text(yaml.safe_dump(local))

    def run(self, *arguments: str, code: int | None = 0) -> str:
        """Run a command; return stdout and stderr."""
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "240", "HOME": str(self.folder)}
        environment["PULUMI_CONFIG_PASSPHRASE"] = PASSPHRASE
        done = preloaded.run(*arguments, cwd=self.folder, env=environment)
        assert code is None or done.returncode == code, done.stdout + done.stderr
        assert_hidden(done.stdout + done.stderr, " ".join(arguments))
        self.search()
        return done.stdout + done.stderr

    def call(self, *arguments: str, code: int | None = 0) -> str:
        """Run a command as `run` does, in this process: everything is loaded once for all commands."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setenv("COLUMNS", "240")
            patch.setenv("HOME", str(self.folder))
            patch.setenv("PULUMI_CONFIG_PASSPHRASE", PASSPHRASE)
            printed = runs.run(*arguments)
        assert code is None or printed.code == code, printed
        assert_hidden(printed.stdout + printed.stderr, " ".join(arguments))
        self.search()
        return printed.stdout + printed.stderr

    def search(self) -> None:
        """Search every file that a command could have left."""
        for file in self.folder.rglob("*"):
            if file.is_file() and file != self.models and "stacks" not in file.relative_to(self.folder).parts[:1]:
                assert_hidden(file.read_bytes().decode(errors="replace"), str(file))


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


COMMANDS = [
    ("validate", "models.yaml"),
    ("validate", "models.yaml", "--output", "json"),
    ("validate", "models.yaml", "--alone"),
    ("render", "models.yaml"),
    ("render", "models.yaml", "--workload", "lws"),
    ("defaults", "models.yaml"),
    ("explain", "Playground/p", "models.yaml"),
    ("explain", "Playground/p", "models.yaml", "--all"),
    ("explain", "OpenModel/m", "models.yaml", "--all"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_that_read_manifests(workbench: Workbench, command: tuple[str, ...]) -> None:
    text = workbench.call(*command, code=None)
    assert "unexpected error" not in text
    if command[0] not in ("validate", "render") and "error" not in text:
        assert "[hidden:" in text


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_messages_about_wrong_manifests(workbench: Workbench, command: tuple[str, ...]) -> None:
    workbench.models.write_text(MANIFESTS.partition("---")[0] + "---" + WRONG)
    text = workbench.call(*command, code=1)
    assert "models.yaml" in text
    assert "[hidden:" in text


def test_secrets_are_printed_for_those_who_ask(workbench: Workbench) -> None:
    command = [sys.executable, "-m", "workbench", "defaults", "models.yaml", "--show-secrets"]
    done = subprocess.run(
        command, cwd=workbench.folder, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (done.stderr, done.stdout.count(TOKEN), done.stdout.count(FORM)) == ("", 3, 3)
    shown = workbench.run("defaults", "models.yaml")
    assert "warning: 6 values that may be secrets are hidden" in shown


def test_a_preview_without_a_cluster(workbench: Workbench) -> None:
    workbench.project(".workbench/kubeconfig")
    for output in ("text", "json"):
        workbench.run("preview", "--engine", "local", "--offline", "--output", output)


@functools.cache
def _key() -> bytes:
    return hashlib.pbkdf2_hmac("sha256", PASSPHRASE.encode(), b"saltsalt", 1_000_000, 32)


def sealed(clear: str) -> dict[str, str]:
    """A value as ``pulumi config set --secret`` writes it."""
    nonce = b"nonce-nonce-"
    cipher = base64.b64encode(AESGCM(_key()).encrypt(nonce, clear.encode(), None)).decode()
    return {"secure": f"v1:{base64.b64encode(nonce).decode()}:{cipher}"}


@pytest.mark.parametrize(
    ("key", "inside"),
    [
        ("region", None),
        ("clusterName", None),
        ("models", None),
        ("models", []),
        ("tags", "team"),
        ("pods", "serviceAccountName"),
        ("frontDoor", "expose"),
        ("frontDoor", "host"),
        ("modelCache", "claimm"),
        ("hardening", "podSecurity"),
        ("prerequisites", "install"),
    ],
)
def test_settings_that_are_secret_are_not_echoed(workbench: Workbench, key: str, inside: object) -> None:
    """A decrypted ``secure:`` value in a setting, where it is refused and where it is used."""
    secret = sealed(f"Planted {TOKEN}")
    value: object = secret if inside is None else [secret] if inside == [] else {inside: secret}
    workbench.project(".workbench/kubeconfig", **{key: value})
    workbench.call("preview", "--engine", "local", "--offline", code=None)


def test_a_deployment_from_beginning_to_end(workbench: Workbench, cluster: Running, kube: Kube) -> None:
    workbench.project(str(cluster.kubeconfig))
    up = ("up", "--engine", "local", "--no-wait")
    workbench.run("preview", "--engine", "local")
    workbench.run(*up)
    container = the_container(kube)
    assert {"name": "HF_TOKEN", "value": TOKEN} in container["env"]
    assert {"name": "HARMLESS", "value": f"key {FORM} inside"} in container["env"]
    assert TOKEN in container["args"]
    assert "no changes" in workbench.run("preview", "--engine", "local")
    workbench.models.write_text(MANIFESTS.replace(TOKEN, f"{TOKEN}-2").replace(FORM, f"{FORM}xY4"))
    for output in ("text", "json"):
        assert "[secret]" in workbench.run("preview", "--engine", "local", "--details", "--output", output)
    workbench.run(*up)
    assert {"name": "HF_TOKEN", "value": f"{TOKEN}-2"} in the_container(kube)["env"]
    workbench.run("outputs", "--engine", "local")
    workbench.run("outputs", "--engine", "local", "--output", "json")
    workbench.models.write_text(MANIFESTS.partition("---")[0] + "---" + WRONG)
    workbench.run(*up, code=1)
    workbench.run("destroy", "--engine", "local", "--yes")


def the_container(kube: Kube) -> dict[str, Any]:
    (deployment,) = kube.list("apps/v1", "Deployment", "planted")
    return next(c for c in deployment["spec"]["template"]["spec"]["containers"] if "HF_TOKEN" in str(c))


def test_what_the_search_finds(workbench: Workbench) -> None:
    (workbench.folder / ".workbench").mkdir()
    (workbench.folder / ".workbench/log").write_text(f"x {TOKEN} y")
    with pytest.raises(AssertionError, match="shows zanzibar"):
        workbench.search()
    with pytest.raises(AssertionError, match="shows hf_"):
        assert_hidden(f"a {FORM}", "here")

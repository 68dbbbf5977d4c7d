"""Projects that ``migrate`` converts to another release: nothing restarts, and operators are upgraded in order."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.plan.review.compare import review
from components.plan.review.review import ChangeKind, Interruption, Review, UpgradeStage
from tests.commands.support import workbench
from tests.stacks.shipped import ROOT, Clock, settings_of
from toolkit.screen import Screen
from workbench.planning.formats.data import document
from workbench.planning.formats.text import text
from workbench.planning.recording import NOWHERE
from workbench.planning.snapshot import take

MODELS, VARIANTS = "stacks/models", "stacks/variants"
NOT_INSTALLED = "not installed by this stack; update them before the custom resources"
DRAFTS = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: qwen}
spec: {source: "https://example.com/qwen.gguf", hardware: {gpu: {count: 1}}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: qwen}
spec:
  modelRef: qwen
  nodeSelector: {node.kubernetes.io/instance-type: g6.2xlarge}
  resources: {gpu: 1}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  speculativeDecoding: {type: draft-mtp, nDraftMax: 2}
"""
BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: qwen}
spec:
  backend:
    name: l40s
    type: vLLM
    modelURI: hf://Qwen/Qwen3-8B
    cacheURI: hostpath:///tmp/cache
    minReplicas: 2
    maxReplicas: 2
    workers:
      - type: server
        image: vllm/vllm-openai:v0.20.0
        replicas: 1
        pods: 1
        config: {max-model-len: 32768, served-model-name: qwen}
        resources: {limits: {nvidia.com/gpu: "1"}}
"""


class Project:
    """A folder with a stack, whose manifests are converted."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        for name in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(ROOT / name, folder)
        self.settings = {**settings_of("local"), "kubeconfig": str(NOWHERE), "models": ["models"], **settings}
        self.write()
        (folder / "models").mkdir()

    def write(self) -> None:
        config: dict[str, Any] = {f"inference-platform:{key}": value for key, value in self.settings.items()}
        config["pulumi:disable-default-providers"] = ["kubernetes", "aws"]
        (self.folder / "Pulumi.local.yaml").write_text(yaml.safe_dump({"config": config}))

    def converted(self, family: str, origin: str, target: str) -> Review:
        """Convert the project from one release to another, and review the difference."""
        self.settings["releases"] = {family: origin}
        self.write()
        base = take(self.folder, "local")
        assert not base.is_refused, (base.failed, [f for f in base.findings if f.severity == "error"])
        done = workbench("migrate", "--cwd", self.folder, "--release", f"{family}={target}", "--write")
        assert (done.returncode, "loss:" in done.stderr) == (0, False), done.stderr
        head = take(self.folder, "local")
        assert not head.is_refused, (head.failed, [f for f in head.findings if f.severity == "error"])
        assert (base.releases, head.releases) == ({family: origin}, {family: target})
        return review(head, base)


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datetime.datetime", Clock)


@pytest.mark.parametrize(
    ("family", "origin", "target", "files"),
    [
        ("kthena", "v0.1.0", "v0.2.0", ("kthena-vllm", "kthena-serving-gang", "kthena-vllm-multinode")),
        ("kthena", "v0.1.0", "v1.0.0", ("kthena-autoscaled", "kthena-vllm")),
        ("llmkube", "v0.8.7", "v0.9.19", ("llmkube-autoscaled", "llmkube-vllm-speculative", "llmkube-tinyllama-cpu")),
        ("llmaz", "79d833c", "v0.1.4", ("llama-speculative", "qwen-chat", "gemma-elastic")),
    ],
)
def test_nothing_restarts_natively(
    family: str, origin: str, target: str, files: tuple[str, ...], tmp_path: Path
) -> None:
    project = Project(tmp_path)
    for name in files:
        shutil.copy(ROOT / MODELS / f"{name}.yaml", tmp_path / "models")
    assert unchanged(project.converted(family, origin, target))


def test_an_autoscaler_moves_back_into_its_booster(tmp_path: Path) -> None:
    project = Project(tmp_path)
    done = workbench("migrate", ROOT / MODELS / "kthena-autoscaled.yaml", "--release", "kthena=v1.0.0", "--stdout")
    (tmp_path / "models/m.yaml").write_text(done.stdout)
    assert unchanged(project.converted("kthena", "v1.0.0", "v0.4.0"))


def test_a_router_is_upgraded_while_nothing_restarts(tmp_path: Path) -> None:
    project = Project(tmp_path)
    shutil.copy(ROOT / MODELS / "kthena-prefill-decode.yaml", tmp_path / "models")
    found = project.converted("kthena", "v0.1.0", "v0.2.0")
    assert unchanged(replace(found, upgrades=()))
    (upgrade,) = found.upgrades
    assert {step.note for step in upgrade.steps[:2]} == {NOT_INSTALLED}


def test_nothing_restarts_where_a_kind_of_drafts_is_renamed(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "models/qwen.yaml").write_text(DRAFTS)
    assert unchanged(project.converted("llmkube", "v0.9.19", "v0.9.17"))
    assert "type: mtp" in (tmp_path / "models/qwen.yaml").read_text()


def test_nothing_restarts_with_variants(tmp_path: Path) -> None:
    project = Project(tmp_path)
    shutil.copy(ROOT / VARIANTS / "granite-13b.yaml", tmp_path / "models")
    levels = project.settings["serviceLevels"]
    project.settings["serviceLevels"] = {**levels, "loads": {"granite-13b": levels["loads"]["granite-13b"]}}
    assert unchanged(project.converted("llmd", "c0f645c", "v0.0.5"))
    assert "perfParms" in (tmp_path / "models/granite-13b.yaml").read_text()


def unchanged(found: Review) -> bool:
    """Whether nothing is replaced, deleted or restarted, and no operator upgraded."""
    assert found.is_compared
    assert [change for change in found.changes if change.kind in (ChangeKind.REPLACED, ChangeKind.DELETED)] == []
    assert [blast for blast in found.blasts if blast.disruption is not Interruption.NONE] == []
    return found.upgrades == ()


@pytest.fixture
def operated(tmp_path: Path) -> Project:
    install = {"install": True, "present": ["envoy-gateway", "ai-gateway", "volcano"]}
    return Project(
        tmp_path, realization="operator", customResources=False, simulatedNodes=False, prerequisites=install
    )


def test_an_operator_is_upgraded_in_order(operated: Project) -> None:
    (operated.folder / "models/qwen.yaml").write_text(BOOSTER)
    found = operated.converted("kthena", "v0.4.0", "v1.0.0")
    (upgrade,) = found.upgrades
    assert (upgrade.project, upgrade.before, upgrade.after) == ("Kthena", "v0.4.0", "v1.0.0")
    definitions, controllers, resources = upgrade.steps
    assert [step.stage for step in upgrade.steps] == [*UpgradeStage]
    group = "workload.serving.volcano.sh"
    assert definitions.changes == (
        f"~ CustomResourceDefinition autoscalingpolicies.{group}",
        f"- CustomResourceDefinition autoscalingpolicybindings.{group} (retained: Pulumi removes it from the state "
        "without deleting it)",
        f"~ CustomResourceDefinition modelboosters.{group}",
        f"~ CustomResourceDefinition modelservings.{group}",
    )
    assert controllers.changes == (
        "~ Release fleet-kthena v0.4.0 → v1.0.0",
        "~ Release fleet-kthena-router v0.4.0 → v1.0.0",
    )
    assert resources.changes == ("~ ModelBooster models/qwen",)
    dropped = "ModelBooster models/qwen: spec.backend.minReplicas, spec.backend.maxReplicas"
    assert upgrade.dropped == (dropped,)
    written = text(found, Screen(400), details=True)
    assert "Upgrade of the operator: Kthena v0.4.0 → v1.0.0\n1. definitions: ~ CustomResourceDefinition" in written
    assert "\n2. controllers: ~ Release fleet-kthena v0.4.0 → v1.0.0, " in written
    assert "\n3. custom resources: ~ ModelBooster models/qwen\n" in written
    assert f"controllers act without them: {dropped}" in written
    data: Any = document(found)["review"]
    assert [step["stage"] for step in data["upgrades"][0]["steps"]] == [stage.value for stage in UpgradeStage]


def test_an_operator_that_is_installed_elsewhere(operated: Project) -> None:
    operated.settings["prerequisites"] = {"install": False, "present": ["envoy-gateway", "ai-gateway", "volcano"]}
    (operated.folder / "models/qwen.yaml").write_text(BOOSTER)
    (upgrade,) = operated.converted("kthena", "v0.2.0", "v0.4.0").upgrades
    assert {step.note for step in upgrade.steps[:2]} == {NOT_INSTALLED}
    assert upgrade.dropped == ()


def test_definitions_that_are_part_of_the_chart(operated: Project) -> None:
    (operated.folder / "models/qwen.yaml").write_text(DRAFTS)
    (upgrade,) = operated.converted("llmkube", "v0.9.19", "v0.9.17").upgrades
    definitions, controllers, resources = upgrade.steps
    assert definitions.note == "part of the chart, which updates them before the controllers"
    assert controllers.changes == ("~ Release fleet-llmkube 0.9.19 → 0.9.17",)
    assert resources.changes == ("~ InferenceService models/qwen",)

"""``workbench migrate``: diffs, files in place, losses, projects, and texts that keep their formatting."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.support import workbench

BOOSTER = """# A model.
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster   # the kind
metadata: {name: qwen3-8b}
spec:
  # One way to run it.
  backends:
  - name: l40s   # the accelerator
    type: vLLM
    modelURI: "hf://Qwen/Qwen3-8B"
    minReplicas: 2
    maxReplicas: 2
    workers:
      - image: 'vllm/vllm-openai:v0.20.0'
        config: {max-model-len: 32768}   # of 40960
        resources: {limits: {nvidia.com/gpu: "1"}}
"""
OTHER = """---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a:   "1"}   # kept as it is
"""
PROJECT = """name: fleet
runtime: python
config:
  fleet:models: {type: array, items: {type: string}, default: [models]}
  fleet:releases: {type: object, default: {}}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "model.yaml"
    path.write_text(BOOSTER + OTHER)
    return path


def test_a_diff_by_default(manifest: Path) -> None:
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "-  backends:" in done.stdout
    assert "+  backend:" in done.stdout
    assert manifest.read_text() == BOOSTER + OTHER


@pytest.mark.parametrize(
    "other",
    [f"data: {{a: {'9' * 5000}}}", "metadata: [x]", "metadata: {name: {a: b}}", "data: {a: 0o7, b: =}"],
    ids=["digits", "metadata", "name", "values"],
)
def test_objects_of_other_apis_may_hold_anything(manifest: Path, other: str) -> None:
    kept = f"---\napiVersion: v1\nkind: ConfigMap\n{other}\n"
    manifest.write_text(f"{BOOSTER}{OTHER}{kept}")
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, done.stderr) == (0, "")
    assert manifest.read_text().endswith(kept)


def test_a_number_in_a_document_that_is_edited(manifest: Path) -> None:
    number = f"apiVersion: v1\nkind: ConfigMap\na: {'9' * 5000}\n"
    items = "".join(textwrap.indent(text, "  ").replace("  ", "- ", 1) for text in (BOOSTER, number))
    manifest.write_text(f"{OTHER}---\napiVersion: v1\nkind: List\nitems:\n{items}")
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, done.stderr) == (0, "")
    assert manifest.read_text().endswith(f"a: {'9' * 5000}\n")


def test_in_place_with_comments_and_formatting(manifest: Path) -> None:
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, done.stdout) == (0, "1 file changed\n")
    converted = manifest.read_text()
    assert converted.endswith(OTHER)
    for kept in ("# A model.", "kind: ModelBooster   # the kind", "  # One way to run it.", "  # of 40960"):
        assert kept in converted
    spec = next(yaml.safe_load_all(converted))["spec"]
    assert spec["backend"]["replicas"] == 2
    assert (
        workbench("validate", manifest, "--alone", "--other-kinds", "skip", "--release", "kthena=v1.0.0").returncode
        == 0
    )
    again = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--check")
    assert (again.returncode, again.stdout) == (0, "")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("---\n{booster}", ""),
        ("---  # chart\n{booster}", "# chart"),
        ("# License\n\n---\n{booster}", "# License"),
        ("---\n# Nothing here.\n---\n{booster}", "# Nothing here."),
        ("{booster}---\n# Nothing here.\n{other}", "# Nothing here."),
        ("{booster}---\n---\n{other}", ""),
        ("{booster}{other}---\n", ""),
        ("{booster}{other}---  # end\n\n# really\n", "# end\n\n# really"),
    ],
)
def test_comments_and_formatting_stay_around_empty_documents(manifest: Path, text: str, kept: str) -> None:
    """Chart templates that render nothing leave empty documents, and many files start with a license and ``---``."""
    manifest.write_text(text.format(booster=BOOSTER, other=OTHER))
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, done.stdout) == (0, "1 file changed\n")
    converted = manifest.read_text()
    assert kept in converted
    assert "null" not in converted
    assert "kind: ModelBooster   # the kind" in converted
    assert ('data: {a:   "1"}   # kept as it is' in converted) == ("{other}" in text)
    documents = [value for value in yaml.safe_load_all(converted) if value is not None]
    assert "backend" in documents[0]["spec"]
    assert len(documents) == 1 + ("{other}" in text)


def test_rules_in_comments_are_no_document_markers(manifest: Path) -> None:
    other = OTHER.removeprefix("---\n")
    manifest.write_text(
        f"{BOOSTER}---\n# --- other ---\n# ---\n{other}---\n# ---- end ----\nkind: ConfigMap\n{other[:15]}"
    )
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, done.stdout) == (0, "1 file changed\n")
    converted = manifest.read_text()
    assert f"\n---\n# --- other ---\n# ---\n{other}---\n# ---- end ----\nkind: ConfigMap\n" in converted
    assert [value["kind"] for value in yaml.safe_load_all(converted)] == ["ModelBooster", "ConfigMap", "ConfigMap"]


def test_documents_that_do_not_change_keep_their_formatting(manifest: Path) -> None:
    other = "\n---  # folded\nkind: ConfigMap\napiVersion: v1\nimmutable: false\ndata: {a: 'b\n  c', b:\n  'd'}"
    manifest.write_text(f"{BOOSTER.rstrip()}{other}")
    assert workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write").returncode == 0
    converted = manifest.read_text()
    assert converted.endswith(other)
    assert "# A model." in converted
    assert "backends" not in converted


def test_check_fails_if_a_file_would_change(manifest: Path) -> None:
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--check")
    assert done.returncode == 1
    assert done.stderr == "1 file would change; run 'workbench migrate --write'\n"
    assert manifest.read_text() == BOOSTER + OTHER


def test_to_standard_output(manifest: Path) -> None:
    done = workbench("migrate", manifest, "--release", "kthena=v0.2.0", "--stdout")
    first, other = yaml.safe_load_all(done.stdout)
    assert first["spec"]["backend"]["maxReplicas"] == 2
    assert other["kind"] == "ConfigMap"


def test_nothing_is_written_if_something_is_lost(manifest: Path) -> None:
    text = BOOSTER.replace(
        "    type: vLLM", "    type: vLLM\n    loraAdapters: [{name: a, artifactURL: hf://Qwen/a}]"
    )
    manifest.write_text(text)
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert done.returncode == 1
    assert "loss: ModelBooster/qwen3-8b: spec.back" in done.stderr
    assert "loraAdapters" in done.stderr
    assert re.search(r"1 loss: nothing is written; pass --lossy", done.stderr)
    assert manifest.read_text() == text
    assert workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write", "--lossy").returncode == 0
    assert "loraAdapters" not in manifest.read_text()


def test_items_of_a_list_are_converted(manifest: Path) -> None:
    item = yaml.safe_load(BOOSTER)
    manifest.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [item]}))
    assert workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write").returncode == 0
    (converted,) = yaml.safe_load(manifest.read_text())["items"]
    assert "backend" in converted["spec"]


def test_a_project_with_its_stack_files(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "model.yaml").write_text(BOOSTER)
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    stack = "config:\n  # The models.\n  fleet:models: [models]\n"
    (tmp_path / "Pulumi.dev.yaml").write_text(stack)
    (tmp_path / "Pulumi.prod.yaml").write_text(stack + "  fleet:releases: {llmkube: v0.9.0}   # pinned\n")
    done = workbench("migrate", "--release", "kthena=v1.0.0", "--write", "--cwd", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 files changed\n", "")
    dev, prod = ((tmp_path / f"Pulumi.{name}.yaml").read_text() for name in ("dev", "prod"))
    assert "# The models." in dev
    assert yaml.safe_load(dev)["config"]["fleet:releases"] == {"kthena": "v1.0.0"}
    assert yaml.safe_load(prod)["config"]["fleet:releases"] == {"llmkube": "v0.9.0", "kthena": "v1.0.0"}
    assert "backend:" in (tmp_path / "models" / "model.yaml").read_text()


@pytest.fixture
def sharing(tmp_path: Path) -> Path:
    """Return a project whose stacks dev, old and prod share a file, and prod has one of its own."""
    for name in ("models", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.yaml").write_text(BOOSTER.replace("qwen3-8b}", f"{name}}}"))
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    for stack, folders, releases in (
        ("dev", "[models]", "{}"),
        ("old", "[models/model.yaml]", "{kthena: v0.4.0}"),
        ("prod", "[models, own]", "{}"),
    ):
        config = f"config:\n  fleet:models: {folders}\n  fleet:releases: {releases}\n"
        (tmp_path / f"Pulumi.{stack}.yaml").write_text(config)
    return tmp_path


@pytest.mark.parametrize("target", [("--release", "kthena=v1.0.0"), ("--to-family", "llmkube", "--lossy")])
def test_files_of_other_stacks_are_not_changed(sharing: Path, target: tuple[str, ...]) -> None:
    before = {path: path.read_text() for path in sharing.rglob("*.yaml")}
    done = workbench("migrate", *target, "--stack", "prod", "--write", "--cwd", sharing)
    readers = "dev (kthena in its default release), old (kthena v0.4.0)" if "--release" in target else "dev, old"
    assert f"note: {sharing}/models/model.yaml: is also read by the stacks {readers}\n" in done.stderr
    assert "own/model.yaml: is also" not in done.stderr
    assert (done.returncode, "1 file of --stack prod: other stacks read them; nothing is written" in done.stderr) == (
        1,
        True,
    )
    assert {path: path.read_text() for path in sharing.rglob("*.yaml")} == before
    written = workbench("migrate", *target, "--stack", "prod", "--write", "--shared", "--cwd", sharing)
    assert written.returncode == 0, written.stderr
    assert (sharing / "models/model.yaml").read_text() != before[sharing / "models/model.yaml"]
    assert (sharing / "Pulumi.dev.yaml").read_text() == before[sharing / "Pulumi.dev.yaml"]


def test_stacks_of_the_same_release_may_share_files(sharing: Path) -> None:
    for stack in ("dev", "old"):
        file = sharing / f"Pulumi.{stack}.yaml"
        file.write_text("config:\n  fleet:models: [models]\n  fleet:releases: {kthena: v1.0.0}\n")
    done = workbench("migrate", "--release", "kthena=v1.0.0", "--stack", "prod", "--write", "--cwd", sharing)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 files changed\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "pass --release"),
        (["--release", "kthena=v1.0.0", "--to-family", "kthena"], "pass --release"),
        (["--to-family", "llmaz"], "--to-family: cannot convert to 'llmaz'"),
        (["--release", "kthena"], "--release: must be FAMILY=RELEASE"),
        (["--release", "kthena=v9"], "--release: Kthena has no release 'v9'; releases: 97b99f41, v0.1.0"),
        (["--release", "leaderworkerset=v1"], "--release: 'leaderworkerset' has no releases; families: kthena"),
        (["--release", "kthena=v1.0.0", "--from", "kthena=v9"], "--from: Kthena has no release 'v9'"),
    ],
)
def test_wrong_options(manifest: Path, arguments: list[str], message: str) -> None:
    done = workbench("migrate", manifest, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOOSTER.replace("minReplicas: 2", "minReplicas: two"), "correct the manifests first"),
        ("a: [", "correct the manifests first"),
    ],
)
def test_invalid_manifests_are_not_converted(manifest: Path, text: str, message: str) -> None:
    manifest.write_text(text)
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--write")
    assert (done.returncode, manifest.read_text()) == (1, text)
    assert message in done.stderr


def test_a_manifest_that_its_release_does_not_have(manifest: Path) -> None:
    done = workbench("migrate", manifest, "--release", "kthena=v1.0.0", "--from", "kthena=v0.4.0")
    assert done.returncode == 1
    assert "unknown field of Kthena v0.4.0" in done.stderr


def test_missing_files(tmp_path: Path) -> None:
    done = workbench("migrate", tmp_path / "none.yaml", "--release", "kthena=v1.0.0")
    assert done.returncode == 2
    assert "no such file or folder" in done.stderr


PLAYGROUND = """apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen2-7b}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: qwen-chat}
spec:
  replicas: 1
  modelClaim: {modelName: qwen2-7b}
  backendRuntimeConfig: {args: [--max-model-len, "16384"]}
"""


def test_to_another_family(manifest: Path) -> None:
    manifest.write_text(PLAYGROUND + OTHER)
    done = workbench("migrate", manifest, "--to-family", "kthena", "--write")
    assert (done.returncode, done.stdout) == (0, "1 file changed\n")
    assert "loss:" not in done.stderr
    documents = list(yaml.safe_load_all(manifest.read_text()))
    assert [document["kind"] for document in documents] == ["ModelServing", "ModelServer", "ModelRoute", "ConfigMap"]
    assert all("namespace" not in document["metadata"] for document in documents)
    container = documents[0]["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]["containers"][0]
    assert container["args"][-2:] == ["--max-model-len", "16384"]
    assert workbench("validate", manifest, "--other-kinds", "skip").returncode == 0


def test_what_another_family_cannot_express_is_listed(manifest: Path) -> None:
    manifest.write_text(PLAYGROUND)
    done = workbench("migrate", manifest, "--to-family", "llmkube", "--write")
    assert done.returncode == 1
    assert re.search(r"loss: Playground/qwen-chat: .* becomes ", done.stderr)
    assert "nothing is written; pass --lossy" in done.stderr
    assert manifest.read_text() == PLAYGROUND


VARIANT = """apiVersion: llmd.ai/v1alpha1
kind: VariantAutoscaling
metadata:
  name: chat
  labels: {inference.optimization/acceleratorName: L40S}
spec:
  modelID: chat
  sloClassRef: {name: service-classes-config, key: premium.yaml}
  modelProfile:
    accelerators:
    - {acc: L40S, accCount: 1, alpha: "20", beta: "0.4", maxBatchSize: 8}
"""
PRICES = """date: 2026-08-01
source: contract
regions:
  us-east-1: {instances: {g6e.xlarge: {onDemand: 1.25}}}
"""


def test_costs_are_those_of_the_price_file(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text(
        PROJECT.replace("fleet:releases", "fleet:prices: {type: string}\n  fleet:releases")
    )
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  fleet:models: [models]\n  fleet:prices: prices.yaml\n")
    (tmp_path / "prices.yaml").write_text(PRICES)
    (tmp_path / "models").mkdir()
    manifest = tmp_path / "models/chat.yaml"
    manifest.write_text(VARIANT)
    done = workbench("migrate", "--cwd", tmp_path, "--release", "llmd=v0.4.1", "--write", "--lossy")
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(manifest.read_text())["spec"]["variantCost"] == "125.00"
    (tmp_path / "prices.yaml").write_text("regions: 1\n")
    manifest.write_text(VARIANT)
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  fleet:models: [models]\n  fleet:prices: prices.yaml\n")
    done = workbench("migrate", "--cwd", tmp_path, "--release", "llmd=v0.4.1", "--write", "--lossy")
    assert (done.returncode, manifest.read_text()) == (1, VARIANT)
    assert "prices.yaml" in done.stderr


SERVED = """# the model
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: chat}
spec:
  familyName: llama3
  source: {modelHub: {modelID: meta-llama/Llama-3.1-8B-Instruct}}
  inferenceConfig:
    flavors:
    - {name: l40s, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g6e.2xlarge}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  modelClaim: {modelName: chat}
  backendRuntimeConfig: {args: [--max-num-seqs, "8"]}
---
# sized for the peak
"""
LEVELS = """config:
  inference-platform:cloud: none
  inference-platform:kubeconfig: kubeconfig
  inference-platform:models: [models]
  inference-platform:serviceLevels:
    classes: [{name: Premium, models: {chat: {itlMs: 30, ttftMs: 1000}}}]
    loads: {chat: {requestsPerMinute: 3000, leastRequestsPerMinute: 1000, outputTokens: 100}}
"""


def test_a_way_out_of_the_kind_keeps_the_size(tmp_path: Path) -> None:
    """The bounds that the plan computes from the profile are those of the autoscaler, and the plan accepts it."""
    (tmp_path / "Pulumi.yaml").write_text("name: inference-platform\nruntime: python\n")
    stack = tmp_path / "Pulumi.dev.yaml"
    stack.write_text(LEVELS)
    (tmp_path / "models").mkdir()
    manifest = tmp_path / "models/chat.yaml"
    manifest.write_text(SERVED + VARIANT)
    options = ("--cwd", tmp_path, "--stack", "dev")
    before = [body for body in _rendered(*options) if body["kind"] == "HorizontalPodAutoscaler"]
    done = workbench("migrate", "--cwd", tmp_path, "--release", "llmd=v0.9.0", "--write", "--lossy")
    assert done.returncode == 0, done.stderr
    assert "loss: VariantAutoscaling/chat: spec.modelProfile" in done.stderr
    written = manifest.read_text()
    assert written.startswith(SERVED)
    (after,) = [body for body in yaml.safe_load_all(written) if body["kind"] == "HorizontalPodAutoscaler"]
    bounds = ("minReplicas", "maxReplicas")
    assert [after["spec"][key] for key in bounds] == [before[0]["spec"][key] for key in bounds]
    assert before[0]["spec"]["maxReplicas"] > before[0]["spec"]["minReplicas"] > 1
    assert written.count("# sized for the peak") == 1
    stack.write_text(stack.read_text() + "  inference-platform:otherKinds: apply\n")
    checked = workbench("validate", *options)
    assert checked.returncode == 0, checked.stdout
    assert "llm-d.ai" not in checked.stdout


def _rendered(*options: str | Path) -> list[dict[str, Any]]:
    done = workbench("render", *options)
    assert done.returncode == 0, done.stderr
    return [body for body in yaml.safe_load_all(done.stdout) if body]


CLUSTER = """apiVersion: federation.llmkube.dev/v1alpha1
kind: FederatedCluster
metadata: {name: a}
spec: {displayName: a}
"""
MODEL = """apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: m}
spec: {source: "https://h.example.org/x.gguf", prefetch: true}
"""


def test_an_object_that_the_release_lacks_is_left_out(manifest: Path) -> None:
    manifest.write_text(f"{CLUSTER}---\n{MODEL}")
    done = workbench("migrate", manifest, "--release", "llmkube=v0.8.12", "--write")
    assert (done.returncode, manifest.read_text()) == (1, f"{CLUSTER}---\n{MODEL}")
    left_out = "loss: FederatedCluster/a: the object is left out (kind: LLMKube v0.8.12 has no kind FederatedCluster)"
    assert f"{left_out}. What it did: " in done.stderr
    done = workbench("migrate", manifest, "--release", "llmkube=v0.8.12", "--write", "--lossy")
    assert done.returncode == 0, done.stderr
    assert left_out in done.stderr
    assert manifest.read_text() == MODEL.replace(", prefetch: true", "")


BACK = """apiVersion: llmd.ai/v1alpha1
kind: VariantAutoscaling
metadata:
  name: chat
  labels: {inference.optimization/acceleratorName: L40S}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  modelID: meta-llama/llama-7b
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  template:
    spec:
      containers:
        - name: c
          image: vllm/vllm-openai:v0.9.0
          args: [--max-num-seqs=32]
          resources: {limits: {nvidia.com/gpu: 2}}
"""


def test_a_required_profile_is_derived_from_the_deployment(manifest: Path) -> None:
    manifest.write_text(BACK)
    options = ("--from", "llmd=v0.5.1", "--release", "llmd=c0f645c", "--lossy", "--stdout")
    done = workbench("migrate", manifest, *options)
    assert done.returncode == 0, done.stderr
    (entry,) = next(yaml.safe_load_all(done.stdout))["spec"]["modelProfile"]["accelerators"]
    assert (entry["accCount"], entry["maxBatchSize"], entry["acc"]) == (2, 32, "L40S")
    assert (
        "loss: VariantAutoscaling/chat: spec.modelProfile: is required up to v0.0.4: published figures" in done.stderr
    )
    manifest.write_text(BACK.replace("meta-llama/llama-7b", "nobody/unknown-3b"))
    done = workbench("migrate", manifest, *options)
    assert (done.returncode, [each["kind"] for each in yaml.safe_load_all(done.stdout)]) == (0, ["Deployment"])
    assert "loss: VariantAutoscaling/chat: the object is left out (spec.modelProfile: is required" in done.stderr


POLICY = """apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {name: unbound}
spec: {metrics: [{metricName: a, targetValue: 1}]}
"""


def test_an_object_that_breaks_a_rule_of_the_release_is_left_out(manifest: Path) -> None:
    """Since v1.0.0, the webhook refuses a policy without a target, which only a binding had before."""
    manifest.write_text(f"{POLICY}---\n{BOOSTER}")
    options = ("--from", "kthena=v0.1.0", "--release", "kthena=v1.0.0", "--write")
    done = workbench("migrate", manifest, *options)
    assert (done.returncode, manifest.read_text()) == (1, f"{POLICY}---\n{BOOSTER}")
    left_out = "loss: AutoscalingPolicy/unbound: the object is left out (spec: set exactly one of homogeneousTarget"
    assert left_out in done.stderr
    done = workbench("migrate", manifest, *options, "--lossy")
    assert done.returncode == 0, done.stderr
    assert left_out in done.stderr
    assert [body["kind"] for body in yaml.safe_load_all(manifest.read_text())] == ["ModelBooster"]

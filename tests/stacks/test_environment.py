"""The composition: what a stack registers, and that bad manifests register nothing."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from stacks.environment import deploy
from stacks.settings import read
from tests.recorded import Recorded
from tests.recorded import deploy as record

ROOT = Path(__file__).parents[2]
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec:
  familyName: opt
  source: {modelHub: {modelID: facebook/opt-125m}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: GPUS}, params: {INSTANCE-TYPE: g5.2xlarge}}]
---
"""
PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: opt}
spec: {modelClaim: {modelName: opt}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder of its own, as the working directory of the program."""
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    (tmp_path / "kubeconfig").write_text("not read by the program")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(project: Path, manifest: str, *, preview: bool = False, **settings: str) -> Recorded:
    (project / "models.yaml").write_text(manifest)
    config = {"models": '["models.yaml"]', "kubeconfig": "kubeconfig", **settings}
    return record(lambda: deploy(read()), preview=preview, config=config)


GOOD = MODEL.replace("GPUS", "1") + PLAYGROUND


@pytest.mark.parametrize("preview", [False, True])
def test_the_graph_of_one_model(project: Path, preview: bool) -> None:
    graph = run(project, GOOD, preview=preview, simulatedNodes="true").graph
    provider = "pulumi:providers:kubernetes::cluster"
    fleet, nodes = (
        "inference-platform:index:ModelFleet::fleet",
        "inference-platform:index:SimulatedNodes::fleet-nodes",
    )
    playground = "inference-platform:index:Playground::fleet-models/opt"
    namespace = "kubernetes:core/v1:Namespace::fleet-models"
    simulated = [f"kubernetes:core/v1:Node::fleet-nodes-g5-2xlarge-{index}" for index in range(8)]
    assert [(e.key, e.parent, e.provider, e.dependencies) for e in graph] == [
        (fleet, "", "", ()),
        (playground, fleet, "", (namespace, *simulated)),
        (nodes, fleet, "", ()),
        ("kubernetes:apps/v1:Deployment::fleet-models/opt", playground, provider, ()),
        (namespace, fleet, provider, ()),
        *((node, nodes, provider, ()) for node in simulated),
        ("kubernetes:core/v1:Service::fleet-models/opt-lb", playground, provider, ()),
        (provider, "", "", ()),
    ]


@pytest.mark.parametrize(("simulated", "expected"), [("true", {"upsertExistingObjects": "true"}), ("false", {})])
def test_objects_that_exist_are_taken_over_where_nobody_else_creates_any(
    project: Path, simulated: str, expected: dict[str, str]
) -> None:
    provider = run(project, GOOD, simulatedNodes=simulated)["pulumi:providers:kubernetes::cluster"]
    assert {key: value for key, value in provider.inputs.items() if key.startswith("upsert")} == expected


def test_preview_and_update_register_the_same(project: Path) -> None:
    update = run(project, GOOD, simulatedNodes="true", customResources="true")
    preview = run(project, GOOD, preview=True, simulatedNodes="true", customResources="true")
    assert [(e.key, e.inputs) for e in update.graph] == [(e.key, e.inputs) for e in preview.graph]
    assert update.exports == preview.exports


def test_exports_name_endpoint_model_and_nodes(project: Path) -> None:
    exports = run(project, GOOD).exports
    url = "http://opt-lb.models.svc.cluster.local:8080/v1"
    assert exports["endpoints"] == {"opt": {"url": url, "api": "openai", "model": "opt", "port": 8080}}
    assert exports["models"]["opt"]["workloadKind"] == "Deployment"
    assert exports["nodes"] == {"g5-2xlarge": {"instanceType": "g5.2xlarge", "nodes": 1, "accelerators": 1}}


def test_names_carry_the_namespace_unless_it_is_the_environments_own(project: Path) -> None:
    """A model's name in the exports is the same whatever other models there are."""
    second = PLAYGROUND.replace("metadata: {name: opt}", "metadata: {name: opt, namespace: other}")
    exports = run(project, f"{GOOD}---\n{second}").exports
    assert set(exports["endpoints"]) == set(exports["models"]) == {"opt", "other/opt"}
    assert set(run(project, f"{MODEL.replace('GPUS', '1')}{second}").exports["endpoints"]) == {"other/opt"}


def test_no_child_gets_the_options_of_its_component(project: Path) -> None:
    """What a component comes after is said once, at the component; only the fleet orders its children."""
    for entry in run(project, GOOD, simulatedNodes="true").graph:
        if entry.parent:
            # Only those of the fleet, which name a former type or place: an alias in options is a URN.
            assert not any(alias.urn or alias.stack or alias.project for alias in entry.registration.aliases)
            assert not entry.registration.ignore_changes
            assert entry.parent.endswith("ModelFleet::fleet") or not entry.dependencies, entry


def test_the_operator_gets_the_typed_resources(project: Path) -> None:
    untyped = GOOD.replace(", params: {INSTANCE-TYPE: g5.2xlarge}", "")
    recorded = run(project, untyped, realization="operator", customResources="true")
    kinds = {e.inputs["kind"] for e in recorded.graph if "kind" in e.inputs}
    assert kinds == {"CustomResourceDefinition", "Namespace", "OpenModel", "Playground"}


def test_the_provider_is_explicit_and_lasting(project: Path) -> None:
    inputs = run(project, GOOD, clusterName="prod").graph[-1].inputs
    assert inputs["clusterIdentifier"] == "prod"
    assert inputs["kubeconfig"] == "kubeconfig"


def with_spec(more: str) -> str:
    return MODEL.replace("GPUS", "1") + PLAYGROUND.replace("}}\n", f"}}, {more}}}\n")


TWO_MAINS = GOOD.replace(
    "{modelClaim: {modelName: opt}}", "{modelClaims: {models: [{name: opt, role: main}, {name: opt, role: main}]}}"
)
BAD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "more accelerators than the instance has": (
        MODEL.replace("GPUS", "4") + PLAYGROUND,
        ("Playground/opt", "4 nvidia.com/gpu", "g5.2xlarge has only 1"),
    ),
    "unknown backend": (
        with_spec("backendRuntimeConfig: {backendName: vlm}"),
        ("spec.backendRuntimeConfig.backendName", "'vlm'", "vllm"),
    ),
    "two mains": (TWO_MAINS, ("Playground/opt", "spec.modelClaims", "main")),
    "minReplicas 0": (
        with_spec("elasticConfig: {minReplicas: 0}"),
        ("spec.elasticConfig.minReplicas", "0"),
    ),
    "typo": (GOOD.replace("familyName", "familyNam"), ("spec.familyNam", "unknown field", "familyName")),
    "bad YAML": ("kind: [\n", ("models.yaml:", )),
    "unknown model": (PLAYGROUND, ("spec.modelClaim.modelName", "no OpenModel named 'opt'")),
    "bounds without trigger": (
        with_spec("elasticConfig: {minReplicas: 1, maxReplicas: 3}"),
        ("spec.elasticConfig", "scaleTrigger"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("preview", [False, True])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_manifest_is_explained_and_registers_nothing(project: Path, case: str, preview: bool) -> None:
    manifest, expected = BAD[case]
    registered: list[Any] = []

    def program() -> None:
        try:
            deploy(read())
        finally:
            registered.append(True)

    (project / "models.yaml").write_text(manifest)
    with pytest.raises(pulumi.RunError) as caught:
        record(program, preview=preview, config={"models": '["models.yaml"]', "kubeconfig": "kubeconfig"})
    assert registered
    assert "nothing was created" in str(caught.value)
    for part in expected:
        assert part in str(caught.value)


def test_an_absent_file_is_named(project: Path) -> None:
    with pytest.raises(pulumi.RunError, match=r"absent\.yaml"):
        record(lambda: deploy(read()), config={"models": '["absent.yaml"]', "kubeconfig": "kubeconfig"})


def test_an_absent_kubeconfig_says_how_to_get_one(project: Path) -> None:
    (project / "kubeconfig").unlink()
    with pytest.raises(pulumi.RunError, match="workbench up --start-cluster"):
        run(project, GOOD)


def test_the_samples_need_no_warning_but_of_what_a_gateway_and_an_operator_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two backends of one model share requests in a gateway, and a load only where their operator scales them.

    Families have different default priorities, so that a stack of several states one for all.
    """
    monkeypatch.chdir(ROOT)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("")
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda message, _: warned.append(message))
    recorded = record(
        lambda: deploy(read()), config={"kubeconfig": str(kubeconfig), "hardening": '{"priority": "none"}'}
    )
    assert len(recorded.exports["endpoints"]) >= 10
    (routes, load) = sorted(each for each in warned if "ModelBooster/qwen2-5-7b: " in each)
    assert "the targets share no load" in load
    assert "has no effect without a gateway" in routes
    # By an estimate, since its weights are in an object store: vLLM of its release computes 32,768 tokens at a time.
    (tight,) = (each for each in warned if "[memory-tight]" in each)
    assert "Playground/qwen-oss" in tight
    # The pods of a ModelServing are its author's own.
    (aborted,) = (each for each in warned if "[drain-missing]" in each)
    assert "ModelServing/mistral-nemo" in aborted
    assert len(warned) == 4

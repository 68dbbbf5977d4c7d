"""What each live object becomes."""

from typing import Any

import pytest

from components.families.llmd.names import ACCELERATOR_LABEL
from tests.adopting.support import deployment, hpa, leader_worker_set, resources_of, service, stateful_set
from workbench.adopting.candidates import candidates
from workbench.adopting.decisions import Adoption, Becomes, decide
from workbench.adopting.settings import fleet_values, present_charts
from workbench.inspecting.snapshot import ClusterSnapshot

Object = dict[str, Any]
PRESENT = ["kthena", "kthena-router", "leader-worker-set", "llmaz", "metrics-server", "nvidia-device-plugin"]
MODEL = {
    "apiVersion": "llmaz.io/v1alpha1",
    "kind": "OpenModel",
    "metadata": {"name": "qwen"},
    "spec": {"familyName": "qwen2", "source": {"modelHub": {"modelID": "Qwen/Qwen2-0.5B", "name": "Huggingface"}}},
}
PLAYGROUND = {
    "apiVersion": "inference.llmaz.io/v1alpha1",
    "kind": "Playground",
    "metadata": {"name": "chat", "namespace": "models"},
    "spec": {"modelClaim": {"modelName": "qwen"}, "replicas": 1},
}


def owned(body: Object, kind: str, name: str) -> Object:
    reference = {"apiVersion": "v1", "kind": kind, "name": name, "uid": "7", "controller": True}
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [reference]}}


def with_env(body: Object, **variable: Any) -> Object:
    body["spec"]["template"]["spec"]["containers"][0]["env"] = [variable]
    return body


def decisions(*objects: Object, **releases: str) -> Adoption:
    snapshot = ClusterSnapshot(tuple(objects))
    families = [body for body in objects if body["apiVersion"].count(".")]
    values = fleet_values(families, PRESENT, releases)
    absent: set[tuple[str, str, str, str]] = set()
    while True:
        adoption = decide(snapshot, values, absent)
        if not adoption.unknown:
            return adoption
        # Namespaces exist, because there is something in them.
        spaces = [item for item in adoption.unknown if item[1] == "Namespace"]
        snapshot = ClusterSnapshot((*snapshot.objects, *(_namespace(name) for *_, name in spaces)))
        absent |= adoption.unknown - set(spaces)


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def becomes(adoption: Adoption) -> dict[str, Becomes]:
    return {decision.candidate.title: decision.becomes for decision in adoption.decisions}


VARIANT = {
    "apiVersion": "llmd.ai/v1alpha1",
    "kind": "VariantAutoscaling",
    "metadata": {"name": "chat-va", "namespace": "models", "labels": {ACCELERATOR_LABEL: "H100"}},
    "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "chat"}, "modelID": "Qwen/Qwen2-0.5B"},
}
LEFT, TYPED, VERBATIM = Becomes.LEFT, Becomes.TYPED, Becomes.VERBATIM


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([deployment("chat", "models")], {"Deployment models/chat": VERBATIM}, id="deployment"),
        pytest.param([stateful_set("chat", "models")], {"StatefulSet models/chat": VERBATIM}, id="stateful-set"),
        pytest.param(
            [leader_worker_set("chat", "models")], {"LeaderWorkerSet models/chat": TYPED}, id="leader-worker-set"
        ),
        pytest.param(
            [deployment("web", "models", image="nginx:1", args=[]), service("web", "models")], {}, id="no-model"
        ),
        pytest.param([deployment("chat", "kube-system")], {}, id="system"),
        pytest.param(
            [deployment("chat", "models"), service("chat", "models"), service("other", "models")],
            {"Deployment models/chat": VERBATIM, "Service models/chat": VERBATIM},
            id="its-service",
        ),
        pytest.param(
            [deployment("chat", "models"), service("chat", "elsewhere")],
            {"Deployment models/chat": VERBATIM},
            id="service-of-another-namespace",
        ),
        pytest.param(
            [deployment("chat", "models"), hpa("chat", "models")],
            {"Deployment models/chat": VERBATIM, "HorizontalPodAutoscaler models/chat": VERBATIM},
            id="its-autoscaler",
        ),
        pytest.param(
            [deployment("chat", "models"), hpa("chat", "models", "StatefulSet")],
            {"Deployment models/chat": VERBATIM},
            id="autoscaler-of-another-kind",
        ),
        pytest.param(
            [MODEL, PLAYGROUND, owned(leader_worker_set("chat", "models"), "Playground", "chat")],
            {
                "LeaderWorkerSet models/chat": LEFT,
                "OpenModel qwen": TYPED,
                "Playground models/chat": TYPED,
            },
            id="operated",
        ),
        pytest.param([PLAYGROUND], {"Playground models/chat": LEFT}, id="invalid"),
        pytest.param(
            [with_env(deployment("chat", "models"), name="HF_TOKEN", value="hf_" + "a1B2" * 8 + "c3")],
            {"Deployment models/chat": LEFT},
            id="secret",
        ),
        pytest.param(
            [
                with_env(
                    deployment("chat", "models"),
                    name="HF_TOKEN",
                    valueFrom={"secretKeyRef": {"name": "hf", "key": "token"}},
                )
            ],
            {"Deployment models/chat": VERBATIM},
            id="reference",
        ),
    ],
)
def test_what_objects_become(objects: list[Object], expected: dict[str, Becomes]) -> None:
    assert becomes(decisions(*objects)) == expected


@pytest.mark.parametrize(("namespace", "expected"), [("models", TYPED), ("elsewhere", LEFT)])
def test_a_variant_of_a_deployment_that_is_adopted_as_it_is(namespace: str, expected: Becomes) -> None:
    found = becomes(decisions(deployment("chat", namespace), VARIANT, llmd="v0.5.1"))
    assert found == {f"Deployment {namespace}/chat": VERBATIM, "VariantAutoscaling models/chat-va": expected}


def test_imports_are_exactly_what_the_plan_creates() -> None:
    adoption = decisions(MODEL, PLAYGROUND, deployment("web", "models"), service("web", "models"))
    assert adoption.imports == (
        "apps/Deployment/models/web",
        "core/Namespace/models",
        "core/Service/models/web",
        "inference.llmaz.io/Playground/models/chat",
        "llmaz.io/OpenModel/qwen",
    )
    assert adoption.omitted == ()


def test_what_the_plan_adds_to_an_operators_resource_is_left_out() -> None:
    """The project has a Service for each role of a ModelServing; Kthena's controller creates none."""
    bodies = resources_of("kthena-routed.yaml", "models")
    adoption = decisions(*bodies)
    assert adoption.omitted == ("core/Service/models/mistral-nemo-leader",)
    assert set(becomes(adoption).values()) == {TYPED}


def test_errors_of_what_runs_are_ignored_and_listed() -> None:
    bodies = resources_of("qwen-oss.yaml", "models")
    adoption = decisions(*bodies)
    (playground,) = [each for each in adoption.decisions if each.candidate.identity[1] == "Playground"]
    assert playground.becomes is TYPED
    assert [finding.rpartition(" ")[2] for finding in playground.findings] == ["[operator-unsupported]"]
    annotations = (playground.manifest or {})["metadata"]["annotations"]
    assert annotations == {"ignore.inference-platform/operator-unsupported": "ran so before it was adopted"}


def test_an_autoscaler_keeps_the_replicas() -> None:
    scaled, free = deployment("chat", "models", 3), deployment("free", "models", 3)
    adoption = decisions(scaled, hpa("chat", "models"), free)
    replicas = {
        decision.candidate.identity[3]: (decision.manifest or {})["spec"].get("replicas")
        for decision in adoption.decisions
        if decision.candidate.identity[1] == "Deployment"
    }
    assert replicas == {"chat": None, "free": 3}


def test_a_refused_manifest_names_the_field() -> None:
    (decision,) = decisions(PLAYGROUND).decisions
    assert "its manifest is refused: spec.modelClaim" in decision.reason


def test_a_workload_of_a_secret_says_what_to_do() -> None:
    body = with_env(deployment("chat", "models"), name="HF_TOKEN", value="hf_" + "a1B2" * 8 + "c3")
    (decision,) = decisions(body).decisions
    assert "move it to a Secret" in decision.reason
    assert decision.manifest is None


@pytest.mark.parametrize(
    ("groups", "objects", "charts"),
    [
        (["apps"], [], []),
        (["leaderworkerset.x-k8s.io", "disaggregatedset.x-k8s.io"], [], ["leader-worker-set"]),
        (["llmaz.io", "inference.llmaz.io"], [], ["llmaz"]),
        (["llmaz.io"], [], []),
        ([], [deployment("metrics-server", "kube-system")], ["metrics-server"]),
        (
            [],
            [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": "n"},
                    "status": {"allocatable": {"nvidia.com/gpu": "1"}},
                }
            ],
            ["nvidia-device-plugin"],
        ),
    ],
)
def test_charts_that_are_present(groups: list[str], objects: list[Object], charts: list[str]) -> None:
    assert present_charts(ClusterSnapshot(tuple(objects), api_groups=frozenset(groups))) == charts


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (PLAYGROUND, ["chat", "qwen"]),
        (deployment("chat", "models", args=["--model", "qwen"]), ["chat"]),
        (leader_worker_set("qwen", "models"), ["qwen"]),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_cluster_wide_resources_belong_to_the_resources_that_name_them(body: Object, names: list[str]) -> None:
    """A container, or a workload, may have the same name by chance."""
    snapshot = ClusterSnapshot((MODEL, body), namespaces=("models",))
    assert [each.live["metadata"]["name"] for each in candidates(snapshot)] == names


def test_an_object_that_cannot_be_applied_is_left_alone() -> None:
    """The API server stores duplicates that a client creates, and server-side apply refuses them."""
    body = deployment("chat", "models", env=[{"name": "HF_HOME", "value": "/a"}, {"name": "HF_HOME", "value": "/b"}])
    body["metadata"]["uid"] = "1"
    (decision,) = decisions(body).decisions
    assert decision.becomes is Becomes.LEFT
    assert decision.reason.startswith("cannot be applied: spec.template.spec.containers[0].env: items must differ")


def by(manager: str, body: Object) -> Object:
    fields: Object = {
        "f:spec": {},
        **{f"f:{key}": {} for key in body if key not in ("apiVersion", "kind", "metadata")},
    }
    entry = {"manager": manager, "operation": "Update", "fieldsV1": fields}
    return {**body, "metadata": {**body["metadata"], "uid": "1", "managedFields": [entry]}}


WORKSPACE = {
    "apiVersion": "kaito.sh/v1beta1",
    "kind": "Workspace",
    "metadata": {"name": "phi", "namespace": "models"},
    "inference": {"preset": {"name": "phi-4"}},
}


@pytest.mark.parametrize("body", [deployment("chat", "models"), WORKSPACE])
@pytest.mark.parametrize(
    ("manager", "result"), [("serving-operator", Becomes.LEFT), ("kubectl-create", Becomes.VERBATIM)]
)
def test_what_an_operator_wrote_without_owning_it_is_left(body: Object, manager: str, result: Becomes) -> None:
    (decision,) = decisions(by(manager, body)).decisions
    assert decision.becomes is result
    assert (f"written by {manager}, " in decision.reason) == (result is Becomes.LEFT)

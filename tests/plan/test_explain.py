"""Each set field and what it became, against upstream's documents (llmaz spec 2, vLLM's arguments)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.families import load, parse
from components.fleet.options import Options
from components.fleet.words import Edition, Realization
from components.plan.environment import Environment
from components.plan.explain import ExplainedField, explain
from components.plan.plan import plan
from components.plan.rendering import render_fleet
from components.plan.view import view
from tests.stacks.shipped import ROOT

TEXT = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec:
  familyName: opt
  source: {modelHub: {modelID: facebook/opt-125m, revision: main}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 2}, params: {INSTANCE-TYPE: g5.12xlarge, TP: "2"}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, labels: {team: a}}
spec:
  replicas: 1
  modelClaim: {modelName: opt}
  backendRuntimeConfig:
    backendName: vllm
    args: [--max-model-len, "4096", --enforce-eager]
    envs: [{name: VLLM_LOGGING_LEVEL, value: DEBUG}]
    resources: {requests: {cpu: "3"}}
"""


def rows(name: str, text: str = TEXT, **options: Any) -> dict[str, ExplainedField]:
    manifests = parse(text)
    (subject,) = (r for r in manifests.resources if r.name == name)
    planned = plan(manifests, Environment(options=Options(**options)))
    return {row.path: row for row in explain(subject, manifests.resources, planned)}


class TestAPlayground:
    @pytest.mark.parametrize(
        ("path", "became"),
        [
            ("spec.replicas", "Deployment/chat: spec.replicas = 1"),
            ("spec.modelClaim.modelName", "refers to OpenModel/opt"),
            ("spec.backendRuntimeConfig.args[1]", "pod containers[model-runner].args --max-model-len 4096"),
            ("spec.backendRuntimeConfig.args[2]", "pod containers[model-runner].args --enforce-eager"),
            ("spec.backendRuntimeConfig.envs[0].value", "pod containers[model-runner].env[VLLM_LOGGING_LEVEL].value"),
            ("spec.backendRuntimeConfig.resources.requests.cpu", "resources.requests.cpu = 3"),
        ],
    )
    def test_a_field_is_where_it_went(self, path: str, became: str) -> None:
        assert any(became in line for line in rows("chat")[path].became), rows("chat")[path]

    def test_the_value_is_as_it_is_written(self) -> None:
        found = rows("chat")
        assert found["spec.replicas"].value == 1
        assert found["spec.backendRuntimeConfig.args[1]"].value == "4096"

    def test_the_default_that_is_written_out_is_found_too(self) -> None:
        """One replica is what there is without the field."""
        assert "nodes for chat: pods = 1" in rows("chat")["spec.replicas"].became


MADE_UP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: plain, labels: {app: shop}}
spec:
  replicas: 2
  modelClaim: {modelName: opt}
  backendRuntimeConfig: {backendName: vllm, configName: default, args: [--dtype, half]}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: phi}
spec:
  source: microsoft/phi-4
  format: safetensors
  hardware: {accelerator: cuda, gpu: {count: 1, vendor: nvidia}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: phi}
spec:
  modelRef: phi
  runtime: vllm
  skipModelInit: true
  nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}
"""


class TestWhatNobodyWrote:
    """A field is tried with other values; these are no part of the answer."""

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("plain", "spec.backendRuntimeConfig.configName"),
            ("phi", "spec.format"),
            ("phi", "spec.hardware.accelerator"),
            ("phi", "spec.hardware.gpu.vendor"),
        ],
    )
    def test_the_reason_of_a_refused_trial_is_not_told(self, name: str, path: str) -> None:
        manifests = parse(f"{TEXT}---\n{MADE_UP}")
        planned = plan(manifests)
        (became,) = (
            row.became
            for subject in manifests.resources
            if subject.name == name
            for row in explain(subject, manifests.resources, planned)
            if row.path == path
        )
        assert became == ("only validated",)

    def test_why_a_field_cannot_be_left_out_is_told(self) -> None:
        (text,) = rows("opt")["spec.inferenceConfig.flavors[0].name"].became
        assert text == "only validated: is required; set it"

    def test_no_text_of_a_trial_is_in_any_answer(self) -> None:
        """Of each text that is written, the trial is that text and an x, or with another number."""
        manifests = parse(f"{TEXT}---\n{MADE_UP}")
        planned = plan(manifests)
        for subject in manifests.resources:
            for row in explain(subject, manifests.resources, planned):
                if isinstance(row.value, str):
                    assert not any(f"{row.value}x" in line for line in row.became), row
                assert not any("metal" in line or " amd" in line for line in row.became), row


class TestAModel:
    def test_it_is_followed_into_what_claims_it(self) -> None:
        found = rows("opt")
        assert any(
            "env[MODEL_ID].value = facebook/opt-125m" in b for b in found["spec.source.modelHub.modelID"].became
        )
        instance = found["spec.inferenceConfig.flavors[0].params[INSTANCE-TYPE]"].became
        assert "nodes for chat: choice 0 node.kubernetes.io/instance-type = g5.12xlarge" in instance

    def test_what_cannot_be_changed_alone_is_found_by_name_or_said(self) -> None:
        limit = rows("opt")["spec.inferenceConfig.flavors[0].limits[nvidia.com/gpu]"].became
        assert limit
        assert all("nvidia.com/gpu" in line for line in limit)

    def test_a_model_that_nobody_claims_has_no_effect(self) -> None:
        alone = TEXT.partition("---")[0]
        assert rows("opt", alone)["spec.source.modelHub.revision"].became == ()


class TestOtherKinds:
    def test_an_operator_is_handed_the_field(self) -> None:
        text = TEXT.replace(', TP: "2"', "")
        options = {"realization": Realization.OPERATOR, "runtimes": Edition.UPSTREAM, "tolerates_devices": True}
        found = rows("chat", text, **options)
        assert "Playground/chat: spec.replicas = 1" in found["spec.replicas"].became

    def test_a_runtime_is_followed_into_what_is_served_with_it(self) -> None:
        own = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: own}
spec: {image: example.com/engine, version: v1, recommendedConfigs: [{name: default, args: [--fast]}]}
"""
        claimed = TEXT.replace("backendName: vllm", "backendName: own").replace(', TP: "2"', "")
        text = f"{claimed}---\n{own}"
        assert rows("own", text)["spec.image"].became == (
            "Deployment/chat: pod containers[model-runner].image = example.com/engine:v1",
        )

    def test_a_warning_stands_beside_its_field(self) -> None:
        """The autoscaler owns the replicas, and a Playground that sets them too is warned of."""
        cpu = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}"
        elastic = f"elasticConfig: {{minReplicas: 1, maxReplicas: 2, scaleTrigger: {{hpa: {{metrics: [{cpu}]}}}}}}"
        text = TEXT.replace("  replicas: 1\n", f"  replicas: 1\n  {elastic}\n")
        became = rows("chat", text)["spec.replicas"].became
        assert any(line.startswith("warning: ") for line in became)
        assert not any(line.startswith("warning: ") for line in rows("chat")["spec.replicas"].became)


IDLE = {
    # What a pod asks for is said by its first flavor (llmaz spec 2.6).
    "OpenModel": {"spec.inferenceConfig.flavors[1].limits[nvidia.com/gpu]"},
    # For people; and what the count of GPUs says already.
    "Model": {"spec.quantization", "spec.hardware.gpu.enabled"},
    # Its defaults are those of the Service.
    "InferenceService": {"spec.endpoint"},
    # The usual tolerance of an autoscaler, the default, and a flag that is added where a policy scales.
    "ModelBooster": {
        "spec.backends[0].autoscalingPolicy.tolerancePercent",
        "spec.costExpansionRatePercent",
        "spec.backends[0].workers[0].config[enable-metrics]",
    },
    # Where the engine serves its metrics anyway; Kthena's controller has to be told.
    "AutoscalingPolicyBinding": {"spec.scalingConfiguration.target.metricEndpoint.port"},
    # For people.
    "ModelRoute": {"spec.rules[0].name"},
}


BOOSTER = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: pair}
spec:
  backends:
    - {name: b, type: vLLM, modelURI: "hf://org/model", minReplicas: 3, maxReplicas: 3, workers: [{image: a/b:v1}]}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: beside, labels: {minReplicas: "3"}}
spec: {replicas: 3, leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: i}]}}}}
"""


def test_bounds_that_must_agree_are_changed_together() -> None:
    """Without a policy minReplicas must be maxReplicas (Kthena spec V4)."""
    found = rows("pair", BOOSTER)["spec.backends[0].minReplicas"].became
    assert "LeaderWorkerSet/pair-b: spec.replicas = 3" in found


def test_a_field_that_cannot_be_changed_is_not_found_in_other_resources() -> None:
    found = rows("pair", BOOSTER)
    assert not [text for row in found.values() for text in row.became if "beside" in text]


def test_no_other_field_of_the_shipped_models_is_without_effect() -> None:
    manifests = load([ROOT / "stacks" / "models"])
    planned = plan(manifests)
    idle: dict[str, set[str]] = {}
    for subject in manifests.resources:
        for row in explain(subject, manifests.resources, planned):
            if not row.became:
                idle.setdefault(subject.resource.kind, set()).add(row.path)
    assert idle == IDLE


class TestView:
    def test_arguments_stand_under_their_flags(self) -> None:
        listed = view(render_fleet(parse(TEXT).resources))
        prefix = "Deployment/chat: pod containers[model-runner].args "
        assert listed[f"{prefix}--max-model-len"] == "4096"
        assert listed[f"{prefix}--enforce-eager"] == ""
        assert listed[f"{prefix}--tensor-parallel-size"] == "2"

    def test_a_number_below_zero_is_a_value(self) -> None:
        text = TEXT.replace('--max-model-len, "4096"', '--chat-template, "-1", --seed=7, --seed=8')
        listed = view(render_fleet(parse(text).resources))
        prefix = "Deployment/chat: pod containers[model-runner].args "
        assert listed[f"{prefix}--chat-template"] == "-1"
        assert (listed[f"{prefix}--seed"], listed[f"{prefix}--seed (2)"]) == ("7", "8")

    @settings(deadline=None, max_examples=25)
    @given(replicas=st.integers(0, 50), length=st.integers(1, 99_999))
    def test_every_value_is_listed_once(self, replicas: int, length: int) -> None:
        text = TEXT.replace("replicas: 1", f"replicas: {replicas}").replace('"4096"', f'"{length}"')
        listed = view(render_fleet(parse(text).resources))
        assert listed["Deployment/chat: spec.replicas"] == str(replicas)
        assert sum(value == str(length) for place, value in listed.items() if "--max-model-len" in place) == 1


TWO_BACKENDS = """\
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: chat}
spec:
  backends:
    - &backend
      name: one
      type: vLLM
      modelURI: hf://Qwen/Qwen3-8B
      minReplicas: 1
      maxReplicas: 1
      routeWeight: 70
      workers: [{image: "vllm/vllm-openai:v0.9.2", replicas: 1, pods: 1, resources: {limits: {nvidia.com/gpu: 1}}}]
    - {<<: *backend, name: two, routeWeight: 30}
"""


def test_what_several_fields_are_warned_of_together_is_told_once() -> None:
    found = rows("chat", TWO_BACKENDS)
    told = [path for path, row in found.items() if any("without a gateway" in each for each in row.became)]
    assert told == ["spec.backends[0].name"]
    assert "endpoint of chat: weight of chat-two-leader = 30" in found["spec.backends[1].routeWeight"].became


def test_secrets_are_searched_for_once_in_each_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial of each field is a version of the resource; scripts and files in it take long to search."""
    manifests = parse(TEXT.replace("VLLM_LOGGING_LEVEL, value: DEBUG", "HF_TOKEN, value: zanzibar-7319"))
    planned = plan(manifests)
    searched: list[object] = []

    def record(value: object) -> frozenset[str]:
        searched.append(value)
        return frozenset()

    monkeypatch.setattr("components.contract.texts.secrets.secret_texts", record)
    fresh = [replace(each) for each in manifests.resources]
    assert len(explain(fresh[1], fresh, planned)) > 5
    assert len(searched) <= len(fresh)


class TestLargeResources:
    """A rendering for each field is quadratic in the size of a resource, so their number is bounded."""

    @staticmethod
    def with_arguments(number: int) -> str:
        words = "".join(f", --lora-modules=a{index}=b" for index in range(number))
        return TEXT.replace(", --enforce-eager]", f"{words}]")

    @pytest.mark.parametrize("number", [40, 400])
    def test_the_first_items_of_a_long_list_are_explained(self, number: int) -> None:
        found = rows("chat", self.with_arguments(number))
        arguments = {path: row for path, row in found.items() if path.startswith("spec.backendRuntimeConfig.args")}
        assert list(arguments) == [f"spec.backendRuntimeConfig.args[{index}]" for index in range(21)]
        # --max-model-len and 4096 are the other two.
        reason = f"not explained: the list has {number + 2} items, of which the first 20 are explained"
        assert arguments["spec.backendRuntimeConfig.args[20]"].became == (reason,)
        assert "--lora-modules" in arguments["spec.backendRuntimeConfig.args[19]"].became[0]

    @pytest.mark.parametrize("number", [1000, 2000])
    def test_fields_beyond_the_limit_are_named(self, number: int) -> None:
        labels = ", ".join(f"l{index}: a" for index in range(number))
        found = rows("chat", TEXT.replace("labels: {team: a}", f"labels: {{{labels}}}"))
        assert found["spec.replicas"].became
        *_, (path, last) = found.items()
        more = number - sum(row.path.startswith("metadata.labels") for row in found.values())
        assert path.endswith(f" and {more} more fields")
        assert last.became[0].startswith("not explained: the resources were rendered ")
        assert last.became[0].endswith("pass only the manifests that this resource needs")

    def test_every_field_of_a_usual_resource_is_explained(self) -> None:
        assert not any("not explained" in text for row in rows("chat").values() for text in row.became)


def test_repeated_paths_are_numbered() -> None:
    manifests = parse(TestLargeResources.with_arguments(3000))
    values = view(render_fleet(manifests.resources, Options()))
    path = "pod containers[model-runner].args --lora-modules"
    numbered = {name.partition(": ")[2] for name in values if path in name}
    assert numbered == {path} | {f"{path} ({number})" for number in range(2, 3001)}

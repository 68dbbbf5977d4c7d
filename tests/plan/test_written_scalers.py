"""Autoscalers that are written by hand among the manifests are checked as those of the families."""

from dataclasses import replace
from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.scaled_objects import summed_metrics
from components.checks.metrics.uses import scalers_of, scrape_targets
from components.checks.metrics.words import Adapter
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.review.planned import snapshot_of
from components.plan.review.review import Thresholds
from components.plan.review.thresholds import failures
from components.plan.scaler_kinds import SCALER_KINDS
from components.plan.sections.costs import bill_of
from components.plan.settings import FleetSettings
from tests.families.kthena.autoscaling.bindings import binding, bounded, metric, policy, serving
from tests.fleets import GPU, open_model, playground

Object = dict[str, Any]
MODEL = open_model("m", flavors=[{**GPU, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}])
CHAT = playground("chat", "m")
ENVIRONMENT = Environment(options=Options(namespace="models"), other_kinds=OtherKinds.APPLY)
ADDRESS = "http://prometheus.monitoring.svc:9090"
OURS = 'sum(vllm:num_requests_waiting{namespace="models",workload="chat"})'
SCALING = (
    "autoscaling-contested",
    "autoscaling-from-zero",
    "autoscaling-unheld",
    "autoscaling-vertical",
    "contract",
    "field-no-effect",
    "metrics-adapter-missing",
    "metrics-ambiguous",
    "metrics-left-out",
    "metrics-never-triggers",
    "metrics-not-exported",
    "metrics-requests-missing",
    "metrics-target",
    "metrics-unchecked",
    "reference-elsewhere",
)


def hpa(name: str = "chat", target: str = "chat", metric: str = "vllm:num_requests_waiting", **spec: Any) -> Object:
    pods = {"metric": {"name": metric}, "target": {"type": "AverageValue", "averageValue": "5"}}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    given = {"scaleTargetRef": reference, "maxReplicas": 4, "metrics": [{"type": "Pods", "pods": pods}], **spec}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {key: value for key, value in given.items() if value is not None},
    }


def trigger(query: str = OURS, **fields: Any) -> Object:
    metadata = {"serverAddress": ADDRESS, "query": query, "threshold": "5", **fields.pop("metadata", {})}
    return {"type": "prometheus", "metadata": metadata, **fields}


def scaled_object(name: str = "chat", target: str = "chat", *triggers: Object, **spec: Any) -> Object:
    given = {"scaleTargetRef": {"name": target}, "minReplicaCount": 1, "maxReplicaCount": 4}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name},
        "spec": {**given, "triggers": list(triggers) or [trigger()], **spec},
    }


def planned(*documents: Object, environment: Environment = ENVIRONMENT) -> Plan:
    return plan(objects([MODEL, CHAT, *documents]), environment)


def scaling(found: Plan) -> list[Problem]:
    return [problem for problem in found.problems if problem.rule in SCALING]


def rules(*documents: Object, environment: Environment = ENVIRONMENT) -> list[tuple[str, str]]:
    return [(str(each.rule), each.path) for each in scaling(planned(*documents, environment=environment))]


@pytest.mark.parametrize("scaler", [hpa(), scaled_object()], ids=["HorizontalPodAutoscaler", "ScaledObject"])
def test_a_correct_autoscaler_has_no_finding_and_owns_the_replicas(scaler: Object) -> None:
    found = planned(scaler)
    assert scaling(found) == []
    ((_, workload),) = found.fleet.workloads
    assert (workload.replicas, workload.most, "replicas" in workload.body["spec"]) == (1, 4, False)
    assert workload.kept_fields == ("spec.replicas",)
    # It is created once, unchanged but for the namespace.
    assert [body["kind"] for body in found.others] == [scaler["kind"]]
    assert scaler["kind"] not in [body["kind"] for body in found.fleet.objects]
    assert found.others[0]["metadata"]["namespace"] == "models"


def test_the_rule_behind_its_metric_is_made() -> None:
    (rule,) = planned(hpa()).chain.adapter_rules["custom"]
    assert rule["name"] == {"as": "vllm:num_requests_waiting"}
    assert planned().chain.adapter_rules["custom"] == []
    assert [body["metadata"]["name"] for body in planned(scaled_object()).chain.monitors] == ["chat"]


@pytest.mark.parametrize(
    ("scaler", "expected"),
    [
        (hpa(target="chatt"), ("reference-elsewhere", "spec.scaleTargetRef")),
        (scaled_object("x", "chatt"), ("reference-elsewhere", "spec.scaleTargetRef")),
        (hpa(metric="vllm:num_requests_wait"), ("metrics-not-exported", "spec.metrics[0].pods.metric.name")),
        (hpa(metric="sglang:num_queue_reqs"), ("metrics-not-exported", "spec.metrics[0].pods.metric.name")),
        (hpa(minReplicas=5), ("contract", "spec.maxReplicas")),
        (hpa(maxReplicas="many"), ("contract", "spec.maxReplicas")),
        (scaled_object(minReplicaCount=5), ("contract", "spec.maxReplicaCount")),
        (scaled_object(idleReplicaCount=1), ("contract", "spec.idleReplicaCount")),
        (scaled_object(triggers=[]), ("contract", "spec.triggers")),
        (
            scaled_object("chat", "chat", trigger(metadata={"threshold": "five"})),
            ("contract", "spec.triggers[0].metadata.threshold"),
        ),
        (
            scaled_object(
                "chat", "chat", {"type": "prometheus", "metadata": {"serverAddress": ADDRESS, "query": OURS}}
            ),
            ("contract", "spec.triggers[0].metadata.threshold"),
        ),
        (
            scaled_object("chat", "chat", trigger("sum(vllm_num_requests_waiting)")),
            ("metrics-not-exported", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger("sum(sglang:num_queue_reqs)")),
            ("metrics-not-exported", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger("sum(my_queue)")),
            ("metrics-unchecked", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger(OURS.replace("sum", "avg"))),
            ("metrics-target", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger("vllm:num_requests_waiting")),
            ("metrics-target", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger('sum(vllm:num_requests_waiting{workload="other"})')),
            ("metrics-ambiguous", "spec.triggers[0].metadata.query"),
        ),
        (
            scaled_object("chat", "chat", trigger(metadata={"serverAddress": "http://prometheus:9090"})),
            ("metrics-unchecked", "spec.triggers[0].metadata.serverAddress"),
        ),
        (
            {**hpa(), "apiVersion": "autoscaling/v2beta2"},
            ("contract", "apiVersion"),
        ),
    ],
)
def test_a_wrong_one_is_reported_at_its_field(scaler: Object, expected: tuple[str, str]) -> None:
    assert expected in rules(scaler)


@pytest.mark.parametrize(
    "query",
    [
        OURS.replace("sum", "max"),
        'sum(vllm:num_requests_waiting{pod=~"chat-.*"})',
        "sum(inference_extension_flow_control_queue_size)",
        'avg(vllm:gpu_cache_usage_perc{workload="chat"}) * count(up)',
        'sum(rate(vllm:e2e_request_latency_seconds_count{workload="chat"}[2m]))',
    ],
)
def test_queries_that_work_have_no_finding(query: str) -> None:
    assert rules(scaled_object("chat", "chat", trigger(query))) == []


def test_a_query_of_two_models_names_both() -> None:
    both = [playground("code", "m"), scaled_object("chat", "chat", trigger("sum(vllm:num_requests_waiting)"))]
    (problem,) = scaling(planned(*both))
    assert (problem.rule, "of chat, code" in problem.reason) == ("metrics-ambiguous", True)
    # The advice, followed.
    advised = problem.reason.rpartition("select the scaled one with ")[2]
    assert rules(both[0], scaled_object("chat", "chat", trigger(f"sum(vllm:num_requests_waiting{advised})"))) == []


def test_two_autoscalers_on_one_workload_are_refused() -> None:
    assert rules(hpa(), scaled_object()) == [("autoscaling-contested", "spec.scaleTargetRef")]
    of_family = playground("chat", "m", elasticConfig={"maxReplicas": 4, "scaleTrigger": {"hpa": {}}})
    documents = objects([MODEL, of_family, hpa("mine")])
    contested = [each for each in plan(documents, ENVIRONMENT).problems if each.rule == "autoscaling-contested"]
    assert [each.name for each in contested] == ["mine"]


def test_replicas_beside_an_autoscaler_have_no_effect() -> None:
    documents = objects([MODEL, playground("chat", "m", replicas=2), hpa()])
    (problem,) = scaling(plan(documents, ENVIRONMENT))
    assert (problem.rule, problem.kind, problem.path) == ("field-no-effect", "Playground", "spec.replicas")


def test_its_maximum_counts_for_the_limit_of_accelerators() -> None:
    def reasons(most: int) -> tuple[str, ...]:
        found = planned(hpa(maxReplicas=most))
        return failures(snapshot_of(found, "", bill_of(found)), Thresholds(max_gpus=4))

    assert reasons(4) == ()
    assert reasons(5)[0].startswith("5 accelerators with all autoscalers at their maximum")


def test_what_a_resource_becomes_is_scaled_not_the_resource() -> None:
    reference = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "name": "chat"}
    (problem,) = scaling(planned(hpa(scaleTargetRef=reference)))
    assert problem.rule == "autoscaling-contested"
    assert "becomes Deployment 'chat' (apps/v1)" in problem.reason
    operated = replace(ENVIRONMENT, options=Options(namespace="models", realization=Realization.OPERATOR))
    assert rules(hpa(scaleTargetRef=reference), environment=operated) == []
    made = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "chat"}
    (undone,) = scaling(planned(hpa(scaleTargetRef=made), environment=operated))
    assert "sets its replicas again" in undone.reason


class TestDeployments:
    """Workloads that are created unchanged."""

    def deployment(self, **spec: Any) -> Object:
        container = {"name": "vllm", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "Qwen/Qwen3-8B"]}
        labels = {"app": "own"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "own"},
            "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
        }

    def test_metrics_and_replicas_are_checked_and_the_object_stays(self) -> None:
        wrong = hpa("own", "own", "sglang:num_queue_reqs")
        found = planned(self.deployment(replicas=3), wrong)
        assert {(str(each.rule), each.kind) for each in scaling(found) if each.severity != "note"} == {
            ("field-no-effect", "Deployment"),
            ("metrics-not-exported", "HorizontalPodAutoscaler"),
        }
        assert found.scaled == {("Deployment", "models", "own")}
        assert found.others[0]["spec"]["replicas"] == 3

    def test_it_is_not_scraped_from_here(self) -> None:
        notes = [each for each in planned(self.deployment(), hpa("own", "own")).problems if each.severity == "note"]
        assert [each.rule for each in notes if "metrics" in each.rule] == ["metrics-left-out"]

    def test_two_autoscalers_are_refused(self) -> None:
        contested = rules(self.deployment(), hpa("a", "own"), hpa("b", "own"))
        assert ("autoscaling-contested", "spec.scaleTargetRef") in contested


class TestZero:
    def test_from_zero_nothing_exports_the_models_own_metric(self) -> None:
        (problem,) = scaling(planned(scaled_object(minReplicaCount=0)))
        assert (problem.rule, problem.path) == ("autoscaling-from-zero", "spec.minReplicaCount")
        assert problem.reason.endswith("; set 1")
        assert rules(scaled_object(minReplicaCount=1)) == []

    @pytest.mark.parametrize("adapter", Adapter)
    def test_no_adapter_ends_the_zero_of_a_familys_own_autoscaler(self, adapter: Adapter) -> None:
        """KEDA stops at 0 as well, and then nothing exports the metric that it reads."""
        environment = replace(ENVIRONMENT, metrics=MetricSettings(adapter=adapter))

        def found(minimum: int) -> list[str]:
            documents = [serving(), policy(metric()), binding(bounded(minimum=minimum))]
            problems = plan(objects(documents), environment).problems
            return [each.reason for each in problems if each.rule == RuleId.AUTOSCALING_FROM_ZERO]

        (reason,) = found(0)
        assert reason.endswith("; set 1")
        assert found(1) == []

    def test_a_queue_in_front_starts_it_again(self) -> None:
        queue = trigger("sum(inference_extension_flow_control_queue_size)")
        found = rules(scaled_object("chat", "chat", trigger(), queue, minReplicaCount=0))
        assert found == [("autoscaling-unheld", "spec.minReplicaCount")]

    def test_the_http_add_on_holds_requests(self) -> None:
        spec = {"scaleTargetRef": {"name": "chat"}, "replicas": {"min": 0, "max": 2}}
        body = {
            "apiVersion": "http.keda.sh/v1alpha1",
            "kind": "HTTPScaledObject",
            "metadata": {"name": "c"},
            "spec": spec,
        }
        found = planned(body)
        assert scaling(found) == []
        ((_, workload),) = found.fleet.workloads
        assert (workload.replicas, workload.most) == (0, 2)

    def test_the_api_server_refuses_zero_in_an_hpa(self) -> None:
        assert ("autoscaling-from-zero", "spec.minReplicas") in rules(hpa(minReplicas=0))


def test_with_keda_nothing_serves_an_hpa() -> None:
    keda = replace(ENVIRONMENT, metrics=MetricSettings(adapter=Adapter.KEDA))
    assert rules(hpa(), environment=keda) == [("metrics-adapter-missing", "spec.metrics[0].pods.metric.name")]
    assert rules(scaled_object(), environment=keda) == []


def test_they_are_checked_where_they_are_refused_but_not_where_they_are_left_out() -> None:
    wrong = hpa(target="chatt")
    for choice, expected in ((OtherKinds.ERROR, 1), (OtherKinds.SKIP, 0)):
        found = rules(wrong, environment=replace(ENVIRONMENT, other_kinds=choice))
        assert len(found) == expected


class TestVertical:
    def vertical(self, target: str = "chat", mode: str = "Auto") -> Object:
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
        return {
            "apiVersion": "autoscaling.k8s.io/v1",
            "kind": "VerticalPodAutoscaler",
            "metadata": {"name": "v"},
            "spec": {"targetRef": reference, "updatePolicy": {"updateMode": mode}},
        }

    def test_evictions_are_reported(self) -> None:
        assert rules(self.vertical()) == [("autoscaling-vertical", "spec.updatePolicy.updateMode")]
        assert rules(self.vertical(mode="Off")) == []

    def test_a_missing_workload_is_reported(self) -> None:
        assert rules(self.vertical("chatt")) == [("reference-elsewhere", "spec.targetRef")]

    def test_beside_an_autoscaler_of_the_same_resource(self) -> None:
        cpu = {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}},
        }
        assert rules(self.vertical(mode="Initial"), hpa(metrics=[cpu])) == [
            ("autoscaling-vertical", "spec.targetRef")
        ]
        assert rules(self.vertical(mode="Initial"), hpa()) == []


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (OURS, "queue"),
        ("sum(vllm:num_requests_waiting)", "queue"),
        ('sum(vllm:num_requests_running{workload="chat"})', "running"),
        ('sum(vllm:num_requests_waiting{workload="other"})', ""),
        ('sum(vllm:num_requests_waiting{pod=~"chat-.*"})', ""),
        ("max(vllm:num_requests_waiting)", ""),
        ("sum(vllm:num_requests_waiting) * 2", ""),
    ],
)
def test_sums_over_the_scaled_pods_are_what_simulations_compute(query: str, kind: str) -> None:
    found = planned(scaled_object("chat", "chat", trigger(query)))
    targets = scrape_targets(found.fleet)
    (scaler,) = scalers_of(found.fleet, targets)
    assert {text: metric.kind for text, metric in summed_metrics(scaler, targets).items()} == (
        {query: kind} if kind else {}
    )


def test_the_fields_of_each_kind_have_their_own_paths() -> None:
    paths = {key: kind.field_of("metrics[0].resource.target") for key, kind in SCALER_KINDS.items()}
    assert paths["autoscaling/v1", "HorizontalPodAutoscaler"] == "targetCPUUtilizationPercentage"
    assert paths["keda.sh/v1alpha1", "ScaledObject"] == "triggers[0]"
    assert paths["autoscaling/v2", "HorizontalPodAutoscaler"] == "metrics[0].resource.target"


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (["Off"], []),
        (["auto"], ["spec.updatePolicy.updateMode"]),
        (["Off", "Off"], ["spec.targetRef"]),
    ],
)
def test_modes_and_targets_of_vertical_autoscalers(modes: list[str], expected: list[str]) -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    documents = [
        {
            "apiVersion": "autoscaling.k8s.io/v1",
            "kind": "VerticalPodAutoscaler",
            "metadata": {"name": f"v{number}"},
            "spec": {"targetRef": reference, "updatePolicy": {"updateMode": mode}},
        }
        for number, mode in enumerate(modes)
    ]
    found = [each for each in planned(*documents).problems if each.kind == "VerticalPodAutoscaler"]
    assert [each.path for each in found] == expected


def test_a_conflict_of_adapters_names_the_autoscaler() -> None:
    settings = {"otherKinds": "apply", "prerequisites": {"present": ["prometheus-adapter"], "install": True}}
    environment = FleetSettings.model_validate(settings).environment()
    found = [p for p in planned(scaled_object(), environment=environment).problems if "both provide" in p.reason]
    assert [p.reason for p in found] == [
        "keda (for ScaledObject/chat) and prometheus-adapter both provide external.metrics.k8s.io; choose one"
    ]


PAUSED = "autoscaling.keda.sh/paused-replicas"


@pytest.mark.parametrize(
    ("paused", "replicas", "found"),
    [
        (None, (1, 1, 4), ()),
        ("3", (3, 3, 3), ("field-no-effect",)),
        ("0", (0, 0, 0), ("autoscaling-asleep",)),
        ("few", (1, 1, 4), ("contract",)),
    ],
)
def test_keda_pauses_at_a_number_of_replicas(
    paused: str | None, replicas: tuple[int, int, int], found: tuple[str, ...]
) -> None:
    """The workload gets that number, and the bounds of the HorizontalPodAutoscaler of KEDA are the same."""
    scaler = scaled_object(minReplicaCount=1)
    if paused is not None:
        scaler["metadata"]["annotations"] = {PAUSED: paused}
    result = planned(scaler)
    (workload,) = snapshot_of(result, "dev", bill_of(result)).workloads
    assert workload.replicas == replicas
    problems = [problem for problem in result.problems if problem.kind == "ScaledObject"]
    assert tuple(problem.rule for problem in problems) == found
    assert all(problem.path == f'metadata.annotations["{PAUSED}"]' for problem in problems)


@pytest.mark.parametrize(("spec", "jobs"), [({}, 100), ({"maxReplicaCount": 5}, 5)])
def test_jobs_that_keda_starts_are_not_planned(spec: Object, jobs: int) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox:1.36"}]}
    job = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledJob",
        "metadata": {"name": "batch"},
        "spec": {"jobTargetRef": {"template": {"spec": pod}}, "triggers": [trigger()], **spec},
    }
    (found,) = [problem for problem in planned(job).problems if problem.kind == "ScaledJob"]
    assert (found.rule, found.path) == ("unchanged-unchecked", "spec.maxReplicaCount")
    assert found.reason.startswith(f"is {jobs}: that many Jobs run at a time")

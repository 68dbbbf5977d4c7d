"""Inspections: findings, memory and costs are those of a plan; nodes, replicas and addresses those of the cluster."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from components.contract.problems import Problem
from components.families import objects
from components.fleet.objects import Object
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.inspecting.objects import (
    TYPE,
    an_object,
    container,
    deployment,
    group,
    hpa,
    live,
    node,
    pod,
    pod_template,
    service,
)
from workbench.inspecting.environment import environment_of, nodes_of
from workbench.inspecting.inspection import InspectedModel, Inspection, inspect
from workbench.inspecting.snapshot import ClusterSnapshot, Missing

ROOT = Path(__file__).parents[2]
SPOT = {"eks.amazonaws.com/capacityType": "SPOT"}
Comparable = tuple[str, str, str, str, str, str]


def inspected(*bodies: Object, **more: object) -> Inspection:
    return inspect(ClusterSnapshot(bodies, source="cluster", **more))  # type: ignore[arg-type]


def model(result: Inspection) -> InspectedModel:
    (found,) = result.models
    return found


def comparable(problems: Iterable[Problem]) -> set[Comparable]:
    """Return findings without the file, which is the cluster here and a manifest there."""
    return {(str(each.rule), str(each.severity), each.kind, each.name, each.path, each.reason) for each in problems}


# The findings of a plan

MANIFESTS = sorted(ROOT.glob("stacks/models/*.yaml")) + sorted(ROOT.glob("components/families/*/samples/*.yaml"))


def documents(path: Path) -> list[Object]:
    found = [each for each in yaml.safe_load_all(path.read_text()) if each]
    return [_in_namespace(each) for each in found if not objects([each]).others]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_findings_are_those_of_the_plan_of_the_same_manifests(path: Path) -> None:
    written = documents(path)
    result = inspected(*map(live, written))
    assert result.planned
    releases = result.planned.environment.options.releases
    expected = plan(objects(written, releases=releases), _environment(releases))
    problems = [*expected.problems, *(entry.problem for entry in expected.ignored)]
    assert comparable(result.all_findings) == comparable(problems)


def test_the_manifests_of_the_comparison_have_findings() -> None:
    found = [each for path in MANIFESTS for each in inspected(*map(live, documents(path))).all_findings]
    assert len({each.rule for each in found}) > 10


def _environment(releases: Mapping[str, str] = MappingProxyType({})) -> Environment:
    return Environment(options=environment_of(ClusterSnapshot(), releases, ()).options)


def _in_namespace(body: Object) -> Object:
    kind = objects([body]).resources
    if kind and not kind[0].kind.namespaced:
        return body
    return {**body, "metadata": {"namespace": "default", **body["metadata"]}}


def test_findings_of_a_group_are_those_of_the_plan() -> None:
    wrong = group("a", container(args=["--model", "a/b", "--max-model-length", "8192"]))
    result = inspected(live(wrong))
    expected = plan(objects([wrong]), _environment())
    assert comparable(model(result).findings) == comparable(expected.problems)
    assert {each.rule for each in model(result).findings} == {"flags-unknown", "drain-missing"}


def test_findings_of_a_deployment_are_those_of_a_group_of_one_pod() -> None:
    """Deployments have no kind among the families; the pods of a LeaderWorkerSet are the same pods.

    Missing hooks are reported for groups only.
    """
    wrong = container(args=["--model", "meta-llama/Llama-3.1-70B-Instruct", "--max-model-length", "8192"])
    nodes = node("gpu-1", "g5.2xlarge")
    single = inspected(nodes, live(deployment("a", wrong)))
    several = inspected(nodes, live(group("a", wrong, size=1)))
    assert {each.rule for each in model(single).findings} == {"flags-unknown", "memory-exceeded"}
    strip = [
        {
            (rule, severity, reason)
            for rule, severity, _, _, _, reason in comparable(model(each).findings)
            if rule != "drain-missing"
        }
        for each in (single, several)
    ]
    assert strip[0] == strip[1]


def test_a_finding_names_the_field_of_the_object() -> None:
    result = model(inspected(live(deployment("a", container(args=["--model", "a/b", "--max-model-length", "1"])))))
    (found,) = result.findings
    assert (found.kind, found.namespace, found.name) == ("Deployment", "models", "a")
    assert found.path == "spec.template.spec.containers[0].args[2]"


# Autoscalers


def test_an_autoscaler_on_a_metric_that_no_engine_exports() -> None:
    body = live(deployment("a"))
    result = model(inspected(body, live(hpa(body, "vllm:num_requests_waitin"))))
    assert [(each.rule, each.kind, each.path) for each in result.findings] == [
        ("metrics-not-exported", "HorizontalPodAutoscaler", "spec.metrics[0].pods.metric.name")
    ]
    assert [each.text for each in result.autoscalers] == ["HorizontalPodAutoscaler/a 1-4"]
    right = model(inspected(body, live(hpa(body))))
    assert right.findings == ()


def test_an_autoscaler_of_a_group() -> None:
    body = live(group("a", size=1))
    result = model(inspected(body, live(hpa(body, "vllm:nothing"))))
    assert {each.rule for each in result.findings} == {"metrics-not-exported", "drain-missing"}


def test_an_autoscaler_of_something_else_is_left_out() -> None:
    other = deployment("web", container(image="nginx:1.29", args=[], resources={}))
    result = inspected(live(deployment("a")), live(other), live(hpa(other, "requests")))
    assert (model(result).autoscalers, [*result.all_findings]) == ((), [])


def test_two_autoscalers_of_one_model() -> None:
    body = live(deployment("a"))
    result = model(inspected(body, live(hpa(body)), live(hpa(body, name="b"))))
    assert {each.rule for each in result.findings} == {"autoscaling-contested"}


def test_a_scaled_object_is_shown_in_place_of_its_autoscaler() -> None:
    body = live(deployment("a"))
    reference = {"name": "a"}
    scaled = live(
        an_object(
            "keda.sh/v1alpha1",
            "ScaledObject",
            "a",
            scaleTargetRef=reference,
            maxReplicaCount=3,
            triggers=[query("sum(vllm_num_requests_waiting)")],
        )
    )
    child = live(hpa(body, "s0-prometheus", "keda-hpa-a"), scaled)
    result = model(inspected(body, scaled, child))
    assert [each.text for each in result.autoscalers] == ["ScaledObject/a 0-3"]
    assert "metrics-not-exported" in {each.rule for each in result.findings}


def query(text: str) -> Object:
    address = "http://prometheus.monitoring.svc:9090"
    return {"type": "prometheus", "metadata": {"serverAddress": address, "query": text, "threshold": "5"}}


def test_autoscalers_of_missing_models_are_reported_and_those_of_other_programs_are_not() -> None:
    body, web = live(deployment("a")), live(deployment("web", {"name": "web", "image": "nginx:1.29"}))
    gone = live(hpa(deployment("gone"), "vllm:num_requests_waiting", "gone"))
    other = live(hpa(web, "http_requests", "web"))
    absent = live(hpa(deployment("absent"), "http_requests", "absent"))
    found = [each for each in inspected(body, web, gone, other, absent).all_findings if "autoscal" in each.rule]
    assert [(each.rule, each.name) for each in found] == [("autoscaling-contested", "gone")]
    assert "no Deployment named 'gone'" in found[0].reason


@pytest.mark.parametrize(
    ("status", "reason", "reported"),
    [
        ("False", "FailedGetPodsMetric", True),
        ("False", "FailedGetExternalMetric", True),
        ("False", "ScalingDisabled", False),
        ("True", "ValidMetricFound", False),
    ],
)
def test_an_autoscaler_that_reads_no_metric_is_reported(status: str, reason: str, reported: bool) -> None:
    body = live(deployment("a"))
    condition = {"type": "ScalingActive", "status": status, "reason": reason, "message": "no custom metrics API"}
    scaler = {**live(hpa(body)), "status": {"conditions": [condition]}}
    found = [each for each in inspected(body, scaler).all_findings if each.rule == "metrics-adapter-missing"]
    assert [reason in each.reason for each in found] == [True] * reported


@pytest.mark.parametrize(
    ("selector", "labels", "reported"),
    [
        ({"matchLabels": {"release": "kps"}}, {}, True),
        ({"matchLabels": {"release": "kps"}}, {"release": "other"}, True),
        ({"matchLabels": {"release": "kps"}}, {"release": "kps"}, False),
        ({}, {}, False),
        (None, {"release": "kps"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"a": "b"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {"a": "b"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, {"a": "b"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, {"a": "c"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, {"a": "b"}, True),
    ],
)
def test_the_monitor_of_a_model_needs_the_labels_that_prometheus_selects(
    selector: Object | None, labels: dict[str, str], reported: bool
) -> None:
    body = live(deployment("a"))
    server = live(an_object("monitoring.coreos.com/v1", "Prometheus", "kps", podMonitorSelector=selector))
    chosen = {"matchLabels": body["spec"]["selector"]["matchLabels"]}
    monitor = live(an_object("monitoring.coreos.com/v1", "PodMonitor", "a", selector=chosen))
    monitor["metadata"]["labels"] = labels
    web = live(an_object("monitoring.coreos.com/v1", "PodMonitor", "web", selector={"matchLabels": {"app": "web"}}))
    rule = "metrics-unscraped"
    found = [each for each in inspected(body, server, monitor, web).all_findings if each.rule == rule]
    assert [(each.kind, each.name) for each in found] == [("PodMonitor", "a")] * reported
    assert not [each for each in inspected(body, monitor).all_findings if each.rule == rule]


@pytest.mark.parametrize(
    ("selector", "server_namespace", "reported"),
    [
        (None, "models", False),
        (None, "monitoring", True),
        ({}, "monitoring", False),
        ({"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}, "monitoring", True),
        ({"matchLabels": {"kubernetes.io/metadata.name": "models"}}, "monitoring", False),
        ({"matchLabels": {"team": "a"}}, "monitoring", False),
        (
            {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["models"]}]},
            "monitoring",
            True,
        ),
    ],
)
def test_the_monitor_of_a_model_is_in_a_namespace_that_prometheus_reads(
    selector: Object | None, server_namespace: str, reported: bool
) -> None:
    body = live(deployment("a"))
    server = live(an_object("monitoring.coreos.com/v1", "Prometheus", "kps", podMonitorSelector={}))
    if selector is not None:
        server["spec"]["podMonitorNamespaceSelector"] = selector
    server["metadata"]["namespace"] = server_namespace
    monitor = live(an_object("monitoring.coreos.com/v1", "PodMonitor", "a", selector={}))
    for each in (body, monitor):
        each["metadata"]["namespace"] = "models"
    found = [each for each in inspected(body, server, monitor).all_findings if each.rule == "metrics-unscraped"]
    assert [(each.kind, each.path) for each in found] == [("PodMonitor", "metadata.namespace")] * reported


@pytest.mark.parametrize(
    ("monitors", "fields", "metric", "reported"),
    [
        ((), {}, "vllm:num_requests_waiting", True),
        ((("PodMonitor", {"selector": {"matchLabels": {"app": "other"}}}),), {}, "vllm:num_requests_waiting", True),
        ((("PodMonitor", {"selector": {}}),), {}, "vllm:num_requests_waiting", False),
        ((("ServiceMonitor", {"selector": {}}),), {}, "vllm:num_requests_waiting", False),
        ((), {"additionalScrapeConfigs": {"name": "more", "key": "jobs"}}, "vllm:num_requests_waiting", False),
        ((), {}, None, False),
    ],
    ids=["none", "of others", "PodMonitor", "ServiceMonitor", "other jobs", "no serving metric"],
)
def test_an_autoscaler_needs_a_monitor_of_the_pods_that_it_reads(
    monitors: tuple[tuple[str, Object], ...], fields: Object, metric: str | None, reported: bool
) -> None:
    body = live(deployment("a"))
    server = live(an_object("monitoring.coreos.com/v1", "Prometheus", "kps", podMonitorSelector={}, **fields))
    scaler = live(hpa(body, metric or ""))
    if metric is None:
        target = {"type": "Utilization", "averageUtilization": 80}
        scaler["spec"]["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    own = [live(an_object("monitoring.coreos.com/v1", kind, "m", **spec)) for kind, spec in monitors]
    found = [each for each in inspected(body, server, scaler, *own).all_findings if each.rule == "metrics-unscraped"]
    assert [(each.kind, each.path) for each in found] == [("HorizontalPodAutoscaler", "spec.metrics")] * reported


@pytest.mark.parametrize(
    ("mode", "target", "reported"), [("Auto", "a", True), ("Off", "a", False), ("Auto", "b", False)]
)
def test_a_vertical_autoscaler_of_a_model_is_reported(mode: str, target: str, reported: bool) -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    vertical = live(
        an_object(
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            "v",
            targetRef=reference,
            updatePolicy={"updateMode": mode},
        )
    )
    found = inspected(live(deployment("a")), vertical).all_findings
    assert [(each.rule, each.path) for each in found] == [
        ("autoscaling-vertical", "spec.updatePolicy.updateMode")
    ] * reported


@pytest.mark.parametrize(
    ("replicas", "target", "expected"),
    [
        ({"min": 1, "max": 2}, "a", []),
        ({"min": 3, "max": 2}, "a", [("contract", "spec.replicas.max")]),
        ({"min": 1, "max": 2}, "gone", [("autoscaling-contested", "spec.scaleTargetRef")]),
    ],
)
def test_an_http_scaled_object_is_read(replicas: Object, target: str, expected: list[tuple[str, str]]) -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    scaled = live(
        an_object("http.keda.sh/v1alpha1", "HTTPScaledObject", "a", scaleTargetRef=reference, replicas=replicas)
    )
    found = [
        each for each in inspected(live(deployment("a")), scaled).all_findings if each.kind == "HTTPScaledObject"
    ]
    assert [(each.rule, each.path) for each in found] == expected


@pytest.mark.parametrize(
    ("condition", "owned", "words"),
    [
        (("ScalingActive", "False", "FailedGetExternalMetric"), True, "reads no metric (FailedGetExternalMetric"),
        (("ScalingActive", "True", "ValidMetricFound"), True, ""),
        (("Ready", "False", "ScaledObjectCheckFailed"), False, "is not ready"),
        (("Ready", "True", "ScaledObjectReady"), False, ""),
        (("Fallback", "True", "FallbackExists"), False, "is in its fallback"),
        (("Fallback", "False", "NoFallbackFound"), False, ""),
    ],
)
def test_the_status_of_a_scaled_object_and_of_its_autoscaler_is_read(
    condition: tuple[str, str, str], owned: bool, words: str
) -> None:
    body = live(deployment("a"))
    triggers = [query('sum(vllm:num_requests_waiting{workload="a"})')]
    scaled = live(an_object("keda.sh/v1alpha1", "ScaledObject", "a", scaleTargetRef={"name": "a"}, triggers=triggers))
    child = live(hpa(body, "s0-prometheus", "keda-hpa-a"), scaled)
    kind, status, reason = condition
    (child if owned else scaled)["status"] = {"conditions": [{"type": kind, "status": status, "reason": reason}]}
    found = [each for each in inspected(body, scaled, child).all_findings if each.path == "status.conditions"]
    assert [words in each.reason for each in found] == [True] * bool(words)


def test_a_variant_finds_its_deployment() -> None:
    body = live(deployment("a"))
    variant = live(
        an_object(
            "llmd.ai/v1alpha1",
            "VariantAutoscaling",
            "a-variant",
            scaleTargetRef={"kind": "Deployment", "name": "a"},
            modelID="Qwen/Qwen2.5-7B-Instruct",
            maxReplicas=3,
        )
    )
    found = model(inspected(body, variant))
    assert [(each.kind, each.name) for each in found.autoscalers] == [("VariantAutoscaling", "a-variant")]
    missing = inspected(variant)
    assert missing.models == ()
    assert [each.rule for each in missing.findings] == ["reference-missing"]


# What only the cluster knows


def test_nodes_replicas_and_costs() -> None:
    body = live(deployment("a", replicas=2), replicas=2, readyReplicas=1)
    set_of = live(an_object("apps/v1", "ReplicaSet", "a-1"), body)
    pods = [pod(set_of, "a-1-x", "gpu-1"), pod(set_of, "a-1-y", "gpu-2", ready=False)]
    nodes = [node(name, "g5.2xlarge") for name in ("gpu-1", "gpu-2")]
    found = model(inspected(body, set_of, *pods, *nodes))
    assert (found.desired, found.ready, found.accelerators) == (2, 1, 2)
    (use,) = found.nodes
    assert (use.instance_type, use.region, use.names) == ("g5.2xlarge", "us-east-1", ("gpu-1", "gpu-2"))
    # components/clouds/aws/prices/on_demand_us_east_1.csv: g5.2xlarge at 1.212 a node and hour
    assert found.price.usd_per_hour == Decimal("2.424")
    assert found.fit == "fits"


def test_spot_nodes_have_the_price_of_spot() -> None:
    body = live(deployment("a"))
    pods = pod(body, "a-x", "gpu-1")
    demand = model(inspected(body, pods, node("gpu-1", "g5.2xlarge"))).price
    spot = model(inspected(body, pods, node("gpu-1", "g5.2xlarge", labels=SPOT))).price
    assert (demand.bought, spot.bought) == ("on-demand", "spot")
    assert spot.usd_per_hour is not None
    assert demand.usd_per_hour is not None
    assert spot.usd_per_hour < demand.usd_per_hour


def test_a_region_has_its_prices() -> None:
    body = live(deployment("a"))
    pods = pod(body, "a-x", "gpu-1")
    tokyo = model(inspected(body, pods, node("gpu-1", "g5.2xlarge", region="ap-northeast-1"))).price
    assert tokyo.region == "ap-northeast-1"
    assert tokyo.usd_per_hour is not None
    assert tokyo.usd_per_hour > Decimal("1.212")
    nowhere = model(inspected(body, pods, node("gpu-1", "g5.2xlarge", region="moon-1"))).price
    assert nowhere.unpriced == "no dated price of g5.2xlarge (on-demand) in moon-1"


def test_what_is_unknown_is_said_and_not_guessed() -> None:
    body = live(deployment("a"))
    found = model(inspected(body))
    assert (found.fit, found.price.usd_per_hour) == ("not checked", None)
    assert found.unchecked == (
        "memory (the instance type of the nodes is unknown)",
        "cost (the instance type of its nodes is unknown)",
    )
    unlabelled = live(node("gpu-1", "x"))
    del unlabelled["metadata"]["labels"][TYPE]
    assert model(inspected(body, unlabelled, pod(body, "a-x", "gpu-1"))).fit == "not checked"


def test_pending_pods_are_checked_on_the_nodes_that_could_take_them() -> None:
    big = container(resources={"limits": {"nvidia.com/gpu": "4"}})
    body = live(deployment("a", big))
    nodes = [node("small", "g5.2xlarge"), node("large", "g6.12xlarge", gpus=4)]
    found = model(inspected(body, *nodes))
    assert found.memory.endswith("on g6.12xlarge")


def test_pending_pods_do_not_run_where_affinity_or_taints_keep_them_out() -> None:
    terms = [{"matchExpressions": [{"key": TYPE, "operator": "In", "values": ["g6e.2xlarge"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    body = deployment("a")
    body["spec"]["template"]["spec"]["affinity"] = {"nodeAffinity": required}
    nodes = [node("small", "g5.2xlarge"), node("large", "g6e.2xlarge")]
    assert model(inspected(live(body), *nodes)).memory.endswith("on g6e.2xlarge")
    tainted = node("other", "g6e.2xlarge")
    tainted["spec"] = {"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]}
    assert model(inspected(live(deployment("a")), node("small", "g5.2xlarge"), tainted)).memory.endswith("g5.2xlarge")
    hungry = container(resources={"limits": {"nvidia.com/gpu": "1", "memory": "100Gi"}})
    tight, roomy = node("small", "g5.2xlarge"), node("large", "g6e.8xlarge")
    tight["status"]["allocatable"]["memory"], roomy["status"]["allocatable"]["memory"] = "28Gi", "240Gi"
    found = model(inspected(live(deployment("a", hungry)), tight, roomy))
    assert (found.memory.rpartition(" ")[2], found.findings) == ("g6e.8xlarge", ())


def test_nodes_of_several_types_have_their_own_prices() -> None:
    body = live(deployment("a", replicas=2))
    nodes = [node("one", "g5.2xlarge"), node("two", "g6e.2xlarge")]
    found = model(inspected(body, *nodes, pod(body, "x", "one"), pod(body, "y", "two")))
    # components/clouds/aws/prices/on_demand_us_east_1.csv: 1.212 and 2.24208 a node and hour
    assert found.price.usd_per_hour == Decimal("3.45408")


@pytest.mark.parametrize(
    ("image", "runtime", "expected"),
    [
        ("registry.example.com/team/serving:1.2", "vllm", ("vllm", "")),
        ("vllm/vllm-openai:v0.20.0", "vllm", ("vllm", "0.20.0")),
        ("registry.example.com/team/serving:1.2", "generic", ("", "")),
    ],
)
def test_a_resource_names_the_engine_of_an_image_of_ones_own(
    image: str, runtime: str, expected: tuple[str, str]
) -> None:
    """The pods of LLMKube's vLLM have arguments and no command: the entrypoint of the image starts it."""
    spec: dict[str, Any] = {
        "modelRef": "a",
        "runtime": runtime,
        "image": image,
        "skipModelInit": True,
        "extraArgs": ["--tensor-parallel-size", "2"],
        "resources": {"gpu": 2},
        "endpoint": {},
    }
    service = live(an_object("inference.llmkube.dev/v1alpha1", "InferenceService", "a", **spec))
    weights = live(an_object("inference.llmkube.dev/v1alpha1", "Model", "a", source="acme/chat-8B"))
    found = model(inspected(service, weights))
    (part,) = found.parts
    assert (part.engine, part.version) == expected
    named = runtime == "vllm"
    assert (part.models, part.parallelism) == ((("acme/chat-8B",), "TP 2") if named else ((), ""))
    assert ("flags and metrics (no known engine runs in it)" in found.unchecked) is not named


def test_endpoints_are_the_services_that_select_the_pods() -> None:
    body = live(deployment("a"))
    found = model(inspected(body, service("a", "a"), service("b", "b")))
    assert found.endpoints == ("http://a.models.svc.cluster.local:8000",)


def test_secrets_are_named() -> None:
    reference = {"secretKeyRef": {"name": "hugging-face", "key": "token"}}
    body = deployment("a", container(env=[{"name": "HF_TOKEN", "valueFrom": reference}]))
    body["spec"]["template"]["spec"]["imagePullSecrets"] = [{"name": "registry"}]
    assert model(inspected(live(body))).secrets == ("hugging-face", "registry")


def test_missing_prerequisites_are_findings_of_what_needs_them() -> None:
    body = live(deployment("a"))
    scaled = live(hpa(body))
    bare = frozenset({"apps", "autoscaling"})
    found = inspected(body, scaled, api_groups=bare, server_version="v1.36.3")
    rules = {(each.rule, each.kind) for each in model(found).findings}
    assert rules == {("prerequisites-missing", "HorizontalPodAutoscaler")}
    served = bare | {"custom.metrics.k8s.io", "monitoring.coreos.com"}
    assert model(inspected(body, scaled, api_groups=served, server_version="v1.36.3")).findings == ()


def test_taints_of_the_nodes_decide_about_tolerations() -> None:
    """An operator that adds no toleration is a finding only where the nodes have a taint."""
    flavor = {"name": "a10g", "limits": {"nvidia.com/gpu": "1"}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
    source = {"modelHub": {"modelID": "Qwen/Qwen2.5-7B-Instruct"}}
    weights = an_object(
        "llmaz.io/v1alpha1",
        "OpenModel",
        "qwen",
        "",
        familyName="qwen",
        source=source,
        inferenceConfig={"flavors": [flavor]},
    )
    chat = an_object("inference.llmaz.io/v1alpha1", "Playground", "chat", modelClaim={"modelName": "qwen"})
    bodies = (live(weights), live(chat))
    free, tainted = node("gpu-1", "g5.2xlarge"), node("gpu-1", "g5.2xlarge")
    tainted["spec"] = {"taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]}
    assert "operator-unsupported" not in {each.rule for each in model(inspected(*bodies, free)).findings}
    assert "operator-unsupported" in {each.rule for each in model(inspected(*bodies, tainted)).findings}


def test_an_invalid_resource_is_shown_with_what_runs() -> None:
    broken = live(an_object("inference.llmaz.io/v1alpha1", "Playground", "chat", modelClam={"modelName": "qwen"}))
    child = live(deployment("chat", replicas=2), broken, readyReplicas=2)
    found = model(inspected(broken, child))
    assert (found.parts[0].engine, found.parts[0].version, found.ready) == ("vllm", "0.9.0", 2)
    assert any(each.rule == "contract" and each.path == "spec.modelClam" for each in found.findings)
    assert any("cannot be rendered" in each for each in found.unchecked)


def test_kserve_without_a_deployment_is_what_it_describes() -> None:
    resources = {"limits": {"nvidia.com/gpu": "2"}}
    own = {"modelFormat": {"name": "vLLM"}, "runtime": "own", "args": ["--tensor-parallel-size=2"]}
    predictor = {
        "minReplicas": 2,
        "maxReplicas": 5,
        "model": {**own, "storageUri": "hf://a/b", "resources": resources},
    }
    runtime = an_object("serving.kserve.io/v1alpha1", "ServingRuntime", "own")
    runtime["spec"] = {"containers": [{"name": "kserve-container", "image": "vllm/vllm-openai:v0.10.0"}]}
    service_of = an_object("serving.kserve.io/v1beta1", "InferenceService", "a", predictor=predictor)
    service_of["status"] = {"url": "https://a.example.com"}
    found = model(inspected(service_of, runtime))
    (part,) = found.parts
    assert (part.engine, part.version, part.tensor, part.accelerators, part.desired) == ("vllm", "0.10.0", 2, 2, 2)
    assert found.models == ("hf://a/b",)
    assert found.endpoints == ("https://a.example.com",)
    assert [each.text for each in found.autoscalers] == ["InferenceService/a 2-5"]


def test_kserve_with_prefill_and_workers() -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "8"}}}
    template = {"containers": [{"name": "main", **gpus}]}
    body = an_object(
        "serving.kserve.io/v1alpha1",
        "LLMInferenceService",
        "a",
        model={"uri": "hf://a/b", "name": "a/b"},
        replicas=2,
        parallelism={"tensor": 8, "data": 2},
        template=template,
        worker=template,
        prefill={"replicas": 1, "template": template},
    )
    found = model(inspected(body))
    assert found.models == ("a/b",)
    assert [(part.role, part.tensor, part.data, part.pods, part.accelerators) for part in found.parts] == [
        ("", 8, 2, 2, 16),
        ("prefill", 1, 1, 1, 8),
    ]
    assert found.accelerators == 40


def test_what_was_not_read_is_part_of_the_result() -> None:
    missing = Missing("list", "", "nodes", "", "forbidden", "instance types")
    result = inspected(live(deployment("a")), missing=(missing,))
    assert result.missing == (missing,)


def test_the_same_snapshot_gives_the_same_result() -> None:
    bodies = [live(deployment(name)) for name in "cab"]
    assert inspected(*bodies) == inspected(*reversed(bodies))


def test_nodes_are_read_with_old_labels() -> None:
    body = node("n", "g5.2xlarge")
    body["metadata"]["labels"] = {"beta.kubernetes.io/instance-type": "g5.2xlarge"}
    assert nodes_of(ClusterSnapshot((body,)))["n"].instance_type == "g5.2xlarge"


def test_services_of_two_projects_of_one_name_have_their_own_findings() -> None:
    """Findings have no group; LLMKube and KServe both call their kind InferenceService."""
    wrong = container(args=["--model", "a/b", "--max-model-length", "8192"])
    kserve = an_object("serving.kserve.io/v1beta1", "InferenceService", "chat", predictor={"containers": [wrong]})
    llmkube = an_object("inference.llmkube.dev/v1alpha1", "InferenceService", "chat", modelRef="absent")
    scaler = hpa(llmkube)
    result = inspected(live(kserve), live(llmkube), live(scaler))
    by_group = {each.identity[0]: each for each in result.models}
    of_kserve, of_llmkube = by_group["serving.kserve.io"], by_group["inference.llmkube.dev"]
    assert {(each.kind, each.rule) for each in of_kserve.findings} == {
        ("InferenceService.serving.kserve.io", "flags-unknown")
    }
    assert {each.kind for each in of_llmkube.findings} <= {"InferenceService", "HorizontalPodAutoscaler"}
    assert "flags-unknown" not in {each.rule for each in of_llmkube.findings}
    assert (of_kserve.parts[0].engine, of_kserve.autoscalers) == ("vllm", ())
    assert [each.kind for each in of_llmkube.autoscalers] == ["HorizontalPodAutoscaler"]
    (alone,) = inspected(live(kserve)).models
    assert {each.kind for each in alone.findings} == {"InferenceService"}


def groups_of(*numbers: int, gpus: str = "2", **more: Any) -> list[Object]:
    """Return groups of workers of Ray: each has a number of pods."""
    devices = container(resources={"limits": {"nvidia.com/gpu": gpus}})
    return [
        {"groupName": f"G{index}", "replicas": number, "template": pod_template("r", devices), **more}
        for index, number in enumerate(numbers)
    ]


HEAD = {"template": pod_template("r", container(resources={}))}


@pytest.mark.parametrize(
    ("groups", "parts"),
    [
        (groups_of(1, 3), [("g0", 1, 2), ("g1", 3, 2)]),
        (groups_of(1, 2, numOfHosts=2), [("g0", 2, 2), ("g1", 4, 2)]),
        ([*groups_of(2), {"groupName": "cpu", "replicas": 4, **HEAD}], [("g0", 2, 2)]),
        (groups_of(1, 0), [("g0", 1, 2), ("g1", 0, 2)]),
    ],
)
def test_each_group_of_workers_of_ray_is_a_part(groups: list[Object], parts: list[tuple[str, int, int]]) -> None:
    body = an_object("ray.io/v1", "RayCluster", "r", headGroupSpec=HEAD, workerGroupSpecs=groups)
    service = an_object(
        "ray.io/v1",
        "RayService",
        "r",
        rayClusterConfig={"headGroupSpec": HEAD, "workerGroupSpecs": groups},
        serveConfigV2="applications: [{name: a, import_path: 'ray.serve.llm:build_openai_app'}]",
    )
    for each in (body, service):
        found = model(inspected(live(each)))
        assert [(part.role, part.desired, part.accelerators) for part in found.parts] == parts
        assert {part.engine for part in found.parts} == {"vllm"}


@pytest.mark.parametrize(
    ("image", "more", "is_found"),
    [
        ("vllm/vllm-openai:v0.11.0", {}, True),
        ("mirror.example.com/vllm/vllm-openai:v0.11.0", {}, True),
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.1.0", {}, True),
        ("vllm/vllm-openai-cpu:v0.19.0", {}, False),
        ("ghcr.io/huggingface/text-generation-inference:2.4.0-intel-cpu", {}, False),
        ("vllm/vllm-openai:v0.11.0", {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}, False),
        ("vllm/vllm-openai:v0.11.0", {"resources": {"limits": {"nvidia.com/mig-1g.10gb": "1"}}}, False),
        ("vllm/vllm-openai:v0.11.0", {"resources": {"limits": {"nvidia.com/gpu": "1"}}}, False),
    ],
)
def test_an_image_that_needs_a_gpu_and_gets_none(image: str, more: dict[str, Any], is_found: bool) -> None:
    body = live(deployment("a", container(**{"image": image, "resources": {}, **more})))
    found = model(inspected(body))
    assert ("gpus-absent" in {problem.rule for problem in found.findings}) == is_found


@pytest.mark.parametrize(
    ("name", "note", "severities"),
    [("a\u202eb", "", ["error"]), ("ab", "x\u200by", ["warning"]), ("\u0430b", "", ["error"]), ("ab", "zwei", [])],
)
def test_characters_that_are_not_seen_are_findings_of_plain_workloads(
    name: str, note: str, severities: list[str]
) -> None:
    """As validate has them for manifests, in files and in a cluster."""
    body = live(
        deployment("chat", container(args=["--model", "Qwen/Qwen2.5-7B-Instruct", "--served-model-name", name]))
    )
    body["metadata"]["annotations"] = {"note": note}
    (model,) = inspect(ClusterSnapshot((body,))).models
    found = [problem for problem in model.findings if problem.rule == "character-unseen"]
    assert [problem.severity for problem in found] == severities
    for problem in found:
        place = "metadata.annotations.note" if note else "spec.template.spec.containers[0].args[3]"
        assert problem.path == place


@pytest.mark.parametrize(
    ("limit", "grace", "pool", "is_short"),
    [
        ("2m", 130, "gpu", True),
        ("130s", 130, "gpu", False),
        ("1h", 130, "gpu", False),
        (None, 130, "gpu", False),
        ("2m", None, "gpu", False),  # 30 seconds by default
        ("2m", 130, "other", False),
    ],
)
def test_a_node_pool_that_ends_before_the_grace_of_pods(
    limit: str | None, grace: int | None, pool: str, *, is_short: bool
) -> None:
    template = {"spec": {"terminationGracePeriod": limit}} if limit else {"spec": {}}
    node_pool = live(an_object("karpenter.sh/v1", "NodePool", "gpu", "", template=template))
    chat = live(deployment("chat", container()))
    host = node("n1", "g5.xlarge", labels={"karpenter.sh/nodepool": pool})
    own = pod(chat, "chat-0", "n1")
    if grace is not None:
        own["spec"]["terminationGracePeriodSeconds"] = grace
    result = inspected(chat, own, host, node_pool)
    reasons = [each.reason for each in model(result).findings if each.rule == "drain-short"]
    assert ["NodePool gpu deletes a node 2m after" in reason for reason in reasons] == [True] * is_short


# What was not read


@pytest.mark.parametrize(
    ("more", "unread"),
    [
        ({"args": ["--config", "/etc/vllm/config.yaml"]}, "flags (those in /etc/vllm/config.yaml are not read)"),
        (
            {"envFrom": [{"configMapRef": {"name": "settings"}}]},
            "variables (those of the ConfigMap settings were not read)",
        ),
        ({"envFrom": [{"configMapRef": {"name": "known"}}]}, ""),
        ({"envFrom": [{"secretRef": {"name": "settings"}}]}, ""),
        ({}, ""),
    ],
)
def test_files_and_config_maps_that_were_not_read_are_named(more: Object, unread: str) -> None:
    known = an_object("v1", "ConfigMap", "known")
    found = model(inspected(live(deployment("a", container(**more))), known)).unchecked
    assert [each for each in found if each.startswith(("flags (those", "variables ("))] == [unread] * bool(unread)

"""Objects of other APIs among the models: refused, passed through, or left out, as the environment says."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity
from components.contract.findings.annotations import PREFIX
from components.contract.findings.ids import RuleId
from components.contract.load import Manifests
from components.contract.problems import Severity, errors
from components.families import objects
from components.fleet.options import Options
from components.fleet.words import OtherKinds, Realization
from components.plan.environment import Environment
from components.plan.explain import explain
from components.plan.namespaces import namespace_objects
from components.plan.others import identity
from components.plan.plan import Plan, plan
from tests.fleets import open_model, playground
from tests.seen import texts

CHAT = [open_model("m", flavors=[{"name": "cpu", "limits": {"cpu": "1"}}]), playground("chat", "m")]


def other(api_version: str, kind: str, name: str = "x", namespace: str = "", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def planned(*documents: Any, choice: OtherKinds = OtherKinds.APPLY, **environment: Any) -> Plan:
    where = Environment(options=Options(namespace="models"), other_kinds=choice, **environment)
    return plan(objects([*CHAT, *documents]), where)


SECRET = other("v1", "Secret", "token", stringData={"t": "s"})
ROUTE = other("aigateway.envoyproxy.io/v1alpha1", "AIGatewayRoute", "all")


def test_by_default_each_is_an_error_that_names_the_setting() -> None:
    found = plan(objects([*CHAT, SECRET, ROUTE, other("v1", "Service")]))
    assert found.others == ()
    texts = [str(problem) for problem in errors(found.problems)]
    assert len(texts) == 3
    for text, title in zip(texts, ("v1/Secret", "AIGatewayRoute", "v1/Service"), strict=True):
        assert title in text
        assert "set otherKinds: apply" in text
        assert "otherKinds: skip" in text
        assert "did you mean" not in text
    assert "(Service is inference.llmaz.io/v1alpha1/Service here)" in texts[2]
    assert "here)" not in texts[0]


def test_skipped_they_are_nothing() -> None:
    found = planned(SECRET, {**ROUTE, "metadata": None}, choice=OtherKinds.SKIP)
    assert (found.others, errors(found.problems)) == ((), ())


@pytest.mark.parametrize(
    ("document", "namespace"),
    [
        (SECRET, "models"),  # with the models, which is where they look for it
        (other("v1", "Secret", namespace="own"), "own"),
        (other("v1", "PersistentVolume"), None),
        (other("rbac.authorization.k8s.io/v1", "ClusterRole"), None),
        (other("rbac.authorization.k8s.io/v1", "Role"), "models"),
        (ROUTE, None),  # nothing is known of its scope
    ],
)
def test_passed_through_they_are_as_they_are(document: dict[str, Any], namespace: str | None) -> None:
    (body,) = planned(document).others
    assert body["metadata"].pop("namespace", None) == namespace
    document["metadata"].pop("namespace", None)
    assert body == document


def workload(image: str, kind: str = "Deployment") -> dict[str, Any]:
    containers = [{"name": "server", "image": image, "args": ["--model", "Qwen/Qwen3-8B"]}]
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": containers}}
    return other("apps/v1", kind, spec={"selector": {"matchLabels": {"app": "x"}}, "template": template})


def server(*args: str, image: str = "vllm/vllm-openai:v0.20.0", **spec: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": image, "args": list(args)}], **spec}
    template = {"metadata": {"labels": {"app": "x"}}, "spec": pod}
    return other("apps/v1", "Deployment", spec={"selector": {"matchLabels": {"app": "x"}}, "template": template})


@pytest.mark.parametrize("choice", [OtherKinds.APPLY, OtherKinds.SKIP])
def test_secrets_and_drains_of_servers_created_unchanged(choice: OtherKinds) -> None:
    key = "sk-" + "8f4e2c1b9a7d" * 2
    problems = planned(server("--model", "m", "--api-key", key), choice=choice).problems
    rules = (RuleId.SECURITY_SECRET_IN_CLEAR, RuleId.DRAIN_MISSING)
    found = {each.rule: each.path for each in problems if each.rule in rules and each.kind == "Deployment"}
    container = "spec.template.spec.containers[0]"
    expected = {RuleId.SECURITY_SECRET_IN_CLEAR: f"{container}.args[3]", RuleId.DRAIN_MISSING: container}
    assert found == (expected if choice is OtherKinds.APPLY else {})
    assert key not in str(problems)


def test_what_has_neither_is_not_reported() -> None:
    hook = {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}
    drained = server("--model", "m", "--api-key", "$(KEY)")
    drained["spec"]["template"]["spec"]["containers"][0]["lifecycle"] = {"preStop": hook}
    for body in (drained, server("--api-key", "none", image="example.com/web:1")):
        problems = planned(body).problems
        rules = (RuleId.SECURITY_SECRET_IN_CLEAR, RuleId.DRAIN_MISSING, RuleId.DRAIN_SHORT)
        assert [each for each in problems if each.rule in rules and each.kind == "Deployment"] == []


def test_their_findings_can_be_ignored() -> None:
    body = server("--model", "m")
    reason = "its requests take milliseconds"
    body["metadata"]["annotations"] = {f"{PREFIX}drain-missing": reason}
    found = planned(body)
    assert not [each for each in found.problems if each.rule == RuleId.DRAIN_MISSING]
    assert [each.reason for each in found.ignored] == [reason]
    (applied,) = [each for each in found.others if each["kind"] == "Deployment"]
    assert "annotations" not in applied["metadata"]  # a new reason changes no object


@pytest.mark.parametrize(
    ("document", "engine"),
    [
        (workload("vllm/vllm-openai:v0.20.0"), "vllm"),
        (workload("lmsysorg/sglang:v0.4.9", "StatefulSet"), "sglang"),
        (workload("nginx:1.27"), ""),
        (SECRET, ""),
        (ROUTE, ""),
    ],
)
@pytest.mark.parametrize("choice", [OtherKinds.APPLY, OtherKinds.SKIP])
def test_a_server_that_is_created_unchanged_is_said_to_be_unchecked(
    document: dict[str, Any], engine: str, choice: OtherKinds
) -> None:
    notes = [
        problem for problem in planned(document, choice=choice).problems if problem.rule == RuleId.UNCHANGED_UNCHECKED
    ]
    assert len(notes) == bool(engine and choice is OtherKinds.APPLY)
    for note in notes:
        assert note.severity is Severity.NOTE
        assert f"this server of {engine} is created unchanged" in note.reason


@pytest.mark.parametrize(
    ("documents", "path", "reason"),
    [
        ([other("v1", "Service", "chat-lb", "models")], "metadata.name", "is already created for the models"),
        ([other("apps/v1", "Deployment", "chat")], "metadata.name", "is already created for the models"),
        ([SECRET, SECRET], "metadata.name", "is already defined in <program>"),
        ([other("example.com/v1", "A"), other("example.com/v1beta1", "A")], "metadata.name", "already"),
        ([{**SECRET, "metadata": {"generateName": "x"}}], "metadata.name", "is required"),
        ([{**SECRET, "metadata": {"name": ""}}], "metadata.name", "is required"),
        ([{**SECRET, "metadata": {"name": 1}}], "metadata.name", "must be valid in a URL"),
        ([{**SECRET, "metadata": {"name": "a/b"}}], "metadata.name", "must be valid in a URL"),
        ([{**SECRET, "metadata": {"name": "a%2fb"}}], "metadata.name", "must be valid in a URL"),
        ([{**SECRET, "metadata": {"name": ".."}}], "metadata.name", "must be valid in a URL"),
        ([{**SECRET, "metadata": {"name": "a\nb"}}], "metadata.name", "must be valid in a URL"),
        ([{**SECRET, "metadata": {"name": "x" * 254}}], "metadata.name", "at most 253"),
        ([{**SECRET, "metadata": {"name": "x", "namespace": ["a"]}}], "metadata.namespace", "must be lower-case"),
        ([{**SECRET, "metadata": {"name": "x", "namespace": "a/b"}}], "metadata.namespace", "must be lower-case"),
        ([{**SECRET, "metadata": {"name": "x", "labels": "a"}}], "metadata.labels", "must be a map"),
        ([other("example.com/", "A")], "apiVersion", "such as example.com/v1"),
        ([other("a/b/c", "A")], "apiVersion", "such as example.com/v1"),
        ([other("example.com/v1", "A b")], "kind", "must be letters and digits"),
        ([{"apiVersion": "v1", "kind": "Secret"}], "metadata", "is required"),
    ],
)
def test_what_cannot_be_passed_through(documents: list[Any], path: str, reason: str) -> None:
    (problem,) = errors(planned(*documents).problems)
    assert problem.path == path
    assert reason in problem.reason


@pytest.mark.parametrize(
    "documents",
    [
        [other("v1", "Service", "chat-lb", "elsewhere")],
        [other("serving.knative.dev/v1", "Service", "chat-lb", "models")],
        [SECRET, {**SECRET, "metadata": {"name": "token", "namespace": "elsewhere"}}],
        [other("rbac.authorization.k8s.io/v1", "ClusterRole", "system:metrics-reader")],
        [other("example.com/v1", "A"), other("example.org/v1", "A")],
    ],
)
def test_what_only_looks_alike(documents: list[Any]) -> None:
    found = planned(*documents)
    assert errors(found.problems) == ()
    assert len(found.others) == len(documents)


def test_an_exported_object_is_what_somebody_wrote() -> None:
    """As ``kubectl get secret -o yaml`` prints it: kubectl's note holds the values once more."""
    noted = {
        "uid": "6f2c",
        "resourceVersion": "17",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": '{"data": {"t": "czM="}}', "team": "a"},
        "labels": {"app": "shop"},
    }
    exported = {**SECRET, "metadata": {"name": "token", **noted}, "status": {"phase": "Active"}}
    (body,) = planned(exported).others
    assert body == {
        **SECRET,
        "metadata": {
            "name": "token",
            "namespace": "models",
            "annotations": {"team": "a"},
            "labels": {"app": "shop"},
        },
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | texts(3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(3), inner, max_size=2),
    max_leaves=4,
)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "chat", ""]) | JSON,
        "namespace": st.sampled_from(["models", "x"]) | JSON,
        "labels": JSON,
        "annotations": JSON,
    },
)
OTHER = st.fixed_dictionaries(
    {
        "apiVersion": st.sampled_from(["v1", "apps/v1", "example.com/v1", "example.com/", "/v1", "a/b/c"]),
        "kind": st.sampled_from(["Secret", "Namespace", "Deployment", "Service", "CustomResourceDefinition", "A b"]),
    },
    optional={"metadata": METADATA | JSON, "spec": JSON, "data": JSON, "status": JSON},
)


@settings(deadline=None)
@given(st.lists(OTHER, max_size=4), st.sampled_from(list(OtherKinds)))
@example([{"apiVersion": "v1", "kind": "Deployment"}] * 2, OtherKinds.APPLY)  # what is said twice is said once
@example(
    [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "namespace": []}}], OtherKinds.APPLY
)  # what is empty and no text is no namespace either
def test_whatever_stands_there_is_passed_through_once_or_a_located_problem(
    documents: list[dict[str, Any]], choice: OtherKinds
) -> None:
    found = planned(*documents, choice=choice)
    keys = [identity(body) for body in found.others]
    assert len(keys) == len(set(keys))
    assert not {identity(body) for body in found.objects} & set(keys)
    assert set(namespace_objects(found)) >= {key[3] for key in keys if key[:2] == ("", "Namespace")}
    assert all(problem.path and "\n" not in str(problem) for problem in errors(found.problems))
    if choice is OtherKinds.APPLY:
        alone = [planned(document) for document in documents]
        assert all(len(one.others) + len(errors(one.problems)) == 1 for one in alone)
        passed = [identity(body) for one in alone for body in one.others]
        assert set(keys) == set(passed)
        assert len(errors(found.problems)) >= (len(documents) > len(keys))


class TestNamespaces:
    def test_one_that_is_passed_through_is_the_one_of_the_models(self) -> None:
        given = other("v1", "Namespace", "models")
        given["metadata"]["labels"] = {"team": "a", "pod-security.kubernetes.io/warn": "baseline"}
        strict = Hardening(pod_security=PodSecurity.RESTRICTED)
        found = namespace_objects(planned(given, other("v1", "Namespace", "unused"), hardening=strict))
        assert found["models"]["metadata"]["labels"] == {
            "team": "a",
            "pod-security.kubernetes.io/audit": "restricted",
            "pod-security.kubernetes.io/warn": "baseline",
        }
        assert found["unused"] == other("v1", "Namespace", "unused")

    def test_what_was_filled_in_is_there(self) -> None:
        environment = Environment(options=Options(namespace="models"), other_kinds=OtherKinds.APPLY)
        assert list(namespace_objects(plan(objects([SECRET]), environment))) == ["models"]
        assert namespace_objects(plan(objects([other("v1", "Secret", namespace="own")]), environment)) == {}


def deployment(name: str = "chat", namespace: str = "", *containers: Any, **spec: Any) -> dict[str, Any]:
    server = {"name": "server", "image": "vllm/vllm-openai:v0.20.0", "args": ["--model", "acme/chat"]}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [*(containers or (server,))]}}
    selector = {"matchLabels": {"app": name}}
    return other("apps/v1", "Deployment", name, namespace, spec={"selector": selector, "template": template, **spec})


VARIANT = {
    "apiVersion": "llmd.ai/v1alpha1",
    "kind": "VariantAutoscaling",
    "metadata": {"name": "va", "labels": {"inference.optimization/acceleratorName": "H100"}},
    "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "chat"}, "modelID": "acme/chat"},
}


class TestReferences:
    """A VariantAutoscaling may scale a Deployment that is passed through."""

    @staticmethod
    def planned(
        *documents: Any, choice: OtherKinds = OtherKinds.APPLY, realization: Realization = Realization.OPERATOR
    ) -> Plan:
        options = Options(namespace="models", realization=realization)
        return plan(
            objects([VARIANT, *documents], "test", {"llmd": "v0.5.1"}), Environment(options, other_kinds=choice)
        )

    @pytest.mark.parametrize("namespace", ["", "models"])
    def test_the_controller_scales_it(self, namespace: str) -> None:
        found = self.planned(deployment(namespace=namespace))
        assert not errors(found.problems)
        (autoscaler,) = (body for body in found.objects if body["kind"] == "HorizontalPodAutoscaler")
        assert autoscaler["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
        # It is created unchanged, and once.
        assert [body["metadata"]["name"] for body in found.others] == ["chat"]
        assert not list(found.fleet.workloads)

    def test_fields_are_explained_with_it(self) -> None:
        found = self.planned(deployment())
        (source,) = found.manifests.resources
        fields = {field.path: field.became for field in explain(source, [source], found)}
        assert (
            "HorizontalPodAutoscaler/chat-va: spec.scaleTargetRef.name = chat" in fields["spec.scaleTargetRef.name"]
        )

    @pytest.mark.parametrize("replicas", [None, 0, 2])
    def test_replicas_in_the_file_are_reported(self, replicas: int | None) -> None:
        spec: dict[str, Any] = {} if replicas is None else {"replicas": replicas}
        found = self.planned(deployment(**spec))
        reported = [problem for problem in found.problems if problem.rule == RuleId.FIELD_OVERRIDDEN]
        assert len(reported) == (replicas is not None)
        assert all(problem.path == "spec.scaleTargetRef.name" for problem in reported)

    @pytest.mark.parametrize(
        ("document", "reason"),
        [
            pytest.param(deployment("coder"), "no workload named 'chat' (available: coder)", id="name"),
            pytest.param(
                deployment(namespace="own"), "it exists in namespace own, but must be in models", id="namespace"
            ),
            pytest.param(deployment(replicas="two"), "no workload named 'chat'", id="malformed"),
            pytest.param(other("v1", "Service", "chat"), "no workload named 'chat'", id="kind"),
            pytest.param(other("v1", "Service", "chat", spec=7), "no workload named 'chat'", id="no-map"),
        ],
    )
    def test_what_cannot_be_scaled(self, document: Any, reason: str) -> None:
        (problem,) = errors(self.planned(document).problems)
        assert (problem.name, problem.rule) == ("va", RuleId.REFERENCE_MISSING)
        assert reason in problem.reason

    @pytest.mark.parametrize("choice", [OtherKinds.ERROR, OtherKinds.SKIP])
    def test_what_is_not_created_cannot_be_scaled(self, choice: OtherKinds) -> None:
        found = errors(self.planned(deployment(), choice=choice).problems)
        assert RuleId.REFERENCE_MISSING in {problem.rule for problem in found}

    def test_natively_its_metrics_are_not_collected(self) -> None:
        (problem,) = errors(self.planned(deployment(), realization=Realization.NATIVE).problems)
        assert "realizations: {llmd: operator}" in problem.reason


def test_readings_are_joined() -> None:
    parts = [objects([SECRET]), objects(CHAT), objects([{"kind": 1}])]
    both = Manifests.merged(parts)
    assert (len(both.others), len(both.resources), both.count) == (1, 2, 4)
    assert both.problems == parts[2].problems


def _routed_deployment(labels: dict[str, str]) -> list[dict[str, Any]]:
    container = {"name": "e", "image": "ghcr.io/huntersman/vllm-mock:latest", "ports": [{"containerPort": 8000}]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "mock"}}
    server = {"inferenceEngine": "vLLM", "model": "m", "workloadPort": {"port": 8000}, "workloadSelector": selector}
    route = {"modelName": "m", "rules": [{"targetModels": [{"modelServerName": "mock"}]}]}
    api = "networking.serving.volcano.sh/v1alpha1"
    return [
        other("apps/v1", "Deployment", "mock", selector=selector, spec={"replicas": 2, "template": template}),
        other(api, "ModelServer", "mock", spec=server),
        other(api, "ModelRoute", "mock", spec=route),
    ]


@pytest.mark.parametrize("realization", Realization)
def test_a_model_server_may_select_the_pods_of_a_deployment(realization: Realization) -> None:
    """As all examples of Kthena's router do (examples/kthena-router/LLM-Mock-*.yaml)."""
    where = Environment(
        options=Options(namespace="models", realizations={"kthena": realization}), other_kinds=OtherKinds.APPLY
    )
    found = plan(objects(_routed_deployment({"app": "mock", "more": "x"})), where)
    assert not errors(found.problems)
    about = [problem for problem in found.problems if problem.path == "spec.workloadSelector.matchLabels"]
    expected = [(Severity.WARNING, RuleId.NATIVE_DIFFERS)] if realization.is_native else []
    assert [(problem.severity, problem.rule) for problem in about] == expected
    assert all("Deployment 'mock'" in problem.reason for problem in about)


@pytest.mark.parametrize("choice", [OtherKinds.APPLY, OtherKinds.SKIP])
def test_a_selector_of_no_pods_is_an_error(choice: OtherKinds) -> None:
    labels = {"app": "another"} if choice is OtherKinds.APPLY else {"app": "mock"}
    found = planned(*_routed_deployment(labels), choice=choice)
    assert [problem.rule for problem in errors(found.problems)] == [RuleId.REFERENCE_MISSING]

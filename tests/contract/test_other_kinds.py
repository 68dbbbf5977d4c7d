"""Which objects are of another API, and which are ours with a misspelt type."""

import pytest

from components.families import parse


def text(api_version: str, kind: str) -> str:
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{}}\n"


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "Secret"),
        ("v1", "Service"),  # llmaz has a kind of this name
        ("serving.knative.dev/v1", "Service"),
        ("serving.kserve.io/v1beta1", "InferenceService"),  # LLMKube has a kind of this name
        ("aigateway.envoyproxy.io/v1alpha1", "AIGatewayRoute"),
        ("foreman.llmkube.dev/v1alpha1", "Workload"),  # LLMKube's kinds about agents
        ("apps/v1", "Deployment"),
        ("batch/v1", "Job"),
        ("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet"),
        ("leaderworkerset.x-k8s.io/v1", "Gadget"),
        ("example.com/v1", "Playgrund"),
    ],
)
def test_an_object_of_another_api_is_no_problem_of_reading(api_version: str, kind: str) -> None:
    found = parse(text(api_version, kind))
    assert found.problems == ()
    (other,) = found.others
    assert (other.title, other.line) == (f"{api_version}/{kind}", 1)
    assert found.count == 1


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "reason"),
    [
        ("llmaz.io/v1alpha1", "OpenModl", "kind", "did you mean 'OpenModel'?"),
        ("inference.llmaz.io/v1alpha1", "Playgrund", "kind", "did you mean 'Playground'?"),
        ("inference.llmaz.io/v1", "Playground", "apiVersion", "must be 'inference.llmaz.io/v1alpha1'"),
        ("llmaz.io/v1alpha1", "Playground", "apiVersion", "must be 'inference.llmaz.io/v1alpha1'"),
        ("inference.llmaz.oi/v1alpha1", "Playground", "apiVersion", "must be 'inference.llmaz.io/v1alpha1'"),
        ("inference.llmkube.io/v1alpha1", "Model", "apiVersion", "must be 'inference.llmkube.dev/v1alpha1'"),
        ("v1", "OpenModel", "apiVersion", "must be 'llmaz.io/v1alpha1'"),
        ("v1alpha1", "Playground", "apiVersion", "must be 'inference.llmaz.io/v1alpha1'"),
        ("v1", "Sercet", "kind", "unknown kind 'v1/Sercet'"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSets", "kind", "did you mean 'LeaderWorkerSet'?"),
    ],
)
def test_a_misspelt_type_is_a_problem(api_version: str, kind: str, path: str, reason: str) -> None:
    found = parse(text(api_version, kind))
    assert found.others == ()
    (problem,) = found.problems
    assert problem.path == path
    assert reason in problem.reason


def test_items_of_a_list_are_told_apart_too() -> None:
    items = "".join(
        f"- apiVersion: {api}\n  kind: {kind}\n  metadata: {{name: x}}\n"
        for api, kind in (("v1", "Service"), ("inference.llmaz.io/v1alpha1", "Servic"))
    )
    found = parse(f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert [(other.title, other.line) for other in found.others] == [("v1/Service", 4)]
    assert [problem.line for problem in found.problems] == [8]

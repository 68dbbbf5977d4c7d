"""Settings: every mistake is reported with its full path and the YAML to write."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from stacks.settings import Settings, declared_defaults, parse

ROOT = Path(__file__).parents[2]
FILE = "Pulumi.test.yaml"
GOOD: dict[str, Any] = {**declared_defaults(ROOT / "Pulumi.yaml"), "kubeconfig": "kubeconfig"}


def problems(**changes: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        parse({**GOOD, **changes}, FILE)
    return str(caught.value)


def test_defaults_and_a_kubeconfig_are_enough() -> None:
    settings = parse(GOOD, FILE)
    assert (settings.models, settings.namespace, settings.realization) == (["stacks/models"], "models", "native")
    assert settings.options().cache is None


def test_a_project_needs_to_declare_no_key() -> None:
    """The typed settings have every default; what Pulumi.yaml declares for the Pulumi CLI is the same."""
    assert parse({"kubeconfig": "kubeconfig"}, FILE) == parse(GOOD, FILE)


@pytest.mark.parametrize("key", sorted(declared_defaults(ROOT / "Pulumi.yaml")))
def test_a_declared_default_is_the_typed_one(key: str) -> None:
    rest = {name: value for name, value in GOOD.items() if name != key}
    assert parse({**rest, "kubeconfig": "kubeconfig"}, FILE) == parse(GOOD, FILE)


def test_every_key_is_declared_with_type_description_and_default() -> None:
    """The Pulumi CLI refuses a stack without a value of a key that has no default."""
    declared = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["config"]
    keys = {f"inference-platform:{f.alias or n}" for n, f in Settings.model_fields.items() if n != "file"}
    assert set(declared) == keys
    assert all(facts["type"] and facts["description"] and "default" in facts for facts in declared.values())


def test_values_as_the_command_line_stores_them() -> None:
    settings = parse(
        {**GOOD, "models": '["a.yaml", "b"]', "simulatedNodes": "true", "modelCache": '{"claim": "weights"}'}, FILE
    )
    assert settings.models == ["a.yaml", "b"]
    assert settings.simulated_nodes is True
    cache = settings.options().cache
    assert cache is not None
    assert cache.claim == "weights"


def test_pod_settings_reach_the_rendering() -> None:
    pods = {"serviceAccountName": "inference", "imagePullSecrets": ["registry"], "nodeSelector": {"pool": "gpu"}}
    overrides = parse({**GOOD, "pods": pods}, FILE).options().overrides
    assert overrides.service_account_name == "inference"
    assert overrides.image_pull_secrets == ("registry",)
    assert overrides.node_selector == {"pool": "gpu"}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("models", "[]", "at least 1"),
        ("models", "stacks/models", "must be a YAML list"),
        ("models", "[1]", "models.0"),
        ("namespace", "Models", "namespace"),
        ("realization", "helm", "'native' or 'operator'"),
        ("workload", "statefulset", "'auto', 'lws' or 'deployment'"),
        ("runtimes", "newest", "'upstream' or 'current'"),
        ("otherKinds", "ignore", "'error', 'apply' or 'skip'"),
        ("cloud", "gcp", "'none' or 'aws'"),
        ("prerequisites", '{"adapter": "datadog"}', "'prometheus-adapter' or 'keda'"),
        ("prerequisites", '{"gpuStack": "driver"}', "'device-plugin' or 'operator'"),
        ("kubeconfig", "", "is required if cloud is none"),
        ("clusterName", "", "clusterName"),
        ("simulatedNodes", "yes please", "simulatedNodes"),
        ("customResources", "1", "customResources"),
        (
            "cluster",
            '{"version": "v1.33"}',
            "must be a Kubernetes version such as '1.35'; write '1.33', found 'v1.33'",
        ),
        ("cluster", '{"version": "1.33.2"}', "; write '1.33', found"),
        ("cluster", '{"version": "latest"}', "must be a Kubernetes version such as '1.35', found 'latest'"),
        ("cluster", '{"version": ""}', "must be a Kubernetes version"),
        ("modelCache", '{"claim": "a", "hostPath": "/b"}', "only one of the two"),
        ("modelCache", '{"pvc": "a"}', "unknown key"),
        ("pods", '{"serviceAccount": "a"}', "did you mean 'serviceAccountName'"),
        ("pods", "oops", "must be a YAML map"),
        ("pods", '{"serviceAccountName": "Not Allowed"}', "must be the name of an object"),
        ("pods", '{"priorityClassName": "High"}', "must be the name of an object"),
        ("pods", '{"imagePullSecrets": ["a_b"]}', "pods.imagePullSecrets.0: must be the name of an object"),
        ("pods", '{"labels": {"a key": "x"}}', "with an optional DNS prefix and '/', found 'a key'"),
        ("pods", '{"labels": {"team": "a b"}}', "must be a label value"),
        ("pods", '{"annotations": {"a key": "x"}}', "with an optional DNS prefix and '/', found 'a key'"),
        ("pods", '{"nodeSelector": {"team": "a b"}}', "must be a label value"),
        ("pods", '{"tolerations": [{"name": "gpu"}]}', "pods.tolerations.0.name: unknown field"),
        ("pods", '{"tolerations": [{"effect": "NoSchedule"}]}', "must be Exists without a key"),
        (
            "pods",
            '{"tolerations": [{"key": "a", "operator": "Is"}]}',
            "must be one of Exists, Equal, Lt, Gt, found 'Is'",
        ),
        (
            "pods",
            '{"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}',
            "must be empty with operator",
        ),
        ("pods", '{"tolerations": [{"key": "a", "effect": "Never"}]}', "found 'Never'"),
        (
            "pods",
            '{"tolerations": [{"key": "a", "tolerationSeconds": 5}]}',
            "must be NoExecute with tolerationSeconds",
        ),
        ("modelCache", '{"claim": "Weights"}', "must be the name of an object"),
        ("prerequisites", '{"monitorLabels": {"release": "a b"}}', "must be a label value"),
    ],
)
def test_a_wrong_value_is_named_with_its_path(key: str, value: str, expected: str) -> None:
    text = problems(**{key: value})
    assert f"{FILE}: inference-platform:{key}" in text
    assert expected in text


def test_what_the_api_server_accepts_in_pods_is_accepted() -> None:
    pods = {
        "serviceAccountName": "inference.models",
        "priorityClassName": "high",
        "imagePullSecrets": ["registry.example.com"],
        "labels": {"example.com/team": "", "Team": "A_b.c"},
        "annotations": {"Example.com/Free": "any text"},
        "nodeSelector": {"node.kubernetes.io/instance-type": "g5.xlarge"},
        "tolerations": [
            {"operator": "Exists"},
            {"key": "example.com/gpu", "value": "true", "effect": "NoSchedule"},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
        ],
    }
    settings = parse({**GOOD, "pods": json.dumps(pods)}, FILE)
    assert list(settings.pods.tolerations) == pods["tolerations"]
    assert settings.pods.labels == pods["labels"]


def test_an_unknown_key_comes_with_the_nearest_known_one() -> None:
    assert "inference-platform:modelz: unknown key; did you mean 'models'?" in problems(modelz="x")


def test_a_missing_key_comes_with_the_yaml_to_write() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        parse({key: value for key, value in GOOD.items() if key != "kubeconfig"}, FILE)
    assert "inference-platform:kubeconfig: is required" in str(caught.value)
    assert "inference-platform:kubeconfig: .workbench/kubeconfig" in str(caught.value)


def test_all_mistakes_are_reported_together() -> None:
    text = problems(workload="x", realization="y", typo="z")
    assert len([line for line in text.splitlines() if line.startswith(FILE)]) == 3


@pytest.mark.parametrize(
    ("existing", "gpu_nodes", "prefixes"),
    [
        (False, {}, True),
        (True, {}, False),  # the network plugin of a cluster that EKS made hands out no prefixes
        (True, {"prefixDelegation": True}, True),
        (False, {"prefixDelegation": False}, False),
    ],
)
def test_who_hands_out_addresses(existing: bool, gpu_nodes: dict[str, Any], prefixes: bool) -> None:
    place = {"zones": ["us-east-1a", "us-east-1b"]}
    cluster = {"version": "1.35", "existing": existing}
    changes = {"cloud": "aws", "kubeconfig": "", "network": place, "cluster": cluster, "gpuNodes": gpu_nodes}
    settings = parse({**GOOD, **changes}, FILE)
    assert settings.cloud_environment is not None
    assert settings.cloud_environment.nodes is not None
    assert settings.cloud_environment.nodes.nodes.prefixes is prefixes


def test_a_cluster_on_aws_has_a_kubeconfig_of_its_own() -> None:
    place = {"cloud": "aws", "network": {"zones": ["us-east-1a", "us-east-1b"]}}
    with pytest.raises(pulumi.RunError) as caught:
        parse({**GOOD, **place, "context": "mine"}, FILE)
    assert "cloud: aws creates its own kubeconfig; remove kubeconfig and context" in str(caught.value)
    assert parse({**GOOD, **place, "kubeconfig": ""}, FILE).context == ""

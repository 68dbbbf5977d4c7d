"""LLMKube spec 2, 4: the fields of an InferenceService in its pods."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.families.llmkube.objects.test_golden import LABELS, PROBE
from tests.families.llmkube.support import (
    HTTP,
    Object,
    container,
    isvc,
    model,
    objects,
    pod,
    problem,
)


@pytest.mark.parametrize(
    ("runtime", "name", "port", "probe"),
    [
        ("llamacpp", "llama-server", 8080, "httpGet"),
        ("vllm", "vllm", 8000, "httpGet"),
        ("tgi", "tgi", 80, "httpGet"),
        ("personaplex", "personaplex", 8998, "tcpSocket"),
        ("generic", "inference-server", 8080, "tcpSocket"),
    ],
)
def test_each_runtime_has_its_container_port_and_probes(runtime: str, name: str, port: int, probe: str) -> None:
    """The table of LLMKube spec 2."""
    source = {"llamacpp": HTTP}.get(runtime, "org/repo")
    skip: Object = {"skipModelInit": True} if runtime == "vllm" else {}
    made = objects(isvc(runtime=runtime, image="example.com/server:1", **skip), model(source=source))
    (runner,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert (runner["name"], runner["ports"][0]["containerPort"]) == (name, port)
    for part in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert runner[part][probe]["port"] == port
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == port


@pytest.mark.parametrize(
    ("fields", "port"),
    [
        ({}, 8000),
        ({"endpoint": {}}, 8080),
        ({"endpoint": {"port": 9001}}, 9001),
        ({"endpoint": {"port": 9001}, "containerPort": 9002}, 9002),
        ({"containerPort": 9002}, 9002),
    ],
)
def test_the_container_listens_on_its_own_port_the_endpoints_or_the_runtimes(fields: Object, port: int) -> None:
    service = isvc(runtime="vllm", skipModelInit=True, image="vllm/vllm-openai:v0.20.0", **fields)
    made = objects(service, model(source="org/repo"))
    (runner,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert runner["ports"] == [{"name": "http", "containerPort": port, "protocol": "TCP"}]
    assert runner["args"][runner["args"].index("--port") + 1] == str(port)
    expected = fields.get("endpoint", {}).get("port", 8080)
    assert made["Service"]["spec"]["ports"] == [
        {"name": "http", "port": expected, "protocol": "TCP", "targetPort": port}
    ]


FIELDS: list[tuple[str, Any, Callable[[Object], Any], Any]] = [
    ("image", "example.com/x:1", lambda p: p["containers"][0]["image"], "example.com/x:1"),
    ("imagePullSecrets", [{"name": "a"}], lambda p: p["imagePullSecrets"], [{"name": "a"}]),
    ("command", ["/srv"], lambda p: p["containers"][0]["command"], ["/srv"]),
    ("env", [{"name": "A", "value": "1"}], lambda p: p["containers"][0]["env"], [{"name": "A", "value": "1"}]),
    ("runtimeClassName", "nvidia", lambda p: p["runtimeClassName"], "nvidia"),
    ("priority", "high", lambda p: p["priorityClassName"], "llmkube-high"),
    ("priority", "batch", lambda p: p["priorityClassName"], "llmkube-batch"),
    ("priorityClassName", "mine", lambda p: p["priorityClassName"], "mine"),
    ("podSecurityContext", {"fsGroup": 5}, lambda p: p["securityContext"], {"fsGroup": 5}),
    (
        "podSecurityContext",
        {"runAsUser": 5, "runAsGroup": 6},
        lambda p: {k: v for k, v in p["initContainers"][0]["securityContext"].items() if k.startswith("runAs")},
        {"runAsUser": 5, "runAsGroup": 6},
    ),
    ("securityContext", {"runAsUser": 5}, lambda p: p["containers"][0]["securityContext"], {"runAsUser": 5}),
    (
        "probeOverrides",
        {"liveness": {"exec": {"command": ["true"]}}},
        lambda p: [p["containers"][0][f"{n}Probe"] for n in ("liveness", "readiness")],
        [{"exec": {"command": ["true"]}}, {**PROBE, "periodSeconds": 10, "failureThreshold": 3}],
    ),
    ("resources", {"cpu": "2"}, lambda p: p["containers"][0]["resources"], {"requests": {"cpu": "2"}}),
    ("resources", {"memory": "4Gi"}, lambda p: p["containers"][0]["resources"], {"requests": {"memory": "4Gi"}}),
    ("nodeSelector", {"a": "b"}, lambda p: p["nodeSelector"], {"a": "b"}),
    ("tolerations", [{"operator": "Exists"}], lambda p: p["tolerations"], [{"operator": "Exists"}]),
]


@pytest.mark.parametrize(
    ("field", "value", "read", "expected"), FIELDS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_each_field_reaches_the_pod(field: str, value: Any, read: Callable[[Object], Any], expected: Any) -> None:
    assert read(pod(isvc(**{field: value}), model())) == expected


def test_labels_and_annotations_of_the_user_are_on_pods_alone_and_never_replace_ours() -> None:
    service = isvc(podLabels={"team": "a", "app": "other"}, podAnnotations={"example.com/a": "b"})
    made = objects(service, model())["Deployment"]
    metadata = made["spec"]["template"]["metadata"]
    assert metadata["labels"] == {**LABELS, "app": "svc", "inference.llmkube.dev/service": "svc", "team": "a"}
    assert metadata["annotations"] == {"example.com/a": "b"}
    assert "team" not in made["metadata"]["labels"]
    assert "annotations" not in made["metadata"]
    assert problem(service, model(), severity="warning").path == "spec.podLabels[app]"


def test_the_last_variable_of_a_name_is_kept_and_the_others_are_told() -> None:
    """The API server would refuse the name twice."""
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    assert container(isvc(env=env), model())["env"] == [env[1], env[2]]
    assert problem(isvc(env=env), model(), severity="warning").path == "spec.env[0]"


def test_a_low_port_leaves_the_right_to_listen_on_it() -> None:
    tgi = isvc(runtime="tgi", image="example.com/tgi:1")
    low = container(tgi, model(source="org/repo"))
    assert low["securityContext"]["capabilities"] == {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}
    high = container(isvc(runtime="tgi", image="example.com/tgi:1", containerPort=8080), model(source="org/repo"))
    assert high["securityContext"]["capabilities"] == {"drop": ["ALL"]}

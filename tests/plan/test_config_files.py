"""Configuration files of servers that are keys of ConfigMaps among the manifests, or are not."""

from typing import Any

import pytest
import yaml

from components.checks.memory.cases import Fit
from components.contract.findings.ids import RuleId
from components.families import parse
from components.fleet.words import OtherKinds
from components.plan.environment import Environment
from components.plan.plan import Plan, plan

ARGS = ["--config", "/etc/vllm/vllm.yaml"]
FILE = "model: Qwen/Qwen3-8B\nmax-model-len: 8192\n"
VOLUMES = [{"name": "config", "configMap": {"name": "settings"}}]
MOUNTS = [{"name": "config", "mountPath": "/etc/vllm"}]


def config_map(text: str = FILE, *, key: str = "vllm.yaml") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {key: text}}


def pod(
    args: list[str], *, command: list[str] | None = None, volumes: Any = VOLUMES, mounts: Any = MOUNTS
) -> dict[str, Any]:
    container = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.20.0",
        "args": args,
        "ports": [{"containerPort": 8000, "name": "http"}],
        "volumeMounts": mounts,
        "resources": {"limits": {"nvidia.com/gpu": 2}},
    }
    if command:
        container["command"] = command
    selector = {"node.kubernetes.io/instance-type": "g6e.12xlarge"}
    return {"nodeSelector": selector, "containers": [container], "volumes": volumes}


def group(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": spec}}},
    }


def role(spec: dict[str, Any]) -> dict[str, Any]:
    entry = {"name": "server", "replicas": 1, "workerReplicas": 0, "entryTemplate": {"spec": spec}}
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "chat"},
        "spec": {"schedulerName": "volcano", "replicas": 1, "template": {"roles": [entry]}},
    }


def deployment(spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": "chat"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def planned(*objects: dict[str, Any]) -> Plan:
    return plan(parse(yaml.safe_dump_all(objects)), Environment(other_kinds=OtherKinds.APPLY))


def found(result: Plan, rule: RuleId) -> list[tuple[str, str]]:
    return [(problem.kind, problem.path) for problem in result.problems if problem.rule == rule]


@pytest.mark.parametrize("kind", [group, role])
def test_the_file_decides_whether_the_model_fits(kind: Any) -> None:
    (verdict,) = planned(config_map(), kind(pod(ARGS))).verdicts
    assert verdict.verdict.fit is Fit.FITS
    (verdict,) = planned(config_map("model: Qwen/Qwen3-235B-A22B\n"), kind(pod(ARGS))).verdicts
    assert verdict.verdict.fit is Fit.EXCEEDED


@pytest.mark.parametrize("kind", [group, role, deployment])
def test_a_finding_names_the_key_of_the_config_map(kind: Any) -> None:
    result = planned(config_map(f"{FILE}tensor-parallel-size: 4\nno-such-flag: 1\n"), kind(pod(ARGS)))
    assert found(result, RuleId.GPUS_MISMATCH) == [("ConfigMap", "data[vllm.yaml][tensor-parallel-size]")]
    if kind is not deployment:
        assert found(result, RuleId.FLAGS_UNKNOWN) == [("ConfigMap", "data[vllm.yaml][no-such-flag]")]
    (problem,) = [problem for problem in result.problems if problem.rule == RuleId.GPUS_MISMATCH]
    assert problem.reason.startswith(f"read by {kind(pod(ARGS))['kind']}/chat as its configuration file: ")


def test_arguments_take_precedence() -> None:
    text = f"{FILE}tensor-parallel-size: 4\n"
    result = planned(config_map(text), group(pod([*ARGS, "--tensor-parallel-size", "2"])))
    assert not found(result, RuleId.GPUS_MISMATCH)


def test_a_script_reads_the_file() -> None:
    spec = pod(["exec vllm serve --config /etc/vllm/vllm.yaml --tensor-parallel-size 4"], command=["sh", "-c"])
    result = planned(config_map(f"{FILE}max-num-seqs: 0\n"), group(spec))
    kinds = {problem.kind for problem in result.problems if problem.rule == RuleId.GPUS_MISMATCH}
    assert kinds == {"LeaderWorkerSet"}
    assert planned(config_map(), group(pod(spec["containers"][0]["args"], command=["sh", "-c"]))).verdicts


@pytest.mark.parametrize(
    ("volumes", "mounts"),
    [
        (VOLUMES, [{"name": "config", "mountPath": "/etc/vllm/vllm.yaml", "subPath": "vllm.yaml"}]),
        ([{"name": "config", "projected": {"sources": [{"configMap": {"name": "settings"}}]}}], MOUNTS),
        (
            [
                {
                    "name": "config",
                    "configMap": {"name": "settings", "items": [{"key": "vllm.yaml", "path": "vllm.yaml"}]},
                }
            ],
            MOUNTS,
        ),
    ],
)
def test_each_way_to_mount_the_key(volumes: Any, mounts: Any) -> None:
    (verdict,) = planned(config_map(), group(pod(ARGS, volumes=volumes, mounts=mounts))).verdicts
    assert verdict.verdict.fit is Fit.FITS


@pytest.mark.parametrize(
    ("others", "spec", "reason"),
    [
        ([], pod(ARGS), "ConfigMap 'settings', which is not among the manifests"),
        ([config_map()], pod(ARGS, mounts=[]), "a file of the image"),
        ([config_map()], pod(ARGS, volumes=[{"name": "config", "emptyDir": {}}]), "in a volume (emptyDir)"),
        ([config_map()], pod(["--config", "vllm.yaml"]), "in the working directory of the image"),
    ],
)
def test_a_file_that_is_not_known_is_said_with_the_reason(others: Any, spec: Any, reason: str) -> None:
    (verdict,) = planned(*others, group(spec)).verdicts
    assert verdict.verdict.fit is Fit.UNKNOWN
    assert reason in verdict.verdict.reason


def test_a_key_that_the_config_map_lacks() -> None:
    result = planned(config_map(key="other.yaml"), group(pod(ARGS)))
    assert found(result, RuleId.START_REFUSED) == [
        ("LeaderWorkerSet", "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].args[1]")
    ]


def test_a_file_in_one_argument_has_no_effect() -> None:
    result = planned(config_map(), group(pod(["--model", "Qwen/Qwen3-8B", "--config=/etc/vllm/vllm.yaml"])))
    assert [path for kind, path in found(result, RuleId.FIELD_NO_EFFECT) if kind == "LeaderWorkerSet"] == [
        "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].args[2]"
    ]


def test_a_port_in_the_file_to_which_no_request_goes() -> None:
    result = planned(config_map(f"{FILE}port: 9000\n"), role(pod(ARGS)))
    assert ("ConfigMap", "data[vllm.yaml].port") in found(result, RuleId.ACCESS_NO_PORT)
    assert not found(planned(config_map(f"{FILE}port: 8000\n"), role(pod(ARGS))), RuleId.ACCESS_NO_PORT)


def test_endpoints_have_the_name_of_the_file() -> None:
    result = planned(config_map(f"{FILE}served-model-name: [assistant]\n"), role(pod(ARGS)))
    assert {workload.model for _, workload in result.fleet.workloads} == {"assistant"}
    assert {endpoint.model for _, endpoint in result.fleet.endpoints} == {"assistant"}


def test_what_the_file_may_have_is_not_missed() -> None:
    tools = [*ARGS, "--enable-auto-tool-choice"]
    assert not found(planned(group(pod(tools))), RuleId.START_REFUSED)
    assert not found(
        planned(config_map(f"{FILE}tool-call-parser: hermes\n"), group(pod(tools))), RuleId.START_REFUSED
    )
    assert found(planned(config_map(), group(pod(tools))), RuleId.START_REFUSED)


def test_messages_hide_secrets_in_the_file() -> None:
    key = "sk-live-4f3a9b7c2d1e8f60a5b4"
    result = planned(config_map(f"{FILE}api-key: {key}\nno-such-flag: {key}\n"), group(pod(ARGS)))
    assert not [problem for problem in result.problems if key in problem.reason]

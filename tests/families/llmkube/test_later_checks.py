"""Checks of memory, flags, nodes and costs see the runtimes and settings of later releases."""

from typing import Any

import pytest

from components.families import objects
from components.plan.plan import Plan, plan
from tests.families.llmkube.support import Object, gpu, isvc, model

G5 = {"node.kubernetes.io/instance-type": "g5.2xlarge"}
LARGE, SMALL = "hf://meta-llama/Llama-3.1-70B-Instruct", "hf://Qwen/Qwen2.5-7B-Instruct"
GGUF = "Meta-Llama-3.1-70B-Instruct-Q4_K_M.gguf"
SGLANG: Object = {"runtime": "sglang", "skipModelInit": True, "endpoint": {"port": 30000}, "nodeSelector": G5}


def planned(source: str, /, files: list[str] | None = None, **service: Any) -> Plan:
    more: Object = {"files": files} if files else {}
    return plan(objects([isvc(**service), model(source=source, hardware=gpu(1), **more)]))


def found(checked: Plan, rule: str) -> list[str]:
    return [p.path for p in checked.problems if p.rule == rule]


@pytest.mark.parametrize(
    ("source", "config", "rule", "path"),
    [
        (LARGE, {}, "memory-exceeded", "spec.nodeSelector"),
        (SMALL, {"contextLength": 131072}, "memory-tight", "spec.sglangConfig.contextLength"),
    ],
)
def test_memory_of_sglang(source: str, config: Object, rule: str, path: str) -> None:
    assert found(planned(source, **SGLANG, sglangConfig=config), rule) == [path]


def test_a_cache_of_half_the_bytes_holds_more() -> None:
    config: Object = {"contextLength": 100000, "memFractionStatic": 0.85, "kvCacheDtype": "fp8_e5m2"}
    assert found(planned(SMALL, **SGLANG, sglangConfig=config), "memory-tight") == []
    del config["kvCacheDtype"]
    assert found(planned(SMALL, **SGLANG, sglangConfig=config), "memory-tight") == ["spec.sglangConfig.contextLength"]


def test_memory_of_a_file_of_a_repository() -> None:
    checked = planned("hf://bartowski/Meta-Llama-3.1-70B-Instruct-GGUF", [GGUF], nodeSelector=G5, contextSize=8192)
    assert found(checked, "memory-exceeded") == ["spec.nodeSelector"]


@pytest.mark.parametrize("flag", ["--no-such-flag", "--gpu-memory-utilization"])
def test_flags_of_sglang(flag: str) -> None:
    assert found(planned(SMALL, **SGLANG, extraArgs=[flag]), "flags-unknown") == ["spec.extraArgs[0]"]
    assert found(planned(SMALL, **SGLANG, extraArgs=["--enable-mixed-chunk"]), "flags-unknown") == []


@pytest.mark.parametrize("suspend", [False, True])
def test_a_suspended_service_needs_no_nodes(*, suspend: bool) -> None:
    (workload,) = [w for _, w in planned(SMALL, **SGLANG, suspend=suspend).fleet.workloads]
    assert workload.replicas == (0 if suspend else 1)

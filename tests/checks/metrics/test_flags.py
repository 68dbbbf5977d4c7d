"""Engines export metrics where somebody reads them (lws-hpa spec 2.3, column Enable)."""

from typing import Any

import pytest

from components.fleet.words import Realization
from tests.fleets import (
    container,
    errors,
    fleet_of,
    open_model,
    playground,
    runner,
    runtime,
    service,
    the_error,
    warnings,
)

MODEL = open_model()


def pods(name: str) -> dict[str, Any]:
    target = {"type": "AverageValue", "averageValue": "5"}
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}


def external(name: str) -> dict[str, Any]:
    target = {"type": "AverageValue", "averageValue": "5"}
    return {"type": "External", "external": {"metric": {"name": name}, "target": target}}


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
QUEUE = {
    "vllm": pods("vllm:num_requests_waiting"),
    "sglang": pods("sglang:num_queue_reqs"),
    "llamacpp": pods("llamacpp:requests_deferred"),
    "tgi": pods("tgi_queue_size"),
}


def scaled(metric: Any, backend: str, **fields: Any) -> dict[str, Any]:
    return playground(
        elasticConfig={"maxReplicas": 4, "scaleTrigger": {"hpa": {"metrics": [metric]}}},
        backendRuntimeConfig={"backendName": backend, **fields},
    )


def plain(backend: str, **fields: Any) -> dict[str, Any]:
    return playground(backendRuntimeConfig={"backendName": backend, **fields})


def args(*documents: Any, **options: Any) -> list[str]:
    found: list[str] = container(MODEL, *documents, **options)["args"]
    return found


@pytest.mark.parametrize("metric", [pods("sglang:num_queue_reqs"), pods("sglang_num_queue_reqs"),
                                    external("sglang_num_queue_reqs")])  # fmt: skip
def test_the_flag_comes_last_where_an_autoscaler_reads_the_engine(metric: Any) -> None:
    without = args(plain("sglang"))
    assert args(scaled(metric, "sglang")) == [*without, "--enable-metrics"]


@pytest.mark.parametrize("metric", [CPU, external("inferno_desired_ratio"), external("orders")])
def test_other_metrics_that_are_read_elsewhere(metric: Any) -> None:
    expected = metric == external("inferno_desired_ratio")
    assert ("--enable-metrics" in args(scaled(metric, "sglang"))) is expected


def test_nothing_is_added_without_an_autoscaler() -> None:
    assert "--enable-metrics" not in args(plain("sglang"))


@pytest.mark.parametrize(("backend", "flag"), [("sglang", "--enable-metrics"), ("llamacpp", "--metrics")])
def test_monitoring_turns_them_on_everywhere(backend: str, flag: str) -> None:
    assert args(plain(backend), monitoring=True).count(flag) == 1


@pytest.mark.parametrize("backend", ["vllm", "tgi", "llamacpp"])
def test_what_exports_anyway_gets_no_flag(backend: str) -> None:
    assert args(scaled(QUEUE[backend], backend), monitoring=True) == args(plain(backend))


@pytest.mark.parametrize("backend", ["ollama", "tensorrt-llm"])
def test_engines_without_a_flag_stay_as_they_are(backend: str) -> None:
    assert args(plain(backend), monitoring=True) == args(plain(backend))


@pytest.mark.parametrize("backend", ["sglang", "llamacpp"])
def test_never_twice(backend: str) -> None:
    flag = {"sglang": "--enable-metrics", "llamacpp": "--metrics"}[backend]
    assert args(scaled(QUEUE[backend], backend, args=[flag]), monitoring=True) == args(plain(backend, args=[flag]))


@pytest.mark.parametrize("other", ["--metrics-port", "--enable-metrics-for-all-schedulers", "--no-metrics"])
def test_a_longer_flag_is_another_one(other: str) -> None:
    own = runtime("llamacpp", image="ghcr.io/ggml-org/llama.cpp", recommendedConfigs=[{"name": "default"}])
    assert args(own, scaled(QUEUE["llamacpp"], "llamacpp", args=[other])) == [other, "--metrics"]


def test_a_variable_does_the_same() -> None:
    own = runtime(image="ghcr.io/ggml-org/llama.cpp", command=["./llama-server", "-c", "4096"])
    on = [{"name": "LLAMA_ARG_ENDPOINT_METRICS", "value": "1"}]
    assert "args" not in container(MODEL, own, scaled(QUEUE["llamacpp"], "own", envs=on))
    off = [{"name": "LLAMA_ARG_ENDPOINT_METRICS", "value": "0"}]
    assert args(own, scaled(QUEUE["llamacpp"], "own", envs=off)) == ["--metrics"]
    assert args(own, scaled(QUEUE["llamacpp"], "own")) == ["--metrics"]


def test_an_argument_that_turns_them_off_is_an_error() -> None:
    problem = the_error(MODEL, scaled(QUEUE["vllm"], "vllm", args=["--disable-log-stats"]))
    assert problem.path == "spec.backendRuntimeConfig.args"
    assert "remove --disable-log-stats" in problem.reason


def test_without_a_reader_it_is_pointed_out() -> None:
    document = plain("vllm", args=["--disable-log-stats"])
    assert not fleet_of(MODEL, document).problems
    (problem,) = warnings(fleet_of(MODEL, document, monitoring=True))
    assert "--disable-log-stats" in problem.reason


def test_a_script_is_not_appended_to() -> None:
    own = runtime(image="lmsysorg/sglang", command=["sh", "-c"], recommendedConfigs=[
        {"name": "default", "args": ["exec python3 -m sglang.launch_server"]}])  # fmt: skip
    problem = the_error(MODEL, own, scaled(QUEUE["sglang"], "own"))
    assert "add --enable-metrics to the script" in problem.reason
    own["spec"]["recommendedConfigs"][0]["args"] = ["exec python3 -m sglang.launch_server --enable-metrics\n"]
    assert not errors(fleet_of(MODEL, own, scaled(QUEUE["sglang"], "own")))


@pytest.mark.parametrize("part", ["workerTemplate", "leaderTemplate"])
def test_hand_written_pods_are_told_what_to_write(part: str) -> None:
    side = {"name": "proxy", "image": "example.com/p:1"}
    engine = runner(image="lmsysorg/sglang:v0.5.4", args=["--port", "8080"])
    template = {
        "size": 2,
        "workerTemplate": {"spec": {"containers": [runner(image="lmsysorg/sglang:v0.5.4")]}},
        part: {"spec": {"containers": [side, engine]}},
    }
    document = service(workloadTemplate=template)
    assert not fleet_of(MODEL, document).problems
    problem = the_error(MODEL, document, monitoring=True)
    assert problem.path == f"spec.workloadTemplate.{part}.spec.containers[1].args"
    assert "add --enable-metrics" in problem.reason
    engine["args"].append("--enable-metrics")
    assert not fleet_of(MODEL, document, monitoring=True).problems


def test_only_the_leader_of_a_group_exports() -> None:
    flavor = {"name": "f", "limits": {"nvidia.com/gpu": 8}, "params": {"TP": "8", "PP": "2"}}
    document = scaled(QUEUE["sglang"], "sglang", version="v0.5.4")
    (item,) = fleet_of(open_model(flavors=[flavor]), document).rendered
    group = item.objects[0]["spec"]["leaderWorkerTemplate"]
    runs = {part: group[part]["spec"]["containers"][0]["args"] for part in ("leaderTemplate", "workerTemplate")}
    assert "--enable-metrics" in runs["leaderTemplate"]
    assert "--enable-metrics" not in runs["workerTemplate"]


def test_the_operator_is_told_nothing() -> None:
    problem = the_error(MODEL, scaled(QUEUE["sglang"], "sglang"), realization=Realization.OPERATOR)
    assert problem.path == "spec.backendRuntimeConfig.args"
    assert "add --enable-metrics" in problem.reason
    told = scaled(QUEUE["sglang"], "sglang", args=["--enable-metrics"])
    assert not errors(fleet_of(MODEL, told, realization=Realization.OPERATOR))

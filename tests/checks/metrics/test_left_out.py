"""What monitoring leaves out is told, with the reason and the way out; what it scrapes is not."""

from typing import Any

import pytest

from components.families import objects
from components.plan.plan import Plan, plan
from components.plan.settings import FleetSettings
from tests.fleets import GPU, open_model, playground, runner, runtime, service

RULE = "metrics-left-out"
CONTAINERS = "spec.workloadTemplate.workerTemplate.spec.containers[0]"


def planned(*documents: Any, monitoring: bool = True) -> Plan:
    settings = FleetSettings.model_validate({"prerequisites": {"monitoring": monitoring, "install": True}})
    return plan(objects([open_model(flavors=[GPU]), *documents], "manifests"), settings.environment())


def by_hand(image: str, *args: str) -> dict[str, Any]:
    return service(workloadTemplate={"workerTemplate": {"spec": {"containers": [container(image, *args)]}}})


def container(image: str, *args: str) -> dict[str, Any]:
    command = {"command": list(args)} if args and not args[0].startswith("-") else {"args": list(args)}
    return runner(image=image, ports=[{"name": "http", "containerPort": 8000}], **command)


def groups(image: str, *args: str) -> dict[str, Any]:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "raw"},
        "spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container(image, *args)]}}}},
    }


def told(made: Plan) -> list[tuple[str, str, str]]:
    return [(str(p.severity), p.path, p.reason) for p in made.problems if p.rule == RULE]


@pytest.mark.parametrize(
    ("image", "cause", "remedy"),
    [
        ("example.com/engine:v1", "the metrics of image 'example.com/engine:v1' are unknown", "PodMonitor"),
        ("ollama/ollama:0.9.6", "ollama has no known metrics in the format of Prometheus", "use another engine"),
        (
            "nvcr.io/nvidia/tensorrt-llm/release:1.0.0 trtllm-serve",
            "tensorrt-llm has no known metrics in the format of Prometheus",
            "use another engine",
        ),
    ],
)
def test_an_engine_without_metrics_is_told_with_the_way_out(image: str, cause: str, remedy: str) -> None:
    made = planned(by_hand(*image.split()))
    ((severity, path, reason),) = told(made)
    assert (severity, path) == ("note", f"{CONTAINERS}.args")
    assert reason.startswith("container 'model-runner' of Deployment 's' is not monitored: ")
    assert cause in reason
    assert remedy in reason
    assert made.chain.monitors == ()


@pytest.mark.parametrize(
    ("image", "args", "expected"),
    [
        (
            "lmsysorg/sglang:v0.5.2",
            (),
            "it lacks --enable-metrics, without which sglang does not export metrics; add it",
        ),
        ("lmsysorg/sglang:v0.5.2", ("--enable-metrics",), ""),
        ("vllm/vllm-openai:v0.9.2", ("--disable-log-stats",), "it has --disable-log-stats, which turns off metrics"),
    ],
)
def test_a_flag_that_decides_it_is_named(image: str, args: tuple[str, ...], expected: str) -> None:
    found = [reason for _, _, reason in told(planned(groups(image, *args)))]
    assert [expected in reason for reason in found] == [True] * bool(expected)


def test_what_is_scraped_is_not_told() -> None:
    made = planned(playground(), by_hand("vllm/vllm-openai:v0.9.2", "--model", "m"))
    assert told(made) == []
    assert len(made.chain.monitors) == 2


def test_nothing_is_told_where_models_are_not_monitored() -> None:
    assert told(planned(by_hand("example.com/engine:v1"), monitoring=False)) == []


def test_what_turns_metrics_off_is_reported_once() -> None:
    made = planned(by_hand("vllm/vllm-openai:v0.9.2", "--model", "m", "--disable-log-stats"))
    assert [str(p.rule) for p in made.problems if p.path == f"{CONTAINERS}.args"] == ["metrics-off"]
    assert told(made) == []


def test_a_runtime_of_the_user_is_told() -> None:
    own = runtime("mine", image="example.com/mine")
    made = planned(own, playground(backendRuntimeConfig={"backendName": "mine"}))
    ((_, path, reason),) = told(made)
    assert path == "spec.backendRuntimeConfig.args"
    assert "the metrics of image 'example.com/mine" in reason
